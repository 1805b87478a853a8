//! Prefetches.

#![allow(unsafe_code, reason = "the prefetch instruction takes a pointer")]

/// Asks for memory to be in the cache when it is read and written soon. Has no other effect; none where there is no such instruction.
#[inline(always)]
pub fn prefetch<T>(memory: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the instruction accesses no memory and never faults; the pointer is that of a reference.
    unsafe {
        use core::arch::x86_64::{_MM_HINT_ET0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_ET0>(core::ptr::from_ref(memory).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = memory;
}

#[cfg(test)]
mod tests {
    #[test]
    fn prefetched_memory_is_unchanged() {
        let memory = [1_u32, 2];
        super::prefetch(&memory);
        assert_eq!(memory, [1, 2]);
    }
}
