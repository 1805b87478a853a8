//! Trial allocations: memory that a request needs is asked for before it is used, because a failed allocation of a vector ends
//! the process.

use crate::error::RunError;

/// Smaller amounts are not tried: a process without so much memory cannot report an error either.
const LEAST: u64 = 16 << 20;

/// Checks that memory can be allocated now; `what` names it.
///
/// # Errors
/// [`RunError::Allocation`].
pub(crate) fn check_available(bytes: u64, what: impl FnOnce() -> String) -> Result<(), RunError> {
    if bytes < LEAST {
        return Ok(());
    }
    let mut trial = Vec::<u8>::new();
    let fits = usize::try_from(bytes).is_ok_and(|bytes| trial.try_reserve_exact(bytes).is_ok());
    // The compiler may not drop the trial. The system provides no pages for it.
    std::hint::black_box(&mut trial);
    if fits { Ok(()) } else { Err(RunError::Allocation { what: what(), bytes }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_allocated_is_an_error() {
        assert_eq!(check_available(32 << 20, || "a frame".to_owned()), Ok(()));
        for bytes in [1 << 50, u64::MAX] {
            let what = "a frame".to_owned();
            let error = RunError::Allocation { what: what.clone(), bytes };
            assert_eq!(check_available(bytes, || what), Err(error));
        }
    }
}
