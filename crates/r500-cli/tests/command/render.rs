//! `r500 render`: one picture.

use std::time::{Duration, Instant};

use r500::fast::Simd;
use r500::jit::Jit;
use r500::picture::{Picture, encode_png};

use super::{CONSTANT, Folder, UV, command, corpus, floats, r500, with_stdin};

#[test]
fn a_capture_needs_no_switches() {
    let folder = Folder::new("capture");
    let (capture, reference) = (corpus("mesa/tex_mips.json"), corpus("mesa/tex_mips.png"));
    let out = folder.path("out.png");
    r500(&["render", &capture, "-o", &out]).status(0);
    let picture = folder.picture("out.png");
    assert_eq!((picture.width, picture.height), (64, 64));
    r500(&["render", &capture, "--compare", &reference]).status(0).shows("equal: ");
    // It can be given another size anyway.
    r500(&["render", &capture, "-o", &out, "--size", "20x10"]).status(0);
    assert_eq!((folder.picture("out.png").width, folder.picture("out.png").height), (20, 10));
}

#[test]
fn the_extension_picks_the_format() {
    let folder = Folder::new("formats");
    let program = folder.write("uv.inc", UV);
    let render = |name: &str| {
        r500(&["render", &program, "--size", "4x2", "-o", &folder.path(name)]).status(0);
        folder.read(name)
    };
    // (x + 1/2)/4 and (y + 1/2)/2, rows from the bottom.
    let (x, y) = ([0.125, 0.375, 0.625, 0.875], [0.25, 0.75]);
    let wanted: Vec<f32> =
        y.into_iter().flat_map(|y| x.map(|x| [x, y, 0.0, 1.0])).flatten().collect();
    assert_eq!(floats(&render("out.f32")), wanted);
    // C4_8 in the order R, G, B, A; 0.125*255 = 31.875, 0.25*255 = 63.75.
    let raw = render("out.raw");
    assert_eq!((raw.len(), &raw[..4]), (32, &[32, 64, 0, 255][..]));
    // The upright picture has the bottom row last.
    render("out.png");
    let picture = folder.picture("out.png");
    assert_eq!(picture.pixel(0, 1), [32, 64, 0, 255]);
    assert_eq!(picture.pixel(3, 0), [223, 191, 0, 255]);
    assert_eq!(render("out.exr")[..4], [0x76, 0x2f, 0x31, 0x01]);
    // Another order and width of components: C4_10 would be packed, C2_16_FP has two.
    let out = folder.path("out.raw");
    // US_OUT_FMT: C2_16_FP (17), C0 green (2), C1 red (1).
    let format = format!("US_OUT_FMT[0]={:#x}", 17 | 2 << 8 | 1 << 10);
    r500(&["render", &program, "--size", "4x2", "-o", &out, "--register", &format]).status(0);
    // float16: 0.25 is 0x3400, 0.125 is 0x3000.
    assert_eq!(folder.read("out.raw")[..4], [0x00, 0x34, 0x00, 0x30]);
}

#[test]
fn programs_come_from_stdin_and_pictures_go_to_stdout() {
    let run = with_stdin(&["render", "-", "-o", "-", "--size", "3x5"], UV.as_bytes()).status(0);
    let picture = r500::picture::decode_png(&run.stdout).unwrap();
    assert_eq!((picture.width, picture.height), (3, 5));
}

/// Parts that are small enough to be drawn in memory, put together, are the file that is written strip by strip.
#[test]
fn a_large_picture_is_written_strip_by_strip() {
    let folder = Folder::new("strips");
    let program = folder.write("uv.inc", UV);
    let (width, height, rows) = (2048, 1030, 206);
    let size = format!("{width}x{height}");
    let render = |name: &str, more: &[&str]| {
        let out = folder.path(name);
        r500(&[&["render", &program, "--size", &size, "-o", &out], more].concat()).status(0);
        folder.read(name)
    };
    let parts = |name: &str| -> Vec<Vec<u8>> {
        let part = |y: u32| render(name, &["--crop", &format!("0,{y},{width}x{rows}")]);
        (0..height).step_by(rows as usize).map(part).collect()
    };
    let all = render("all.f32", &[]);
    assert_eq!(all.len(), (width * height * 16) as usize);
    assert!(all == parts("part.f32").concat());
    assert!(render("all.raw", &[]) == parts("part.raw").concat());
    render("all.png", &["--target", "all"]);
    let picture = folder.picture("all.png");
    assert_eq!((picture.width, picture.height), (width, height));
    for (n, part) in parts("part.png").iter().enumerate() {
        let part = r500::picture::decode_png(part).unwrap();
        let y = n as u32 * rows;
        assert!(Some(part) == picture.crop(0, y, width, rows), "rows from {y}");
    }
    let piped = r500(&["render", &program, "--size", &size, "-o", "-"]).status(0);
    assert!(r500::picture::decode_png(&piped.stdout).unwrap() == picture);
    let exr = render("all.exr", &[]);
    let colors: Vec<[f32; 4]> =
        floats(&all).chunks_exact(4).map(|c| [c[0], c[1], c[2], c[3]]).collect();
    let layers = [r500::picture::ExrLayer::colors("", &colors)];
    assert!(exr == r500::picture::encode_exr(width, &layers).unwrap());
}

/// A limit in the middle: the time limit leaves a file of the whole size, another limit no file.
#[test]
fn a_large_picture_that_fails_leaves_no_part_of_a_file() {
    let folder = Folder::new("strips-failed");
    // Endless in the upper half, where v - 1/2 is not negative.
    let endless = folder.write(
        "endless.r5",
        "src0.rgb = temp[0], src1.rgb = 0.5 : alu[ge].r = MAD src0.ggg src0.111 -src1.rrr ;
         @again
         JUMP @again IF alu ALU_WAIT ;
         OUT LAST src0.rgb = temp[0] : out[0].rgb = MAD src0.rgb src0.111 src0.000 ;\n",
    );
    let out = folder.path("out.f32");
    let limits = ["--limit-instructions", "1000"];
    r500(&[&["render", &endless, "--size", "2048x1024", "-o", &out], &limits[..]].concat())
        .status(3)
        .says("the program seems endless");
    assert!(!std::path::Path::new(&out).exists());
    r500(&["render", &endless, "--size", "2048x1024", "-o", &out, "--limit-time", "0.05"])
        .status(3)
        .says("is not complete");
    assert_eq!(std::fs::metadata(&out).unwrap().len(), 2048 * 1024 * 16);
}

#[test]
fn a_crop_is_that_part_of_the_whole() {
    let folder = Folder::new("crop");
    let capture = corpus("mesa/deriv_basic.json");
    r500(&["render", &capture, "-o", &folder.path("all.png")]).status(0);
    let part = folder.path("part.png");
    r500(&["render", &capture, "-o", &part, "--crop", "5,9,21x13"]).status(0);
    let whole = folder.picture("all.png");
    assert_eq!(folder.picture("part.png"), whole.crop(5, 9, 21, 13).unwrap());
    // A whole reference serves a part, too.
    let reference = corpus("mesa/deriv_basic.png");
    r500(&["render", &capture, "--crop", "5,9,21x13", "--compare", &reference]).status(0);
    r500(&["render", &capture, "-o", &part, "--crop", "60,60,8x8"])
        .status(2)
        .says("the area 8x8 at 60,60 is not inside the picture of 64x64");
}

#[test]
fn constants_and_inputs_are_overridden() {
    let folder = Folder::new("override");
    let program = folder.write("constant.inc", CONSTANT);
    let out = folder.path("out.f32");
    let draw = |program: &str, args: &[&str]| {
        let all = [&["render", program, "-o", &out, "--size", "2x1"], args].concat();
        r500(&all).status(0);
        floats(&folder.read("out.f32"))
    };
    assert_eq!(draw(&program, &["--const", "0=0.25,2,-1"])[..4], [0.25, 2.0, -1.0, 1.0]);
    assert_eq!(draw(&program, &["--const", "0.b=0x40490fdb"])[2], std::f32::consts::PI);
    let uv = folder.write("uv.inc", UV);
    assert_eq!(draw(&uv, &["--input", "temp[0]=x, 1-u, 7"])[4..], [1.5, 0.25, 7.0, 1.0]);
    assert_eq!(draw(&uv, &["--input", "0=corners: 0,5; 4,5; 0,9"])[..4], [1.0, 7.0, 0.0, 1.0]);
    // A capture's constants can be changed as well: the picture is another one then.
    let (capture, reference) = (corpus("mesa/alu_basic.json"), corpus("mesa/alu_basic.png"));
    let changed = ["render", &capture, "--compare", &reference, "--const", "0=0,0,0,0"];
    r500(&changed).status(1).shows("different: ");
}

#[test]
fn difference_of_pictures_is_a_picture() {
    let folder = Folder::new("compare");
    let program = folder.write("uv.inc", UV);
    let reference = folder.path("reference.png");
    let size = ["--size", "16x16"];
    r500(&[&["render", &program, "-o", &reference], &size[..]].concat()).status(0);
    let compare = |args: &[&str]| {
        let base = ["render", &program, "--compare", &reference, "--size", "16x16"];
        r500(&[&base[..], args].concat())
    };
    // u + 1/16 moves every pixel by 16/255 in red.
    let moved = ["--input", "0=u+1/16,v"];
    let diff = folder.path("diff.png");
    compare(&[&moved[..], &["--diff", &diff]].concat()).status(1);
    assert_eq!(folder.picture("diff.png").pixel(0, 0)[1..], [0, 0, 255]);
}

#[test]
fn one_openexr_file_holds_every_target() {
    let folder = Folder::new("targets");
    // The case writes all four targets.
    let case = corpus("cases/mrt.json");
    r500(&["render", &case, "-o", &folder.path("all.exr"), "--target", "all"]).status(0);
    let exr = folder.read("all.exr");
    for name in ["A", "B", "C", "D"] {
        let attribute = [b"name\0string\0\x01\0\0\0", name.as_bytes()].concat();
        assert!(exr.windows(attribute.len()).any(|w| w == attribute), "no layer {name}");
    }
}

#[test]
fn depth_is_one_float_a_pixel() {
    let folder = Folder::new("depth");
    let case = corpus("cases/depth_out.json");
    let out = folder.path("out.f32");
    r500(&["render", &case, "-o", &out, "--target", "depth"]).status(0);
    let text = std::fs::read_to_string(&case).unwrap();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let wanted = json["expect"]["depth"].as_array().unwrap();
    let wanted: Vec<f32> = wanted.iter().map(|v| v.as_f64().unwrap() as f32).collect();
    assert_eq!(floats(&folder.read("out.f32")), wanted);
}

#[test]
fn time_limit_ends_endless_programs() {
    let folder = Folder::new("limits");
    // JUMP always, to itself.
    let program = folder.write("endless.inc", format!("0x00000002, 0, 0x0000ff00, 0, 0, 0,\n{UV}"));
    let out = folder.path("out.png");
    let start = Instant::now();
    let base = ["render", &program, "-o", &out, "--size", "4x4"];
    r500(&[&base[..], &["--limit-time", "0.05", "--limit-instructions", "100000000000"]].concat())
        .status(3)
        .says("--limit-time");
    assert!(start.elapsed() < Duration::from_secs(20));
}

#[test]
fn the_number_of_threads_does_not_show() {
    let folder = Folder::new("threads");
    let capture = corpus("mesa/scene_fbm.json");
    for threads in ["1", "2", "7"] {
        let out = folder.path(&format!("{threads}.f32"));
        r500(&["render", &capture, "-o", &out, "--threads", threads]).status(0);
    }
    assert_eq!(folder.read("1.f32"), folder.read("2.f32"));
    assert_eq!(folder.read("1.f32"), folder.read("7.f32"));
}

/// A command that watches, and what it draws.
struct Watching {
    child: std::process::Child,
    out: String,
}

impl Watching {
    fn start(program: &str, out: String) -> Self {
        let child = command()
            .args(["render", program, "-o", &out, "--size", "2x2", "--reload"])
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        Self { child, out }
    }

    /// Returns whether red of the first pixel becomes this.
    fn shows(&self, red: f32) -> bool {
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(30) {
            let drawn = std::fs::read(&self.out).unwrap_or_default();
            if drawn.len() == 64 && floats(&drawn)[0] == red {
                return true;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        false
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        // It may have ended by itself, which the test says.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn reload_redraws_when_the_file_changes() {
    let folder = Folder::new("reload");
    let program = folder.write("program.inc", UV);
    let mut watching = Watching::start(&program, folder.path("out.f32"));
    assert!(watching.shows(0.25));
    // A file that is broken for a moment does not end it.
    folder.write("program.inc", "0x00");
    std::thread::sleep(Duration::from_millis(300));
    assert!(watching.child.try_wait().unwrap().is_none());
    folder.write("program.inc", CONSTANT);
    assert!(watching.shows(0.0));
}

#[test]
fn reload_redraws_when_a_referenced_file_changes() {
    let folder = Folder::new("reload-named");
    let white = |red| Picture { width: 1, height: 1, pixels: vec![[red, 255, 255, 255]] };
    folder.write("white.png", encode_png(&white(255)).unwrap());
    folder.write("tint.r5", "const[0] = (0.5, 1, 1, 1) ;");
    let program = folder.write(
        "program.r5",
        "#include \"tint.r5\" TEXTURE tex[0] = file \"white.png\" nearest ;
         TEX temp[1].rgba = LD tex[0].rgba temp[0].rgba ;
         OUT src0.rgb = temp[1], src1.rgb = const[0] :
             out[0].rgb = MAD src0.rgb src1.rgb src0.000 ;",
    );
    let watching = Watching::start(&program, folder.path("out.f32"));
    assert!(watching.shows(0.5));
    folder.write("tint.r5", "const[0] = (0.25, 1, 1, 1) ;");
    assert!(watching.shows(0.25));
    folder.write("white.png", encode_png(&white(0)).unwrap());
    assert!(watching.shows(0.0));
}

/// The output names the engine that drew, and why if it is not the requested one.
#[test]
fn verbose_reports_the_engine() {
    let folder = Folder::new("who-drew");
    let (program, out) = (folder.write("uv.inc", UV), folder.path("out.png"));
    let base = ["render", &program, "--size", "4x4", "-o", &out, "-v"];
    r500(&[&base[..], &["--engine", "fast"]].concat()).status(0).says("drawn by the fast engine (");
    // What is so small is not worth machine code.
    let run = r500(&base).status(0).says("drawn by the fast engine (");
    if Jit::new().unavailable().is_none() {
        run.says("too little to draw");
    }
    if let Some(other) = Simd::available().find(|simd| !matches!(simd, Simd::Avx2 | Simd::Avx512)) {
        r500(&[&base[..], &["--simd", other.name()]].concat())
            .status(0)
            .says(&format!("drawn by the fast engine ({})\n", other.name()));
        r500(&[&base[..], &["--engine", "jit", "--simd", other.name()]].concat())
            .status(0)
            .says("machine code takes AVX2 or AVX-512");
    }
    r500(&[&base[..], &["--engine", "reference"]].concat())
        .status(0)
        .says("drawn by the reference engine\n");
    r500(&[&base[..], &["--findings"]].concat())
        .status(0)
        .says("drawn by the reference engine: findings are the reference engine's");
    // A reading of textures does not affect a program without fetches; that of denormals affects its product.
    let with = |reading| r500(&[&base[..], &["--engine", "fast", "--reading", reading]].concat());
    with("lod-fraction=exact").status(0).says("drawn by the fast engine (");
    with("denormals=keep").status(0).says(
        "drawn by the reference engine: the reading denormals=keep, which MAD at address 0 depends on, is the \
         reference engine's",
    );
    let run = r500(&[&base[..], &["--format", "json"]].concat()).status(0);
    let json: serde_json::Value = serde_json::from_str(run.text()).unwrap();
    assert_eq!(json["engine"], "reference");
    assert!(json["instead"].as_str().unwrap().contains("findings"));
}

/// Windows are a feature; without it the message says how to get them.
#[test]
fn window_without_feature_names_the_feature() {
    let folder = Folder::new("window");
    let program = folder.write("uv.inc", UV);
    r500(&["render", &program, "--window", "-o", "out.png"]).status(2).says("--window");
    r500(&["render", &program, "--window", "--target", "all"]).status(2).says("one target");
    if cfg!(not(feature = "window")) {
        r500(&["render", &program, "--window"]).status(3).says("--features r500-cli/window");
    }
}
