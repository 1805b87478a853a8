//! Source map: lines, labels and names of a program's assembly, lines of the GLSL that it was compiled from, or else its listing.

use std::collections::HashSet;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use r500::asm::{Assembly, Register, SymbolKind};
use r500::compile::Span;
use r500::program::{Job, Uniform};

use super::shader_variables::CompiledShader;

/// The source of a program, with the lines of its instructions.
#[derive(Clone, Debug, Default)]
pub(super) struct SourceMap {
    /// The file; `None` for a listing.
    pub(super) path: Option<PathBuf>,
    /// Whether the lines are those of a shader, which the program was compiled from.
    pub(super) is_shader: bool,
    /// The shader, if its variables are known.
    pub(super) shader: Option<Arc<CompiledShader>>,
    /// The lines.
    pub(super) lines: Vec<String>,
    /// First and last line of each instruction, from 1; `None` for those of included files.
    instructions: Vec<Option<(usize, usize)>>,
    /// Labels in lower case, with their addresses.
    labels: Vec<(String, u32)>,
    /// Names of constants: from `UNIFORM`, and from `DEF` of full constants.
    pub(super) names: Vec<Uniform>,
    /// Address of the first instruction.
    offset: u32,
}

impl SourceMap {
    /// Builds the map of a fragment program from its assembly, or from its listing.
    pub(super) fn of(job: &Job, assembly: Option<&Assembly>, path: &Path) -> Self {
        let offset = job.program.state.code_offset.map_or(0, |offset| offset.offset_addr());
        let map = match assembly {
            Some(_) => Self { offset: offset.into(), ..Self::default() },
            None => {
                Self::of_listing(r500::asm::print_lines(&job.program.code, offset), offset.into())
            }
        };
        let mut map = map.with_names(job.uniforms.clone());
        if let Some(assembly) = assembly {
            map.read(assembly, path);
        }
        map
    }

    /// Builds the map of a listing: a line an instruction. `offset` is the address of the first one.
    pub(super) fn of_listing(mut lines: Vec<String>, offset: u32) -> Self {
        lines.iter_mut().for_each(|line| *line = one_line(line));
        let instructions = (1..=lines.len()).map(|line| Some((line, line))).collect();
        Self { lines, instructions, offset, ..Self::default() }
    }

    /// Builds the map of a program that was compiled from a shader, of which each instruction computes some places.
    pub(super) fn of_shader(text: &str, spans: &[Vec<Span>], path: &Path, offset: u32) -> Self {
        // One that computes several places is of the first of them.
        let lines = |spans: &Vec<Span>| {
            let first = spans.iter().min_by_key(|span| (span.start, span.end))?;
            let last = Span { start: first.end, ..*first };
            Some((first.line(text) + 1, last.line(text) + 1))
        };
        Self {
            path: Some(path.to_owned()),
            is_shader: true,
            lines: text.lines().map(str::to_owned).collect(),
            instructions: spans.iter().map(lines).collect(),
            offset,
            ..Self::default()
        }
    }

    /// Builds the map of a text in which each instruction has a place in bytes.
    pub(super) fn of_spans(text: &str, spans: &[Range<usize>], path: &Path, offset: u32) -> Self {
        let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
        let line = |at: usize| ends.partition_point(|end| *end < at) + 1;
        let lines = |span: &Range<usize>| {
            Some((line(span.start), line(span.end.saturating_sub(1).max(span.start))))
        };
        Self {
            path: Some(path.to_owned()),
            lines: text.lines().map(str::to_owned).collect(),
            instructions: spans.iter().map(lines).collect(),
            offset,
            ..Self::default()
        }
    }

    /// Adds names of constants.
    #[must_use]
    pub(super) fn with_names(mut self, names: Vec<Uniform>) -> Self {
        self.names.extend(names);
        self
    }

    /// Adds the variables of a shader.
    #[must_use]
    pub(super) fn with_variables(mut self, shader: Option<Arc<CompiledShader>>) -> Self {
        self.shader = shader;
        self
    }

    fn read(&mut self, assembly: &Assembly, path: &Path) {
        self.path = Some(path.to_owned());
        let Some(file) = assembly.files.list.first() else { return };
        self.lines = String::from_utf8_lossy(&file.bytes).lines().map(str::to_owned).collect();
        // Uses the line index, instead of counting from the start for each instruction.
        let line = |at: u32| file.line_at(at as usize) + 1;
        let mut known: HashSet<String> =
            self.names.iter().map(|uniform| uniform.name.clone()).collect();
        let lines = assembly.spans.iter();
        self.instructions = lines
            .map(|span| (span.file == 0).then(|| (line(span.start), line(span.end))))
            .collect();
        for symbol in &assembly.symbols {
            match symbol.kind {
                SymbolKind::Label(address) => {
                    self.labels.push((symbol.name.to_ascii_lowercase(), address));
                }
                SymbolKind::Register(Register::Const(constant))
                    if known.insert(symbol.name.clone()) =>
                {
                    let name = symbol.name.clone();
                    self.names.push(Uniform { name, constant, channel: 0, channels: 4 });
                }
                _ => {}
            }
        }
    }

    /// Returns the first and the last line of the instruction at an address, from 1.
    pub(super) fn line_of(&self, address: u32) -> Option<(usize, usize)> {
        let index = usize::try_from(address.checked_sub(self.offset)?).ok()?;
        self.instructions.get(index).copied().flatten()
    }

    /// Returns the address of the instruction at a line, or else of the next one, and its first line.
    pub(super) fn address_of(&self, line: usize) -> Option<(u32, usize)> {
        let all = self.instructions.iter().enumerate();
        let all = all.filter_map(|(index, lines)| lines.map(|(first, last)| (index, first, last)));
        let begins = all.clone().find(|(_, first, _)| *first == line);
        let holds = all.clone().find(|(_, first, last)| (*first..=*last).contains(&line));
        let after = all.filter(|(_, first, _)| *first > line).min_by_key(|(_, first, _)| *first);
        let (index, first, _) = begins.or(holds).or(after)?;
        Some((self.offset + u32::try_from(index).ok()?, first))
    }

    /// Returns the address of the first instruction that begins in a line.
    pub(super) fn begins(&self, line: usize) -> Option<u32> {
        let found = self
            .instructions
            .iter()
            .position(|lines| lines.is_some_and(|(first, _)| first == line));
        Some(self.offset + u32::try_from(found?).ok()?)
    }

    /// Parses a location: `12` and `@12` are addresses, `@scene` is a label, `:26` a line of the source.
    pub(super) fn place(&self, text: &str) -> Result<u32, String> {
        let text = text.trim();
        if let Some(line) = text.strip_prefix(':') {
            let number =
                line.parse().map_err(|_| format!("`{line}` is not the number of a line"))?;
            let address = self.address_of(number).filter(|_| self.path.is_some());
            return address
                .map(|(address, _)| address)
                .ok_or_else(|| format!("there is no instruction in line {number} or after it"));
        }
        let name = text.trim_start_matches('@');
        if let Ok(address) = name.parse() {
            return Ok(address);
        }
        self.label(name).ok_or_else(|| {
            let labels =
                self.labels().map(|label| format!("@{label}")).collect::<Vec<_>>().join(", ");
            let known = if labels.is_empty() {
                "the program has no labels".to_owned()
            } else {
                format!("labels are {labels}")
            };
            format!(
                "`{text}` is neither an address (12) nor a label (@name) nor a line (:26); {known}"
            )
        })
    }

    /// Returns the address of a label.
    pub(super) fn label(&self, name: &str) -> Option<u32> {
        let name = name.trim_start_matches('@').to_ascii_lowercase();
        self.labels.iter().find(|(label, _)| *label == name).map(|(_, address)| *address)
    }

    /// Returns the label of an address.
    pub(super) fn label_at(&self, address: u32) -> Option<&str> {
        self.labels.iter().find(|(_, at)| *at == address).map(|(name, _)| name.as_str())
    }

    /// Returns the last label before an address.
    pub(super) fn label_before(&self, address: u32) -> Option<&str> {
        let before = self.labels.iter().filter(|(_, at)| *at <= address);
        before.max_by_key(|(_, at)| *at).map(|(name, _)| name.as_str())
    }

    /// Returns all labels.
    pub(super) fn labels(&self) -> impl Iterator<Item = &str> {
        self.labels.iter().map(|(name, _)| name.as_str())
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    const TEXT: &str = "-- café\nDEF tint = const[2] ;\n: ;\n@scene\n  src0.rgb = temp[0] :\n    temp[1].rgb = MAX src0.rgb src0.rgb ;\n: ; : ;\n";

    #[test]
    fn lines_labels_and_names_of_assembly() {
        let assembly = r500::asm::assemble(TEXT.as_bytes(), r500::asm::Options::default());
        let job = assembly.job.clone();
        let map = SourceMap::of(&job, Some(&assembly), Path::new("x.r5"));
        assert_eq!(
            [0, 1, 2, 3].map(|at| map.line_of(at).unwrap()),
            [(3, 3), (5, 6), (7, 7), (7, 7)]
        );
        assert_eq!(map.line_of(4), None);
        // A comment line maps to the next instruction, the second line of a statement to the statement.
        assert_eq!([1, 3, 4, 6, 7].map(|line| map.address_of(line).unwrap().0), [0, 0, 1, 1, 2]);
        assert_eq!(map.address_of(8), None);
        assert_eq!((map.label("@SCENE"), map.label("other")), (Some(1), None));
        assert_eq!((map.label_before(3), map.label_before(0)), (Some("scene"), None));
        assert_eq!(map.names[0].name, "tint");
    }

    #[test]
    fn a_program_without_a_source_has_a_listing() {
        let assembly = r500::asm::assemble(TEXT.as_bytes(), r500::asm::Options::default());
        let map = SourceMap::of(&assembly.job, None, Path::new("x.bin"));
        assert_eq!((map.lines.len(), map.address_of(2)), (4, Some((1, 2))));
        assert!(map.path.is_none() && map.lines[1].contains("MAX"));
    }
}
