//! Vertex processing of a draw, in pieces: a draw may have 2^24 vertices, but primitives use neighbours only.

use r500_chip::values::PrimWalk;
use r500_pvs::BATCH;
use r500_stream::{DrawCall, State};

use super::columns::InputColumns;
use super::fetch::{Fetch, IndexList, Processed};
use super::programs::{Runner, VertexEngines};
use super::{DrawState, OutputLayout, Vertex};
use crate::limits::{Budget, CardError};
use crate::report::{Note, Report};

/// Vertices that are processed at a time.
const PIECE: usize = 1 << 13;
/// Vertices before a piece that its first primitives use: those of a quad.
const BEFORE: usize = 3;

/// The vertices of a draw in the order of their use. Those of a piece are in memory, and the first one, which fans, loops and
/// polygons use.
pub(crate) struct Vertices<'a> {
    call: &'a DrawCall<'a>,
    walk: PrimWalk,
    fetch: Fetch,
    indices: IndexList<'a>,
    /// `None` if inputs are outputs.
    program: Option<Runner<'a>>,
    layout: &'a OutputLayout,
    count: usize,
    first: Vertex,
    /// The number of the vertex that `order[0]` names.
    start: usize,
    /// Places in `processed`.
    order: Vec<usize>,
    /// Each vertex of the piece once.
    processed: Vec<Vertex>,
    /// Places of vertices by index.
    known: Processed,
    /// Inputs of vertices that are not processed yet.
    inputs: &'a mut InputColumns,
    /// Their number; their places in `processed` follow.
    pending: usize,
    /// Their indices, if inputs are in arrays, from which they are read when the program runs.
    unread: Vec<u32>,
    /// The number that the program runs for at a time.
    batch: usize,
    /// Vertices that the program has processed, and that are not reported yet.
    ran: u64,
    dwords: Vec<u32>,
}

impl<'a> Vertices<'a> {
    /// Prepares the vertices of a draw; `None` if their source is not supported.
    pub(crate) fn new(
        state: &State,
        call: &'a DrawCall<'a>,
        draw: &DrawState,
        layout: &'a OutputLayout,
        engines: &'a mut VertexEngines,
        budget: &mut Budget,
        report: &mut Report,
    ) -> Result<Option<Self>, CardError> {
        budget.vertices(draw.count.into())?;
        let walk = draw.vf_cntl.prim_walk();
        let known = [PrimWalk::INDEXES, PrimWalk::VERTEX_LIST, PrimWalk::VERTEX_DATA];
        if !known.contains(&walk) && draw.count > 0 {
            let why = "vertices assembled from registers".to_owned();
            report.note(Note::Draw { why });
            return Ok(None);
        }
        let (fetch, program) = (Fetch::new(state), state.vertex_program());
        let program = program.map(|it| (it, state.pvs.constants(), draw.count as usize));
        let (program, inputs) = engines.runner_with_inputs(program);
        let batch = program.as_ref().map_or(BATCH, Runner::batch_size);
        inputs.begin(batch, fetch.locations());
        Ok(Some(Self {
            call,
            walk,
            fetch,
            indices: IndexList::new(call),
            program,
            layout,
            count: draw.count as usize,
            first: Vertex::default(),
            start: 0,
            order: Vec::new(),
            processed: Vec::new(),
            known: Processed::default(),
            inputs,
            pending: 0,
            unread: Vec::new(),
            batch,
            ran: 0,
            dwords: Vec::new(),
        }))
    }

    /// Returns the number of vertices of the draw.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Returns a vertex of the current piece, or vertex 0.
    pub(crate) fn at(&self, n: usize) -> &Vertex {
        match n {
            0 => &self.first,
            n => &self.processed[self.order[n - self.start]],
        }
    }

    /// Processes pieces up to the one with vertex `n`.
    pub(crate) fn process_through(
        &mut self,
        n: usize,
        budget: &mut Budget,
        report: &mut Report,
    ) -> Result<(), CardError> {
        while n >= self.end() && self.end() < self.count {
            self.process_next(budget, report)?;
        }
        Ok(())
    }

    /// Processes the rest of the vertices, without use of them.
    pub(crate) fn process_all(
        &mut self,
        budget: &mut Budget,
        report: &mut Report,
    ) -> Result<(), CardError> {
        match self.count.checked_sub(1) {
            Some(last) => self.process_through(last, budget, report),
            None => Ok(()),
        }
    }

    fn end(&self) -> usize {
        self.start + self.order.len()
    }

    /// Replaces the current piece by the next one.
    pub(crate) fn process_next(
        &mut self,
        budget: &mut Budget,
        report: &mut Report,
    ) -> Result<(), CardError> {
        let (begin, kept) = (self.end(), self.order.len().min(BEFORE));
        let before: Vec<Vertex> = (begin - kept..begin).map(|n| *self.at(n)).collect();
        self.start = begin - kept;
        self.order.clear();
        self.order.extend(0..kept);
        self.processed.clear();
        self.processed.extend(before);
        self.known.clear((self.count - begin.min(self.count)).min(PIECE));
        for n in begin..self.count.min(begin.saturating_add(PIECE)) {
            if n % 256 == 0 {
                budget.time()?;
            }
            self.process(n as u32, budget)?;
        }
        self.process_pending(budget)?;
        if begin == 0 {
            self.first = self.order.first().map(|&at| self.processed[at]).unwrap_or_default();
        }
        report.statistics.vertices += (self.processed.len() - kept) as u64;
        if let Some(program) = &self.program {
            report.count_vertices(program.choice(), std::mem::take(&mut self.ran));
        }
        Ok(())
    }

    /// Appends vertex `n`, which is processed if its index is new in this piece.
    fn process(&mut self, n: u32, budget: &mut Budget) -> Result<(), CardError> {
        let index = match self.walk {
            PrimWalk::INDEXES => self.fetch.limit(self.indices.get(n)),
            PrimWalk::VERTEX_LIST => self.fetch.limit(n),
            _ => n,
        };
        // Without an index list, indices do not occur again.
        let indexed = self.walk == PrimWalk::INDEXES;
        if indexed && let Some(vertex) = self.known.get(index) {
            self.order.push(vertex);
            return Ok(());
        }
        match self.walk {
            PrimWalk::VERTEX_DATA => {
                let dwords = self.fetch.embedded(n, &self.call.vertices);
                self.fetch.store(dwords, self.pending, self.inputs);
            }
            _ => self.unread.push(index),
        }
        let place = self.processed.len() + self.pending;
        if indexed {
            self.known.insert(index, place);
        }
        self.order.push(place);
        self.pending += 1;
        if self.pending == self.batch { self.process_pending(budget) } else { Ok(()) }
    }

    /// Processes the vertices whose inputs are there.
    fn process_pending(&mut self, budget: &mut Budget) -> Result<(), CardError> {
        if self.pending == 0 {
            return Ok(());
        }
        self.fetch.load(&self.unread, self.inputs, &mut self.dwords);
        self.unread.clear();
        let (count, layout, inputs) = (self.pending, self.layout, &*self.inputs);
        self.ran += count as u64;
        match &mut self.program {
            Some(Runner::Interpreter { program, memory, .. }) => {
                program.load_columns(memory, count, |input, channel| inputs.column(input, channel));
                let mut executed = 0u64;
                program.run_batch(memory, count, |vertices| {
                    budget.vertex_instructions(vertices)?;
                    executed += 1;
                    if executed.is_multiple_of(1 << 12) { budget.time() } else { Ok(()) }
                })?;
                let output = |n, register| memory.output(n, register);
                layout.vertices(count, output, &mut self.processed);
            }
            Some(Runner::Code { batch, .. }) => {
                budget.time()?;
                batch.load_columns(count, |input, channel| inputs.column(input, channel));
                let vertices = count as u64;
                let limit = budget.instructions_of_vertex(vertices);
                let executed = batch.run(count, limit).unwrap_or_else(|limit| limit.limit + 1);
                budget.vertex_instructions(executed.saturating_mul(vertices))?;
                let output = |n, register| batch.output(n, register);
                layout.vertices(count, output, &mut self.processed);
            }
            None => {
                let input = |n, vector| inputs.vector(vector, n);
                layout.vertices(count, input, &mut self.processed);
            }
        }
        self.pending = 0;
        Ok(())
    }
}
