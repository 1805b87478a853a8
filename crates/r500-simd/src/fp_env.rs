//! The floating-point environment: flush-to-zero and denormals-are-zero.
//!
//! x86 implements the chip's rule (denormal operands and subnormal results are flushed to zero) at no cost, by two bits of the control
//! register MXCSR. [`flushing`] sets them around a call, [`plain`] clears them for code that must not flush: interpolants, texture reads.
//! On other targets both only call, and kernels check for denormals themselves ([`SoftFlush`](crate::flush::SoftFlush)).
//!
//! Rust and LLVM compile all float operations for the default environment. Two properties keep that sound:
//!
//! 1. **No float operation crosses a change.** One assembly block sets MXCSR, calls a function through a pointer and restores MXCSR: before
//!    and after it the environment is the same. The compiler can neither see the callee nor move anything into the block; data crosses it
//!    through memory, which the block may read and write. The called function runs entirely with the environment set, and contains the
//!    whole closure. A panic is caught inside and resumed outside, so no unwinding leaves the block.
//! 2. **Inside, float operations are compiled as written.** LLVM emits one instruction for each operation, whose result the processor then
//!    flushes; but it folds and simplifies by IEEE 754. So constants that could be subnormal are not folded (kernels take theirs from
//!    outside or have none), and no kernel may contain an *identity*: an operation that LLVM knows to return an operand, such as `x - 0.0`,
//!    `x + -0.0` or `x * 1.0`, also if the constant is one side of a select (with AVX-512, `c - (m ? 0.0 : p)` becomes a subtraction masked
//!    by `m` that passes a subnormal `c` through). Tests compare every kernel at every level with the scalar reference semantics over
//!    denormals, at any optimisation level.

#![allow(unsafe_code, reason = "MXCSR is reached by inline assembly only")]

/// Flush-to-zero and denormals-are-zero.
#[cfg(target_arch = "x86_64")]
const FLUSH: u32 = 1 << 15 | 1 << 6;

/// Calls `f` with denormal operands and subnormal results flushed to zeros of their sign, if the processor can.
pub fn flushing<T>(f: impl FnOnce() -> T) -> T {
    #[cfg(target_arch = "x86_64")]
    return with_mxcsr(|mxcsr| mxcsr | FLUSH, f);
    #[cfg(not(target_arch = "x86_64"))]
    f()
}

/// Calls `f` in IEEE 754 arithmetic, also inside [`flushing`].
pub fn plain<T>(f: impl FnOnce() -> T) -> T {
    #[cfg(target_arch = "x86_64")]
    return with_mxcsr(|mxcsr| mxcsr & !FLUSH, f);
    #[cfg(not(target_arch = "x86_64"))]
    f()
}

/// The closure and its result.
#[cfg(target_arch = "x86_64")]
struct Call<F, T> {
    f: Option<F>,
    result: Option<std::thread::Result<T>>,
}

/// Calls `f` with the flush bits of MXCSR changed, and restores them.
#[cfg(target_arch = "x86_64")]
fn with_mxcsr<T, F: FnOnce() -> T>(change: impl FnOnce(u32) -> u32, f: F) -> T {
    if cfg!(miri) {
        // Miri executes no assembly; without it, it still checks what the levels do with memory.
        return f();
    }
    let before = read();
    let during = change(before);
    if during == before {
        return f();
    }
    let mut call = Call { f: Some(f), result: None };
    set_call_restore(&during, &before, enter::<T, F>, (&raw mut call).cast());
    match call.result {
        Some(Ok(value)) => value,
        Some(Err(panic)) => std::panic::resume_unwind(panic),
        None => unreachable!("the block has called"),
    }
}

/// Calls `f` and catches panics: the callee of the block.
///
/// # Safety
/// `call` points to a `Call<F, T>` without other references.
#[cfg(target_arch = "x86_64")]
unsafe extern "sysv64" fn enter<T, F: FnOnce() -> T>(call: *mut ()) {
    // SAFETY: the caller's promise.
    let call = unsafe { &mut *call.cast::<Call<F, T>>() };
    let f = call.f.take();
    // The closure is dropped when it panics: its partial effects are visible only through borrows, which the caller's own unwinding leaves
    // in the same state.
    let f = std::panic::AssertUnwindSafe(|| f.map(|f| f()));
    call.result = std::panic::catch_unwind(f).transpose();
}

/// Sets MXCSR, calls `f` with `data`, and restores MXCSR.
#[cfg(target_arch = "x86_64")]
#[inline(never)]
fn set_call_restore(
    during: &u32,
    after: &u32,
    f: unsafe extern "sysv64" fn(*mut ()),
    data: *mut (),
) {
    // SAFETY: `ldmxcsr` loads four bytes from the addresses of live `u32`s, which came from `stmxcsr` with only the two flush bits changed,
    // so they set no reserved bit and unmask no exception. `f` is called with the argument that it requires (`with_mxcsr` is the only
    // caller); without `nostack` the stack is aligned for a call and nothing is below its pointer; `clobber_abi` declares the registers
    // that a System V function may overwrite, and `r12`, which holds a pointer across the call, is callee-saved. `f` does not unwind.
    // MXCSR's control bits have the same value at the end as at the start.
    unsafe {
        core::arch::asm!(
            "ldmxcsr [{during}]",
            "call {f}",
            "ldmxcsr [r12]",
            during = in(reg) during,
            f = in(reg) f,
            in("r12") after,
            in("rdi") data,
            clobber_abi("sysv64"),
        );
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;

    /// Returns half of the smallest normal number, and a denormal plus 0: a subnormal result and a denormal operand.
    #[inline(never)]
    fn probe() -> [u32; 2] {
        let (smallest, denormal) = (black_box(f32::MIN_POSITIVE), black_box(f32::from_bits(3)));
        [smallest * black_box(0.5), denormal + black_box(0.0)].map(f32::to_bits)
    }

    const IEEE: [u32; 2] = [0x0040_0000, 3];
    const FLUSHED: [u32; 2] = if cfg!(target_arch = "x86_64") { [0, 0] } else { IEEE };

    #[test]
    #[cfg_attr(miri, ignore = "assembly")]
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

    /// Only the environment distinguishes the three products: a compiler that moved or shared float operations across its changes would
    /// make them equal.
    #[test]
    #[cfg_attr(miri, ignore = "assembly")]
    fn equal_products_in_and_out_are_computed_where_they_stand() {
        let (a, b) = (black_box(f32::MIN_POSITIVE), black_box(0.5));
        let product = || (a * b).to_bits();
        let before = product();
        let inside = flushing(product);
        let nested = flushing(|| (product(), plain(product), product()));
        let after = product();
        assert_eq!([before, after, nested.1], [IEEE[0]; 3]);
        assert_eq!([inside, nested.0, nested.2], [FLUSHED[0]; 3]);
    }

    #[test]
    #[cfg_attr(miri, ignore = "assembly")]
    fn unwinding_restores() {
        let caught =
            std::panic::catch_unwind(|| flushing(|| std::panic::resume_unwind(Box::new(1))));
        assert!(caught.is_err());
        assert_eq!(probe(), IEEE);
    }

    #[test]
    #[cfg_attr(miri, ignore = "assembly")]
    fn threads_started_inside_do_not_matter_outside() {
        flushing(|| std::thread::scope(|scope| drop(scope.spawn(|| plain(probe)).join())));
        assert_eq!(probe(), IEEE);
    }
}
