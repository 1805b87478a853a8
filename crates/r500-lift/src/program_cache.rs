//! The program cache: functions of programs, by content, with what an engine compiled from them.
//!
//! A function is valid for more than the run that it was lifted for: for all runs with the same program, the same kinds of resources, and values
//! within the assumed ranges. The cache returns it for these, whatever draw, picture size or thread asks. Two kinds of values decide:
//!
//! - a float constant is folded, or [symbolic](SymbolicConstants) within a range;
//! - a channel of an input is folded if it is the same number everywhere, or lies in a range.
//!
//! Folding gives the best code, but it holds for these values only. Where a value differs from that of the cached function, the
//! program is lifted again: the constant becomes symbolic, the channel gets a range, which are widened to all values of the signs and classes
//! that were seen (zero, NaN, subnormal). That happens a few times at most. From then on, values are data.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use r500_exec::process::ProcessId;
use r500_exec::texture::SamplerKind;
use r500_exec::{GroupKind, Op, ProgramKey, ProgramUse, Readings};
use r500_ir::{ConstantChannel, Function, Range};
use r500_isa::{CONSTANTS, TEXTURE_UNITS};

use crate::{
    InputKind, LiftError, LiftInput, ProgramAnalysis, SymbolicConstants, lift_symbolic,
    needs_group_check,
};

/// The maximum number of programs.
const MAX_PROGRAMS: usize = 64;

/// The maximum number of functions of a program, each for other kinds of resources.
const MAX_FUNCTIONS: usize = 8;

/// The maximum number of values of all functions.
const MAX_VALUES: usize = 1 << 20;

/// Functions of programs, by content. `T` is what an engine compiles from a function.
///
/// It is bounded: the least recently used programs are dropped. In the child of a `fork` nothing is cached, because a thread of the parent
/// may have held the lock.
#[derive(Debug)]
pub struct ProgramCache<T> {
    programs: Mutex<Programs<T>>,
    prepared: AtomicU64,
    reused: AtomicU64,
    process: ProcessId,
}

#[derive(Debug)]
struct Programs<T> {
    programs: HashMap<ProgramKey, Prepared<T>>,
    /// The number of requests so far.
    now: u64,
    /// The number of values of all functions.
    values: usize,
}

/// The functions of a program, the last one used last.
#[derive(Debug)]
struct Prepared<T> {
    functions: Vec<Arc<PreparedProgram<T>>>,
    /// The number of the last request.
    used: u64,
}

/// A function of a program, and what an engine compiled from it.
#[derive(Debug)]
pub struct PreparedProgram<T> {
    /// The function.
    pub function: Arc<Function>,
    /// The constants that it leaves symbolic.
    pub symbolic: SymbolicConstants,
    /// What an engine compiled from the function.
    pub compiled: T,
    analysis: Arc<ProgramAnalysis>,
    reads: Arc<Reads>,
    kinds: Kinds,
    /// The inputs, with the assumed ranges.
    inputs: Vec<InputKind>,
    /// The constants that it was lifted with.
    constants: Vec<[f32; 4]>,
}

/// The facts that must be equal, as far as the program depends on them.
#[derive(Clone, Debug, PartialEq)]
struct Kinds {
    /// The samplers of units that the program names.
    samplers: [Option<SamplerKind>; TEXTURE_UNITS],
    needs_group_check: bool,
    /// The groups of pixels; `None` if no reading can depend on them.
    groups: Option<GroupKind>,
    temps: Vec<u8>,
    poison: bool,
    readings: Readings,
}

/// The constants and units that a program names.
#[derive(Debug)]
struct Reads {
    /// The channels of each float constant.
    constants: [u8; CONSTANTS],
    units: [bool; TEXTURE_UNITS],
}

impl Reads {
    fn of(input: &LiftInput<'_>, analysis: &ProgramAnalysis) -> Self {
        let mut reads = Self { constants: [0; CONSTANTS], units: [false; TEXTURE_UNITS] };
        for (at, op) in input.shader.ops().iter().enumerate() {
            for access in analysis.info(at).constants.iter() {
                let named = if access.relative {
                    &mut reads.constants[..]
                } else {
                    std::slice::from_mut(&mut reads.constants[usize::from(access.addr)])
                };
                named.iter_mut().for_each(|channels| *channels |= access.may);
            }
            if let Op::Tex(tex) = op {
                reads.units[usize::from(tex.unit) % TEXTURE_UNITS] = true;
            }
        }
        reads
    }

    /// Returns the channels that the program reads and whose bits differ.
    fn changed(
        &self,
        last: &[[f32; 4]],
        now: &[[f32; 4]],
    ) -> impl Iterator<Item = (ConstantChannel, f32, f32)> {
        let count = last.len().max(now.len()).min(CONSTANTS);
        let constants = (0u8..=u8::MAX).zip(&self.constants).take(count);
        constants.filter(|(_, channels)| **channels != 0).flat_map(move |(constant, &channels)| {
            let read = (0..4u8).filter(move |c| channels >> c & 1 != 0);
            read.filter_map(move |channel| {
                let source = ConstantChannel { constant, channel };
                let (last, now) = (source.value(last), source.value(now));
                (last.to_bits() != now.to_bits()).then_some((source, last, now))
            })
        })
    }
}

impl Kinds {
    fn of(
        input: &LiftInput<'_>,
        analysis: &ProgramAnalysis,
        reads: &Reads,
    ) -> Result<Self, LiftError> {
        let samplers = &input.kinds.samplers;
        let groups = (input.readings != Readings::REFERENCE).then_some(input.kinds.groups);
        Ok(Self {
            samplers: std::array::from_fn(|unit| samplers[unit].filter(|_| reads.units[unit])),
            needs_group_check: needs_group_check(input, analysis)?,
            groups,
            temps: input.inputs.iter().map(|input| input.temp).collect(),
            poison: input.poison,
            readings: input.readings,
        })
    }
}

impl<T> PreparedProgram<T> {
    /// Returns whether the function is valid for the values of an input of the same kinds.
    fn allows(&self, input: &LiftInput<'_>) -> bool {
        let mut changed = self.reads.changed(&self.constants, input.constants);
        changed.all(|(source, _, now)| {
            self.symbolic.range(source).is_some_and(|range| range.contains(Range::of(now)))
        }) && self.inputs.iter().zip(&input.inputs).all(|(own, other)| own.allows(other))
    }
}

impl<T> ProgramCache<T> {
    /// Returns an empty cache.
    #[must_use]
    pub fn new() -> Self {
        let programs = Programs { programs: HashMap::new(), now: 0, values: 0 };
        Self {
            programs: Mutex::new(programs),
            prepared: AtomicU64::new(0),
            reused: AtomicU64::new(0),
            process: ProcessId::current(),
        }
    }

    /// Returns how many programs were lifted and compiled, and how many requests were answered without.
    #[must_use]
    pub fn counts(&self) -> ProgramUse {
        ProgramUse {
            prepared: self.prepared.load(Ordering::Relaxed),
            reused: self.reused.load(Ordering::Relaxed),
        }
    }

    /// Returns a function of a program that is valid for an input: a cached one, or a new one. `symbolic` are the constants that its first
    /// function leaves symbolic. `compile` receives a new function, and what was compiled last from a function of the program.
    ///
    /// # Errors
    /// [`LiftError`] if the program needs the reference engine.
    pub fn get(
        &self,
        input: &LiftInput<'_>,
        symbolic: &SymbolicConstants,
        compile: impl FnOnce(&Function, Option<&T>) -> T,
    ) -> Result<Arc<PreparedProgram<T>>, LiftError> {
        if !self.process.is_current() {
            return prepare(input, symbolic, &[], compile).map(Arc::new);
        }
        let key = input.shader.key();
        let known = self.lock().functions(key);
        if let Some(found) = find(&known, input)? {
            self.reused.fetch_add(1, Ordering::Relaxed);
            self.lock().touch(key, &found);
            return Ok(found);
        }
        // Other threads prepare other programs meanwhile.
        let program = Arc::new(prepare(input, symbolic, &known, compile)?);
        self.prepared.fetch_add(1, Ordering::Relaxed);
        self.lock().insert(key.clone(), Arc::clone(&program));
        Ok(program)
    }

    fn lock(&self) -> MutexGuard<'_, Programs<T>> {
        self.programs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Default for ProgramCache<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// Returns the function among those of a program that is valid for an input.
fn find<T>(
    known: &[Arc<PreparedProgram<T>>],
    input: &LiftInput<'_>,
) -> Result<Option<Arc<PreparedProgram<T>>>, LiftError> {
    for program in known.iter().rev() {
        if program.analysis.holds_for(input)
            && program.kinds == Kinds::of(input, &program.analysis, &program.reads)?
            && program.allows(input)
        {
            return Ok(Some(Arc::clone(program)));
        }
    }
    Ok(None)
}

/// Lifts and compiles a program, for its values and for those of the function for the same kinds among the `known` ones.
fn prepare<T>(
    input: &LiftInput<'_>,
    symbolic: &SymbolicConstants,
    known: &[Arc<PreparedProgram<T>>],
    compile: impl FnOnce(&Function, Option<&T>) -> T,
) -> Result<PreparedProgram<T>, LiftError> {
    let mut analysed = known.iter().rev();
    let analysed = analysed.find(|program| program.analysis.holds_for(input));
    let (analysis, reads) = match analysed {
        Some(program) => (Arc::clone(&program.analysis), Arc::clone(&program.reads)),
        None => {
            let analysis = ProgramAnalysis::new(input)?;
            let reads = Arc::new(Reads::of(input, &analysis));
            (Arc::new(analysis), reads)
        }
    };
    let kinds = Kinds::of(input, &analysis, &reads)?;
    let same_kinds = |program: &&Arc<PreparedProgram<T>>| {
        Arc::ptr_eq(&program.analysis, &analysis) && program.kinds == kinds
    };
    let last = known.iter().rev().find(same_kinds);
    let mut input = input.clone();
    let mut symbolic = symbolic.clone();
    if let Some(last) = last {
        symbolic = last.symbolic.clone();
        for (source, before, now) in reads.changed(&last.constants, input.constants) {
            symbolic.widen(source, before, now);
        }
        for (own, last) in input.inputs.iter_mut().zip(&last.inputs) {
            own.widen(last);
        }
    }
    let function = lift_symbolic(&input, &analysis, &symbolic)?;
    let compiled = compile(&function, known.last().map(|program| &program.compiled));
    let LiftInput { constants, inputs, .. } = input;
    Ok(PreparedProgram {
        function: Arc::new(function),
        symbolic,
        compiled,
        analysis,
        reads,
        kinds,
        inputs,
        constants: constants.to_vec(),
    })
}

impl<T> Programs<T> {
    /// Returns the functions of a program.
    fn functions(&mut self, key: &ProgramKey) -> Vec<Arc<PreparedProgram<T>>> {
        self.now += 1;
        let now = self.now;
        let program = self.programs.get_mut(key);
        program.map_or_else(Vec::new, |program| {
            program.used = now;
            program.functions.clone()
        })
    }

    /// Makes a function the last one used of its program.
    fn touch(&mut self, key: &ProgramKey, used: &Arc<PreparedProgram<T>>) {
        let Some(Prepared { functions, .. }) = self.programs.get_mut(key) else { return };
        if let Some(at) = functions.iter().position(|function| Arc::ptr_eq(function, used)) {
            functions[at..].rotate_left(1);
        }
    }

    /// Adds a function. It replaces the one for the same kinds, whose values it allows.
    fn insert(&mut self, key: ProgramKey, new: Arc<PreparedProgram<T>>) {
        let now = self.now;
        self.values += new.function.values.len();
        let program = self.programs.entry(key.clone());
        let program = program.or_insert_with(|| Prepared { functions: Vec::new(), used: now });
        program.used = now;
        let mut dropped = 0;
        let same = |old: &Arc<PreparedProgram<T>>| {
            old.analysis.is_same(&new.analysis) && old.kinds == new.kinds
        };
        program.functions.retain(|old| {
            let stays = !same(old);
            dropped += if stays { 0 } else { old.function.values.len() };
            stays
        });
        if program.functions.len() >= MAX_FUNCTIONS {
            dropped += program.functions.remove(0).function.values.len();
        }
        program.functions.push(new);
        self.values -= dropped;
        while self.programs.len() > 1
            && (self.programs.len() > MAX_PROGRAMS || self.values > MAX_VALUES)
        {
            let others = self.programs.iter().filter(|(other, _)| **other != key);
            let oldest = others.min_by_key(|(_, program)| program.used);
            let Some(oldest) = oldest.map(|(key, _)| key.clone()) else { return };
            if let Some(program) = self.programs.remove(&oldest) {
                let sizes = program.functions.iter().map(|old| old.function.values.len());
                self.values -= sizes.sum::<usize>();
            }
        }
    }
}
