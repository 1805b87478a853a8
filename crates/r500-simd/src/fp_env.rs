//! The processor's own rule for denormals.
//!
//! x86 can do all of the machine's rule (operands count as zeros, tiny results become zeros) by
//! itself and at no cost: two bits of the control register MXCSR. [`flushing`] sets them around a
//! call, [`plain`] clears them for what must not flush: interpolants, texture reads. Elsewhere both
//! just call, and kernels watch for denormals themselves ([`SoftFlush`](crate::flush::SoftFlush)).
//!
//! The compiler knows nothing of these bits. It could compute in one environment what was written
//! in the other, as long as nothing but numbers in registers is concerned; so each change is around
//! a call that is never inlined, and what crosses it goes through memory. Constants that the
//! compiler folds are folded without flushing: kernels take theirs from outside, or none that can
//! underflow. Tests run at whatever optimisation they are built with.

#![allow(unsafe_code, reason = "MXCSR is reached by inline assembly only")]

/// Flush-to-zero and denormals-are-zero.
#[cfg(target_arch = "x86_64")]
const FLUSH: u32 = 1 << 15 | 1 << 6;

/// Calls `f` with denormal operands and tiny results made zeros of their sign, where the processor
/// can.
pub fn flushing<T>(f: impl FnOnce() -> T) -> T {
    #[cfg(target_arch = "x86_64")]
    let _restores = Environment::set(|mxcsr| mxcsr | FLUSH);
    call(f)
}

/// Calls `f` with the arithmetic of IEEE 754, whatever [`flushing`] it is inside of.
pub fn plain<T>(f: impl FnOnce() -> T) -> T {
    #[cfg(target_arch = "x86_64")]
    let _restores = Environment::set(|mxcsr| mxcsr & !FLUSH);
    call(f)
}

/// The wall between two environments.
#[inline(never)]
fn call<T>(f: impl FnOnce() -> T) -> T {
    f()
}

/// The environment as it was; sets it again when dropped, also while unwinding.
#[cfg(target_arch = "x86_64")]
struct Environment {
    before: u32,
}

#[cfg(target_arch = "x86_64")]
impl Environment {
    #[inline]
    fn set(change: impl FnOnce(u32) -> u32) -> Self {
        let before = read();
        write(change(before));
        Self { before }
    }
}

#[cfg(target_arch = "x86_64")]
impl Drop for Environment {
    #[inline]
    fn drop(&mut self) {
        // Only the two bits: the sticky exception flags are anyone's.
        write(read() & !FLUSH | self.before & FLUSH);
    }
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn read() -> u32 {
    let mut mxcsr = 0_u32;
    // SAFETY: the instruction stores four bytes at the address, which is that of a live `u32`;
    // every x86-64 processor has it.
    unsafe {
        core::arch::asm!("stmxcsr [{}]", in(reg) &raw mut mxcsr, options(nostack, preserves_flags));
    }
    mxcsr
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn write(mxcsr: u32) {
    // SAFETY: the instruction loads four bytes from the address of a live `u32`. The value came from
    // `stmxcsr` with none but the two flush bits changed, so it sets no reserved bit and unmasks no
    // exception. Those bits change the results of floating-point instructions and nothing else; the
    // callers keep code that minds outside (module header).
    unsafe {
        core::arch::asm!("ldmxcsr [{}]", in(reg) &raw const mxcsr, options(nostack, preserves_flags));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;

    /// Half of the smallest normal number, and a denormal plus 0: results and operands.
    #[inline(never)]
    fn probe() -> [u32; 2] {
        let (smallest, denormal) = (black_box(f32::MIN_POSITIVE), black_box(f32::from_bits(3)));
        [smallest * black_box(0.5), denormal + black_box(0.0)].map(f32::to_bits)
    }

    const IEEE: [u32; 2] = [0x0040_0000, 3];
    const FLUSHED: [u32; 2] = if cfg!(target_arch = "x86_64") { [0, 0] } else { IEEE };

    #[test]
    fn environments_nest_and_are_left_as_found() {
        assert_eq!(probe(), IEEE);
        flushing(|| {
            assert_eq!(probe(), FLUSHED);
            plain(|| {
                assert_eq!(probe(), IEEE);
                flushing(|| assert_eq!(probe(), FLUSHED));
                assert_eq!(probe(), IEEE);
            });
            assert_eq!(probe(), FLUSHED);
        });
        assert_eq!(probe(), IEEE);
    }

    #[test]
    fn unwinding_restores() {
        let caught =
            std::panic::catch_unwind(|| flushing(|| std::panic::resume_unwind(Box::new(1))));
        assert!(caught.is_err());
        assert_eq!(probe(), IEEE);
    }

    #[test]
    fn threads_started_inside_do_not_matter_outside() {
        flushing(|| std::thread::scope(|scope| drop(scope.spawn(|| plain(probe)).join())));
        assert_eq!(probe(), IEEE);
    }
}
