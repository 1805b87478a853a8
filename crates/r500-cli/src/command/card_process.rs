//! Processes on the virtual card: the library that stands between them and the system, and its settings.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use r500_drm::Settings;

use super::exit::{Failure, Outcome};

/// Lets a command see a card with these settings.
pub(super) fn put_on_card(
    command: &mut Command,
    settings: &Settings,
    library: &Path,
) -> Outcome<()> {
    command.env("LD_PRELOAD", preload(library)?);
    for (name, value) in settings.variables() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    Ok(())
}

/// Returns the value of `LD_PRELOAD`: the library, before those that are preloaded already.
fn preload(library: &Path) -> Outcome<OsString> {
    let library = absolute(library)?;
    if library.to_string_lossy().contains([' ', ':']) {
        return Err(Failure::could_not(anyhow::anyhow!(
            "{}: the loader takes no library whose path has a blank or a colon",
            library.display()
        )));
    }
    let mut value = library.into_os_string();
    if let Some(others) = std::env::var_os("LD_PRELOAD").filter(|others| !others.is_empty()) {
        value.push(":");
        value.push(others);
    }
    Ok(value)
}

/// Returns the library: the one that is given, or the one next to this command.
pub(super) fn library(given: Option<&Path>) -> Outcome<PathBuf> {
    const NAME: &str = "libr500_card.so";
    if let Some(library) = given {
        // The loader would ignore it and run the program without the card.
        return match library.is_file() {
            true => Ok(library.to_owned()),
            false => Err(Failure::could_not(anyhow::anyhow!("there is no {}", library.display()))),
        };
    }
    let command = std::env::current_exe().map_err(Failure::could_not)?;
    let directory = command.parent().unwrap_or(Path::new("/"));
    let places = ["", "../lib", "../lib/r500"].map(|place| directory.join(place).join(NAME));
    places.into_iter().find(|place| place.is_file()).ok_or_else(|| {
        Failure::could_not(anyhow::anyhow!(
            "{NAME} is neither in {0} nor in {0}/../lib or {0}/../lib/r500; in a checkout, `cargo build --release` \
             builds it, and the Debian package has it; --library names another place",
            directory.display()
        ))
    })
}

/// How missing packages are installed.
pub(super) const INSTALL: &str = "Debian: apt-get install --no-install-recommends";

/// Returns whether Mesa's driver for these chips is where its loader searches.
pub(super) fn has_r300_driver() -> bool {
    const DRIVER: &str = "r300_dri.so";
    let there = |directory: &Path| directory.join(DRIVER).is_file();
    if let Some(paths) = std::env::var_os("LIBGL_DRIVERS_PATH") {
        return std::env::split_paths(&paths).any(|path| there(&path));
    }
    let roots = ["/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/local/lib64"];
    roots.into_iter().map(Path::new).any(|root| {
        // lib/dri, or lib/x86_64-linux-gnu/dri.
        let inside = r500::files::entries(root);
        there(&root.join("dri")) || inside.iter().any(|entry| there(&entry.join("dri")))
    })
}

/// Returns a path that stays the same when the program changes its directory.
pub(super) fn absolute(path: &Path) -> Outcome<PathBuf> {
    std::path::absolute(path)
        .map_err(|error| Failure::could_not(error).context(format!("no path {}", path.display())))
}
