//! `CP`: execution of a draw, block by block.

use std::sync::OnceLock;

use r500_chip::Mapped;
use r500_chip::values::{PolygonFill, PrimType};
use r500_exec::{Engine, RunInfo};
use r500_stream::{DrawCall, State};

use crate::clip::{Clip, Viewport, WindowVertex};
use crate::draw_time::{Clock, TimedBlock};
use crate::ga::{Ga, Grid, Shape};
use crate::limits::{Budget, CardError};
use crate::output::Output;
use crate::rb3d::Rb3d;
use crate::reading::Readings;
use crate::recording::Recording;
use crate::report::{Note, Report};
use crate::rs::Rs;
use crate::sc::Sc;
use crate::shading::{QuadMemory, Queue, Shading, Totals};
use crate::su::{Outline, Su};
use crate::texture_cache::TextureCache;
use crate::texture_store::TextureStore;
use crate::us::{Fragments, ran_together};
use crate::vap::assembly::{self, assemble};
use crate::vap::programs::VertexEngines;
use crate::vap::vertices::Vertices;
use crate::vap::{DrawState, OutputLayout, Vertex};
use crate::varyings::Varyings;
use crate::zb::Zb;

/// The context of a draw besides the state of the chip.
pub(crate) struct Context<'a> {
    pub(crate) engine: &'a dyn Engine,
    pub(crate) readings: &'a Readings,
    pub(crate) exec_readings: r500_exec::Readings,
    pub(crate) report: &'a mut Report,
    pub(crate) budget: &'a mut Budget,
    /// `ZB_ZPASS_DATA`.
    pub(crate) zpass: &'a mut u32,
    /// The recording, if the draw is recorded.
    pub(crate) recording: Option<&'a mut Recording>,
    pub(crate) texture_cache: &'a mut TextureCache,
    pub(crate) textures: &'a mut TextureStore,
    /// Whether the paths for common states are not taken.
    pub(crate) rules_only: bool,
    /// Measures the blocks, if wanted.
    pub(crate) clock: Option<Clock>,
}

impl Context<'_> {
    /// Runs a part of a draw, whose time counts for a block.
    fn timed<T>(&mut self, block: TimedBlock, part: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.clock.as_mut().map(|clock| clock.enter(block));
        let result = part(self);
        if let (Some(clock), Some(before)) = (&mut self.clock, before) {
            clock.enter(before);
        }
        result
    }
}

/// Executes a draw. `engines` run its vertices, `memory` is memory for its quads.
pub(crate) fn draw(
    state: &State,
    call: &DrawCall<'_>,
    engines: &mut VertexEngines,
    memory: &mut [QuadMemory; 2],
    context: &mut Context<'_>,
) -> Result<(), CardError> {
    context.report.statistics.draws += 1;
    context.budget.draws(1)?;
    context.budget.time()?;
    note_ignored(state, context.report);
    let draw = DrawState::new(state, call);
    let layout = OutputLayout::new(state);
    let Some(mut vertices) =
        Vertices::new(state, call, &draw, &layout, engines, context.budget, context.report)?
    else {
        return Ok(());
    };
    // Before the fragment program is prepared: a failure of the vertex program then costs less.
    context.timed(TimedBlock::Vertices, |it| vertices.process_next(it.budget, it.report))?;
    let shading = match draw.no_render {
        true => None,
        false => shading(state, &draw, &layout, context)?,
    };
    let Some((shading, sc)) = shading else {
        return context
            .timed(TimedBlock::Vertices, |it| vertices.process_all(it.budget, it.report));
    };
    // A draw that failed leaves quads.
    memory.iter_mut().for_each(QuadMemory::clear);
    std::thread::scope(|scope| {
        let readings = context.readings;
        let ga = Ga::new(state, &layout, readings);
        let mut pipeline = Pipeline {
            clip: Clip::new(state, readings),
            viewport: Viewport::new(state),
            su: Su::new(state, &layout, ga.grid, readings),
            ga,
            sc,
            shading: &shading,
            queue: Queue::new(scope, &shading),
            memory,
            strip: 0.0,
            scanned: 0,
            ran: None,
        };
        let result = context
            .timed(TimedBlock::Primitives, |context| pipeline.draw(&mut vertices, &draw, context));
        if let Some(ran) = pipeline.ran {
            context.report.count_engine(ran);
        }
        result
    })
}

/// Configures the blocks from the scan converter on; `None`, with a note, if the fragment program cannot run.
fn shading<'e>(
    state: &State,
    draw: &DrawState,
    layout: &OutputLayout,
    context: &mut Context<'e>,
) -> Result<Option<(Shading<'e>, Sc)>, CardError> {
    let readings = context.readings;
    let fragments = Fragments::new(
        state,
        readings,
        context.exec_readings,
        context.textures,
        context.budget,
        context.report,
    )?;
    let Some(fragments) = fragments else { return Ok(None) };
    let draw_number = context.report.statistics.draws.saturating_sub(1);
    let stale = context.texture_cache.read(fragments.reads(), draw_number);
    context.report.stale(stale);
    let sc = Sc::new(state, Grid::new(state, readings));
    let samples = sc.samples;
    let points = draw.vf_cntl.prim_type() == PrimType::POINTS;
    let zb = Zb::new(state, samples.count, readings);
    let targets = fragments.targets();
    let rb3d = Rb3d::new(state, targets, samples.count, readings, context.report);
    let mut varyings = Varyings::default();
    let rs = Rs::new(state, layout, points, &mut varyings);
    let output = Output::new(state, zb, rb3d, &mut varyings, readings);
    let in_order = output.shares_bytes(sc.last());
    let shading = Shading {
        engine: context.engine,
        rs,
        varyings,
        samples,
        output,
        fragments,
        drawing: OnceLock::new(),
        in_order,
        rules_only: context.rules_only || in_order,
    };
    Ok(Some((shading, sc)))
}

/// The blocks from clipping on, configured for a draw, and quads that are not shaded yet.
struct Pipeline<'scope, 'env, 'e> {
    clip: Clip,
    viewport: Viewport,
    ga: Ga,
    su: Su,
    sc: Sc,
    shading: &'env Shading<'e>,
    queue: Queue<'scope, 'env, 'e>,
    /// Primitives and quads that are not shaded yet, and memory for others.
    memory: &'env mut [QuadMemory; 2],
    /// Length of the line strip so far in pixels, for stipple.
    strip: f64,
    /// Number of shapes so far, modulo 2^32.
    scanned: u32,
    /// The engine that ran the fragment program, if it ran.
    ran: Option<RunInfo>,
}

impl Pipeline<'_, '_, '_> {
    /// Draws the primitives of vertices.
    fn draw(
        &mut self,
        vertices: &mut Vertices<'_>,
        draw: &DrawState,
        context: &mut Context<'_>,
    ) -> Result<(), CardError> {
        let split = context.readings.quad_split;
        let (primitives, provoking) = (draw.vf_cntl.prim_type(), self.ga.provoking);
        let known = assemble(primitives, vertices.count(), provoking, split, |p| {
            let last = p.last_vertex();
            context.timed(TimedBlock::Vertices, |it| {
                vertices.process_through(last, it.budget, it.report)
            })?;
            self.primitive(vertices, p, context)
        })?;
        if !known {
            let code = draw.vf_cntl.prim_type().code();
            context.report.note(Note::Draw { why: format!("PRIM_TYPE {code} is not known") });
        }
        self.flush(true, context)?;
        self.note_writes(context);
        Ok(())
    }

    fn primitive(
        &mut self,
        vertices: &Vertices<'_>,
        primitive: assembly::Primitive,
        context: &mut Context<'_>,
    ) -> Result<(), CardError> {
        context.report.statistics.primitives += 1;
        match primitive {
            assembly::Primitive::Point(n) => {
                let (mut vertex, mut shaded) = (vertices.at(n), None);
                if !self.clip.keeps_point(vertex.position) {
                    return Ok(());
                }
                if !self.ga.keeps_colors() {
                    let mut copy = [*vertex];
                    self.ga.shade(&mut copy, vertex);
                    let [copy] = copy;
                    vertex = shaded.insert(copy);
                }
                let Some(window) = self.viewport.window(vertex) else { return Ok(()) };
                let shape = self.ga.point(&window, None);
                self.scan(&shape, context)
            }
            assembly::Primitive::Line { vertices: ends, provoking, first } => {
                let mut ends = ends.map(|n| *vertices.at(n));
                self.ga.shade(&mut ends, vertices.at(provoking));
                let Some([a, b]) = self.clip.line(ends) else { return Ok(()) };
                let [a, b] = [self.viewport.window(&a), self.viewport.window(&b)];
                match (a, b) {
                    (Some(a), Some(b)) => self.line([&a, &b], first, None, context),
                    _ => Ok(()),
                }
            }
            assembly::Primitive::Triangle { vertices: corners, provoking, edges } => {
                let corners = corners.map(|n| vertices.at(n));
                if self.ga.keeps_colors() {
                    return self.triangle(corners, edges, context);
                }
                let mut corners = corners.map(|vertex| *vertex);
                self.ga.shade(&mut corners, vertices.at(provoking));
                self.triangle(corners.each_ref(), edges, context)
            }
        }
    }

    fn triangle(
        &mut self,
        corners: [&Vertex; 3],
        edges: [bool; 3],
        context: &mut Context<'_>,
    ) -> Result<(), CardError> {
        match self.clip.whole_triangle(corners) {
            Some(false) => return Ok(()),
            Some(true) if self.ga.polygon_fill.is_none() => {
                let [a, b, c] = corners.map(|vertex| self.viewport.window(vertex));
                let (Some(a), Some(b), Some(c)) = (a, b, c) else { return Ok(()) };
                let part = [&a, &b, &c];
                let face = self.su.face(part.map(|vertex| self.ga.grid.point(vertex.xy)));
                return match face {
                    Some((back, true)) => self.scan(&self.ga.triangle(part, Some(back)), context),
                    _ => Ok(()),
                };
            }
            _ => {}
        }
        let Some(polygon) = self.clip.triangle(corners.map(|vertex| *vertex), edges) else {
            return Ok(());
        };
        let window: Option<Vec<WindowVertex<'_>>> =
            polygon.vertices.iter().map(|vertex| self.viewport.window(vertex)).collect();
        let Some(window) = window else { return Ok(()) };
        // The face is that of the first triangle with an area.
        let parts = || (2..window.len()).map(|n| [&window[0], &window[n - 1], &window[n]]);
        let face = parts().find_map(|part| self.su.face(part.map(|v| self.ga.grid.point(v.xy))));
        let Some((back, keep)) = face else { return Ok(()) };
        if !keep {
            return Ok(());
        }
        let fill = self.ga.polygon_fill.map(|faces| faces[usize::from(back)]);
        match fill {
            Some(PolygonFill::POINTS) => {
                for (vertex, _) in window.iter().zip(&polygon.edges).filter(|(_, edge)| **edge) {
                    self.scan(&self.ga.point(vertex, Some(back)), context)?;
                }
            }
            Some(PolygonFill::LINES) => {
                for (n, _) in polygon.edges.iter().enumerate().filter(|(_, edge)| **edge) {
                    let ends = [&window[n], &window[(n + 1) % window.len()]];
                    self.line(ends, n == 0, Some(back), context)?;
                }
            }
            _ => {
                for part in parts() {
                    self.scan(&self.ga.triangle(part, Some(back)), context)?;
                }
            }
        }
        Ok(())
    }

    fn line(
        &mut self,
        ends: [&WindowVertex<'_>; 2],
        first: bool,
        back: Option<bool>,
        context: &mut Context<'_>,
    ) -> Result<(), CardError> {
        let mut strip = self.strip;
        let shape = self.ga.line(ends, first, &mut strip, back);
        self.strip = strip;
        match shape {
            Some(shape) => self.scan(&shape, context),
            None => Ok(()),
        }
    }

    fn scan(&mut self, shape: &Shape<'_>, context: &mut Context<'_>) -> Result<(), CardError> {
        let Some(outline) = Outline::new(shape) else { return Ok(()) };
        // The clock takes longer than a small primitive; a flush reads it, too.
        self.scanned = self.scanned.wrapping_add(1);
        if self.scanned.is_multiple_of(64) {
            context.budget.time()?;
        }
        if !context.rules_only {
            let QuadMemory { primitives, quads, .. } = &mut self.memory[0];
            let (before, index) = (quads.len(), primitives.len() as u32);
            let add = |quad| quads.push((index, quad));
            if self.sc.small(&outline, context.budget, add)? {
                if quads.len() > before {
                    primitives.push(&self.su, shape, &outline, &self.shading.varyings);
                    self.flush_full(context)?;
                }
                return Ok(());
            }
        }
        let Some(mut scan) = self.sc.begin(&outline, context.budget)? else { return Ok(()) };
        // Only a primitive that covers a sample is set up.
        let mut is_set_up = false;
        loop {
            let QuadMemory { primitives, quads, .. } = &mut self.memory[0];
            let (before, index) = (quads.len(), primitives.len() - usize::from(is_set_up));
            let add = |quad| quads.push((index as u32, quad));
            let more = self.sc.rows(&mut scan, context.rules_only, add);
            if quads.len() > before && !is_set_up {
                primitives.push(&self.su, shape, &outline, &self.shading.varyings);
                is_set_up = true;
            }
            if quads.len() >= QuadMemory::QUADS {
                self.flush(false, context)?;
                is_set_up = false;
            }
            if !more {
                break;
            }
        }
        self.flush_full(context)
    }

    /// Shades the pending quads if there is no room for another primitive.
    fn flush_full(&mut self, context: &mut Context<'_>) -> Result<(), CardError> {
        let QuadMemory { primitives, quads, .. } = &self.memory[0];
        if primitives.len() >= QuadMemory::PRIMITIVES || quads.len() >= QuadMemory::QUADS {
            self.flush(false, context)?;
        }
        Ok(())
    }

    /// Notes the bytes that the draw wrote, for draws that use them as textures.
    fn note_writes(&self, context: &mut Context<'_>) {
        let draw = context.report.statistics.draws.saturating_sub(1);
        for surface in self.shading.output.surfaces() {
            if let Some(bytes) = surface.written() {
                context.textures.written(surface.buffer.id(), &bytes);
                context.texture_cache.write(surface.buffer.id(), bytes, draw);
            }
        }
    }

    /// Shades the pending quads and writes their results, in order: on another thread, unless they are the last ones.
    fn flush(&mut self, is_last: bool, context: &mut Context<'_>) -> Result<(), CardError> {
        let [pending, _] = &mut *self.memory;
        let count = pending.quads.len() as u64;
        context.report.statistics.quads += count;
        context.budget.quads(count)?;
        context.budget.time()?;
        if let Some(recording) = &mut context.recording {
            let Shading { rs, samples, fragments, .. } = self.shading;
            recording.add(&fragments.job(), rs, samples, &pending.primitives, &pending.quads)?;
        }
        context.timed(TimedBlock::Fragments, |context| self.shade(is_last, context))
    }

    /// Shades quads, of this call or of the one before.
    fn shade(&mut self, is_last: bool, context: &mut Context<'_>) -> Result<(), CardError> {
        if let Some(before) = self.queue.finish(self.memory) {
            self.count(before?, context);
        }
        let [pending, _] = &mut *self.memory;
        if pending.quads.is_empty() {
            pending.primitives.clear();
        } else if is_last || !Shading::overlaps(context.budget) {
            let totals = self.shading.draw(pending, context.budget)?;
            self.count(totals, context);
        } else {
            let budget = *context.budget;
            if let Some(totals) = self.queue.start(self.memory, budget) {
                self.count(totals?, context);
            }
        }
        Ok(())
    }

    /// Counts what became of quads.
    fn count(&mut self, totals: Totals, context: &mut Context<'_>) {
        let Totals { quads, passed, by_lanes, ran } = totals;
        if let Some(ran) = ran {
            self.ran = Some(ran_together(self.ran.take(), ran));
        }
        let statistics = &mut context.report.statistics;
        statistics.samples += passed;
        if by_lanes {
            statistics.quads_by_lanes += quads;
        }
        *context.zpass = context.zpass.wrapping_add(passed as u32);
    }
}

/// Notes registers with values that have an effect but are not implemented.
fn note_ignored(state: &State, report: &mut Report) {
    let mut note = |mapping: &'static r500_chip::Mapping, about, matters: fn(u32) -> bool| {
        for place in mapping.members() {
            let value = state.registers.read(place.address());
            if matters(value) {
                report.note(Note::Register { name: place.to_string(), value, about });
            }
        }
    };
    use r500_chip::{gb, rb3d, su, vap, zb};
    use r500_isa::state::FgAlphaFunc;
    note(FgAlphaFunc::MAPPING, "colours are not dithered", |v| FgAlphaFunc(v).dith_en());
    note(su::SuTexWrapPs3::MAPPING, "coordinates do not wrap around cylinders", |v| v != 0);
    note(gb::Ps3Enable::MAPPING, "ten texture coordinates are not supported", |v| v & 1 != 0);
    note(gb::GbEnable::MAPPING, "lines and triangles get no made-up coordinates", |v| {
        v & 0x36 != 0
    });
    note(zb::ZbBwCntl::MAPPING, "fast clears of depth are not modelled", |v| {
        zb::ZbBwCntl(v).fast_fill()
    });
    note(rb3d::Rb3dCctl::MAPPING, "colours are not compared", |v| {
        rb3d::Rb3dCctl(v).clrcmp_flipe_enable()
    });
    note(rb3d::Rb3dCctl::MAPPING, "fast clears of colours are not modelled", |v| {
        rb3d::Rb3dCctl(v).cmask_enable()
    });
    note(rb3d::Rb3dDitherCtl::MAPPING, "colours are rounded, not dithered", |v| {
        v & 3 == 2 || v >> 2 & 3 == 2
    });
    note(vap::VapClipCntl::MAPPING, "colours 2 and 3 are not texture coordinates", |v| {
        v >> 20 & 3 != 0
    });
    note(vap::VapVfCntl::MAPPING, "two index streams are not supported", |v| {
        vap::VapVfCntl(v).dual_index_mode()
    });
}
