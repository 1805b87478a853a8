//! The text of scenes.
//!
//! | module | content |
//! | --- | --- |
//! | this one | statements |
//! | `expectation` | `EXPECT` |
//! | `expression` | values of constants; their grammar is `r500_text::expression` |
//! | `memory` | buffers; registers, and the memory that their addresses are in |
//! | `program` | programs in braces, or in files |
//! | `shader` | GLSL, and the names in it |
//! | `words` | words, numbers and symbols; what follows an error |
//!
//! Words are separated by white space; `--` begins a comment. A program between braces is read by the language that it is in.

mod expectation;
mod expression;
mod memory;
mod program;
mod shader;
mod words;

use std::ops::Range;
use std::path::Path;

use r500::chip::values::PrimType;
use r500::files::{MAX_PICTURE, NamedFiles, parent};
use r500::program::Job;
use r500::pvs::{CONSTANTS, INPUTS, Source};
use r500::text::expression::{Environment, Expression, Value};

use crate::expect::ExpectedPixel;
use crate::mesh::{Attribute, MAX_ATTRIBUTES, MAX_VERTICES, Mesh};
use crate::{
    Assignment, Draw, MAX_BYTES, Places, RawBuffer, RegisterWrite, Scene, SceneError, Target,
    TargetFormat, TargetTexture,
};
use shader::{NamedTexture, NamedValue, ShaderText};

/// Limit of the errors of a text.
const MAX_ERRORS: usize = 100;
/// Limit of the bytes of a text.
pub(crate) const MAX_SCENE: usize = 16 << 20;
/// Limit of the side of a target in pixels.
const MAX_SIDE: u32 = 4096;
/// Limit of the targets and of the draws of a scene.
const MAX_PARTS: usize = 1024;

pub(crate) const PRIMITIVES: [(&str, PrimType); 10] = [
    ("points", PrimType::POINTS),
    ("lines", PrimType::LINES),
    ("line_strip", PrimType::LINE_STRIP),
    ("line_loop", PrimType::LINE_LOOP),
    ("triangles", PrimType::TRIANGLES),
    ("triangle_fan", PrimType::TRIANGLE_FAN),
    ("triangle_strip", PrimType::TRIANGLE_STRIP),
    ("quads", PrimType::QUADS),
    ("quad_strip", PrimType::QUAD_STRIP),
    ("polygon", PrimType::POLYGON),
];

const DRAW_HELP: &str = "in a draw: VERTICES, INDICES, VERTEX PROGRAM or SHADER, FRAGMENT PROGRAM or SHADER, VERTEX const[n] =, FRAGMENT const[n] =, UNIFORM name =, TEXTURE n =, and registers";
const SCENE_HELP: &str = "a scene has SCENE, TARGET, BUFFER, CLEAR, DRAW and EXPECT";

impl Scene {
    /// Parses a scene. `path` is its file, next to which it may name others.
    ///
    /// # Errors
    /// All errors of the text, in its order.
    pub fn parse(text: &str, path: &Path, files: &NamedFiles) -> Result<Self, Vec<SceneError>> {
        let mut parser = Parser {
            text,
            at: 0,
            word: 0..0,
            path,
            files,
            targets: Vec::new(),
            buffers: Vec::new(),
            draws: Vec::new(),
            expected: Vec::new(),
            tolerance: 0.0,
            errors: Vec::new(),
        };
        if text.len() > MAX_SCENE {
            let message = format!("a scene has at most {MAX_SCENE} bytes");
            return Err(vec![SceneError { span: 0..0, message, help: String::new() }]);
        }
        parser.scene();
        let Parser { targets, buffers, draws, expected, tolerance, mut errors, .. } = parser;
        if errors.is_empty() && draws.is_empty() {
            let end = text.trim_end().len();
            let message = "a scene has at least one draw".to_owned();
            errors.push(SceneError { span: end..end, message, help: SCENE_HELP.to_owned() });
        }
        if !errors.is_empty() {
            errors.sort_by_key(|error| error.span.start);
            return Err(errors);
        }
        let constants = draws
            .iter()
            .flat_map(|draw| draw.vertex_constants.iter().chain(&draw.fragment_constants));
        let moves = constants.into_iter().any(|assignment| assignment.value.moves());
        Ok(Self { targets, buffers, draws, expected, tolerance, moves })
    }
}

/// An error: what, where, and help.
struct Wrong {
    span: Range<usize>,
    message: String,
    help: &'static str,
}

type Parsed<T> = Result<T, Wrong>;

struct Parser<'t> {
    text: &'t str,
    at: usize,
    /// The last word of an expression.
    word: Range<usize>,
    path: &'t Path,
    files: &'t NamedFiles,
    targets: Vec<Target>,
    buffers: Vec<RawBuffer>,
    draws: Vec<Draw>,
    expected: Vec<ExpectedPixel>,
    tolerance: f64,
    errors: Vec<SceneError>,
}

/// A draw while it is read.
#[derive(Default)]
struct Parts {
    mesh: Option<Mesh>,
    indices: Option<(Vec<u32>, Range<usize>)>,
    /// `Some(None)`: none.
    vertex: Option<Option<Source>>,
    fragment: Option<Box<Job>>,
    /// The places of the instructions of `fragment` in the text.
    places: Places,
    vertex_shader: Option<ShaderText>,
    fragment_shader: Option<ShaderText>,
    uniforms: Vec<NamedValue>,
    named_textures: Vec<NamedTexture>,
    vertex_constants: Vec<Assignment>,
    fragment_constants: Vec<Assignment>,
    textures: Vec<TargetTexture>,
    registers: Vec<RegisterWrite>,
}

impl<'t> Parser<'t> {
    fn scene(&mut self) {
        if let Err(wrong) = self.header() {
            self.report(wrong);
            return;
        }
        while self.errors.len() < MAX_ERRORS && self.more() {
            let begin = self.at;
            if let Err(wrong) = self.statement() {
                self.report(wrong);
                self.recover(begin);
            }
        }
    }

    /// Parses `SCENE 320x240 ;`.
    fn header(&mut self) -> Parsed<()> {
        self.space();
        let help = "a scene begins with `SCENE 320x240 ;`";
        if !self.keyword("SCENE") {
            return Err(self.wrong("expected SCENE", help));
        }
        let size = self.size(help)?;
        self.end(help)?;
        let name = String::new();
        self.add_target(name, size, TargetFormat::Bytes);
        Ok(())
    }

    fn add_target(&mut self, name: String, size: [u32; 2], format: TargetFormat) {
        self.targets.push(Target { name, size, format, clear: [0.0, 0.0, 0.0, 1.0], depth: None });
    }

    fn statement(&mut self) -> Parsed<()> {
        if self.keyword("TARGET") {
            let help = "write `TARGET mirror 128x128 ;`, or `TARGET world 128x128 float ;`";
            let (name, span) = self.name(help)?;
            self.free(&name, &span, help)?;
            let size = self.size(help)?;
            let is_float = self.keyword("float");
            let format = if is_float { TargetFormat::Floats } else { TargetFormat::Bytes };
            self.end(help)?;
            if self.targets.len() >= MAX_PARTS {
                return Err(at(span, format!("a scene has at most {MAX_PARTS} targets"), help));
            }
            self.add_target(name, size, format);
            let floats = self.targets.iter().filter(|target| target.format == TargetFormat::Floats);
            let bytes = |target: &Target| {
                target.size.map(|side| side as usize).iter().product::<usize>()
                    * target.format.size()
            };
            if floats.map(bytes).sum::<usize>() > MAX_BYTES {
                let message = format!("the targets of floats take more than {MAX_BYTES} bytes");
                return Err(at(span, message, "make them smaller, or of 8 bits"));
            }
            return Ok(());
        }
        if self.keyword("BUFFER") {
            return self.buffer();
        }
        if self.keyword("CLEAR") {
            return self.clear();
        }
        if self.keyword("DRAW") {
            return self.draw();
        }
        if self.keyword("EXPECT") {
            return self.expectation();
        }
        Err(self.wrong("expected a statement", SCENE_HELP))
    }

    /// Parses what follows `CLEAR`.
    fn clear(&mut self) -> Parsed<()> {
        let help = "write `CLEAR color = (0, 0, 0, 1), depth = 1 ;`";
        let mut target = 0;
        let mut first = true;
        loop {
            let begin = self.at;
            let (word, span) = self.name(help)?;
            match word.to_ascii_lowercase().as_str() {
                "color" => {
                    self.symbol('=', help)?;
                    let value = self.constant(help)?;
                    let Value::Vector(color) = value else {
                        return Err(at(span, "a colour has four components".to_owned(), help));
                    };
                    self.targets[target].clear = color.map(|x| x as f32);
                }
                "depth" => {
                    self.symbol('=', help)?;
                    match self.constant(help)? {
                        Value::Number(depth) if (0.0..=1.0).contains(&depth) => {
                            self.targets[target].depth = Some(depth as f32);
                        }
                        _ => {
                            let message = "a depth is a number from 0 to 1".to_owned();
                            return Err(at(span, message, help));
                        }
                    }
                }
                _ if first => {
                    target = self.target(&word, span)?;
                    first = false;
                    continue;
                }
                _ => return Err(at(begin..self.at, format!("`{word}` cannot be cleared"), help)),
            }
            first = false;
            if !self.optional(',') {
                return self.end(help);
            }
        }
    }

    fn target(&self, name: &str, span: Range<usize>) -> Parsed<usize> {
        self.target_named(name).ok_or_else(|| {
            at(span, format!("there is no target `{name}`"), "write `TARGET name 128x128 ;` before")
        })
    }

    fn target_named(&self, name: &str) -> Option<usize> {
        // The picture, the first one, has no name.
        self.targets.iter().skip(1).position(|target| target.name == name).map(|n| n + 1)
    }

    /// Returns the target whose contents of the frame before a name stands for: a target, or `picture`.
    fn previous_named(&self, name: &str) -> Option<usize> {
        self.target_named(name).or_else(|| name.eq_ignore_ascii_case("picture").then_some(0))
    }

    /// Parses what follows `DRAW`.
    fn draw(&mut self) -> Parsed<()> {
        let help = "write `DRAW triangles { … }`, `DRAW triangles INTO target { … }`, or `INTO registers`, if registers name the target";
        let (word, span) = self.name(help)?;
        let primitive = PRIMITIVES.iter().find(|(name, _)| name.eq_ignore_ascii_case(&word));
        let Some((_, primitive)) = primitive else {
            let known: Vec<&str> = PRIMITIVES.iter().map(|(name, _)| *name).collect();
            let message =
                format!("`{word}` is not a kind of primitives; there are {}", known.join(", "));
            return Err(at(span, message, help));
        };
        let mut target = Some(0);
        if self.keyword("INTO") {
            let (name, span) = self.name(help)?;
            target = match name.eq_ignore_ascii_case("registers") {
                true => None,
                false => Some(self.target(&name, span)?),
            };
        }
        self.symbol('{', help)?;
        let mut parts = Parts::default();
        let begun = self.errors.len();
        loop {
            self.space();
            if self.optional('}') {
                break;
            }
            if self.at >= self.text.len() {
                return Err(at(span, "the draw has no end".to_owned(), "end it with `}`"));
            }
            if self.errors.len() >= MAX_ERRORS {
                return Ok(());
            }
            let begin = self.at;
            if let Err(wrong) = self.part(&mut parts) {
                self.report(wrong);
                self.recover(begin);
            }
        }
        if self.errors.len() == begun {
            let size = self.targets[target.unwrap_or(0)].size;
            self.compile_shaders(&mut parts, size);
        }
        if self.errors.len() > begun {
            return Ok(());
        }
        self.finish(*primitive, target, parts, span)
    }

    fn finish(
        &mut self,
        primitive: PrimType,
        target: Option<usize>,
        parts: Parts,
        span: Range<usize>,
    ) -> Parsed<()> {
        let lacks = |what: &str| at(span.clone(), format!("the draw has no {what}"), DRAW_HELP);
        let mut mesh = parts.mesh.ok_or_else(|| lacks("VERTICES"))?;
        let vertex = parts.vertex.ok_or_else(|| lacks("VERTEX PROGRAM"))?;
        let fragment = parts.fragment.ok_or_else(|| lacks("FRAGMENT PROGRAM"))?;
        if let Some((indices, span)) = parts.indices {
            let vertices = mesh.vertices();
            if let Some(index) = indices.iter().find(|index| **index as usize >= vertices) {
                let message = format!("there is no vertex {index}: there are {vertices}, from 0");
                return Err(at(span, message, "remove the index, or add the vertex"));
            }
            mesh.indices = Some(indices);
        }
        if self.draws.len() >= MAX_PARTS {
            return Err(at(span, format!("a scene has at most {MAX_PARTS} draws"), ""));
        }
        self.draws.push(Draw {
            primitive,
            target,
            mesh,
            vertex,
            fragment,
            vertex_constants: parts.vertex_constants,
            fragment_constants: parts.fragment_constants,
            textures: parts.textures,
            places: parts.places,
            span,
            registers: parts.registers,
        });
        Ok(())
    }

    /// Parses a statement of a draw.
    fn part(&mut self, parts: &mut Parts) -> Parsed<()> {
        if self.keyword("VERTICES") {
            let span = self.at..self.at;
            if parts.mesh.replace(self.vertices()?).is_some() {
                return Err(at(span, "the draw has vertices already".to_owned(), DRAW_HELP));
            }
        } else if self.keyword("INDICES") {
            parts.indices = Some(self.indices()?);
        } else if self.keyword("VERTEX") {
            if self.keyword("PROGRAM") {
                let without = self.keyword("none");
                if without {
                    self.end("write `VERTEX PROGRAM none ;`")?;
                    parts.vertex = Some(None);
                } else {
                    parts.vertex = self.vertex_program()?.map(Some);
                }
            } else if self.keyword("SHADER") {
                parts.vertex_shader = Some(self.shader()?);
            } else {
                parts.vertex_constants.push(self.assignment()?);
            }
        } else if self.keyword("FRAGMENT") {
            if self.keyword("PROGRAM") {
                let program = self.fragment_program()?;
                (parts.fragment, parts.places) = program
                    .map_or((None, Vec::new()), |(job, places)| (Some(Box::new(job)), places));
            } else if self.keyword("SHADER") {
                parts.fragment_shader = Some(self.shader()?);
            } else {
                parts.fragment_constants.push(self.assignment()?);
            }
        } else if self.keyword("UNIFORM") {
            parts.uniforms.push(self.uniform()?);
        } else if self.keyword("TEXTURE") {
            if let Some(texture) = self.named_texture()? {
                parts.named_textures.push(texture);
                return Ok(());
            }
            let help = "write `TEXTURE 0 = target ;` or `TEXTURE 0 = previous target ;`; textures from files belong to the fragment program";
            let unit = self.whole(16, help)? as u8;
            self.symbol('=', help)?;
            let is_previous = self.keyword("previous");
            let (name, span) = self.name(help)?;
            let target = match self.previous_named(&name).filter(|_| is_previous) {
                Some(target) => target,
                None => self.target(&name, span)?,
            };
            self.end(help)?;
            parts.textures.push(TargetTexture { unit, target, is_previous });
        } else {
            parts.registers.extend(self.register()?);
        }
        Ok(())
    }

    /// Parses what follows `VERTICES`.
    fn vertices(&mut self) -> Parsed<Mesh> {
        let help = "write `VERTICES position 3, color 4 { numbers }`, `VERTICES input[2] 3 { numbers }`, or `VERTICES \"mesh.obj\" ;`";
        if let Some((name, span)) = self.string()? {
            let names = self.names(help)?;
            self.end(help)?;
            let bytes = self.read(&name, &span, MAX_PICTURE)?;
            let mut mesh = Mesh::from_obj(&bytes).map_err(|error| {
                at(span.clone(), format!("`{name}`: {error}"), "only Wavefront OBJ files are read")
            })?;
            if names.len() > mesh.names.len() {
                let message = format!("`{name}` has only {}", mesh.names.join(", "));
                return Err(at(span, message, "give at most so many names"));
            }
            for (name, new) in mesh.names.iter_mut().zip(names) {
                *name = new;
            }
            return Ok(mesh);
        }
        let mut mesh = Mesh::default();
        loop {
            let (name, attribute) = self.attribute(&mesh.attributes, help)?;
            mesh.names.push(name);
            mesh.attributes.push(attribute);
            if !self.optional(',') {
                break;
            }
        }
        let begin = self.at;
        self.symbol('{', help)?;
        let most = MAX_VERTICES * mesh.stride();
        while !self.optional('}') {
            let (value, span) = self.float(help)?;
            if mesh.values.len() == most {
                return Err(at(span, format!("a draw has at most {MAX_VERTICES} vertices"), help));
            }
            mesh.values.push(value);
            self.optional(',');
        }
        let stride = mesh.stride();
        if mesh.values.is_empty() || !mesh.values.len().is_multiple_of(stride) {
            let message =
                format!("{} numbers are not vertices of {stride} components", mesh.values.len());
            return Err(at(begin..self.at, message, help));
        }
        Ok(mesh)
    }

    /// Parses names with commas between them, up to the end of a statement.
    fn names(&mut self, help: &'static str) -> Parsed<Vec<String>> {
        let mut all = Vec::new();
        while self.peek() != Some(';') {
            all.push(self.name(help)?.0);
            if !self.optional(',') {
                break;
            }
        }
        Ok(all)
    }

    /// Parses `position 3` or `input[5] 3`.
    fn attribute(
        &mut self,
        before: &[Attribute],
        help: &'static str,
    ) -> Parsed<(String, Attribute)> {
        let (name, span) = self.name(help)?;
        let next = before.last().map_or(0, |last| u32::from(last.input) + 1);
        let input = match name.eq_ignore_ascii_case("input") && self.optional('[') {
            true => {
                let input = self.whole(INPUTS as u32, help)?;
                self.symbol(']', help)?;
                input
            }
            false => next,
        };
        let components = self.whole(5, help)?;
        if components == 0 || before.len() == MAX_ATTRIBUTES || input >= INPUTS as u32 {
            let message =
                format!("a vertex has at most {MAX_ATTRIBUTES} attributes of 1 to 4 components");
            return Err(at(span, message, help));
        }
        let (input, components) = (input as u8, components as u8);
        if before.iter().any(|attribute| attribute.input == input) {
            return Err(at(span, format!("input[{input}] has two attributes"), help));
        }
        Ok((name, Attribute { input, components }))
    }

    /// Parses what follows `INDICES`.
    fn indices(&mut self) -> Parsed<(Vec<u32>, Range<usize>)> {
        let help = "write `INDICES { 0 1 2 }`";
        self.space();
        let begin = self.at;
        self.symbol('{', help)?;
        let mut indices = Vec::new();
        while !self.optional('}') {
            if indices.len() == MAX_VERTICES {
                return Err(self.wrong(&format!("a draw has at most {MAX_VERTICES} indices"), help));
            }
            indices.push(self.whole(MAX_VERTICES as u32, help)?);
            self.optional(',');
        }
        Ok((indices, begin..self.at))
    }

    /// Parses `const[n] = expression ;`.
    fn assignment(&mut self) -> Parsed<Assignment> {
        let help = "write `VERTEX const[0] = (1, 0, 0, 1) ;`, or PROGRAM";
        if !self.keyword("const") {
            return Err(self.wrong("expected const[n] or PROGRAM", help));
        }
        self.symbol('[', help)?;
        let first = self.whole(CONSTANTS as u32, help)? as usize;
        self.symbol(']', help)?;
        self.symbol('=', help)?;
        let (value, span) = self.value_of_constant(help)?;
        match value.value(Environment::CONSTANT) {
            Ok(Value::Matrix(_)) if first + 4 > CONSTANTS => {
                let message = format!("a matrix takes four constants; there are {CONSTANTS}");
                Err(at(span, message, help))
            }
            _ => Ok(Assignment { first, value, column: None }),
        }
    }

    /// Parses an expression and the end of its statement.
    fn value_of_constant(&mut self, help: &'static str) -> Parsed<(Expression, Range<usize>)> {
        self.space();
        let begin = self.at;
        let value = self.expression()?;
        let span = self.since(begin);
        self.end(help)?;
        // The kinds of values do not depend on the environment.
        let kind = value.value(Environment::CONSTANT);
        kind.map_err(|message| at(span.clone(), message, expression::HELP))?;
        Ok((value, span))
    }

    fn read(&self, name: &str, span: &Range<usize>, limit: u64) -> Parsed<Vec<u8>> {
        let path = parent(self.path).join(name);
        self.files.read(&path, limit).map_err(|error| {
            at(span.clone(), format!("`{name}`: {error}"), "files are named relative to the scene")
        })
    }
}

fn at(span: Range<usize>, message: String, help: &'static str) -> Wrong {
    Wrong { span, message, help }
}
