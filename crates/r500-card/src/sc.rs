//! `SC`: scan conversion. Determines the covered samples of a primitive, quad by quad, with exact edge functions.

use r500_chip::gb::{GbAaConfig, GbMspos0, GbMspos1};
use r500_chip::sc::{
    ScClip0A, ScClip0B, ScClip1A, ScClip1B, ScClip2A, ScClip2B, ScClip3A, ScClip3B, ScClipRule,
    ScEdgerule, ScScissor0, ScScissor1, ScScreendoor,
};
use r500_chip::values::{AaSamples, EdgeRule};
use r500_stream::State;

use crate::ga::{Grid, GridPoint, ShapeKind, StippledLine};
use crate::limits::{Budget, CardError};
use crate::quad::Quad;
use crate::su::{Edge, Outline};

/// Greatest number of samples of a pixel.
pub(crate) const SAMPLES: usize = 6;

/// The sample positions of a pixel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Samples {
    pub(crate) count: usize,
    /// Grid units from the pixel's corner.
    positions: [GridPoint; SAMPLES],
    center: GridPoint,
    unit: i64,
    /// 1 / `unit`, rounded.
    per_unit: f64,
}

impl Samples {
    pub(crate) fn new(state: &State, grid: Grid) -> Self {
        let config: GbAaConfig = state.registers.get();
        let (a, b): (GbMspos0, GbMspos1) = (state.registers.get(), state.registers.get());
        let count = match (config.aa_enable(), config.num_aa_subsamples()) {
            (false, _) => 1,
            (true, AaSamples::SAMPLES_2) => 2,
            (true, AaSamples::SAMPLES_3) => 3,
            (true, AaSamples::SAMPLES_4) => 4,
            (true, _) => 6,
        };
        let twelfth = grid.unit / 12;
        let center = [6 * twelfth; 2];
        let positions = [
            [a.ms_x0(), a.ms_y0()],
            [a.ms_x1(), a.ms_y1()],
            [a.ms_x2(), a.ms_y2()],
            [b.ms_x3(), b.ms_y3()],
            [b.ms_x4(), b.ms_y4()],
            [b.ms_x5(), b.ms_y5()],
        ]
        .map(|position| position.map(|x| i64::from(x) * twelfth));
        let positions = if count == 1 { [center; SAMPLES] } else { positions };
        Self { count, positions, center, unit: grid.unit, per_unit: 1.0 / grid.unit as f64 }
    }

    /// Returns the centre of a pixel.
    pub(crate) fn center(&self, [x, y]: [u32; 2]) -> GridPoint {
        [i64::from(x) * self.unit + self.center[0], i64::from(y) * self.unit + self.center[1]]
    }

    /// Returns x and y of the centres of a quad's pixels, given the first pixel.
    #[inline(always)]
    pub(crate) fn quad_centers(&self, first: [u32; 2]) -> [[f64; 4]; 2] {
        let unit = self.unit as f64;
        // Exact, and conversions of signed numbers are instructions.
        let centre = |axis: usize| {
            let at = f64::from(first[axis].cast_signed()) * unit + self.center[axis] as f64;
            [at, at + unit]
        };
        let [x, y] = [centre(0), centre(1)];
        [[x[0], x[1], x[0], x[1]], [y[0], y[0], y[1], y[1]]]
    }

    /// Returns the position of a sample of a pixel.
    pub(crate) fn position(&self, [x, y]: [u32; 2], sample: usize) -> GridPoint {
        let [dx, dy] = self.positions[sample];
        [i64::from(x) * self.unit + dx, i64::from(y) * self.unit + dy]
    }

    /// Returns the mask with all samples.
    pub(crate) fn all(&self) -> u8 {
        (1 << self.count) - 1
    }
}

/// A rectangle of pixels with inclusive bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rectangle {
    first: [u32; 2],
    last: [u32; 2],
}

impl Rectangle {
    fn holds(&self, at: [u32; 2]) -> bool {
        (0..2).all(|axis| (self.first[axis]..=self.last[axis]).contains(&at[axis]))
    }
}

/// The scan of a primitive, two rows after two rows.
pub(crate) struct Scan {
    /// The first and last pixel that may be covered.
    first: [u32; 2],
    last: [u32; 2],
    /// Edges; one that includes samples on it is moved by one: then a sample is inside if the value is positive.
    edges: [(Edge, i64); 4],
    edge_count: usize,
    stipple: Option<StippledLine>,
    /// The next row, even.
    row: u32,
}

impl Scan {
    fn edges(&self) -> &[(Edge, i64)] {
        &self.edges[..self.edge_count]
    }
}

/// State of the scan converter.
#[derive(Clone, Debug)]
pub(crate) struct Sc {
    pub(crate) samples: Samples,
    scissor: Rectangle,
    clips: [Rectangle; 4],
    clip_rule: u16,
    /// Edge rules by kind of shape, in the order of [`ShapeKind`].
    rules: [EdgeRule; 6],
    /// Sample mask for each pixel of a quad.
    sample_mask: [u8; 4],
    /// Whether edges and the scissor alone determine the covered pixels, one sample in each.
    is_common: bool,
}

/// Number of columns from which on the quads that no edge excludes are computed, not found one by one.
const WIDE: u32 = 12;

/// Number of columns and of rows up to which a shape is small.
const SMALL: i64 = 32;

impl Samples {
    /// Returns the largest whole number not above a number of pixels in units, below 2^31, without a division.
    fn floor_pixels(&self, at: i64) -> i64 {
        let near = (at as f64 * self.per_unit) as i32;
        let rest = at - i64::from(near) * self.unit;
        i64::from(near) - i64::from(rest < 0) + i64::from(rest >= self.unit)
    }
}

impl Sc {
    pub(crate) fn new(state: &State, grid: Grid) -> Self {
        let registers = &state.registers;
        let rules: ScEdgerule = registers.get();
        macro_rules! rectangle {
            ($a:ident, $b:ident) => {{
                let (a, b): ($a, $b) = (registers.get(), registers.get());
                Rectangle {
                    first: [a.xs0(), a.ys0()].map(u32::from),
                    last: [b.xs1(), b.ys1()].map(u32::from),
                }
            }};
        }
        let door = registers.get::<ScScreendoor>().screendoor();
        let samples = Samples::new(state, grid);
        // Six samples a pixel, pixel 0 lowest (open). Without multisampling, any of them enables the pixel.
        let sample_mask = std::array::from_fn(|pixel| {
            let mask = (door >> (6 * pixel) & 63) as u8;
            if samples.count == 1 { u8::from(mask != 0) } else { mask & samples.all() }
        });
        let clip_rule = registers.get::<ScClipRule>().clip_rule();
        Self {
            samples,
            scissor: rectangle!(ScScissor0, ScScissor1),
            clips: [
                rectangle!(ScClip0A, ScClip0B),
                rectangle!(ScClip1A, ScClip1B),
                rectangle!(ScClip2A, ScClip2B),
                rectangle!(ScClip3A, ScClip3B),
            ],
            clip_rule,
            rules: [
                rules.er_tri(),
                rules.er_point(),
                rules.er_line_lr(),
                rules.er_line_rl(),
                rules.er_line_tb(),
                rules.er_line_bt(),
            ],
            sample_mask,
            is_common: samples.count == 1 && clip_rule == 0xffff && sample_mask == [1; 4],
        }
    }

    /// Returns the last column and row that may be covered.
    pub(crate) fn last(&self) -> [u32; 2] {
        self.scissor.last
    }

    /// Begins the scan of a shape; `None` if it covers nothing.
    pub(crate) fn begin(
        &self,
        outline: &Outline,
        budget: &mut Budget,
    ) -> Result<Option<Scan>, CardError> {
        let Some([first, last]) = self.bounds(outline) else { return Ok(None) };
        budget.pixels(
            (u64::from(last[0] - first[0]) + 1).saturating_mul(u64::from(last[1] - first[1]) + 1),
        )?;
        let rule = self.rules[outline.kind as usize];
        Ok(Some(Scan {
            first,
            last,
            edges: outline.edges.map(|edge| (edge, i64::from(is_in(rule, edge)))),
            edge_count: outline.edge_count,
            stipple: outline.stipple,
            row: first[1] & !1,
        }))
    }

    /// Adds the quads of a shape, if it is small and nothing but edges and the scissor matter, and returns whether it is. 32 bits hold the
    /// edge functions of a small shape.
    pub(crate) fn small(
        &self,
        outline: &Outline,
        budget: &mut Budget,
        mut add: impl FnMut(Quad),
    ) -> Result<bool, CardError> {
        if !self.is_common || outline.stipple.is_some() {
            return Ok(false);
        }
        let Samples { unit, center, .. } = self.samples;
        // The pixels with centres within the bounds, and those of them within the scissor.
        let [least, most] = outline.bounds;
        let inside: [[i64; 2]; 2] = std::array::from_fn(|axis| {
            let first = -self.samples.floor_pixels(center[axis] - least[axis]);
            [first, self.samples.floor_pixels(most[axis] - center[axis])]
        });
        let drawn: [[i64; 2]; 2] = std::array::from_fn(|axis| {
            let [first, last] = [self.scissor.first[axis], self.scissor.last[axis]].map(i64::from);
            [inside[axis][0].max(first), inside[axis][1].min(last)]
        });
        let [[left, right], [top, bottom]] = drawn;
        if left > right || top > bottom {
            return Ok(true);
        }
        let [width, height] = [right - left + 1, bottom - top + 1];
        if width.max(height) > SMALL {
            return Ok(false);
        }
        let start = [left & !1, top & !1];
        let at = [0, 1].map(|axis| start[axis] * unit + center[axis]);
        let rule = self.rules[outline.kind as usize];
        // Values at the pixels of the first quad, less 1 for what is not inside: negative outside. Then the steps to the next quad and row.
        let mut lanes = [[0_i32; 4]; 4];
        let mut steps = [[0_i32; 2]; 4];
        let edges = &outline.edges[..outline.edge_count];
        for ((lanes, steps), edge) in lanes.iter_mut().zip(&mut steps).zip(edges) {
            let value = edge.at(at) + i64::from(is_in(rule, *edge)) - 1;
            let [x, y] = [edge.a * unit, edge.b * unit];
            let reach = (x.abs() + y.abs()) * (SMALL + 4);
            if value.abs() + reach > i64::from(i32::MAX) {
                return Ok(false);
            }
            *lanes = [value, value + x, value + y, value + x + y].map(|value| value as i32);
            *steps = [2 * x, 2 * y].map(|step| step as i32);
        }
        budget.pixels((width * height) as u64)?;
        let is_cut = drawn != inside;
        // Ranges with steps cost more than the edges.
        let [start_x, mut y] = start;
        while y <= bottom {
            let mut row = lanes;
            let mut x = start_x;
            while x <= right {
                let mut values = row[0];
                for (n, value) in values.iter_mut().enumerate() {
                    *value |= row[1][n] | row[2][n] | row[3][n];
                }
                let [a, b, c, d] = values;
                // Half of the quads are outside.
                if a & b & c & d >= 0 {
                    let mut masks = values.map(|value| u8::from(value >= 0));
                    if is_cut {
                        for (n, mask) in masks.iter_mut().enumerate() {
                            let (x, y) = (x + n as i64 % 2, y + n as i64 / 2);
                            let drawn = left <= x && x <= right && top <= y && y <= bottom;
                            *mask &= u8::from(drawn);
                        }
                    }
                    if masks != [0; 4] {
                        add(Quad { x: x as u16, y: y as u16, masks });
                    }
                }
                for (values, step) in row.iter_mut().zip(steps) {
                    *values = values.map(|value| value + step[0]);
                }
                x += 2;
            }
            for (values, step) in lanes.iter_mut().zip(steps) {
                *values = values.map(|value| value + step[1]);
            }
            y += 2;
        }
        Ok(true)
    }

    /// Adds the quads of the next two rows of a scan. Returns whether there are more rows.
    pub(crate) fn rows(&self, scan: &mut Scan, rules_only: bool, add: impl FnMut(Quad)) -> bool {
        if self.is_common && scan.stipple.is_none() && !rules_only {
            self.rows_by_edges(scan, add);
        } else {
            self.rows_by_samples(scan, add);
        }
        scan.row += 2;
        scan.row <= scan.last[1]
    }

    /// Tests each sample.
    fn rows_by_samples(&self, scan: &Scan, mut add: impl FnMut(Quad)) {
        let Scan { first, last, row: y, .. } = *scan;
        let clipped = self.clip_rule != 0xffff;
        let Some([left, right]) = self.columns(scan) else { return };
        for x in (left & !1..=right).step_by(2) {
            let mut masks = [0; 4];
            for (corner, mask) in masks.iter_mut().enumerate() {
                let at = [x + corner as u32 % 2, y + corner as u32 / 2];
                let inside = (0..2).all(|i| (first[i]..=last[i]).contains(&at[i]));
                if !inside || clipped && !self.clip_rects_draw(at) {
                    continue;
                }
                for sample in 0..self.samples.count {
                    let position = self.samples.position(at, sample);
                    let covered = scan.edges().iter().all(|(e, tie)| e.at(position) + tie > 0);
                    *mask |= u8::from(covered) << sample;
                }
                *mask &= self.sample_mask[corner];
                let center = self.samples.center(at);
                if scan.stipple.is_some_and(|line| !line.draws(center)) {
                    *mask = 0;
                }
            }
            if masks != [0; 4] {
                add(Quad { x: x as u16, y: y as u16, masks });
            }
        }
    }

    /// Steps edge functions from quad to quad, for one sample a pixel. Between the columns where an edge may exclude pixels, all are
    /// covered.
    fn rows_by_edges(&self, scan: &Scan, mut add: impl FnMut(Quad)) {
        let Scan { first, last, row: y, .. } = *scan;
        let unit = self.samples.unit;
        let left = first[0] & !1;
        // Whether the rows and columns of a quad are within the bounds.
        let rows = [y >= first[1], y < last[1]];
        let [mut left, mut right] = [left, last[0]];
        if right - left >= 8 {
            let Some(columns) = self.columns(scan) else { return };
            [left, right] = [columns[0] & !1, columns[1]];
        }
        let at = self.samples.center([left, y]);
        let mut values = [0; 4];
        for (value, (edge, tie)) in values.iter_mut().zip(scan.edges()) {
            *value = edge.at(at) + tie;
        }
        // Divisions cost more than the tests of a few quads.
        let (full_from, full_to) = match rows == [true; 2] && right - left >= WIDE {
            true => self.full_quads(scan, values, [left, right]),
            false => (0, -1),
        };
        let edges = scan.edges();
        let mut x = left;
        let mut number = 0;
        while x <= right {
            if number >= full_from && number <= full_to {
                for _ in number..=full_to {
                    add(Quad { x: x as u16, y: y as u16, masks: [1; 4] });
                    x += 2;
                }
                number = full_to + 1;
                continue;
            }
            let columns = [x >= first[0], x < last[0]];
            let mut masks = [0, 1, 2, 3].map(|n| u8::from(rows[n / 2] && columns[n % 2]));
            for ((edge, _), value) in edges.iter().zip(values) {
                let value = value + number * (2 * edge.a * unit);
                let (right, down) = (edge.a * unit, edge.b * unit);
                masks[0] &= u8::from(value > 0);
                masks[1] &= u8::from(value + right > 0);
                masks[2] &= u8::from(value + down > 0);
                masks[3] &= u8::from(value + right + down > 0);
            }
            if masks != [0; 4] {
                add(Quad { x: x as u16, y: y as u16, masks });
            }
            x += 2;
            number += 1;
        }
    }

    /// Returns the first and the last quad, counted from the column `left`, whose four pixels are within the bounds and inside of every edge, given
    /// the values of the edges at its first pixel.
    fn full_quads(&self, scan: &Scan, values: [i64; 4], [left, right]: [u32; 2]) -> (i64, i64) {
        let Scan { first, last, .. } = *scan;
        let mut full_from = i64::from(left < first[0]);
        let mut full_to = i64::from((right - left) / 2)
            .min((i64::from(last[0]) - 1 - i64::from(left)).div_euclid(2));
        for (value, (edge, _)) in values.iter().zip(scan.edges()) {
            // The least value in the quad, and its change from quad to quad.
            let least = *value + (edge.a.min(0) + edge.b.min(0)) * self.samples.unit;
            let step = 2 * edge.a * self.samples.unit;
            if step > 0 {
                full_from = full_from.max((-least).div_euclid(step) + 1);
            } else if step < 0 {
                full_to = full_to.min((least - 1).div_euclid(-step));
            } else if least <= 0 {
                full_to = -1;
            }
        }
        (full_from, full_to)
    }

    /// Returns the first and last pixel that a shape may cover: its bounds within the scissor.
    fn bounds(&self, outline: &Outline) -> Option<[[u32; 2]; 2]> {
        let pixel = |at: i64| self.samples.floor_pixels(at);
        let axis = |axis: usize| {
            let [first, last] = outline.bounds.map(|at| pixel(at[axis]));
            let first = first.max(self.scissor.first[axis].into());
            let last = last.min(self.scissor.last[axis].into());
            (first <= last).then_some([u32::try_from(first).ok()?, u32::try_from(last).ok()?])
        };
        let ([left, right], [top, bottom]) = (axis(0)?, axis(1)?);
        Some([[left, top], [right, bottom]])
    }

    /// Returns the columns of two rows of pixels from `y` that may be covered: those that no edge excludes. A
    /// conservative bound, because samples decide.
    fn columns(&self, scan: &Scan) -> Option<[u32; 2]> {
        let Scan { first: [mut left, _], last: [mut right, _], row: y, .. } = *scan;
        let unit = self.samples.unit;
        let rows = [i64::from(y) * unit, (i64::from(y) + 2) * unit];
        for (edge, tie) in scan.edges() {
            // The maximum in a column is a*x + rest, at its right end for a > 0, else at its left end.
            let [above, below] = rows.map(|y| edge.at([0, y]));
            let rest = above.max(below) + tie;
            if edge.a > 0 {
                // a*x + rest > 0 from here on.
                let x = (-rest).div_euclid(edge.a);
                let column = x.div_euclid(unit);
                left = left.max(u32::try_from(column.max(0)).unwrap_or(u32::MAX));
            } else if edge.a < 0 {
                let x = rest.div_euclid(-edge.a);
                let column = x.div_euclid(unit);
                right = right.min(u32::try_from(column).ok()?);
            } else if rest <= 0 {
                return None;
            }
            if left > right {
                return None;
            }
        }
        Some([left, right])
    }

    fn clip_rects_draw(&self, at: [u32; 2]) -> bool {
        let mut code = 0;
        for (n, clip) in self.clips.iter().enumerate() {
            code |= u16::from(clip.holds(at)) << n;
        }
        self.clip_rule >> code & 1 != 0
    }
}

/// Returns whether a sample on an edge is covered (`SC_EDGERULE`).
///
/// Codes 0 to 15 distinguish left and right edges, and top and bottom for horizontal ones; codes 16 to 31 top and
/// bottom edges, and left and right for vertical ones. A clear bit includes the sample.
pub(crate) fn is_in(rule: EdgeRule, edge: Edge) -> bool {
    let code = rule.code();
    // The inside is towards positive a and b.
    let bit = match (code < 16, edge.a.signum(), edge.b.signum()) {
        (true, 1, _) => 3,
        (true, -1, _) => 2,
        (false, _, -1) => 3,
        (false, _, 1) => 2,
        (true, _, 1) | (false, 1, _) => 1,
        _ => 0,
    };
    code >> bit & 1 == 0
}

const _: () = assert!(ShapeKind::LineBottomToTop as usize == 5);

#[cfg(test)]
mod tests;
