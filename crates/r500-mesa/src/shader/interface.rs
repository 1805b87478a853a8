//! What a shader shares with the other stage: declarations of varyings, found without a compiler; and the other stage, made from them.
//!
//! Directives are skipped, so that of a declaration under `#if` all arms count. If that is wrong the driver reports that the two stages
//! do not match.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::Api;

/// A declaration that is not understood.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("no shader of the other stage can be made for `{0}`; give that shader, too")]
pub struct Unknown(pub String);

/// A `#version`.
pub(super) struct Version {
    pub(super) number: u32,
    pub(super) is_es: bool,
}

/// Returns the text with blanks in place of comments; lines stay.
pub(super) fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('/') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some(comment) = rest.strip_prefix("/*") {
            comment.find("*/").map_or(rest.len(), |end| end + 4)
        } else {
            out.push('/');
            rest = &rest[1..];
            continue;
        };
        out.push(' ');
        out.extend(rest[..end].chars().filter(|c| *c == '\n'));
        rest = &rest[end..];
    }
    out + rest
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Returns the words of a text, with the rest of the text after each.
fn words(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(|c| !is_word(c));
        let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        rest = after;
        (!word.is_empty()).then_some((word, after))
    })
}

/// Returns whether a text without comments has this word.
pub(super) fn mentions(clean: &str, word: &str) -> bool {
    words(clean).any(|(found, _)| found == word)
}

/// Returns whether a text without comments defines a function of no result with this name.
pub(super) fn defines(clean: &str, name: &str) -> bool {
    let mut after_void = false;
    for (word, rest) in words(clean) {
        if after_void && word == name && rest.trim_start().starts_with('(') {
            return true;
        }
        after_void = word == "void";
    }
    false
}

/// Returns the version that a text without comments asks for.
pub(super) fn version(clean: &str) -> Option<Version> {
    let line = clean.lines().find_map(version_line)?;
    let mut words = line.split_whitespace();
    let number = words.next()?.parse().ok()?;
    Some(Version { number, is_es: words.next() == Some("es") })
}

/// Returns what stands after `#version` in a line.
fn version_line(line: &str) -> Option<&str> {
    line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("version")
}

/// Returns a text with an empty line in place of its `#version`.
pub(super) fn without_version(text: &str) -> String {
    let lines = text.split('\n').map(|line| match version_line(line) {
        Some(_) => "",
        None => line,
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// A declaration of varyings.
struct Declaration {
    /// The statement, with the word `varying`.
    text: String,
    /// The type, such as `vec2`.
    kind: String,
    /// Names, and the elements of arrays.
    variables: Vec<(String, Option<u32>)>,
}

/// Returns the statements outside of braces.
fn statements(clean: &str) -> Vec<String> {
    let mut out = vec![String::new()];
    let mut depth = 0_usize;
    let mut directive = false;
    for line in clean.lines() {
        directive = directive || line.trim_start().starts_with('#');
        if directive {
            directive = line.ends_with('\\');
            continue;
        }
        for c in line.chars().chain(['\n']) {
            match c {
                '{' => depth += 1,
                '}' => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        out.push(String::new());
                    }
                }
                ';' if depth == 0 => out.push(String::new()),
                c if depth == 0 => {
                    if let Some(last) = out.last_mut() {
                        last.push(c);
                    }
                }
                _ => {}
            }
        }
    }
    out
}

/// Words that stand before the type.
const QUALIFIERS: [&str; 13] = [
    "varying",
    "in",
    "out",
    "smooth",
    "flat",
    "noperspective",
    "centroid",
    "invariant",
    "lowp",
    "mediump",
    "highp",
    "precise",
    "sample",
];

/// Types of varyings: name, rows, columns.
const TYPES: [(&str, u32, u32); 13] = [
    ("float", 1, 1),
    ("vec2", 2, 1),
    ("vec3", 3, 1),
    ("vec4", 4, 1),
    ("mat2", 2, 2),
    ("mat3", 3, 3),
    ("mat4", 4, 4),
    ("mat2x3", 3, 2),
    ("mat2x4", 4, 2),
    ("mat3x2", 2, 3),
    ("mat3x4", 4, 3),
    ("mat4x2", 2, 4),
    ("mat4x3", 3, 4),
];

fn declarations(text: &str, direction: &str) -> Result<Vec<Declaration>, Unknown> {
    let clean = without_comments(text);
    let mut seen = BTreeSet::new();
    let mut out = Vec::new();
    for statement in statements(&clean) {
        let statement = statement.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut leading = Vec::new();
        let mut rest = statement.as_str();
        while let Some((word, after)) = words(rest).next() {
            if !rest.trim_start().starts_with(word) || !QUALIFIERS.contains(&word) {
                break;
            }
            leading.push(word);
            rest = after;
        }
        let shared = leading.iter().any(|word| *word == "varying" || *word == direction);
        // A statement of qualifiers and names alone repeats what is declared: `invariant varying_name;`.
        let Some((kind, names)) = words(rest).next().filter(|_| shared) else { continue };
        let unknown = || Unknown(statement.clone());
        if !TYPES.iter().any(|(name, ..)| *name == kind) {
            return Err(unknown());
        }
        let mut variables = Vec::new();
        for name in names.split(',').map(str::trim) {
            let (name, size) = match name.split_once('[') {
                None => (name, None),
                Some((name, size)) => {
                    let size = size.trim_end_matches(']').trim().parse().map_err(|_| unknown())?;
                    (name.trim(), Some(size))
                }
            };
            if name.is_empty() || !name.chars().all(is_word) || size.is_some_and(|size| size > 32) {
                return Err(unknown());
            }
            variables.push((name.to_owned(), size));
        }
        if variables.iter().all(|(name, _)| !seen.insert(name.clone())) {
            continue;
        }
        let other = if direction == "in" { "out" } else { "in" };
        let qualifiers: Vec<&str> =
            leading.iter().map(|word| if *word == direction { other } else { word }).collect();
        let text = format!("{} {};", qualifiers.join(" "), rest.trim());
        out.push(Declaration { text, kind: kind.to_owned(), variables });
    }
    Ok(out)
}

impl Declaration {
    /// Returns what can be assigned or read: elements, and columns of matrices, with their number of components.
    fn vectors(&self) -> Vec<(String, u32)> {
        let found = TYPES.iter().find(|(name, ..)| *name == self.kind);
        let (rows, columns) = found.map_or((4, 1), |(_, rows, columns)| (*rows, *columns));
        let elements = self.variables.iter().flat_map(|(name, size)| match size {
            None => vec![name.clone()],
            Some(size) => (0..*size).map(|n| format!("{name}[{n}]")).collect(),
        });
        let columns = |element: String| match columns {
            1 => vec![element],
            _ => (0..columns).map(|n| format!("{element}[{n}]")).collect(),
        };
        elements.flat_map(columns).map(|vector| (vector, rows)).collect()
    }
}

/// The line with the version, if there is one: both stages must have the same.
fn version_of(text: &str) -> String {
    let clean = without_comments(text);
    let line = clean.lines().find(|line| version_line(line).is_some());
    line.map_or(String::new(), |line| format!("{line}\n"))
}

/// The name of the attribute with the place on the screen. It is the first one, so that it has location 0.
pub(crate) const POSITION: &str = "r500_position";

/// Attributes besides the position that a made vertex shader has: with it 16, the number of inputs of the vertex unit.
const ATTRIBUTES: usize = 15;

/// Built-in varyings of OpenGL 1.20: what a fragment shader reads, what a vertex shader writes for it, and the components.
const BUILT_IN: [(&str, &str, u32); 3] = [
    ("gl_Color", "gl_FrontColor", 4),
    ("gl_SecondaryColor", "gl_FrontSecondaryColor", 4),
    ("gl_FogFragCoord", "gl_FogFragCoord", 1),
];

/// Texture coordinates of OpenGL 1.20.
const TEXTURE_COORDINATES: u32 = 8;

/// A made vertex shader, and where the values of its outputs are from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MadeVertex {
    /// The GLSL.
    pub(super) text: String,
    /// The outputs.
    pub(super) varyings: Vec<Made>,
}

/// An output of a made vertex shader: components of an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    /// The name of the varying, as the fragment shader has it.
    pub name: String,
    /// The number of its components.
    pub components: u32,
    /// The name of the attribute.
    pub attribute: String,
    /// The first component of the attribute.
    pub first: u32,
}

/// Gives components of attributes to outputs, one after the other.
#[derive(Default)]
struct Attributes {
    attribute: usize,
    used: u32,
}

impl Attributes {
    fn take(&mut self, components: u32) -> Option<(usize, u32)> {
        if self.used + components > 4 {
            self.attribute += 1;
            self.used = 0;
        }
        let place = (self.attribute, self.used);
        self.used += components;
        (place.0 < ATTRIBUTES).then_some(place)
    }
}

/// Returns a vertex shader whose outputs are what a fragment shader reads.
pub(super) fn vertex_for(fragment: &str) -> Result<MadeVertex, Unknown> {
    let clean = without_comments(fragment);
    let declarations = declarations(fragment, "in")?;
    let attribute = match version(&clean) {
        Some(version) if version.number >= 130 => "in",
        _ => "attribute",
    };
    // Name for the fragment shader, name for the vertex shader, components.
    let mut outputs: Vec<(String, String, u32)> = declarations
        .iter()
        .flat_map(Declaration::vectors)
        .map(|(vector, components)| (vector.clone(), vector, components))
        .collect();
    let built_in = BUILT_IN.iter().filter(|(read, ..)| mentions(&clean, read));
    outputs
        .extend(built_in.map(|(read, written, n)| ((*read).to_owned(), (*written).to_owned(), *n)));
    if mentions(&clean, "gl_TexCoord") {
        let used = (0..TEXTURE_COORDINATES).filter(|n| reads_texture_coordinate(&clean, *n));
        outputs.extend(used.map(|n| (format!("gl_TexCoord[{n}]"), format!("gl_TexCoord[{n}]"), 4)));
    }
    let mut attributes = Attributes::default();
    let (mut varyings, mut assignments) = (Vec::new(), String::new());
    for (name, written, components) in outputs {
        let place = attributes.take(components);
        let (n, first) = place
            .ok_or_else(|| Unknown(format!("{name}: more than {} components", ATTRIBUTES * 4)))?;
        let letters = &"xyzw"[first as usize..(first + components) as usize];
        let _ = writeln!(assignments, "    {written} = r500_{n}.{letters};");
        varyings.push(Made { name, components, attribute: format!("r500_{n}"), first });
    }
    let mut text = version_of(fragment);
    let _ = writeln!(text, "{attribute} vec4 {POSITION};");
    for n in 0..if varyings.is_empty() { 0 } else { attributes.attribute + 1 } {
        let _ = writeln!(text, "{attribute} vec4 r500_{n};");
    }
    for declaration in &declarations {
        text += &declaration.text;
        text.push('\n');
    }
    let _ = write!(text, "void main() {{\n    gl_Position = {POSITION};\n{assignments}}}\n");
    Ok(MadeVertex { text, varyings })
}

/// Returns whether a text reads texture coordinate `n`, or one by a computed index.
fn reads_texture_coordinate(clean: &str, n: u32) -> bool {
    clean.split("gl_TexCoord").skip(1).any(|rest| {
        let index = rest.trim_start().strip_prefix('[').and_then(|rest| rest.split(']').next());
        index.and_then(|index| index.trim().parse().ok()).is_none_or(|index: u32| index == n)
    })
}

/// Returns a fragment shader that reads what a vertex shader writes.
pub(super) fn fragment_for(vertex: &str, api: Api) -> Result<String, Unknown> {
    let clean = without_comments(vertex);
    let declarations = declarations(vertex, "out")?;
    let mut text = version_of(vertex);
    if api == Api::Es {
        text += "precision highp float;\n";
    }
    for declaration in &declarations {
        text += &declaration.text;
        text.push('\n');
    }
    let modern = version(&clean).is_some_and(|version| version.number >= 130);
    if modern {
        text += "out vec4 r500_color;\n";
    }
    let target = if modern { "r500_color" } else { "gl_FragColor" };
    text += "void main() {\n    vec4 sum = vec4(0.0);\n";
    for declaration in &declarations {
        for (vector, components) in declaration.vectors() {
            let padding = &", 0.0, 0.0, 0.0"[..5 * (4 - components.min(4)) as usize];
            let _ = writeln!(text, "    sum += vec4({vector}{padding});");
        }
    }
    for (written, read) in [
        ("gl_FrontColor", "gl_Color"),
        ("gl_FrontSecondaryColor", "gl_SecondaryColor"),
        ("gl_FogFragCoord", "vec4(gl_FogFragCoord)"),
    ] {
        if mentions(&clean, written) {
            let _ = writeln!(text, "    sum += {read};");
        }
    }
    if mentions(&clean, "gl_TexCoord") {
        for n in 0..TEXTURE_COORDINATES {
            if clean.replace(' ', "").contains(&format!("gl_TexCoord[{n}]")) {
                let _ = writeln!(text, "    sum += gl_TexCoord[{n}];");
            }
        }
    }
    let _ = writeln!(text, "    {target} = sum;\n}}");
    Ok(text)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn comments_become_blanks_and_lines_stay() {
        assert_eq!(without_comments("a // b\nc /* d\ne */ f / g"), "a  \nc  \n f / g");
        assert_eq!(without_comments("/* open"), " ");
        assert_eq!(without_comments("/*/ x */y"), " y");
    }

    #[test]
    fn declarations_are_found_outside_of_functions_and_directives() {
        let text = "#define varying_x varying vec2 no;\nvarying vec2 a, b ;\nuniform vec4 u;\nvoid f(in vec2 no) { vec2 in_; }\n\
                    varying mat3 m[2];";
        let found = declarations(text, "in").unwrap();
        assert_eq!(found.len(), 2);
        let vectors: Vec<(String, u32)> = found.iter().flat_map(Declaration::vectors).collect();
        let names: Vec<&str> = vectors.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(
            names,
            ["a", "b", "m[0][0]", "m[0][1]", "m[0][2]", "m[1][0]", "m[1][1]", "m[1][2]"]
        );
    }

    #[test]
    fn what_is_not_understood_is_said() {
        for text in ["varying Light l;", "varying vec2 a[N];", "varying vec4 a[99];"] {
            let error = declarations(text, "in").map(|_| ()).unwrap_err();
            assert!(text.starts_with(&error.0), "{error}");
        }
    }

    #[test]
    fn built_in_varyings_are_written() {
        let text = "void main() { gl_FragColor = gl_Color + gl_TexCoord[2]; }";
        let vertex = vertex_for(text).unwrap();
        assert!(vertex.text.contains("gl_FrontColor = r500_0.xyzw;"), "{}", vertex.text);
        assert!(vertex.text.contains("gl_TexCoord[2] = r500_1.xyzw;"), "{}", vertex.text);
        assert!(!vertex.text.contains("gl_TexCoord[1]"), "{}", vertex.text);
        let names: Vec<&str> = vertex.varyings.iter().map(|made| made.name.as_str()).collect();
        assert_eq!(names, ["gl_Color", "gl_TexCoord[2]"]);
    }

    #[test]
    fn small_varyings_share_attributes() {
        let vertex =
            vertex_for("varying float a; varying vec2 b; varying vec2 c; void main() {}").unwrap();
        let places: Vec<(&str, u32)> =
            vertex.varyings.iter().map(|made| (made.attribute.as_str(), made.first)).collect();
        assert_eq!(places, [("r500_0", 0), ("r500_0", 1), ("r500_1", 0)]);
        assert!(vertex.text.contains("b = r500_0.yz;"), "{}", vertex.text);
        let many = "varying vec4 a[16]; void main() {}";
        assert!(vertex_for(many).is_err());
    }

    #[test]
    fn a_fragment_shader_reads_every_output() {
        let vertex = "#version 120\nvarying float f; varying vec3 v[2]; void main() { gl_Position = gl_Vertex; gl_TexCoord[0] = gl_MultiTexCoord0; }";
        let fragment = fragment_for(vertex, Api::Gl).unwrap();
        for part in [
            "#version 120\n",
            "sum += vec4(f, 0.0, 0.0, 0.0);",
            "sum += vec4(v[1], 0.0);",
            "sum += gl_TexCoord[0];",
            "gl_FragColor = sum;",
        ] {
            assert!(fragment.contains(part), "{part} in {fragment}");
        }
    }
}
