//! A compilation whose lines are being read.

use std::collections::BTreeMap;

use r500_chip::values::FlowOp;
use r500_chip::vap::{VapPvsFlowCntlAddrsLw, VapPvsFlowCntlAddrsUw, VapPvsFlowCntlLoopIndex};
use r500_isa::Instruction;
use r500_isa::state::{UsConfig, UsFcIntConst};
use r500_program::{
    Channel, Compilation, Failure, Job, Limit, Outcome, Program, Resource, State, Uniform,
};
use r500_pvs::{FLOW_INSTRUCTIONS, Flow};

use super::VertexProgram;
use super::constants::{self, Known};
use super::line_kind::{LineKind, Stage, numbers};
use super::passes::Passes;
use super::shader_text::ShaderText;
use super::words::Code;
use crate::{Format, ReadError};

/// A compilation in progress.
pub(super) struct Draft {
    pub(super) stage: Stage,
    /// Line that it begins in.
    pub(super) line: u64,
    pub(super) shader: ShaderText,
    passes: Passes,
    /// The words of a fragment program, after its heading or its first word.
    pub(super) code: Option<Code>,
    /// The words of a vertex program, after its heading.
    vertex: Option<Vec<[u32; 4]>>,
    /// Its flow control: operations, two bits each, and the registers of those that the log lists.
    flow_ops: u32,
    flow: Vec<[u32; 3]>,
    /// The list of the classic driver, and the constant whose other channels are on the next line.
    classic: BTreeMap<u32, Vec<f32>>,
    classic_last: Option<u32>,
    /// The first error of the compiler.
    error: Option<String>,
    /// The driver's words about the failure, while they are being read.
    reason: Option<String>,
    /// Whether the driver has said that it gave up.
    pub(super) gave_up: bool,
    /// What the lines are.
    part: Part,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Shader,
    Passes,
    Reason,
}

/// Bytes of the driver's words about a failure that are kept.
const MOST_REASON: usize = 2000;

impl Draft {
    pub(super) fn new(stage: Stage, line: u64) -> Self {
        Self {
            stage,
            line,
            shader: ShaderText::default(),
            passes: Passes::default(),
            code: None,
            vertex: None,
            flow_ops: 0,
            flow: Vec::new(),
            classic: BTreeMap::new(),
            classic_last: None,
            error: None,
            reason: None,
            gave_up: false,
            part: Part::Passes,
        }
    }

    /// Returns a draft whose first lines are the text of the shader.
    pub(super) fn of_shader(stage: Stage, line: u64) -> Self {
        Self { part: Part::Shader, ..Self::new(stage, line) }
    }

    /// Returns whether a line begins another compilation.
    pub(super) fn ends_before(&self, kind: &LineKind) -> bool {
        let has_code = self.code.is_some() || self.vertex.is_some();
        let has_words = self.code.as_ref().is_some_and(|code| !code.is_empty());
        match kind {
            LineKind::Initial(_) => true,
            LineKind::Heading(stage, name) => {
                *stage != self.stage || has_code || name.name.is_empty() && self.passes.has_begun()
            }
            LineKind::Listing => has_code,
            LineKind::Words => self.stage == Stage::Vertex || self.code.is_some(),
            LineKind::Word(word) => {
                self.stage == Stage::Vertex && word.starts_instruction()
                    || word.starts_program() && has_words
            }
            LineKind::VertexWords => self.stage == Stage::Fragment || self.vertex.is_some(),
            LineKind::Failed(stage) | LineKind::GaveUp(stage, _) => {
                *stage != self.stage || has_words
            }
            LineKind::CompilerError(_) => has_words,
            _ => false,
        }
    }

    /// Processes a line. `most` limits the instructions.
    pub(super) fn line(&mut self, kind: LineKind, text: &str, number: u64, most: u64) {
        let is_text = matches!(kind, LineKind::Text);
        match kind {
            LineKind::Initial(_) => {}
            LineKind::Heading(_, name) => {
                self.part = Part::Passes;
                self.passes.heading(name);
            }
            LineKind::Listing => {
                self.part = Part::Passes;
                self.passes.listing();
            }
            LineKind::Constant(n, channels) => {
                if self.code.is_none() {
                    self.passes.constant(n, channels);
                }
            }
            LineKind::Words => {
                self.passes.end_of_text();
                self.code = Some(Code::new(number));
            }
            LineKind::Word(word) => {
                if self.code.is_none() && word.starts_instruction() {
                    self.passes.end_of_text();
                    self.code = Some(Code::new(number));
                }
                if let Some(code) = &mut self.code {
                    code.push(word, number, most);
                }
            }
            LineKind::Classic(n, values) => {
                if self.code.as_ref().is_some_and(Code::is_empty) {
                    self.classic.insert(n, values);
                    self.classic_last = Some(n);
                    return;
                }
            }
            LineKind::CompilerError(reason) => {
                self.error.get_or_insert(reason);
            }
            LineKind::Failed(_) => {
                self.part = Part::Reason;
                self.reason = Some(String::new());
            }
            LineKind::GaveUp(_, reason) => {
                self.add_reason(&reason);
                self.gave_up = true;
            }
            LineKind::VertexWords => {
                self.passes.end_of_text();
                self.vertex = Some(Vec::new());
            }
            LineKind::VertexWord { index, value, address } => {
                self.vertex_word(index, value, address, most);
            }
            LineKind::FlowOps(ops) => self.flow_ops = ops,
            LineKind::Flow { high, low, index } => {
                if self.flow.len() < FLOW_INSTRUCTIONS {
                    self.flow.push([high, low, index]);
                }
            }
            LineKind::Text => match self.part {
                Part::Reason => self.add_reason(text.trim()),
                Part::Shader => self.shader.line(text),
                Part::Passes => self.passes.line(text),
            },
        }
        let last = self.classic_last.take().filter(|_| is_text);
        if let (Some(last), Some(more)) = (last, numbers(text))
            && let Some(values) = self.classic.get_mut(&last).filter(|v| v.len() + more.len() <= 4)
        {
            values.extend(more);
        }
    }

    fn add_reason(&mut self, text: &str) {
        let reason = self.reason.get_or_insert_default();
        if !text.is_empty() && reason.len() + text.len() < MOST_REASON {
            if !reason.is_empty() {
                reason.push(' ');
            }
            reason.push_str(text);
        }
    }

    fn vertex_word(&mut self, index: usize, value: u32, address: Option<usize>, most: u64) {
        let Some(code) = &mut self.vertex else { return };
        if index == 0 {
            if address == Some(code.len()) && (code.len() as u64) < most {
                code.push([value, 0, 0, 0]);
            }
        } else if let Some(last) = code.last_mut() {
            last[index] = value;
        }
    }

    /// Returns why the compilation failed, if it did.
    pub(super) fn failure(&self) -> Option<Failure> {
        if !self.gave_up && self.error.is_none() {
            return None;
        }
        let told = self.reason.clone().filter(|reason| !reason.is_empty());
        let reason = told.or_else(|| self.error.clone()).unwrap_or_default();
        let limit = limit(&reason).map(|limit| match limit.resource {
            // The driver does not print the number; its last listing has it.
            Resource::Instructions => {
                let listed =
                    self.passes.needed().filter(|n| limit.most.is_some_and(|most| *n > most));
                Limit { needed: limit.needed.or(listed), ..limit }
            }
            _ => limit,
        });
        Some(Failure { reason, limit })
    }

    /// Returns whether there is the heading of a program without an instruction.
    pub(super) fn has_no_instruction(&self) -> bool {
        self.code.as_ref().is_some_and(Code::is_empty)
    }

    /// Returns whether the program may be the driver's dummy.
    pub(super) fn may_be_dummy(&self) -> bool {
        self.stage == Stage::Fragment && (self.shader.lines.is_empty() || self.shader.is_dummy())
    }

    /// Returns the job of a fragment program. `source` is the text of the shader that the program is for.
    pub(super) fn job(
        mut self,
        name: String,
        process: &str,
        outcome: Outcome,
        source: String,
    ) -> Result<Job, ReadError> {
        self.passes.end_of_text();
        let line = self.code.as_ref().map_or(self.line, |code| code.line);
        let code = match self.code.take() {
            Some(code) if outcome.is_compiled() || !code.is_empty() => {
                code.finish().map_err(|e| e.below(&name))?
            }
            _ => Vec::new(),
        };
        let known = match self.classic.is_empty() {
            true => constants::resolve(&self.passes, &self.shader, &code),
            false => self.classic_constants(),
        };
        let mut state = State::default();
        let assumed = assume(&mut state, &code);
        for (n, constant) in known.iter().enumerate() {
            if constant.iter().any(|channel| channel.value.is_some()) {
                state.set_given_channels(n, constant.map(|channel| Some(channel.value?.to_bits())));
            }
        }
        let constants: Vec<_> = known.iter().map(|c| c.map(|known| known.channel)).collect();
        let uniforms = uniforms(&constants);
        let samplers =
            std::array::from_fn(|unit| self.shader.samplers[unit].or(self.passes.samplers[unit]));
        let assumed = match &outcome {
            Outcome::Compiled => assumed,
            Outcome::Failed(_) if !code.is_empty() => format!("; {outcome}; this is its dummy"),
            outcome => format!("; {outcome}"),
        };
        let origin = format!("{}, line {line}{assumed}", Format::MesaLog);
        let process = process.to_owned();
        let compilation = Compilation { outcome, source, process, constants, samplers };
        Ok(Job {
            name,
            origin,
            uniforms,
            compilation: Some(Box::new(compilation)),
            ..Job::from_program(Program { code, state })
        })
    }

    /// Returns the constants of the classic driver's list, which has all values.
    fn classic_constants(&self) -> Vec<[Known; 4]> {
        let unknown = Known { channel: Channel::Unknown, value: None };
        let Some((&last, _)) = self.classic.range(..256).next_back() else { return Vec::new() };
        let mut constants = vec![[unknown; 4]; last as usize + 1];
        for (&n, values) in self.classic.range(..256) {
            for (known, &value) in constants[n as usize].iter_mut().zip(values) {
                // `%f` prints six decimals.
                let channel = Channel::Literal { decimals: Some(6) };
                *known = Known { channel, value: Some(value) };
            }
        }
        constants
    }

    /// Returns the vertex program, if there is one.
    pub(super) fn vertex_program(self, name: String, process: &str) -> Option<VertexProgram> {
        let failure = self.failure();
        let code = self.vertex.unwrap_or_default();
        if code.is_empty() && failure.is_none() {
            return None;
        }
        let outcome = failure.map_or(Outcome::Compiled, Outcome::Failed);
        let (process, source, line) = (process.to_owned(), self.shader.lines, self.line);
        let flow = flow(self.flow_ops, &self.flow);
        Some(VertexProgram { name, line, process, outcome, source, code, flow })
    }
}

/// Returns flow control instructions; `None` if the registers of one are missing.
fn flow(ops: u32, registers: &[[u32; 3]]) -> Option<Vec<Flow>> {
    let all = (0..FLOW_INSTRUCTIONS as u8).map(|number| {
        let op = FlowOp::new((ops >> (2 * number) & 3) as u8);
        (number, op)
    });
    all.filter(|(_, op)| *op != FlowOp::NONE)
        .map(|(number, op)| {
            let [high, low, index] = *registers.get(usize::from(number))?;
            Some(Flow {
                number,
                op,
                low: VapPvsFlowCntlAddrsLw(low),
                high: VapPvsFlowCntlAddrsUw(high),
                index: VapPvsFlowCntlLoopIndex(index),
            })
        })
        .collect()
}

/// Sets the state that Mesa writes for every program, and returns what the origin says of it.
fn assume(state: &mut State, code: &[Instruction]) -> String {
    if code.is_empty() {
        return String::new();
    }
    state.config = Some(UsConfig::default().with(UsConfig::ZERO_TIMES_ANYTHING_EQUALS_ZERO, true));
    let loops = code.iter().filter(|i| i.ty() == r500_isa::values::InstType::FC).any(|i| {
        use r500_isa::values::FcOp;
        matches!(i.fc_inst().op(), FcOp::LOOP | FcOp::ENDLOOP | FcOp::REP | FcOp::ENDREP)
    });
    if !loops {
        return "; US_CONFIG as Mesa writes it".to_owned();
    }
    // Loops of Mesa end by a branch.
    state.fc_int_const[0] = Some(UsFcIntConst::default().with(UsFcIntConst::KR, 255));
    "; US_CONFIG and int[0] as Mesa writes them".to_owned()
}

/// Returns the names of uniforms and of values that the driver computes: of whole constants, else of their channels.
fn uniforms(constants: &[[Channel; 4]]) -> Vec<Uniform> {
    let mut uniforms = Vec::new();
    for (constant, channels) in (0..=u8::MAX).zip(constants) {
        let whole = |c: usize| match channels[0] {
            Channel::Uniform { buffer, index, channel: 0 } => {
                channels[c] == Channel::Uniform { buffer, index, channel: c as u8 }
            }
            _ => false,
        };
        if let (Channel::Uniform { buffer, index, .. }, true) = (channels[0], (0..4).all(whole)) {
            let name = format!("CONST[{buffer}][{index}]");
            uniforms.push(Uniform { name, constant, channel: 0, channels: 4 });
            continue;
        }
        if let Channel::State(state) = channels[0]
            && channels.iter().all(|&channel| channel == channels[0])
        {
            uniforms.push(Uniform { name: state.to_string(), constant, channel: 0, channels: 4 });
            continue;
        }
        for (channel, &meaning) in (0..4).zip(channels) {
            let name = match meaning {
                Channel::Uniform { .. } => meaning.to_string(),
                Channel::State(state) => {
                    format!("{state}.{}", ['x', 'y', 'z', 'w'][usize::from(channel)])
                }
                _ => continue,
            };
            uniforms.push(Uniform { name, constant, channel, channels: 1 });
        }
    }
    uniforms
}

/// Returns the limit that a reason names.
fn limit(reason: &str) -> Option<Limit> {
    let text = reason.to_ascii_lowercase();
    let number_after = |mark: &str| -> Option<u32> {
        let (_, rest) = text.split_once(mark)?;
        let rest = rest.trim_start();
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        rest[..end].parse().ok()
    };
    let has = |words: &str| text.contains(words);
    let (resource, usual) = if has("temporar") || has("out of temps") {
        (Resource::Temporaries, Some(128))
    } else if has("too many constants") {
        (Resource::Constants, Some(256))
    } else if has("instructions") && (has("too many") || has("too long")) && !has("flow control") {
        (Resource::Instructions, Some(512))
    } else if has("flow control") || has("branches") || has("loops are not") || has("nest") {
        (Resource::FlowControl, None)
    } else if has("opcode") || has("unsupported") || has("cannot translate") {
        (Resource::Operations, None)
    } else {
        return None;
    };
    let most = number_after("max:").or(usual);
    let needed = number_after("got:").or_else(|| number_after("used:"));
    Some(Limit { resource, most, needed })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_reasons() {
        let limit = |reason| limit(reason).map(|l| (l.resource, l.most, l.excess()));
        assert_eq!(
            limit("Too many constants. Max: 256, Got: 313"),
            Some((Resource::Constants, Some(256), Some(57)))
        );
        assert_eq!(
            limit("Ran out of temporary registers"),
            Some((Resource::Temporaries, Some(128), None))
        );
        assert_eq!(
            limit("../src/a.c::emit_alu(): emit_alu: Too many instructions"),
            Some((Resource::Instructions, Some(512), None))
        );
        assert_eq!(limit("ICE at a.c:1: assertion failed: x"), None);
    }

    #[test]
    fn uniforms_are_named_whole_or_by_channel() {
        let uniform = |index, channel| Channel::Uniform { buffer: 0, index, channel };
        let whole = std::array::from_fn(|c| uniform(3, c as u8));
        let packed = [uniform(5, 2), Channel::Unused, uniform(6, 0), Channel::Unknown];
        let names: Vec<_> = uniforms(&[whole, packed])
            .into_iter()
            .map(|u| (u.name, u.constant, u.channel, u.channels))
            .collect();
        assert_eq!(
            names,
            [
                ("CONST[0][3]".to_owned(), 0, 0, 4),
                ("CONST[0][5].z".to_owned(), 1, 0, 1),
                ("CONST[0][6].x".to_owned(), 1, 2, 1),
            ]
        );
    }
}
