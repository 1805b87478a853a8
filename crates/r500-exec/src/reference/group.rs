//! What pixels share, and one step of their program.

use r500_isa::TEMPORARIES;

use super::event::{Event, EventKind};
use super::lane::Lane;
use crate::finding::FindingKind;
use crate::numerics::Arith;
use crate::reading::{KilledPixels, LeftWindow, OutsidePixels};
use crate::{Block, Counters, Draw, Findings, Op, RunError};

/// Pixels that share a program counter, and their program's state.
///
/// Lanes lie quad by quad, quads row by row; within a quad top left, top right, bottom left, bottom
/// right, "top" being the row with the smaller y (observed: the sign of derivatives).
///
/// ```
/// # use r500_exec::{Bindings, Block, Draw, Options, Shader, reference::Group};
/// # use r500_isa::Instruction;
/// # use r500_program::{Job, Program};
/// # let job = Job::from_program(Program::from_code(vec![Instruction([1, 0, 0, 0, 0, 0])]));
/// # let shader = Shader::new(&job.program)?;
/// # let bindings = Bindings::new(&job, [4, 4])?;
/// let options = Options::default();
/// let draw = Draw { shader: &shader, bindings: &bindings, options: &options, deadline: None };
/// let mut group = Group::new(&draw, Block { x: 0, y: 0, width: 4, height: 4 });
/// group.watch(group.lane_at(2, 1));
/// while !group.ended() {
///     let step = group.step()?;
///     println!("{}: {:?}", step.address, step.event);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Group<'a> {
    pub(super) draw: Draw<'a>,
    pub(super) arith: Arith,
    block: Block,
    pub(super) lanes: Vec<Lane>,
    pub(super) pc: u32,
    pub(super) loops: Vec<LoopFrame>,
    pub(super) calls: Vec<u32>,
    pub(super) last_al: i32,
    pub(super) fetches: Fetches,
    ended: bool,
    watched: Option<usize>,
    pub(super) event: Option<Event>,
    pub(super) findings: Findings,
    pub(super) counters: Counters,
}

/// A running loop.
#[derive(Clone, Debug)]
pub struct LoopFrame {
    /// Passes left, the running one counted.
    pub count: u32,
    /// aL.
    pub al: i32,
    /// Lanes that entered.
    pub entered: Vec<bool>,
}

/// One executed instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Its absolute address.
    pub address: u32,
    /// What it did to the watched pixel, if there is one.
    pub event: Option<Event>,
}

/// Texture results on their way: what a reader must have waited for.
///
/// A fetch is covered by the semaphore when it, or one behind it, acquires it; an instruction that
/// waits for the semaphore then finds it done. Timing only: results are there at once in this
/// machine, and this only says where a card's might not be.
#[derive(Clone, Debug)]
pub(super) struct Fetches {
    /// Channels of each temporary (red in bit 0) that a fetch will write, the semaphore not held.
    issued: [u8; TEMPORARIES],
    /// The same, the semaphore held.
    held: [u8; TEMPORARIES],
}

impl<'a> Group<'a> {
    /// The pixels of a block at the start of their program. An odd width or height is rounded up to
    /// whole quads.
    #[must_use]
    pub fn new(draw: &Draw<'a>, block: Block) -> Self {
        let (columns, rows) = (block.width.div_ceil(2), block.height.div_ceil(2));
        let block = Block { width: columns * 2, height: rows * 2, ..block };
        let quads = (0..rows).flat_map(|row| (0..columns).map(move |column| (column, row)));
        let lanes = quads
            .flat_map(|(column, row)| {
                let (x, y) = (block.x + column * 2, block.y + row * 2);
                [(x, y), (x + 1, y), (x, y + 1), (x + 1, y + 1)]
            })
            .map(|(x, y)| Lane::new(draw, x, y))
            .collect();
        Self {
            draw: *draw,
            arith: draw.options.readings.arith(draw.shader.zero_rule()),
            block,
            lanes,
            pc: draw.shader.start(),
            loops: Vec::new(),
            calls: Vec::new(),
            last_al: 0,
            fetches: Fetches { issued: [0; TEMPORARIES], held: [0; TEMPORARIES] },
            ended: false,
            watched: None,
            event: None,
            findings: Findings::default(),
            counters: Counters::default(),
        }
    }

    /// Runs to the end.
    ///
    /// # Errors
    /// [`RunError`] if a limit strikes.
    pub fn run(&mut self) -> Result<(), RunError> {
        while !self.ended {
            self.step()?;
        }
        Ok(())
    }

    /// Executes one instruction. Nothing happens once the program has ended.
    ///
    /// # Errors
    /// [`RunError`] if a limit strikes.
    pub fn step(&mut self) -> Result<Step, RunError> {
        let address = self.pc;
        self.event = None;
        if self.ended {
            return Ok(Step { address, event: None });
        }
        let Some(op) = self.draw.shader.op(address) else {
            // Open: the documents do not say what a program counter outside the window does.
            self.left_window(address);
            return Ok(Step { address, event: None });
        };
        self.spend(address)?;
        if self.watched.is_some() {
            self.begin_event(address);
        }
        if op.tex_sem_wait() {
            self.fetches.wait();
        }
        self.pc = address.wrapping_add(1);
        match op {
            Op::Alu(alu) => self.alu(address, alu),
            Op::Tex(tex) => self.tex(address, tex),
            Op::Fc(fc) => self.flow(address, fc),
        }
        if address == self.draw.shader.end() {
            // Documented: the program ends behind END_ADDR whatever stands there.
            self.ended = true;
        }
        Ok(Step { address, event: self.event.take() })
    }

    /// Whether the program has ended.
    #[must_use]
    pub fn ended(&self) -> bool {
        self.ended
    }

    /// Absolute address of the next instruction.
    #[must_use]
    pub fn address(&self) -> u32 {
        self.pc
    }

    /// The pixels.
    #[must_use]
    pub fn block(&self) -> Block {
        self.block
    }

    /// The lanes.
    #[must_use]
    pub fn lanes(&self) -> &[Lane] {
        &self.lanes
    }

    /// The running loops, innermost last.
    #[must_use]
    pub fn loops(&self) -> &[LoopFrame] {
        &self.loops
    }

    /// The address stack, top last.
    #[must_use]
    pub fn calls(&self) -> &[u32] {
        &self.calls
    }

    /// aL: that of the innermost loop; 0 outside every loop (open).
    #[must_use]
    pub fn al(&self) -> i32 {
        self.loops.last().map_or(self.outer_al(), |frame| frame.al)
    }

    /// What was met so far.
    #[must_use]
    pub fn findings(&self) -> &Findings {
        &self.findings
    }

    /// What was counted so far.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// The lane of a pixel of the picture, if it is in this group.
    #[must_use]
    pub fn lane_at(&self, x: u32, y: u32) -> Option<usize> {
        self.lanes.iter().position(|lane| lane.x == x && lane.y == y)
    }

    /// Reports what happens to a lane from now on ([`Step::event`]).
    pub fn watch(&mut self, lane: Option<usize>) {
        self.watched = lane.filter(|&lane| lane < self.lanes.len());
    }

    /// Findings and counters, when all is done.
    #[must_use]
    pub fn finish(self) -> (Findings, Counters) {
        (self.findings, self.counters)
    }

    /// Whether a lane executes.
    pub(super) fn executes(&self, lane: &Lane) -> bool {
        let stopped = lane.killed && self.draw.options.readings.killed_pixels == KilledPixels::Stop;
        lane.is_active() && !stopped
    }

    /// Whether a lane takes part in decisions of an instruction with that `IGNORE_UNCOVERED`.
    pub(super) fn votes(&self, lane: &Lane, ignore_uncovered: bool) -> bool {
        let absent =
            !lane.inside && self.draw.options.readings.outside_pixels == OutsidePixels::Absent;
        (lane.covered || !ignore_uncovered) && !absent
    }

    /// The watched lane's event, for that lane alone.
    pub(super) fn event_of(&mut self, lane: usize) -> Option<&mut Event> {
        if self.watched == Some(lane) { self.event.as_mut() } else { None }
    }

    /// Notes a finding of a lane. Lanes outside the picture find nothing: what they hold is not
    /// the program's doing.
    pub(super) fn find(&mut self, lane: usize, kind: FindingKind, address: u32, detail: i32) {
        if !self.draw.options.findings {
            return;
        }
        if let Some(lane) = self.lanes.get(lane).filter(|lane| lane.inside) {
            self.findings.add(kind, address, [lane.x, lane.y], detail);
        }
    }

    /// Notes a finding of the group as a whole.
    pub(super) fn find_group(&mut self, kind: FindingKind, address: u32, detail: i32) {
        if self.draw.options.findings {
            self.findings.add(kind, address, [self.block.x, self.block.y], detail);
        }
    }

    fn begin_event(&mut self, address: u32) {
        let active =
            self.watched.and_then(|i| self.lanes.get(i)).is_some_and(|lane| self.executes(lane));
        let kind = EventKind::Skipped;
        self.event = Some(Event { address, active, kind, writes: Vec::new() });
    }

    fn left_window(&mut self, address: u32) {
        self.find_group(FindingKind::LeftWindow, address, saturate(address));
        let (first, last) = self.draw.shader.window();
        match self.draw.options.readings.left_window {
            LeftWindow::End => self.ended = true,
            LeftWindow::Wrap => self.pc = if address > last { first } else { last },
        }
    }

    fn spend(&mut self, address: u32) -> Result<(), RunError> {
        let limit = self.draw.options.limits.instructions;
        if self.counters.instructions >= limit {
            let pixel = [self.block.x, self.block.y];
            return Err(RunError::Instructions { address, pixel, limit });
        }
        self.counters.instructions += 1;
        if self.counters.instructions % 1024 == 1 {
            self.draw.check()?;
        }
        Ok(())
    }
}

impl Fetches {
    /// A fetch into channels of a temporary was issued.
    pub(super) fn issue(&mut self, temp: usize, mask: u8) {
        if let Some(issued) = self.issued.get_mut(temp) {
            *issued |= mask;
        }
    }

    /// The semaphore was acquired: it is held until all fetches so far are done.
    pub(super) fn acquire(&mut self) {
        for (held, issued) in self.held.iter_mut().zip(&mut self.issued) {
            *held |= std::mem::take(issued);
        }
    }

    /// An instruction waited for the semaphore.
    pub(super) fn wait(&mut self) {
        self.held = [0; TEMPORARIES];
    }

    /// Channels of a temporary whose value may still be on its way.
    pub(super) fn pending(&self, temp: usize) -> u8 {
        let of = |channels: &[u8; TEMPORARIES]| channels.get(temp).copied().unwrap_or(0);
        of(&self.issued) | of(&self.held)
    }
}

/// A number for [`Finding::detail`](crate::Finding::detail).
pub(super) fn saturate(n: impl TryInto<i32>) -> i32 {
    n.try_into().unwrap_or(i32::MAX)
}
