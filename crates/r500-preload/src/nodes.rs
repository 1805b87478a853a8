//! The table of descriptors of the card.

use std::ffi::c_int;
use std::os::fd::{AsRawFd, BorrowedFd, IntoRawFd};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Arc, Once, OnceLock};

use crate::inherited;
use crate::inputs;
use crate::machine;
use crate::node::Node;
use r500_drm::{Device, Errno, EventQueue, File, Settings, log};

/// An open file description of a node, shared by its duplicates. It is never freed, because another thread may use it
/// while it is closed.
#[derive(Debug)]
pub(crate) struct Open {
    pub(crate) node: Node,
    /// Device and inode number of the program's end of the event queue, by which descriptors are recognised.
    identity: (u64, u64),
    events: Arc<EventQueue>,
    file: OnceLock<File>,
    descriptors: AtomicUsize,
}

impl Open {
    fn new(node: Node, identity: (u64, u64), events: EventQueue) -> &'static Self {
        Box::leak(Box::new(Self {
            node,
            identity,
            events: Arc::new(events),
            file: OnceLock::new(),
            descriptors: AtomicUsize::new(0),
        }))
    }

    /// Returns the open file of this process's card.
    pub(crate) fn file(&self) -> Result<&File, Errno> {
        if let Some(file) = self.file.get() {
            return Ok(file);
        }
        let device = device().ok_or(Errno(libc::ENODEV))?;
        Ok(self.file.get_or_init(|| device.open(Arc::clone(&self.events))))
    }
}

/// Descriptors of the card are less than this.
const DESCRIPTORS: usize = 1 << 16;

static OPENS: [AtomicPtr<Open>; DESCRIPTORS] =
    [const { AtomicPtr::new(ptr::null_mut()) }; DESCRIPTORS];

/// The card of a process. A child process gets a new one.
#[derive(Debug, Default)]
struct Card(OnceLock<Option<Arc<Device>>>);

static CARD: AtomicPtr<Card> = AtomicPtr::new(ptr::null_mut());

fn card() -> &'static Card {
    let mut card = CARD.load(Ordering::Acquire);
    if card.is_null() {
        let new = Box::into_raw(Box::<Card>::default());
        let old = CARD.compare_exchange(ptr::null_mut(), new, Ordering::AcqRel, Ordering::Acquire);
        card = old.map_or_else(|first| first, |_| new);
    }
    // SAFETY: not null, and never freed.
    unsafe { &*card }
}

/// Returns the card of this process; `None` if its settings are invalid, which was reported then.
fn device() -> Option<&'static Arc<Device>> {
    let device = card().0.get_or_init(|| {
        watch_process();
        let settings = match Settings::from_variables(|name| std::env::var_os(name)) {
            Ok(settings) => settings,
            Err(error) => {
                log::print(&error.to_string());
                return None;
            }
        };
        let machine = match machine::new(&settings) {
            Ok(machine) => machine,
            Err(error) => {
                log::print(&error);
                return None;
            }
        };
        match Device::new(settings, machine) {
            Ok(device) => Some(device),
            Err(Errno(number)) => {
                log::print(&format!("no thread for the card: error {number}"));
                None
            }
        }
    });
    device.as_ref()
}

/// Registers the handlers for fork and exit, once for a process and its children.
pub(crate) fn watch_process() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the handlers have no preconditions and stay loaded: a library that defines functions of the C library
        // for the program is never unloaded.
        unsafe {
            libc::pthread_atfork(None, None, Some(after_fork));
            libc::atexit(at_exit);
        }
    });
}

/// Gives a child process its own card, created at its first request, with no buffers. The parent's mappings stay
/// shared, but the child cannot use the parent's handles, thread and locks.
extern "C" fn after_fork() {
    CARD.store(ptr::null_mut(), Ordering::Release);
    let mut renewed: Vec<(*mut Open, &'static Open)> = Vec::new();
    for slot in &OPENS {
        let old = slot.load(Ordering::Acquire);
        if old.is_null() {
            continue;
        }
        let known = renewed.iter().find(|(before, _)| *before == old).map(|(_, after)| *after);
        let new = known.unwrap_or_else(|| {
            // SAFETY: not null, and never freed.
            let before = unsafe { &*old };
            let new = Open::new(before.node, before.identity, before.events.after_fork());
            renewed.push((old, new));
            new
        });
        new.descriptors.fetch_add(1, Ordering::Relaxed);
        slot.store(ptr::from_ref(new).cast_mut(), Ordering::Release);
    }
}

/// The exit status of a program whose frames or capture could not be written: that of the command for a failed output.
const COULD_NOT_WRITE: c_int = 3;

extern "C" fn at_exit() {
    let failed = crate::guard::guarded(false, || match existing_device() {
        Some(device) => {
            device.finish().iter().for_each(|line| log::print(line));
            device.has_failed()
        }
        None => false,
    });
    if failed {
        // SAFETY: no precondition. The C library continues with the handlers that remain, and with this status.
        unsafe { libc::exit(COULD_NOT_WRITE) }
    }
}

/// Completes the capture of this process, which ends without its exit handlers.
fn complete_capture() {
    crate::guard::guarded((), || {
        if let Some(device) = existing_device() {
            device.finish_capture();
        }
    });
}

/// Defines functions that end the process at once.
macro_rules! ends {
    ($($name:ident)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(status: c_int) -> ! {
            complete_capture();
            loop {
                // SAFETY: the system call of this function; it does not return.
                unsafe { libc::syscall(libc::SYS_exit_group, status) };
            }
        }
    )*};
}

ends! { _exit _Exit }

/// Returns the card of this process, if it has received a request.
pub(crate) fn existing_device() -> Option<&'static Arc<Device>> {
    card().0.get()?.as_ref()
}

/// Adopts the descriptors that the program before `exec` opened: each becomes a new open file of this process's card. Buffers stay
/// with the program before.
fn adopt_inherited() {
    static DONE: AtomicBool = AtomicBool::new(false);
    // The search itself uses descriptors.
    if DONE.swap(true, Ordering::AcqRel) {
        return;
    }
    for descriptor in inherited::open_descriptors() {
        // SAFETY: borrowed for a call, which fails if it is not open; not -1.
        let borrowed = unsafe { BorrowedFd::borrow_raw(descriptor) };
        let Some(node) = inherited::marked(borrowed) else { continue };
        // Event devices stay as they are.
        if node.input().is_some() {
            continue;
        }
        match adopt(descriptor, borrowed, node) {
            Ok(()) => log::print_once(
                "a descriptor of the card was opened by the program before exec: handles of buffers from then are unknown",
            ),
            Err(Errno(number)) => log::print(&format!(
                "descriptor {descriptor} of the card, which the program before exec opened, cannot be used: error {number}"
            )),
        }
    }
}

/// Adopts a descriptor that another process sent, if it is one of a card: it becomes an open file of this process's card.
pub(crate) fn adopt_received(descriptor: c_int) {
    // SAFETY: the kernel has just made it; not -1.
    let borrowed = unsafe { BorrowedFd::borrow_raw(descriptor) };
    let node = inherited::marked(borrowed).filter(|node| node.input().is_none());
    // First, as in `open`; the search finds the descriptor, if it has not been done.
    if let Some(node) = node
        && get(descriptor).is_none()
        && let Err(Errno(number)) = adopt(descriptor, borrowed, node)
    {
        log::print(&format!(
            "descriptor {descriptor} of the card, which another process sent, cannot be used: error {number}"
        ));
    }
}

/// Replaces an inherited descriptor by one with an event queue of this process.
fn adopt(descriptor: c_int, old: BorrowedFd<'_>, node: Node) -> Result<(), Errno> {
    let (new, events) = EventQueue::new()?;
    inherited::mark(&new, node)?;
    rustix::fs::fcntl_setfl(&new, rustix::fs::fcntl_getfl(old)?)?;
    let flags = rustix::io::fcntl_getfd(old)?;
    let stat = rustix::fs::fstat(&new)?;
    let flags = if flags.contains(rustix::io::FdFlags::CLOEXEC) { libc::O_CLOEXEC } else { 0 };
    // SAFETY: both are open. The program's descriptor keeps its number.
    if unsafe { libc::dup3(new.as_raw_fd(), descriptor, flags) } < 0 {
        return Err(Errno(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EBADF)));
    }
    alias(descriptor, Open::new(node, (stat.st_dev, stat.st_ino), events));
    Ok(())
}

/// Returns the open file description of a descriptor.
pub(crate) fn get(descriptor: c_int) -> Option<&'static Open> {
    adopt_inherited();
    let slot = OPENS.get(usize::try_from(descriptor).ok()?)?;
    let open = slot.load(Ordering::Acquire);
    if open.is_null() {
        return None;
    }
    // SAFETY: not null, and never freed.
    let open = unsafe { &*open };
    // SAFETY: not -1, for it indexes the table; borrowed for one call, which fails if it is closed.
    let borrowed = unsafe { BorrowedFd::borrow_raw(descriptor) };
    if !rustix::fs::fstat(borrowed).is_ok_and(|stat| (stat.st_dev, stat.st_ino) == open.identity) {
        // The descriptor was closed by an uninterposed call (such as `close_range`) and is in use again.
        remove(descriptor);
        return None;
    }
    Some(open)
}

/// Opens a node of the card. The descriptor is the program's end of an event queue.
pub(crate) fn open(node: Node, flags: c_int) -> Result<c_int, Errno> {
    // First: the search takes every descriptor with a mark for one of the program before `exec`.
    adopt_inherited();
    let (descriptor, events) = EventQueue::new()?;
    inherited::mark(&descriptor, node)?;
    let stat = rustix::fs::fstat(&descriptor)?;
    if flags & libc::O_CLOEXEC == 0 {
        rustix::io::fcntl_setfd(&descriptor, rustix::io::FdFlags::empty())?;
    }
    if flags & libc::O_NONBLOCK != 0 {
        rustix::fs::fcntl_setfl(&descriptor, rustix::fs::OFlags::NONBLOCK)?;
    }
    let descriptor = descriptor.into_raw_fd();
    alias(descriptor, Open::new(node, (stat.st_dev, stat.st_ino), events));
    Ok(descriptor)
}

/// Returns the node of a descriptor.
pub(crate) fn node(descriptor: c_int) -> Option<Node> {
    get(descriptor).map(|open| open.node).or_else(|| inputs::node(descriptor))
}

/// Registers a descriptor as a duplicate of an open file description.
pub(crate) fn alias(descriptor: c_int, open: &'static Open) {
    remove(descriptor);
    let index = usize::try_from(descriptor).ok();
    if let Some(slot) = index.and_then(|index| OPENS.get(index)) {
        open.descriptors.fetch_add(1, Ordering::Relaxed);
        slot.store(ptr::from_ref(open).cast_mut(), Ordering::Release);
    }
}

/// Removes a closed descriptor.
pub(crate) fn remove(descriptor: c_int) {
    let index = usize::try_from(descriptor).ok();
    let Some(slot) = index.and_then(|index| OPENS.get(index)) else { return };
    if slot.load(Ordering::Relaxed).is_null() {
        return;
    }
    let open = slot.swap(ptr::null_mut(), Ordering::AcqRel);
    if open.is_null() {
        return;
    }
    // SAFETY: not null, and never freed.
    let open = unsafe { &*open };
    if open.descriptors.fetch_sub(1, Ordering::AcqRel) == 1 {
        open.events.close();
        if let Some(file) = open.file.get() {
            file.release();
        }
    }
}
