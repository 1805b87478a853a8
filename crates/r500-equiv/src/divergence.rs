//! First divergence of two programs at a pixel.
//!
//! 1. Both runs are recorded. A backward slice finds the channels that the differing result depends on; all others are
//!    ignored.
//! 2. Executed instructions are aligned by the [`Diff`] of the programs. A step is *explained* if the other run
//!    computes the same: aligned instructions with equal results (in the same channels, or in others if the programs
//!    use another layout), and moved instructions, whose results also occur in the other run.
//! 3. From the differing result, producers that are not explained are followed backwards. The divergence is the first
//!    of them whose own operands are all explained.

use std::collections::{HashMap, HashSet, VecDeque};

use r500_check::dataflow::{ChannelId, ChannelSet};
use r500_check::diff::{Change, Diff};
use r500_exec::reference::{Event, EventKind, Group, Write};
use r500_exec::{Bindings, Draw, Options, PixelRect};
use r500_isa::values::{InstType, RgbMask, TexOp};
use r500_isa::words::{AluAlphaInst, AluRgbInst, CmnInst};
use r500_isa::{InstInfo, Instruction};
use r500_program::{Compare, Job};

use crate::expectation::agree;
use crate::{Difference, Incomparable, Pair, Part, SIDES};

/// Where two programs diverge at a pixel.
#[derive(Clone, Debug, PartialEq)]
pub struct Divergence {
    /// The instruction of A; `None` if B computes everything that A does.
    pub a: Option<ExecutedInst>,
    /// The instruction of B; `None` if A computes everything that B does.
    pub b: Option<ExecutedInst>,
    /// Whether the diff aligns the two as the same instruction.
    pub aligned: bool,
    /// Number of instructions that the pixel's group executed in A and B.
    pub steps: [usize; 2],
    /// Whether a run was longer than the recording, so that the divergence may be earlier.
    pub cut: bool,
}

/// An executed instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct ExecutedInst {
    /// Number of the step, from 1.
    pub step: usize,
    /// Address of the instruction.
    pub address: u32,
    /// Its index in the program.
    pub index: usize,
    /// Its effect on the pixel.
    pub event: Event,
}

/// Limit of the recorded steps of a run in bytes; at most half of the memory limit.
const MOST_BYTES: u64 = 64 << 20;

impl Divergence {
    /// Finds the divergence at the pixel of a difference: runs both programs in the reference engine with the bindings
    /// of `jobs`. `tolerance` is that of the comparison.
    ///
    /// # Errors
    /// [`Incomparable`] if a run fails.
    pub fn find(
        pair: &Pair,
        jobs: &[Job; 2],
        difference: &Difference,
        options: &Options<'_>,
        tolerance: Option<f32>,
    ) -> Result<Self, Incomparable> {
        let record = |n: usize| -> Result<Trace, Incomparable> {
            let bindings = pair.bind(n, &jobs[n])?;
            let mut trace = Trace::record(pair, n, &bindings, difference.pixel, options)?;
            trace.find_relevant(difference);
            Ok(trace)
        };
        let traces = [record(0)?, record(1)?];
        let diff = Diff::of(&jobs[0].program, &jobs[1].program);
        let tolerance = tolerance.unwrap_or(0.0);
        let mut aligned = align(&traces, &diff);
        // An aligned step whose result is irrelevant is not a partner, unless it is the same.
        aligned.retain(|&[a, b]| {
            let (a, b) = (&traces[0].steps[a], &traces[1].steps[b]);
            (a.counts() && b.counts()) || same(a, b, tolerance)
        });
        let explained = explain(&traces, &aligned, tolerance);
        let roots = [0, 1].map(|n| traces[n].root(&explained[n], difference));
        let partner = |n: usize, step: usize| {
            aligned.iter().find(|pair| pair[n] == step).map(|pair| pair[1 - n])
        };
        let chosen = match roots {
            [Some(a), b] => match partner(0, a) {
                // A step that only B executes comes first if it is earlier.
                Some(other) if b.is_some_and(|b| partner(1, b).is_none() && b < other) => {
                    [Some(a), b]
                }
                Some(other) => [Some(a), Some(other)],
                None => [Some(a), b],
            },
            [None, Some(b)] => [partner(1, b), Some(b)],
            [None, None] => [None, None],
        };
        let place = |n: usize| chosen[n].map(|step| traces[n].place(step));
        Ok(Self {
            a: place(0),
            b: place(1),
            aligned: matches!(chosen, [Some(a), Some(b)] if partner(0, a) == Some(b)),
            steps: [traces[0].total, traces[1].total],
            cut: traces.iter().any(|trace| trace.cut),
        })
    }
}

/// A recorded run.
struct Trace {
    steps: Vec<Recorded>,
    total: usize,
    /// Whether steps are missing at the end.
    cut: bool,
}

struct Recorded {
    number: usize,
    index: usize,
    instruction: Instruction,
    event: Event,
    al: i32,
    /// Written channels that the differing result depends on.
    relevant: ChannelSet,
    /// Steps that wrote the operands of the relevant results.
    producers: Vec<usize>,
}

impl Trace {
    fn record(
        pair: &Pair,
        n: usize,
        bindings: &Bindings,
        [x, y]: [u32; 2],
        options: &Options<'_>,
    ) -> Result<Self, Incomparable> {
        let shader = &pair.shaders()[n];
        let options = &Options { progress: None, ..options.clone() };
        let run = |error| Incomparable::Run { side: SIDES[n], error };
        let draw = Draw::new(shader, bindings, options).map_err(run)?;
        let [width, height] = options.group;
        let block = PixelRect { x: x - x % width, y: y - y % height, width, height };
        let room = MOST_BYTES.min(options.limits.memory / 2);
        let mut bytes = 0;
        let mut group = Group::new(&draw, block);
        group.watch(group.state().lane_at(x, y));
        let mut trace = Self { steps: Vec::new(), total: 0, cut: false };
        while !group.ended() {
            let al = group.al();
            let step = group.step().map_err(run)?;
            trace.total += 1;
            let (Some(event), Some(instruction)) = (step.event, shader.instruction(step.address))
            else {
                continue;
            };
            let inactive = !event.active && event.writes.is_empty();
            if inactive {
                continue;
            }
            bytes += (size_of::<Recorded>() + size_of_val(&*event.writes)) as u64;
            if bytes > room {
                trace.cut = true;
                continue;
            }
            trace.steps.push(Recorded {
                number: trace.total,
                index: step.address.saturating_sub(shader.offset()) as usize,
                instruction,
                event,
                al,
                relevant: ChannelSet::EMPTY,
                producers: Vec::new(),
            });
        }
        Ok(trace)
    }

    /// Computes the relevant channels of each step, and the producers of its operands.
    fn find_relevant(&mut self, difference: &Difference) {
        let mut live = wanted(difference);
        for step in self.steps.iter_mut().rev() {
            let written: ChannelSet =
                step.event.writes.iter().flat_map(values).map(|v| v.0).collect();
            step.relevant = written;
            step.relevant.intersect(&live);
            live.subtract(&step.relevant);
            live.union(&step.reads());
        }
        let mut last: HashMap<ChannelId, usize> = HashMap::new();
        for at in 0..self.steps.len() {
            let mut producers: Vec<usize> =
                self.steps[at].reads().iter().filter_map(|read| last.get(&read).copied()).collect();
            producers.sort_unstable();
            producers.dedup();
            self.steps[at].producers = producers;
            for (channel, _) in self.steps[at].event.writes.iter().flat_map(values) {
                last.insert(channel, at);
            }
        }
    }

    /// Returns the earliest unexplained step in the backward slice of the difference through unexplained steps.
    fn root(&self, explained: &[bool], difference: &Difference) -> Option<usize> {
        let mut missing = wanted(difference);
        let killed = difference.parts.iter().any(|part| matches!(part, Part::Coverage { .. }));
        let mut work: VecDeque<usize> = VecDeque::new();
        for (at, step) in self.steps.iter().enumerate().rev() {
            let mut written: ChannelSet =
                step.event.writes.iter().flat_map(values).map(|v| v.0).collect();
            written.intersect(&missing);
            missing.subtract(&written);
            let decides = step.decision().is_some() && (killed || step.is_flow());
            if !explained[at] && (decides || !written.is_empty()) {
                work.push_back(at);
            }
        }
        let mut seen = vec![false; self.steps.len()];
        let mut first: Option<usize> = None;
        while let Some(at) = work.pop_front() {
            if std::mem::replace(&mut seen[at], true) {
                continue;
            }
            let open = self.steps[at].producers.iter().copied().filter(|&p| !explained[p]);
            let before = work.len();
            work.extend(open);
            if work.len() == before {
                first = Some(first.map_or(at, |first| first.min(at)));
            }
        }
        first
    }

    /// Returns whether a step depends on an earlier one. The search is bounded; it returns `true` when it reaches its
    /// limit.
    fn depends(&self, late: usize, early: usize) -> bool {
        let mut seen = HashSet::new();
        let mut work = vec![late];
        while let Some(at) = work.pop() {
            if at == early || seen.len() > 4096 {
                return true;
            }
            let before = self.steps[at].producers.iter().copied().filter(|&p| p >= early);
            work.extend(before.filter(|&p| seen.insert(p)));
        }
        false
    }

    fn place(&self, step: usize) -> ExecutedInst {
        let Recorded { number, index, event, .. } = &self.steps[step];
        ExecutedInst { step: *number, address: event.address, index: *index, event: event.clone() }
    }
}

impl Recorded {
    fn is_flow(&self) -> bool {
        matches!(self.event.kind, EventKind::Flow(_))
    }

    /// Returns the decision of the step: whether the pixel wants to jump, or is killed.
    fn decision(&self) -> Option<bool> {
        match &self.event.kind {
            EventKind::Flow(jump) if self.event.active => Some(jump.jumps),
            EventKind::Tex { killed, .. }
                if self.instruction.tex_inst().inst() == TexOp::TEXKILL =>
            {
                Some(*killed)
            }
            _ => None,
        }
    }

    /// Returns whether the step takes part in the comparison.
    fn counts(&self) -> bool {
        !self.relevant.is_empty() || self.decision().is_some()
    }

    /// Returns the relevant results, in order.
    fn results(&self) -> Vec<(ChannelId, u32)> {
        let all = self.event.writes.iter().flat_map(values);
        all.filter(|(channel, _)| self.relevant.contains(*channel)).collect()
    }

    /// Returns the channels that the relevant results depend on.
    fn reads(&self) -> ChannelSet {
        let mut reads = ChannelSet::EMPTY;
        if !self.counts() {
            return reads;
        }
        let inst = self.instruction;
        // Only an ALU instruction has results that can be irrelevant on their own.
        let alu = !matches!(inst.ty(), InstType::FC | InstType::TEX);
        let info = InstInfo::new(if alu { self.reduced() } else { inst });
        for access in info.reads.iter() {
            let moved = i32::from(access.addr) + if access.relative { self.al } else { 0 };
            reads.insert_temp((moved & 0x7f) as u8, access.may);
        }
        let predicates = (0..4u8).filter(|bit| info.predicate_reads >> bit & 1 != 0);
        predicates.for_each(|bit| reads.insert(ChannelId::Predicate(bit)));
        if info.alu_result_read {
            reads.insert(ChannelId::AluResult);
        }
        reads
    }

    /// Returns the instruction reduced to its relevant results.
    fn reduced(&self) -> Instruction {
        let (mut temps, mut outputs, mut predicates) = (0u8, 0u8, 0u8);
        let (mut depth, mut alu) = (false, false);
        for channel in self.relevant.iter() {
            match channel {
                ChannelId::Temp(_, c) => temps |= 1 << c,
                ChannelId::Output(_, c) => outputs |= 1 << c,
                ChannelId::Predicate(c) => predicates |= 1 << c,
                ChannelId::Depth => depth = true,
                ChannelId::AluResult => alu = true,
            }
        }
        let (cmn, outputs) = (self.instruction.cmn(), outputs | predicates);
        let (rgb, alpha) = (self.instruction.rgb_inst(), self.instruction.alpha_inst());
        let both = |mask: RgbMask, kept: u8| RgbMask::new(mask.code() & kept & 7);
        let mut inst = self.instruction;
        inst.0[0] = cmn
            .with(CmnInst::RGB_WMASK, both(cmn.rgb_wmask(), temps))
            .with(CmnInst::ALPHA_WMASK, cmn.alpha_wmask() && temps & 8 != 0)
            .with(CmnInst::RGB_OMASK, both(cmn.rgb_omask(), outputs))
            .with(CmnInst::ALPHA_OMASK, cmn.alpha_omask() && outputs & 8 != 0)
            .bits();
        inst.0[3] = rgb.with(AluRgbInst::ALU_WMASK, rgb.alu_wmask() && alu).bits();
        inst.0[4] = alpha.with(AluAlphaInst::W_OMASK, alpha.w_omask() && depth).bits();
        inst
    }
}

/// Returns the channels that differ.
#[expect(clippy::expect_used, reason = "there are four targets")]
fn wanted(difference: &Difference) -> ChannelSet {
    let mut wanted = ChannelSet::EMPTY;
    for part in &difference.parts {
        match part {
            Part::Color { target, written: [a, b], .. } => {
                let target = u8::try_from(*target).expect("one of four targets");
                let differs = |c: &u8| a[usize::from(*c)].to_bits() != b[usize::from(*c)].to_bits();
                for channel in (0..4u8).filter(differs) {
                    wanted.insert(ChannelId::Output(target, channel));
                }
            }
            Part::Depth { .. } => wanted.insert(ChannelId::Depth),
            Part::Coverage { .. } => {}
        }
    }
    wanted
}

/// Returns the value that a write stored in each of its channels.
fn values(write: &Write) -> impl Iterator<Item = (ChannelId, u32)> + '_ {
    let (mask, one): (u8, Option<(ChannelId, u32)>) = match write {
        Write::Temp { mask, .. } | Write::Output { mask, .. } | Write::Predicate { mask, .. } => {
            (*mask, None)
        }
        Write::Depth(value) => (0, Some((ChannelId::Depth, value.to_bits()))),
        Write::AluResult(value) => (0, Some((ChannelId::AluResult, u32::from(*value)))),
    };
    let several = (0..4u8).filter(move |c| mask >> c & 1 != 0).map(move |c| {
        let at = usize::from(c);
        match write {
            Write::Temp { temp, value, .. } => (ChannelId::Temp(*temp, c), value[at].to_bits()),
            Write::Output { target, value, .. } => {
                (ChannelId::Output(*target, c), value[at].to_bits())
            }
            Write::Predicate { bits, .. } => (ChannelId::Predicate(c), u32::from(bits >> c & 1)),
            Write::Depth(_) | Write::AluResult(_) => (ChannelId::Depth, 0),
        }
    });
    several.chain(one)
}

/// Pairs steps that execute the same instruction, in the order of both runs.
fn align(traces: &[Trace; 2], diff: &Diff) -> Vec<[usize; 2]> {
    let mut partners = [HashMap::new(), HashMap::new()];
    for change in &diff.changes {
        if let Change::Same { a, b } | Change::Changed { a, b, .. } = change {
            partners[0].insert(*a, *b);
            partners[1].insert(*b, *a);
        }
    }
    let index = |n: usize, step: usize| traces[n].steps[step].index;
    let counts = [traces[0].steps.len(), traces[1].steps.len()];
    let mut aligned = Vec::new();
    let (mut i, mut j) = (0, 0);
    while i < counts[0] && j < counts[1] {
        let (a, b) = (index(0, i), index(1, j));
        let (for_a, for_b) = (partners[0].get(&a), partners[1].get(&b));
        match (for_a, for_b) {
            (Some(partner), _) if *partner == b => {
                aligned.push([i, j]);
                (i, j) = (i + 1, j + 1);
            }
            (None, _) => i += 1,
            (_, None) => j += 1,
            (Some(for_a), Some(for_b)) => {
                // The runs took different paths: skip to the next aligned step.
                let ahead = |n: usize, from: usize, wanted: usize| {
                    (from..counts[n].min(from + AHEAD)).find(|&at| index(n, at) == wanted)
                };
                match (ahead(1, j, *for_a), ahead(0, i, *for_b)) {
                    (Some(to), Some(other)) if to - j <= other - i => j = to,
                    (_, Some(other)) => i = other,
                    (Some(to), None) => j = to,
                    (None, None) => (i, j) = (i + 1, j + 1),
                }
            }
        }
    }
    aligned
}

/// How many steps ahead the search for the next aligned step goes.
const AHEAD: usize = 4096;

/// Returns which steps of each run are explained: the other run computes the same.
fn explain(traces: &[Trace; 2], aligned: &[[usize; 2]], tolerance: f32) -> [Vec<bool>; 2] {
    let mut explained = [0, 1]
        .map(|n: usize| traces[n].steps.iter().map(|step| !step.counts()).collect::<Vec<bool>>());
    let mut partner = [HashMap::new(), HashMap::new()];
    for &[a, b] in aligned {
        partner[0].insert(a, b);
        partner[1].insert(b, a);
        if same(&traces[0].steps[a], &traces[1].steps[b], tolerance) {
            explained[0][a] = true;
            explained[1][b] = true;
        }
    }
    // Moved instructions have the same values elsewhere. Zeros and ones are too common to be evidence.
    let mut elsewhere: HashMap<Vec<u32>, VecDeque<usize>> = HashMap::new();
    let telling = |step: &Recorded| -> Option<Vec<u32>> {
        let mut numbers: Vec<u32> = step.results().into_iter().map(|(_, bits)| bits).collect();
        let plain = |bits: &u32| [0.0f32, 1.0].contains(&f32::from_bits(*bits)) || *bits == 1;
        if step.decision().is_some() || numbers.iter().all(plain) {
            return None;
        }
        numbers.sort_unstable();
        Some(numbers)
    };
    for (b, step) in traces[1].steps.iter().enumerate().filter(|(b, _)| !explained[1][*b]) {
        if let Some(numbers) = telling(step) {
            elsewhere.entry(numbers).or_default().push_back(b);
        }
    }
    let mut moved = Vec::new();
    for (a, step) in traces[0].steps.iter().enumerate().filter(|(a, _)| !explained[0][*a]) {
        let found = telling(step).and_then(|numbers| {
            let there = elsewhere.get_mut(&numbers)?;
            // Same values in the same channels, or in another channel layout.
            let fits = |b: &usize| {
                let (x, y) = (step.results(), traces[1].steps[*b].results());
                let laid_out_alike =
                    x.iter().map(|x| letter(x.0)).eq(y.iter().map(|y| letter(y.0)));
                !laid_out_alike || x.iter().zip(&y).all(|(x, y)| x.1 == y.1)
            };
            there.iter().position(fits).and_then(|place| there.remove(place))
        });
        moved.extend(found.map(|b| [a, b]));
    }
    // An alignment is wrong if the result of a step occurs elsewhere, provided that it is not an integer (such as a
    // loop counter), and either the result of its partner moved too, or the other occurrence has no partner.
    let moves = [0, 1].map(|n: usize| moved.iter().map(|pair| pair[n]).collect::<HashSet<usize>>());
    let settled = |n: usize, pair: [usize; 2]| {
        let Some(other) = partner[n].get(&pair[n]) else { return true };
        let results = traces[n].steps[pair[n]].results();
        let rare = results.iter().any(|(_, bits)| {
            let value = f32::from_bits(*bits);
            value.is_finite() && value.fract() != 0.0
        });
        let alike = operations(traces[0].steps[pair[0]].instruction)
            == operations(traces[1].steps[pair[1]].instruction);
        let free = !partner[1 - n].contains_key(&pair[1 - n]);
        // Two steps cannot have been swapped if one depends on the other.
        let swapped = partner[1 - n].get(&pair[1 - n]).is_some_and(|&other: &usize| {
            let (early, late) = (pair[n].min(other), pair[n].max(other));
            !traces[n].depends(late, early)
        });
        rare && alike && ((moves[1 - n].contains(other) && swapped) || free)
    };
    for pair in moved {
        if settled(0, pair) && settled(1, pair) {
            explained[0][pair[0]] = true;
            explained[1][pair[1]] = true;
        }
    }
    explained
}

/// Returns whether two aligned steps have equal relevant results.
fn same(a: &Recorded, b: &Recorded, tolerance: f32) -> bool {
    if a.decision() != b.decision() {
        return false;
    }
    let alike = |a: u32, b: u32| {
        a == b
            || (tolerance > 0.0
                && agree(Compare::Values, tolerance, f32::from_bits(a), f32::from_bits(b)))
    };
    let all = |step: &Recorded| -> Vec<(ChannelId, u32)> {
        step.event.writes.iter().flat_map(values).collect()
    };
    let (x, y) = (all(a), all(b));
    if x.iter().map(|x| letter(x.0)).eq(y.iter().map(|y| letter(y.0))) {
        return x.iter().zip(&y).all(|(x, y)| {
            let relevant = a.relevant.contains(x.0) || b.relevant.contains(y.0);
            !relevant || alike(x.1, y.1)
        });
    }
    // With another channel layout, the values must be equal in any order.
    let bits = |step: &Recorded| -> Vec<u32> {
        let mut bits: Vec<u32> = step.results().into_iter().map(|(_, bits)| bits).collect();
        bits.sort_unstable();
        bits
    };
    let (x, y) = (bits(a), bits(b));
    x.len() == y.len() && x.iter().zip(&y).all(|(&x, &y)| alike(x, y))
}

/// Returns the operation codes of an instruction.
fn operations(inst: Instruction) -> [u8; 3] {
    match inst.ty() {
        InstType::FC => [0, inst.fc_inst().op().code(), 0],
        InstType::TEX => [1, inst.tex_inst().inst().code(), 0],
        _ => [2, inst.rgba_inst().rgb_op().code(), inst.alpha_inst().alpha_op().code()],
    }
}

/// Returns the part of a channel's identity that does not depend on the register layout.
fn letter(channel: ChannelId) -> (u8, u8) {
    match channel {
        ChannelId::Temp(_, c) => (0, c),
        ChannelId::Output(target, c) => (1 + target, c),
        ChannelId::Predicate(c) => (5, c),
        ChannelId::AluResult => (6, 0),
        ChannelId::Depth => (7, 0),
    }
}
