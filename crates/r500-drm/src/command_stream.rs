//! `RADEON_CS`: conversion of a request's chunks to a submission.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use r500_stream::kernel::{self, Rights};
use r500_stream::{ChunkError, ChunkKind, Submission};

use crate::abi::{Chunk, CommandStream};
use crate::gem::{GART_BYTES, VRAM_BYTES};
use crate::lock::locked;
use crate::objects::Object;
use crate::{Errno, File, Program, log};

/// Limit of chunks, far above the number of kinds.
const MAX_CHUNKS: usize = 64;
/// Limit of the dwords of an indirect buffer: a packet's address has no more bits.
const MAX_DWORDS: usize = 1 << 22;

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
            let handles = locked(&self.handles);
            let mut named = Vec::new();
            let added = submission.add_chunk(ChunkKind::from_id(chunk.id), dwords, |handle| {
                let object = handles.get(handle)?;
                let buffer = (object.buffer.clone(), *locked(&object.tiling));
                named.push(object);
                Ok(buffer)
            });
            added.map_err(|error| match error {
                ChunkError::Buffer { error, .. } => error,
                _ => Errno::INVAL,
            })?;
            objects.extend(named);
        }
        if submission.words.is_empty() {
            return Err(Errno::INVAL);
        }
        self.check(&submission)?;
        let fence = self.submit(submission);
        for object in &objects {
            object.fence.fetch_max(fence, Ordering::AcqRel);
        }
        // Another process does not know the fences of this card: it sees a buffer when the request returns, in the order of messages.
        if objects.iter().any(|object| object.shared.load(Ordering::Acquire)) {
            self.device.timed("wait for a shared buffer", || self.device.worker.wait(fence));
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
                log::print(&format!("the kernel would refuse this submission: {rejection}"));
                Err(Errno::INVAL)
            }
        }
    }

    /// Records and executes a submission. A recorded submission is executed synchronously, because its buffers are read
    /// before and after.
    fn submit(&self, submission: Submission) -> u64 {
        let device = &self.device;
        device.count(&submission);
        if !device.capture.is_on() {
            let fence = device.timed("submit", || device.worker.submit(submission));
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
