//! Fault injection: tests re-enable former bugs of the code generator, and expect the checker of register allocation or the emulator to
//! find each of them. Outside of tests they are never enabled.

/// A former bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KnownBug {
    /// Parallel moves of vectors all precede those of opmasks, though both share the slots of the frame.
    MovesByClass,
    /// Lanes of constant texel offsets are loaded from the constant pool, where AVX-512 code has one lane only.
    TexelOffsetsInPool,
    /// A masked move assumes an aligned memory operand.
    #[cfg_attr(
        not(target_arch = "x86_64"),
        allow(dead_code, reason = "others have no masked moves")
    )]
    AlignedMaskedMove,
}

#[cfg(test)]
thread_local! {
    static INJECTED: std::cell::Cell<Option<KnownBug>> = const { std::cell::Cell::new(None) };
    static UNCHECKED: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Returns whether a bug is enabled for code compiled on this thread.
#[cfg(test)]
pub(crate) fn is_injected(bug: KnownBug) -> bool {
    INJECTED.get() == Some(bug)
}

#[cfg(not(test))]
pub(crate) const fn is_injected(_: KnownBug) -> bool {
    false
}

/// Returns whether the checker of register allocation is disabled.
#[cfg(any(debug_assertions, test))]
pub(crate) fn is_unchecked() -> bool {
    #[cfg(test)]
    return UNCHECKED.get();
    #[cfg(not(test))]
    false
}

/// Calls `f` with a bug enabled, if one is given, and the checker of register allocation enabled or disabled, for code compiled on this
/// thread.
#[cfg(all(test, target_arch = "x86_64"))]
pub(crate) fn inject<T>(bug: Option<KnownBug>, checked: bool, f: impl FnOnce() -> T) -> T {
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
