//! Scenes: whole draws as text.
//!
//! A scene names the size of a picture and one draw after the other, each with its vertices, a vertex program, a fragment program,
//! constants, textures and registers:
//!
//! ```text
//! SCENE 320x240 ;                                  -- width and height of the picture
//! TARGET mirror 128x128 ;                          -- another target, which later draws read as a texture
//! TARGET world 128x128 float ;                     -- one of floats of 32 bits
//! CLEAR color = (0.1, 0.1, 0.2, 1), depth = 1 ;    -- of the picture; a target that is cleared with a depth has a depth buffer
//! CLEAR mirror color = (0, 0, 0, 1) ;
//!
//! DRAW triangles INTO mirror {
//!     VERTICES position 3, color 4 { -1 -1 0  1 0 0 1   1 -1 0  0 1 0 1   0 1 0  0 0 1 1 }   -- input[0], input[1]
//!     INDICES { 0 1 2 }
//!     VERTEX PROGRAM { … }                         -- in the language of vertex programs; or "file.vs.asm" ;
//!     FRAGMENT PROGRAM { … }                       -- in the language of fragment programs; out[1], out[2], … are temp[0], temp[1], …
//!     VERTEX const[0] = perspective(60, aspect, 0.1, 100) * translate(0, 0, -3) * rotate(0, 1, 0, 90 * time) ;
//!     FRAGMENT const[0] = (1, 0.5, sin(time), 1) ;
//!     TEXTURE 0 = mirror ;
//!     TEXTURE 1 = previous world ;                 -- as the frame before left it
//!     SU_CULL_MODE = { CULL_BACK } ;               -- any register, as in the text of command streams
//! }
//! ```
//!
//! In place of programs a draw may have shaders, `VERTEX SHADER { … }` and `FRAGMENT SHADER "a.frag" ;`. They are compiled together; then
//! the parts of vertices, `UNIFORM name = … ;` and `TEXTURE sampler = … ;` go by the names in the shaders.
//!
//! ```text
//! text ─parse▶ Scene ─compile, for a time▶ Frame { command stream, buffers } ─card▶ picture
//!  ▲                                                                            │
//!  └────────────────────────────────── of_draw ──────────── inputs of a draw ◀──┘
//! ```
//!
//! | module | content |
//! | --- | --- |
//! | `parse` | the text |
//! | `mesh` | vertices and indices, from the text or a file |
//! | `state` | registers of every draw |
//! | `texture` | textures in memory |
//! | `compile` | the command stream |
//! | `c_header` | the compiled scene as C |
//! | `frame` | the compiled scene: buffers, picture, capture |
//! | `expect` | expected pixels of the picture |
//! | `shaded` | the draw that shades a pixel, as a job |
//! | `of_draw` | the way back: a draw of a card as a scene |
//!
//! A scene names files below its own folder only ([`NamedFiles`](r500::files::NamedFiles)).
#![forbid(unsafe_code)]

mod c_header;
mod compile;
mod expect;
mod frame;
mod mesh;
mod of_draw;
mod parse;
mod shaded;
mod state;
mod texture;

use std::ops::Range;

use r500::chip::Mapped;
use r500::chip::vap::{VapOutVtxFmt0, VapOutVtxFmt1};
use r500::program::{Input, Job, Plane};
use r500::pvs::Source;
use r500::text::expression::Expression;

pub use compile::CompileError;
pub use expect::{ExpectedPixel, PixelVerdict};
pub use frame::{Frame, PreviousFrame};
pub use of_draw::{OfDrawError, SceneText};
pub use shaded::{ShadedError, ShadedPixel, TargetPart};

use mesh::Mesh;

/// Limit of the bytes of the raw buffers of a scene, and of a texture.
const MAX_BYTES: usize = 256 << 20;

/// A scene.
#[derive(Clone, Debug)]
pub struct Scene {
    /// The picture first.
    targets: Vec<Target>,
    buffers: Vec<RawBuffer>,
    draws: Vec<Draw>,
    expected: Vec<ExpectedPixel>,
    /// Differences of channels that expectations allow.
    tolerance: f64,
    /// Whether an expression takes the time.
    moves: bool,
}

/// An error of a text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SceneError {
    /// Where it is, in bytes.
    pub span: Range<usize>,
    /// What is wrong.
    pub message: String,
    /// How to fix it; may be empty.
    pub help: String,
}

/// A render target.
#[derive(Clone, Debug)]
struct Target {
    name: String,
    size: [u32; 2],
    format: TargetFormat,
    clear: [f32; 4],
    /// The depth that a depth buffer begins with, if there is one.
    depth: Option<f32>,
}

/// The pixels of a render target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TargetFormat {
    /// 8 bits for each of blue, green, red and alpha.
    Bytes,
    /// Floats of 32 bits: red, green, blue, alpha.
    Floats,
}

impl TargetFormat {
    /// Bytes of a pixel.
    fn size(self) -> usize {
        match self {
            Self::Bytes => 4,
            Self::Floats => 16,
        }
    }
}

/// A target as a texture.
#[derive(Clone, Copy, Debug)]
struct TargetTexture {
    unit: u8,
    target: usize,
    /// Whether it is what the frame before left, not what this one has drawn.
    is_previous: bool,
}

/// A buffer whose layout only registers know.
#[derive(Clone, Debug)]
struct RawBuffer {
    name: String,
    bytes: Vec<u8>,
}

/// What a name stands for where a register takes an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Memory {
    /// The colours of a target.
    Target(usize),
    /// A raw buffer.
    Raw(usize),
}

/// A write of a register.
#[derive(Clone, Copy, Debug)]
struct RegisterWrite {
    address: u32,
    value: u32,
    /// The memory that an address is in.
    memory: Option<Memory>,
}

/// A draw.
#[derive(Clone, Debug)]
struct Draw {
    primitive: r500::chip::values::PrimType,
    /// `None`: where its registers say.
    target: Option<usize>,
    mesh: Mesh,
    /// `None`: vertices are what a vertex program would write.
    vertex: Option<Source>,
    fragment: Box<Job>,
    vertex_constants: Vec<Assignment>,
    fragment_constants: Vec<Assignment>,
    /// Targets that are textures.
    textures: Vec<TargetTexture>,
    /// Registers of the text, after all others.
    registers: Vec<RegisterWrite>,
    /// The places of the instructions of `fragment` in the text.
    places: Places,
    /// The place of the draw in the text.
    span: Range<usize>,
}

/// For each instruction of a program its place in the text of the scene, in bytes; `None` in another file.
type Places = Vec<Option<Range<usize>>>;

/// `const[first] = expression`, or four of them for a matrix, its rows.
#[derive(Clone, Debug)]
struct Assignment {
    first: usize,
    value: Expression,
    /// The column of a matrix that is meant alone.
    column: Option<usize>,
}

impl Scene {
    /// Returns whether a text is a scene: its first word is SCENE.
    #[must_use]
    pub fn is_scene(text: &str) -> bool {
        r500::reader::is_scene(text)
    }

    /// Returns width and height of the picture.
    #[must_use]
    pub fn size(&self) -> [u32; 2] {
        self.targets[0].size
    }

    /// Returns the number of draws.
    #[must_use]
    pub fn draws(&self) -> usize {
        self.draws.len()
    }

    /// Returns the size of the target of a draw, and whether it is the picture; `None` if there is no such draw.
    #[must_use]
    pub fn target(&self, draw: usize) -> Option<([u32; 2], bool)> {
        let draw = self.draws.get(draw)?;
        Some((self.size_of(draw), matches!(draw.target, None | Some(0))))
    }

    /// Returns the size of the target of a draw. Where registers say what the target is, that of the picture is all that is known.
    fn size_of(&self, draw: &Draw) -> [u32; 2] {
        draw.target.map_or(self.size(), |target| self.targets[target].size)
    }

    /// Returns the vertex program, if there is one, and the fragment program of each draw. Where registers do not say otherwise, the inputs of the
    /// fragment program are the outputs of the vertex program; they and
    /// textures that are drawn have no values here.
    pub fn programs(&self) -> impl Iterator<Item = (Option<&Source>, Job)> {
        self.draws.iter().map(|draw| {
            let inputs = draw.coordinates().map(|count| {
                (0..count).map(|temp| Input::planes(temp, [Plane::default(); 4])).collect()
            });
            let mut fragment = Job { inputs, ..(*draw.fragment).clone() };
            for TargetTexture { unit, target, .. } in &draw.textures {
                let Target { size, format, .. } = self.targets[*target];
                let texture = texture::of_target(size, frame::pitch(size), format);
                fragment.textures[usize::from(*unit)] = Some(texture);
            }
            (draw.vertex.as_ref(), fragment)
        })
    }

    /// Returns the place of each instruction of a draw's fragment program in the text of the scene, in bytes: of a program of a shader the
    /// first place in the shader that it computes. `None` if it is in another file. Empty if there is no such draw.
    #[must_use]
    pub fn fragment_places(&self, draw: usize) -> &[Option<Range<usize>>] {
        self.draws.get(draw).map_or(&[], |draw| &draw.places)
    }

    /// Returns where a draw begins in the text of the scene, in bytes.
    #[must_use]
    pub fn draw_span(&self, draw: usize) -> Option<Range<usize>> {
        self.draws.get(draw).map(|draw| draw.span.clone())
    }

    /// Returns whether pictures differ: by the time, or by the frame before.
    #[must_use]
    pub fn moves(&self) -> bool {
        self.moves || self.feeds_back()
    }

    /// Returns whether a draw reads what the frame before left.
    #[must_use]
    pub fn feeds_back(&self) -> bool {
        self.draws.iter().flat_map(|draw| &draw.textures).any(|texture| texture.is_previous)
    }
}

impl Draw {
    /// Returns the number of texture coordinates that the vertex program writes; `None` if registers say what its outputs are.
    fn coordinates(&self) -> Option<u8> {
        let formats = [VapOutVtxFmt0::MAPPING, VapOutVtxFmt1::MAPPING].map(|m| m.address);
        let described = self.registers.iter().any(|write| formats.contains(&write.address));
        let source = self.vertex.as_ref().filter(|_| !described)?;
        let last = source.program.written_outputs().last().copied();
        last.map(|last| last.min(compile::MAX_COORDINATES) as u8)
    }
}
