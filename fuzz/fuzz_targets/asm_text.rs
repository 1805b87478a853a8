//! Property: any text assembles, or its diagnostics are inside it; an assembled job prints as text that assembles to
//! the same job.
#![no_main]

use libfuzzer_sys::fuzz_target;
use r500_asm::{Options, PrintOptions, TextureSource, assemble, print};

fuzz_target!(|source: &[u8]| {
    let assembly = assemble(source, Options::default());
    for diagnostic in &assembly.diagnostics {
        let file = &assembly.files.list[diagnostic.span.file as usize];
        assert!(diagnostic.span.start <= diagnostic.span.end);
        assert!(diagnostic.span.end as usize <= file.bytes.len());
    }
    let _ = assembly.render(Default::default());
    // Textures that are not read yet have no texels to print.
    if !assembly.is_ok() || !assembly.textures.is_empty() {
        return;
    }

    let printed = print(&assembly.job, &PrintOptions::default());
    let mut again = assemble(printed.text.as_bytes(), Options::default());
    assert!(again.is_ok(), "{}\n{}", printed.text, again.render(Default::default()));
    for request in &again.textures {
        let TextureSource::Level { level } = request.source else { panic!("{request:?}") };
        let file = printed.files.iter().find(|f| f.name == request.path).expect("its file");
        let texture = again.job.textures[usize::from(request.unit)].as_mut().expect("its unit");
        texture.levels[level].bytes.clone_from(&file.bytes);
    }
    // Compared as text, because NaN is not equal to itself and -0 is equal to 0.
    assert_eq!(format!("{:?}", again.job), format!("{:?}", assembly.job), "{}", printed.text);
});
