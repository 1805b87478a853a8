//! `r500 debug --script`, against `r500 trace` and frames.

use r500::exec::{Bindings, Options, Shader, draw};
use r500::fast::Fast;

use super::{Folder, corpus, r500, with_stdin};

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
        frame.run_info.drawn_by("fast").unwrap();
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

/// Of assembly the source is listed, and places are labels, lines and names.
#[test]
fn assembly_is_debugged_by_its_source() {
    let folder = Folder::new("debug-source");
    let source = "-- Endless.\nSIZE 4 4 ;\nDEF step_size = const[3] ;\nstep_size = (0.5, 0, 0, 0) ;\n\n\
        @scene\n    : temp[1].rgb = MAX src0.111 src0.111 ;   -- the only value\nFC JUMP JUMP_FUNC(0xff) -> @scene ;\nOUT LAST : out[0].rgb = MAX src0.111 src0.111 ;\n";
    let file = folder.write("endless.r5", source);
    let text = script(
        &[&file, "--limit-instructions", "100"],
        "break @scene\nbreak :8\ncontinue\nlist\nprint step_size.r\nlist :7\nuntil @scene\ninfo end\n",
    );
    assert!(reply(&text, "break @scene").contains("breakpoint 1"), "{text}");
    let listed = reply(&text, "list");
    assert!(
        listed.contains(
            "  *   7 @0        : temp[1].rgb = MAX src0.111 src0.111 ;   -- the only value"
        ),
        "{listed}"
    );
    assert!(listed.contains("=>*   8 @1    FC JUMP"), "{listed}");
    assert!(listed.contains("      6       @scene"), "{listed}");
    assert_eq!(reply(&text, "print step_size.r"), "step_size.r = 0.5\n");
    assert!(reply(&text, "until @scene").contains("@0"), "{text}");
    let end = reply(&text, "info end");
    assert!(
        end.starts_with("the program did not end: the recording stops after 100 steps"),
        "{end}"
    );
    let args = ["debug", &file, "--limit-instructions", "100", "--script", "-"];
    with_stdin(&args, b"break @nowhere\n").status(2).says("labels are @scene");
}
