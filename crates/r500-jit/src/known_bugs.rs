//! Fault injection: bugs that the code generator once had, put back by tests, which have to see that the checker
//! of register allocation or the emulator finds each of them. Otherwise none is ever there.

/// A bug that was repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KnownBug {
    /// Parallel moves of vectors all precede those of opmasks, though both share the slots of the frame.
    MovesByClass,
    /// Constant texel offsets are loaded lane by lane from the pool, where AVX-512 code has one of them only.
    TexelOffsetsInPool,
    /// A masked move from memory wants it aligned.
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

/// Returns whether code compiled on this thread has a bug.
#[cfg(test)]
pub(crate) fn is_injected(bug: KnownBug) -> bool {
    INJECTED.get() == Some(bug)
}

#[cfg(not(test))]
pub(crate) const fn is_injected(_: KnownBug) -> bool {
    false
}

/// Returns whether the checker of register allocation is to be silent.
#[cfg(any(debug_assertions, test))]
pub(crate) fn is_unchecked() -> bool {
    #[cfg(test)]
    return UNCHECKED.get();
    #[cfg(not(test))]
    false
}

/// Calls `f`, during which code compiled on this thread has a bug, if any is given, and register allocation is
/// checked or not.
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
