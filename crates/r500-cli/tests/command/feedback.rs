//! `r500 render --feedback`, and textures that have the frame before.

use super::{Folder, floats, r500};

/// Writes its texture plus 1/8.
const COUNTER: &str = "SIZE 4 2 ;\n\
    TEX TEX_SEM_WAIT TEX_SEM_ACQUIRE temp[1].rgba = LD tex[0].rgba temp[0].rgrg ;\n\
    OUT TEX_SEM_WAIT LAST src0.rgb = temp[1], src0.a = temp[1], src1.rgb = 0.125, src1.a = 0.125 :\n\
        out[0].rgb = MAD src0.rgb src0.111 src1.rgb, out[0].a = MAD src0.a src0.1 src1.a ;\n";

/// Frame n has been counted n + 1 times: before the first one all is 0. The frames before the first that is wanted are drawn.
#[test]
fn a_counter_adds_an_eighth_each_frame() {
    let folder = Folder::new("counter");
    let program = folder.write("counter.r5", COUNTER);
    let out = folder.path("f####.f32");
    let render = ["render", &program, "-o", &out, "--frames", "2..5"];
    r500(&[&render[..], &["--feedback", "out[0]=tex[0]"]].concat()).status(0);
    for (frame, eighths) in [(2, 3.0f32), (3, 4.0), (4, 5.0)] {
        let values = floats(&folder.read(&format!("f{frame:04}.f32")));
        assert_eq!(values, [eighths / 8.0; 4 * 2 * 4], "frame {frame}");
    }
    assert!(!std::path::Path::new(&folder.path("f0001.f32")).exists(), "not asked for");

    // The directive in the program means the same, and parts of the frames are those of all.
    let text = format!("TEXTURE tex[0] = previous out[0] ;\n{COUNTER}");
    let bound = folder.write("bound.r5", &text);
    let out = folder.path("g####.f32");
    r500(&["render", &bound, "-o", &out, "--frames", "0..9", "--shard", "2/3"]).status(0);
    assert_eq!(floats(&folder.read("g0004.f32")), [5.0 / 8.0; 32]);
    assert!(!std::path::Path::new(&folder.path("g0003.f32")).exists(), "another part");
    // One picture is the first.
    r500(&["render", &bound, "-o", &folder.path("one.f32")]).status(0);
    assert_eq!(floats(&folder.read("one.f32")), [1.0 / 8.0; 32]);
}

/// Two outputs that read each other: out[0] is the sum of both, out[1] is out[0] of the frame before. Added to 1 at the beginning, they are
/// Fibonacci's numbers.
#[test]
fn outputs_feed_each_other() {
    let folder = Folder::new("fibonacci");
    let program = folder.write(
        "fibonacci.r5",
        "SIZE 2 2 ;\n\
         TEXTURE tex[0] = previous out[0] ;\n\
         TEXTURE tex[1] = previous out[1] ;\n\
         UNIFORM \"frame\" = const[0].r ;\n\
         TEX temp[1].rgba = LD tex[0].rgba temp[0].rgrg ;\n\
         TEX TEX_SEM_WAIT TEX_SEM_ACQUIRE temp[2].rgba = LD tex[1].rgba temp[0].rgrg ;\n\
         src0.rgb = const[0], src1.rgb = 1.0 : temp[3].r = CMP src1.rrr src0.000 -src0.rrr ;\n\
         OUT TEX_SEM_WAIT src0.rgb = temp[1] : out[1].rgb = MAX src0.rgb src0.rgb ;\n\
         src0.rgb = temp[1], src1.rgb = temp[2] : temp[4].rgb = MAD src0.rgb src0.111 src1.rgb ;\n\
         OUT LAST src0.rgb = temp[4], src1.rgb = temp[3] : out[0].rgb = MAD src0.rgb src0.111 src1.rrr ;\n",
    );
    let out = folder.path("f####.f32");
    r500(&["render", &program, "-o", &out, "--frames", "0..8"]).status(0);
    let first = |frame: usize| floats(&folder.read(&format!("f{frame:04}.f32")))[0];
    assert_eq!([0, 1, 2, 3, 4, 5, 6, 7].map(first), [1.0, 1.0, 2.0, 3.0, 5.0, 8.0, 13.0, 21.0]);
}

/// Generations of a glider, from the top, as every book on the game of life shows them: after four it is the first one, a cell to the right and
/// a cell down.
const GLIDER: [[&str; 6]; 5] = [
    [".#....", "..#...", "###...", "......", "......", "......"],
    ["......", "#.#...", ".##...", ".#....", "......", "......"],
    ["......", "..#...", "#.#...", ".##...", "......", "......"],
    ["......", ".#....", "..##..", ".##...", "......", "......"],
    ["......", "..#...", "...#..", ".###..", "......", "......"],
];

const LIFE: &str = "//@ texture iChannel0 = previous out[0] nearest wrap
float alive(vec2 place) { return texture2D(iChannel0, place / iResolution.xy).r; }
void mainImage(out vec4 color, in vec2 place) {
    float around = 0.0;
    for (int y = -1; y <= 1; y++) {
        for (int x = -1; x <= 1; x++) {
            if (x != 0 || y != 0) around += alive(place + vec2(float(x), float(y)));
        }
    }
    float lives = around == 3.0 || (around == 2.0 && alive(place) == 1.0) ? 1.0 : 0.0;
    if (iFrame == 0) {
        vec2 cell = floor(place);
        bool glider = cell == vec2(1.0, 5.0) || cell == vec2(2.0, 4.0) || cell.y == 3.0 && cell.x < 3.0;
        lives = glider ? 1.0 : 0.0;
    }
    color = vec4(lives);
}
";

#[test]
fn a_glider_glides() {
    let folder = Folder::new("glider");
    let program = folder.write("life.frag", LIFE);
    let out = folder.path("f####.f32");
    r500(&["render", &program, "-o", &out, "--frames", "0..5", "--size", "6x6"]).status(0);
    for (frame, wanted) in GLIDER.into_iter().enumerate() {
        let values = floats(&folder.read(&format!("f{frame:04}.f32")));
        let rows: Vec<String> = values
            .chunks(6 * 4)
            .rev()
            .map(|row| row.chunks(4).map(|cell| if cell[0] == 1.0 { '#' } else { '.' }).collect())
            .collect();
        assert_eq!(rows, wanted, "generation {frame}");
    }
}

/// Values and textures in comments of a shader: the texel of `gradient(2, 1)` at its right is red 1.
#[test]
fn comments_of_a_shader_give_values_and_textures() {
    let folder = Folder::new("shader-values");
    let shader = "//@ uniform2f scale 0.25 0.5\n//@ texture ramp = gradient(2, 1) nearest clamp\n//@ uniform1f gone 1\n\
        uniform vec2 scale; uniform sampler2D ramp;\n\
        void main() { gl_FragColor = vec4(scale, texture2D(ramp, vec2(0.9, 0.5)).r, 1.0); }\n";
    let program = folder.write("values.frag", shader);
    let out = folder.path("out.f32");
    let render = ["render", &program, "--size", "1x1", "-o", &out];
    r500(&render).status(0);
    assert_eq!(floats(&folder.read("out.f32")), [0.25, 0.5, 1.0, 1.0]);
    r500(&[&render[..], &["--const", "scale=2,3"]].concat()).status(0);
    assert_eq!(floats(&folder.read("out.f32"))[..2], [2.0, 3.0], "options replace them");
    let wrong = folder.write("wrong.frag", shader.replace("0.25 0.5", "0.25"));
    r500(&["render", &wrong, "-o", &out]).status(1).says("`scale` has 2 components");
}

#[test]
fn what_cannot_be_fed_back_is_refused() {
    let folder = Folder::new("feedback-errors");
    let program = folder.write("counter.r5", COUNTER);
    let out = folder.path("out.gif");
    let render = |more: &[&str]| {
        r500(&[&["render", &program, "-o", &out, "--frames", "0..2"][..], more].concat())
    };
    for wrong in [
        "tex[0]=out[0]",
        "out[0]",
        "out[4]=tex[0]",
        "out[0]=tex[16]",
        "out[0]=tex[0],cubic",
        "out[0]=tex[0] ; SIZE 1 1",
    ] {
        render(&["--feedback", wrong]).status(2).says("write out[0]=tex[0]");
    }
    render(&["--feedback", "out[1]=tex[0]"]).status(1).says("does not write it");
    render(&["--feedback", "out[0]=tex[0]", "--crop", "0,0,1x1"]).status(2).says("--crop");
    render(&[]).status(2).says("all frames would be equal");
    let scene = folder.write("scene.r5", "SCENE 4x4 ;\nDRAW points { VERTICES position 2 { 0 0 }\n VERTEX PROGRAM none ;\n FRAGMENT PROGRAM { OUT LAST src0.rgb = temp[0] : out[0].rgb = MAX src0.rgb src0.rgb ; } }\n");
    r500(&["render", &scene, "-o", &folder.path("s.png"), "--feedback", "out[0]=tex[0]"])
        .status(2)
        .says("not for scenes");
    // What only the page has reads 0, and the command says so.
    let keys = folder.write("keys.r5", format!("TEXTURE tex[0] = keyboard ;\n{COUNTER}"));
    let run = r500(&["render", &keys, "-o", &folder.path("k.f32")]).status(0);
    run.says("tex[0] is the keyboard, which only the page has");
    assert_eq!(floats(&folder.read("k.f32")), [1.0 / 8.0; 32]);
}
