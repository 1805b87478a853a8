//! Scenes on the virtual card: pixels derived by hand, the examples on all engines, and errors.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::{Path, PathBuf};

use r500::exec::Engine;
use r500::exec::reference::Reference;
use r500::fast::{Fast, Simd};
use r500::files::NamedFiles;
use r500::jit::{Effort, Jit, Settings, When};
use r500::picture::{Picture, decode_png};
use r500_card::Card;
use r500_scene::Scene;

/// Copies input 0 to the position and input 1 to texture coordinate 0.
const COPY: &str = "VERTEX PROGRAM {
    out[0].xyzw = VE_ADD input[0].xyzw input[0].0000 ;
    out[1].xyzw = VE_ADD input[1].xyzw input[1].0000 ;
}";
/// Writes texture coordinate 0 as the colour.
const COLOR: &str = "FRAGMENT PROGRAM {
    OUT TEX_SEM_WAIT LAST src0.rgb = temp[0], src0.a = temp[0] :
        out[0].rgb = MAX src0.rgb src0.rgb, out[0].a = MAX src0.a src0.a ;
}";

fn parse(text: &str) -> Scene {
    Scene::parse(text, Path::new("scene.r5"), &NamedFiles::next_to(Path::new("scene.r5")))
        .unwrap_or_else(|errors| panic!("{errors:?}"))
}

/// Draws on a card that runs fragment programs on an engine, which must have drawn each draw that shades.
fn draw_on(scene: &Scene, time: f64, engine: Box<dyn Engine + Send>) -> Picture {
    let mut card = Card::with_engine(engine);
    let frame = scene.compile(time).unwrap();
    card.submit(&frame.submission).unwrap();
    let notes: Vec<String> = card.report().notes().map(|(note, _)| note.to_string()).collect();
    assert!(notes.is_empty(), "{notes:?}");
    let others: Vec<_> =
        card.report().engines().filter(|(choice, _)| choice.fallback_reason.is_some()).collect();
    assert!(others.is_empty(), "{others:?}");
    assert_eq!(card.report().statistics.draws as usize, scene.draws());
    frame.picture(&card)
}

fn draw(text: &str) -> Picture {
    draw_on(&parse(text), 0.0, Box::new(Fast::new()))
}

/// Returns the rows of a picture, from the top, each pixel as red, green and blue in hexadecimal.
fn rows(picture: &Picture) -> Vec<String> {
    let pixel = |[r, g, b, _]: &[u8; 4]| format!("{r:02x}{g:02x}{b:02x}");
    let rows = picture.pixels.chunks(picture.width as usize);
    rows.map(|row| row.iter().map(pixel).collect::<Vec<_>>().join(" ")).collect()
}

/// The left half of the picture is covered, up to x = 0: centres of the first two of four pixels. The colour is rounded to 8 bits:
/// 0.5 * 255 = 127.5 is 128, 0.2 * 255 = 51.
#[test]
fn a_half_is_covered() {
    let text = format!(
        "SCENE 4x2 ; CLEAR color = (0, 0, 1, 1) ;
        DRAW quads {{
            VERTICES position 2, color 3 {{ -1 -1 1 0.5 0.2  0 -1 1 0.5 0.2  0 1 1 0.5 0.2  -1 1 1 0.5 0.2 }}
            {COPY} {COLOR}
        }}"
    );
    assert_eq!(rows(&draw(&text)), ["ff8033 ff8033 0000ff 0000ff"; 2]);
}

/// Y is up: a square in the upper half is in the first row. The vertex constant moves it there: y + 1 for y from -1 to 0.
#[test]
fn rows_begin_at_the_top() {
    let text = format!(
        "SCENE 2x2 ;
        DRAW quads {{
            VERTICES position 2, color 1 {{ -1 -1 1  1 -1 1  1 0 1  -1 0 1 }}
            VERTEX const[3] = translate(0, 1, 0) ;
            VERTEX PROGRAM {{
                out[0].x = VE_DOT const[3].xyzw input[0].xyzw ;
                out[0].y = VE_DOT const[4].xyzw input[0].xyzw ;
                out[0].z = VE_DOT const[5].xyzw input[0].xyzw ;
                out[0].w = VE_DOT const[6].xyzw input[0].xyzw ;
                out[1].xyzw = VE_ADD input[1].xyzw input[1].0000 ;
            }}
            {COLOR}
        }}"
    );
    assert_eq!(rows(&draw(&text)), ["ff0000 ff0000", "000000 000000"]);
}

/// The nearer of two squares stays, whichever is drawn last; with another function of depth the farther one. Without a depth buffer the last one
/// stays.
#[test]
fn depth_decides_with_a_depth_buffer() {
    let square = |z: &str, color: &str, more: &str| {
        format!(
            "DRAW quads {{
                VERTICES position 3, color 3 {{ -1 -1 {z} {color}  1 -1 {z} {color}  1 1 {z} {color}  -1 1 {z} {color} }}
                {COPY} {COLOR} {more}
            }}"
        )
    };
    let near = square("-0.5", "1 0 0", "");
    let far = square("0.5", "0 1 0", "");
    let picture = |clear: &str, draws: &str| {
        let text = format!("SCENE 1x1 ; CLEAR color = (0, 0, 0, 1){clear} ; {draws}");
        rows(&draw(&text)).concat()
    };
    assert_eq!(picture(", depth = 1", &format!("{near} {far}")), "ff0000");
    assert_eq!(picture(", depth = 1", &format!("{far} {near}")), "ff0000");
    let farther = square("0.5", "0 1 0", "ZB_ZSTENCILCNTL = { ZFUNC 5 } ;");
    assert_eq!(picture(", depth = 1", &format!("{near} {farther}")), "00ff00");
    // 0.5 is 0.75 of the depth range, which is not less than 0.6.
    assert_eq!(picture(", depth = 0.6", &far), "000000");
    assert_eq!(picture("", &format!("{near} {far}")), "00ff00");
}

/// A texture of 5 x 3 texels of one byte, whose rows are padded in memory: each pixel is its texel.
#[test]
fn textures_keep_their_rows() {
    let text = format!(
        "SCENE 5x3 ;
        DRAW quads {{
            -- Row 0 of the texture at the top of the picture.
            VERTICES position 2, coordinate 2 {{ -1 -1 0 1  1 -1 1 1  1 1 1 0  -1 1 0 0 }}
            {COPY}
            FRAGMENT PROGRAM {{
                TX_FILTER0[0] = MAG_FILTER(Point) MIN_FILTER(Point) ;
                TX_FORMAT0[0] = TXWIDTH(4) TXHEIGHT(2) ;
                TX_FORMAT1[0] = TXFORMAT(TX_FMT_Y8) ;
                LEVEL tex[0] = (5, 3) bytes \"010203040511121314152122232425\" ;
                TEX TEX_SEM_WAIT TEX_SEM_ACQUIRE temp[0].rgba = LD tex[0].rgba temp[0].rgrg ;
                OUT TEX_SEM_WAIT LAST src0.rgb = temp[0], src0.a = temp[0] :
                    out[0].rgb = MAX src0.rgb src0.rgb, out[0].a = MAX src0.a src0.a ;
            }}
        }}"
    );
    // The format's selection is that of every channel here: component 0.
    let wanted =
        [0, 1, 2].map(|y| [1, 2, 3, 4, 5].map(|x| format!("{y}{x}{y}{x}{y}{x}")).join(" "));
    assert_eq!(rows(&draw(&text)), wanted);
}

/// A draw into a target, which the next draw shows: the upper half of the target is red.
#[test]
fn a_target_is_a_texture() {
    let text = format!(
        "SCENE 2x2 ; TARGET small 2x2 ; CLEAR small color = (0, 0, 1, 1) ;
        DRAW quads INTO small {{
            VERTICES position 2, color 3 {{ -1 0 1 0 0  1 0 1 0 0  1 1 1 0 0  -1 1 1 0 0 }}
            {COPY} {COLOR}
        }}
        DRAW quads {{
            VERTICES position 2, coordinate 2 {{ -1 -1 0 1  1 -1 1 1  1 1 1 0  -1 1 0 0 }}
            {COPY}
            TEXTURE 0 = small ;
            FRAGMENT PROGRAM {{
                TEX TEX_SEM_WAIT TEX_SEM_ACQUIRE temp[0].rgba = LD tex[0].rgba temp[0].rgrg ;
                OUT TEX_SEM_WAIT LAST src0.rgb = temp[0], src0.a = temp[0] :
                    out[0].rgb = MAX src0.rgb src0.rgb, out[0].a = MAX src0.a src0.a ;
            }}
        }}"
    );
    assert_eq!(rows(&draw(&text)), ["ff0000 ff0000", "0000ff 0000ff"]);
}

/// More indices than a packet holds draw the same as a few: the second square is drawn 8,192 times, after the first one.
#[test]
fn many_indices_become_vertices() {
    let picture = |times: usize| {
        let indices = "0 1 2 3 ".to_owned() + &"4 5 6 7 ".repeat(times);
        draw(&format!(
            "SCENE 4x1 ;
            DRAW quads {{
                VERTICES position 2, color 3 {{
                    -1 -1 1 0 0  0.5 -1 1 0 0  0.5 1 1 0 0  -1 1 1 0 0
                    -0.5 -1 0 1 0  1 -1 0 1 0  1 1 0 1 0  -0.5 1 0 1 0
                }}
                INDICES {{ {indices} }}
                {COPY} {COLOR}
            }}"
        ))
    };
    let few = picture(1);
    assert_eq!(rows(&few), ["ff0000 00ff00 00ff00 00ff00"]);
    assert_eq!(picture(8192), few);
}

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/scenes")
}

/// The examples look the same on all engines, at several times, and each engine draws.
#[test]
fn engines_draw_the_examples_alike() {
    let mut drawn = 0;
    for entry in std::fs::read_dir(examples()).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        if !Scene::is_scene(&text) {
            continue;
        }
        let scene = Scene::parse(&text, &path, &NamedFiles::next_to(&path)).unwrap();
        for time in [0.0, 0.7] {
            let reference = draw_on(&scene, time, Box::new(Reference));
            let background = reference.pixels[0];
            assert!(reference.pixels.iter().any(|pixel| *pixel != background), "{path:?}");
            if time == 0.7 {
                let shown =
                    decode_png(&std::fs::read(path.with_extension("png")).unwrap()).unwrap();
                assert!(
                    shown == reference,
                    "{path:?}: `r500 render --time 0.7` draws another picture"
                );
            }
            assert_eq!(draw_on(&scene, time, Box::new(Fast::new())), reference, "{path:?}");
            let settings = Settings { when: When::Before(Effort::Quick), ..Settings::default() };
            let jit = Jit::with(Simd::detect(), settings);
            if jit.unavailable().is_none() {
                assert_eq!(draw_on(&scene, time, Box::new(jit)), reference, "{path:?}");
            }
            drawn += 1;
        }
    }
    assert!(drawn >= 6, "{drawn}");
}

/// A capture of a scene draws the same picture.
#[test]
fn records_hold_all_that_a_scene_needs() {
    use r500_stream::capture::{Event, Info, Limits, Player};
    let path = examples().join("mirror.r5");
    let text = std::fs::read_to_string(&path).unwrap();
    let scene = Scene::parse(&text, &path, &NamedFiles::next_to(&path)).unwrap();
    let frame = scene.compile(0.7).unwrap();
    let (mut player, mut card) = (Player::new(Limits::default()), Card::new());
    let mut shown = Vec::new();
    for record in frame.records(Info::default()) {
        match player.apply(record).unwrap() {
            Some(Event::Submission(submission)) => card.submit(&submission).unwrap(),
            Some(Event::Flip { buffer, picture, .. }) => shown.push((buffer.to_vec(), picture)),
            _ => {}
        }
    }
    let [(bytes, picture)] = shown.as_slice() else { panic!("one frame") };
    let drawn = draw_on(&scene, 0.7, Box::new(Fast::new()));
    assert_eq!([picture.width, picture.height], [drawn.width, drawn.height]);
    let rows = bytes.chunks(picture.pitch as usize);
    let pixels = rows.flat_map(|row| row[..picture.width as usize * 4].chunks(4));
    let found: Vec<[u8; 4]> =
        pixels.map(|pixel| [pixel[2], pixel[1], pixel[0], pixel[3]]).collect();
    assert!(found == drawn.pixels);
}

/// Each text has an error that says where and what.
#[test]
fn errors_have_places() {
    let draw = |more: &str| {
        format!(
            "SCENE 2x2 ; DRAW quads {{ VERTICES position 2, color 3 {{ 0 0 1 1 1 }} {COPY} {COLOR} {more} }}"
        )
    };
    let cases: [(String, &str, &str); 24] = [
        (String::new(), "", "expected SCENE"),
        ("SCENE 2x2 ;".into(), "", "at least one draw"),
        ("SCENE 0x2 ;".into(), "0x2", "not a size"),
        ("SCENE 2x5000 ;".into(), "2x5000", "not a size"),
        ("SCENE 2x2 ; PAINT ;".into(), "PAINT", "expected a statement"),
        ("SCENE 2x2 ; DRAW cubes { }".into(), "cubes", "not a kind of primitives"),
        ("SCENE 2x2 ; DRAW quads INTO there { }".into(), "there", "no target `there`"),
        ("SCENE 2x2 ; DRAW quads { }".into(), "quads", "no VERTICES"),
        (
            "SCENE 2x2 ; DRAW quads { VERTICES p 2 { 1 } }".into(),
            "{ 1 }",
            "1 numbers are not vertices",
        ),
        ("SCENE 2x2 ; DRAW quads { VERTICES p 5 { 1 } }".into(), "5", "0 to 4"),
        ("SCENE 2x2 ; CLEAR depth = 2 ;".into(), "depth", "from 0 to 1"),
        (
            "SCENE 2x2 ; CLEAR color = (time, 0, 0, 0) ;".into(),
            "(time, 0, 0, 0)",
            "cannot depend on the time",
        ),
        (draw("INDICES { 0 1 }"), "{ 0 1 }", "no vertex 1: there are 1"),
        (draw("VERTEX const[256] = 1 ;"), "256", "0 to 255"),
        (draw("VERTEX const[253] = identity() ;"), "identity()", "a matrix takes four constants"),
        (draw("VERTEX const[0] = identity() + 1 ;"), "identity() + 1", "cannot be combined"),
        (draw("VERTEX const[0] = blur(1) ;"), "blur", "there is no `blur`"),
        (draw("VERTEX const[0] = sin(1, 2) ;"), "sin", "sin has 1 arguments"),
        (draw("TEXTURE 16 = x ;"), "16", "0 to 15"),
        (draw("ZB_CNTL = { Z_ENABLED } ;"), "ZB_CNTL = { Z_ENABLED } ;", "no field Z_ENABLED"),
        (draw("ZB_CNTRL = 1 ;"), "ZB_CNTRL = 1 ;", "no register or command"),
        (
            draw("VERTEX PROGRAM { out[0].x = VE_NOTHING input[0].xyzw ; }"),
            "VE_NOTHING",
            "no operation `VE_NOTHING`",
        ),
        (draw("FRAGMENT PROGRAM { OUT LAST nothing ; }"), "nothing", "nothing"),
        (draw("VERTEX PROGRAM \"../secret.asm\" ;"), "\"../secret.asm\"", "secret"),
    ];
    for (text, place, message) in &cases {
        let path = Path::new("scene.r5");
        let errors = Scene::parse(text, path, &NamedFiles::next_to(path)).unwrap_err();
        let error = errors.iter().find(|error| error.message.contains(message));
        let error = error.unwrap_or_else(|| panic!("{text}: {errors:?}"));
        assert_eq!(&text[error.span.clone()], *place, "{text}: {error:?}");
    }
    // All errors of a text are reported.
    let path = Path::new("scene.r5");
    let text = "SCENE 2x2 ;\nTARGET a 0x0 ;\nCLEAR b ;\nDRAW quads { VERTICES p 9 { } INDICES { x } }\nEND ;";
    let errors = Scene::parse(text, path, &NamedFiles::next_to(path)).unwrap_err();
    assert_eq!(errors.len(), 5, "{errors:?}");
}

/// Random rows of words of the language parse or report errors, which have places in the text.
#[test]
fn any_text_has_an_answer() {
    const WORDS: [&str; 40] = [
        "SCENE",
        "2x2",
        ";",
        "TARGET",
        "a",
        "CLEAR",
        "color",
        "=",
        "(",
        ")",
        "0",
        "1",
        ",",
        "DRAW",
        "quads",
        "{",
        "}",
        "VERTICES",
        "INDICES",
        "VERTEX",
        "FRAGMENT",
        "PROGRAM",
        "const",
        "[",
        "]",
        "time",
        "*",
        "-",
        "perspective",
        "TEXTURE",
        "INTO",
        "ZB_CNTL",
        "\"a\"",
        "--",
        "\n",
        "1e9",
        "é",
        "out[0].x = VE_ADD input[0].xyzw input[0].xyzw ;",
        "position",
        "depth",
    ];
    arbtest::arbtest(|u| {
        let mut text = "SCENE 2x2 ; ".to_owned();
        for _ in 0..u.int_in_range(0..=60)? {
            text += u.choose(&WORDS)?;
            if u.arbitrary()? {
                text.push(' ');
            }
        }
        let path = Path::new("scene.r5");
        match Scene::parse(&text, path, &NamedFiles::next_to(path)) {
            Ok(scene) => {
                let _ = scene.compile(1.0);
            }
            Err(errors) => {
                for error in errors {
                    assert!(text.get(error.span.clone()).is_some(), "{text:?}: {error:?}");
                }
            }
        }
        Ok(())
    })
    .budget_ms(2_000);
}

/// The left half of 4x2 pixels is red. A channel passes within half a step of 8 bits, or the tolerance; row 0 is the bottom one.
#[test]
fn expected_pixels_are_judged() {
    let text = format!(
        "SCENE 4x2 ;\nEXPECT out[0] at (0, 0) = (1, 0, 0, 1) ;\nEXPECT out[0] at (3, 1) = (0, _, 0.0015, 1) ;\n\
         EXPECT out[0] at (1, 1) = (0.5, _, _, _) ;\nDRAW quads {{ VERTICES position 2, color 4 {{ -1 -1 1 0 0 1  0 -1 1 0 0 1  0 1 1 0 0 1  -1 1 1 0 0 1 }}\n{COPY}\n{COLOR} }}"
    );
    let scene = parse(&text);
    assert!(scene.expects());
    let verdicts = scene.judge(&draw_on(&scene, 0.0, Box::new(Fast::new())));
    let passes: Vec<bool> = verdicts.iter().map(|verdict| verdict.passes).collect();
    assert_eq!(passes, [true, true, false]);
    assert_eq!(verdicts[2].to_string(), "pixel 1, 1 is (1.000, 0.000, 0.000, 1.000)");
    assert!(text[verdicts[2].span.clone()].starts_with("EXPECT out[0] at (1, 1)"));
    let tolerant = parse(&format!("{text}\nEXPECT tolerance = 0.5 ;"));
    let picture = draw_on(&tolerant, 0.0, Box::new(Fast::new()));
    assert!(tolerant.judge(&picture).iter().all(|verdict| verdict.passes));
    for wrong in [
        "out[1] at (0, 0) = (0, 0, 0, 1)",
        "out[0] at (4, 0) = (0, 0, 0, 1)",
        "out[0] at (0, 0) = (0, 0, 0)",
        "tolerance = 2",
    ] {
        let text = format!("SCENE 4x2 ;\nEXPECT {wrong} ;");
        let path = Path::new("scene.r5");
        let errors = Scene::parse(&text, path, &NamedFiles::next_to(path)).unwrap_err();
        assert!(errors[0].help.contains("EXPECT out[0] at"), "{wrong}: {errors:?}");
    }
}

/// The last draw that covers a pixel is the one that shades it; its job has the pixel, and says where its others are in the picture.
#[test]
fn a_pixel_is_that_of_the_last_draw() {
    let quad = |left: &str, color: &str| {
        let corners = [(left, "-1"), ("1", "-1"), ("1", "1"), (left, "1")];
        let vertices = corners.map(|(x, y)| format!("{x} {y} {color}")).join("  ");
        format!("DRAW quads {{ VERTICES position 2, color 4 {{ {vertices} }}\n{COPY}\n{COLOR} }}\n")
    };
    let scene = parse(&format!("SCENE 8x4 ;\n{}{}", quad("-1", "1 0 0 1"), quad("0", "0 1 0 1")));
    let mut card = Card::with_engine(Box::new(Fast::new()));
    for (pixel, draw, input) in
        [([1, 3], 0, [1.0, 0.0, 0.0, 1.0]), ([6, 1], 1, [0.0, 1.0, 0.0, 1.0])]
    {
        let shaded = scene.shaded(None, 0.0, pixel, &mut card).unwrap();
        assert_eq!(shaded.draw, draw, "{pixel:?}");
        assert_eq!(shaded.part.in_target(shaded.place), pixel);
        assert_eq!(shaded.part.in_job(pixel), shaded.place);
        let inputs = shaded.job.inputs.unwrap();
        let r500::program::InputData::Values { width, values } = &inputs[0].data else { panic!() };
        let [x, y] = shaded.place;
        assert_eq!(values[(y * width + x) as usize], input, "{pixel:?}");
    }
    assert_eq!(scene.shaded(Some(0), 0.0, [6, 1], &mut card).unwrap().draw, 0);
    assert!(scene.shaded(Some(1), 0.0, [1, 1], &mut card).is_err());
    assert!(scene.shaded(None, 0.0, [8, 0], &mut card).is_err());
}

/// The places of instructions are those in the text of the scene: of a shader, of what it computes.
#[test]
fn instructions_have_places_in_the_text() {
    let text = format!(
        "SCENE 4x4 ;\nDRAW points {{ VERTICES position 2, color 4 {{ 0 0 1 0 0 1 }}\n{COPY}\n{COLOR} }}"
    );
    let scene = parse(&text);
    let [Some(place)] = scene.fragment_places(0) else { panic!("{:?}", scene.fragment_places(0)) };
    assert!(
        text[place.clone()].starts_with("OUT TEX_SEM_WAIT")
            || text[place.clone()].contains("MAX src0.rgb"),
        "{}",
        &text[place.clone()]
    );
    assert_eq!(&text[scene.draw_span(0).unwrap()], "points");
    let shaders = std::fs::read_to_string(examples().join("shaders.r5")).unwrap();
    let path = examples().join("shaders.r5");
    let scene = Scene::parse(&shaders, &path, &NamedFiles::next_to(&path)).unwrap();
    let places = scene.fragment_places(0);
    let begin = shaders.find("FRAGMENT SHADER").unwrap();
    let inside =
        places.iter().flatten().filter(|place| place.start > begin && place.end < shaders.len());
    assert!(places.len() > 5 && inside.count() == places.iter().flatten().count(), "{places:?}");
    assert!(
        places.iter().flatten().any(|place| shaders[place.clone()].contains("pow")),
        "{places:?}"
    );
}

/// Files that are given replace those of the file system.
#[test]
fn a_scene_takes_files_that_are_given() {
    let text = format!(
        "SCENE 4x4 ;\nDRAW points {{ VERTICES position 2, color 4 {{ 0 0 1 0 0 1 }}\nVERTEX PROGRAM \"a.vs.asm\" ;\n{COLOR} }}"
    );
    let program = b"out[0].xyzw = VE_ADD input[0].xyzw input[0].0000 ; out[1].xyzw = VE_ADD input[1].xyzw input[1].0000 ;";
    let files = NamedFiles::given([(PathBuf::from("a.vs.asm"), program.to_vec())]);
    assert!(Scene::parse(&text, Path::new("scene.r5"), &files).is_ok());
    let errors = Scene::parse(&text, Path::new("scene.r5"), &NamedFiles::given([])).unwrap_err();
    assert!(errors[0].message.contains("no such file was given"), "{errors:?}");
    assert_eq!(&text[errors[0].span.clone()], "\"a.vs.asm\"");
}
