//! What the driver says of itself and the card: `VERSION`, `GET_CAP`, `RADEON_INFO`.

use r500_stream::Chip;

use crate::abi::{Cap, Info, Unique, Version};
use crate::{Errno, File, Program};

const NAME: &[u8] = b"radeon";
const DATE: &[u8] = b"20080528";
const DESCRIPTION: &[u8] = b"ATI Radeon";

/// The PCI address of the card, as libdrm writes it.
const BUS_ID: &[u8] = b"pci:0000:01:00.0";

impl File {
    pub(crate) fn version(program: &Program, version: &mut Version) -> Result<(), Errno> {
        (version.major, version.minor, version.patch) = (2, 50, 0);
        let Version { name, date, desc, .. } = *version;
        text(program, NAME, &mut version.name_len, name)?;
        text(program, DATE, &mut version.date_len, date)?;
        text(program, DESCRIPTION, &mut version.desc_len, desc)
    }

    pub(crate) fn unique(program: &Program, unique: &mut Unique) -> Result<(), Errno> {
        let address = unique.text;
        text(program, BUS_ID, &mut unique.length, address)
    }

    pub(crate) fn get_cap(cap: &mut Cap) {
        const DUMB_BUFFER: u64 = 1;
        const PRIME: u64 = 5;
        const TIMESTAMP_MONOTONIC: u64 = 6;
        cap.value = match cap.capability {
            DUMB_BUFFER | TIMESTAMP_MONOTONIC => 1,
            // Import and export.
            PRIME => 3,
            _ => 0,
        };
    }

    /// Capabilities of the program: planes other than the screen are not offered.
    pub(crate) fn set_client_cap(cap: &Cap) -> Result<(), Errno> {
        const ATOMIC: u64 = 3;
        const WRITEBACK_CONNECTORS: u64 = 5;
        match cap.capability {
            ATOMIC | WRITEBACK_CONNECTORS => Err(Errno::OPNOTSUPP),
            _ => Ok(()),
        }
    }

    /// The value is an address of a dword, in some requests of a quadword.
    pub(crate) fn radeon_info(&self, program: &Program, info: &Info) -> Result<(), Errno> {
        const TIMESTAMP: u32 = 0x11;
        const NUM_BYTES_MOVED: u32 = 0x1d;
        const VRAM_USAGE: u32 = 0x1e;
        const GTT_USAGE: u32 = 0x1f;
        let chip = self.device.settings.chip;
        let value: u32 = match info.request {
            // DEVICE_ID
            0x00 => chip.pci_id().into(),
            // NUM_GB_PIPES. With one, an occlusion query is one number.
            0x01 => 1,
            // NUM_Z_PIPES
            0x02 => 1,
            // ACCEL_WORKING, ACCEL_WORKING2
            0x03 | 0x05 => 1,
            // WANT_HYPERZ, WANT_CMASK: the memories that compress depth and colour are taken.
            0x07 | 0x08 => 0,
            // CLOCK_CRYSTAL_FREQ, in kHz
            0x09 => 27_000,
            // FASTFB_WORKING, RING_WORKING (of the video and copy engines)
            0x14 | 0x15 => 0,
            // MAX_SCLK, in kHz
            0x1a => match chip {
                Chip::Rv515 => 450_000,
                Chip::Rv530 => 590_000,
                Chip::R520 => 625_000,
                Chip::R580 => 650_000,
            },
            // GPU_RESET_COUNTER
            0x26 => self.device.worker.resets() as u32,
            TIMESTAMP | NUM_BYTES_MOVED | VRAM_USAGE | GTT_USAGE => {
                let value = match info.request {
                    VRAM_USAGE => self.device.used(),
                    _ => 0,
                };
                return program.write_array(info.value, &[value]);
            }
            // Pipes, shader engines and compute units, of later chips.
            _ => return Err(Errno::INVAL),
        };
        program.write_array(info.value, &[value])
    }
}

/// A text of which the program knows the length only after it asked once.
fn text(program: &Program, text: &[u8], length: &mut u64, address: u64) -> Result<(), Errno> {
    let room = usize::try_from(*length).map_or(text.len(), |room| room.min(text.len()));
    if address != 0 {
        program.write_array(address, &text[..room])?;
    }
    *length = text.len() as u64;
    Ok(())
}
