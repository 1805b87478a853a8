//! Dispatch of requests by number.

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

impl File {
    /// Answers a request. Returns the result of `ioctl`, which is 0, or an error number.
    pub fn ioctl(&self, program: &Program, request: u32, argument: u64) -> Result<i32, Errno> {
        let number = RequestNumber(request);
        let call = Call { program, number, argument };
        if number.kind() != DRM_TYPE {
            return Err(Errno(libc::ENOTTY));
        }
        match number.number() {
            0x00 => call.answer(|v: &mut Version| Self::version(program, v)),
            0x01 => call.answer(|v: &mut Unique| Self::unique(program, v)),
            // GET_MAGIC, AUTH_MAGIC: every file has all permissions.
            0x02 => call.answer(|v: &mut Auth| {
                v.magic = 1;
                Ok(())
            }),
            0x05 => call.answer(Self::get_client),
            0x06 => call.answer(|v: &mut Stats| {
                v.count = 0;
                Ok(())
            }),
            0x07 => call.answer(|v: &mut SetVersion| {
                *v = SetVersion { di_major: 1, di_minor: 4, dd_major: 2, dd_minor: 50 };
                Ok(())
            }),
            0x09 => call.answer(|v: &mut GemClose| self.gem_close(v)),
            0x0a => call.answer(|v: &mut GemFlink| self.gem_flink(v)),
            0x0b => call.answer(|v: &mut GemOpen| self.gem_open(v)),
            0x0c => call.answer(|v: &mut Cap| {
                Self::get_cap(v);
                Ok(())
            }),
            0x0d => call.answer(|v: &mut Cap| self.set_client_cap(v)),
            // AUTH_MAGIC, SET_MASTER, DROP_MASTER
            0x11 | 0x1e | 0x1f => Ok(()),
            0x2d => call.answer(|v: &mut PrimeHandle| self.prime_handle_to_fd(v)),
            0x2e => call.answer(|v: &mut PrimeHandle| self.prime_fd_to_handle(program, v)),

            0x3a => call.answer(|v| self.wait_vblank(v)),
            0x3b => call.answer(|v| self.get_sequence(v)),
            0x3c => call.answer(|v| self.queue_sequence(v)),
            // Atomic mode setting, synchronisation objects, leases: the driver has none.
            0xbc..=0xcd | 0xcf => Err(Errno::OPNOTSUPP),

            0x5c => call.answer(|v: &mut GemInfo| {
                Self::gem_info(v);
                Ok(())
            }),
            0x5d => call.answer(|v: &mut GemCreate| self.gem_create(v)),
            0x5e => call.answer(|v: &mut GemMmap| self.gem_mmap(v)),
            // GEM_PREAD, GEM_PWRITE: the driver has no code for them either.
            0x61 | 0x62 => Err(Errno::NOSYS),
            0x63 => call.answer(|v: &mut GemSetDomain| self.gem_set_domain(v)),
            0x64 => call.answer(|v: &mut GemWaitIdle| self.gem_wait_idle(v)),
            0x66 => call.answer(|v: &mut CommandStream| self.command_stream(program, v)),
            0x67 => call.answer(|v: &mut Info| self.radeon_info(program, v)),
            0x68 => call.answer(|v: &mut GemTiling| self.gem_set_tiling(v)),
            0x69 => call.answer(|v: &mut GemTiling| self.gem_get_tiling(v)),
            0x6a => call.answer(|v: &mut GemBusy| self.gem_busy(v)),
            // GEM_VA, GEM_USERPTR: the card has no virtual memory, and so no memory of programs.
            0x6b | 0x6d => Err(Errno::INVAL),
            0x6c => call.answer(|v: &mut GemOp| self.gem_op(v)),

            0xa0 => call.answer(|v| self.get_resources(program, v)),
            0xa1 => call.answer(|v: &mut Crtc| self.get_crtc(v)),
            0xa2 => call.answer(|v: &mut Crtc| self.set_crtc(v)),
            // CURSOR, GETGAMMA, SETGAMMA, CURSOR2: accepted, without effect on a picture.
            0xa3 | 0xa4 | 0xa5 | 0xbb => Ok(()),
            0xa6 => call.answer(|v: &mut Encoder| self.get_encoder(v)),
            0xa7 => call.answer(|v: &mut Connector| self.get_connector(program, v)),
            0xaa => call.answer(|v| Self::get_property(program, v)),
            0xab => {
                call.answer(|v: &mut SetProperty| Self::set_property(v.id, v.connector, v.value))
            }
            // GETPROPBLOB: there are none.
            0xac => Err(Errno::NOENT),
            0xad => call.answer(|v| self.get_fb(v)),
            0xae => call.answer(|v: &mut FrameBuffer| self.add_fb(v)),
            0xaf => call.answer(|v: &mut FrameBufferId| self.remove_fb(v.id)),
            0xb0 => call.answer(|v: &mut PageFlip| self.page_flip(v)),
            0xb1 => call.answer(|v: &mut FrameBufferDirty| self.show(v.id)),
            0xb2 => call.answer(|v: &mut CreateDumb| self.create_dumb(v)),
            0xb3 => call.answer(|v: &mut MapDumb| {
                v.offset = self.offset_of(v.handle)?;
                Ok(())
            }),
            0xb4 => call.answer(|v: &mut DestroyDumb| {
                self.gem_close(&GemClose { handle: v.handle, padding: 0 })
            }),
            0xb5 => call.answer(|v| self.get_planes(program, v)),
            0xb6 => call.answer(|v| self.get_plane(program, v)),
            0xb7 => call.answer(|v: &mut SetPlane| self.set_plane(v)),
            0xb8 => call.answer(|v: &mut FrameBuffer2| self.add_fb2(v)),
            0xb9 => call.answer(|v| Self::get_object_properties(program, v)),
            0xba => {
                call.answer(|v: &mut SetObjectProperty| Self::set_property(v.id, v.object, v.value))
            }
            0xce => call.answer(|v| self.get_fb2(v)),
            number => {
                log::print_once(&format!(
                    "request {number:#04x} ({}) is not answered",
                    name(number).unwrap_or("of an unknown name")
                ));
                Err(Errno::INVAL)
            }
        }?;
        Ok(0)
    }
}

/// Returns the name of an unsupported request, for the message.
fn name(number: u32) -> Option<&'static str> {
    Some(match number {
        0x03 => "IRQ_BUSID",
        0x04 => "GET_MAP",
        0x40..=0x5b => "of the driver without kernel mode setting",
        0x65 => "RADEON_GEM_UNMAP",
        0xa8 | 0xa9 => "MODE_ATTACHMODE or DETACHMODE",
        _ => return None,
    })
}
