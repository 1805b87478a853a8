//! Registers that are listed hold what the evaluator gives, with inputs that the lists were not made with; values are those that one works
//! out by hand.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr, reason = "a test fails by them")]

use r500_exec::reference::Group;
use r500_exec::{Draw, Limits, Options, PixelRect};
use r500_pvs::{INPUTS, Interpreter, WrittenRegisters};

use super::*;
use crate::comparison::Random;

/// How much was compared.
#[derive(Debug, Default)]
struct Tally {
    shaders: usize,
    /// Instructions that a pixel or vertex executes.
    executed: usize,
    /// Those of which the statement is executed, too.
    stops: usize,
    components: usize,
    /// Components that a register holds.
    located: usize,
    /// Components for which a listed register holds another value.
    wrong: usize,
}

impl Tally {
    /// Most instructions have variables, many of which are in registers, and nearly all lists hold for other inputs.
    fn assert_useful(&self) {
        assert!(self.stops * 2 > self.executed && self.located * 4 > self.components, "{self:?}");
        assert!(self.wrong * 100 < self.located, "{self:?}");
    }

    /// Adds the variables at a stop. `register` returns what a register holds.
    fn add(
        &mut self,
        inspector: &Inspector,
        moments: &Moments,
        stop: &Stop,
        register: &dyn Fn(Place) -> f32,
    ) {
        self.executed += 1;
        let Some(variables) = inspector.variables(moments, stop, register) else { return };
        self.stops += 1;
        let places = variables.iter().flat_map(|variable| &variable.vectors).flat_map(|vector| {
            let pairs = vector.places.iter().zip(&vector.values);
            pairs.map(|(place, value)| (*place, *value)).collect::<Vec<_>>()
        });
        for (place, value) in places {
            self.components += 1;
            if let Some(place) = place {
                self.located += 1;
                assert!(locations::same(register(place), value), "{place} {value}");
            }
        }
        // All that is listed, not only what is shown.
        let (point, visit, snapshot) = inspector.found(moments, stop).unwrap();
        for id in inspector.scopes.visible(visit.part) {
            let Some(value) = &snapshot.values[*id] else { continue };
            if !snapshot.set[*id][moments.lane] {
                continue;
            }
            for (n, lanes) in value.iter().enumerate() {
                let listed = inspector.locations.places((stop.at, point), *id, n);
                let differs =
                    |place: &Place| !locations::same(register(*place), lanes[moments.lane]);
                self.wrong += usize::from(listed.iter().any(differs));
            }
        }
    }
}

fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).map_or(usual, |value| value.parse().unwrap())
}

/// Adds a pixel of a fragment shader.
fn add_pixels(source: &str, seed: u64, tally: &mut Tally) {
    let Ok((shader, warnings)) = parse(source, Stage::Fragment) else { panic!("{source}") };
    let Ok(compiled) = fragment::compile_tree(source, &shader, warnings) else { return };
    let inspector = Inspector::of_fragment(source, &compiled).unwrap();
    let job = fragment::verify::random_draw(&compiled, &mut Random::new(seed ^ 0x5eed));
    let (program, bindings) =
        (r500_exec::Shader::new(&job.program).unwrap(), Bindings::new(&job, [4, 4]).unwrap());
    let limits = Limits { instructions: 200_000, ..Limits::default() };
    let options = Options { group: [4, 4], limits, ..Options::default() };
    let draw = Draw::new(&program, &bindings, &options).unwrap();
    let rect = PixelRect { x: 0, y: 0, width: 4, height: 4 };
    let mut group = Group::new(&draw, rect);
    let mut run = Vec::new();
    while !group.ended() && run.len() < 2000 {
        run.push(group.state().address() as usize);
        if group.step().is_err() {
            return;
        }
    }
    let stops = inspector.stops(run);
    let pixels: Vec<[u32; 2]> = (0..16).map(|n| [n % 4, n / 4]).collect();
    let moments: Vec<Moments> =
        pixels.iter().map(|at| inspector.of_pixel(&bindings, *at, &stops)).collect();
    let mut group = Group::new(&draw, rect);
    for stop in &stops {
        for (at, moments) in pixels.iter().zip(&moments) {
            let lane = &group.state().lanes()[group.state().lane_at(at[0], at[1]).unwrap()];
            if lane.executes(&options.readings) {
                let register = |place: Place| place.of_pixel(lane, &bindings);
                tally.add(&inspector, moments, stop, &register);
            }
        }
        group.step().unwrap();
    }
    tally.shaders += 1;
}

/// Adds vertices of a vertex shader.
fn add_vertices(source: &str, seed: u64, tally: &mut Tally) {
    let Ok((shader, warnings)) = parse(source, Stage::Vertex) else { panic!("{source}") };
    let Ok(compiled) = vertex::compile_tree(&shader, None, warnings) else { return };
    let inspector = Inspector::of_vertex(source, &compiled).unwrap();
    let given = vertex::verify::random_vertices(&compiled, &mut Random::new(seed ^ 0x5eed));
    let constants = vertex::verify::constants(&compiled, &given);
    let interpreter = Interpreter::new(&compiled.source.program, &constants);
    for vertex in 0..4 {
        let mut inputs = [[0.0; 4]; INPUTS];
        for attribute in &compiled.attributes {
            inputs[usize::from(attribute.input)] = given.attributes[&attribute.name][vertex];
        }
        let mut run = Vec::new();
        let mut state = interpreter.start_state(&inputs);
        while let Some(at) = state.address().filter(|_| run.len() < 2000) {
            run.push(at);
            interpreter.step(&mut state, &mut WrittenRegisters::default());
        }
        let stops = inspector.stops(run);
        let moments = inspector.of_vertex_run(&inputs, |n| interpreter.constant_at(n), &stops);
        let mut state = interpreter.start_state(&inputs);
        for stop in &stops {
            let register = |place: Place| place.of_vertex(&state, &|n| interpreter.constant_at(n));
            tally.add(&inspector, &moments, stop, &register);
            interpreter.step(&mut state, &mut WrittenRegisters::default());
        }
    }
    tally.shaders += 1;
}

/// `R500_CASES` shaders from seed `R500_SEED` on.
#[test]
fn listed_registers_of_generated_shaders_hold_their_variables() {
    let (cases, first) = (number("R500_CASES", 30), number("R500_SEED", 0));
    let (mut pixels, mut vertices) = (Tally::default(), Tally::default());
    for seed in first..first + cases {
        add_pixels(&r500_gen::glsl::shader(&mut r500_gen::Rng::new(seed)), seed, &mut pixels);
        let source = r500_gen::glsl::vertex_shader(&mut r500_gen::Rng::new(seed));
        add_vertices(&source, seed, &mut vertices);
    }
    for (tally, name) in [(&pixels, "pixels"), (&vertices, "vertices")] {
        eprintln!("{name}: {tally:?}");
        assert!(tally.shaders as u64 * 10 > cases * 7, "{tally:?}");
        tally.assert_useful();
    }
}

#[test]
fn listed_registers_of_the_corpus_hold_its_variables() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/shaders");
    let (mut pixels, mut vertices) = (Tally::default(), Tally::default());
    let mut paths: Vec<_> =
        std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("frag") => add_pixels(&text, 3, &mut pixels),
            Some("vert") => add_vertices(&text, 3, &mut vertices),
            _ => {}
        }
    }
    for (tally, name) in [(&pixels, "pixels"), (&vertices, "vertices")] {
        eprintln!("{name}: {tally:?}");
    }
    assert!(pixels.shaders > 30, "{pixels:?}");
    pixels.assert_useful();
}

/// The values of variables before the statement of a line, at each instruction of the line in the run of pixel 2, 1 of 4x4, without
/// repetitions: `uv` is (2.5 / 4, 1.5 / 4) there. The program is not optimised, so that an instruction is of one line.
fn values_at(source: &str, line: usize, level: f32, names: &[&str]) -> Vec<Vec<Option<f32>>> {
    let compiled = fragment::compile_draft(source).unwrap();
    let mut job = compiled.job.clone();
    for uniform in job.uniforms.clone() {
        job.program.state.set_constant(uniform.constant.into(), 0, level.to_bits());
    }
    let inspector = Inspector::of_fragment(source, &compiled).unwrap();
    let (program, bindings) =
        (r500_exec::Shader::new(&job.program).unwrap(), Bindings::new(&job, [4, 4]).unwrap());
    let options = Options { group: [2, 2], ..Options::default() };
    let draw = Draw::new(&program, &bindings, &options).unwrap();
    let mut group = Group::new(&draw, PixelRect { x: 2, y: 0, width: 2, height: 2 });
    let mut run = Vec::new();
    while !group.ended() {
        run.push(group.state().address() as usize);
        group.step().unwrap();
    }
    let lines = crate::lines_of(source, &compiled.spans);
    let stops = inspector.stops(run.iter().copied());
    let moments = inspector.of_pixel(&bindings, [2, 1], &stops);
    let mut all = Vec::new();
    for (at, stop) in run.iter().zip(&stops) {
        if lines[*at].first() != Some(&line) {
            continue;
        }
        let Some(variables) = inspector.variables(&moments, stop, &|_| f32::NAN) else { continue };
        let value = |name: &&str| {
            let vectors = variables.iter().flat_map(|variable| &variable.vectors);
            vectors.into_iter().find(|vector| vector.name == *name).map(|vector| vector.values[0])
        };
        let values: Vec<Option<f32>> = names.iter().map(value).collect();
        if all.last() != Some(&values) {
            all.push(values);
        }
    }
    all
}

/// Passes 1, 2 and 3 add 1, 2 and 3 times the light, 15/64; the test of the fourth one leaves the loop.
#[test]
fn variables_of_a_loop_have_the_values_of_its_pass() {
    let source = "precision highp float;
uniform float level; varying vec2 uv;
void main() {
  float light = uv.x * uv.y;
  float sum = 0.0;
  for (int i = 1; i < 100; i++) {
    if (float(i) > level) break;
    sum += light * float(i);
  }
  gl_FragColor = vec4(sum);
}";
    let light = 15.0 / 64.0;
    let pass = |i: f32, sum: f32| vec![Some(i), Some(sum), Some(light)];
    let inside = values_at(source, 8, 3.5, &["i", "sum", "light"]);
    assert_eq!(inside, [pass(1.0, 0.0), pass(2.0, light), pass(3.0, 3.0 * light)]);
    let after = values_at(source, 10, 3.5, &["i", "sum", "light"]);
    assert_eq!(after, [vec![None, Some(6.0 * light), Some(light)]]);
}

/// A function that is inlined twice has its own parameter in each call; `scale` hides the variable outside.
#[test]
fn variables_of_a_call_are_those_of_this_call() {
    let source = "precision highp float;
uniform float level; varying vec2 uv;
float scale = 8.0;
float f(float x) {
  float y = x * x;
  return y * scale + uv.y;
}
void main() {
  float scale = f(uv.x);
  gl_FragColor = vec4(f(scale + level));
}";
    // x is 5/8, so y is 25/64 and the first call gives 8 * 25/64 + 3/8 = 3.5; then x is 4.
    let calls = values_at(source, 6, 0.5, &["x", "y", "scale"]);
    let call = |x: f32| vec![Some(x), Some(x * x), Some(8.0)];
    assert_eq!(calls, [call(0.625), call(4.0)]);
    assert_eq!(
        values_at(source, 5, 0.5, &["x", "y"]),
        [vec![Some(0.625), None], vec![Some(4.0), None]]
    );
}

/// Only pixels that take a way have variables there, whether the program branches or computes both ways.
#[test]
fn variables_are_those_of_the_way_that_is_taken() {
    let source = "precision highp float;
uniform float level; varying vec2 uv;
void main() {
  float x = uv.x;
  if (x > level) {
    x = x * x * uv.y;
  } else {
    x = uv.y / x;
  }
  gl_FragColor = vec4(x);
}";
    assert_eq!(values_at(source, 6, 0.5, &["x"]), [vec![Some(0.625)]]);
    assert!(values_at(source, 8, 0.5, &["x"]).is_empty());
    assert_eq!(values_at(source, 8, 0.75, &["x"]), [vec![Some(0.625)]]);
}
