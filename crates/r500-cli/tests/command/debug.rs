//! `r500 debug --script`: what it says, against `r500 trace`, frames, and derivations by hand.

use r500::exec::{Bindings, Options, Shader, draw};
use r500::fast::Fast;

use super::{Folder, UV, corpus, r500, with_stdin};

/// Returns what a script prints.
fn script(args: &[&str], commands: &str) -> String {
    let args = [&["debug"], args, &["--script", "-"]].concat();
    with_stdin(&args, commands.as_bytes()).status(0).text().to_owned()
}

/// Returns what one command of a script says.
fn reply<'a>(text: &'a str, command: &str) -> &'a str {
    let start =
        text.find(&format!("(r500) {command}\n")).unwrap_or_else(|| panic!("{command}\n{text}"));
    let text = &text[start..];
    let text = &text[text.find('\n').unwrap() + 1..];
    text.find("(r500) ").map_or(text, |end| &text[..end])
}

#[test]
fn a_walk_over_one_instruction() {
    let folder = Folder::new("debug");
    let program = folder.write("uv.inc", UV);
    let args = [program.as_str(), "--size", "4x4", "--pixel", "1,2"];
    let text = script(
        &args,
        "info registers\ninfo step\nstep\ninfo outputs\nreverse-step\n# a comment\n\nprint temp[0].g * 2\n\
         print out[0]\nbits temp[0].rg\nquit\nstep",
    );
    // The centre of pixel 1,2 of 4x4 is at 1.5 / 4, 2.5 / 4.
    assert!(text.contains("pixel 1,2 of 4x4, in the group of 4x4 pixels at 0,0; 1 steps recorded"));
    assert!(reply(&text, "info registers").contains("temp[0] = (0.375, 0.625, 0, 1)  #609f00"));
    assert!(reply(&text, "info step").contains("A (0.375, 0.625, 0)  B (1, 1, 1)  C (0, 0, 0)"));
    assert!(reply(&text, "step").starts_with("step 1 of 1  ended; delivered"));
    assert!(reply(&text, "info outputs").contains("out[0].rgba = (0.375, 0.625, 0, 1)"));
    assert!(reply(&text, "reverse-step").starts_with("step 0 of 1  @0"));
    assert_eq!(reply(&text, "print temp[0].g * 2"), "temp[0].g * 2 = 1.25\n");
    assert_eq!(reply(&text, "print out[0]"), "out[0] = (0, 0, 0, 0)\n");
    assert_eq!(reply(&text, "bits temp[0].rg"), "temp[0].rg = 0x3ec00000 0x3f200000\n");
    assert_eq!(text.matches("(r500) step").count(), 1, "quit leaves");
}

/// Every step of a script that walks says what `r500 trace` says of that step.
fn steps_like_trace(capture: &str, pixel: &str) {
    let traced = r500(&["trace", capture, "--pixel", pixel]).status(0).text().to_owned();
    // The trace's steps: blocks that begin with the number.
    let mut blocks: Vec<String> = Vec::new();
    for line in traced.lines().take_while(|line| !line.starts_with("end after")).skip(1) {
        if line.as_bytes().get(4).is_some_and(u8::is_ascii_digit) {
            blocks.push(String::new());
        }
        // The trace tells about the pixel's state and the stacks in lines of its own.
        let own = ["pixel: ", "pixel is inactive", "loop   ", "calls  "];
        if let Some(block) = blocks.last_mut()
            && !own.iter().any(|word| line.trim_start().starts_with(word))
        {
            block.push_str(line);
            block.push('\n');
        }
    }
    assert!(blocks.len() > 10);
    // Forward and back again: the same step is printed both times.
    let forth: String = blocks.iter().map(|_| "info step\nstep\n").collect();
    let back: String = blocks.iter().map(|_| "reverse-step\ninfo step\n").collect();
    let text = script(&[capture, "--pixel", pixel], &(forth + &back));
    let told: Vec<String> = text
        .split("(r500) info step\n")
        .skip(1)
        .map(|told| {
            let told = told.split("(r500) ").next().unwrap();
            told.replace("             the pixel is inactive\n", "")
        })
        .collect();
    assert_eq!(told.len(), blocks.len() * 2);
    for (i, block) in blocks.iter().enumerate() {
        assert_eq!(&told[i], block);
        assert_eq!(&told[told.len() - 1 - i], block);
    }
}

#[test]
fn stepping_over_a_divergent_loop_shows_what_trace_shows() {
    steps_like_trace(&corpus("mesa/loop_break_continue.json"), "21,30");
}

#[test]
fn stepping_over_fetches_and_kills_shows_what_trace_shows() {
    steps_like_trace(&corpus("mesa/tex_mips.json"), "5,9");
    steps_like_trace(&corpus("mesa/discard_branch.json"), "40,33");
}

/// The case's pixels: 0,0 breaks in its first pass, 1,0 continues in it; see its rationale. What is
/// wanted here was read from its trace.
#[test]
fn groups_loops_and_breakpoints() {
    let case = corpus("cases/break_and_continue.json");
    let traced = r500(&["trace", &case, "--pixel", "1,0"]).status(0).text().to_owned();
    let first_sleep = traced
        .lines()
        .position(|line| line.contains("pixel: active -> continue(0)"))
        .and_then(|at| traced.lines().take(at).filter_map(step_number).last())
        .unwrap();
    let text = script(
        &[&case, "--pixel", "1,0"],
        "until not active\ninfo group\ninfo loops\nactive\nreverse-active\nfinish\nreverse-finish\nend\n\
         reverse-until not active",
    );
    // The position after the step that put it to sleep.
    let until = reply(&text, "until not active");
    assert!(until.starts_with(&format!("step {first_sleep} of ")), "{until}");
    assert!(until.contains("(inactive: continue(0))"), "{until}");
    assert!(reply(&text, "info group").contains("[c]"), "{text}");
    assert!(reply(&text, "info loops").starts_with("loop 1: "));
    assert!(!reply(&text, "active").contains("(inactive"));
    assert!(!reply(&text, "reverse-active").contains("(inactive"));
    assert!(reply(&text, "reverse-until not active").contains("(inactive"));
}

/// Returns the number that a line of a trace begins a step with.
fn step_number(line: &str) -> Option<usize> {
    line.get(..5)?.trim().parse().ok()
}

#[test]
fn breakpoints_stop_where_their_conditions_say() {
    let capture = corpus("mesa/loop_mandelbrot.json");
    let text = script(
        &[&capture, "--pixel", "20,30"],
        "break 26\nbreak 1 if temp[0].r < 0\nwatch temp[0].g\nbreak if alu_result\ninfo breakpoints\n\
         continue\ncontinue\ndelete 3\ndisable 4\ncontinue\nreverse-continue\ninfo breakpoints\nbreak 26\n\
         tbreak if step == 7\nrun\ncontinue 2\n",
    );
    let breakpoints = reply(&text, "info breakpoints");
    assert!(breakpoints.contains("2: break 1 if temp[0].r < 0, hit 0 times"), "{breakpoints}");
    // Instruction 0 writes temp[0].rg, so both hold after it.
    let first = reply(&text, "continue");
    assert!(first.contains("breakpoint 2, break 1 if temp[0].r < 0\n"), "{first}");
    assert!(
        first.contains("breakpoint 3, watch temp[0].g: 0.4765625 -> -0.056249976\n"),
        "{first}"
    );
    assert!(first.contains("step 1 of 1280  @1"), "{first}");
    let back = reply(&text, "reverse-continue");
    assert!(back.contains("breakpoint 2") && back.contains("step 1 of 1280"), "{back}");
    // The temporary breakpoint holds once.
    let last = reply(&text, "continue 2");
    assert!(last.contains("breakpoint 6 is gone") && last.contains("step 7 of"), "{last}");
}

#[test]
fn the_end_is_the_frames_pixel() {
    for name in ["scene_raymarch", "loop_break_continue", "tex_mips", "discard_branch"] {
        let capture = corpus(&format!("mesa/{name}.json"));
        let bytes = std::fs::read(&capture).unwrap();
        let limits = r500::formats::Limits::default();
        let job = r500::reader::read(&bytes, None, None, &limits).unwrap().remove(0);
        let shader = Shader::new(&job.program).unwrap();
        let bindings = Bindings::new(&job, job.size.unwrap()).unwrap();
        let frame = draw(&Fast::new(), &shader, &bindings, &Options::default()).unwrap();
        for [x, y] in [[3, 60], [31, 17], [44, 44], [20, 12]] {
            let pixel = format!("{x},{y}");
            let text = script(&[&capture, "--pixel", &pixel], "info end");
            let color = frame.color(0, x, y);
            let end = reply(&text, "info end");
            let Some(line) = end.lines().find(|line| line.starts_with("out[0] = (")) else {
                assert!(
                    end.contains("nothing is delivered") && color == [0.0; 4],
                    "{name} {pixel}"
                );
                continue;
            };
            let numbers = line.trim_start_matches("out[0] = (").split(')').next().unwrap();
            let told: Vec<u32> = numbers
                .split(", ")
                .map(|number| number.parse::<f32>().unwrap().to_bits())
                .collect();
            assert_eq!(told, color.map(f32::to_bits), "{name} {pixel}");
        }
    }
}

#[test]
fn a_condition_finds_its_pixel_and_heat_is_counted() {
    let folder = Folder::new("debug-first");
    let program = folder.write("uv.inc", UV);
    // temp[0].r is (x + 0.5) / 8: above a half from column 4 on.
    let text = script(
        &[&program, "--size", "8x8", "--pixel", "0,0"],
        "first temp[0].r > 0.5\nprint x\nfirst temp[0].r > 0.5 in 6,3,2x2\nfirst temp[0].r > 2\nheat\npixel 7,7\n\
         info work",
    );
    let first = reply(&text, "first temp[0].r > 0.5");
    assert!(first.starts_with("pixel 4,0 first, after 0 steps; 32 of the 64 pixels"), "{first}");
    assert_eq!(reply(&text, "print x"), "x = 4\n");
    assert!(reply(&text, "first temp[0].r > 0.5 in 6,3,2x2").starts_with("pixel 6,3 first"));
    assert!(reply(&text, "first temp[0].r > 2").starts_with("none of the 64 pixels"));
    let heat = reply(&text, "heat");
    assert!(heat.contains("instructions executed a pixel: 1 to 1, 1.0 on average"), "{heat}");
    assert!(heat.starts_with("@@@@@@@@\n"), "{heat}");
    assert!(reply(&text, "info work").contains("the pixel executes 1, and waits for others in 0"));
}

#[test]
fn an_endless_program_can_be_looked_at() {
    let folder = Folder::new("debug-endless");
    let source = "@again\nJUMP @again ;\n: temp[1].r = MAD src0.000 src0.100 src0.000 ;\n";
    let program = folder.write("endless.r5", source);
    let args = ["debug", program.as_str(), "--limit-instructions", "50", "--script", "-"];
    let run = with_stdin(&args, b"continue\nreverse-step 3\n").status(0);
    let text = run.text();
    assert!(text.contains("the recording ends early: after 50 instructions"), "{text}");
    assert!(reply(text, "continue").contains("at the end of the recording"), "{text}");
    assert!(reply(text, "reverse-step 3").contains("step 47 of 50"), "{text}");
}

#[test]
fn mistakes_are_told_and_end_a_script() {
    let folder = Folder::new("debug-mistakes");
    let program = folder.write("uv.inc", UV);
    let args = ["debug", program.as_str(), "--script", "-"];
    let rows = [
        ("step\nstep x\n", "line 2: `x` is not a number of times"),
        ("dance\n", "there is no command `dance`"),
        ("break 99\n", "there is no instruction at 99; the program has 0 to 0"),
        ("break if temp[200].r > 0\n", "temp[0] to temp[127]"),
        ("print foo\n", "there is no `foo`"),
        ("break if temp[0].r\n", "no condition"),
        ("pixel 300,0\n", "outside the picture of 256x256"),
        ("delete 3\n", "there is no breakpoint 3"),
        ("info weather\n", "there is no info about `weather`"),
        ("reverse\n", "could be reverse-step"),
    ];
    for (commands, message) in rows {
        with_stdin(&args, commands.as_bytes()).status(2).says(message);
    }
    r500(&["debug", &program, "--pixel", "256,0", "--script", "-"]).status(2).says("outside");
    r500(&["debug", &program]).status(2).says("--script");
    r500(&["debug", &program, "--script", "/nonexistent"]).status(3).says("cannot read");
    r500(&["debug", "-", "--script", "-"]).status(2).says("both");
}
