//! An address space of disjoint regions with permissions.
//!
//! Addresses are not host addresses: [`Memory::reserve`] returns areas 4 GiB apart, in which [`Memory::map`] places
//! regions. Thus an access to any undeclared byte faults, however large the error of the address.

use std::fmt;

/// Bits of an address within an area.
const AREA_BITS: u32 = 32;

/// The name of a region in messages: a noun and a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name {
    /// The contents of the region.
    pub noun: &'static str,
    /// The number among several regions.
    pub number: Option<u32>,
}

impl Name {
    /// Returns the name of the only region of its kind.
    #[must_use]
    pub const fn of(noun: &'static str) -> Self {
        Self { noun, number: None }
    }

    /// Returns the name of one of several regions.
    #[must_use]
    pub const fn numbered(noun: &'static str, number: u32) -> Self {
        Self { noun, number: Some(number) }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.number {
            Some(number) => write!(f, "{} {number}", self.noun),
            None => f.write_str(self.noun),
        }
    }
}

/// A load or a store that no region allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessError {
    /// Load or store.
    pub kind: AccessKind,
    /// The first byte of the access.
    pub address: u64,
    /// Size of the access in bytes.
    pub size: usize,
    /// Why the access is refused.
    pub refusal: Refusal,
    /// The nearest region at or below the first byte, with the byte's offset from its start and its size.
    pub nearest: Option<(Name, u64, u64)>,
}

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, address, size, refusal, nearest } = self;
        let verb = match kind {
            AccessKind::Load => "loads",
            AccessKind::Store => "stores",
        };
        let why = match refusal {
            Refusal::OutOfBounds => "outside of all regions",
            Refusal::Permission => "against the permission of its region",
            Refusal::BelowStackPointer => "below the stack pointer",
        };
        write!(f, "{verb} {size} bytes at {address:#x}, {why}")?;
        match nearest {
            Some((name, offset, length)) => write!(f, ": byte {offset} of {name}, {length} bytes"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for AccessError {}

/// The kind of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessKind {
    /// A load.
    Load,
    /// A store.
    Store,
}

/// Why an access is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// The bytes are not all in one region.
    OutOfBounds,
    /// The region does not allow loads, or does not allow stores.
    Permission,
    /// The access is below the stack pointer, where a signal handler may overwrite memory.
    BelowStackPointer,
}

/// Read-only memory, which need not exist as bytes on the host.
pub trait ReadOnly {
    /// Returns the size in bytes.
    fn len(&self) -> usize;

    /// Returns whether the memory is empty.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Copies the bytes from offset `at` on. All of them exist.
    fn read(&self, at: usize, to: &mut [u8]);
}

/// The bytes of a region, with its permissions.
pub enum RegionBytes<'m> {
    /// Memory for loads.
    Load(&'m [u8]),
    /// Memory for loads, read through a function.
    LoadFrom(Box<dyn ReadOnly + 'm>),
    /// Memory for stores.
    Store(&'m mut [u8]),
    /// Memory for loads and stores.
    LoadStore(&'m mut [u8]),
    /// Memory for loads and stores that the address space owns.
    Own(Vec<u8>),
}

impl RegionBytes<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Load(bytes) => bytes.len(),
            Self::LoadFrom(memory) => memory.len(),
            Self::Store(bytes) | Self::LoadStore(bytes) => bytes.len(),
            Self::Own(bytes) => bytes.len(),
        }
    }
}

struct Region<'m> {
    start: u64,
    length: u64,
    name: Name,
    bytes: RegionBytes<'m>,
}

/// An address space.
#[derive(Default)]
pub struct Memory<'m> {
    /// Areas; in each, regions by ascending address.
    areas: Vec<Vec<Region<'m>>>,
    /// The start of the stack, and the stack pointer, below which accesses are refused.
    stack: Option<(u64, u64)>,
}

impl Memory<'_> {
    /// The first result of [`reserve`](Self::reserve), without its misalignment.
    pub const FIRST: u64 = (1 << AREA_BITS) + (1 << 30);
}

impl<'m> Memory<'m> {
    /// Creates an address space without regions.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Reserves an area. Returns an address `misalignment` bytes after a multiple of 4096, with at least 1 GiB of the
    /// area before it and 2 GiB after it.
    pub fn reserve(&mut self, misalignment: u32) -> u64 {
        self.areas.push(Vec::new());
        ((self.areas.len() as u64) << AREA_BITS) + (1 << 30) + u64::from(misalignment)
    }

    /// Maps a region.
    ///
    /// # Panics
    /// If the region overlaps another, is not in an area, or precedes another region of the area: an error in a test's
    /// set-up.
    pub fn map(&mut self, address: u64, name: Name, bytes: RegionBytes<'m>) {
        let length = bytes.len() as u64;
        let area = area_of(address).and_then(|area| self.areas.get_mut(area));
        #[allow(clippy::expect_used, reason = "stated above")]
        let area = area.expect("regions lie in areas");
        let free = area.last().is_none_or(|last| last.start + last.length <= address);
        assert!(free, "{name} overlaps another region or comes before one");
        assert!((address + length) >> AREA_BITS == address >> AREA_BITS, "{name} is too large");
        area.push(Region { start: address, length, name, bytes });
    }

    /// Maps the stack, filled with a pattern. Returns the address after its last byte, a multiple of 4096. Accesses to
    /// the stack below the stack pointer are refused.
    pub fn map_stack(&mut self, bytes: usize) -> u64 {
        let bytes = bytes.next_multiple_of(4096);
        let start = self.reserve(0);
        self.map(start, Name::of("the stack"), RegionBytes::Own(vec![0xa5; bytes]));
        let end = start + bytes as u64;
        self.stack = Some((start, end));
        end
    }

    /// Sets the stack pointer for the check of accesses.
    pub(crate) fn set_stack_pointer(&mut self, address: u64) {
        if let Some((_, pointer)) = &mut self.stack {
            *pointer = address;
        }
    }

    /// Returns the region of an access, and the offset in it.
    #[inline]
    fn find(
        &self,
        kind: AccessKind,
        address: u64,
        size: usize,
    ) -> Result<(usize, usize, usize), AccessError> {
        let area = area_of(address).unwrap_or(usize::MAX);
        let regions = self.areas.get(area).map_or(&[][..], Vec::as_slice);
        let after = regions.partition_point(|region| region.start <= address);
        if let Some(n) = after.checked_sub(1) {
            let region = &regions[n];
            let offset = address - region.start;
            if offset + size as u64 <= region.length {
                if self
                    .stack
                    .is_some_and(|(start, pointer)| start == region.start && address < pointer)
                {
                    return Err(self.refuse(kind, address, size, Refusal::BelowStackPointer));
                }
                return Ok((area, n, offset as usize));
            }
        }
        Err(self.refuse(kind, address, size, Refusal::OutOfBounds))
    }

    #[cold]
    fn refuse(&self, kind: AccessKind, address: u64, size: usize, refusal: Refusal) -> AccessError {
        let regions = self.areas.iter().flatten();
        let nearest = regions.take_while(|region| region.start <= address).last();
        let nearest = nearest.map(|region| (region.name, address - region.start, region.length));
        AccessError { kind, address, size, refusal, nearest }
    }

    /// Loads bytes.
    ///
    /// # Errors
    /// [`AccessError`] if the bytes are not all in one region that allows loads.
    #[inline]
    pub fn load(&self, address: u64, to: &mut [u8]) -> Result<(), AccessError> {
        let (area, region, at) = self.find(AccessKind::Load, address, to.len())?;
        let bytes = match &self.areas[area][region].bytes {
            RegionBytes::Load(bytes) => bytes,
            RegionBytes::LoadStore(bytes) => &**bytes,
            RegionBytes::Own(bytes) => bytes,
            RegionBytes::LoadFrom(memory) => {
                memory.read(at, to);
                return Ok(());
            }
            RegionBytes::Store(_) => {
                let refusal = Refusal::Permission;
                return Err(self.refuse(AccessKind::Load, address, to.len(), refusal));
            }
        };
        to.copy_from_slice(&bytes[at..at + to.len()]);
        Ok(())
    }

    /// Stores bytes.
    ///
    /// # Errors
    /// [`AccessError`] if the bytes are not all in one region that allows stores.
    #[inline]
    pub fn store(&mut self, address: u64, from: &[u8]) -> Result<(), AccessError> {
        let (area, region, at) = self.find(AccessKind::Store, address, from.len())?;
        let bytes = match &mut self.areas[area][region].bytes {
            RegionBytes::Store(bytes) | RegionBytes::LoadStore(bytes) => &mut **bytes,
            RegionBytes::Own(bytes) => bytes.as_mut_slice(),
            RegionBytes::Load(_) | RegionBytes::LoadFrom(_) => {
                let refusal = Refusal::Permission;
                return Err(self.refuse(AccessKind::Store, address, from.len(), refusal));
            }
        };
        bytes[at..at + from.len()].copy_from_slice(from);
        Ok(())
    }

    /// Loads a 64-bit number.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn load_u64(&self, address: u64) -> Result<u64, AccessError> {
        let mut bytes = [0; 8];
        self.load(address, &mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }
}

fn area_of(address: u64) -> Option<usize> {
    usize::try_from(address >> AREA_BITS).ok()?.checked_sub(1)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn accesses_stay_in_their_region_and_keep_its_permission() {
        let (read, mut write) = ([1, 2, 3, 4], [0; 4]);
        let mut memory = Memory::new();
        let at = memory.reserve(4);
        assert_eq!(at % 4096, 4);
        memory.map(at, Name::numbered("input", 3), RegionBytes::Load(&read));
        memory.map(at + 4, Name::of("output"), RegionBytes::Store(&mut write));
        let mut two = [0; 2];
        memory.load(at + 2, &mut two).unwrap();
        assert_eq!(two, [3, 4]);
        memory.store(at + 6, &[7, 8]).unwrap();
        let refusal = |result: Result<(), AccessError>| result.map_err(|error| error.refusal);
        // Adjacent regions are separate.
        assert_eq!(refusal(memory.load(at + 3, &mut two)), Err(Refusal::OutOfBounds));
        assert_eq!(refusal(memory.load(at - 1, &mut two)), Err(Refusal::OutOfBounds));
        assert_eq!(refusal(memory.store(at + 7, &[0; 2])), Err(Refusal::OutOfBounds));
        assert_eq!(refusal(memory.load(at + 4, &mut two)), Err(Refusal::Permission));
        assert_eq!(refusal(memory.store(at, &[0; 2])), Err(Refusal::Permission));
        assert_eq!(refusal(memory.load(0, &mut two)), Err(Refusal::OutOfBounds));
        assert_eq!(refusal(memory.load(u64::MAX, &mut two)), Err(Refusal::OutOfBounds));
        let text = memory.load(at + 3, &mut two).unwrap_err().to_string();
        assert!(text.ends_with("outside of all regions: byte 3 of input 3, 4 bytes"), "{text}");
        drop(memory);
        assert_eq!(write, [0, 0, 7, 8]);
    }

    #[test]
    fn below_the_stack_pointer_nothing_is_touched() {
        let mut memory = Memory::new();
        let end = memory.map_stack(8192);
        memory.set_stack_pointer(end - 64);
        assert!(memory.store(end - 64, &[0; 64]).is_ok());
        let error = memory.store(end - 65, &[0]).unwrap_err();
        assert_eq!(error.refusal, Refusal::BelowStackPointer);
    }
}
