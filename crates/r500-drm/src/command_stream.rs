//! `RADEON_CS`: conversion of a request's chunks to a submission.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use r500_stream::kernel::{self, Rights};
use r500_stream::{Relocation, Submission};

use crate::abi::{Chunk, CommandStream};
use crate::gem::{GART_BYTES, VRAM_BYTES};
use crate::objects::Object;
use crate::worker::locked;
use crate::{Errno, File, Program, log};

const CHUNK_RELOCS: u32 = 1;
const CHUNK_IB: u32 = 2;
const CHUNK_FLAGS: u32 = 3;
const CHUNK_CONST_IB: u32 = 4;

/// Limit of chunks, far above the number of kinds.
const MAX_CHUNKS: usize = 64;
/// Limit of the dwords of an indirect buffer: a packet's address has no more bits.
const MAX_DWORDS: usize = 1 << 22;
/// Dwords of an entry of the relocation list.
const RELOC_DWORDS: usize = 4;

impl File {
    pub(crate) fn command_stream(
        &self,
        program: &Program,
        request: &mut CommandStream,
    ) -> Result<(), Errno> {
        let mut submission = Submission::default();
        let mut objects: Vec<Arc<Object>> = Vec::new();
        let chunks: Vec<u64> =
            program.read_array(request.chunks, request.num_chunks as usize, MAX_CHUNKS)?;
        for address in chunks {
            let chunk: Chunk = program.read_prefix(address, size_of::<Chunk>())?;
            let dwords: Vec<u32> =
                program.read_array(chunk.data, chunk.dwords as usize, MAX_DWORDS)?;
            match chunk.id {
                CHUNK_IB => submission.words = dwords,
                CHUNK_RELOCS => {
                    let entries = dwords.as_chunks::<RELOC_DWORDS>().0;
                    (submission.relocations, objects) = self.relocations(entries)?;
                }
                CHUNK_FLAGS => submission.flags = dwords.first().copied().unwrap_or(0),
                CHUNK_CONST_IB => return Err(Errno::INVAL),
                _ => {}
            }
        }
        if submission.words.is_empty() {
            return Err(Errno::INVAL);
        }
        self.check(&submission)?;
        let fence = self.submit(submission);
        for object in objects {
            object.fence.fetch_max(fence, Ordering::AcqRel);
        }
        (request.gart_limit, request.vram_limit) = (GART_BYTES, VRAM_BYTES);
        Ok(())
    }

    /// Refuses what the kernel's driver refuses, with the reason in words.
    fn check(&self, submission: &Submission) -> Result<(), Errno> {
        let settings = &self.device.settings;
        if !settings.check {
            return Ok(());
        }
        // No program owns the memories that compress depth and colour: `RADEON_INFO` says so.
        let rights = Rights { chip: settings.chip, ..Rights::default() };
        match kernel::check(submission, rights) {
            Ok(_) => Ok(()),
            Err(rejection) => {
                log::print(&format!(
                    "the kernel would refuse this submission: {rejection} (--no-check executes it)"
                ));
                Err(Errno::INVAL)
            }
        }
    }

    fn relocations(
        &self,
        entries: &[[u32; RELOC_DWORDS]],
    ) -> Result<(Vec<Relocation>, Vec<Arc<Object>>), Errno> {
        let handles = locked(&self.handles);
        let mut relocations = Vec::with_capacity(entries.len());
        let mut objects = Vec::with_capacity(entries.len());
        for &[handle, read_domains, write_domain, flags] in entries {
            let object = handles.get(handle)?;
            relocations.push(Relocation {
                buffer: object.buffer.clone(),
                read_domains,
                write_domain,
                flags,
                tiling: *locked(&object.tiling),
            });
            objects.push(object);
        }
        Ok((relocations, objects))
    }

    /// Records and executes a submission. A recorded submission is executed synchronously, because its buffers are read
    /// before and after.
    fn submit(&self, submission: Submission) -> u64 {
        let device = &self.device;
        device.count(&submission);
        if !device.capture.is_on() {
            let fence = device.worker.submit(submission);
            if device.settings.sync {
                device.worker.wait(fence);
            }
            return fence;
        }
        // Submissions of other threads wait, so that the capture has the card's order.
        let _order = locked(&device.capture_order);
        device.capture.record(|recorder| recorder.submission(&submission));
        let fence = device.worker.submit(submission.clone());
        device.worker.wait(fence);
        if device.draws {
            device.capture.record(|recorder| recorder.executed(&submission));
        }
        fence
    }
}
