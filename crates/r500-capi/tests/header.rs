//! The header equals cbindgen's output, and its format constants equal those of the library.
#![allow(missing_docs, clippy::unwrap_used, clippy::disallowed_methods)]

use std::path::Path;

use r500::exec::ColorSurface;

#[test]
fn the_header_is_up_to_date() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut builder = cbindgen::Builder::new()
        .with_config(cbindgen::Config::from_file(root.join("cbindgen.toml")).unwrap());
    for file in [
        "version.rs",
        "error.rs",
        "program.rs",
        "compare.rs",
        "drawing.rs",
        "card.rs",
        "capture.rs",
        "shader.rs",
    ] {
        builder = builder.with_src(root.join("src").join(file));
    }
    let mut made = Vec::new();
    builder.generate().unwrap().write(&mut made);
    let made = String::from_utf8(made).unwrap();
    let path = root.join("include/r500.h");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    let header = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        header == made,
        "include/r500.h is out of date: BLESS=1 cargo test -p r500-capi --test header"
    );
}

#[test]
fn formats_are_what_their_names_say() {
    assert_eq!(ColorSurface::rgba8(&mut [], 0).format.0, r500_c::R500_RGBA8);
    assert_eq!(ColorSurface::bgra8(&mut [], 0).format.0, r500_c::R500_BGRA8);
    let floats = r500::isa::state::UsOutFmt(r500_c::R500_RGBA32F);
    assert_eq!(r500::exec::output::color::bytes_per_pixel(floats), Some(16));
}
