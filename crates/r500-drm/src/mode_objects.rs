//! The objects of mode setting: one of each kind, by number.

use crate::{Errno, Program};

pub(crate) const CRTC: u32 = 1;
pub(crate) const ENCODER: u32 = 2;
pub(crate) const CONNECTOR: u32 = 3;
pub(crate) const PLANE: u32 = 4;

/// Checks that a number is that of the only object.
pub(crate) fn exists(id: u32, only: u32) -> Result<(), Errno> {
    if id == only { Ok(()) } else { Err(Errno::NOENT) }
}

/// Returns a list of a length that the program queries first.
pub(crate) fn list<T: bytemuck::Pod>(
    program: &Program,
    values: &[T],
    address: u64,
    count: &mut u32,
) -> Result<(), Errno> {
    if address != 0 && *count as usize >= values.len() {
        program.write_array(address, values)?;
    }
    *count = values.len() as u32;
    Ok(())
}
