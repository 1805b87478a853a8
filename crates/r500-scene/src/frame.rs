//! A compiled scene: a submission with its buffers, which a card executes or a capture keeps.

use r500::picture::Picture as Pixels;
use r500_card::{Card, TargetPicture};
use r500_stream::capture::{BLOCK_BYTES, Info, NamedRelocation, Picture, Record};
use r500_stream::{Buffer, BufferId, PixelFormat, Relocation, StreamWriter, Submission, Tiling};

use crate::state::Surfaces;
use crate::{Target, TargetFormat};

/// Video memory, as the kernel's driver numbers domains.
const VRAM: u32 = 4;

/// A compiled scene.
#[derive(Debug)]
pub struct Frame {
    /// The command stream with its buffers, whose contents are those before the draws.
    pub submission: Submission,
    picture: Shown,
    /// Targets that the next frame reads, and the places of their buffers.
    kept: Vec<(usize, u32)>,
    /// Raw buffers by name: their places in the relocation list.
    raw: Vec<(String, u32)>,
}

/// What a frame leaves for the next one: the contents of the targets that draws read as `previous`. Before the first frame they are 0.
#[derive(Clone, Debug, Default)]
pub struct PreviousFrame {
    targets: Vec<(usize, Vec<u8>)>,
}

impl PreviousFrame {
    /// Returns the bytes of a target.
    pub(crate) fn target(&self, n: usize) -> Option<&[u8]> {
        self.targets.iter().find(|(target, _)| *target == n).map(|(_, bytes)| &bytes[..])
    }
}

/// Where the picture of a frame is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shown {
    /// In a target of the scene.
    Target(Surfaces),
    /// In target A of the last draw, as its registers say; width and height.
    Registers([u32; 2]),
}

/// The buffers of a frame while it is compiled: entries of the relocation list.
#[derive(Default)]
pub(crate) struct Buffers {
    buffers: Vec<(Vec<u8>, bool)>,
    raw: Vec<(String, u32)>,
    kept: Vec<(usize, u32)>,
}

impl Buffers {
    /// Adds a buffer that draws read.
    pub(crate) fn add(&mut self, bytes: Vec<u8>) -> u32 {
        self.push(bytes, false)
    }

    /// Adds a raw buffer, which draws may read and write.
    pub(crate) fn raw(&mut self, name: String, bytes: Vec<u8>) -> u32 {
        let place = self.push(bytes, true);
        self.raw.push((name, place));
        place
    }

    fn push(&mut self, bytes: Vec<u8>, written: bool) -> u32 {
        self.buffers.push((bytes, written));
        self.buffers.len() as u32 - 1
    }

    /// Adds the buffers of a target, filled with a colour and a depth.
    pub(crate) fn surfaces(&mut self, target: &Target) -> Surfaces {
        let Target { size, format, clear, depth, .. } = *target;
        let pitch = pitch(size);
        let pixels = pitch as usize * size[1] as usize;
        let [red, green, blue, alpha] = clear.map(|x| (x.clamp(0.0, 1.0) * 255.0).round() as u8);
        let color = match format {
            TargetFormat::Bytes => [blue, green, red, alpha].repeat(pixels),
            TargetFormat::Floats => clear.map(f32::to_le_bytes).as_flattened().repeat(pixels),
        };
        let depth = depth.map(|depth| {
            // 24 bits above 8 of stencil.
            let code = (f64::from(depth) * 16_777_215.0).round() as u32;
            (code << 8).to_le_bytes().repeat(pixels)
        });
        let color = self.push(color, true);
        let depth = depth.map(|depth| self.push(depth, true));
        Surfaces { color, depth, size, format, pitch }
    }

    /// Adds what the frame before left of a target. `surfaces` are those of the target, which the next frame reads.
    pub(crate) fn previous(
        &mut self,
        target: usize,
        surfaces: Surfaces,
        previous: &PreviousFrame,
    ) -> Surfaces {
        self.kept.push((target, surfaces.color));
        let length = self.buffers[surfaces.color as usize].0.len();
        let left = previous.target(target).filter(|bytes| bytes.len() == length);
        let color = self.add(left.map_or_else(|| vec![0; length], <[u8]>::to_vec));
        Surfaces { color, depth: None, ..surfaces }
    }

    /// Returns the frame of a stream.
    pub(crate) fn frame(self, stream: StreamWriter, picture: Shown) -> Frame {
        let (raw, kept) = (self.raw, self.kept);
        let relocations = self.buffers.into_iter().zip(0..).map(|((bytes, written), id)| {
            let buffer = Buffer::zeroed(BufferId(id), bytes.len());
            buffer.write(0, &bytes);
            Relocation {
                buffer,
                read_domains: if written { 0 } else { VRAM },
                write_domain: if written { VRAM } else { 0 },
                flags: 0,
                tiling: Tiling::default(),
            }
        });
        let submission = Submission {
            words: stream.into_words(),
            // Tiles are as the stream says, not as the buffers' owners do.
            flags: Submission::KEEP_TILING_FLAGS,
            relocations: relocations.collect(),
        };
        Frame { submission, picture, kept, raw }
    }
}

/// Returns the pixels from row to row of a target.
pub(crate) fn pitch([width, _]: [u32; 2]) -> u32 {
    width.next_multiple_of(16)
}

impl Frame {
    /// Returns the picture after `card` has executed the submission; one that is where registers say is read with the state of the card.
    #[must_use]
    pub fn picture(&self, card: &Card) -> Pixels {
        match self.picture {
            Shown::Target(surfaces) => self.surface(surfaces),
            Shown::Registers(size) => registered(card, size),
        }
    }

    /// Returns what the frame leaves for the next one, after a card has executed the submission.
    #[must_use]
    pub fn previous(&self) -> PreviousFrame {
        let relocations = &self.submission.relocations;
        let bytes = |place: u32| relocations[place as usize].buffer.to_vec();
        let targets = self.kept.iter().map(|(target, place)| (*target, bytes(*place)));
        PreviousFrame { targets: targets.collect() }
    }

    fn surface(&self, Surfaces { color, size: [width, height], pitch, .. }: Surfaces) -> Pixels {
        let buffer = &self.submission.relocations[color as usize].buffer;
        let mut pixels = Vec::with_capacity(width as usize * height as usize);
        for y in 0..height as usize {
            for x in 0..width as usize {
                let [blue, green, red, alpha] =
                    buffer.dword((y * pitch as usize + x) * 4).to_le_bytes();
                pixels.push([red, green, blue, alpha]);
            }
        }
        Pixels { width, height, pixels }
    }

    /// Returns where the picture is in memory: the place of its buffer in the relocation list, width and height, and pixels from row to row; each
    /// is a dword with blue in the lowest byte. `None` if it is where registers say.
    #[must_use]
    pub fn picture_place(&self) -> Option<(u32, [u32; 2], u32)> {
        match self.picture {
            Shown::Target(Surfaces { color, size, pitch, .. }) => Some((color, size, pitch)),
            Shown::Registers(_) => None,
        }
    }

    /// Returns the raw buffers of the scene, by name.
    pub fn raw_buffers(&self) -> impl Iterator<Item = (&str, &Buffer)> {
        let relocations = &self.submission.relocations;
        self.raw.iter().map(|(name, n)| (name.as_str(), &relocations[*n as usize].buffer))
    }

    /// Returns the records of a capture that draws the scene and shows its picture, if it is in a target of the scene. Call it before a card executes the submission: it keeps
    /// the contents of buffers.
    #[must_use]
    pub fn records(&self, info: Info) -> Vec<Record> {
        let mut records = vec![Record::Info(info)];
        let Submission { words, flags, relocations } = &self.submission;
        for Relocation { buffer, .. } in relocations {
            let (id, size) = (buffer.id(), buffer.size());
            records.push(Record::Create { buffer: id, size: size as u64, domain: VRAM });
            for (block, bytes) in buffer.to_vec().chunks(BLOCK_BYTES).enumerate() {
                // New buffers are zeros.
                if bytes.iter().any(|byte| *byte != 0) {
                    let bytes = bytes.to_vec();
                    records.push(Record::Contents { buffer: id, block: block as u32, bytes });
                }
            }
        }
        records.push(Record::Submission {
            flags: *flags,
            words: words.clone(),
            relocations: relocations
                .iter()
                .map(|relocation| NamedRelocation {
                    buffer: relocation.buffer.id(),
                    read_domains: relocation.read_domains,
                    write_domain: relocation.write_domain,
                    flags: relocation.flags,
                })
                .collect(),
        });
        if let Shown::Target(Surfaces { color, size: [width, height], pitch, .. }) = self.picture {
            let buffer = relocations[color as usize].buffer.id();
            records.push(Record::Wait { buffer });
            records.push(Record::Flip(Picture {
                buffer,
                width,
                height,
                pitch: pitch * 4,
                offset: 0,
                format: PixelFormat::ARGB8888.code(),
            }));
        }
        records
    }
}

/// Returns target A of a card, with the given size: pixels outside of the target are transparent.
fn registered(card: &Card, [width, height]: [u32; 2]) -> Pixels {
    let target = card.target(0);
    let color = |x: u32, y: u32| {
        let TargetPicture { size, colors } = target.as_ref()?;
        if x >= size[0] || y >= size[1] {
            return None;
        }
        let color = colors.get(y as usize * size[0] as usize + x as usize)?;
        Some(color.map(|x| (x.clamp(0.0, 1.0) * 255.0).round() as u8))
    };
    let places = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
    let pixels = places.map(|(x, y)| color(x, y).unwrap_or_default()).collect();
    Pixels { width, height, pixels }
}
