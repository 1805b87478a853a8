//! `r500 completions` and `r500 man`.

use super::{Folder, r500};

const SUBCOMMANDS: [&str; 10] =
    ["render", "run", "trace", "test", "asm", "disasm", "convert", "explain", "completions", "man"];

#[test]
fn completions_know_every_subcommand() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let run = r500(&["completions", shell]).status(0);
        for name in SUBCOMMANDS {
            assert!(run.text().contains(name), "{shell} does not know {name}");
        }
        run.shows("annotate");
    }
    r500(&["completions", "cmd"]).status(2);
}

#[test]
fn a_page_for_each_subcommand() {
    let page = r500(&["man"]).status(0).shows(".TH r500 1");
    let folder = Folder::new("man");
    let inside = folder.path("man1");
    r500(&["man", "--folder", &inside]).status(0);
    let page_of =
        |name: &str| std::fs::read_to_string(folder.path(&format!("man1/{name}"))).unwrap();
    for name in SUBCOMMANDS {
        assert!(page.text().contains(&format!("r500\\-{name}(1)")), "{name}");
        let page = page_of(&format!("r500-{name}.1"));
        assert!(page.contains("Examples:"), "{page}");
    }
    assert!(page_of("r500.1").contains(".SH DESCRIPTION"));
    assert!(page_of("r500-disasm.1").contains("annotate"));
    let blocked = folder.write("file", "");
    r500(&["man", "--folder", &blocked]).status(3).says("cannot create");
}
