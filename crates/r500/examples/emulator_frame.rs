//! A frame of an emulator: a rasteriser of the host's, perspective, a depth test, many draws with constants of their own, blending
//! by the host; fragment programs by this library. The guide's page "Embedding" explains it.
//!
//! ```text
//! cargo run --release -p r500 --example emulator_frame -- --frames 300 > cubes.ppm
//! ```
//!
//! prints frames per second on stderr and the last frame as a PPM on stdout.

use std::error::Error;
use std::io::Write;
use std::ops::Range;
use std::time::Instant;

use r500::exec::{
    Bindings, ColorSurface, Drawing, Engine, Options, PixelRect, RunError, Shader, Surfaces,
};
use r500::formats::Limits;
use r500::jit::Jit;
use r500::program::{Input, InputData, Job};
use r500::reader::{self, Language};

const WIDTH: usize = 640;
const HEIGHT: usize = 480;
const DRAWS: usize = 100;

/// temp[0] is (s, t), temp[1] the normal; const[0] the direction to the light and the ambient light, const[1] the colour.
const PROGRAM: &[u8] = b"
    US_PIXSIZE = PIX_SIZE(2) ;
    TEXTURE tex[0] = checker(64, 64, 16) linear wrap ;
    TEX TEX_SEM_ACQUIRE temp[2].rgba = LD tex[0].rgba temp[0].rggg ;
    src0.rgb = temp[1], src1.rgb = const[0] : temp[1].rgb = clamp DP3 src0.rgb src1.rgb ;
    src0.rgb = temp[1], src1.a = const[0] : temp[1].rgb = clamp MAD src0.rgb src0.111 src1.aaa ;
    TEX_SEM_WAIT src0.rgb = temp[1], src1.rgb = temp[2] :
        temp[2].rgb = MAD src0.rgb src1.rgb src0.000 ;
    OUT LAST src0.rgb = temp[2], src1.rgb = const[1], src1.a = const[1] :
        out[0].rgb = MAD src0.rgb src1.rgb src0.000, out[0].a = MAX src1.a src1.a ;
";

/// Quads go to the fragment program packed, as the card's rasteriser hands them over: so many a row of the packed picture.
/// Helper pixels then belong to one triangle each, and the memory in use is small and contiguous.
const ROW: usize = 32;
/// Pixels in a row of the packed picture.
const PITCH: usize = 2 * ROW;
/// Rows of quads in the packed picture: what does not fit is drawn in several parts.
const ROWS: usize = 128;

type Vec3 = [f32; 3];

/// A vertex: clip coordinates, texture coordinates and normal.
#[derive(Clone, Copy)]
struct Vertex {
    position: [f32; 4],
    attributes: [f32; 5],
}

/// The part of the screen that one thread draws, with all that this takes: nothing is allocated per draw.
struct Stripe<'e> {
    rows: Range<usize>,
    pixels: Vec<[u8; 4]>,
    depth: Vec<f32>,
    drawing: Drawing<'e>,
    bindings: Bindings,
    /// The lower left pixel of each packed quad.
    quads: Vec<[u32; 2]>,
    /// What the fragment program made of the packed picture.
    shaded: Vec<u8>,
}

impl<'e> Stripe<'e> {
    fn new(
        engine: &'e dyn Engine,
        job: &Job,
        shader: &Shader,
        rows: Range<usize>,
    ) -> Result<Self, Box<dyn Error>> {
        let packed = PITCH * 2 * ROWS;
        let mut bindings = Bindings::new(job, [PITCH as u32, 2 * ROWS as u32])?;
        bindings.clear_inputs();
        for temp in 0..2 {
            let data = InputData::Values { width: PITCH as u32, values: vec![[0.0; 4]; packed] };
            bindings.set_input(Input { temp, data })?;
        }
        bindings.set_coverage(Some(vec![false; packed]))?;
        bindings.set_constant(1, [0.0; 4])?;
        // The stripes are the threads.
        let options = Options { threads: 1, ..Options::default() };
        let drawing = Drawing::new(engine, shader.clone(), &bindings, options)?;
        let pixels = vec![[0; 4]; WIDTH * rows.len()];
        let depth = vec![f32::INFINITY; WIDTH * rows.len()];
        let quads = Vec::with_capacity(ROW * ROWS);
        let shaded = vec![0; packed * 4];
        Ok(Self { rows, pixels, depth, drawing, bindings, quads, shaded })
    }

    fn clear(&mut self) {
        self.pixels.fill([24, 26, 32, 255]);
        self.depth.fill(f32::INFINITY);
    }

    /// Draws triangles with constants of their own. Blending is over what earlier draws left: triangles of one draw must not
    /// cover each other, as those of a convex body do not.
    fn draw(
        &mut self,
        constants: [[f32; 4]; 2],
        triangles: &[[Vertex; 3]],
    ) -> Result<(), Box<dyn Error>> {
        for (n, value) in constants.into_iter().enumerate() {
            self.bindings.set_constant(n, value)?;
        }
        for triangle in triangles {
            self.rasterise(triangle)?;
        }
        Ok(self.shade()?)
    }

    /// Appends the quads of a triangle in front of the eye, with perspective-correct attributes.
    fn rasterise(&mut self, triangle: &[Vertex; 3]) -> Result<(), RunError> {
        // Screen coordinates, y upward, and 1/w.
        let screen = triangle.map(|Vertex { position: [x, y, z, w], .. }| {
            let half = [WIDTH as f32 / 2.0, HEIGHT as f32 / 2.0];
            [(x / w + 1.0) * half[0], (y / w + 1.0) * half[1], z / w, 1.0 / w]
        });
        let [a, b, c] = screen;
        let area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
        if area <= 0.0 {
            return Ok(()); // faces away
        }
        // Edge functions: inside, all are positive; on an edge, the triangle of which it is a left or bottom edge has it.
        let edges = [[b, c], [c, a], [a, b]].map(|[p, q]| {
            let (dx, dy) = (p[1] - q[1], q[0] - p[0]);
            let owns = dx > 0.0 || dx == 0.0 && dy > 0.0;
            (dx / area, dy / area, (p[0] * q[1] - p[1] * q[0]) / area, owns)
        });
        let range = |axis: usize, low: usize, high: usize| {
            let least = screen.iter().fold(f32::MAX, |least, p| least.min(p[axis]));
            let most = screen.iter().fold(f32::MIN, |most, p| most.max(p[axis]));
            (least.max(low as f32) as usize & !1)..(most.max(0.0) as usize + 1).min(high)
        };
        let (columns, rows) = (range(0, 0, WIDTH), range(1, self.rows.start, self.rows.end));
        for y in rows.step_by(2) {
            for x in columns.clone().step_by(2) {
                let corners = [[0, 0], [1, 0], [0, 1], [1, 1]].map(|[dx, dy]| [x + dx, y + dy]);
                let weights = corners.map(|[x, y]| {
                    let (x, y) = (x as f32 + 0.5, y as f32 + 0.5);
                    edges.map(|(dx, dy, at, owns)| (dx * x + dy * y + at, owns))
                });
                let mut covered = [false; 4];
                for (n, weights) in weights.iter().enumerate() {
                    if weights.iter().all(|&(weight, owns)| weight > 0.0 || weight == 0.0 && owns) {
                        let z: f32 = (0..3).map(|i| weights[i].0 * screen[i][2]).sum();
                        let [x, y] = corners[n];
                        let depth = &mut self.depth[(y - self.rows.start) * WIDTH + x];
                        covered[n] = z < *depth;
                        if covered[n] {
                            *depth = z;
                        }
                    }
                }
                if covered.contains(&true) {
                    let attributes = weights.map(|weights| {
                        let over_w: [f32; 3] = std::array::from_fn(|i| weights[i].0 * screen[i][3]);
                        let w = 1.0 / over_w.iter().sum::<f32>();
                        std::array::from_fn(|n| {
                            (0..3).map(|i| over_w[i] * w * triangle[i].attributes[n]).sum()
                        })
                    });
                    self.push([x as u32, y as u32], covered, attributes)?;
                }
            }
        }
        Ok(())
    }

    /// Packs a quad: inputs of all four pixels, the uncovered ones as helpers.
    fn push(
        &mut self,
        at: [u32; 2],
        covered: [bool; 4],
        attributes: [[f32; 5]; 4],
    ) -> Result<(), RunError> {
        if self.quads.len() == ROW * ROWS {
            self.shade()?;
        }
        let n = self.quads.len();
        self.quads.push(at);
        let places = places(n);
        let Some(mask) = self.bindings.coverage_mut() else { return Ok(()) };
        for (place, covered) in places.into_iter().zip(covered) {
            mask[place] = covered;
        }
        for temp in 0..2 {
            let Some(values) = self.bindings.input_values_mut(temp) else { return Ok(()) };
            for (place, [s, t, x, y, z]) in places.into_iter().zip(attributes) {
                values[place] = if temp == 0 { [s, t, 0.0, 1.0] } else { [x, y, z, 0.0] };
            }
        }
        Ok(())
    }

    /// Runs the fragment program on the packed quads, and blends them over the screen.
    fn shade(&mut self) -> Result<(), RunError> {
        let rows = self.quads.len().div_ceil(ROW);
        if rows == 0 {
            return Ok(());
        }
        // The last row may have room left.
        for n in self.quads.len()..rows * ROW {
            if let Some(mask) = self.bindings.coverage_mut() {
                places(n).into_iter().for_each(|place| mask[place] = false);
            }
        }
        let area = PixelRect { x: 0, y: 0, width: PITCH as u32, height: 2 * rows as u32 };
        let surface = ColorSurface::rgba8(&mut self.shaded, PITCH * 4);
        self.drawing.draw_to(&self.bindings, &mut Surfaces::color(area, surface))?;

        let Some(mask) = self.bindings.coverage_mut() else { return Ok(()) };
        for (n, &[x, y]) in self.quads.iter().enumerate() {
            let corners = [[0, 0], [1, 0], [0, 1], [1, 1]];
            for (place, [dx, dy]) in
                places(n).into_iter().zip(corners).filter(|(place, _)| mask[*place])
            {
                let row = y as usize + dy - self.rows.start;
                let pixel = &mut self.pixels[row * WIDTH + x as usize + dx];
                let source = &self.shaded[place * 4..place * 4 + 4];
                let alpha = u32::from(source[3]);
                for (channel, &source) in pixel.iter_mut().zip(source) {
                    let mixed = u32::from(source) * alpha + u32::from(*channel) * (255 - alpha);
                    *channel = ((mixed + 127) / 255) as u8;
                }
            }
        }
        self.quads.clear();
        Ok(())
    }
}

/// Where the pixels of a packed quad lie: lower left, lower right, upper left, upper right.
fn places(n: usize) -> [usize; 4] {
    let at = n / ROW * 2 * PITCH + n % ROW * 2;
    [at, at + 1, at + PITCH, at + PITCH + 1]
}

/// A turning cube: object number, of frame number. Returns its constants and triangles.
fn cube(object: usize, time: f32, triangles: &mut Vec<[Vertex; 3]>) -> [[f32; 4]; 2] {
    let (column, row) = ((object % 10) as f32, (object / 10) as f32);
    let (sin, cos) = (time * (0.5 + 0.05 * column) + row).sin_cos();
    let turn = |[x, y, z]: Vec3| {
        let (x, z) = (cos * x + sin * z, cos * z - sin * x);
        [x, 0.8 * y - 0.6 * z, 0.6 * y + 0.8 * z]
    };
    triangles.clear();
    for face in 0..6 {
        let (axis, sign) = (face / 2, if face % 2 == 0 { 1.0 } else { -1.0 });
        let corner = |s: f32, t: f32| {
            let (mut point, mut normal) = ([0.0; 3], [0.0; 3]);
            (point[axis], normal[axis]) = (sign, sign);
            // Seen from outside, s and t go to the right and upward.
            point[(axis + 1) % 3] = (2.0 * s - 1.0) * sign;
            point[(axis + 2) % 3] = 2.0 * t - 1.0;
            let ([x, y, z], [nx, ny, nz]) = (turn(point.map(|p| p * 0.62)), turn(normal));
            let (x, y, w) = (x + 1.9 * (column - 4.5), y + 1.45 * (row - 4.5), 9.0 - z);
            let position = [x * 0.78, y * 1.04, w - 1.0, w];
            Vertex { position, attributes: [s, t, nx, ny, nz] }
        };
        let [a, b, c, d] = [corner(0.0, 0.0), corner(1.0, 0.0), corner(1.0, 1.0), corner(0.0, 1.0)];
        triangles.extend([[a, b, c], [a, c, d]]);
    }
    let light = [0.36, 0.48, 0.8, 0.15 + 0.1 * time.sin().abs()];
    [
        light,
        [
            0.4 + 0.06 * column,
            0.9 - 0.05 * row,
            0.5 + 0.03 * row,
            0.55 + 0.05 * (object % 9) as f32,
        ],
    ]
}

/// Draws a frame, each stripe on a thread of its own.
fn frame(stripes: &mut [Stripe<'_>], time: f32) -> Result<(), String> {
    let stripe = |stripe: &mut Stripe<'_>| {
        let mut triangles = Vec::with_capacity(12);
        stripe.clear();
        for object in 0..DRAWS {
            let constants = cube(object, time, &mut triangles);
            stripe.draw(constants, &triangles).map_err(|error| error.to_string())?;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> =
            stripes.iter_mut().map(|part| scope.spawn(move || stripe(part))).collect();
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| "a stripe panicked")?)
    })
}

/// Cuts the screen into stripes, one a thread, of even height.
fn stripes<'e>(engine: &'e dyn Engine, count: usize) -> Result<Vec<Stripe<'e>>, Box<dyn Error>> {
    let jobs = reader::read(PROGRAM, None, Some(Language::Assembly), &Limits::default())?;
    let shader = Shader::new(&jobs[0].program)?;
    let height = HEIGHT / count / 2 * 2;
    let rows = |n: usize| n * height..if n + 1 == count { HEIGHT } else { (n + 1) * height };
    (0..count).map(|n| Stripe::new(engine, &jobs[0], &shader, rows(n))).collect()
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut frames = 120;
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match (arg.as_str(), args.next().map(|n| n.parse())) {
            ("--frames", Some(Ok(count))) => frames = count,
            _ => return Err("usage: emulator_frame [--frames N] > last-frame.ppm".into()),
        }
    }
    let engine = Jit::new();
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(16);
    let mut stripes = stripes(&engine, threads)?;
    // The first frames find out which constants change, and machine code is made meanwhile.
    for n in 0..20 {
        frame(&mut stripes, n as f32 * 0.03)?;
    }
    let start = Instant::now();
    for n in 0..frames {
        frame(&mut stripes, n as f32 / 60.0)?;
    }
    let rate = f64::from(frames) / start.elapsed().as_secs_f64();
    let by = stripes[0].drawing.run_info().engine;
    let mut err = std::io::stderr().lock();
    writeln!(err, "{rate:.1} frames a second, {DRAWS} draws each, {threads} threads, engine {by}")?;

    let mut out = std::io::stdout().lock();
    writeln!(out, "P6 {WIDTH} {HEIGHT} 255")?;
    // The top row first.
    let rows: Vec<&[[u8; 4]]> = stripes.iter().flat_map(|part| part.pixels.chunks(WIDTH)).collect();
    for row in rows.into_iter().rev() {
        out.write_all(&row.iter().flat_map(|&[r, g, b, _]| [r, g, b]).collect::<Vec<u8>>())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use r500::exec::reference::Reference;

    fn pixels(stripes: &[Stripe<'_>]) -> Vec<[u8; 4]> {
        stripes.iter().flat_map(|part| part.pixels.iter().copied()).collect()
    }

    /// The stripes and the engines agree bit for bit, and a cube is where one must be.
    #[test]
    fn engines_and_stripes_draw_the_same_frame() -> Result<(), Box<dyn Error>> {
        let jit = Jit::new();
        let (mut one, mut three) = (stripes(&Reference, 1)?, stripes(&jit, 3)?);
        for time in [0.0, 0.4, 0.8, 1.2] {
            frame(&mut three, time)?;
        }
        frame(&mut one, 1.2)?;
        let (one, three) = (pixels(&one), pixels(&three));
        assert!(one == three);
        let background = one.iter().filter(|pixel| **pixel == [24, 26, 32, 255]).count();
        assert!((WIDTH * HEIGHT / 16..WIDTH * HEIGHT / 2).contains(&background), "{background}");
        Ok(())
    }
}
