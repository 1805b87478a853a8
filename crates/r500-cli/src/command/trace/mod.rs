//! `r500 trace`: instruction trace of a pixel or vertex.

mod lines;
mod text;
mod vertices;
mod watch;

use std::io::Write;

use clap::Args;
use r500::compile::variables::Place;
use r500::exec::reference::{Event, EventKind, Group, Lane, LaneState, Step, Write as Wrote};
use r500::exec::{Draw, Options, PixelRect};
use r500::trace::InstructionTexts;
use serde_json::{Value, json};

use self::lines::ShaderLines;
use self::text::Printer;
pub(super) use self::text::{effects, print_effects};
pub(super) use self::vertices::vertex_effects;
use self::watch::WatchFilter;
use super::binding_args::StateArgs;
use super::engine_args::{self, EngineArgs};
use super::exit::{Failure, Outcome, Status};
use super::float_format::{json as float, json_all, letters};
use super::format::Format;
use super::input_args::{self, SourceArgs};
use super::vertex::Keep;
use super::{glsl, scene, syntax, terminal};

/// Show what happens at a pixel or vertex, instruction by instruction.
///
/// Every executed instruction with its operands, results and masks, predicates, branches and loops, and
/// texture fetches. Always runs the reference engine. The group of pixels around the pixel shares its
/// program counter, so instructions for which the pixel is inactive are printed, too.
///
/// Of a vertex program one vertex is traced: a row of --input, which is written as `r500 run` takes it, or the inputs
/// that the text gives. Of a scene, --vertex traces a vertex of its first draw, or of the draw that --pick names. Vertices are always
/// run by the interpreter.
///
/// Of GLSL that our own compiler took, each line is printed before its instructions.
#[derive(Args, Debug)]
#[command(after_help = AFTER)]
pub(super) struct Trace {
    #[command(flatten)]
    source: SourceArgs,
    /// The pixel; y = 0 is the bottom row
    #[arg(long, value_name = "X,Y", value_parser = syntax::pixel)]
    pixel: Option<[u32; 2]>,
    /// The vertex, from 0: of a vertex program a row of --input (default: 0); of a scene the place in the
    /// order in which the draw uses vertices
    #[arg(long, value_name = "N")]
    vertex: Option<u64>,
    /// Width and height of the picture (default: the program's own, else 256x256)
    #[arg(long, value_name = "WxH", value_parser = syntax::size)]
    size: Option<[u32; 2]>,
    /// Show only what writes this: temp[3], temp[3].a, out[0], depth, pred, alu, kill. May be given
    /// several times
    #[arg(long, value_name = "WHAT")]
    watch: Vec<WatchFilter>,
    /// Leave out instructions for which the pixel is inactive
    #[arg(long)]
    active: bool,
    /// Show the variables of the shader at each line, those whose values or registers changed. For GLSL that our own
    /// compiler took
    #[arg(long)]
    variables: bool,
    /// How to print: text, or a JSON object a line for each instruction and one for the end
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    #[command(flatten)]
    state: StateArgs,
    #[command(flatten)]
    machine: EngineArgs,
}

const AFTER: &str = "\
Exit status: 0 traced; 1 the program has errors; 2 wrong usage; 3 could not be done.

Examples:
  r500 trace capture.json --pixel 12,34
  r500 trace capture.json --pixel 12,34 --watch temp[3] --watch out[0]
  r500 trace examples/scenes/cube.r5 --time 0.7 --pixel 160,120
  r500 trace prog.bin --size 64x64 --pixel 0,0 --const 0=1,0,0,1 --format json
  r500 trace light.vs.asm --input 'i0=1,2,3; i1=0,0,1'
  r500 trace light.vs.asm --input vertices.csv --vertex 7 --watch out[0]
  r500 trace wave.vert --input 'i0=0.5,0.5'
  r500 trace examples/scenes/cube.r5 --time 0.7 --vertex 2";

impl Trace {
    /// Hands the memory limit to what loads textures.
    #[must_use]
    pub(super) fn with_memory_limit(mut self) -> Self {
        self.machine.limit_textures(&mut self.source.read, &mut self.state);
        self
    }

    pub(super) fn run(&self) -> Outcome {
        if self.machine.list_readings()? {
            return Ok(Status::Fine);
        }
        if let Some(set) = scene::vertices_at(&self.source, &self.state, self.vertex, Keep::Only)? {
            return self.trace_vertex(&set);
        }
        let (mut state, mut wanted) = (self.state.clone(), self.pixel);
        let job = scene::program_at(&self.source, &mut state, &mut wanted, &self.machine)?;
        let Some(mut job) = job else { return input_args::LISTED };
        if self.vertex.is_some() {
            return Err(Failure::usage(
                "--vertex is for vertex programs and scenes; give --pixel X,Y",
            ));
        }
        self.refuse_watches(WatchFilter::is_of_pixels, "a pixel has no")?;
        let size = self.size.or(job.size).unwrap_or([256, 256]);
        let missing = || Failure::usage("--pixel X,Y is missing");
        let [x, y] = wanted.ok_or_else(missing)?;
        if x >= size[0] || y >= size[1] {
            return Err(Failure::usage(format!(
                "--pixel {x},{y} is outside the picture of {}x{}",
                size[0], size[1]
            )));
        }
        state.apply(&mut job, size)?;
        let (shader, bindings) = engine_args::bind(&job, size)?;
        let options = Options { warnings: true, ..self.machine.options()? };
        let draw = Draw::new(&shader, &bindings, &options).map_err(engine_args::not_run)?;
        let [width, height] = options.group;
        let block = PixelRect { x: x - x % width, y: y - y % height, width, height };
        let mut group = Group::new(&draw, block);
        let Some(lane) = group.state().lane_at(x, y) else {
            return Err(Failure::usage(format_args!("--pixel {x},{y} is in no group")));
        };
        group.watch(Some(lane));

        let mut out = std::io::BufWriter::new(terminal::out());
        let texts = InstructionTexts::new(&shader);
        let colors = terminal::colors(&std::io::stdout());
        let printer = Printer { shader: &shader, texts: &texts, colors };
        let file = self.source.file()?;
        let map = glsl::lines(file).map(|_| input_args::source_map(file, self.source.read, &job));
        let mut lines = ShaderLines::new(map.as_ref());
        if self.variables {
            let mut copy = Group::new(&draw, block);
            let run = std::iter::from_fn(|| {
                let address = (!copy.ended()).then(|| copy.state().address())?;
                copy.step().ok()?;
                Some(address)
            });
            lines.with_variables(run, shader.offset(), &|inspector, stops| {
                inspector.of_pixel(&bindings, [x, y], stops)
            })?;
        }
        if self.format == Format::Text {
            printer.start(&mut out, &group, lane, &bindings)?;
        }
        let mut number = 0u64;
        while !group.ended() {
            let before = group.state().lanes()[lane].clone();
            let step = match group.step() {
                Ok(step) => step,
                Err(error) => {
                    out.flush()?;
                    return Err(engine_args::not_run(error));
                }
            };
            number += 1;
            let now = |place: Place| place.of_pixel(&before, &bindings);
            lines.step(step.address, PIXEL_LETTERS, &now);
            if !self.wants(&step, &before, &group.state().lanes()[lane]) {
                continue;
            }
            match self.format {
                Format::Text => {
                    lines.print(&mut out, step.address)?;
                    printer.step(&mut out, number, &step, &before, &group, lane)?;
                }
                Format::Json => {
                    let mut value = step_json(number, &step, &printer, &group, lane);
                    lines.add(&mut value, step.address);
                    writeln!(out, "{value}")?;
                }
            }
        }
        match self.format {
            Format::Text => printer.end(&mut out, number, &group, lane)?,
            Format::Json => writeln!(out, "{}", end_json(number, &group, lane))?,
        }
        out.flush()?;
        Ok(Status::Fine)
    }

    /// Refuses what the traced kind of program does not have.
    fn refuse_watches(&self, has: fn(WatchFilter) -> bool, hasnt: &str) -> Outcome<()> {
        match self.watch.iter().find(|watch| !has(**watch)) {
            Some(watch) => Err(Failure::usage(format!("--watch: {hasnt} {watch}"))),
            None => Ok(()),
        }
    }

    fn wants(&self, step: &Step, before: &Lane, after: &Lane) -> bool {
        let Some(event) = &step.event else { return self.watch.is_empty() && !self.active };
        if self.active && !event.active && event.writes.is_empty() && before.state == after.state {
            return false;
        }
        self.watch.is_empty() || self.watch.iter().any(|watch| watch.sees(event))
    }
}

/// The letters of the channels of a pixel's registers.
const PIXEL_LETTERS: [char; 4] = ['r', 'g', 'b', 'a'];

/// Returns the state that a pixel waits in.
pub(super) fn state_name(state: LaneState) -> String {
    match state {
        LaneState::Active => "active".to_owned(),
        LaneState::Branch(n) => format!("branch({n})"),
        LaneState::Break(n) => format!("break({n})"),
        LaneState::Continue(n) => format!("continue({n})"),
    }
}

fn step_json(
    number: u64,
    step: &Step,
    printer: &Printer<'_>,
    group: &Group<'_>,
    lane: usize,
) -> Value {
    let pixel = &group.state().lanes()[lane];
    let instruction = printer.shader.instruction(step.address);
    let words = instruction.map(|i| i.0.map(|word| format!("{word:08x}")));
    let mut value = json!({
        "version": 1,
        "step": number,
        "address": step.address,
        "text": instruction.and_then(|_| printer.texts.get(step.address)),
        "words": words,
        "state": state_name(pixel.state),
        "covered": pixel.covered,
        "al": group.al(),
        "loops": group.state().loops().iter().map(|frame| frame.count).collect::<Vec<_>>(),
        "calls": group.state().calls(),
        "next": (!group.ended()).then(|| group.state().address()),
    });
    if let Some(event) = &step.event {
        add_event(&mut value, event);
    }
    value
}

/// The effect of an instruction on a pixel, as keys of an object.
pub(super) fn add_event(value: &mut Value, event: &Event) {
    value["active"] = event.active.into();
    match &event.kind {
        EventKind::Skipped => value["kind"] = "skipped".into(),
        EventKind::Alu { rgb, alpha, raw, result, enabled } => {
            value["kind"] = "alu".into();
            value["rgb"] = rgb.iter().map(|operand| json_all(operand)).collect();
            value["alpha"] = json_all(alpha);
            value["raw"] = json_all(raw);
            value["result"] = json_all(result);
            value["enabled"] = letters(*enabled).into();
        }
        EventKind::Tex { coord, texel, lookup, enabled, killed } => {
            value["kind"] = "tex".into();
            value["coord"] = json_all(coord);
            value["texel"] = texel.as_ref().map_or(Value::Null, |texel| json_all(texel));
            value["enabled"] = letters(*enabled).into();
            value["killed"] = (*killed).into();
            if let Some(lookup) = lookup {
                let levels = lookup.levels.iter().map(|level| {
                    let texels = level
                        .texels
                        .iter()
                        .map(|texel| json!({ "at": texel.at, "color": json_all(&texel.color) }));
                    json!({
                        "level": level.level,
                        "coordinates": json_all(&level.coordinates),
                        "shares": json_all(&level.weights),
                        "texels": texels.collect::<Value>(),
                    })
                });
                value["lookup"] = json!({
                    "coordinates": json_all(&lookup.coordinates),
                    "face": lookup.face,
                    "lod": float(lookup.lod),
                    "magnified": lookup.magnified,
                    "probes": lookup.probes,
                    "levels": levels.collect::<Value>(),
                    "level_share": float(lookup.level_weight),
                });
            }
        }
        EventKind::Flow(jump) => {
            value["kind"] = "flow".into();
            value["wants"] = jump.jumps.into();
            value["voted"] = jump.voted.into();
            value["voters"] = jump.voters.into();
            value["in_favour"] = jump.votes_for.into();
            value["taken"] = jump.taken.into();
        }
    }
    value["writes"] = event.writes.iter().map(write_json).collect();
}

fn write_json(write: &Wrote) -> Value {
    match write {
        Wrote::Temp { temp, mask, value } => {
            json!({ "temp": temp, "mask": letters(*mask), "value": json_all(value) })
        }
        Wrote::Output { target, mask, value } => {
            json!({ "out": target, "mask": letters(*mask), "value": json_all(value) })
        }
        Wrote::Depth(value) => json!({ "depth": float(*value) }),
        Wrote::Predicate { mask, bits } => {
            json!({ "predicate": letters(*bits), "mask": letters(*mask) })
        }
        Wrote::AluResult(value) => json!({ "alu_result": value }),
    }
}

fn end_json(steps: u64, group: &Group<'_>, lane: usize) -> Value {
    let pixel = &group.state().lanes()[lane];
    let output = pixel.output();
    json!({
        "version": 1,
        "end": true,
        "steps": steps,
        "covered": output.covered,
        "killed": pixel.killed,
        "outputs": output.color.iter().map(|color| json_all(color)).collect::<Value>(),
        "written": output.written.map(letters),
        "depth": output.depth.map(float),
        "findings": engine_args::findings_json(group.state().warnings()),
    })
}
