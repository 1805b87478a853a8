//! A program of six-dword instructions in another program: set constants, draw, take the pixels.
//!
//! ```text
//! cargo run -p r500 --example embed > dawn.ppm
//! ```

use std::error::Error;
use std::io::Write;

use r500::exec::{Bindings, Options, Shader, draw, reference::Reference};
use r500::isa::Instruction;
use r500::picture::Picture;
use r500::program::{Job, Program};

/// What `r500 asm --to c-array` makes of
///
/// ```text
/// src0.rgb = temp[0] : D2A.rgb src0.rg0 src0.rg0 src0.000, temp[0].a = DP ;
/// OUT LAST src0.rgb = const[0], src1.rgb = const[1], src0.a = temp[0], srcp.rgb = sub :
///     out[0].rgb = clamp MAD srcp.rgb src0.aaa src0.rgb, out[0].a = MAD src0.1 src0.1 src0.0 ;
/// ```
///
/// Nothing else said, temp[0] is (u, v, 0, 1): a colour from const[0] to const[1] by u*u + v*v.
const CODE: [[u32; 6]; 2] = [
    [0x0000_4000, 0x0802_0000, 0x0802_0080, 0x0084_0420, 0x0000_0001, 0x0049_0003],
    [0x000f_8101, 0x4804_0500, 0x0802_0000, 0x006d_8223, 0x00c1_8000, 0x2022_0000],
];

fn main() -> Result<(), Box<dyn Error>> {
    let job = Job::from_program(Program::from_code(CODE.map(Instruction).to_vec()));
    let shader = Shader::new(&job.program)?; // decoded once, for any number of frames
    let mut bindings = Bindings::new(&job, [256, 256])?;
    bindings.set_constant(0, [1.0, 0.75, 0.25, 1.0])?;
    bindings.set_constant(1, [0.25, 0.25, 0.5, 1.0])?;

    let frame = draw(&Reference, &shader, &bindings, &Options::default())?;

    // Floats as the program wrote them: the lower left pixel is all but const[0].
    let [red, ..] = frame.color(0, 0, 0);
    assert!((red - 1.0).abs() < 0.001);

    // Or bytes, the top row first.
    let picture = Picture::from_colors(frame.width(), frame.target(0).unwrap_or_default());
    let rgb: Vec<u8> = picture.pixels.iter().flat_map(|&[r, g, b, _]| [r, g, b]).collect();
    let mut out = std::io::stdout().lock();
    writeln!(out, "P6 {} {} 255", picture.width, picture.height)?;
    Ok(out.write_all(&rgb)?)
}
