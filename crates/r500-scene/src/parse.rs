//! The text of scenes.
//!
//! Words are separated by white space; `--` begins a comment. A program between braces is read by the language that it is in.

use std::ops::Range;
use std::path::Path;

use r500::chip::values::PrimType;
use r500::files::{MAX_PICTURE, MAX_TEXT, NamedFiles, parent};
use r500::program::Job;
use r500::pvs::{CONSTANTS, Source};
use r500::reader::assembly;
use r500_stream::StreamWriter;

use crate::expression::{Environment, Expression, Function, Operator, Value};
use crate::mesh::{MAX_ATTRIBUTES, MAX_VERTICES, Mesh};
use crate::{Assignment, Draw, Scene, SceneError, Target};

/// Limit of the errors of a text.
const MAX_ERRORS: usize = 100;
/// Limit of the bytes of a text.
const MAX_SCENE: usize = 16 << 20;
/// Limit of the side of a target in pixels.
const MAX_SIDE: u32 = 4096;
/// Limit of the targets and of the draws of a scene.
const MAX_PARTS: usize = 1024;
/// Limit of the depth of an expression.
const MAX_DEPTH: usize = 64;

const PRIMITIVES: [(&str, PrimType); 10] = [
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

const DRAW_HELP: &str = "in a draw: VERTICES, INDICES, VERTEX PROGRAM, FRAGMENT PROGRAM, VERTEX const[n] =, FRAGMENT const[n] =, TEXTURE n =, and registers";
const SCENE_HELP: &str = "a scene has SCENE, TARGET, CLEAR and DRAW";

impl Scene {
    /// Parses a scene. `path` is its file, next to which it may name others.
    ///
    /// # Errors
    /// All errors of the text, in its order.
    pub fn parse(text: &str, path: &Path, files: &NamedFiles) -> Result<Self, Vec<SceneError>> {
        let mut parser = Parser {
            text,
            at: 0,
            path,
            files,
            targets: Vec::new(),
            draws: Vec::new(),
            errors: Vec::new(),
        };
        if text.len() > MAX_SCENE {
            let message = format!("a scene has at most {MAX_SCENE} bytes");
            return Err(vec![SceneError { span: 0..0, message, help: String::new() }]);
        }
        parser.scene();
        let Parser { targets, draws, mut errors, .. } = parser;
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
        Ok(Self { targets, draws, moves })
    }
}

/// Returns the first word of a text, after comments.
pub(crate) fn first_word(text: &str) -> &str {
    let mut rest = text.strip_prefix('\u{feff}').unwrap_or(text).trim_start();
    while rest.starts_with("--") {
        rest = rest.split_once('\n').map_or("", |(_, rest)| rest).trim_start();
    }
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
    &rest[..end]
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
    path: &'t Path,
    files: &'t NamedFiles,
    targets: Vec<Target>,
    draws: Vec<Draw>,
    errors: Vec<SceneError>,
}

/// A draw while it is read.
#[derive(Default)]
struct Parts {
    mesh: Option<Mesh>,
    indices: Option<(Vec<u32>, Range<usize>)>,
    vertex: Option<Source>,
    fragment: Option<Box<Job>>,
    vertex_constants: Vec<Assignment>,
    fragment_constants: Vec<Assignment>,
    textures: Vec<(u8, usize)>,
    registers: StreamWriter,
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
        self.targets.push(Target { name, size, clear: [0.0, 0.0, 0.0, 1.0], depth: None });
        Ok(())
    }

    fn statement(&mut self) -> Parsed<()> {
        if self.keyword("TARGET") {
            let help = "write `TARGET mirror 128x128 ;`";
            let (name, span) = self.name(help)?;
            if self.targets.iter().any(|target| target.name == name) {
                return Err(at(span, format!("there is a target `{name}` already"), help));
            }
            let size = self.size(help)?;
            self.end(help)?;
            if self.targets.len() >= MAX_PARTS {
                return Err(at(span, format!("a scene has at most {MAX_PARTS} targets"), help));
            }
            self.targets.push(Target { name, size, clear: [0.0, 0.0, 0.0, 1.0], depth: None });
            return Ok(());
        }
        if self.keyword("CLEAR") {
            return self.clear();
        }
        if self.keyword("DRAW") {
            return self.draw();
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
        // The picture has no name.
        self.targets
            .iter()
            .skip(1)
            .position(|target| target.name == name)
            .map(|n| n + 1)
            .ok_or_else(|| {
                at(
                    span,
                    format!("there is no target `{name}`"),
                    "write `TARGET name 128x128 ;` before",
                )
            })
    }

    /// Parses what follows `DRAW`.
    fn draw(&mut self) -> Parsed<()> {
        let help = "write `DRAW triangles { … }`, or `DRAW triangles INTO target { … }`";
        let (word, span) = self.name(help)?;
        let primitive = PRIMITIVES.iter().find(|(name, _)| name.eq_ignore_ascii_case(&word));
        let Some((_, primitive)) = primitive else {
            let known: Vec<&str> = PRIMITIVES.iter().map(|(name, _)| *name).collect();
            let message =
                format!("`{word}` is not a kind of primitives; there are {}", known.join(", "));
            return Err(at(span, message, help));
        };
        let mut target = 0;
        if self.keyword("INTO") {
            let (name, span) = self.name(help)?;
            target = self.target(&name, span)?;
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
        if self.errors.len() > begun {
            return Ok(());
        }
        self.finish(*primitive, target, parts, span)
    }

    fn finish(
        &mut self,
        primitive: PrimType,
        target: usize,
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
                parts.vertex = Some(self.vertex_program()?);
            } else {
                parts.vertex_constants.push(self.assignment()?);
            }
        } else if self.keyword("FRAGMENT") {
            if self.keyword("PROGRAM") {
                parts.fragment = Some(Box::new(self.fragment_program()?));
            } else {
                parts.fragment_constants.push(self.assignment()?);
            }
        } else if self.keyword("TEXTURE") {
            let help =
                "write `TEXTURE 0 = target ;`; textures from files belong to the fragment program";
            let unit = self.whole(16, help)?;
            self.symbol('=', help)?;
            let (name, span) = self.name(help)?;
            let target = self.target(&name, span)?;
            self.end(help)?;
            parts.textures.push((unit as u8, target));
        } else {
            self.register(&mut parts.registers)?;
        }
        Ok(())
    }

    /// Parses what follows `VERTICES`.
    fn vertices(&mut self) -> Parsed<Mesh> {
        let help = "write `VERTICES position 3, color 4 { numbers }`, or `VERTICES \"mesh.obj\" ;`";
        if let Some((name, span)) = self.string()? {
            self.end(help)?;
            let bytes = self.read(&name, &span, MAX_PICTURE)?;
            return Mesh::from_obj(&bytes).map_err(|error| {
                at(span, format!("`{name}`: {error}"), "only Wavefront OBJ files are read")
            });
        }
        let mut mesh = Mesh::default();
        loop {
            let (_, span) = self.name(help)?;
            let components = self.whole(5, help)? as usize;
            if components == 0 || mesh.attributes.len() == MAX_ATTRIBUTES {
                let message = format!(
                    "a vertex has at most {MAX_ATTRIBUTES} attributes of 1 to 4 components"
                );
                return Err(at(span, message, help));
            }
            mesh.attributes.push(components);
            if !self.optional(',') {
                break;
            }
        }
        let begin = self.at;
        self.symbol('{', help)?;
        let most = MAX_VERTICES * mesh.stride();
        while !self.optional('}') {
            let (value, span) = self.number(help)?;
            if mesh.values.len() == most {
                return Err(at(span, format!("a draw has at most {MAX_VERTICES} vertices"), help));
            }
            mesh.values.push(value as f32);
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
        self.space();
        let begin = self.at;
        let value = self.expression(0)?;
        let span = self.since(begin);
        self.end(help)?;
        // The kinds of values do not depend on the environment.
        let kind = value.value(Environment { time: 0.0, aspect: 1.0 });
        match kind.map_err(|message| at(span.clone(), message, EXPRESSION_HELP))? {
            Value::Matrix(_) if first + 4 > CONSTANTS => {
                Err(at(span, format!("a matrix takes four constants; there are {CONSTANTS}"), help))
            }
            _ => Ok(Assignment { first, value }),
        }
    }

    /// Parses a register with its value, as the text of command streams has it.
    fn register(&mut self, registers: &mut StreamWriter) -> Parsed<()> {
        let begin = self.at;
        let rest = &self.text[begin..];
        let word: usize =
            rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        let name = &rest[..word];
        if name.is_empty() || !rest[word..].trim_start().starts_with('=') {
            let end = begin + word.max(rest.chars().next().map_or(0, char::len_utf8));
            return Err(at(begin..end, "expected a statement of a draw".to_owned(), DRAW_HELP));
        }
        let end = rest.find([';', '\n', '}']).filter(|end| rest.as_bytes()[*end] == b';');
        // Fields in braces end with one.
        let end = end.or_else(|| {
            let brace = rest.find('}')? + 1;
            let after = rest[brace..].len() - rest[brace..].trim_start().len();
            (rest[brace + after..].starts_with(';') && !rest[..brace].contains(';'))
                .then_some(brace + after)
        });
        let Some(end) = end else {
            return Err(at(begin..begin + word, format!("{name} has no end"), "end it with `;`"));
        };
        let line = rest[..end].replace('\n', " ");
        self.at = begin + end + 1;
        let words = r500_stream::text::parse(&line).map_err(|errors| {
            let message = errors.first().map_or_else(String::new, |error| error.kind.to_string());
            at(self.since(begin), message, "`r500 explain REGISTER` lists its fields")
        })?;
        for packet in r500_stream::packets(&words) {
            let packet = packet.map_err(|_| {
                at(begin..begin + end, "this is not a register".to_owned(), DRAW_HELP)
            })?;
            for (address, value) in packet.writes() {
                registers.write(address, &[value]);
            }
        }
        Ok(())
    }

    fn vertex_program(&mut self) -> Parsed<Source> {
        let (text, path, span) = self.program()?;
        let folder = parent(&path).to_owned();
        let files = self.files;
        let mut include = |name: &str| {
            let read = files.read(&folder.join(name), MAX_TEXT).and_then(r500::files::text);
            read.map_err(|error| error.to_string())
        };
        match Source::parse(&text, &mut include) {
            Ok(source) => Ok(source),
            Err(errors) => {
                let inside = path == self.path;
                for error in errors.into_iter().take(MAX_ERRORS) {
                    let place = if inside { error.span } else { span.clone() };
                    let help = error.help.unwrap_or_default();
                    self.errors.push(SceneError { span: place, message: error.message, help });
                }
                // Reported already.
                Ok(Source::from(r500::pvs::Program::from_code(
                    r500::pvs::Controls::of_code(0, &[]),
                    0,
                    Vec::new(),
                )))
            }
        }
    }

    fn fragment_program(&mut self) -> Parsed<Job> {
        let (text, path, span) = self.program()?;
        let name = path.to_string_lossy().into_owned();
        let assembly = assembly::assemble_with_files(text.as_bytes(), &name, self.files);
        if !assembly.is_ok() {
            let inside = path == self.path;
            for error in assembly.errors().take(MAX_ERRORS) {
                let place = error.span;
                let here = inside && assembly.files.name(place) == name;
                let place =
                    if here { place.start as usize..place.end as usize } else { span.clone() };
                self.errors.push(SceneError {
                    span: place,
                    message: error.message.clone(),
                    help: error.help.first().cloned().unwrap_or_default(),
                });
            }
            return Ok(Job::default());
        }
        assembly::job(&assembly, self.files)
            .map_err(|error| at(span, error.to_string(), "a fragment program names its textures"))
    }

    /// Parses a program in braces or the name of its file. Returns the text and its file; a text in braces has spaces before it, so that its
    /// places are those of the scene.
    fn program(&mut self) -> Parsed<(String, std::path::PathBuf, Range<usize>)> {
        let help = "write the program in braces, or `\"file\" ;`";
        if let Some((name, span)) = self.string()? {
            self.end(help)?;
            let bytes = self.read(&name, &span, MAX_TEXT)?;
            let text = r500::files::text(bytes)
                .map_err(|error| at(span.clone(), format!("`{name}`: {error}"), help))?;
            return Ok((text, parent(self.path).join(name), span));
        }
        self.space();
        let open = self.at;
        self.symbol('{', help)?;
        let (begin, mut depth) = (self.at, 1usize);
        let mut chars = self.text[begin..].char_indices().peekable();
        let mut quoted = false;
        while let Some((n, c)) = chars.next() {
            match c {
                '"' => quoted = !quoted,
                '\n' => quoted = false,
                '-' if !quoted && chars.peek().is_some_and(|(_, next)| *next == '-') => {
                    while chars.next_if(|(_, c)| *c != '\n').is_some() {}
                }
                '{' if !quoted => depth += 1,
                '}' if !quoted => {
                    depth -= 1;
                    if depth == 0 {
                        self.at = begin + n + 1;
                        let before: String = self.text[..begin]
                            .bytes()
                            .map(|byte| if byte == b'\n' { '\n' } else { ' ' })
                            .collect();
                        let text = before + &self.text[begin..begin + n];
                        return Ok((text, self.path.to_owned(), open..begin + n));
                    }
                }
                _ => {}
            }
        }
        self.at = self.text.len();
        Err(at(open..open + 1, "the program has no end".to_owned(), "end it with `}`"))
    }

    fn read(&self, name: &str, span: &Range<usize>, limit: u64) -> Parsed<Vec<u8>> {
        let path = parent(self.path).join(name);
        self.files.read(&path, limit).map_err(|error| {
            at(span.clone(), format!("`{name}`: {error}"), "files are named relative to the scene")
        })
    }

    /// Parses an expression that does not depend on a frame.
    fn constant(&mut self, help: &'static str) -> Parsed<Value> {
        self.space();
        let begin = self.at;
        let expression = self.expression(0)?;
        let span = self.since(begin);
        if expression.moves() {
            return Err(at(span, "this cannot depend on the time".to_owned(), help));
        }
        let value = expression.value(Environment { time: 0.0, aspect: 1.0 });
        value.map_err(|message| at(span, message, help))
    }

    /// Parses sums of products.
    fn expression(&mut self, depth: usize) -> Parsed<Expression> {
        let mut left = self.product(depth)?;
        let mut parts = 0;
        loop {
            let operator = match self.peek() {
                Some('+') => Operator::Add,
                // A comment is not a difference.
                Some('-') if !self.text[self.at..].starts_with("--") => Operator::Subtract,
                _ => return Ok(left),
            };
            self.at += 1;
            parts += 1;
            self.shallow(depth + parts)?;
            let right = self.product(depth)?;
            left = Expression::Binary(operator, Box::new(left), Box::new(right));
        }
    }

    fn product(&mut self, depth: usize) -> Parsed<Expression> {
        let mut left = self.factor(depth + 1)?;
        let mut parts = 0;
        loop {
            let operator = match self.peek() {
                Some('*') => Operator::Multiply,
                Some('/') => Operator::Divide,
                _ => return Ok(left),
            };
            self.at += 1;
            parts += 1;
            self.shallow(depth + parts)?;
            let right = self.factor(depth + 1)?;
            left = Expression::Binary(operator, Box::new(left), Box::new(right));
        }
    }

    fn shallow(&self, depth: usize) -> Parsed<()> {
        match depth > MAX_DEPTH {
            true => Err(self.wrong("the expression is too long", EXPRESSION_HELP)),
            false => Ok(()),
        }
    }

    fn factor(&mut self, depth: usize) -> Parsed<Expression> {
        self.shallow(depth)?;
        match self.peek() {
            Some('-') => {
                self.at += 1;
                Ok(Expression::Negate(Box::new(self.factor(depth + 1)?)))
            }
            Some('(') => {
                self.at += 1;
                let mut parts = self.list(depth)?;
                match parts.len() {
                    1 => Ok(parts.remove(0)),
                    2..=4 => Ok(Expression::Vector(parts)),
                    _ => Err(self.wrong("a vector has two to four components", EXPRESSION_HELP)),
                }
            }
            Some(c) if c.is_ascii_digit() || c == '.' => {
                Ok(Expression::Number(self.number(EXPRESSION_HELP)?.0))
            }
            _ => {
                let (name, span) = self.name(EXPRESSION_HELP)?;
                match name.to_ascii_lowercase().as_str() {
                    "time" => return Ok(Expression::Time),
                    "aspect" => return Ok(Expression::Aspect),
                    "pi" => return Ok(Expression::Number(core::f64::consts::PI)),
                    _ => {}
                }
                let Some((function, wanted)) = Function::from_name(&name) else {
                    let known: Vec<&str> = Function::names().collect();
                    let message = format!(
                        "there is no `{name}`; there are time, aspect, pi, {}",
                        known.join(", ")
                    );
                    return Err(at(span, message, EXPRESSION_HELP));
                };
                self.symbol('(', EXPRESSION_HELP)?;
                let arguments = self.list(depth)?;
                if arguments.len() != wanted {
                    let message = format!("{name} has {wanted} arguments, not {}", arguments.len());
                    return Err(at(span, message, EXPRESSION_HELP));
                }
                Ok(Expression::Call(function, arguments))
            }
        }
    }

    /// Parses expressions up to a closing parenthesis.
    fn list(&mut self, depth: usize) -> Parsed<Vec<Expression>> {
        let mut parts = Vec::new();
        if self.optional(')') {
            return Ok(parts);
        }
        loop {
            if parts.len() == 4 {
                return Err(self.wrong("there are at most four values", EXPRESSION_HELP));
            }
            parts.push(self.expression(depth + 1)?);
            if !self.optional(',') {
                self.symbol(')', EXPRESSION_HELP)?;
                return Ok(parts);
            }
        }
    }

    /// Parses `320x240`.
    fn size(&mut self, help: &'static str) -> Parsed<[u32; 2]> {
        self.space();
        let begin = self.at;
        let rest = &self.text[begin..];
        let end = rest.find(|c: char| c.is_whitespace() || c == ';').unwrap_or(rest.len());
        let word = &rest[..end];
        let side = |text: &str| text.parse().ok().filter(|n| (1..=MAX_SIDE).contains(n));
        let size = word.split_once(['x', 'X']).and_then(|(w, h)| Some([side(w)?, side(h)?]));
        self.at = begin + end;
        let message = || format!("`{word}` is not a size: width x height, 1 to {MAX_SIDE} each");
        size.ok_or_else(|| at(begin..begin + end, message(), help))
    }

    /// Parses a whole number below a limit.
    fn whole(&mut self, limit: u32, help: &'static str) -> Parsed<u32> {
        self.space();
        let begin = self.at;
        let rest = &self.text[begin..];
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let number = rest[..end].parse().ok().filter(|number| *number < limit);
        self.at = begin + end;
        let end = begin + end.max(rest.chars().next().map_or(0, char::len_utf8));
        number.ok_or_else(|| {
            at(begin..end, format!("expected a whole number from 0 to {}", limit - 1), help)
        })
    }

    /// Parses a number.
    fn number(&mut self, help: &'static str) -> Parsed<(f64, Range<usize>)> {
        self.space();
        let begin = self.at;
        let rest = &self.text.as_bytes()[begin..];
        let mut end = 0;
        while let Some(byte) = rest.get(end) {
            let exponent = end > 0 && matches!(rest[end - 1], b'e' | b'E');
            let sign = matches!(byte, b'+' | b'-') && (end == 0 || exponent);
            if !(byte.is_ascii_digit()
                || *byte == b'.'
                || sign
                || end > 0 && matches!(byte, b'e' | b'E'))
            {
                break;
            }
            end += 1;
        }
        let text = &self.text[begin..begin + end];
        match text.parse() {
            Ok(number) => {
                self.at = begin + end;
                Ok((number, begin..self.at))
            }
            Err(_) => {
                let length = self.text[begin..].chars().next().map_or(0, char::len_utf8);
                Err(at(begin..begin + end.max(length), "expected a number".to_owned(), help))
            }
        }
    }

    /// Parses a name.
    fn name(&mut self, help: &'static str) -> Parsed<(String, Range<usize>)> {
        self.space();
        let begin = self.at;
        let rest = &self.text[begin..];
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        if end == 0 {
            return Err(self.wrong("expected a name", help));
        }
        self.at = begin + end;
        Ok((rest[..end].to_owned(), begin..self.at))
    }

    /// Parses a text in quotes, if there is one.
    fn string(&mut self) -> Parsed<Option<(String, Range<usize>)>> {
        if self.peek() != Some('"') {
            return Ok(None);
        }
        let begin = self.at;
        let rest = &self.text[begin + 1..];
        let line = rest.lines().next().unwrap_or_default();
        let Some(end) = line.find('"') else {
            return Err(at(begin..begin + 1, "the name has no end".to_owned(), "end it with `\"`"));
        };
        self.at = begin + end + 2;
        Ok(Some((rest[..end].to_owned(), begin..self.at)))
    }

    /// Returns what was read since a place, without white space at the end.
    fn since(&self, begin: usize) -> Range<usize> {
        begin..begin + self.text[begin..self.at].trim_end().len()
    }

    /// Consumes a word of the language, if it is next.
    fn keyword(&mut self, word: &str) -> bool {
        self.space();
        let rest = &self.text[self.at..];
        let is = rest.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
        let ends = rest
            .get(word.len()..)
            .is_some_and(|after| !after.starts_with(|c: char| c.is_alphanumeric() || c == '_'));
        if is && ends {
            self.at += word.len();
        }
        is && ends
    }

    fn symbol(&mut self, symbol: char, help: &'static str) -> Parsed<()> {
        match self.optional(symbol) {
            true => Ok(()),
            false => Err(self.wrong(&format!("expected `{symbol}`"), help)),
        }
    }

    /// Consumes a symbol, if it is next.
    fn optional(&mut self, symbol: char) -> bool {
        let found = self.peek() == Some(symbol);
        if found {
            self.at += symbol.len_utf8();
        }
        found
    }

    fn end(&mut self, help: &'static str) -> Parsed<()> {
        self.symbol(';', help)
    }

    fn peek(&mut self) -> Option<char> {
        self.space();
        self.text[self.at..].chars().next()
    }

    /// Skips white space and comments. Returns whether text follows.
    fn more(&mut self) -> bool {
        self.space();
        self.at < self.text.len()
    }

    fn space(&mut self) {
        loop {
            let rest = &self.text[self.at..];
            let trimmed = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
            self.at = self.text.len() - trimmed.len();
            if !trimmed.starts_with("--") {
                return;
            }
            self.at += trimmed.find('\n').unwrap_or(trimmed.len());
        }
    }

    /// Returns an error at the next word.
    fn wrong(&self, message: &str, help: &'static str) -> Wrong {
        let rest = &self.text[self.at..];
        let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let length = word.max(rest.chars().next().map_or(0, char::len_utf8));
        let found = match rest.get(..length) {
            Some("") | None => ", not the end of the text".to_owned(),
            Some(word) => format!(", not `{word}`"),
        };
        at(self.at..self.at + length, format!("{message}{found}"), help)
    }

    fn report(&mut self, wrong: Wrong) {
        let Wrong { span, message, help } = wrong;
        self.errors.push(SceneError { span, message, help: help.to_owned() });
    }

    /// Continues after the statement that began at `begin`: after its `;` or its block. The end of the block around it stays.
    fn recover(&mut self, begin: usize) {
        let mut depth = 0usize;
        let mut end = self.text.len();
        for (n, c) in self.text[begin..].char_indices() {
            match c {
                ';' if depth == 0 => {
                    end = begin + n + 1;
                    break;
                }
                '{' => depth += 1,
                '}' if depth <= 1 => {
                    end = begin + n + depth;
                    break;
                }
                '}' => depth -= 1,
                _ => {}
            }
        }
        self.at = self.at.max(end);
        self.optional(';');
        if self.at == begin {
            // At least a character, so that reading ends.
            self.at += self.text[begin..].chars().next().map_or(0, char::len_utf8);
        }
    }
}

const EXPRESSION_HELP: &str = "values are numbers, `(1, 0, 0, 1)`, `time`, `aspect`, and products such as `perspective(60, aspect, 0.1, 100) * translate(0, 0, -3)`";

fn at(span: Range<usize>, message: String, help: &'static str) -> Wrong {
    Wrong { span, message, help }
}
