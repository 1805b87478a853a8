//! Scenes that read what the frame before left, against states that are computed here.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::Path;

use r500::exec::Engine;
use r500::exec::reference::Reference;
use r500::fast::Fast;
use r500::files::NamedFiles;
use r500::picture::Picture;
use r500_card::Card;
use r500_scene::{PreviousFrame, Scene};

const QUAD: &str = "VERTICES position 2 { -1 -1  1 -1  1 1  -1 1 }
    VERTEX SHADER {
        attribute vec2 position;
        varying vec2 at;
        void main() { at = position * vec2(0.5, -0.5) + 0.5; gl_Position = vec4(position, 0.0, 1.0); }
    }";

fn parse(text: &str) -> Scene {
    Scene::parse(text, Path::new("scene.r5"), &NamedFiles::next_to(Path::new("scene.r5")))
        .unwrap_or_else(|errors| panic!("{errors:?}"))
}

/// Draws frames one after the other, at times 0, 1, 2 and so on.
fn frames(scene: &Scene, count: u32, engine: Box<dyn Engine + Send>) -> Vec<Picture> {
    let mut card = Card::with_engine(engine);
    let mut previous = PreviousFrame::default();
    let draw = |time: u32| {
        let frame = scene.compile_after(&previous, time.into()).unwrap();
        card.submit(&frame.submission).unwrap();
        previous = frame.previous();
        frame.picture(&card)
    };
    let pictures = (0..count).map(draw).collect();
    let notes: Vec<String> = card.report().notes().map(|(note, _)| note.to_string()).collect();
    assert!(notes.is_empty(), "{notes:?}");
    pictures
}

/// Buffers A to D in a ring: A adds 0.5 to what D was, and each of the others takes what the one before it was. Their values exceed 1, as only floats
/// do. The picture shows an eighth of each, a pixel wide.
#[test]
fn four_programs_feed_each_other() {
    let mut text = "SCENE 4x1 ;".to_owned();
    let names = ["a", "b", "c", "d"];
    for name in names {
        text += &format!("TARGET {name} 2x2 float ;");
    }
    for (n, name) in names.iter().enumerate() {
        let last = names[(n + 3) % 4];
        let more = if n == 0 { "0.5" } else { "0.0" };
        text += &format!(
            "DRAW quads INTO {name} {{ {QUAD} TEXTURE last = previous {last} ;
            FRAGMENT SHADER {{
                precision highp float; uniform sampler2D last; varying vec2 at;
                void main() {{ gl_FragColor = texture2D(last, at) + {more}; }}
            }} }}"
        );
    }
    text += &format!(
        "DRAW quads {{ {QUAD} TEXTURE a = a ; TEXTURE b = b ; TEXTURE c = c ; TEXTURE d = d ;
        FRAGMENT SHADER {{
            precision highp float; uniform sampler2D a, b, c, d; varying vec2 at;
            void main() {{
                vec4 all = vec4(texture2D(a, at).r, texture2D(b, at).r, texture2D(c, at).r, texture2D(d, at).r);
                vec4 mine = vec4(lessThan(abs(at.xxxx * 4.0 - vec4(0.5, 1.5, 2.5, 3.5)), vec4(0.25)));
                gl_FragColor = vec4(dot(all, mine) / 8.0);
            }}
        }} }}"
    );
    let scene = parse(&text);
    assert!(scene.moves() && scene.feeds_back());
    let engines: [Box<dyn Engine + Send>; 2] = [Box::new(Reference), Box::new(Fast::new())];
    for engine in engines {
        let mut state = [0.0_f32; 4];
        for (n, picture) in frames(&scene, 14, engine).iter().enumerate() {
            state = [state[3] + 0.5, state[0], state[1], state[2]];
            let wanted = state.map(|x| (x / 8.0 * 255.0).round() as u8);
            let found: Vec<u8> = picture.pixels.iter().map(|pixel| pixel[0]).collect();
            assert_eq!(found, wanted, "frame {n}");
        }
        assert!(state[0] > 1.0);
    }
}

/// A pixel that moves to the right by one in each frame: the picture reads itself, and draws over what it read.
#[test]
fn the_picture_reads_itself() {
    let text = format!(
        "SCENE 5x1 ;
        DRAW quads {{ {QUAD} UNIFORM clock = time ; TEXTURE last = previous picture ;
        FRAGMENT SHADER {{
            precision highp float; uniform sampler2D last; uniform float clock; varying vec2 at;
            void main() {{
                float begins = float(clock < 0.5) * float(at.x < 0.2);
                gl_FragColor = max(texture2D(last, at - vec2(0.2, 0.0)) * float(at.x > 0.2), vec4(begins));
            }}
        }} }}"
    );
    let pictures = frames(&parse(&text), 5, Box::new(Fast::new()));
    for (n, picture) in pictures.iter().enumerate() {
        let lit: Vec<bool> = picture.pixels.iter().map(|pixel| *pixel == [255; 4]).collect();
        let wanted: Vec<bool> = (0..5).map(|x| x == n).collect();
        assert_eq!(lit, wanted, "frame {n}");
        assert!(picture.pixels.iter().filter(|pixel| **pixel == [0; 4]).count() == 4);
    }
}

/// A compiled frame keeps no state: the first frame again is the first frame.
#[test]
fn a_scene_without_a_previous_frame_begins_with_zeros() {
    let text = format!(
        "SCENE 1x1 ; TARGET sum 1x1 float ;
        DRAW quads INTO sum {{ {QUAD} TEXTURE last = previous sum ;
        FRAGMENT SHADER {{
            precision highp float; uniform sampler2D last; varying vec2 at;
            void main() {{ gl_FragColor = texture2D(last, at) + 0.2; }}
        }} }}
        DRAW quads {{ {QUAD} TEXTURE sum = sum ;
        FRAGMENT SHADER {{
            precision highp float; uniform sampler2D sum; varying vec2 at;
            void main() {{ gl_FragColor = texture2D(sum, at); }}
        }} }}"
    );
    let scene = parse(&text);
    let mut card = Card::new();
    for _ in 0..2 {
        let frame = scene.compile(0.0).unwrap();
        card.submit(&frame.submission).unwrap();
        assert_eq!(frame.picture(&card).pixels, [[51; 4]]);
    }
    let pictures = frames(&scene, 6, Box::new(Fast::new()));
    let found: Vec<u8> = pictures.iter().map(|picture| picture.pixels[0][0]).collect();
    assert_eq!(found, [51, 102, 153, 204, 255, 255]);
}

#[test]
fn what_cannot_be_read_is_an_error() {
    let errors = |text: &str| {
        Scene::parse(text, Path::new("scene.r5"), &NamedFiles::next_to(Path::new("scene.r5")))
            .unwrap_err()
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join("; ")
    };
    let reads = |what: &str| {
        format!(
            "SCENE 1x1 ; DRAW quads {{ {QUAD} TEXTURE 0 = {what} ; FRAGMENT PROGRAM {{ OUT LAST src0.rgb = temp[0] : out[0].rgb = MAX src0.rgb src0.rgb ; }} }}"
        )
    };
    assert!(errors(&reads("previous nothing")).contains("there is no target `nothing`"));
    assert!(errors(&reads("picture")).contains("there is no target `picture`"));
    let live = format!(
        "SCENE 1x1 ; DRAW quads {{ {QUAD} FRAGMENT PROGRAM {{ TEXTURE tex[0] = previous out[0] ; TEX TEX_SEM_WAIT TEX_SEM_ACQUIRE temp[0].rgba = LD tex[0].rgba temp[0].rgrr ; OUT TEX_SEM_WAIT LAST src0.rgb = temp[0] : out[0].rgb = MAX src0.rgb src0.rgb ; }} }}"
    );
    let said = errors(&live);
    assert!(said.contains("texture 0 of the program changes from frame to frame"), "{said}");
    let own = format!(
        "SCENE 1x1 ; TARGET a 1x1 ; DRAW quads INTO a {{ {QUAD} TEXTURE last = a ; FRAGMENT SHADER {{ precision highp float; uniform sampler2D last; void main() {{ gl_FragColor = texture2D(last, vec2(0.5)); }} }} }}"
    );
    let said = parse(&own).compile(0.0).unwrap_err().to_string();
    assert!(said.contains("`previous` is what the frame before left of it"), "{said}");
}
