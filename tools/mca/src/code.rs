//! The machine code of a program, and the loop in it that runs once for each group of pixels.

use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result, bail};
use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction};
use r500::exec::{Draw, RunError};
use r500::fast::codegen::{Batch, CompileUnit, Compiler, Kernel, ResourceLayout};
use r500::fast::{NativeCode, Simd};
use r500::ir;
use r500::jit::Effort;
use r500::jit::compile::{Assembly, Level, compile};

/// What runs again and again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Loop {
    pub(crate) what: What,
    /// The instructions, from its top to the jump back.
    pub(crate) code: Vec<u8>,
    /// Pixels that go through it at once.
    pub(crate) pixels: u32,
}

/// What a loop is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum What {
    /// All of a segment, for one group of pixels after the other; they all take the same way.
    Straight,
    /// Likewise, with branches: as if every group went through all of them.
    Branches,
    /// An innermost loop of the program, one pass after the other, through all branches.
    Pass,
}

/// Returns the loops of a program, made as well as can be: those over the pixels, one for each
/// segment, or the innermost ones where the program has loops itself.
///
/// # Errors
/// If not all of the program is machine code.
pub(crate) fn loops(draw: &Draw<'_>, level: Level) -> Result<Vec<Loop>> {
    let function = match ir::lift(draw) {
        Ok(function) => function,
        Err(reason) => bail!("the reference engine draws it: {reason}"),
    };
    let sources = ResourceLayout::of(&function, draw.bindings);
    let keeper = Keeper { level, assemblies: Mutex::default() };
    let code = NativeCode::compile(&function, &[], &sources, Simd::detect(), &keeper);
    let (compiled, all) = code.coverage();
    if compiled < all {
        bail!("{} of {all} operations are not machine code", all - compiled);
    }
    let assemblies = keeper.assemblies.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut loops = Vec::new();
    for assembly in &assemblies {
        loops.extend(loops_of(assembly)?);
    }
    Ok(loops)
}

/// Compiles as the jit engine does, and keeps what comes of it.
struct Keeper {
    level: Level,
    assemblies: Mutex<Vec<Assembly>>,
}

impl Compiler for Keeper {
    fn compile(&self, unit: &CompileUnit<'_>) -> Option<Arc<dyn Kernel>> {
        let assembly = compile(unit, self.level, Effort::Full).ok()?;
        self.assemblies.lock().unwrap_or_else(PoisonError::into_inner).push(assembly);
        Some(Arc::new(Unused))
    }
}

/// Code that is only read.
struct Unused;

impl Kernel for Unused {
    fn run(&self, _: &mut Batch<'_, '_>, _: (usize, usize)) -> Result<(), RunError> {
        Ok(())
    }
}

/// Returns the loops of a segment.
fn loops_of(assembly: &Assembly) -> Result<Vec<Loop>> {
    let instructions = &assembly.code[..assembly.constants];
    let decoder = Decoder::with_ip(64, instructions, 0, DecoderOptions::NONE);
    let jumps: Vec<Instruction> = decoder.into_iter().filter(is_jump).collect();
    let top = |jump: &Instruction| jump.near_branch_target();
    let is_back = |jump: &&Instruction| top(jump) <= jump.ip();
    // The one that goes back furthest is over the groups; what goes back after it leaves.
    let groups = jumps.iter().filter(is_back).min_by_key(|jump| top(jump));
    let groups = groups.context("there is no loop in it")?;
    let inside = |jump: &&Instruction| jump.ip() >= top(groups) && jump.ip() < groups.ip();
    let cut = |what, jump: &Instruction| {
        let code = instructions[top(jump) as usize..jump.next_ip() as usize].to_vec();
        Loop { what, code, pixels: assembly.lanes }
    };
    if !jumps.iter().any(|jump| inside(&jump)) {
        return Ok(vec![cut(What::Straight, groups)]);
    }
    let back: Vec<&Instruction> = jumps.iter().filter(inside).filter(is_back).collect();
    if back.is_empty() {
        return Ok(vec![cut(What::Branches, groups)]);
    }
    let holds = |outer: &Instruction, inner: &Instruction| {
        outer.ip() != inner.ip() && top(outer) <= inner.ip() && inner.ip() < outer.ip()
    };
    let innermost = back.iter().filter(|jump| !back.iter().any(|inner| holds(jump, inner)));
    Ok(innermost.map(|jump| cut(What::Pass, jump)).collect())
}

fn is_jump(instruction: &Instruction) -> bool {
    matches!(
        instruction.flow_control(),
        FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch
    )
}
