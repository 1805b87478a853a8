//! The library that the tests preload: that of `R500_CARD_LIBRARY`. Cargo builds no `cdylib` for tests, so without this variable the first test
//! that needs the library builds it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Returns `libr500_card.so`: by default of the profile and target folder in which this test was built.
pub(crate) fn library() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        if let Some(library) = std::env::var_os("R500_CARD_LIBRARY") {
            let library = PathBuf::from(library);
            assert!(library.is_file(), "R500_CARD_LIBRARY: there is no {}", library.display());
            return library;
        }
        let exe = std::env::current_exe().unwrap();
        // target/PROFILE/deps/TEST
        let profile = exe.parent().and_then(Path::parent).unwrap();
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--quiet", "--lib", "--package", "r500-preload"]);
        build.current_dir(env!("CARGO_MANIFEST_DIR"));
        build.arg("--target-dir").arg(profile.parent().unwrap());
        if profile.ends_with("release") {
            build.arg("--release");
        }
        assert!(build.status().unwrap().success(), "the library does not build");
        let library = profile.join("libr500_card.so");
        assert!(library.is_file(), "cargo puts {} there", library.display());
        library
    })
}
