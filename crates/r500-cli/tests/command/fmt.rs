//! `r500 fmt`.

use super::{Folder, r500, with_stdin};

const LOOSE: &str = "SIZE 4 4;\nsrc0.rgb=temp[0]:temp[1].rgb=MAX src0.rgb src0.rgb;\n";
const LAID_OUT: &str = "SIZE 4 4 ;\nsrc0.rgb = temp[0] : temp[1].rgb = MAX src0.rgb src0.rgb ;\n";

#[test]
fn files_and_folders_are_written_over() {
    let folder = Folder::new("fmt");
    let (a, b) = (folder.write("a.r5", LOOSE), folder.write("b.fs.asm", LOOSE));
    let other = folder.write("notes.txt", LOOSE);
    let whole = folder.path("");
    let run = r500(&["fmt", "--check", &whole]).status(1).says("2 of 2 files would change");
    let run = run.shows("-SIZE 4 4;\n").shows("+SIZE 4 4 ;\n").shows("a.r5, formatted");
    assert!(!run.text().contains("notes"));
    assert_eq!(std::fs::read_to_string(&a).unwrap(), LOOSE);
    r500(&["fmt", &whole]).status(0);
    for (file, wanted) in [(&a, LAID_OUT), (&b, LAID_OUT), (&other, LOOSE)] {
        assert_eq!(std::fs::read_to_string(file).unwrap(), wanted);
    }
    let run = r500(&["fmt", "--check", &a, &b]).status(0);
    assert_eq!((run.text(), &*run.stderr), ("", ""));
}

#[test]
fn stdin_goes_to_stdout() {
    let run = with_stdin(&["fmt", "-"], LOOSE.as_bytes()).status(0);
    assert_eq!(run.text(), LAID_OUT);
    with_stdin(&["fmt", "--check", "-"], LAID_OUT.as_bytes()).status(0);
}

#[test]
fn what_is_no_source_is_left_alone() {
    let folder = Folder::new("fmt-wrong");
    let wrong = "SIZE 4 4;\nNAME \"x;\n";
    let file = folder.write("wrong.r5", wrong);
    r500(&["fmt", &file]).status(1).says("wrong.r5:2:6: a string without an end; left as it is");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), wrong);
    r500(&["fmt", &folder.path("none.r5")]).status(3);
    r500(&["fmt"]).status(2);
}
