//! `r500 render --frames`.

use super::{CONSTANT, Folder, r500};

#[test]
fn animations() {
    let folder = Folder::new("animations");
    let program = folder.write("constant.inc", CONSTANT);
    let base = ["render", &program, "--size", "4x4", "--time-to", "0.r", "--frames", "0..3"];
    r500(&[&base[..], &["-o", &folder.path("out.gif")]].concat()).status(0);
    assert_eq!(&folder.read("out.gif")[..6], b"GIF89a");
    r500(&[&base[..], &["-o", &folder.path("out.apng")]].concat()).status(0);
    let apng = folder.read("out.apng");
    // The animation control chunk: three frames, for ever.
    assert!(apng.windows(12).any(|w| w == b"acTL\0\0\0\x03\0\0\0\0"));
}
