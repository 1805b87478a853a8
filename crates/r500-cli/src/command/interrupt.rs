//! Signals that end the command: temporary files of outputs are removed before it ends.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

/// Removes unfinished outputs when a signal ends the process. The status that a shell sees is that of the signal.
///
/// A process that `exec` turns into another program has the default actions again.
pub(super) fn discard_outputs_on_signals() {
    let wanted = [SIGHUP, SIGINT, SIGTERM].into_iter().filter(|signal| !is_ignored(*signal));
    // Without a handler or a thread, the default action ends the process, and leaves temporary files.
    let Ok(mut signals) = Signals::new(wanted) else { return };
    let thread = std::thread::Builder::new().name("signals".to_owned());
    let _ = thread.spawn(move || {
        for signal in signals.forever() {
            r500::files::discard_unfinished();
            #[cfg(target_os = "linux")]
            super::scratch::discard();
            let _ = emulate_default_handler(signal);
        }
    });
}

/// Returns whether the parent has set a signal to be ignored, such as SIGHUP under `nohup`. It stays ignored.
#[cfg(target_os = "linux")]
pub(super) fn is_ignored(signal: i32) -> bool {
    #[expect(clippy::disallowed_methods, reason = "a file of the kernel about this process")]
    let status = std::fs::read_to_string("/proc/self/status");
    let mask = status.ok().and_then(|status| {
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
        u64::from_str_radix(mask.trim(), 16).ok()
    });
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 != 0)
}

/// These systems have no such file; their shells rarely ignore signals.
#[cfg(not(target_os = "linux"))]
pub(super) fn is_ignored(_: i32) -> bool {
    false
}
