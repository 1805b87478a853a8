//! Runs of a program and of the evaluator side by side, with random inputs.

use r500_exec::reference::Group;
use r500_exec::{Bindings, Draw, Limits, Options, PixelRect};
use r500_glsl::tree::Shader;
use r500_pvs::{INPUTS, Interpreter, WrittenRegisters};

use super::locations::{Bank, Locations, Place};
use super::scopes::Scopes;
use super::{Stop, stop};
use crate::comparison::Random;
use crate::evaluate::{Snapshot, snapshots_of_quad, snapshots_of_vertices};
use crate::points::DebugInfo;
use crate::{fragment, vertex};

/// Draws of 16 pixels.
const DRAWS: usize = 4;
/// Runs of four vertices.
const RUNS: usize = 8;
/// Most steps of a run that are compared.
const MOST_STEPS: usize = 3_000;

/// Returns the registers of a fragment shader's variables.
pub(super) fn of_fragment(shader: &Shader, compiled: &fragment::Compiled) -> Locations {
    let mut sampled = Sampled::new(shader, registers_of_fragments(compiled));
    let mut random = Random::new(11);
    for _ in 0..DRAWS {
        let job = fragment::verify::random_draw(compiled, &mut random);
        let size = fragment::verify::SIDE;
        let (Ok(program), Ok(bindings)) =
            (r500_exec::Shader::new(&job.program), Bindings::new(&job, [size; 2]))
        else {
            continue;
        };
        let options = Options {
            group: [size; 2],
            limits: Limits { instructions: 200_000, ..Limits::default() },
            ..Options::default()
        };
        let Ok(draw) = Draw::new(&program, &bindings, &options) else { continue };
        let rect = PixelRect { x: 0, y: 0, width: size, height: size };
        let stops = stops(&compiled.debug, || {
            let mut group = Group::new(&draw, rect);
            std::iter::from_fn(move || {
                let at = (!group.ended()).then(|| group.state().address() as usize)?;
                group.step().ok()?;
                Some(at)
            })
        });
        let quads: Vec<_> = [[0, 0], [2, 0], [0, 2], [2, 2]]
            .into_iter()
            .map(|at| snapshots_of_quad(shader, compiled.pixels(&bindings), at, visits(&stops)))
            .collect();
        let mut group = Group::new(&draw, rect);
        for stop in &stops {
            for lane in group.state().lanes().iter().filter(|lane| lane.executes(&options.readings))
            {
                let quad = (lane.x / 2 + lane.y / 2 * 2) as usize;
                let of_quad = (lane.x % 2 + lane.y % 2 * 2) as usize;
                let register = |place: Place| place.of_pixel(lane, &bindings);
                for (point, visit) in &stop.visits {
                    if let Some(snapshot) = quads[quad].get(visit) {
                        sampled.note((stop.at, *point), visit.part, snapshot, of_quad, &register);
                    }
                }
            }
            if group.step().is_err() {
                break;
            }
        }
    }
    sampled.locations
}

fn registers_of_fragments(compiled: &fragment::Compiled) -> Vec<Place> {
    let program = &compiled.job.program;
    let temporaries = program.state.pixsize.map_or(0, |size| size.pix_size().saturating_add(1));
    let constants: Vec<u8> = compiled.job.uniforms.iter().map(|uniform| uniform.constant).collect();
    registers(&[
        (Bank::Temp, (0..temporaries).collect()),
        (Bank::Out, vec![0, 1, 2, 3]),
        (Bank::Const, constants),
    ])
}

/// Returns the registers of a vertex shader's variables.
pub(super) fn of_vertex(shader: &Shader, compiled: &vertex::Compiled) -> Locations {
    let mut sampled = Sampled::new(shader, registers_of_vertices(compiled));
    let mut random = Random::new(11);
    for _ in 0..RUNS {
        let given = vertex::verify::random_vertices(compiled, &mut random);
        let constants = vertex::verify::constants(compiled, &given);
        let interpreter = Interpreter::new(&compiled.source.program, &constants);
        let inputs_of = |vertex: usize| {
            let mut inputs = [[0.0; 4]; INPUTS];
            for attribute in &compiled.attributes {
                inputs[usize::from(attribute.input)] = given.attributes[&attribute.name][vertex];
            }
            inputs
        };
        // Programs have no branches, so that all vertices have the same run.
        let stops = stops(&compiled.debug, || {
            let mut state = interpreter.start_state(&inputs_of(0));
            let interpreter = &interpreter;
            std::iter::from_fn(move || {
                let at = state.address()?;
                interpreter.step(&mut state, &mut WrittenRegisters::default());
                Some(at)
            })
        });
        let snapshots = snapshots_of_vertices(shader, &given, visits(&stops));
        let constant = |n| interpreter.constant_at(n);
        for vertex in 0..4 {
            let mut state = interpreter.start_state(&inputs_of(vertex));
            for stop in &stops {
                let register = |place: Place| place.of_vertex(&state, &constant);
                for (point, visit) in &stop.visits {
                    if let Some(snapshot) = snapshots.get(visit) {
                        sampled.note((stop.at, *point), visit.part, snapshot, vertex, &register);
                    }
                }
                interpreter.step(&mut state, &mut WrittenRegisters::default());
            }
        }
    }
    sampled.locations
}

fn registers_of_vertices(compiled: &vertex::Compiled) -> Vec<Place> {
    let numbers = |count: usize| (0..count).filter_map(|n| u8::try_from(n).ok()).collect();
    let inputs = compiled.attributes.iter().map(|attribute| attribute.input).collect();
    let outputs = compiled.outputs.iter().map(|output| output.output).collect();
    let constants = compiled.uniforms.iter().map(|uniform| uniform.constant).collect();
    registers(&[
        (Bank::Temp, numbers(r500_opt::vertex::TEMPORARIES)),
        (Bank::AltTemp, numbers(r500_pvs::ALT_TEMPORARIES.min(32))),
        (Bank::Out, outputs),
        (Bank::Input, inputs),
        (Bank::Const, constants),
    ])
}

fn registers(banks: &[(Bank, Vec<u8>)]) -> Vec<Place> {
    let mut all = Vec::new();
    for negated in [false, true] {
        for (bank, numbers) in banks {
            for number in numbers {
                let place = |channel| Place { bank: *bank, number: *number, channel, negated };
                all.extend((0..4).map(place));
            }
        }
    }
    all
}

/// Returns the stops of a run.
fn stops<I: Iterator<Item = usize>>(debug: &DebugInfo, run: impl Fn() -> I) -> Vec<Stop> {
    let mut passes = debug.passes();
    run().take(MOST_STEPS).map(|at| stop(debug, &mut passes, at)).collect()
}

fn visits(stops: &[Stop]) -> impl Iterator<Item = crate::points::Visit> {
    stops.iter().flat_map(|stop| &stop.visits).map(|(_, visit)| visit.clone())
}

struct Sampled {
    scopes: Scopes,
    registers: Vec<Place>,
    locations: Locations,
}

impl Sampled {
    fn new(shader: &Shader, registers: Vec<Place>) -> Self {
        Self { scopes: Scopes::of(shader), registers, locations: Locations::default() }
    }

    /// Notes the values of all variables in a pixel or vertex.
    fn note(
        &mut self,
        key: (u32, u32),
        part: crate::points::Part,
        snapshot: &Snapshot,
        lane: usize,
        register: &dyn Fn(Place) -> f32,
    ) {
        if !snapshot.active[lane] || snapshot.open[lane] {
            return;
        }
        for id in self.scopes.visible(part) {
            let Some(value) = &snapshot.values[*id] else { continue };
            if !snapshot.set[*id][lane] {
                continue;
            }
            for (n, lanes) in value.iter().enumerate() {
                self.locations.note(key, (*id, n), lanes[lane], register, &self.registers);
            }
        }
    }
}
