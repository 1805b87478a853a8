//! A prepared draw allocates no memory after its first runs, whichever constants, values and coverage change.
#![allow(unsafe_code, reason = "an allocator that counts")]
#![allow(missing_docs, clippy::unwrap_used)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use r500::exec::{Bindings, ColorSurface, Drawing, Engine, Options, PixelRect, Shader, Surfaces};
use r500::fast::{Fast, Simd};
use r500::jit::{Effort, Jit, Settings, When};
use r500::program::{Input, InputData};
use r500::reader::{self, Language};

thread_local! {
    /// Allocations of this thread.
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: calls the system allocator; the counter does not allocate, because it is a constant without a destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: the caller's contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's contract.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: the caller's contract.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const PROGRAM: &[u8] = b"
    TEXTURE tex[0] = checker(64, 64, 16) linear wrap ;
    TEX TEX_SEM_ACQUIRE temp[2].rgba = LD tex[0].rgba temp[0].rggg ;
    OUT TEX_SEM_WAIT LAST src0.rgb = temp[2], src1.rgb = const[1], src1.a = const[1] :
        out[0].rgb = MAD src0.rgb src1.rgb src0.000, out[0].a = MAX src1.a src1.a ;";

#[test]
fn a_warm_drawing_allocates_nothing() {
    let limits = Default::default();
    let job = reader::read(PROGRAM, None, Some(Language::Assembly), &limits).unwrap().remove(0);
    let settings = Settings { when: When::Before(Effort::Full), ..Settings::default() };
    let jit = Jit::with(Simd::detect(), settings);
    let compiled = if jit.unavailable().is_none() { "jit" } else { "fast" };
    for (by, engine) in [(compiled, &jit as &dyn Engine), ("fast", &Fast::new())] {
        let mut bindings = Bindings::new(&job, [64, 48]).unwrap();
        let values = vec![[0.25; 4]; 64 * 48];
        bindings
            .set_input(Input { temp: 0, data: InputData::Values { width: 64, values } })
            .unwrap();
        bindings.set_coverage(Some(vec![true; 64 * 48])).unwrap();
        let options = Options { threads: 1, ..Options::default() };
        let shader = Shader::new(&job.program).unwrap();
        let mut drawing = Drawing::new(engine, shader, &bindings, options).unwrap();
        let mut pixels = vec![0; 64 * 48 * 4];
        let mut draw = |n: u16| {
            let x = 1.0 + f32::from(n) / 64.0;
            bindings.set_constant(1, [x, x + 1.0, x + 2.0, x + 3.0]).unwrap();
            bindings.input_values_mut(0).unwrap()[usize::from(n)] = [x; 4];
            bindings.coverage_mut().unwrap()[usize::from(n)] = n.is_multiple_of(2);
            let area = PixelRect { x: 0, y: 0, width: 64, height: 2 + u32::from(n) % 40 };
            let surface = ColorSurface::rgba8(&mut pixels, 64 * 4);
            drawing.draw_to(&bindings, &mut Surfaces::color(area, surface)).unwrap();
        };
        // Sizes, constants that start to change, and forms of machine code that are compiled for measurement.
        (0..300).for_each(&mut draw);
        let before = COUNT.get();
        (300..400).for_each(&mut draw);
        assert_eq!(COUNT.get() - before, 0, "{}", engine.name());
        drawing.run_info().drawn_by(by).unwrap();
    }
}
