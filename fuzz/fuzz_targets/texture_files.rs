//! Property: any bytes, read as a PNG, a DDS and a KTX2 file, give a texture whose texels can be
//! fetched, or an error that names the problem.
#![no_main]

use libfuzzer_sys::fuzz_target;
use r500::picture::decode_png;
use r500::texture::{Mips, Source, Texels, TextureSpec, decode_dds, decode_ktx2};
use r500_exec::texture::{QuadFetch, Sampler, TexReadings};
use r500_isa::values::TexOp;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(picture) = decode_png(bytes)
        && u64::from(picture.width) * u64::from(picture.height) < 1 << 20
    {
        sample(Texels::from_picture(&picture, true), Mips::Make);
    }
    for decoded in [decode_dds(bytes), decode_ktx2(bytes)] {
        match decoded {
            Ok(texels) => sample(texels, Mips::Stored),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
});

fn sample(texels: Texels, mips: Mips) {
    let mut spec = TextureSpec::new(Source::Checker);
    spec.mips = mips;
    let Ok(texture) = texels.bind(&spec) else { return };
    let Ok(sampler) = Sampler::bind(&texture, None) else { return };
    let corners = [[0.1, 0.2, 0.3, 1.0], [0.6, 0.2, 0.3, 1.0], [0.1, 0.9, 0.3, 1.0], [2.5; 4]];
    let quad = QuadFetch::new(TexOp::LD, corners);
    let readings = TexReadings::default();
    let fetched = sampler.fetch(&quad, &readings).map(|color| color.map(f32::to_bits));
    let looked_up = sampler.look_up(&quad, &readings).map(|lookup| lookup.color.map(f32::to_bits));
    assert_eq!(fetched, looked_up);
}
