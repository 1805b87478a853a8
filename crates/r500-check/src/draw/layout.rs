//! Layered graph drawing (Sugiyama's method).
//!
//! The four usual steps (Sugiyama, Tagawa, Toda, 1981):
//!
//! 1. Layer assignment by longest path: a box is below all its predecessors; arrows that close a
//!    cycle are ignored.
//! 2. Arrows across several layers get a point in each layer between. Upward arrows also get a
//!    point next to the box at each end.
//! 3. Crossing reduction: each layer is sorted by the mean position of its neighbours, in several
//!    sweeps up and down.
//! 4. Coordinates: all boxes are packed to the left, then moved towards their neighbours as far as
//!    there is space. The points of an arrow move together, so that long arrows are straight.

use super::Chart;

/// A box, or a point through which an arrow passes.
#[derive(Clone, Copy, Debug)]
pub(super) struct LayoutNode {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) layer: usize,
    /// The box of the same layer of which the point is preferably to the right.
    box_spot: Option<usize>,
}

impl LayoutNode {
    pub(super) fn centre(&self) -> f64 {
        self.x + self.width / 2.0
    }

    fn point(layer: usize, box_spot: Option<usize>) -> Self {
        Self { x: 0.0, y: 0.0, width: 10.0, height: 0.0, layer, box_spot }
    }

    fn is_point(&self) -> bool {
        self.height == 0.0
    }
}

/// The route of an arrow.
#[derive(Clone, Debug)]
pub(super) struct Route {
    /// The points on the route, from its start to its end.
    pub(super) points: Vec<usize>,
    /// Whether the arrow leads upward.
    pub(super) upward: bool,
}

/// A laid out chart, in pixels.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) nodes: Vec<LayoutNode>,
    /// The route of each arrow.
    pub(super) routes: Vec<Route>,
    /// Top and bottom of each layer.
    pub(super) layers: Vec<(f64, f64)>,
    pub(super) width: f64,
    pub(super) height: f64,
}

pub(super) const CHARACTER: f64 = 7.25;
pub(super) const LINE: f64 = 16.0;
pub(super) const PADDING: f64 = 8.0;
pub(super) const MARGIN: f64 = 24.0;
pub(super) const LAYER_GAP: f64 = 48.0;
const GAP: f64 = 26.0;
const SWEEPS: usize = 16;

impl Layout {
    pub(super) fn of(chart: &Chart) -> Self {
        let count = chart.boxes.len();
        let upward_arrows = upward_arrows(chart);
        let ends = chart.arrows.iter().zip(&upward_arrows);
        let down: Vec<(usize, usize)> =
            ends.map(|(a, &up)| if up { (a.to, a.from) } else { (a.from, a.to) }).collect();
        let layers = layers(count, &down);
        let mut spots: Vec<LayoutNode> = chart
            .boxes
            .iter()
            .zip(&layers)
            .map(|(node, &layer)| {
                let longest = node.lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
                let width = longest as f64 * CHARACTER + 2.0 * PADDING;
                let height = node.lines.len() as f64 * LINE + 2.0 * PADDING;
                LayoutNode { x: 0.0, y: 0.0, width, height, layer, box_spot: None }
            })
            .collect();
        let mut ways = Vec::with_capacity(chart.arrows.len());
        for (arrow, &upward) in chart.arrows.iter().zip(&upward_arrows) {
            let (from, to) = (layers[arrow.from], layers[arrow.to]);
            let mut points = Vec::new();
            if upward && arrow.from != arrow.to {
                for layer in (to..=from).rev() {
                    let box_spot = match layer {
                        l if l == from => Some(arrow.from),
                        l if l == to => Some(arrow.to),
                        _ => None,
                    };
                    points.push(spots.len());
                    spots.push(LayoutNode::point(layer, box_spot));
                }
            } else {
                for layer in from + 1..to {
                    points.push(spots.len());
                    spots.push(LayoutNode::point(layer, None));
                }
            }
            ways.push(Route { points, upward });
        }
        let mut layout =
            Self { nodes: spots, routes: ways, layers: Vec::new(), width: 0.0, height: 0.0 };
        let mut rows = layout.rows();
        let (above, below) = layout.neighbours(chart);
        layout.sort(&mut rows, &above, &below);
        layout.place(&rows, &above, &below, header(chart));
        let words = std::iter::once(&chart.title).chain(&chart.notes);
        let longest = words.map(|line| line.chars().count()).max().unwrap_or(0);
        layout.width = layout.width.max(longest as f64 * CHARACTER + 2.0 * MARGIN);
        layout
    }

    fn rows(&self) -> Vec<Vec<usize>> {
        let count = self.nodes.iter().map(|spot| spot.layer + 1).max().unwrap_or(0);
        let mut rows = vec![Vec::new(); count];
        for (n, spot) in self.nodes.iter().enumerate() {
            rows[spot.layer].push(n);
        }
        rows
    }

    /// Returns the neighbours of each spot in the layers above and below.
    fn neighbours(&self, chart: &Chart) -> (Vec<Vec<usize>>, Vec<Vec<usize>>) {
        let mut above = vec![Vec::new(); self.nodes.len()];
        let mut below = vec![Vec::new(); self.nodes.len()];
        for (arrow, way) in chart.arrows.iter().zip(&self.routes) {
            let mut chain = way.points.clone();
            if way.upward {
                // The end points are next to their boxes.
                chain.reverse();
            } else if arrow.from != arrow.to {
                chain.insert(0, arrow.from);
                chain.push(arrow.to);
            }
            for pair in chain.windows(2) {
                above[pair[1]].push(pair[0]);
                below[pair[0]].push(pair[1]);
            }
        }
        (above, below)
    }

    fn sort(&self, rows: &mut [Vec<usize>], above: &[Vec<usize>], below: &[Vec<usize>]) {
        let mut place = vec![0.0; self.nodes.len()];
        let number = |row: &[usize], place: &mut [f64]| {
            row.iter().enumerate().for_each(|(i, &spot)| place[spot] = i as f64);
        };
        rows.iter().for_each(|row| number(row, &mut place));
        for sweep in 0..SWEEPS {
            let hangs = if sweep % 2 == 0 { above } else { below };
            let count = rows.len();
            for n in 0..count {
                let row = &mut rows[if sweep % 2 == 0 { n } else { count - 1 - n }];
                let mean = |spot: usize| {
                    let on = &hangs[spot];
                    let sum: f64 = on.iter().map(|&other| place[other]).sum();
                    if on.is_empty() { place[spot] } else { sum / on.len() as f64 }
                };
                // To the right of the box, and of other spots with the position of the box.
                let key =
                    |spot: usize| self.nodes[spot].box_spot.map_or(mean(spot), |b| mean(b) + 0.4);
                let mut keyed: Vec<(f64, usize)> = row.iter().map(|&s| (key(s), s)).collect();
                keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
                *row = keyed.into_iter().map(|(_, spot)| spot).collect();
                number(row, &mut place);
            }
        }
    }

    fn place(
        &mut self,
        rows: &[Vec<usize>],
        above: &[Vec<usize>],
        below: &[Vec<usize>],
        header: f64,
    ) {
        let mut y = MARGIN + header;
        for row in rows {
            let height = row.iter().map(|&n| self.nodes[n].height).fold(0.0, f64::max);
            row.iter().for_each(|&n| self.nodes[n].y = y);
            self.layers.push((y, y + height));
            y += height + LAYER_GAP;
        }
        self.height = y - LAYER_GAP + MARGIN;
        let units = Units::of(self, rows);
        units.pack(&mut self.nodes);
        for _ in 0..SWEEPS {
            units.pull(&mut self.nodes, above, below);
        }
        let left = self.nodes.iter().map(|spot| spot.x).fold(f64::INFINITY, f64::min);
        let left = if left.is_finite() { left } else { 0.0 };
        self.nodes.iter_mut().for_each(|spot| spot.x += MARGIN - left);
        let right = self.nodes.iter().map(|spot| spot.x + spot.width).fold(0.0, f64::max);
        self.width = right + MARGIN;
    }
}

/// Groups of spots with the same x: a single box, or the points of an arrow.
struct Units {
    /// The spots of each unit.
    spots: Vec<Vec<usize>>,
    /// The unit of each spot.
    of: Vec<usize>,
    /// Pairs of units that are adjacent in some row, left and right.
    neighbours: Vec<(usize, usize)>,
    /// The units in topological order from left to right.
    order: Vec<usize>,
}

impl Units {
    fn of(layout: &Layout, rows: &[Vec<usize>]) -> Self {
        let mut spots: Vec<Vec<usize>> = Vec::new();
        let mut of = vec![usize::MAX; layout.nodes.len()];
        let chains = layout.routes.iter().map(|way| way.points.clone());
        for members in chains.filter(|chain| !chain.is_empty()) {
            members.iter().for_each(|&spot| of[spot] = spots.len());
            spots.push(members);
        }
        for (spot, unit) in of.iter_mut().enumerate().filter(|(_, unit)| **unit == usize::MAX) {
            *unit = spots.len();
            spots.push(vec![spot]);
        }
        let mut units = Self { spots, of, neighbours: Vec::new(), order: Vec::new() };
        // Crossing arrows cannot both be straight: the longest one bends.
        while let Some(unit) = units.arrange(rows) {
            for spot in units.spots[unit].split_off(1) {
                units.of[spot] = units.spots.len();
                units.spots.push(vec![spot]);
            }
        }
        units
    }

    /// Computes the order from left to right. Returns the longest unit that prevents one.
    fn arrange(&mut self, rows: &[Vec<usize>]) -> Option<usize> {
        let pairs = rows.iter().flat_map(|row| row.windows(2));
        self.neighbours = pairs.map(|pair| (self.of[pair[0]], self.of[pair[1]])).collect();
        self.neighbours.sort_unstable();
        self.neighbours.dedup();
        let mut waits = vec![0usize; self.spots.len()];
        let mut right = vec![Vec::new(); self.spots.len()];
        for &(l, r) in &self.neighbours {
            waits[r] += 1;
            right[l].push(r);
        }
        self.order.clear();
        self.order.extend((0..self.spots.len()).filter(|&unit| waits[unit] == 0));
        let mut next = 0;
        while let Some(&unit) = self.order.get(next) {
            next += 1;
            for &r in &right[unit] {
                waits[r] -= 1;
                if waits[r] == 0 {
                    self.order.push(r);
                }
            }
        }
        let stuck = (0..self.spots.len()).filter(|&unit| waits[unit] > 0);
        stuck.max_by_key(|&unit| self.spots[unit].len())
    }

    /// Moves all units as far left as possible.
    fn pack(&self, spots: &mut [LayoutNode]) {
        let mut least = vec![0.0f64; self.spots.len()];
        let mut right = vec![Vec::new(); self.spots.len()];
        self.neighbours.iter().for_each(|&(l, r)| right[l].push(r));
        for &unit in &self.order {
            let end = least[unit] + self.width(spots, unit) + GAP;
            right[unit].iter().for_each(|&r| least[r] = least[r].max(end));
            self.put(spots, unit, least[unit]);
        }
    }

    /// Moves the units towards their neighbours, once from the right and once from the left.
    fn pull(&self, spots: &mut [LayoutNode], above: &[Vec<usize>], below: &[Vec<usize>]) {
        let mut around = vec![(Vec::new(), Vec::new()); self.spots.len()];
        for &(l, r) in &self.neighbours {
            around[l].1.push(r);
            around[r].0.push(l);
        }
        for &unit in self.order.iter().rev().chain(&self.order) {
            let (mut sum, mut count) = (0.0, 0.0);
            for &spot in &self.spots[unit] {
                let hangs = above[spot].iter().chain(&below[spot]);
                for &other in hangs.filter(|&&other| self.of[other] != unit) {
                    // Consecutive boxes should be aligned vertically.
                    let weight =
                        if spots[spot].is_point() || spots[other].is_point() { 1.0 } else { 4.0 };
                    sum += weight * (spots[other].centre() - spots[spot].width / 2.0);
                    count += weight;
                }
                if let Some(mate) = spots[spot].box_spot {
                    sum += spots[mate].x + spots[mate].width + GAP;
                    count += 1.0;
                }
            }
            if count == 0.0 {
                continue;
            }
            let (left, right) = &around[unit];
            let least = left.iter().map(|&l| self.x(spots, l) + self.width(spots, l) + GAP);
            let most = right.iter().map(|&r| self.x(spots, r) - GAP - self.width(spots, unit));
            let least = least.fold(f64::NEG_INFINITY, f64::max);
            let most = most.fold(f64::INFINITY, f64::min).max(least);
            self.put(spots, unit, (sum / count).clamp(least, most));
        }
    }

    fn x(&self, spots: &[LayoutNode], unit: usize) -> f64 {
        spots[self.spots[unit][0]].x
    }

    fn width(&self, spots: &[LayoutNode], unit: usize) -> f64 {
        spots[self.spots[unit][0]].width
    }

    fn put(&self, spots: &mut [LayoutNode], unit: usize, x: f64) {
        self.spots[unit].iter().for_each(|&spot| spots[spot].x = x);
    }
}

/// Returns the height of the title and the notes.
pub(super) fn header(chart: &Chart) -> f64 {
    let title = if chart.title.is_empty() { 0.0 } else { 22.0 };
    let height = title + chart.notes.len() as f64 * LINE;
    if height == 0.0 { 0.0 } else { height + 24.0 }
}

/// Returns which arrows lead upward: those that close a cycle in a depth-first search.
fn upward_arrows(chart: &Chart) -> Vec<bool> {
    // An arrow to a box that is being visited closes a cycle.
    let mut next = vec![Vec::new(); chart.boxes.len()];
    for (n, arrow) in chart.arrows.iter().enumerate() {
        next[arrow.from].push(n);
    }
    let mut turned = vec![false; chart.arrows.len()];
    // 0 new, 1 being visited, 2 done.
    let mut state = vec![0u8; chart.boxes.len()];
    for root in 0..chart.boxes.len() {
        if state[root] != 0 {
            continue;
        }
        state[root] = 1;
        let mut stack = vec![(root, 0)];
        while let Some((at, done)) = stack.last_mut() {
            let Some(&arrow) = next[*at].get(*done) else {
                state[*at] = 2;
                stack.pop();
                continue;
            };
            *done += 1;
            let to = chart.arrows[arrow].to;
            match state[to] {
                0 => {
                    state[to] = 1;
                    stack.push((to, 0));
                }
                1 => turned[arrow] = true,
                _ => {}
            }
        }
    }
    turned
}

/// Returns the layer of each box: the length of the longest path to it.
fn layers(count: usize, down: &[(usize, usize)]) -> Vec<usize> {
    let mut layers = vec![0; count];
    // Without cycles, this converges in as many iterations as there are layers.
    for _ in 0..count {
        let mut moved = false;
        for &(upper, lower) in down {
            if upper != lower && layers[lower] <= layers[upper] {
                layers[lower] = layers[upper] + 1;
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
    layers
}
