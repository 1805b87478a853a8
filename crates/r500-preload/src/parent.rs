//! The end of a program with the process that started it: a `SIGKILL` for `r500 capture` cannot be passed on by it.

use r500_drm::Settings;
use rustix::process::{Signal, getpid, getppid, kill_process, set_parent_process_death_signal};

use crate::guard::guarded;

/// The loader calls the function before `main`, in each program that loads this library.
#[used]
#[unsafe(link_section = ".init_array")]
static AT_START: extern "C" fn() = end_with_parent;

/// Has the kernel kill this process when its parent ends, if that is the process of the settings. Children of this process
/// have another parent, and continue.
extern "C" fn end_with_parent() {
    guarded((), || {
        // Invalid settings are reported when the card is opened.
        let settings = Settings::from_variables(|name| std::env::var_os(name));
        let Some(parent) = settings.ok().and_then(|settings| settings.parent) else { return };
        let is_parent = || {
            getppid()
                .is_some_and(|process| process.as_raw_nonzero().get().cast_unsigned() == parent)
        };
        if is_parent()
            && set_parent_process_death_signal(Some(Signal::KILL)).is_ok()
            && !is_parent()
        {
            // The parent ended in between.
            let _ = kill_process(getpid(), Signal::KILL);
        }
    });
}
