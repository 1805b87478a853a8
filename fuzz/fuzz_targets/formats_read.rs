//! Property: any bytes, with format detection and as every format, give jobs, or errors that name
//! the problem and its position. Jobs survive a round trip through JSON, instructions one through
//! every format.
#![no_main]

use libfuzzer_sys::fuzz_target;
use r500_formats::{Format, Jobs, Limits, detect, read, write};
use r500_program::Job;

const LIMITS: Limits = Limits {
    bytes: 1 << 20,
    document: 1 << 18,
    jobs: 64,
    instructions: 4096,
    textures: 1 << 20,
    pixels: 1 << 14,
};

/// The output for a job may be longer than the input.
const AGAIN: Limits = Limits {
    bytes: 1 << 28,
    document: 1 << 28,
    jobs: 1,
    instructions: 4096,
    textures: 1 << 20,
    pixels: 1 << 14,
};

fuzz_target!(|bytes: &[u8]| {
    let detected = detect(bytes, None);
    for format in Format::ALL.map(Some).into_iter().chain([None]) {
        let jobs = match Jobs::new(bytes, format, &LIMITS) {
            Ok(jobs) => jobs,
            Err(error) => {
                assert!(!error.to_string().is_empty());
                continue;
            }
        };
        if format.is_none() {
            assert_eq!(Some(jobs.format()), detected);
        }
        for job in jobs {
            match job {
                Ok(job) => survives(&job),
                Err(error) => assert!(!error.to_string().is_empty()),
            }
        }
    }
});

fn survives(job: &Job) {
    for format in [Format::Json, Format::JsonLines] {
        let text = written(job, format);
        let again = one(read(&text, Some(format), &AGAIN), format);
        // Texts are compared besides jobs, because NaN is not equal to itself, and -0 is equal to
        // 0.
        assert_eq!(written(&again, format), text);
        if !format!("{job:?}").contains("NaN") {
            assert_eq!(again, *job);
        }
    }
    if job.program.code.is_empty() {
        return;
    }
    for format in [Format::Raw, Format::CArray, Format::Hex] {
        let again = one(read(&written(job, format), Some(format), &AGAIN), format);
        assert_eq!(again.program.code, job.program.code, "{format}");
    }
}

fn written(job: &Job, format: Format) -> Vec<u8> {
    let mut out = Vec::new();
    write(job, format, &mut out).expect("memory takes everything");
    out
}

fn one(jobs: Result<Vec<Job>, r500_formats::ReadError>, format: Format) -> Job {
    let mut jobs = jobs.unwrap_or_else(|e| panic!("{format} that was written: {e}"));
    assert_eq!(jobs.len(), 1);
    jobs.remove(0)
}
