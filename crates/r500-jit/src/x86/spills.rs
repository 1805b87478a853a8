//! Spill counts of the captures of the corpus: vectors that the allocator stores to the frame and reads from it. (Texel offsets are always
//! read from memory and do not count.)

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::{Arc, Mutex};

use r500_exec::texture::TexReadings;
use r500_exec::{Bindings, Draw, Options, RunError, Shader};
use r500_fast::codegen::{Batch, CompileUnit, Compiler, Kernel, ResourceLayout};
use r500_fast::{NativeCode, Simd};

use crate::Effort;
use crate::x86::compile::{lower_unit, schedule_groups};
use crate::x86::level::Level;
use r500_lir::regalloc::{allocate, pressure};
use r500_lir::{Class, MachInst, Mem, Opcode, RegMem};

/// Counts for the code of a program.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    /// Operations and moves.
    instructions: usize,
    /// Register pressure: live vectors without a location in memory.
    live: usize,
    stores: usize,
    reads: usize,
}

/// A compiler that counts the instructions of units.
struct Counter {
    level: Level,
    doublings: u32,
    counts: Mutex<Counts>,
}

impl Compiler for Counter {
    fn compile(&self, unit: &CompileUnit<'_>) -> Option<Arc<dyn Kernel>> {
        let lowered = lower_unit(unit, self.level);
        let function = schedule_groups(lowered, self.level, Effort::Full, self.doublings);
        let code = allocate(&function, self.level.machine());
        let mut counts = self.counts.lock().unwrap();
        counts.live = counts.live.max(pressure(&function));
        let in_frame =
            |place: &Option<RegMem>| matches!(place, Some(RegMem::Memory(Mem::Stack(_))));
        let mut offsets = HashSet::new();
        function.each_op(|op| {
            if let Opcode::LoadTexel(_) = op.opcode {
                offsets.extend(op.args());
            }
        });
        for inst in &code.insts {
            counts.instructions += usize::from(!matches!(inst, MachInst::Label(_)));
            match inst {
                MachInst::Store { class: Class::Vector, to: Mem::Stack(_), .. } => {
                    counts.stores += 1;
                }
                MachInst::Load { class: Class::Vector, from: Mem::Stack(_), .. } => {
                    counts.reads += 1;
                }
                MachInst::Op { opcode: Opcode::LoadTexel(_), .. } => {}
                MachInst::Op { args, .. } => {
                    counts.reads += args.iter().filter(|a| in_frame(a)).count()
                }
                _ => {}
            }
        }
        counts.stores -= offsets.len().min(counts.stores);
        Some(Arc::new(Unused))
    }
}

/// A kernel that never runs.
struct Unused;

impl Kernel for Unused {
    fn run(&self, _: &mut Batch<'_, '_>, _: (usize, usize)) -> Result<(), RunError> {
        Ok(())
    }
}

/// Returns the counts of each capture, by name.
fn captures(level: Level, doublings: u32) -> BTreeMap<String, Counts> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/corpus/mesa"));
    let mut all = BTreeMap::new();
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let limits = r500_formats::Limits::default();
        let job =
            r500_formats::read(&std::fs::read(&path).unwrap(), None, &limits).unwrap().remove(0);
        let shader = Shader::new(&job.program).unwrap();
        let bindings = Bindings::new(&job, job.size.unwrap_or([64, 64])).unwrap();
        let options = Options::default();
        let draw = Draw::new(&shader, &bindings, &options).unwrap();
        let input = r500_lift::LiftInput::of_draw(&draw).unwrap();
        let function = r500_lift::lift(&input).unwrap();
        let counter = Counter { level, doublings, counts: Mutex::default() };
        let resources = ResourceLayout::of(&function, &bindings, &TexReadings::REFERENCE);
        let simd = if level == Level::Avx2 { Simd::Avx2 } else { Simd::Avx512 };
        let code = NativeCode::compile(&function, &[], &resources, simd, &counter);
        assert!(code.coverage().0 > 0, "nothing was compiled of {}", path.display());
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        all.insert(name, counter.counts.into_inner().unwrap());
    }
    all
}

/// A capture and its limits of stores and reads.
type Ceiling = (&'static str, usize, usize);

/// Upper limits of stores and reads of captures, with one group of pixels at a time, rounded up; captures that are not listed have none.
/// (`big_temps` has 106 live values for 31 registers: at least 75 must be stored.)
const CEILINGS: [(Level, &[Ceiling]); 2] = [
    (
        Level::Avx512,
        &[
            ("alu_trig", 5, 5),
            ("big_temps", 105, 220),
            ("if_chain", 65, 65),
            ("loop_three", 5, 5),
            ("return_early", 5, 5),
            ("scene_voronoi", 10, 10),
            ("tex_blur", 10, 10),
            ("tex_branch", 5, 5),
            ("tex_grad", 10, 10),
            ("tex_mips", 25, 25),
        ],
    ),
    (
        Level::Avx2,
        &[
            ("alu_matrix", 5, 5),
            ("alu_minmax", 5, 5),
            ("alu_omod", 5, 5),
            ("alu_presub", 10, 10),
            ("alu_transcend", 5, 5),
            ("alu_trig", 20, 21),
            ("big_consts", 10, 10),
            ("big_temps", 110, 275),
            ("deriv_basic", 5, 5),
            ("discard_branch", 10, 10),
            ("if_chain", 90, 90),
            ("if_nested6", 15, 15),
            ("if_noelse", 10, 10),
            ("if_seq_else", 25, 25),
            ("if_simple", 15, 15),
            ("loop_break_continue", 5, 5),
            ("loop_break_deep", 20, 20),
            ("loop_continue", 5, 5),
            ("loop_idle_cont", 20, 20),
            ("loop_idle_inner", 20, 20),
            ("loop_nested_inner", 10, 10),
            ("loop_nested_outer", 15, 15),
            ("loop_three", 25, 25),
            ("return_early", 45, 45),
            ("return_loop", 15, 15),
            ("scene_fbm", 10, 10),
            ("scene_phong", 15, 15),
            ("scene_raymarch", 15, 15),
            ("scene_sdf2d", 10, 10),
            ("scene_voronoi", 55, 65),
            ("tex_blur", 25, 25),
            ("tex_branch", 20, 20),
            ("tex_grad", 25, 25),
            ("tex_mips", 55, 55),
        ],
    ),
];

#[test]
fn captures_spill_no_more_than_they_did() {
    let mut more = Vec::new();
    for (level, ceilings) in CEILINGS {
        for (name, counts) in captures(level, 0) {
            let ceiling = ceilings.iter().find(|row| row.0 == name).unwrap_or(&("", 0, 0));
            if counts.stores > ceiling.1 || counts.reads > ceiling.2 {
                more.push(format!(
                    "{level:?}, {name}: {counts:?}, of stores and reads: {ceiling:?}"
                ));
            }
        }
    }
    assert!(more.is_empty(), "more than before:\n{}", more.join("\n"));
}
