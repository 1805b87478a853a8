//! Shadow registers: the register file after the writes of a stream.

use r500_chip::vap::VapVteCntl;
use r500_chip::{APERTURE, Mapped, Mapping, at};

/// The register file. Registers keep their values between submissions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterFile {
    values: Box<[u32]>,
    written: Box<[bool]>,
}

impl Default for RegisterFile {
    fn default() -> Self {
        Self::new()
    }
}

impl RegisterFile {
    /// Returns registers after a reset: 0, with this exception:
    ///
    /// `VAP_VTE_CNTL`: positions are already divided by w. Programs that transform vertices themselves never write this
    /// register and draw correctly only so (observed with Mesa's r300 driver without vertex programs).
    #[must_use]
    pub fn new() -> Self {
        let length = APERTURE as usize / 4;
        let mut file = Self { values: vec![0; length].into(), written: vec![false; length].into() };
        let vte =
            VapVteCntl(0).with(VapVteCntl::VTX_XY_FMT, true).with(VapVteCntl::VTX_Z_FMT, true);
        file.values[VapVteCntl::MAPPING.address as usize / 4] = vte.bits();
        file
    }

    /// Returns a register; for a set, the first.
    #[must_use]
    pub fn get<R: Mapped>(&self) -> R {
        self.member(0)
    }

    /// Returns member `index` of a register set.
    ///
    /// # Panics
    ///
    /// If the set has no such member.
    #[must_use]
    pub fn member<R: Mapped>(&self, index: u32) -> R {
        R::from_bits(self.values[R::MAPPING.address_of(index) as usize / 4])
    }

    /// Returns whether a stream has written the register; for a set, the first.
    #[must_use]
    pub fn is_written<R: Mapped>(&self) -> bool {
        self.is_member_written::<R>(0)
    }

    /// Returns whether a stream has written member `index` of the register set.
    ///
    /// # Panics
    ///
    /// If the set has no such member.
    #[must_use]
    pub fn is_member_written<R: Mapped>(&self, index: u32) -> bool {
        self.written[R::MAPPING.address_of(index) as usize / 4]
    }

    /// Returns the dword at a byte offset; 0 outside the aperture.
    #[must_use]
    pub fn read(&self, address: u32) -> u32 {
        self.values.get(address as usize / 4).copied().unwrap_or_default()
    }

    /// Writes the dword at a byte offset; aliases refer to the same register. Offsets outside the aperture are ignored.
    pub fn write(&mut self, address: u32, value: u32) {
        let address = match at(address) {
            Some(place) => place.address(),
            None => address,
        } as usize;
        if let (Some(stored), Some(written)) =
            (self.values.get_mut(address / 4), self.written.get_mut(address / 4))
        {
            *stored = value;
            *written = true;
        }
    }

    /// Returns all dwords that streams have written: byte offset and value.
    pub fn written(&self) -> impl Iterator<Item = (u32, u32)> {
        let dwords = self.values.iter().zip(&self.written).enumerate();
        dwords.filter(|(_, (_, written))| **written).map(|(i, (value, _))| (i as u32 * 4, *value))
    }
}

/// Returns member `index` of a set if `address` lies in it.
pub(crate) fn member_at(mapping: &'static Mapping, address: u32) -> Option<u32> {
    let place = at(address)?;
    (place.mapping == mapping).then_some(place.index)
}

#[cfg(test)]
mod tests {
    use r500_chip::su::SuCullMode;
    use r500_chip::vap::{VapProgStreamCntl, VapVportXscale};

    use super::*;

    #[test]
    fn writes_reach_typed_views() {
        let mut file = RegisterFile::new();
        file.write(0x42b8, 2);
        assert!(file.get::<SuCullMode>().cull_back());
        assert!(file.is_written::<SuCullMode>());
        file.write(0x2158, 7);
        assert_eq!(file.member::<VapProgStreamCntl>(2).bits(), 7);
        assert!(!file.is_written::<VapProgStreamCntl>());
        assert!(file.is_member_written::<VapProgStreamCntl>(2));
        file.write(0x2098, 1.5f32.to_bits());
        assert_eq!(file.get::<VapVportXscale>().vport_xscale(), 1.5, "second address");
        file.write(0x1234, 5);
        assert_eq!(file.read(0x1234), 5, "unknown registers hold values, too");
        file.write(0x2_0000, 5);
        assert_eq!(file.read(0x2_0000), 0);
        let written = [(0x1234, 5), (0x1d98, 0x3fc0_0000), (0x2158, 7), (0x42b8, 2)];
        assert!(file.written().eq(written));
    }

    #[test]
    fn reset_values_are_not_written() {
        let file = RegisterFile::new();
        assert_eq!(file.get::<VapVteCntl>().bits(), 0x300);
        assert_eq!(file.written().count(), 0);
    }
}
