//! Identity of a process: whether threads that an earlier call started still exist.
//!
//! A child of `fork` has the memory of its parent, but only the thread that called `fork`. Thread pools, background
//! threads and locks that other threads held are unusable there. What owns a thread therefore keeps the
//! [`ProcessId`] of its process and starts another one where that is not the current one.

/// The number of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessId(u32);

impl ProcessId {
    /// Returns the number of the current process.
    #[must_use]
    pub fn current() -> Self {
        // The operating system is asked each time: the C library caches no process number.
        #[cfg(not(target_family = "wasm"))]
        return Self(std::process::id());
        // There is one process, without `fork`.
        #[cfg(target_family = "wasm")]
        return Self(1);
    }

    /// Returns whether this is the current process.
    #[must_use]
    pub fn is_current(self) -> bool {
        self == Self::current()
    }

    /// Returns the number.
    #[must_use]
    pub fn number(self) -> u32 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_itself_and_no_other() {
        assert!(ProcessId::current().is_current());
        assert!(!ProcessId(ProcessId::current().number() ^ 1).is_current());
    }
}
