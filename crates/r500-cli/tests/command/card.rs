//! `r500 card` and `r500 capture`, as far as they go without the library of the card.

use super::{Folder, r500};

#[test]
fn without_the_library_nothing_runs() {
    let folder = Folder::new("card-library");
    let (library, mark) = (folder.path("none.so"), folder.path("mark"));
    let run = r500(&["card", "--library", &library, "touch", &mark]).status(3);
    run.says("there is no").says("none.so");
    assert!(folder.names().is_empty());
}

#[test]
fn wrong_options_are_named() {
    r500(&["card", "--chip", "r600", "true"]).status(2).says("rv515, rv530, r520, r580");
    r500(&["card", "--mode", "800", "true"]).status(2).says("WIDTHxHEIGHT");
    r500(&["card"]).status(2).says("PROGRAM");
    r500(&["capture", "true"]).status(2).says("--output");
}

/// An older run may have had more processes than this one.
#[test]
fn a_capture_replaces_those_of_an_older_run() {
    let folder = Folder::new("card-capture");
    let library = folder.path("none.so");
    for name in ["demo.r5cs", "demo.1.r5cs", "demo.2.r5cs", "demo.9.r5cs", "other.r5cs"] {
        folder.write(name, "");
    }
    r500(&["capture", "-o", &folder.path("demo.r5cs"), "--library", &library, "true"]).status(3);
    assert_eq!(folder.names(), ["demo.9.r5cs", "other.r5cs"]);
}
