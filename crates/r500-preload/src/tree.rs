//! Files of `/dev/dri` and `/sys` that describe the card, for programs that read them: a copy in a temporary directory
//! of this process, to which paths are translated.
//!
//! Links in the copy are relative, as in `/sys`, so that the kernel follows them within the copy.
//!
//! The copy is removed when its process exits, and when a signal ends the process for which the program has no handler.
//! After `SIGKILL` or a crash it stays until another process makes a copy: its name has the number of its process.

use std::ffi::{CStr, CString, c_char};
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::OnceLock;

use r500_drm::{Settings, log};

use crate::guard::guarded;
use crate::node::Node;

/// Translated paths: these directories and everything below them.
const ROOTS: [&str; 6] = [
    "/dev/dri",
    "/sys/class/drm",
    "/sys/dev/char/226:0",
    "/sys/dev/char/226:128",
    "/sys/bus/pci/devices/0000:01:00.0",
    DEVICE,
];

/// The path of the card among the devices.
const DEVICE: &str = "/sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0";

/// A copy, and the process that created it.
struct Copy {
    directory: PathBuf,
    process: u32,
}

/// The copy; `None` if it could not be created, which was reported then.
static COPY: OnceLock<Option<Copy>> = OnceLock::new();

/// Returns whether a path is one of the card's.
fn is_of_card(path: &[u8]) -> bool {
    ROOTS.iter().any(|root| {
        let rest = path.strip_prefix(root.as_bytes());
        rest.is_some_and(|rest| matches!(rest, [] | [b'/', ..]))
    })
}

/// Returns the path in the copy, or `/dev/null` for a node; `None` for paths that are not of the card.
///
/// # Safety
///
/// `path` is null or a C string.
pub(crate) unsafe fn translated(path: *const c_char) -> Option<CString> {
    if path.is_null() {
        return None;
    }
    // SAFETY: see above.
    let path = unsafe { CStr::from_ptr(path) }.to_bytes();
    if !is_of_card(path) {
        return None;
    }
    if Node::ALL.into_iter().any(|node| node.path().to_bytes() == path) {
        return Some(c"/dev/null".to_owned());
    }
    guarded(None, || {
        let copy = COPY.get_or_init(make).as_ref()?;
        CString::new([copy.directory.as_os_str().as_bytes(), path].concat()).ok()
    })
}

/// Returns the original of a path in the copy.
pub(crate) fn original(path: &Path) -> Option<&Path> {
    let copy = COPY.get()?.as_ref()?;
    let path = path.as_os_str().as_bytes();
    let rest = path.strip_prefix(copy.directory.as_os_str().as_bytes())?;
    Some(Path::new(std::ffi::OsStr::from_bytes(rest)))
}

/// Returns the node that a path names or leads to.
///
/// # Safety
///
/// `path` is null or a C string.
pub(crate) unsafe fn node_of_path(path: *const c_char) -> Option<Node> {
    if path.is_null() {
        return None;
    }
    // SAFETY: see above.
    let text = unsafe { CStr::from_ptr(path) };
    if !text.to_bytes().starts_with(b"/dev/dri/") {
        return None;
    }
    let named = Node::ALL.into_iter().find(|node| node.path() == text);
    // SAFETY: as this function's.
    named.or_else(|| unsafe { linked_node(path) })
}

/// Returns the node that a path leads to through links or `..`; `None` for paths that are not of the card.
///
/// # Safety
///
/// `path` is null or a C string.
unsafe fn linked_node(path: *const c_char) -> Option<Node> {
    // SAFETY: as this function's.
    let copy = unsafe { translated(path) }?;
    guarded(None, || {
        let path =
            fs::canonicalize(Path::new(std::ffi::OsStr::from_bytes(copy.to_bytes()))).ok()?;
        let path = CString::new(original(&path)?.as_os_str().as_bytes()).ok()?;
        Node::ALL.into_iter().find(|node| node.path() == &*path)
    })
}

/// Removes the copy at the end of the process that created it.
extern "C" fn remove() {
    guarded((), || {
        if let Some(Some(copy)) = COPY.get()
            && copy.process == std::process::id()
        {
            // If this fails, temporary files remain.
            let _ = fs::remove_dir_all(&copy.directory);
        }
    });
}

fn make() -> Option<Copy> {
    remove_leftovers(&std::env::temp_dir());
    let directory = match temporary_directory() {
        Ok(directory) => directory,
        Err(error) => {
            log::print_once(&format!("no temporary directory for /dev/dri and /sys: {error}"));
            return None;
        }
    };
    let copy = Copy { directory, process: std::process::id() };
    if let Err(error) = fill(&copy.directory) {
        log::print_once(&format!("{}: {error}", copy.directory.display()));
    }
    // SAFETY: the handler has no preconditions and stays loaded: a library that defines functions of the C library for
    // the program is never unloaded. If it cannot be registered, temporary files remain.
    unsafe { libc::atexit(remove) };
    remove_on_signals(&copy.directory);
    Some(copy)
}

/// Prefix of the names of copies.
const PREFIX: &str = "r500-card-";

/// Returns the prefix of the names of copies of this process: the namespace in which process numbers count, and the number.
fn own_prefix() -> String {
    format!("{PREFIX}{}-{}-", process_namespace().unwrap_or_default(), std::process::id())
}

/// Returns the number of the namespace of process numbers. Containers may share a temporary directory.
fn process_namespace() -> Option<String> {
    let link = fs::read_link("/proc/self/ns/pid").ok()?;
    Some(link.to_string_lossy().chars().filter(char::is_ascii_digit).collect())
}

/// Removes copies of processes that have ended.
fn remove_leftovers(directory: &Path) {
    let Some(namespace) = process_namespace() else { return };
    let prefix = format!("{PREFIX}{namespace}-");
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let rest = name.to_str().and_then(|name| name.strip_prefix(&prefix));
        let process = rest.and_then(|rest| rest.split_once('-')?.0.parse::<libc::pid_t>().ok());
        let Some(process) = process.filter(|process| *process > 0) else { continue };
        // SAFETY: signal 0 sends nothing.
        let ended = unsafe { libc::kill(process, 0) } != 0
            && io::Error::last_os_error().raw_os_error() == Some(libc::ESRCH);
        // Links are not followed. Other users' copies cannot be removed.
        if ended && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Files of the copy, then its directories, innermost first; and the process that created it.
static REMOVALS: OnceLock<(Vec<CString>, Vec<CString>, u32)> = OnceLock::new();

/// Registers a handler that removes the copy for signals with the default action, which is to end the process. A handler
/// that the program registers later replaces it; its process then ends as the program decides.
fn remove_on_signals(directory: &Path) {
    let (mut files, mut directories) = (Vec::new(), Vec::new());
    list(directory, &mut files, &mut directories);
    if REMOVALS.set((files, directories, std::process::id())).is_err() {
        return;
    }
    for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGTERM] {
        // SAFETY: an action is plain data, of which zeros are the default; the handler makes calls only that signal
        // handlers may make.
        unsafe {
            let mut before: libc::sigaction = std::mem::zeroed();
            let known = libc::sigaction(signal, ptr::null(), &raw mut before) == 0;
            if known && before.sa_sigaction == libc::SIG_DFL {
                let mut action: libc::sigaction = std::mem::zeroed();
                action.sa_sigaction = remove_and_end as *const () as libc::sighandler_t;
                action.sa_flags = libc::SA_RESETHAND | libc::SA_NODEFER;
                libc::sigaction(signal, &raw const action, ptr::null_mut());
            }
        }
    }
}

/// Lists the contents of a directory, and it after its contents.
fn list(directory: &Path, files: &mut Vec<CString>, directories: &mut Vec<CString>) {
    let name = |path: &Path| CString::new(path.as_os_str().as_bytes()).ok();
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => list(&entry.path(), files, directories),
            _ => files.extend(name(&entry.path())),
        }
    }
    directories.extend(name(directory));
}

/// Removes the copy, then ends the process by the signal, whose action is the default again.
extern "C" fn remove_and_end(signal: libc::c_int) {
    // A child process has the handler, too, but not the copy.
    if let Some((files, directories, process)) = REMOVALS.get()
        && *process == std::process::id()
    {
        for path in files {
            // SAFETY: a C string.
            unsafe { libc::unlink(path.as_ptr()) };
        }
        for path in directories {
            // SAFETY: a C string.
            unsafe { libc::rmdir(path.as_ptr()) };
        }
    }
    // SAFETY: no precondition.
    unsafe { libc::raise(signal) };
}

fn temporary_directory() -> io::Result<PathBuf> {
    let template = std::env::temp_dir().join(format!("{}XXXXXX", own_prefix())).into_os_string();
    let template = CString::new(template.into_vec()).map_err(io::Error::other)?.into_raw();
    // SAFETY: an owned C string, whose last six bytes the call replaces.
    let made = !unsafe { libc::mkdtemp(template) }.is_null();
    let error = io::Error::last_os_error();
    // SAFETY: the pointer came from `into_raw`, and the length is unchanged.
    let path = unsafe { CString::from_raw(template) };
    match made {
        true => Ok(PathBuf::from(std::ffi::OsString::from_vec(path.into_bytes()))),
        false => Err(error),
    }
}

/// Writes the files, with the contents that a card of the chip has on Linux.
fn fill(copy: &Path) -> io::Result<()> {
    let settings = Settings::from_variables(|name| std::env::var_os(name)).unwrap_or_default();
    let id = settings.chip.pci_id();
    let file = |path: &str, content: &[u8]| {
        let path = copy.join(path.trim_start_matches('/'));
        fs::create_dir_all(path.parent().unwrap_or(copy))?;
        r500_files::write(&path, content)
    };
    let link = |path: &str, to: &str| {
        let path = copy.join(path.trim_start_matches('/'));
        fs::create_dir_all(path.parent().unwrap_or(copy))?;
        symlink(to, path)
    };
    let device = DEVICE.trim_start_matches("/sys/");
    for (node, name) in [(Node::Primary, "card0"), (Node::Render, "renderD128")] {
        let minor = node.minor();
        file(&format!("/dev/dri/{name}"), b"")?;
        let kind = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == 'D');
        link(&format!("/dev/dri/by-path/pci-0000:01:00.0-{kind}"), &format!("../{name}"))?;
        let directory = format!("{DEVICE}/drm/{name}");
        file(&format!("{directory}/dev"), format!("226:{minor}\n").as_bytes())?;
        let event = format!("MAJOR=226\nMINOR={minor}\nDEVNAME=dri/{name}\nDEVTYPE=drm_minor\n");
        file(&format!("{directory}/uevent"), event.as_bytes())?;
        link(&format!("{directory}/device"), "../../../0000:01:00.0")?;
        link(&format!("{directory}/subsystem"), "../../../../../../class/drm")?;
        link(&format!("/sys/class/drm/{name}"), &format!("../../{device}/drm/{name}"))?;
        link(&format!("/sys/dev/char/226:{minor}"), &format!("../../{device}/drm/{name}"))?;
    }
    file("/sys/class/drm/version", b"drm 1.1.0 20060810\n")?;
    let numbers =
        [("vendor", 0x1002), ("device", id), ("subsystem_vendor", 0x1002), ("subsystem_device", 0)];
    for (name, value) in numbers {
        file(&format!("{DEVICE}/{name}"), format!("{value:#06x}\n").as_bytes())?;
    }
    file(&format!("{DEVICE}/revision"), b"0x00\n")?;
    file(&format!("{DEVICE}/class"), b"0x030000\n")?;
    file(&format!("{DEVICE}/boot_vga"), b"1\n")?;
    let event = format!(
        "DRIVER=radeon\nPCI_CLASS=30000\nPCI_ID=1002:{id:04X}\nPCI_SUBSYS_ID=1002:0000\n\
         PCI_SLOT_NAME=0000:01:00.0\n"
    );
    file(&format!("{DEVICE}/uevent"), event.as_bytes())?;
    // The PCI configuration header: vendor, device, class, and the vendor of the board.
    let mut header = [0; 64];
    header[..2].copy_from_slice(&0x1002_u16.to_le_bytes());
    header[2..4].copy_from_slice(&id.to_le_bytes());
    header[11] = 3;
    header[44..46].copy_from_slice(&0x1002_u16.to_le_bytes());
    file(&format!("{DEVICE}/config"), &header)?;
    link(&format!("{DEVICE}/driver"), "../../../../bus/pci/drivers/radeon")?;
    link(&format!("{DEVICE}/subsystem"), "../../../../bus/pci")?;
    link("/sys/bus/pci/devices/0000:01:00.0", &format!("../../../{device}"))?;
    link("/sys/bus/pci/drivers/radeon/0000:01:00.0", &format!("../../../../{device}"))?;
    let connector = format!("{DEVICE}/drm/card0/card0-DVI-D-1");
    file(&format!("{connector}/status"), b"connected\n")?;
    file(&format!("{connector}/enabled"), b"enabled\n")?;
    let [width, height] = settings.mode;
    file(&format!("{connector}/modes"), format!("{width}x{height}\n").as_bytes())?;
    link("/sys/class/drm/card0-DVI-D-1", &format!("../../{device}/drm/card0/card0-DVI-D-1"))
}
