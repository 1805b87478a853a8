//! Requests by number: the table of what the device answers.

use bytemuck::Pod;

use crate::abi::{
    Auth, Cap, CommandStream, Connector, CreateDumb, Crtc, DRM_TYPE, DestroyDumb, Encoder,
    FrameBuffer, FrameBuffer2, FrameBufferDirty, FrameBufferId, GemBusy, GemClose, GemCreate,
    GemFlink, GemInfo, GemMmap, GemOp, GemOpen, GemSetDomain, GemTiling, GemWaitIdle, Info,
    MapDumb, PageFlip, PrimeHandle, RequestNumber, SetObjectProperty, SetPlane, SetProperty,
    SetVersion, Stats, Unique, Version,
};
use crate::{Errno, File, Program, log};

/// A request with its argument.
struct Call<'p> {
    program: &'p Program,
    number: RequestNumber,
    argument: u64,
}

impl Call<'_> {
    /// Answers a request with the address of a structure as argument. As in the kernel, the request number has the size
    /// of the program's structure; the rest of the input is zero.
    fn answer<T: Pod>(&self, f: impl FnOnce(&mut T) -> Result<(), Errno>) -> Result<(), Errno> {
        let size = self.number.size();
        let mut value = if self.number.passes_in() {
            self.program.read_prefix(self.argument, size)?
        } else {
            T::zeroed()
        };
        f(&mut value)?;
        if self.number.passes_out() {
            self.program.write_prefix(self.argument, &value, size)?;
        }
        Ok(())
    }
}

/// Answers a request of a file.
type Answer = fn(&File, &Call<'_>) -> Result<(), Errno>;

/// A request: its number, its name in the kernel's headers without `DRM_IOCTL_`, its handler.
struct Request {
    number: u32,
    name: &'static str,
    answer: Answer,
}

const fn request(number: u32, name: &'static str, answer: Answer) -> Request {
    Request { number, name, answer }
}

/// All requests of `drm.h`, `drm_mode.h` and `radeon_drm.h` that programs send to a driver with kernel mode setting, in order of their numbers.
/// The structure that a handler takes is that of the headers.
#[rustfmt::skip]
const REQUESTS: &[Request] = &[
    request(0x00, "VERSION", |_, call| call.answer(|v: &mut Version| File::version(call.program, v))),
    request(0x01, "GET_UNIQUE", |_, call| call.answer(|v: &mut Unique| File::unique(call.program, v))),
    // Every file has all permissions.
    request(0x02, "GET_MAGIC", |_, call| call.answer(|v: &mut Auth| { v.magic = 1; Ok(()) })),
    request(0x03, "IRQ_BUSID", unanswered),
    request(0x04, "GET_MAP", unanswered),
    request(0x05, "GET_CLIENT", |_, call| call.answer(File::get_client)),
    request(0x06, "GET_STATS", |_, call| call.answer(|v: &mut Stats| { v.count = 0; Ok(()) })),
    request(0x07, "SET_VERSION", |_, call| call.answer(|v: &mut SetVersion| {
        *v = SetVersion { di_major: 1, di_minor: 4, dd_major: 2, dd_minor: 50 };
        Ok(())
    })),
    request(0x09, "GEM_CLOSE", |file, call| call.answer(|v: &mut GemClose| file.gem_close(v))),
    request(0x0a, "GEM_FLINK", |file, call| call.answer(|v: &mut GemFlink| file.gem_flink(v))),
    request(0x0b, "GEM_OPEN", |file, call| call.answer(|v: &mut GemOpen| file.gem_open(v))),
    request(0x0c, "GET_CAP", |_, call| call.answer(|v: &mut Cap| { File::get_cap(v); Ok(()) })),
    request(0x0d, "SET_CLIENT_CAP", |file, call| call.answer(|v: &mut Cap| file.set_client_cap(v))),
    request(0x11, "AUTH_MAGIC", accepted),
    request(0x1e, "SET_MASTER", accepted),
    request(0x1f, "DROP_MASTER", accepted),
    request(0x2d, "PRIME_HANDLE_TO_FD", |file, call| call.answer(|v: &mut PrimeHandle| file.prime_handle_to_fd(v))),
    request(0x2e, "PRIME_FD_TO_HANDLE", |file, call| call.answer(|v: &mut PrimeHandle| file.prime_fd_to_handle(call.program, v))),
    request(0x3a, "WAIT_VBLANK", |file, call| call.answer(|v| file.wait_vblank(v))),
    request(0x3b, "CRTC_GET_SEQUENCE", |file, call| call.answer(|v| file.get_sequence(v))),
    request(0x3c, "CRTC_QUEUE_SEQUENCE", |file, call| call.answer(|v| file.queue_sequence(v))),
    request(0x5c, "RADEON_GEM_INFO", |_, call| call.answer(|v: &mut GemInfo| { File::gem_info(v); Ok(()) })),
    request(0x5d, "RADEON_GEM_CREATE", |file, call| call.answer(|v: &mut GemCreate| file.gem_create(v))),
    request(0x5e, "RADEON_GEM_MMAP", |file, call| call.answer(|v: &mut GemMmap| file.gem_mmap(v))),
    // The kernel's driver has no code for these two either.
    request(0x61, "RADEON_GEM_PREAD", |_, _| Err(Errno::NOSYS)),
    request(0x62, "RADEON_GEM_PWRITE", |_, _| Err(Errno::NOSYS)),
    request(0x63, "RADEON_GEM_SET_DOMAIN", |file, call| call.answer(|v: &mut GemSetDomain| file.gem_set_domain(v))),
    request(0x64, "RADEON_GEM_WAIT_IDLE", |file, call| call.answer(|v: &mut GemWaitIdle| file.gem_wait_idle(v))),
    request(0x65, "RADEON_GEM_UNMAP", unanswered),
    request(0x66, "RADEON_CS", |file, call| call.answer(|v: &mut CommandStream| file.command_stream(call.program, v))),
    request(0x67, "RADEON_INFO", |file, call| call.answer(|v: &mut Info| file.radeon_info(call.program, v))),
    request(0x68, "RADEON_GEM_SET_TILING", |file, call| call.answer(|v: &mut GemTiling| file.gem_set_tiling(v))),
    request(0x69, "RADEON_GEM_GET_TILING", |file, call| call.answer(|v: &mut GemTiling| file.gem_get_tiling(v))),
    request(0x6a, "RADEON_GEM_BUSY", |file, call| call.answer(|v: &mut GemBusy| file.gem_busy(v))),
    // The card has no virtual memory, and so no memory of programs.
    request(0x6b, "RADEON_GEM_VA", |_, _| Err(Errno::INVAL)),
    request(0x6c, "RADEON_GEM_OP", |file, call| call.answer(|v: &mut GemOp| file.gem_op(v))),
    request(0x6d, "RADEON_GEM_USERPTR", |_, _| Err(Errno::INVAL)),
    request(0xa0, "MODE_GETRESOURCES", |file, call| call.answer(|v| file.get_resources(call.program, v))),
    request(0xa1, "MODE_GETCRTC", |file, call| call.answer(|v: &mut Crtc| file.get_crtc(v))),
    request(0xa2, "MODE_SETCRTC", |file, call| call.answer(|v: &mut Crtc| file.set_crtc(v))),
    // Cursors and gamma have no effect on a picture.
    request(0xa3, "MODE_CURSOR", accepted),
    request(0xa4, "MODE_GETGAMMA", accepted),
    request(0xa5, "MODE_SETGAMMA", accepted),
    request(0xa6, "MODE_GETENCODER", |file, call| call.answer(|v: &mut Encoder| file.get_encoder(v))),
    request(0xa7, "MODE_GETCONNECTOR", |file, call| call.answer(|v: &mut Connector| file.get_connector(call.program, v))),
    request(0xa8, "MODE_ATTACHMODE", unanswered),
    request(0xa9, "MODE_DETACHMODE", unanswered),
    request(0xaa, "MODE_GETPROPERTY", |_, call| call.answer(|v| File::get_property(call.program, v))),
    request(0xab, "MODE_SETPROPERTY", |_, call| call.answer(|v: &mut SetProperty| File::set_property(v.id, v.connector, v.value))),
    // There are no blobs.
    request(0xac, "MODE_GETPROPBLOB", |_, _| Err(Errno::NOENT)),
    request(0xad, "MODE_GETFB", |file, call| call.answer(|v| file.get_fb(v))),
    request(0xae, "MODE_ADDFB", |file, call| call.answer(|v: &mut FrameBuffer| file.add_fb(v))),
    request(0xaf, "MODE_RMFB", |file, call| call.answer(|v: &mut FrameBufferId| file.remove_fb(v.id))),
    request(0xb0, "MODE_PAGE_FLIP", |file, call| call.answer(|v: &mut PageFlip| file.page_flip(v))),
    request(0xb1, "MODE_DIRTYFB", |file, call| call.answer(|v: &mut FrameBufferDirty| file.show(v.id))),
    request(0xb2, "MODE_CREATE_DUMB", |file, call| call.answer(|v: &mut CreateDumb| file.create_dumb(v))),
    request(0xb3, "MODE_MAP_DUMB", |file, call| call.answer(|v: &mut MapDumb| {
        v.offset = file.offset_of(v.handle)?;
        Ok(())
    })),
    request(0xb4, "MODE_DESTROY_DUMB", |file, call| call.answer(|v: &mut DestroyDumb| {
        file.gem_close(&GemClose { handle: v.handle, padding: 0 })
    })),
    request(0xb5, "MODE_GETPLANERESOURCES", |file, call| call.answer(|v| file.get_planes(call.program, v))),
    request(0xb6, "MODE_GETPLANE", |file, call| call.answer(|v| file.get_plane(call.program, v))),
    request(0xb7, "MODE_SETPLANE", |file, call| call.answer(|v: &mut SetPlane| file.set_plane(v))),
    request(0xb8, "MODE_ADDFB2", |file, call| call.answer(|v: &mut FrameBuffer2| file.add_fb2(v))),
    request(0xb9, "MODE_OBJ_GETPROPERTIES", |_, call| call.answer(|v| File::get_object_properties(call.program, v))),
    request(0xba, "MODE_OBJ_SETPROPERTY", |_, call| call.answer(|v: &mut SetObjectProperty| File::set_property(v.id, v.object, v.value))),
    request(0xbb, "MODE_CURSOR2", accepted),
    // Atomic mode setting, blobs, synchronisation objects, leases: the driver has none.
    request(0xbc, "MODE_ATOMIC", unsupported),
    request(0xbd, "MODE_CREATEPROPBLOB", unsupported),
    request(0xbe, "MODE_DESTROYPROPBLOB", unsupported),
    request(0xbf, "SYNCOBJ_CREATE", unsupported),
    request(0xc0, "SYNCOBJ_DESTROY", unsupported),
    request(0xc1, "SYNCOBJ_HANDLE_TO_FD", unsupported),
    request(0xc2, "SYNCOBJ_FD_TO_HANDLE", unsupported),
    request(0xc3, "SYNCOBJ_WAIT", unsupported),
    request(0xc4, "SYNCOBJ_RESET", unsupported),
    request(0xc5, "SYNCOBJ_SIGNAL", unsupported),
    request(0xc6, "MODE_CREATE_LEASE", unsupported),
    request(0xc7, "MODE_LIST_LESSEES", unsupported),
    request(0xc8, "MODE_GET_LEASE", unsupported),
    request(0xc9, "MODE_REVOKE_LEASE", unsupported),
    request(0xca, "SYNCOBJ_TIMELINE_WAIT", unsupported),
    request(0xcb, "SYNCOBJ_QUERY", unsupported),
    request(0xcc, "SYNCOBJ_TRANSFER", unsupported),
    request(0xcd, "SYNCOBJ_TIMELINE_SIGNAL", unsupported),
    request(0xce, "MODE_GETFB2", |file, call| call.answer(|v| file.get_fb2(v))),
    request(0xcf, "SYNCOBJ_EVENTFD", unsupported),
];

/// A request that has no effect here.
fn accepted(_: &File, _: &Call<'_>) -> Result<(), Errno> {
    Ok(())
}

/// A request of a feature that the kernel's driver for this card lacks.
fn unsupported(_: &File, _: &Call<'_>) -> Result<(), Errno> {
    Err(Errno::OPNOTSUPP)
}

/// A request that no program was seen to send.
fn unanswered(_: &File, call: &Call<'_>) -> Result<(), Errno> {
    let number = call.number.number();
    let name = match REQUESTS.iter().find(|request| request.number == number) {
        Some(request) => request.name,
        None if (0x40..=0x5b).contains(&number) => "of the driver without kernel mode setting",
        None => "of an unknown name",
    };
    log::print_once(&format!("request {number:#04x} ({name}) is not answered"));
    Err(Errno::INVAL)
}

impl File {
    /// Answers a request. Returns the result of `ioctl`, which is 0, or an error number.
    pub fn ioctl(&self, program: &Program, request: u32, argument: u64) -> Result<i32, Errno> {
        let number = RequestNumber(request);
        let call = Call { program, number, argument };
        if number.kind() != DRM_TYPE {
            return Err(Errno(libc::ENOTTY));
        }
        let known = REQUESTS.binary_search_by_key(&number.number(), |request| request.number);
        let answer = known.map_or(unanswered as Answer, |at| REQUESTS[at].answer);
        answer(self, &call)?;
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_in_order_and_have_one_name_each() {
        assert!(REQUESTS.is_sorted_by(|a, b| a.number < b.number));
        let names: std::collections::HashSet<_> = REQUESTS.iter().map(|it| it.name).collect();
        assert_eq!(names.len(), REQUESTS.len());
    }
}
