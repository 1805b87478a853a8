//! Analysis of a source: its declarations and its diagnostics.

use r500::asm::ide::says_color;
use r500::asm::{Assembly, Register, SymbolKind};
use r500::builtin_uniforms;
use r500::check::{ExternalReads, Stats, analyze};
use r500::exec::Shader;
use r500::isa::values::InstType;
use r500::program::Job;
use r500::service::{SourceDiagnostic, diagnostics};
use serde::Serialize;

use crate::document::{Document, Range, TextEdit};
use crate::edit::components;
use crate::picture::LiveUnit;

/// The analysis of a source.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Analysis {
    /// Whether the program can run.
    pub ok: bool,
    /// The program's name; may be empty.
    pub name: String,
    /// Width and height of the picture, if the source gives them.
    pub size: Option<[u32; 2]>,
    /// Seconds.
    pub time: f32,
    /// Constant and channel that are set to the time.
    pub clock: Option<(u8, u8)>,
    /// Whether pictures at other times may be others: the program takes the time, or has textures that change.
    pub moves: bool,
    /// Targets that the program may write.
    pub targets: [bool; 4],
    /// Whether the program may write depth.
    pub depth: bool,
    /// Diagnostics, by place.
    pub diagnostics: Vec<Diagnostic>,
    /// The address of the first instruction.
    pub offset: u16,
    /// The instructions.
    pub instructions: Vec<Instruction>,
    /// Constants that the source defines or names.
    pub constants: Vec<Constant>,
    /// Integer constants that the source defines or the program reads.
    pub ints: Vec<IntConstant>,
    /// Textures.
    pub textures: Vec<Texture>,
    /// Uniforms that the page sets: `time`, `resolution`, `mouse`, `frame`.
    pub builtin: Vec<&'static str>,
    /// Whether the source has `EXPECT` directives.
    pub expects: bool,
    /// Statistics of the program; none if it cannot run.
    pub stats: Vec<Number>,
    /// Notes about the program's control flow.
    pub notes: Vec<String>,
    /// The draws of a scene; the instructions above are those of the first one.
    pub draws: Vec<DrawProgram>,
}

/// The fragment program of a draw of a scene.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct DrawProgram {
    /// The address of the first instruction.
    pub offset: u16,
    /// Statistics of the program.
    pub stats: Vec<Number>,
    /// The instructions; those of a shader in GLSL have its places.
    pub instructions: Vec<Instruction>,
}

/// A diagnostic.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Diagnostic {
    /// Its place; the beginning of the source for a diagnostic of the whole source.
    #[serde(flatten)]
    pub range: Range,
    /// `error`, `warning` or `note`.
    #[cfg_attr(test, ts(type = "\"error\" | \"warning\" | \"note\""))]
    pub severity: &'static str,
    /// Its code.
    pub code: &'static str,
    /// The message.
    pub message: String,
    /// The reason, and possible remedies.
    pub help: Vec<String>,
    /// The fixes.
    pub fixes: Vec<Fix>,
}

/// A fix: a change of the source.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Fix {
    /// What it does, in the imperative.
    pub title: String,
    /// The change.
    pub edits: Vec<TextEdit>,
    /// Whether it fixes the problem, and does not only suppress the diagnostic.
    pub resolves: bool,
}

/// An instruction.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Instruction {
    /// Its place, if it is in the source itself.
    pub range: Option<Range>,
    /// Its number, from 0.
    pub index: usize,
    /// `alu`, `out`, `tex` or `fc`.
    #[cfg_attr(test, ts(type = "\"alu\" | \"out\" | \"tex\" | \"fc\""))]
    pub kind: &'static str,
    /// Its dwords.
    pub words: [u32; 6],
    /// The instruction as text.
    pub text: String,
}

/// A constant.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Constant {
    /// Its number.
    pub number: usize,
    /// Its value, as bits.
    pub value: [u32; 4],
    /// Its name, if all channels have one name.
    pub name: Option<String>,
    /// The comment after its value.
    pub comment: Option<String>,
    /// Whether its name or comment says that it is a colour.
    pub color: bool,
    /// Whether the program reads it without a definition in the source.
    pub made_up: bool,
    /// Names of its channels.
    pub uniforms: Vec<Uniform>,
}

/// An integer constant.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct IntConstant {
    /// Its number.
    pub number: usize,
    /// Iterations of a loop, first value and step of aL.
    pub value: [i32; 3],
    /// Whether the program reads it without a definition in the source.
    pub made_up: bool,
}

/// A name for channels of a constant.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Uniform {
    /// The name.
    pub name: String,
    /// The first channel.
    pub channel: u8,
    /// Their number.
    pub channels: u8,
    /// Whether the name says that it is a colour.
    pub color: bool,
    /// Whether the page sets it.
    pub builtin: bool,
}

/// A texture.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "TextureInfo"))]
pub struct Texture {
    /// Its unit.
    pub unit: usize,
    /// Width, height and layers of the finest level.
    pub size: [u32; 3],
    /// Number of levels.
    pub levels: usize,
    /// The file that holds it.
    pub file: Option<String>,
    /// Whether the program reads it without a texture in the source.
    pub made_up: bool,
    /// Where its texels come from, if they change.
    pub live: Option<LiveUnit>,
}

/// A statistic of a program.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Statistic"))]
pub struct Number {
    /// Its short title.
    pub title: &'static str,
    /// What it is.
    pub meaning: &'static str,
    /// The number.
    pub value: u64,
    /// Whether less is better.
    pub cost: bool,
}

/// Returns the analysis of a source.
#[must_use]
pub fn analyse(document: &Document) -> Analysis {
    let assembly = document.assembly();
    let job = &assembly.job;
    let diagnostics = diagnostics(&document.analysis);
    let diagnostics = diagnostics.iter().map(|problem| diagnostic(document, problem)).collect();
    let (mut stats, mut notes, mut ok) = (Vec::new(), Vec::new(), assembly.is_ok());
    let (mut targets, mut depth) = ([true, false, false, false], false);
    if ok {
        match Shader::new(&job.program) {
            Ok(shader) => (targets, depth) = (shader.targets(), shader.writes_depth()),
            Err(error) => {
                ok = false;
                notes.push(error.to_string());
            }
        }
        targets[0] = true;
        let examined = analyze(&job.program, &r500::lint::assumptions(assembly));
        if let Some(graph) = &examined.graph {
            let structure = examined.structure.as_ref();
            if let Some(Err(why)) = structure {
                let address = graph.window().address(why.index);
                notes.push(format!("not structured: at @{address} {}", why.reason));
            }
            let structure = structure.and_then(|structure| structure.as_ref().ok());
            stats = numbers(&Stats::of_graph(&job.program, graph, structure));
        }
    }
    let mut drawn = job.clone();
    let made_up = if ok { r500::stand_in::fill(&mut drawn) } else { ExternalReads::default() };
    let clock = job.uniforms.iter().find(|uniform| uniform.name == "time");
    Analysis {
        ok,
        name: job.name.clone(),
        size: job.size,
        time: builtin_uniforms::start_time(job),
        moves: clock.is_some() || !job.live.is_empty(),
        clock: clock.map(|uniform| (uniform.constant, uniform.channel)),
        targets,
        depth,
        diagnostics,
        offset: job.program.state.base_address(),
        instructions: instructions(document),
        constants: constants(document, &drawn, &made_up),
        ints: ints(&drawn, &made_up),
        textures: textures(assembly, &drawn, &made_up),
        builtin: builtin_uniforms::NAMES
            .into_iter()
            .filter(|name| job.uniforms.iter().any(|uniform| uniform.name == *name))
            .collect(),
        expects: !assembly.expected.is_empty(),
        stats,
        notes,
        draws: Vec::new(),
    }
}

fn diagnostic(document: &Document, problem: &SourceDiagnostic) -> Diagnostic {
    let range = document.range(problem.span);
    let place = match range {
        Some(_) => String::new(),
        None => format!("{}: ", document.assembly().files.name(problem.span)),
    };
    let mut help = problem.notes.clone();
    let files = &document.assembly().files;
    help.extend(problem.related.iter().map(|(span, why)| {
        let file = if span.file == 0 { String::new() } else { format!("{}, ", files.name(*span)) };
        format!("{file}line {}: {why}", files.position(*span).line)
    }));
    let fixes = problem.repairs.iter().filter_map(|repair| {
        let edits = document.edits(&repair.edits)?;
        Some(Fix { title: repair.title.clone(), edits, resolves: repair.resolves })
    });
    Diagnostic {
        range: range.unwrap_or(Range { from: 0, to: 0 }),
        severity: problem.severity.name(),
        code: problem.code,
        message: format!("{place}{}", problem.message),
        help,
        fixes: fixes.collect(),
    }
}

fn instructions(document: &Document) -> Vec<Instruction> {
    let assembly = document.assembly();
    let range = |index| assembly.spans.get(index).and_then(|span| document.range(*span));
    listing(&assembly.job.program, range)
}

/// Returns the instructions of a program, with their places in the source.
pub(crate) fn listing(
    program: &r500::program::Program,
    range: impl Fn(usize) -> Option<Range>,
) -> Vec<Instruction> {
    let code = &program.code;
    let lines = r500::asm::print_lines(code, program.state.base_address());
    let all = code.iter().zip(lines).enumerate();
    let one =
        |(index, (instruction, text)): (usize, (&r500::isa::Instruction, String))| Instruction {
            range: range(index),
            index,
            kind: match instruction.ty() {
                InstType::OUT => "out",
                InstType::TEX => "tex",
                InstType::FC => "fc",
                _ => "alu",
            },
            words: instruction.0,
            text,
        };
    all.map(one).collect()
}

fn constants(document: &Document, drawn: &Job, made_up: &ExternalReads) -> Vec<Constant> {
    let named = names(document.assembly());
    let given = &drawn.program.state.constants;
    // A name may refer to a constant without a value in the source.
    let named_end = drawn.uniforms.iter().map(|uniform| usize::from(uniform.constant) + 1).max();
    let all = (0..given.len().max(named_end.unwrap_or(0))).filter_map(|number| {
        let value = given.get(number).copied().unwrap_or_default();
        let uniforms: Vec<Uniform> = uniforms(drawn, number);
        let name = named.iter().find(|named| named.0 == number).map(|named| named.1.clone());
        let register = u8::try_from(number).ok()?;
        let comment = comment(&document.text, register);
        let says = [&name, &comment].into_iter().flatten().any(|text| says_color(text));
        let made_up = made_up.constants.contains(&register);
        let counts = value != [0; 4] || !uniforms.is_empty() || name.is_some() || made_up;
        counts.then_some(Constant { number, value, name, comment, color: says, made_up, uniforms })
    });
    all.collect()
}

/// Returns the comment after `const[n] = (…) ;` on the same line.
fn comment(text: &str, number: u8) -> Option<String> {
    let parts = components(text, "const", number, 4)?;
    let line = text.get(parts.last()?.end..)?.lines().next()?;
    let rest = line.trim_start().strip_prefix(')')?.trim_start().strip_prefix(';')?;
    let comment = rest.trim_start().strip_prefix("--")?.trim();
    (!comment.is_empty()).then(|| comment.to_owned())
}

fn ints(drawn: &Job, made_up: &ExternalReads) -> Vec<IntConstant> {
    let all = drawn.program.state.fc_int_const.iter().enumerate();
    all.filter_map(|(number, int)| {
        let int = (*int)?;
        let value = [i32::from(int.kr()), i32::from(int.kg()), i32::from(int.kb())];
        Some(IntConstant { number, value, made_up: made_up.int_constants >> number & 1 != 0 })
    })
    .collect()
}

fn uniforms(job: &Job, number: usize) -> Vec<Uniform> {
    let here = job.uniforms.iter().filter(|uniform| usize::from(uniform.constant) == number);
    let uniform = |uniform: &r500::program::Uniform| Uniform {
        name: uniform.name.clone(),
        channel: uniform.channel,
        channels: uniform.channels,
        color: says_color(&uniform.name),
        builtin: builtin_uniforms::NAMES.contains(&uniform.name.as_str()),
    };
    here.map(uniform).collect()
}

/// Returns the names that `DEF` gives to complete constants, except uniforms, which name channels.
fn names(assembly: &Assembly) -> Vec<(usize, String)> {
    let uniforms = &assembly.job.uniforms;
    let name = |symbol: &r500::asm::Symbol| match symbol.kind {
        SymbolKind::Register(Register::Const(number)) => {
            let uniform = uniforms.iter().any(|uniform| uniform.name == symbol.name);
            (!uniform).then(|| (number.into(), symbol.name.clone()))
        }
        _ => None,
    };
    assembly.symbols.iter().filter_map(name).collect()
}

fn textures(assembly: &Assembly, drawn: &Job, made_up: &ExternalReads) -> Vec<Texture> {
    let all = drawn.textures.iter().enumerate();
    let one = |(unit, texture): (usize, &Option<r500::program::Texture>)| {
        let texture = texture.as_ref()?;
        let size = texture.levels.first().map_or([0; 3], |l| [l.width, l.height, l.layers]);
        let request = assembly.textures.iter().find(|request| usize::from(request.unit) == unit);
        let file = request.map(|request| request.path.clone());
        let made_up = made_up.textures >> unit & 1 != 0;
        let live = LiveUnit::all(drawn).into_iter().find(|live| usize::from(live.unit) == unit);
        Some(Texture { unit, size, levels: texture.levels.len(), file, made_up, live })
    };
    all.filter_map(one).collect()
}

pub(crate) fn numbers(stats: &Stats) -> Vec<Number> {
    let values = stats.values();
    let rows = Stats::TITLES.iter().zip(Stats::MEANINGS).zip(Stats::COSTS).zip(values);
    rows.map(|(((title, meaning), cost), value)| Number { title, meaning, value, cost: *cost })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_constants_are_those_of_the_assembler() {
        let text = "DEF tint =\n const [ 2 ] ; UNIFORM lit = const[3].rg ; DEF eye = temp[2] ;\n\
            const[2] = (1, 2, 3, 4) ; -- DEF x = const[5] ;\n: ;";
        let analysis = analyse(&Document::new(text.into(), "x".into(), Vec::new()));
        let told: Vec<_> = analysis
            .constants
            .iter()
            .map(|c| (c.number, c.name.as_deref(), c.uniforms.len()))
            .collect();
        assert_eq!(told, [(2, Some("tint"), 0), (3, None, 1)]);
    }
}
