//! The machine code of a program, and the loop in it that runs once for each group of pixels.

use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result, bail};
use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction};
use r500::exec::{Draw, RunError};
use r500::fast::codegen::{Batch, CompileUnit, Compiler, Kernel, ResourceLayout};
use r500::fast::{NativeCode, Simd};
use r500::jit::Effort;
use r500::jit::compile::{Assembly, Level, compile};
use r500::lift::{LiftInput, lift};

/// A loop of the machine code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Loop {
    pub(crate) what: What,
    /// The instructions, from the loop head to the backward jump.
    pub(crate) code: Vec<u8>,
    /// Pixels per iteration.
    pub(crate) pixels: u32,
}

/// The kind of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum What {
    /// The whole segment without branches; each iteration processes one group of pixels.
    Straight,
    /// The whole segment with branches, as if every group executed all of them.
    Branches,
    /// An innermost loop of the program, through all branches.
    Pass,
}

/// Returns the loops of a program, compiled at full effort: the loops over the pixels, one per
/// segment, or the innermost loops if the program itself has loops.
///
/// # Errors
/// If some operations are not machine code.
pub(crate) fn loops(draw: &Draw<'_>, level: Level) -> Result<Vec<Loop>> {
    let function = match LiftInput::of_draw(draw).and_then(|input| lift(&input)) {
        Ok(function) => function,
        Err(reason) => bail!("the reference engine draws it: {reason}"),
    };
    let sources = ResourceLayout::of(&function, draw.bindings, &draw.options.readings.texture());
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

/// A compiler that compiles like the jit engine and keeps the assemblies.
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

/// A placeholder kernel: its code is only analysed, not executed.
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
    // The jump that goes back furthest closes the loop over the groups; backward jumps after it
    // leave the loop.
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
