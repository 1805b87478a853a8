//! Property: a structured program draws the values that the evaluation of its syntax tree gives
//! pixel by pixel.
#![no_main]

use libfuzzer_sys::fuzz_target;
use r500_exec::reference::Reference;
use r500_exec::{Bindings, Options, Shader, draw};
use r500_gen::{Bytes, Case, Choices, Shape, oracle};

fuzz_target!(|bytes: &[u8]| {
    let mut bytes = Bytes::new(bytes);
    let size = [[2, 2], [4, 4], [5, 3]][bytes.below(3) as usize];
    let group = [[2, 2], [4, 4], [6, 4]][bytes.below(3) as usize];
    let case = Case::generate(&mut bytes, &Shape { size, ..Shape::default() });

    let job = case.bare_job("fuzz");
    let shader = Shader::new(&job.program).expect("generated programs run");
    let bindings = Bindings::new(&job, size).expect("generated inputs fit");
    let options = Options { group, threads: 1, ..Options::default() };
    let frame = draw(&Reference, &shader, &bindings, &options).expect("generated programs end");

    for (n, pixel) in oracle::run(&case).into_iter().enumerate() {
        let [x, y] = [n as u32 % size[0], n as u32 / size[0]];
        assert_eq!(frame.coverage()[n], pixel.covered, "covered {x},{y}\n{case}");
        for (target, wanted) in pixel.color.into_iter().enumerate() {
            let got = frame.color(target, x, y);
            let equal = got.into_iter().zip(wanted).all(|(got, wanted)| same(got, wanted));
            assert!(equal, "{target} at {x},{y}: got {got:?}, wanted {wanted:?}\n{case}");
        }
        let (got, wanted) = (frame.depth().map_or(0.0, |d| d[n]), pixel.depth.unwrap_or(0.0));
        assert!(same(got, wanted), "depth at {x},{y}: got {got}, wanted {wanted}\n{case}");
    }
});

/// Returns whether the bits are equal, or both values are NaN.
fn same(a: f32, b: f32) -> bool {
    a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
}
