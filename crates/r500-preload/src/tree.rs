//! Files of `/dev/dri`, `/dev/input` and `/sys` that describe the card, for programs that read them: a copy in a temporary directory
//! of this process, to which paths are translated.
//!
//! Links in the copy are relative, as in `/sys`, so that the kernel follows them within the copy.
//!
//! The copy is removed when its process exits, and when a signal ends the process for which the program has no handler.
//! After `SIGKILL` or a crash it stays until another process makes a copy: its name has the number of its process.

use std::ffi::{CStr, CString, OsStr, OsString, c_char, c_int};
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::symlink;
use std::path::{Component, Path, PathBuf};
use std::ptr;
use std::sync::OnceLock;

use r500_drm::{InputDevice, Settings, log, mode_sizes};
use rustix::fs::{Access, Mode, OFlags};

use crate::guard::guarded;
use crate::inputs;
use crate::node::Node;

/// Translated paths: these directories and everything below them.
const ROOTS: [&str; 9] = [
    "/dev/dri",
    "/sys/class/drm",
    "/sys/dev/char/226:0",
    "/sys/dev/char/226:128",
    "/sys/bus/pci/devices/0000:01:00.0",
    "/run/udev/data/c226:0",
    "/run/udev/data/c226:128",
    "/run/udev/data/+drm:card0-DVI-D-1",
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

/// Translated paths if the card has a keyboard and a mouse.
const INPUT_ROOTS: [&str; 7] = [
    "/dev/input",
    "/sys/class/input",
    "/sys/dev/char/13:64",
    "/sys/dev/char/13:65",
    INPUTS,
    "/run/udev/data/c13:64",
    "/run/udev/data/c13:65",
];

/// The path of keyboard and mouse among the devices.
const INPUTS: &str = "/sys/devices/virtual/input";

/// Returns whether a path is one of the card's, or of its keyboard and mouse.
fn is_of_card(path: &[u8]) -> bool {
    let below = |root: &&str| {
        let rest = path.strip_prefix(root.as_bytes());
        rest.is_some_and(|rest| matches!(rest, [] | [b'/', ..]))
    };
    ROOTS.iter().any(&below) || (INPUT_ROOTS.iter().any(below) && inputs::are_there())
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
    if !is_of_card(path) && !is_missing(path) {
        return None;
    }
    if Node::ALL.into_iter().any(|node| node.path().to_bytes() == path) {
        return Some(c"/dev/null".to_owned());
    }
    copied(path)
}

/// Returns a path in the copy.
fn copied(path: &[u8]) -> Option<CString> {
    guarded(None, || {
        let copy = COPY.get_or_init(make).as_ref()?;
        CString::new([copy.directory.as_os_str().as_bytes(), path].concat()).ok()
    })
}

/// Returns whether a path leads to the card, and the system does not have it.
fn is_missing(path: &[u8]) -> bool {
    let above = ROOTS.iter().any(|root| {
        let rest = root.as_bytes().strip_prefix(path);
        rest.is_some_and(|rest| rest.starts_with(b"/")) && !path.is_empty()
    });
    // A system call: the function of the C library is interposed.
    above && rustix::fs::access(path, Access::EXISTS).is_err()
}

/// As [`translated`], for a path relative to an open directory.
///
/// # Safety
///
/// As for [`translated`].
pub(crate) unsafe fn translated_at(directory: c_int, path: *const c_char) -> Option<CString> {
    if path.is_null() {
        return None;
    }
    // SAFETY: see above.
    let text = unsafe { CStr::from_ptr(path) }.to_bytes();
    if directory < 0 || text.is_empty() || text.starts_with(b"/") {
        // SAFETY: as this function's.
        return unsafe { translated(path) };
    }
    guarded(None, || {
        let place = fs::read_link(format!("/proc/self/fd/{directory}")).ok()?;
        let relevant = [Path::new("/sys"), Path::new("/dev"), Path::new("/run")];
        if place != Path::new("/") && !relevant.iter().any(|root| place.starts_with(root)) {
            return None;
        }
        let mut whole = place;
        for part in Path::new(OsStr::from_bytes(text)).components() {
            match part {
                Component::ParentDir => drop(whole.pop()),
                Component::Normal(name) => whole.push(name),
                _ => {}
            }
        }
        let whole = CString::new(whole.into_os_string().into_vec()).ok()?;
        // SAFETY: a C string.
        unsafe { translated(whole.as_ptr()) }
    })
}

/// Folders that the copy has with all entries of the system's: their lists have the card, and what is not the card's is a link to the
/// system's.
const LISTED: [&str; 2] = ["/sys/class", "/sys/bus/pci/devices"];

/// Returns the path of a folder whose entries are read: as [`translated`], and the copy of a folder that the card is in.
///
/// # Safety
///
/// As for [`translated`].
pub(crate) unsafe fn listed(path: *const c_char) -> Option<CString> {
    if path.is_null() {
        return None;
    }
    // SAFETY: see above.
    let text = unsafe { CStr::from_ptr(path) }.to_bytes();
    let trimmed = text.strip_suffix(b"/").unwrap_or(text);
    if LISTED.iter().any(|folder| folder.as_bytes() == trimmed) {
        return copied(trimmed);
    }
    // SAFETY: as this function's.
    unsafe { translated(path) }
}

/// Returns the original of a path in the copy.
pub(crate) fn original(path: &Path) -> Option<&Path> {
    let copy = COPY.get()?.as_ref()?;
    let path = path.as_os_str().as_bytes();
    let rest = path.strip_prefix(copy.directory.as_os_str().as_bytes())?;
    Some(Path::new(OsStr::from_bytes(rest)))
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
    let text_bytes = text.to_bytes();
    let may_be = text_bytes.starts_with(b"/dev/dri/") || text_bytes.starts_with(b"/dev/input/");
    if !may_be || !is_of_card(text_bytes) {
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
        let path = fs::canonicalize(Path::new(OsStr::from_bytes(copy.to_bytes()))).ok()?;
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
extern "C" fn remove_and_end(signal: c_int) {
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
        true => Ok(PathBuf::from(OsString::from_vec(path.into_bytes()))),
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
    // What `udevd` knows of devices: that they are complete, and belong to the seat.
    for (name, tags) in [
        ("c226:0", "G:seat\nG:master-of-seat\nQ:seat\nQ:master-of-seat\n"),
        ("c226:128", ""),
        ("+drm:card0-DVI-D-1", ""),
    ] {
        file(&format!("/run/udev/data/{name}"), format!("I:1\n{tags}V:1\n").as_bytes())?;
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
    file(&format!("{connector}/uevent"), b"DEVTYPE=drm_connector\n")?;
    link(&format!("{connector}/device"), "../../card0")?;
    link(&format!("{connector}/subsystem"), "../../../../../../../class/drm")?;
    let modes = mode_sizes(settings.mode).into_iter();
    let modes: String = modes.map(|[width, height]| format!("{width}x{height}\n")).collect();
    file(&format!("{connector}/modes"), modes.as_bytes())?;
    link("/sys/class/drm/card0-DVI-D-1", &format!("../../{device}/drm/card0/card0-DVI-D-1"))?;
    if settings.input.is_some() {
        fill_inputs(&file, &link)?;
    }
    LISTED.iter().try_for_each(|folder| link_entries(folder, copy))
}

/// Links the entries that the system has in a folder, and the copy does not.
fn link_entries(folder: &str, copy: &Path) -> io::Result<()> {
    // Without this folder there is none.
    let Ok(entries) = system_entries(folder) else { return Ok(()) };
    let into = copy.join(folder.trim_start_matches('/'));
    for name in entries {
        let link = into.join(&name);
        if fs::symlink_metadata(&link).is_err() {
            symlink(Path::new(folder).join(name), link)?;
        }
    }
    Ok(())
}

/// Returns the names in a folder of the system, by system calls: functions of the C library are interposed, and would wait for the copy
/// that is being made.
fn system_entries(folder: &str) -> io::Result<Vec<OsString>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = rustix::fs::open(folder, flags, Mode::empty())?;
    let mut names = Vec::new();
    for entry in rustix::fs::Dir::new(folder)? {
        let name = entry?.file_name().to_bytes().to_owned();
        if name != b"." && name != b".." {
            names.push(OsString::from_vec(name));
        }
    }
    Ok(names)
}

/// Writes the files of keyboard and mouse: devices without a bus, and what `udevd` would have found out about them.
fn fill_inputs(
    file: &impl Fn(&str, &[u8]) -> io::Result<()>,
    link: &impl Fn(&str, &str) -> io::Result<()>,
) -> io::Result<()> {
    for (number, node) in Node::INPUTS.into_iter().enumerate() {
        let Some(device) = node.input() else { continue };
        let (event, minor) = (format!("event{number}"), node.minor());
        let input = format!("{INPUTS}/input{number}");
        file(&format!("/dev/input/{event}"), b"")?;
        file(&format!("{input}/name"), format!("{}\n", device.name()).as_bytes())?;
        let properties = format!("PRODUCT=6/1002/{}/1\nNAME=\"{}\"\n", number + 1, device.name());
        file(&format!("{input}/uevent"), properties.as_bytes())?;
        for (name, kind) in [("ev", 0), ("key", 1), ("rel", 2), ("abs", 3), ("led", 0x11)] {
            let set = words(&device.codes(kind));
            file(&format!("{input}/capabilities/{name}"), format!("{set}\n").as_bytes())?;
        }
        file(&format!("{input}/properties"), b"0\n")?;
        link(&format!("{input}/subsystem"), "../../../../class/input")?;
        let directory = format!("{input}/{event}");
        file(&format!("{directory}/dev"), format!("13:{minor}\n").as_bytes())?;
        let properties = format!("MAJOR=13\nMINOR={minor}\nDEVNAME=input/{event}\n");
        file(&format!("{directory}/uevent"), properties.as_bytes())?;
        link(&format!("{directory}/device"), &format!("../../input{number}"))?;
        link(&format!("{directory}/subsystem"), "../../../../../class/input")?;
        let place = directory.trim_start_matches("/sys/");
        link(&format!("/sys/class/input/{event}"), &format!("../../{place}"))?;
        link(&format!("/sys/dev/char/13:{minor}"), &format!("../../{place}"))?;
        let kind = match device {
            InputDevice::Keyboard => "E:ID_INPUT_KEY=1\nE:ID_INPUT_KEYBOARD=1\n",
            InputDevice::Mouse => "E:ID_INPUT_MOUSE=1\n",
        };
        let data = format!("I:1\nE:ID_INPUT=1\n{kind}G:seat\nQ:seat\nV:1\n");
        file(&format!("/run/udev/data/c13:{minor}"), data.as_bytes())?;
    }
    Ok(())
}

/// Returns a set of codes as `/sys` has it: longs in hexadecimal, the highest first.
fn words(codes: &[u16]) -> String {
    let last = codes.iter().max().map_or(0, |last| usize::from(*last) / 64);
    let mut words = [0_u64; 0x300 / 64];
    for code in codes {
        words[usize::from(code / 64)] |= 1 << (code % 64);
    }
    let words: Vec<String> = words[..=last].iter().rev().map(|word| format!("{word:x}")).collect();
    words.join(" ")
}
