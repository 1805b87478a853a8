//! The assembler's entry point: text to a job and diagnostics.

use r500_program::Job;

use crate::diagnostic::{self, Diagnostic, DiagnosticCode, DiagnosticCollector, RenderOptions};
use crate::items::{
    ComputedIndex, Expansion, ExpectedPixels, Include, Reference, Symbol, TextureRequest,
};
use crate::lexer::{Lexer, MAX_SOURCE};
use crate::parse::Parser;
use crate::source::{Files, IncludeLimits, Loader, NoFiles, Span};
use r500_text::macros::ExpansionLimits;

/// Options of the assembler.
pub struct Options<'a> {
    /// The name of the source in messages, to which included paths are relative.
    pub name: &'a str,
    /// Finds included files.
    pub loader: Option<&'a mut dyn Loader>,
    /// How much may be included.
    pub include_limits: IncludeLimits,
    /// How much text macros and repetitions may produce.
    pub expansion_limits: ExpansionLimits,
    /// Limit of collected errors, and of warnings (10,000 of each). The first error above it stops the assembler with
    /// [`DiagnosticCode::TooManyErrors`]; warnings above it are dropped, with [`DiagnosticCode::TooManyWarnings`] as
    /// the last diagnostic.
    pub max_diagnostics: usize,
    /// Limit of the bytes of procedural textures (2 GiB), checked before they are drawn. Exceeding it is an error,
    /// [`DiagnosticCode::BadTexture`].
    pub max_texture_bytes: u64,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self {
            name: "input",
            loader: None,
            include_limits: IncludeLimits::default(),
            expansion_limits: ExpansionLimits::default(),
            max_diagnostics: 10_000,
            max_texture_bytes: 2 << 30,
        }
    }
}

/// The result of assembling a source.
#[derive(Clone, Debug)]
pub struct Assembly {
    /// The job, as far as the source could be parsed. Run it only if [`Assembly::is_ok`].
    pub job: Job,
    /// Errors and warnings, by position; at most [`Options::max_diagnostics`] of each, and one more if others were
    /// dropped.
    pub diagnostics: Vec<Diagnostic>,
    /// The sources that all spans refer to.
    pub files: Files,
    /// The span of each instruction.
    pub spans: Vec<Span>,
    /// Names and labels, in source order.
    pub symbols: Vec<Symbol>,
    /// Uses of names and labels, in the order of the source.
    pub references: Vec<Reference>,
    /// Numbers of registers that are expressions (`temp[K+1]`), by place; in a body that is used several times each of its values.
    pub indices: Vec<ComputedIndex>,
    /// Uses of macros and repetitions of the source itself, with their instructions.
    pub expansions: Vec<Expansion>,
    /// Included files, in order of inclusion.
    pub includes: Vec<Include>,
    /// Texture files that the caller has to load.
    pub textures: Vec<TextureRequest>,
    /// The `EXPECT` directives with values, in source order.
    pub expected: Vec<ExpectedPixels>,
}

impl Assembly {
    /// Returns whether there are no errors (there may be warnings).
    #[must_use]
    pub fn is_ok(&self) -> bool {
        !self.diagnostics.iter().any(Diagnostic::is_error)
    }

    /// Returns the use of a macro or the repetition of the source that produces an instruction. Its span may be that of
    /// other instructions, too.
    #[must_use]
    pub fn expansion_of(&self, instruction: usize) -> Option<&Expansion> {
        self.expansions.iter().find(|found| (found.first..found.end).contains(&instruction))
    }

    /// Returns the errors.
    pub fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics.iter().filter(|d| d.is_error())
    }

    /// Returns all diagnostics as readable text, with the lines of the source.
    #[must_use]
    pub fn render(&self, options: RenderOptions) -> String {
        diagnostic::render_all(&self.diagnostics, &self.files, options)
    }

    /// Returns the first `most` diagnostics as text, and how many there are.
    #[must_use]
    pub fn render_first(&self, options: RenderOptions, most: usize) -> String {
        diagnostic::render_first(&self.diagnostics, &self.files, options, most)
    }
}

/// Assembles a source. Errors are reported as diagnostics.
///
/// ```
/// let source = b"src0.rgb = temp[0] : temp[1].rgb = MAD src0.rgb src0.111 src0.000 ;";
/// let assembly = r500_asm::assemble(source, r500_asm::Options::default());
/// assert!(assembly.is_ok());
/// assert_eq!(assembly.job.program.code[0].0[3], 0x00db_0220);
/// ```
#[must_use]
pub fn assemble(source: &[u8], options: Options<'_>) -> Assembly {
    let mut none = NoFiles;
    let loader: &mut dyn Loader = match options.loader {
        Some(loader) => loader,
        None => &mut none,
    };
    let too_large = source.len() > MAX_SOURCE;
    let text = if too_large { &[] } else { source };
    let collector = DiagnosticCollector::new(options.max_diagnostics);
    let (includes, expansions) = (options.include_limits, options.expansion_limits);
    let lexer = Lexer::new(options.name, text, loader, includes, expansions, collector);
    let mut parser = Parser::new(lexer, options.max_texture_bytes);
    parser.run();
    let Parser {
        lexer,
        job,
        spans,
        symbols,
        mut references,
        mut indices,
        textures,
        expected,
        expansions,
        ..
    } = parser;
    indices.sort_unstable();
    indices.dedup();
    // A name that was parsed twice counts as one use.
    references.sort_unstable();
    references.dedup();
    let Lexer { mut diagnostics, files, includes, .. } = lexer;
    if too_large {
        diagnostics.push(
            Diagnostic::new(
                DiagnosticCode::SourceTooLarge,
                Span::default(),
                "the source is too large",
            )
            .label("a source has at most 32 MiB"),
        );
    }
    let diagnostics = diagnostics.finish();
    Assembly {
        job,
        diagnostics,
        files,
        spans,
        symbols,
        references,
        indices,
        expansions,
        includes,
        textures,
        expected,
    }
}
