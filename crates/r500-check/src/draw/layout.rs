//! Places boxes in layers.
//!
//! The usual four steps for layered drawings (Sugiyama, Tagawa, Toda, 1981): a box lies below all
//! that lead to it (arrows that close a cycle turned round); arrows across several layers pass
//! through points in between; each layer is sorted by where its neighbours lie, several times up and
//! down; then everything is moved towards its neighbours as far as there is room.

use super::Chart;

/// A box or a point that an arrow passes through.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
    layer: usize,
}

impl Spot {
    pub(super) fn centre(&self) -> f64 {
        self.x + self.width / 2.0
    }
}

/// A laid out chart, in pixels.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) spots: Vec<Spot>,
    /// The spots that each arrow passes, from the upper to the lower end; whether it goes upward.
    pub(super) ways: Vec<(Vec<usize>, bool)>,
    pub(super) width: f64,
    pub(super) height: f64,
}

pub(super) const CHARACTER: f64 = 7.3;
pub(super) const LINE: f64 = 16.0;
pub(super) const PADDING: f64 = 8.0;
const GAP: f64 = 28.0;
const LAYER_GAP: f64 = 48.0;
const MARGIN: f64 = 24.0;
const SWEEPS: usize = 8;

impl Layout {
    pub(super) fn of(chart: &Chart) -> Self {
        let count = chart.boxes.len();
        let down = downward(chart);
        let layers = layers(count, &down);
        let mut spots: Vec<Spot> = chart
            .boxes
            .iter()
            .zip(&layers)
            .map(|(node, &layer)| {
                let longest = node.lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
                let width = longest as f64 * CHARACTER + 2.0 * PADDING;
                let height = node.lines.len() as f64 * LINE + 2.0 * PADDING;
                Spot { x: 0.0, y: 0.0, width, height, layer }
            })
            .collect();
        let mut ways = Vec::with_capacity(down.len());
        for &(upper, lower, upward) in &down {
            let mut way = vec![upper];
            for layer in layers[upper] + 1..layers[lower] {
                way.push(spots.len());
                spots.push(Spot { x: 0.0, y: 0.0, width: 10.0, height: 0.0, layer });
            }
            if upper != lower {
                way.push(lower);
            }
            ways.push((way, upward));
        }
        let mut layout = Self { spots, ways, width: 0.0, height: 0.0 };
        let mut rows = layout.rows();
        let (above, below) = layout.neighbours();
        layout.sort(&mut rows, &above, &below);
        layout.place(&rows, &above, &below);
        layout
    }

    fn rows(&self) -> Vec<Vec<usize>> {
        let count = self.spots.iter().map(|spot| spot.layer + 1).max().unwrap_or(0);
        let mut rows = vec![Vec::new(); count];
        for (n, spot) in self.spots.iter().enumerate() {
            rows[spot.layer].push(n);
        }
        rows
    }

    /// Of each spot, those it hangs on above and below.
    fn neighbours(&self) -> (Vec<Vec<usize>>, Vec<Vec<usize>>) {
        let mut above = vec![Vec::new(); self.spots.len()];
        let mut below = vec![Vec::new(); self.spots.len()];
        for (way, _) in &self.ways {
            for pair in way.windows(2) {
                above[pair[1]].push(pair[0]);
                below[pair[0]].push(pair[1]);
            }
        }
        (above, below)
    }

    fn sort(&self, rows: &mut [Vec<usize>], above: &[Vec<usize>], below: &[Vec<usize>]) {
        let mut place = vec![0.0; self.spots.len()];
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
                let mut keyed: Vec<(f64, usize)> = row.iter().map(|&s| (mean(s), s)).collect();
                keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
                *row = keyed.into_iter().map(|(_, spot)| spot).collect();
                number(row, &mut place);
            }
        }
    }

    fn place(&mut self, rows: &[Vec<usize>], above: &[Vec<usize>], below: &[Vec<usize>]) {
        let mut y = MARGIN;
        for row in rows {
            let height = row.iter().map(|&n| self.spots[n].height).fold(0.0, f64::max);
            let mut x = 0.0;
            for &n in row {
                let spot = &mut self.spots[n];
                spot.x = x;
                spot.y = if spot.height == 0.0 { y + height / 2.0 } else { y };
                x += spot.width + GAP;
            }
            y += height + LAYER_GAP;
        }
        self.height = y - LAYER_GAP + MARGIN;
        for sweep in 0..SWEEPS {
            let hangs = if sweep % 2 == 0 { above } else { below };
            for row in rows {
                self.pull(row, hangs);
            }
        }
        let left = self.spots.iter().map(|spot| spot.x).fold(f64::INFINITY, f64::min);
        let left = if left.is_finite() { left } else { 0.0 };
        self.spots.iter_mut().for_each(|spot| spot.x += MARGIN - left);
        let right = self.spots.iter().map(|spot| spot.x + spot.width).fold(0.0, f64::max);
        self.width = right + MARGIN;
    }

    /// Moves the spots of a row towards what they hang on: where they would like to be, pushed apart
    /// from the left and from the right, and the mean of both.
    fn pull(&mut self, row: &[usize], hangs: &[Vec<usize>]) {
        let wanted: Vec<f64> = row
            .iter()
            .map(|&n| {
                let on = &hangs[n];
                if on.is_empty() {
                    return self.spots[n].x;
                }
                let sum: f64 = on.iter().map(|&other| self.spots[other].centre()).sum();
                sum / on.len() as f64 - self.spots[n].width / 2.0
            })
            .collect();
        let mut from_left = wanted.clone();
        for i in 1..row.len() {
            let least = from_left[i - 1] + self.spots[row[i - 1]].width + GAP;
            from_left[i] = from_left[i].max(least);
        }
        let mut from_right = wanted;
        for i in (0..row.len().saturating_sub(1)).rev() {
            let most = from_right[i + 1] - GAP - self.spots[row[i]].width;
            from_right[i] = from_right[i].min(most);
        }
        // Both keep the gaps, so their mean does.
        for (i, &n) in row.iter().enumerate() {
            self.spots[n].x = f64::midpoint(from_left[i], from_right[i]);
        }
    }
}

/// The arrows as pairs of upper and lower box, and whether they were turned round for it.
fn downward(chart: &Chart) -> Vec<(usize, usize, bool)> {
    // Arrows that lead to a box being visited close a cycle.
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
    let pair = |(arrow, &turned): (&super::Arrow, &bool)| {
        if turned { (arrow.to, arrow.from, true) } else { (arrow.from, arrow.to, false) }
    };
    chart.arrows.iter().zip(&turned).map(pair).collect()
}

/// The longest way down to each box.
fn layers(count: usize, down: &[(usize, usize, bool)]) -> Vec<usize> {
    let mut layers = vec![0; count];
    // Without cycles this settles after as many rounds as there are layers.
    for _ in 0..count {
        let mut moved = false;
        for &(upper, lower, _) in down {
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
