//! Draws whose programs are GLSL: what they draw, and errors of names.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by them")]

use std::path::Path;

use r500::files::NamedFiles;
use r500_card::Card;
use r500_scene::{Scene, SceneError};

fn parse(text: &str) -> Result<Scene, Vec<SceneError>> {
    let path = Path::new("scene.r5");
    Scene::parse(text, path, &NamedFiles::next_to(path))
}

/// Returns the pixels from the top left, row by row.
fn pixels(text: &str, time: f64) -> Vec<[u8; 4]> {
    let scene = parse(text).unwrap_or_else(|errors| panic!("{errors:?}"));
    let frame = scene.compile(time).unwrap();
    let mut card = Card::new();
    card.submit(&frame.submission).unwrap();
    assert_eq!(card.report().statistics.draws as usize, scene.draws());
    frame.picture(&card).pixels
}

/// A square over the picture, or over part of it.
fn square(parts: &str) -> String {
    format!(
        "SCENE 4x4 ; CLEAR color = (0, 0, 0, 1) ;
        DRAW quads {{ VERTICES position 2, uv 2 {{ -1 -1 0 0  1 -1 1 0  1 1 1 1  -1 1 0 1 }} {parts} }}"
    )
}

const VERTEX: &str = "VERTEX SHADER {
    attribute vec2 uv, position; // in another order than the vertices, with a brace: }
    uniform mat4 transform; uniform float time;
    varying vec2 coordinate; varying vec4 shade;
    void main() { /* } */
        coordinate = uv; shade = vec4(time, 0.25, 0.5, 1.0);
        gl_Position = transform * vec4(position, 0.0, 1.0); int i = 1; i--; }
}";

/// The left half: x from -1 to 0, as scaled by 1/2 and moved by -1/2. Time is 1, 0.25 * 255 = 63.75 is 64, 0.5 is 128.
#[test]
fn uniforms_attributes_and_varyings_go_by_name() {
    let text = square(&format!(
        "{VERTEX} UNIFORM transform = translate(-0.5, 0, 0) * scale(0.5, 1, 1) ;
        FRAGMENT SHADER {{ precision mediump float; varying vec4 shade; void main() {{ gl_FragColor = shade; }} }}"
    ));
    let (inside, outside) = ([255, 64, 128, 255], [0, 0, 0, 255]);
    let row = [inside, inside, outside, outside];
    assert_eq!(pixels(&text, 1.0), [row; 4].concat());
}

/// Red where the checker is 1: squares of 2 pixels of a picture of 4. The coordinate of a texel's centre is that of a pixel's.
#[test]
fn textures_go_by_name() {
    let text = square(&format!(
        "{VERTEX} UNIFORM transform = identity() ; TEXTURE image = checker(4, 4, 2) nearest ;
        FRAGMENT SHADER {{ precision mediump float; varying vec2 coordinate; uniform sampler2D image;
            void main() {{ gl_FragColor = vec4(texture2D(image, coordinate).r, 0.0, 0.0, 1.0); }} }}"
    ));
    let drawn = pixels(&text, 0.0);
    let red: Vec<bool> = drawn.iter().map(|pixel| pixel[0] == 255).collect();
    let (a, b) = (red[0], !red[0]);
    let [even, odd] = [[a, a, b, b], [b, b, a, a]];
    assert_eq!(red, [even, even, odd, odd].concat());
}

/// The place of a pixel's centre, in pixels from the lower left.
#[test]
fn places_of_pixels_are_in_pixels() {
    let text = square(&format!(
        "{VERTEX} UNIFORM transform = identity() ;
        FRAGMENT SHADER {{ precision highp float; void main() {{ gl_FragColor = vec4(gl_FragCoord.xy / 255.0, 0.0, 1.0); }} }}"
    ));
    let drawn = pixels(&text, 0.0);
    // 0.5 rounds to 0 or 1, 1.5 to 1 or 2: the pixel's number, or one more.
    for (n, pixel) in drawn.iter().enumerate() {
        let (x, y) = (n % 4, 3 - n / 4);
        assert!(usize::from(pixel[0]) == x || usize::from(pixel[0]) == x + 1, "{n}: {pixel:?}");
        assert!(usize::from(pixel[1]) == y || usize::from(pixel[1]) == y + 1, "{n}: {pixel:?}");
    }
}

#[test]
fn errors_have_places_and_help() {
    let fragment =
        "FRAGMENT SHADER { precision mediump float; varying vec4 shade; uniform sampler2D image;
        void main() { gl_FragColor = shade * texture2D(image, shade.xy); } }";
    let named = "UNIFORM transform = identity() ; TEXTURE image = checker(4, 4, 2) ;";
    assert!(parse(&square(&format!("{VERTEX} {fragment} {named}"))).is_ok());
    let cases = [
        (format!("{VERTEX} {fragment} TEXTURE image = checker(4, 4, 2) ;"), "{\n    attribute", "no value"),
        (format!("{VERTEX} {fragment} UNIFORM transform = identity() ;"), "{ precision", "`image` has no texture"),
        (format!("{VERTEX} {fragment} {named} UNIFORM transfrom = 1 ;"), "transfrom", "no shader of the draw"),
        (format!("{VERTEX} {fragment} {named} TEXTURE picture = checker(4, 4, 2) ;"), "picture", "no sampler"),
        (format!("{VERTEX} {fragment} UNIFORM transform = 1 ; TEXTURE image = checker(4, 4, 2) ;"), "transform =", "the value is neither"),
        (format!("{VERTEX} {fragment} UNIFORM transform = identity() ; TEXTURE image = chess(4) ;"), "image =", "chess"),
        (format!("{} {fragment} {named}", VERTEX.replace("= uv;", "= uw;")), "uw;", "`uw` is not declared"),
        (format!("{} {fragment} {named}", VERTEX.replace("shade", "shape")), "main()", "reads `shade`"),
        (format!("{} {fragment} {named}", VERTEX.replace("position", "spot")), "{\n    attribute", "no `spot`"),
        ("VERTEX PROGRAM none ; FRAGMENT PROGRAM { OUT LAST src0.rgb = temp[0] : out[0].rgb = MAX src0.rgb src0.rgb, out[0].a = MAX src0.1 src0.1 ; } UNIFORM a = 1 ;".to_owned(), "a = 1", "the draw has programs"),
        (format!("{VERTEX} FRAGMENT SHADER {{ void main() {{ }}"), "quads", "the draw has no end"),
    ];
    for (parts, place, message) in cases {
        let text = square(&parts);
        let errors = parse(&text).err().unwrap_or_else(|| panic!("{parts} is a scene"));
        let error = errors.iter().find(|error| error.message.contains(message));
        let error = error.unwrap_or_else(|| panic!("{parts}: {errors:?}"));
        assert!(text[error.span.start..].starts_with(place), "{parts}: {error:?}");
        assert!(!error.help.is_empty() || message.contains("declared"), "{error:?}");
    }
}
