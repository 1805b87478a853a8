//! Structure-aware mutation of captures. Changed bytes do not pass the checksums of records, so a capture is read into
//! records, these are changed, and written again.

use libfuzzer_sys::fuzzer_mutate;
use r500_gen::packets::mutate as mutate_words;
use r500_gen::{Choices, Rng};
use r500_stream::capture::{BLOCK_BYTES, Picture, Reader, Record, Writer};
use r500_stream::{BufferId, Tiling};

/// The capture to which mutations return when an input is not one.
const FIRST: &[u8] = include_bytes!("../../tests/captures/triangle.r5cs");

/// Numbers at which sizes, pitches and offsets overflow, or meet a limit.
const EDGES: [u32; 14] =
    [1, 3, 4, 255, 4095, 4096, 4097, 65_535, 65_536, 1 << 24, i32::MAX as u32, 1 << 31, !3, !0];

/// libFuzzer's custom mutator: changes a capture of `size` bytes in `data`. Returns the new size.
pub fn mutate(data: &mut [u8], size: usize, max_size: usize, seed: u32) -> usize {
    let mut rng = Rng::new(u64::from(seed));
    let mut records = records(data.get(..size).unwrap_or_default());
    if records.is_empty() {
        records = self::records(FIRST);
    } else {
        for _ in 0..=rng.below(4) {
            change(&mut records, &mut rng);
        }
    }
    let mut written = encoded(&records);
    // Rarely the bytes themselves: heads, lengths and checksums of records.
    if rng.chance(1, 32) {
        let len = written.len();
        written.resize(max_size.max(len), 0);
        let len = fuzzer_mutate(&mut written, len, max_size);
        written.truncate(len);
    }
    // A capture that is too long loses its last records.
    while written.len() > max_size && records.pop().is_some() {
        written = encoded(&records);
    }
    let size = written.len().min(max_size).min(data.len());
    data[..size].copy_from_slice(&written[..size]);
    size
}

/// libFuzzer's custom crossover: the first records of one capture, and the last of another one.
pub fn cross_over(one: &[u8], two: &[u8], out: &mut [u8], seed: u32) -> usize {
    let mut rng = Rng::new(u64::from(seed));
    let (mut records, mut last) = (records(one), self::records(two));
    records.truncate(position(records.len() + 1, &mut rng));
    records.extend(last.drain(position(last.len() + 1, &mut rng)..));
    let mut written = encoded(&records);
    while written.len() > out.len() && records.pop().is_some() {
        written = encoded(&records);
    }
    let size = written.len().min(out.len());
    out[..size].copy_from_slice(&written[..size]);
    size
}

/// Returns the records of a capture up to the first that is damaged; none if it is not a capture.
pub fn records(bytes: &[u8]) -> Vec<Record> {
    Reader::new(bytes).map_or_else(|_| Vec::new(), |all| all.map_while(Result::ok).collect())
}

/// Returns records as a capture.
pub fn encoded(records: &[Record]) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new()).expect("memory takes everything");
    for record in records {
        writer.write(record).expect("memory takes everything");
    }
    writer.into_inner()
}

/// Returns a position below `len`; 0 if there is none.
fn position(len: usize, rng: &mut Rng) -> usize {
    rng.below(u32::try_from(len).unwrap_or(u32::MAX)) as usize
}

fn change(records: &mut Vec<Record>, rng: &mut Rng) {
    let at = position(records.len(), rng);
    match rng.below(10) {
        0 if records.len() > 1 => drop(records.remove(at)),
        1 => {
            if let Some(record) = records.get(at).cloned() {
                let to = position(records.len() + 1, rng);
                records.insert(to, record);
            }
        }
        2 if records.len() > 1 => {
            let to = position(records.len(), rng);
            records.swap(at, to);
        }
        3 => {
            let record = made(records, rng);
            records.insert(at, record);
        }
        _ => {
            if let Some(record) = records.get(at).cloned() {
                let changed = changed(record, records, rng);
                records[at] = changed;
            }
        }
    }
}

/// Returns the name of a buffer of the capture, or any.
fn buffer(records: &[Record], rng: &mut Rng) -> BufferId {
    let names = records.iter().filter_map(|record| match record {
        Record::Create { buffer, .. } => Some(*buffer),
        _ => None,
    });
    let names: Vec<BufferId> = names.collect();
    match names.get(position(names.len(), rng)) {
        Some(name) if !rng.chance(1, 16) => *name,
        _ => BufferId(rng.below(8)),
    }
}

/// Returns a number near another one, or at an edge.
fn number(old: u32, rng: &mut Rng) -> u32 {
    match rng.below(5) {
        0 => old ^ 1 << rng.below(32),
        1 => old.wrapping_add(rng.below(9)).wrapping_sub(4),
        2 => old << 1,
        3 => rng.pick(0, &EDGES),
        _ => rng.below(512),
    }
}

/// Returns a new record.
fn made(records: &[Record], rng: &mut Rng) -> Record {
    let buffer = buffer(records, rng);
    match rng.below(8) {
        0 => Record::Create {
            buffer: BufferId(rng.below(16)),
            size: u64::from(number(65_536, rng)),
            domain: 2 << rng.below(2),
        },
        1 => Record::Close { buffer },
        2 => Record::Map { buffer },
        3 => Record::Tiling { buffer, tiling: tiling(Tiling::default(), rng) },
        4 => Record::Contents {
            buffer,
            block: rng.below(3),
            bytes: vec![rng.below(256) as u8; position(BLOCK_BYTES + 1, rng)],
        },
        5 => Record::Hashes(vec![(buffer, rng.next_u64()); position(5, rng)]),
        6 => Record::Wait { buffer },
        _ => Record::Flip(Picture {
            buffer,
            width: 1 + rng.below(64),
            height: 1 + rng.below(64),
            pitch: 256,
            offset: 0,
            format: rng.pick(0x3432_5258, &[0x3432_5241, 0x3631_4752, 0x3531_5258, 0x3033_5258]),
        }),
    }
}

fn tiling(old: Tiling, rng: &mut Rng) -> Tiling {
    Tiling { flags: old.flags ^ 1 << rng.below(6), pitch: number(old.pitch, rng) }
}

/// Returns a record with a field that differs.
fn changed(record: Record, records: &[Record], rng: &mut Rng) -> Record {
    match record {
        Record::Info(mut info) => {
            info.chip = number(info.chip, rng);
            if rng.chance(1, 2) {
                let table = r500_exec::Readings::TABLE;
                let reading = &table[position(table.len(), rng)];
                let (value, _) = reading.values[position(reading.values.len(), rng)];
                info.readings.push(format!("{}={value}", reading.name));
            }
            Record::Info(info)
        }
        Record::Create { buffer: name, size, domain } => {
            let name = if rng.chance(1, 8) { buffer(records, rng) } else { name };
            let low = number(size as u32, rng);
            Record::Create { buffer: name, size: size >> 32 << 32 | u64::from(low), domain }
        }
        Record::Close { .. } => Record::Close { buffer: buffer(records, rng) },
        Record::Map { .. } => Record::Map { buffer: buffer(records, rng) },
        Record::Wait { .. } => Record::Wait { buffer: buffer(records, rng) },
        Record::Tiling { buffer, tiling: old } => {
            Record::Tiling { buffer, tiling: tiling(old, rng) }
        }
        Record::Contents { buffer: name, mut block, mut bytes } => {
            let name = if rng.chance(1, 8) { buffer(records, rng) } else { name };
            match rng.below(8) {
                0 => block = number(block, rng),
                1 => bytes.truncate(position(bytes.len() + 1, rng)),
                _ => mutate_bytes(&mut bytes),
            }
            Record::Contents { buffer: name, block, bytes }
        }
        Record::Submission { mut flags, mut words, mut relocations } => {
            match rng.below(8) {
                0 => flags = number(flags, rng),
                1 | 2 => {
                    let at = position(relocations.len(), rng);
                    if let Some(relocation) = relocations.get_mut(at) {
                        match rng.below(4) {
                            0 => relocation.read_domains = number(relocation.read_domains, rng),
                            1 => relocation.write_domain = number(relocation.write_domain, rng),
                            2 => relocation.flags = number(relocation.flags, rng),
                            _ => relocation.buffer = buffer(records, rng),
                        }
                    }
                    if rng.chance(1, 4) {
                        relocations.truncate(at);
                    }
                }
                3 => {
                    let mut bytes: Vec<u8> =
                        words.iter().flat_map(|word| word.to_le_bytes()).collect();
                    mutate_bytes(&mut bytes);
                    words = bytes.as_chunks().0.iter().map(|w| u32::from_le_bytes(*w)).collect();
                }
                _ => mutate_words(&mut words, rng),
            }
            Record::Submission { flags, words, relocations }
        }
        Record::Hashes(mut hashes) => {
            let at = position(hashes.len(), rng);
            match hashes.get_mut(at) {
                Some(hash) if rng.chance(1, 2) => hash.0 = buffer(records, rng),
                Some(hash) => hash.1 ^= 1 << rng.below(64),
                None => {}
            }
            if rng.chance(1, 4) {
                hashes.truncate(at);
            }
            Record::Hashes(hashes)
        }
        Record::Flip(mut picture) => {
            let field = match rng.below(6) {
                0 => &mut picture.width,
                1 => &mut picture.height,
                2 => &mut picture.pitch,
                3 => &mut picture.offset,
                4 => &mut picture.format,
                _ => &mut picture.buffer.0,
            };
            *field = number(*field, rng);
            Record::Flip(picture)
        }
        Record::Unknown { tag, mut bytes } => {
            mutate_bytes(&mut bytes);
            Record::Unknown { tag, bytes }
        }
        // Kinds that this mutator does not know stay as they are.
        other => other,
    }
}

/// Applies one of libFuzzer's own mutations, guided by what it compares. The length stays, because it is that of a block: after
/// a shorter result the old bytes remain.
fn mutate_bytes(bytes: &mut [u8]) {
    let len = bytes.len();
    if len > 0 {
        fuzzer_mutate(bytes, len, len);
    }
}
