//! The parser: recursive descent with error recovery.
//!
//! Every statement ends with `;`. A syntax error abandons its statement: parsing continues after
//! its `;`, or at the next line that starts like a statement. A semantic error (a number out of
//! range, a repeated flag) is reported and parsing continues in the statement.

mod alu;
mod alu_slot;
mod blocks;
pub(crate) mod condition;
mod constants;
pub(crate) mod directive;
mod expect;
mod expression;
mod flags;
mod flow;
mod foreign_op;
mod input;
mod labels;
mod macros;
mod op;
mod scoped_names;
mod source_bindings;
mod state;
mod tex;
mod texture;
mod value;

use std::collections::HashSet;

use r500_isa::Instruction;
use r500_program::{Job, MAX_INSTRUCTIONS};

use crate::diagnostic::{Diagnostic, DiagnosticCode};
use crate::items::{
    ComputedIndex, Expansion, ExpectedPixels, Reference, Register, Symbol, TextureRequest,
};
use crate::lexer::{Lexer, Token, TokenKind};
use crate::names::{Kw, register_of};
use crate::source::Span;
use labels::LabelUse;
use scoped_names::NamedValue;

/// Limit of names compared with a misspelt word, so that a source full of errors takes linear time.
const MOST_NAMES: usize = 256;

/// Limit of names, labels and expectations in a source: twice the limit of instructions.
const MAX_DEFINITIONS: usize = 2 * MAX_INSTRUCTIONS;

/// A statement was abandoned; its error has been reported.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ParseAbort;

/// The result of a parsing function.
pub(crate) type Parsed<T> = Result<T, ParseAbort>;

/// The parser: from tokens to a job.
pub(crate) struct Parser<'a> {
    pub(crate) lexer: Lexer<'a>,
    /// The current token.
    tok: Token,
    /// Span of the previous token.
    before: Span,
    pub(crate) job: Job,
    /// The span of each instruction.
    pub(crate) spans: Vec<Span>,
    pub(crate) symbols: Vec<Symbol>,
    pub(crate) references: Vec<Reference>,
    pub(crate) indices: Vec<ComputedIndex>,
    pub(crate) textures: Vec<TextureRequest>,
    pub(crate) expected: Vec<ExpectedPixels>,
    pub(crate) expansions: Vec<Expansion>,
    /// Uses of labels, which may be defined later.
    label_uses: Vec<LabelUse>,
    names: scoped_names::Names,
    labels: labels::Labels,
    /// Errors of bodies, which are reported once.
    reported: HashSet<(DiagnosticCode, Span, String)>,
    /// The scope of the body that the statement is in, 0 outside of all.
    body_scope: u32,
    /// Depth of the text that the innermost argument, which is a unit of an expression, is in; those around it.
    unit: usize,
    units: Vec<usize>,
    /// Whether a `+` before `aL` ended the last expression, and the end of the expression.
    plus_al: bool,
    before_plus: Span,
    /// What the last word of an expression names.
    word_value: Option<NamedValue>,
    flow: blocks::Flow,
    state: directive::SeenDirectives,
    expects: Vec<expect::Expectation>,
    inputs: Vec<input::PendingInput>,
    texture_state: texture::TextureState,
}

impl<'a> Parser<'a> {
    pub(crate) fn new(mut lexer: Lexer<'a>, max_texture_bytes: u64) -> Self {
        let mut tok = Token::START;
        lexer.token(&mut tok);
        Self {
            lexer,
            tok,
            before: tok.span,
            job: Job::default(),
            spans: Vec::new(),
            symbols: Vec::new(),
            references: Vec::new(),
            indices: Vec::new(),
            textures: Vec::new(),
            expected: Vec::new(),
            expansions: Vec::new(),
            label_uses: Vec::new(),
            names: scoped_names::Names::new(),
            labels: labels::Labels::new(),
            reported: HashSet::new(),
            body_scope: 0,
            unit: 0,
            units: Vec::new(),
            plus_al: false,
            before_plus: tok.span,
            word_value: None,
            flow: blocks::Flow::default(),
            state: directive::SeenDirectives::default(),
            expects: Vec::new(),
            inputs: Vec::new(),
            texture_state: texture::TextureState::new(max_texture_bytes),
        }
    }

    /// Parses all statements.
    pub(crate) fn run(&mut self) {
        while self.tok.kind != TokenKind::End
            && !self.lexer.diagnostics.is_past_limit()
            && self.job.program.code.len() <= MAX_INSTRUCTIONS
        {
            let start = self.tok.span;
            self.body_scope = 0;
            if self.lexer.depth() > 0 {
                self.body_scope = self.lexer.body_scope();
                self.lexer.forget_arguments();
            }
            if self.definitions() >= MAX_DEFINITIONS {
                self.report(
                    Diagnostic::new(
                        DiagnosticCode::SourceTooLarge,
                        start,
                        "the source defines too much",
                    )
                    .label(format!(
                        "{MAX_DEFINITIONS} names, labels and expectations come before; the rest is not read"
                    )),
                );
                break;
            }
            if self.parse_statement().is_err() {
                self.recover(start);
            }
        }
        self.body_scope = 0;
        self.resolve_labels();
        self.finish_flow();
        self.finish_code();
        self.finish_inputs();
        self.finish_expect();
        self.finish_textures();
    }

    /// Returns the number of stored items besides instructions.
    fn definitions(&self) -> usize {
        self.symbols.len() + self.job.uniforms.len() + self.expected.len() + self.expects.len()
    }

    fn parse_statement(&mut self) -> Parsed<()> {
        match self.tok.kind {
            TokenKind::Colon => self.alu(),
            TokenKind::At => self.parse_label(),
            TokenKind::Dot => self.macro_statement(),
            TokenKind::Semicolon => {
                let span = self.tok.span;
                self.report(
                    Diagnostic::new(
                        DiagnosticCode::EmptyStatement,
                        span,
                        "`;` without a statement",
                    )
                    .label("nothing stands in front of it"),
                );
                self.bump();
                Ok(())
            }
            TokenKind::Word => match self.tok.kw {
                Kw::Tex => self.tex(),
                kw if starts_flow(kw) => self.flow_statement(),
                Kw::Raw => self.parse_raw(),
                kw if starts_alu(kw) => self.alu(),
                _ => self.directive(),
            },
            _ => Err(self.expected("an instruction or a directive")),
        }
    }

    /// Continues after the next `;`, or at the next line that starts like a statement.
    fn recover(&mut self, start: Span) {
        loop {
            match self.tok.kind {
                TokenKind::End => return,
                TokenKind::Semicolon => {
                    self.bump();
                    return;
                }
                TokenKind::Colon | TokenKind::At | TokenKind::Dot
                    if self.tok.first && self.tok.span != start =>
                {
                    return;
                }
                TokenKind::Word
                    if self.tok.first && self.tok.span != start && self.starts_statement() =>
                {
                    return;
                }
                _ => {}
            }
            self.bump();
        }
    }

    fn starts_statement(&self) -> bool {
        let kw = self.tok.kw;
        starts_alu(kw)
            || matches!(kw, Kw::Tex | Kw::Raw)
            || starts_flow(kw)
            || directive::STARTS.contains(&kw)
            || (kw == Kw::Ident && register_of(&self.text(self.tok.span)).is_some())
    }

    // Tokens.

    fn bump(&mut self) -> Token {
        let tok = self.tok;
        self.before = tok.span;
        self.lexer.token(&mut self.tok);
        tok
    }

    fn at(&self, kind: TokenKind) -> bool {
        self.tok.kind == kind
    }

    fn at_word(&self, kw: Kw) -> bool {
        self.tok.kw == kw && self.tok.kind == TokenKind::Word
    }

    fn eat(&mut self, kind: TokenKind) -> bool {
        let found = self.tok.kind == kind;
        if found {
            self.bump();
        }
        found
    }

    fn eat_word(&mut self, kw: Kw) -> bool {
        let found = self.at_word(kw);
        if found {
            self.bump();
        }
        found
    }

    /// Returns whether the token is a given word; for words that only directives use.
    fn at_text(&self, text: &str) -> bool {
        self.tok.kind == TokenKind::Word
            && self.bytes(self.tok.span).eq_ignore_ascii_case(text.as_bytes())
    }

    fn eat_text(&mut self, text: &str) -> bool {
        let found = self.at_text(text);
        if found {
            self.bump();
        }
        found
    }

    fn expect_token(&mut self, kind: TokenKind) -> Parsed<Token> {
        if self.tok.kind == kind { Ok(self.bump()) } else { Err(self.expected(kind.describe())) }
    }

    /// Parses the `;` that ends a statement.
    fn parse_semicolon(&mut self) -> Parsed<()> {
        if self.eat(TokenKind::Semicolon) {
            return Ok(());
        }
        Err(self.missing_semicolon("`;`"))
    }

    /// Reports another token where a statement may end.
    #[cold]
    fn missing_semicolon(&mut self, expected: &str) -> ParseAbort {
        if self.tok.first || self.at(TokenKind::End) {
            let span = self.before.after();
            let start = Span { start: span.start.saturating_sub(1), ..span };
            self.report(
                Diagnostic::new(DiagnosticCode::NoSemicolon, start, "statement without `;`")
                    .label("a `;` must follow"),
            );
            return ParseAbort;
        }
        self.expected(expected)
    }

    fn bytes(&self, span: Span) -> &[u8] {
        self.lexer.files.bytes(span)
    }

    fn text(&self, span: Span) -> String {
        String::from_utf8_lossy(self.bytes(span)).into_owned()
    }

    fn report(&mut self, mut diagnostic: Diagnostic) {
        if self.body_scope != 0 {
            // A body with an error has it each time it is used.
            let message = diagnostic.message.clone();
            if !self.reported.insert((diagnostic.code, diagnostic.span, message)) {
                return;
            }
            self.lexer.trace_argument(&mut diagnostic);
            self.lexer.trace_scope(self.body_scope, &mut diagnostic);
        }
        self.lexer.diagnostics.push(diagnostic);
    }

    /// Reports an unexpected token.
    #[cold]
    fn expected(&mut self, what: &str) -> ParseAbort {
        let span = self.tok.span;
        let found = match self.tok.kind {
            TokenKind::Word => format!("`{}`", self.text(span)),
            kind => kind.describe().to_owned(),
        };
        self.report(
            Diagnostic::new(
                DiagnosticCode::Unexpected,
                span,
                format!("expected {what}, found {found}"),
            )
            .label(format!("expected {what}")),
        );
        ParseAbort
    }

    // Instructions.

    fn push(&mut self, start: Span, instruction: Instruction) {
        self.job.program.code.push(instruction);
        if self.body_scope != 0 {
            self.extend_expansion();
        }
        self.spans.push(start.to(self.before));
    }

    /// Parses `RAW d0 d1 d2 d3 d4 d5 ;`.
    fn parse_raw(&mut self) -> Parsed<()> {
        let start = self.bump().span;
        let mut words = [0; 6];
        for word in &mut words {
            *word = self.number(u32::MAX, "a dword")?;
        }
        self.parse_semicolon()?;
        self.push(start, Instruction(words));
        Ok(())
    }

    fn finish_code(&mut self) {
        if let Some(&span) = self.spans.get(MAX_INSTRUCTIONS) {
            self.report(
                Diagnostic::new(DiagnosticCode::SourceTooLarge, span, "the program is too long")
                    .label(format!("a program has at most {MAX_INSTRUCTIONS} instructions; the rest is not read")),
            );
        }
        if self.job.program.code.len() > r500_isa::INSTRUCTION_SLOTS {
            let span = self.spans[r500_isa::INSTRUCTION_SLOTS];
            let count = self.job.program.code.len();
            self.report(
                Diagnostic::new(
                    DiagnosticCode::TooLong,
                    span,
                    format!("{count} instructions, more than the processor holds"),
                )
                .label("the first that finds no slot (there are 512)"),
            );
        }
    }
}

/// Returns whether a word starts flow control.
pub(crate) fn starts_flow(kw: Kw) -> bool {
    matches!(
        kw,
        Kw::Fc
            | Kw::If
            | Kw::Else
            | Kw::Endif
            | Kw::Loop
            | Kw::Endloop
            | Kw::Rep
            | Kw::Endrep
            | Kw::Break
            | Kw::Continue
            | Kw::Call
            | Kw::Return
            | Kw::Jump
    )
}

/// Returns whether a word can start an ALU or output instruction.
pub(crate) fn starts_alu(kw: Kw) -> bool {
    matches!(
        kw,
        Kw::Out
            | Kw::TexSemWait
            | Kw::Last
            | Kw::Nop
            | Kw::AluWait
            | Kw::WriteInactive
            | Kw::StatWe
            | Kw::Pred
            | Kw::Wmask
            | Kw::Omask
            | Kw::Clamp
            | Kw::AluResult
            | Kw::Src0
            | Kw::Src1
            | Kw::Src2
            | Kw::Srcp
            | Kw::Unscaled
            | Kw::IgnoreUncovered
            | Kw::TexSemAcquire
            | Kw::Word1
            | Kw::Word2
            | Kw::Word3
            | Kw::Word4
            | Kw::Word5
    )
}
