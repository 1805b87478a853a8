//! Interposed libdrm functions that would otherwise read `/sys`.

use std::ffi::{CStr, c_char, c_int, c_uint};
use std::ptr;

use libc::dev_t;
use r500_drm::Settings;

use crate::files::open_node;
use crate::guard::guarded;
use crate::node::Node;
use crate::nodes;

/// Returns `DRM_NODE_PRIMARY` or `DRM_NODE_RENDER`; there is no `DRM_NODE_CONTROL` (1).
fn kind(node: Node) -> c_int {
    match node {
        Node::Primary => 0,
        Node::Render => 2,
        // These are not nodes of the card.
        Node::Keyboard | Node::Mouse => -1,
    }
}

fn node_of(fd: c_int) -> Option<Node> {
    guarded(None, || nodes::get(fd)).map(|open| open.node)
}

/// `drmDevice` of `xf86drm.h`, with everything that it points to.
#[repr(C)]
struct DeviceBlock {
    device: DrmDevice,
    nodes: [*const c_char; 3],
    bus: PciBus,
    id: PciDevice,
}

/// `drmDevice`
#[repr(C)]
pub(crate) struct DrmDevice {
    nodes: *const *const c_char,
    available_nodes: c_int,
    bus_type: c_int,
    bus: *const PciBus,
    id: *const PciDevice,
}

/// `drmPciBusInfo`
#[repr(C)]
struct PciBus {
    domain: u16,
    bus: u8,
    device: u8,
    function: u8,
}

/// `drmPciDeviceInfo`
#[repr(C)]
struct PciDevice {
    vendor: u16,
    device: u16,
    subvendor: u16,
    subdevice: u16,
    revision: u8,
}

/// Returns the card as a libdrm device, which [`free_device`] frees.
fn new_device() -> *mut DrmDevice {
    const ATI: u16 = 0x1002;
    const BUS_PCI: c_int = 0;
    let settings = Settings::from_variables(|name| std::env::var_os(name)).unwrap_or_default();
    let block = Box::leak(Box::new(DeviceBlock {
        device: DrmDevice {
            nodes: ptr::null(),
            available_nodes: Node::CARD.into_iter().map(|node| 1 << kind(node)).sum(),
            bus_type: BUS_PCI,
            bus: ptr::null(),
            id: ptr::null(),
        },
        nodes: [Node::Primary.path().as_ptr(), c"".as_ptr(), Node::Render.path().as_ptr()],
        bus: PciBus { domain: 0, bus: 1, device: 0, function: 0 },
        id: PciDevice {
            vendor: ATI,
            device: settings.chip.pci_id(),
            subvendor: ATI,
            subdevice: 0,
            revision: 0,
        },
    }));
    block.device.nodes = block.nodes.as_ptr();
    block.device.bus = &raw const block.bus;
    block.device.id = &raw const block.id;
    ptr::from_mut(block).cast()
}

/// # Safety
///
/// `device` is null or came from [`new_device`], and is not used again.
unsafe fn free_device(device: *mut DrmDevice) {
    if !device.is_null() {
        // SAFETY: the device is the first field of the block that was allocated for it.
        drop(unsafe { Box::from_raw(device.cast::<DeviceBlock>()) });
    }
}

/// Stores the card in `out`, or returns a negative error number.
///
/// # Safety
///
/// `out` is null or writable.
unsafe fn give_device(found: bool, out: *mut *mut DrmDevice) -> c_int {
    if out.is_null() {
        return -libc::EINVAL;
    }
    if !found {
        return -libc::ENODEV;
    }
    guarded(-libc::EIO, || {
        // SAFETY: see above.
        unsafe { *out = new_device() };
        0
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn drmGetDevice(fd: c_int, out: *mut *mut DrmDevice) -> c_int {
    // SAFETY: the caller's pointer.
    unsafe { give_device(node_of(fd).is_some(), out) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn drmGetDevice2(fd: c_int, _flags: u32, out: *mut *mut DrmDevice) -> c_int {
    // SAFETY: the caller's pointer.
    unsafe { give_device(node_of(fd).is_some(), out) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn drmGetDeviceFromDevId(
    id: dev_t,
    _flags: u32,
    out: *mut *mut DrmDevice,
) -> c_int {
    let mut numbers = Node::CARD.into_iter().map(|node| libc::makedev(node.major(), node.minor()));
    // SAFETY: the caller's pointer.
    unsafe { give_device(numbers.any(|number| number == id), out) }
}

/// Returns the only device; without a list, only the number of devices.
#[unsafe(no_mangle)]
unsafe extern "C" fn drmGetDevices2(
    _flags: u32,
    devices: *mut *mut DrmDevice,
    count: c_int,
) -> c_int {
    if !devices.is_null() && count > 0 {
        // SAFETY: the caller's list has `count` elements.
        let result = unsafe { give_device(true, devices) };
        if result < 0 {
            return result;
        }
    }
    1
}

#[unsafe(no_mangle)]
unsafe extern "C" fn drmGetDevices(devices: *mut *mut DrmDevice, count: c_int) -> c_int {
    // SAFETY: the caller's arguments.
    unsafe { drmGetDevices2(0, devices, count) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn drmFreeDevice(device: *mut *mut DrmDevice) {
    // SAFETY: the caller's pointer, to a device that a function above gave.
    unsafe {
        if let Some(device) = device.as_mut() {
            free_device(*device);
            *device = ptr::null_mut();
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn drmFreeDevices(devices: *mut *mut DrmDevice, count: c_int) {
    if devices.is_null() {
        return;
    }
    for index in 0..usize::try_from(count).unwrap_or(0) {
        // SAFETY: the caller's list has `count` elements, each null or from a function above.
        unsafe { drmFreeDevice(devices.add(index)) };
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn drmGetNodeTypeFromFd(fd: c_int) -> c_int {
    node_of(fd).map_or_else(no_device, kind)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn drmIsMaster(fd: c_int) -> c_int {
    c_int::from(node_of(fd) == Some(Node::Primary))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn drmAvailable() -> c_int {
    1
}

fn no_device() -> c_int {
    crate::guard::set_errno(r500_drm::Errno(libc::ENODEV));
    -1
}

/// Returns a path that the caller frees with `free`.
fn new_path(node: Option<Node>) -> *mut c_char {
    match node {
        // SAFETY: a C string.
        Some(node) => unsafe { libc::strdup(node.path().as_ptr()) },
        None => ptr::null_mut(),
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn drmGetDeviceNameFromFd(fd: c_int) -> *mut c_char {
    new_path(node_of(fd))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn drmGetDeviceNameFromFd2(fd: c_int) -> *mut c_char {
    new_path(node_of(fd))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn drmGetPrimaryDeviceNameFromFd(fd: c_int) -> *mut c_char {
    new_path(node_of(fd).map(|_| Node::Primary))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn drmGetRenderDeviceNameFromFd(fd: c_int) -> *mut c_char {
    new_path(node_of(fd).map(|_| Node::Render))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn drmOpen(name: *const c_char, bus: *const c_char) -> c_int {
    // SAFETY: the caller's arguments.
    unsafe { drmOpenWithType(name, bus, 0) }
}

/// Opens the card by the name of its driver, or by its bus address.
#[unsafe(no_mangle)]
unsafe extern "C" fn drmOpenWithType(
    name: *const c_char,
    bus: *const c_char,
    node_kind: c_int,
) -> c_int {
    // SAFETY: callers pass C strings or null.
    let is = |text: *const c_char, wanted: &CStr| unsafe {
        text.is_null() || CStr::from_ptr(text) == wanted
    };
    let node = Node::CARD.into_iter().find(|node| kind(*node) == node_kind);
    match node {
        Some(node) if is(name, c"radeon") && is(bus, c"pci:0000:01:00.0") => {
            open_node(node, libc::O_CLOEXEC)
        }
        _ => no_device(),
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn drmOpenRender(minor: c_int) -> c_int {
    match c_uint::try_from(minor) {
        Ok(minor) if minor == Node::Render.minor() => open_node(Node::Render, libc::O_CLOEXEC),
        _ => no_device(),
    }
}
