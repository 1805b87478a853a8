//! Property: near-valid programs (opcodes, registers and targets in range, all fields in use) with random state,
//! textures and inputs draw, or report an error; collecting warnings changes no pixel.
#![no_main]

use libfuzzer_sys::fuzz_target;
use r500_exec::{Bindings, Shader};
use r500_fuzz::watching_changes_nothing;
use r500_gen::{Bytes, Choices, raw_programs};

fuzz_target!(|bytes: &[u8]| {
    let mut bytes = Bytes::new(bytes);
    let length = 1 + bytes.below(48) as u16;
    let group = [[2, 2], [4, 4], [8, 8]][bytes.below(3) as usize];
    let job = raw_programs::job(&mut bytes, length);
    let size = job.size.unwrap_or([8, 8]);
    let Ok(shader) = Shader::new(&job.program) else { return };
    let Ok(bindings) = Bindings::new(&job, size) else { return };
    watching_changes_nothing(&shader, &bindings, &job.program, group);
});
