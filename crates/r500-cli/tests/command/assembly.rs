//! Assembly as the program: what it includes, textures next to it.

use r500::picture::{Picture, encode_png};

use super::{Folder, floats, r500};

const TINTED: &str = "\
SIZE 4 4 ;
#include \"parts/tint.r5\"
TEXTURE tex[0] = file \"white.png\" nearest ;
TEX temp[1].rgba = LD tex[0].rgba temp[0].rgba ;
OUT src0.rgb = temp[1], src1.rgb = const[0] :
    out[0].rgb = MAD src0.rgb src1.rgb src0.000, out[0].a = MAX src0.1 src0.1 ;
EXPECT out[0] all = (0.25, 0.5, 0.75, 1) ;
";

fn tinted(name: &str) -> (Folder, String) {
    let folder = Folder::new(name);
    std::fs::create_dir(folder.path("parts")).unwrap();
    folder
        .write("parts/tint.r5", "const[0] = (0.25, 0.5, 0.75, 1) ; UNIFORM tint = const[0].rgb ;");
    let white = Picture { width: 2, height: 2, pixels: vec![[255; 4]; 4] };
    folder.write("white.png", encode_png(&white).unwrap());
    let program = folder.write("tinted.r5", TINTED);
    (folder, program)
}

#[test]
fn a_source_needs_no_switches_and_takes_them_all() {
    let (folder, program) = tinted("assembly");
    let out = folder.path("out.f32");
    r500(&["render", &program, "-o", &out]).status(0);
    let drawn = floats(&folder.read("out.f32"));
    assert_eq!((drawn.len(), &drawn[..4]), (64, &[0.25, 0.5, 0.75, 1.0][..]));
    r500(&["render", &program, "-o", &out, "--const", "tint.g=2", "--size", "1x1"]).status(0);
    assert_eq!(floats(&folder.read("out.f32")), [0.25, 2.0, 0.75, 1.0]);
    r500(&["trace", &program, "--pixel", "0,0"])
        .status(0)
        .shows("TEX temp[1].rgba = LD tex[0].rgba temp[0].rgba ;")
        .shows("out[0].rgb <- (0.25, 0.5, 0.75, ");
    r500(&["run", &program, "--input", "t0=0,0; tint=1", "--format", "csv"])
        .status(0)
        .shows("0,yes,1,0.5,0.75,1");
}

/// Level 1 of a 4x4 checkerboard of black and white is grey, and so are those above it.
#[test]
fn a_file_gets_the_levels_that_its_filter_asks_for() {
    let folder = Folder::new("assembly-mips");
    let board = |i: u32| [[0, 0, 0, 255], [255; 4]][((i % 4 + i / 4) % 2) as usize];
    let board = Picture { width: 4, height: 4, pixels: (0..16).map(board).collect() };
    folder.write("board.png", encode_png(&board).unwrap());
    // The level of detail that LODBIAS adds to is 0 at a picture of the texture's size; a bias of
    // 1 from temp[0].a takes level 1.
    let draw = |directives: &str| {
        let source = format!(
            "SIZE 4 4 ; INPUT temp[0] = (u, v, 0, 1) ;
             TEXTURE tex[0] = file \"board.png\" nearest ; {directives}
             TEX temp[1].rgba = LODBIAS tex[0].rgba temp[0].rgba ;
             OUT src0.rgb = temp[1] : out[0].rgb = MAX src0.rgb src0.rgb ;"
        );
        let program = folder.write("board.r5", source);
        r500(&["render", &program, "-o", &folder.path("out.f32")]).status(0);
        let red: Vec<f32> = floats(&folder.read("out.f32")).chunks(4).map(|p| p[0]).collect();
        red
    };
    let sharp = draw("");
    assert!(sharp.iter().all(|red| [0.0, 1.0].contains(red)) && sharp[0] != sharp[1], "{sharp:?}");
    let filter = "TX_FILTER0[0] = MAG_FILTER(Point) MIN_FILTER(Point) MIP_FILTER(Point) ;";
    let grey = draw(filter);
    assert_eq!(grey, [128.0 / 255.0; 16]);
}

/// Outside a texture that is sampled so lies its border colour, a texel in the texture's format: red
/// in the lowest byte.
#[test]
fn border_colour_option_is_kept_in_assembly() {
    let (folder, _) = tinted("assembly-border");
    let source = "\
        SIZE 1 1 ; INPUT temp[0] = (3, 3, 0, 1) ;
        TEXTURE tex[0] = file \"white.png\" nearest border ;
        TX_BORDER_COLOR[0] = 0xff330066 ;
        TEX temp[1].rgba = LD tex[0].rgba temp[0].rgba ;
        OUT src0.rgb = temp[1] : out[0].rgb = MAX src0.rgb src0.rgb ;";
    let program = folder.write("border.r5", source);
    r500(&["render", &program, "-o", &folder.path("out.f32")]).status(0);
    let drawn = floats(&folder.read("out.f32"));
    assert_eq!(drawn[..3], [0.4, 0.0, 0.2]);
}
