//! Fault injection: tests re-enable former bugs of the code generator, and expect the checker of register allocation or the emulator to
//! find each of them. Outside of tests they are never enabled.

/// A former bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnownBug {
    /// Parallel moves of vectors all precede those of opmasks, though both share the slots of the frame.
    MovesByClass,
    /// Lanes of constant texel offsets are loaded from the constant pool, where AVX-512 code has one lane only.
    TexelOffsetsInPool,
    /// A masked move assumes an aligned memory operand.
    AlignedMaskedMove,
}

#[cfg(feature = "fault-injection")]
thread_local! {
    static INJECTED: std::cell::Cell<Option<KnownBug>> = const { std::cell::Cell::new(None) };
    static UNCHECKED: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Returns whether a bug is enabled for code compiled on this thread.
#[cfg(feature = "fault-injection")]
pub fn is_injected(bug: KnownBug) -> bool {
    INJECTED.get() == Some(bug)
}

#[cfg(not(feature = "fault-injection"))]
pub const fn is_injected(_: KnownBug) -> bool {
    false
}

/// Returns whether the checker of register allocation is disabled.
#[cfg(debug_assertions)]
pub(crate) fn is_unchecked() -> bool {
    #[cfg(feature = "fault-injection")]
    return UNCHECKED.get();
    #[cfg(not(feature = "fault-injection"))]
    false
}

/// Calls `f` with a bug enabled, if one is given, and the checker of register allocation enabled or disabled, for code compiled on this
/// thread.
#[cfg(feature = "fault-injection")]
pub fn inject<T>(bug: Option<KnownBug>, checked: bool, f: impl FnOnce() -> T) -> T {
    /// Ends the injection, also while unwinding.
    struct End;
    impl Drop for End {
        fn drop(&mut self) {
            INJECTED.set(None);
            UNCHECKED.set(false);
        }
    }
    let _end = End;
    INJECTED.set(bug);
    UNCHECKED.set(!checked);
    f()
}
