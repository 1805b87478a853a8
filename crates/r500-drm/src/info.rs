//! Driver and device queries: `VERSION`, `GET_CAP`, `RADEON_INFO`.

use bytemuck::Zeroable;
use r500_stream::Chip;

use crate::abi::{Cap, Client, Info, Unique, Version};
use crate::mode_objects::CRTC;
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
        const VBLANK_HIGH_CRTC: u64 = 2;
        const DUMB_PREFERRED_DEPTH: u64 = 3;
        const DUMB_PREFER_SHADOW: u64 = 4;
        const PRIME: u64 = 5;
        const TIMESTAMP_MONOTONIC: u64 = 6;
        const CURSOR_WIDTH: u64 = 8;
        const CURSOR_HEIGHT: u64 = 9;
        const CRTC_IN_VBLANK_EVENT: u64 = 0x12;
        cap.value = match cap.capability {
            DUMB_BUFFER | VBLANK_HIGH_CRTC | DUMB_PREFER_SHADOW => 1,
            TIMESTAMP_MONOTONIC | CRTC_IN_VBLANK_EVENT => 1,
            DUMB_PREFERRED_DEPTH => 24,
            CURSOR_WIDTH | CURSOR_HEIGHT => 64,
            // Import and export.
            PRIME => 3,
            _ => 0,
        };
    }

    /// Sets capabilities of the client. The radeon driver has no atomic mode setting.
    pub(crate) fn set_client_cap(&self, cap: &Cap) -> Result<(), Errno> {
        const UNIVERSAL_PLANES: u64 = 2;
        const ATOMIC: u64 = 3;
        const WRITEBACK_CONNECTORS: u64 = 5;
        match cap.capability {
            UNIVERSAL_PLANES if cap.value > 1 => return Err(Errno::INVAL),
            UNIVERSAL_PLANES => self.list_all_planes(cap.value == 1),
            ATOMIC | WRITEBACK_CONNECTORS => return Err(Errno::OPNOTSUPP),
            _ => {}
        }
        Ok(())
    }

    /// `GET_CLIENT`: the first client is the program.
    pub(crate) fn get_client(client: &mut Client) -> Result<(), Errno> {
        if client.index != 0 {
            return Err(Errno::INVAL);
        }
        *client = Client {
            authenticated: 1,
            pid: std::process::id().into(),
            uid: rustix::process::getuid().as_raw().into(),
            ..Client::zeroed()
        };
        Ok(())
    }

    /// Answers a query. The value is the address of a dword, in some queries of a quadword.
    pub(crate) fn radeon_info(&self, program: &Program, info: &Info) -> Result<(), Errno> {
        const NUM_BYTES_MOVED: u32 = 0x1d;
        const VRAM_USAGE: u32 = 0x1e;
        const GTT_USAGE: u32 = 0x1f;
        let chip = self.device.settings.chip;
        let value: u32 = match info.request {
            // DEVICE_ID
            0x00 => chip.pci_id().into(),
            // CRTC_FROM_ID: the index of a CRTC
            0x04 => match program.read_array(info.value, 1, 1)?[..] {
                [CRTC] => 0,
                _ => return Err(Errno::INVAL),
            },
            // NUM_GB_PIPES. With one, an occlusion query has a single count.
            0x01 => 1,
            // NUM_Z_PIPES
            0x02 => 1,
            // ACCEL_WORKING, ACCEL_WORKING2
            0x03 | 0x05 => 1,
            // WANT_HYPERZ, WANT_CMASK: whether this file owns the memories that compress depth and colour. Never, so
            // drivers do not use them.
            0x07 | 0x08 => 0,
            // CLOCK_CRYSTAL_FREQ, in kHz
            0x09 => 27_000,
            // FUSION_GART_WORKING, MAX_SE, SI_CP_DMA_COMPUTE, ACTIVE_CU_COUNT, VA_UNMAP_WORKING: constants for
            // these chips
            0x0c | 0x12 | 0x17 | 0x20 | 0x25 => 1,
            // FASTFB_WORKING, RING_WORKING (of the video and copy engines), VCE_FW_VERSION, VCE_FB_VERSION,
            // CURRENT_GPU_TEMP (no sensor)
            0x14 | 0x15 | 0x1b | 0x1c | 0x21 => 0,
            // CURRENT_GPU_SCLK, CURRENT_GPU_MCLK, in MHz
            0x22 => engine_clock(chip) / 1000,
            0x23 => memory_clock(chip) / 1000,
            // MAX_SCLK, in kHz
            0x1a => engine_clock(chip),
            // GPU_RESET_COUNTER
            0x26 => self.device.worker.resets() as u32,
            NUM_BYTES_MOVED | VRAM_USAGE | GTT_USAGE => {
                let value = match info.request {
                    VRAM_USAGE => self.device.used(),
                    _ => 0,
                };
                return program.write_array(info.value, &[value]);
            }
            // Clocks, pipes and virtual memory of later chips.
            _ => return Err(Errno::INVAL),
        };
        program.write_array(info.value, &[value])
    }
}

/// Returns the engine clock of a card with the chip, in kHz.
fn engine_clock(chip: Chip) -> u32 {
    match chip {
        Chip::Rv515 => 450_000,
        Chip::Rv530 => 590_000,
        Chip::R520 => 625_000,
        Chip::R580 => 650_000,
    }
}

/// Returns the memory clock of the same card, in kHz.
fn memory_clock(chip: Chip) -> u32 {
    match chip {
        Chip::Rv515 => 250_000,
        Chip::Rv530 => 690_000,
        Chip::R520 => 750_000,
        Chip::R580 => 775_000,
    }
}

/// Returns a text of a length that the program queries first.
fn text(program: &Program, text: &[u8], length: &mut u64, address: u64) -> Result<(), Errno> {
    let room = usize::try_from(*length).map_or(text.len(), |room| room.min(text.len()));
    if address != 0 {
        program.write_array(address, &text[..room])?;
    }
    *length = text.len() as u64;
    Ok(())
}
