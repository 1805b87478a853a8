//! Tests a program with the library preloaded: each test runs a test of [`on_the_card`] in a separate process.
#![cfg(target_os = "linux")]
#![allow(unsafe_code, reason = "system calls")]
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

mod common;

use std::process::Command;

/// Runs a test of [`on_the_card`] with the library of this build.
fn run(name: &str) {
    let exe = std::env::current_exe().unwrap();
    let temporary = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let output = Command::new(&exe)
        .env("TMPDIR", temporary.path())
        .args(["--ignored", "--exact", &format!("on_the_card::{name}")])
        .env("LD_PRELOAD", common::library())
        .env("R500_CARD_CHIP", "r580")
        .env("R500_CARD_STATS", "1")
        // Draws are split for several threads, whatever the machine has.
        .env("RAYON_NUM_THREADS", "3")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{text}\n{errors}");
    // The library printed this at exit, so it was loaded.
    assert!(errors.contains("r500 card: "), "{errors}");
    assert_eq!(std::fs::read_dir(temporary).unwrap().count(), 0, "temporary files are left");
}

#[test]
fn the_node_is_a_graphics_device() {
    run("node");
}

#[test]
fn duplicates_are_the_same_open() {
    run("duplicates");
}

#[test]
fn other_files_stay_what_they_are() {
    run("others");
}

#[test]
fn mappings_and_dma_bufs_share_memory() {
    run("memory");
}

#[test]
fn a_child_has_a_card_of_its_own() {
    run("fork");
}

#[test]
fn a_child_draws_after_its_parent_drew() {
    run("fork_after_a_draw");
}

#[test]
fn a_received_descriptor_is_one_of_the_own_card() {
    run("received");
}

#[test]
fn flips_can_be_waited_for() {
    run("flip");
}

#[test]
fn files_that_describe_the_card_are_found() {
    run("files");
}

mod on_the_card {
    use std::ffi::{CStr, c_int, c_void};
    use std::io;
    use std::ptr;

    const VERSION: u64 = 0xc040_6400;
    const PRIME_HANDLE_TO_FD: u64 = 0xc00c_642d;
    const GEM_CREATE: u64 = 0xc020_645d;
    const GEM_MMAP: u64 = 0xc020_645e;
    const GEM_WAIT_IDLE: u64 = 0x4008_6464;
    const CS: u64 = 0xc020_6466;
    const INFO: u64 = 0xc010_6467;
    const DMA_BUF_SYNC: u64 = 0x4008_6200;
    const ADD_FB: u64 = 0xc01c_64ae;
    const PAGE_FLIP: u64 = 0xc018_64b0;

    fn open(path: &CStr) -> c_int {
        // SAFETY: a C string.
        let fd = unsafe { libc::open(path.as_ptr(), libc::O_RDWR | libc::O_CLOEXEC) };
        assert!(fd >= 0, "{}", io::Error::last_os_error());
        fd
    }

    /// Makes a request. Returns the error number on failure.
    fn request<const N: usize>(
        fd: c_int,
        number: u64,
        structure: &mut [u32; N],
    ) -> Result<(), i32> {
        assert!((number >> 16 & 0x3fff) as usize <= N * 4);
        // SAFETY: the structure has at least the size that the request encodes.
        let result = unsafe { libc::ioctl(fd, number, structure.as_mut_ptr()) };
        if result == 0 { Ok(()) } else { Err(io::Error::last_os_error().raw_os_error().unwrap()) }
    }

    fn is_radeon(fd: c_int) -> bool {
        let mut name = [0_u8; 6];
        let address = name.as_mut_ptr() as u64;
        let mut version = [0; 16];
        (version[4], version[6], version[7]) = (6, address as u32, (address >> 32) as u32);
        request(fd, VERSION, &mut version).is_ok() && &name == b"radeon"
    }

    fn create(fd: c_int, size: u32) -> u32 {
        let mut create = [size, 0, 0, 0, 0, 4, 0, 0];
        request(fd, GEM_CREATE, &mut create).unwrap();
        create[4]
    }

    fn map(fd: c_int, size: usize, offset: u64) -> *mut u32 {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping.
        let address = unsafe {
            libc::mmap(ptr::null_mut(), size, access, libc::MAP_SHARED, fd, offset as i64)
        };
        assert_ne!(address, libc::MAP_FAILED, "{}", io::Error::last_os_error());
        address.cast()
    }

    fn map_buffer(fd: c_int, handle: u32, size: usize) -> *mut u32 {
        let mut mmap = [handle, 0, 0, 0, size as u32, 0, 0, 0];
        request(fd, GEM_MMAP, &mut mmap).unwrap();
        map(fd, size, u64::from(mmap[7]) << 32 | u64::from(mmap[6]))
    }

    fn status(fd: c_int) -> libc::stat {
        // SAFETY: all zeros is a status; the call fills it.
        unsafe {
            let mut status = std::mem::zeroed();
            assert_eq!(libc::fstat(fd, &raw mut status), 0);
            status
        }
    }

    /// A child process opens the card and sends the descriptor, as an X server does.
    #[test]
    #[ignore = "runs with the library, started by the tests above"]
    fn received() {
        use std::io::{IoSlice, IoSliceMut};
        use std::mem::MaybeUninit;
        use std::os::fd::{AsRawFd, BorrowedFd};

        use rustix::net::{
            AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags,
            SocketType, sendmsg, socketpair,
        };

        let kind = (AddressFamily::UNIX, SocketType::STREAM, SocketFlags::empty());
        let (here, there) = socketpair(kind.0, kind.1, kind.2, None).unwrap();
        // SAFETY: the child makes system calls and ends.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let sent = open(c"/dev/dri/card0");
            // SAFETY: open until the process ends.
            let sent = [unsafe { BorrowedFd::borrow_raw(sent) }];
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
            let mut control = SendAncillaryBuffer::new(&mut space);
            assert!(control.push(SendAncillaryMessage::ScmRights(&sent)));
            let result = sendmsg(&there, &[IoSlice::new(b"x")], &mut control, SendFlags::empty());
            // SAFETY: ends this process.
            unsafe { libc::_exit(c_int::from(result != Ok(1))) };
        }
        // rustix makes the system call; programs call the C library.
        let mut space = [0_u64; 8];
        let mut byte = [0_u8];
        let mut data = IoSliceMut::new(&mut byte);
        // SAFETY: all zeros is a message without anything; buffers are there until the call returns.
        let received = unsafe {
            let mut message: libc::msghdr = std::mem::zeroed();
            message.msg_iov = ptr::from_mut(&mut data).cast();
            message.msg_iovlen = 1;
            message.msg_control = space.as_mut_ptr().cast();
            message.msg_controllen = 64;
            assert_eq!(libc::recvmsg(here.as_raw_fd(), &raw mut message, 0), 1);
            libc::CMSG_DATA(libc::CMSG_FIRSTHDR(&raw const message))
                .cast::<c_int>()
                .read_unaligned()
        };
        // This process has made no request so far.
        assert!(is_radeon(received));
        let own = open(c"/dev/dri/renderD128");
        assert!(is_radeon(own));
        assert_eq!(status(received).st_rdev, libc::makedev(226, 0));
        // Buffers of this card, which the sender's would not have.
        let handle = create(received, 4096);
        // SAFETY: a mapping of this size.
        unsafe { *map_buffer(received, handle, 4096) = 7 };
        let mut code = 0;
        // SAFETY: a number to fill.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut code, 0) }, child);
        assert_eq!(code, 0);
    }

    #[test]
    #[ignore = "runs with the library, started by the tests above"]
    fn node() {
        for (path, minor) in [(c"/dev/dri/card0", 0), (c"/dev/dri/renderD128", 128)] {
            let fd = open(path);
            assert!(is_radeon(fd));
            let (by_descriptor, by_path) = (status(fd), std::fs::metadata(path.to_str().unwrap()));
            assert_eq!(by_descriptor.st_mode & libc::S_IFMT, libc::S_IFCHR);
            assert_eq!(by_descriptor.st_rdev, libc::makedev(226, minor));
            use std::os::unix::fs::MetadataExt;
            assert_eq!(by_path.unwrap().rdev(), by_descriptor.st_rdev);
            // SAFETY: a C string.
            assert_eq!(unsafe { libc::access(path.as_ptr(), libc::R_OK | libc::W_OK) }, 0);
            let mut id = [0_u32];
            let address = id.as_mut_ptr() as u64;
            request(fd, INFO, &mut [0, 0, address as u32, (address >> 32) as u32]).unwrap();
            assert_eq!(id[0], 0x7240, "R500_CARD_CHIP=r580");
            // SAFETY: opened above.
            assert_eq!(unsafe { libc::close(fd) }, 0);
            assert_eq!(request(fd, VERSION, &mut [0; 16]), Err(libc::EBADF));
        }
    }

    #[test]
    #[ignore = "runs with the library, started by the tests above"]
    fn duplicates() {
        let first = open(c"/dev/dri/renderD128");
        let handle = create(first, 4096);
        // SAFETY: descriptors of this test.
        unsafe {
            let others = [
                libc::dup(first),
                libc::fcntl(first, libc::F_DUPFD_CLOEXEC, 100),
                libc::dup2(first, 90),
                libc::dup3(first, 91, libc::O_CLOEXEC),
            ];
            libc::close(first);
            for fd in others {
                assert!(is_radeon(fd));
                request(fd, GEM_WAIT_IDLE, &mut [handle, 0]).unwrap();
            }
            // Another open has other handles.
            let other = open(c"/dev/dri/renderD128");
            assert_eq!(request(other, GEM_WAIT_IDLE, &mut [handle, 0]), Err(libc::ENOENT));
            // A file replaces a duplicate.
            let file = open(c"/dev/zero");
            libc::dup2(file, 90);
            assert_eq!(request(90, VERSION, &mut [0; 16]), Err(libc::ENOTTY));
            assert!(is_radeon(91));
        }
    }

    #[test]
    #[ignore = "runs with the library, started by the tests above"]
    fn others() {
        let null = open(c"/dev/null");
        assert_eq!(request(null, VERSION, &mut [0; 16]), Err(libc::ENOTTY));
        assert_eq!(status(null).st_rdev, libc::makedev(1, 3));
        // A descriptor is closed without the library, and reused.
        let node = open(c"/dev/dri/card0");
        assert!(is_radeon(node));
        // SAFETY: a descriptor of this test; this is the system call of `close`.
        assert_eq!(unsafe { libc::syscall(libc::SYS_close, node) }, 0);
        let zero = open(c"/dev/zero");
        assert_eq!(zero, node);
        assert_eq!(request(zero, VERSION, &mut [0; 16]), Err(libc::ENOTTY));
        let mut bytes = [1_u8; 4];
        // SAFETY: four writable bytes.
        assert_eq!(unsafe { libc::read(zero, bytes.as_mut_ptr().cast::<c_void>(), 4) }, 4);
        assert_eq!(bytes, [0; 4]);
        assert!(std::fs::metadata("/dev/dri/card77").is_err());
    }

    #[test]
    #[ignore = "runs with the library, started by the tests above"]
    fn memory() {
        let fd = open(c"/dev/dri/renderD128");
        let handle = create(fd, 8192);
        let mapped = map_buffer(fd, handle, 8192);
        let mut prime = [handle, libc::O_CLOEXEC as u32, 0];
        request(fd, PRIME_HANDLE_TO_FD, &mut prime).unwrap();
        let shared = map(prime[2] as c_int, 8192, 0);
        // SAFETY: both mappings have 2048 dwords.
        unsafe {
            assert_eq!(mapped.add(2047).read_volatile(), 0);
            mapped.add(2047).write_volatile(0x1234_5678);
            assert_eq!(shared.add(2047).read_volatile(), 0x1234_5678);
        }
        // `DMA_BUF_IOCTL_SYNC` waits for the card. An ordinary file has no such request.
        request(prime[2] as c_int, DMA_BUF_SYNC, &mut [0, 0]).unwrap();
        assert_eq!(request(open(c"/dev/zero"), DMA_BUF_SYNC, &mut [0, 0]), Err(libc::ENOTTY));
        // There is no buffer at this offset.
        let access = libc::PROT_READ;
        // SAFETY: a new mapping, which fails.
        let none =
            unsafe { libc::mmap(ptr::null_mut(), 4096, access, libc::MAP_SHARED, fd, 1 << 40) };
        assert_eq!(none, libc::MAP_FAILED);
    }

    #[test]
    #[ignore = "runs with the library, started by the tests above"]
    fn fork() {
        let fd = open(c"/dev/dri/renderD128");
        let handle = create(fd, 4096);
        let mapped = map_buffer(fd, handle, 4096);
        // SAFETY: the child makes system calls and ends.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let fine = request(fd, GEM_WAIT_IDLE, &mut [handle, 0]) == Err(libc::ENOENT)
                && is_radeon(fd)
                && is_radeon(open(c"/dev/dri/card0"))
                && create(fd, 4096) == 1;
            // SAFETY: the mapping is shared; `_exit` does not return.
            unsafe {
                mapped.write_volatile(7);
                libc::_exit(if fine { 0 } else { 1 });
            }
        }
        let mut status = 0;
        // SAFETY: the child of this test.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0);
        request(fd, GEM_WAIT_IDLE, &mut [handle, 0]).unwrap();
        // SAFETY: a dword of the mapping.
        assert_eq!(unsafe { mapped.read_volatile() }, 7);
    }

    /// Bytes of the picture of `triangle.bin`: 256x256 pixels.
    const PICTURE: usize = 256 * 256 * 4;

    /// Draws a triangle in a new buffer. Returns its pixels.
    fn draw_triangle(fd: c_int) -> Vec<u32> {
        let handle = create(fd, PICTURE as u32);
        let pixels = map_buffer(fd, handle, PICTURE);
        let stream = include_bytes!("triangle.bin");
        let words: Vec<u32> =
            stream.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect();
        // Written in VRAM.
        let relocation = [handle, 0, 4, 0];
        let address = |data: &[u32]| {
            let address = data.as_ptr() as u64;
            [address as u32, (address >> 32) as u32]
        };
        let chunk = |id: u32, data: &[u32]| {
            let [low, high] = address(data);
            [id, data.len() as u32, low, high]
        };
        let (commands, relocations) = (chunk(2, &words), chunk(1, &relocation));
        let [[a, b], [c, d]] = [address(&commands), address(&relocations)];
        let list = [a, b, c, d];
        let [low, high] = address(&list);
        request(fd, CS, &mut [2, 0, low, high, 0, 0, 0, 0]).unwrap();
        request(fd, GEM_WAIT_IDLE, &mut [handle, 0]).unwrap();
        // SAFETY: the mapping has this size, and the card is idle.
        unsafe { std::slice::from_raw_parts(pixels, PICTURE / 4).to_vec() }
    }

    #[test]
    #[ignore = "runs with the library, started by the tests above"]
    fn fork_after_a_draw() {
        let fd = open(c"/dev/dri/renderD128");
        let expected = draw_triangle(fd);
        assert!(expected.iter().any(|pixel| *pixel != expected[0]), "there is a triangle");
        // SAFETY: the child draws and ends; without a draw that ends, `alarm` ends it.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // SAFETY: as above.
            unsafe { libc::alarm(60) };
            let fine = draw_triangle(fd) == expected
                && draw_triangle(open(c"/dev/dri/renderD128")) == expected;
            // SAFETY: `_exit` does not return.
            unsafe { libc::_exit(if fine { 0 } else { 1 }) };
        }
        let mut status = 0;
        // SAFETY: the child of this test.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0, "status {status:#x}");
        assert_eq!(draw_triangle(fd), expected);
    }

    #[test]
    #[ignore = "runs with the library, started by the tests above"]
    fn flip() {
        let fd = open(c"/dev/dri/card0");
        let handle = create(fd, 4096);
        let mut fb = [0, 4, 4, 16, 32, 24, handle];
        request(fd, ADD_FB, &mut fb).unwrap();
        let mut poll = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        // SAFETY: one descriptor.
        assert_eq!(unsafe { libc::poll(&raw mut poll, 1, 0) }, 0, "there was no flip");
        request(fd, PAGE_FLIP, &mut [1, fb[0], 1, 0, 5, 6]).unwrap();
        // SAFETY: one descriptor; 64 writable bytes.
        unsafe {
            assert_eq!(libc::poll(&raw mut poll, 1, 1000), 1);
            let mut event = [0_u32; 16];
            assert_eq!(libc::read(fd, event.as_mut_ptr().cast::<c_void>(), 64), 32);
            assert_eq!(event[..4], [2, 32, 5, 6]);
        }
    }

    #[test]
    #[ignore = "runs with the library, started by the tests above"]
    fn files() {
        use std::fs;
        use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
        use std::os::unix::fs::FileTypeExt;

        let names = |path: &str| -> Vec<_> {
            let entries = fs::read_dir(path).unwrap();
            let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
            names.sort();
            names
        };
        assert_eq!(names("/dev/dri"), ["by-path", "card0", "renderD128"]);
        assert_eq!(names("/sys/dev/char/226:0/device/drm"), ["card0", "renderD128"]);
        let text = |path| fs::read_to_string(path).unwrap();
        assert_eq!(text("/sys/class/drm/card0/device/device"), "0x7240\n");
        assert_eq!(text("/sys/bus/pci/devices/0000:01:00.0/vendor"), "0x1002\n");
        assert_eq!(text("/sys/dev/char/226:128/dev"), "226:128\n");
        let driver = fs::read_link("/sys/class/drm/card0/device/driver").unwrap();
        assert_eq!(driver.file_name().unwrap(), "radeon");
        let driver = fs::canonicalize("/sys/class/drm/renderD128/device/driver").unwrap();
        assert_eq!(driver.to_str(), Some("/sys/bus/pci/drivers/radeon"));

        // Other names of the node.
        let link = "/dev/dri/by-path/pci-0000:01:00.0-card";
        assert_eq!(fs::canonicalize(link).unwrap().to_str(), Some("/dev/dri/card0"));
        assert!(fs::metadata(link).unwrap().file_type().is_char_device());
        for path in [link, "/dev/dri/../dri/card0"] {
            let node = fs::OpenOptions::new().read(true).write(true).open(path).unwrap();
            assert!(is_radeon(node.as_raw_fd()), "{path}");
            let link = fs::read_link(format!("/proc/self/fd/{}", node.as_raw_fd())).unwrap();
            assert_eq!(link.to_str(), Some("/dev/dri/card0"));
        }
        let directory = fs::File::open("/dev/dri").unwrap();
        // SAFETY: a C string; the descriptor is new.
        let node = unsafe {
            let fd = libc::openat(directory.as_raw_fd(), c"renderD128".as_ptr(), libc::O_RDWR);
            assert!(fd >= 0, "{}", io::Error::last_os_error());
            OwnedFd::from_raw_fd(fd)
        };
        assert!(is_radeon(node.as_raw_fd()));
        // As libudev finds devices: by the list of classes, and by a walk from the root, folder by folder.
        let classes = names("/sys/class");
        assert!(classes.contains(&"drm".into()) && classes.contains(&"mem".into()), "{classes:?}");
        let walk = |path: &str| {
            let mut at: OwnedFd = fs::File::open("/").unwrap().into();
            for name in path.split('/') {
                let name = std::ffi::CString::new(name).unwrap();
                let flags = libc::O_PATH | libc::O_NOFOLLOW | libc::O_CLOEXEC;
                // SAFETY: a C string; the descriptor is new.
                at = unsafe {
                    let fd = libc::openat(at.as_raw_fd(), name.as_ptr(), flags);
                    assert!(fd >= 0, "{name:?} of {path}: {}", io::Error::last_os_error());
                    OwnedFd::from_raw_fd(fd)
                };
            }
            at
        };
        let class = walk("sys/class/drm");
        let mut link = [0_u8; 100];
        // SAFETY: a C string, and a buffer of this size.
        let length = unsafe {
            let to = link.as_mut_ptr().cast();
            libc::readlinkat(class.as_raw_fd(), c"card0".as_ptr(), to, link.len())
        };
        let link = std::str::from_utf8(&link[..usize::try_from(length).unwrap()]).unwrap();
        let device = link.strip_prefix("../../").unwrap();
        assert_eq!(device, "devices/pci0000:00/0000:00:01.0/0000:01:00.0/drm/card0");
        let device = walk(&format!("sys/{device}"));
        // SAFETY: all zeros is a status; the call fills it.
        let file_system = unsafe {
            let mut status: libc::statfs = std::mem::zeroed();
            assert_eq!(libc::fstatfs(device.as_raw_fd(), &raw mut status), 0);
            status.f_type
        };
        // SYSFS_MAGIC
        assert_eq!(file_system, 0x6265_6572);

        // Other directories are unchanged, and missing files stay missing.
        assert!(fs::metadata("/dev/dri/card1").is_err());
        assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
        assert!(names("/dev").contains(&"null".into()));
    }
}
