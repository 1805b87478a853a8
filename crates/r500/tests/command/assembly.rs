//! Assembly as the program: what it includes, textures beside it, expectations in it, its errors.

use r500::picture::{Picture, encode_png};

use super::{Folder, floats, r500, with_stdin};

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
    std::fs::create_dir(folder.0.join("parts")).unwrap();
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

#[test]
fn expectations_in_a_source_are_tests() {
    let (folder, program) = tinted("assembly-test");
    r500(&["test", &program]).status(0).shows("1 passed, 0 failed");
    // The included file has none of its own.
    r500(&["test", &folder.path("")]).status(0).shows("1 passed, 0 failed, 1 without expectations");
    folder.write("tinted.r5", TINTED.replace("(0.25, 0.5", "(0.25, 0.25"));
    r500(&["test", &program])
        .status(1)
        .shows("FAIL tinted (")
        .shows("pixel 0,0: target0 wanted (0.25, 0.25, 0.75, 1), got (0.25, 0.5, 0.75, 1)");
}

#[test]
fn all_errors_of_a_source_are_shown() {
    let folder = Folder::new("assembly-errors");
    let program =
        folder.write("wrong.r5", "TEX temp[200].rgba = LD ;\nOUT src9.rgb = temp[0] : ;\n");
    let run = r500(&["render", &program, "-o", &folder.path("out.png")]).status(1);
    assert!(run.stderr.starts_with("error[E"), "{}", run.stderr);
    let run = run.says("wrong.r5:1:").says("wrong.r5:2:");
    assert!(run.stderr.trim_end().ends_with("errors"), "{}", run.stderr);
    let program = folder.write("missing.r5", "#include \"nowhere.r5\"\n");
    r500(&["render", &program, "-o", "x.png"]).status(1).says("nowhere.r5");
    let program = folder.write("texture.r5", "TEXTURE tex[3] = file \"nowhere.png\" ;\n");
    r500(&["render", &program, "-o", "x.png"]).status(1).says("nowhere.png").says("line 1");
}

#[test]
fn a_source_from_stdin() {
    let source = b"OUT src0.rgb = temp[0] : out[0].rgb = MAD src0.rgb src0.111 src0.000 ;";
    let run =
        with_stdin(&["run", "-", "--input", "[[1, 2, 3]]", "--format", "csv"], source).status(0);
    run.shows("0,yes,1,2,3,0");
}
