//! The plan of a search: which values each quad of pixels gets.
//!
//! A *slot* is a value that both programs share, or that only one reads. The plan goes through every slot with every edge
//! value, all slots with the same one, every pair of slots that are equal, opposite or neighbours, and every pair of slots
//! with pairs of edge values. Half of the quads get random mixtures of edge and ordinary values instead. All other slots
//! have ordinary values, which differ between the pixels of a quad.

use super::edges::Edges;
use crate::Random;

/// A value that is searched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    /// Registers in A and B: number and channel.
    pub(super) places: [Vec<(u8, u8)>; 2],
    /// Whether the registers are constants: the same in all pixels of a quad.
    pub(super) is_constant: bool,
    /// Whether it corresponds to nothing in the other program.
    pub(super) is_unmatched: bool,
}

/// Width and height of a picture in quads.
pub(super) const QUADS: usize = 32;
/// Number of quads of a picture.
const COUNT: usize = QUADS * QUADS;
/// Width and height of a picture in pixels.
pub(super) const SIZE: usize = 2 * QUADS;

/// Returns the pixels of a quad, row by row.
pub(super) fn pixels(quad: usize) -> [usize; 4] {
    let corner = quad / QUADS * 2 * SIZE + quad % QUADS * 2;
    [corner, corner + 1, corner + SIZE, corner + SIZE + 1]
}

/// The values of all slots in the quads of pictures.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    slots: Vec<Slot>,
    edges: Edges,
    seed: u64,
    /// Only ordinary values.
    ordinary: bool,
    /// Number of edge values in pairs.
    paired: usize,
    /// The next item.
    next: usize,
}

/// Values of some slots of a quad.
enum Item {
    /// A slot with an edge value.
    One(usize, f32),
    /// All slots with the same value.
    All(f32),
    /// A slot derived from another: equal, opposite, next above and below.
    Related(usize, usize, usize),
    /// Two slots with edge values.
    Two([(usize, f32); 2]),
}

/// Number of relations.
const RELATIONS: usize = 4;

impl Plan {
    /// Returns a plan for at most about `frames` pictures.
    pub(super) fn new(
        slots: Vec<Slot>,
        edges: Edges,
        seed: u64,
        frames: u64,
        ordinary: bool,
    ) -> Self {
        let n = slots.len();
        let items = usize::try_from(frames).unwrap_or(usize::MAX).saturating_mul(COUNT / 2);
        let mut paired = edges.paired;
        while paired > 6 && n * n.saturating_sub(1) / 2 * paired * paired > items {
            paired -= 1;
        }
        Self { slots, edges, seed, ordinary, paired, next: 0 }
    }

    pub(super) fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// Returns whether every item was in a picture.
    pub(super) fn is_complete(&self) -> bool {
        self.ordinary || self.slots.is_empty() || self.next >= self.items()
    }

    fn pairs(&self) -> usize {
        self.slots.len() * self.slots.len().saturating_sub(1) / 2
    }

    fn items(&self) -> usize {
        let edges = self.edges.all.len();
        self.slots.len() * edges + edges + self.pairs() * (RELATIONS + self.paired * self.paired)
    }

    fn item(&self, mut at: usize) -> Option<Item> {
        let (slots, edges) = (self.slots.len(), self.edges.all.len());
        if at < slots * edges {
            return Some(Item::One(at % slots, self.edges.all[at / slots]));
        }
        at -= slots * edges;
        if at < edges {
            return Some(Item::All(self.edges.all[at]));
        }
        at -= edges;
        let pairs = self.pairs();
        if at < pairs * RELATIONS {
            let [i, j] = self.pair(at % pairs);
            return Some(Item::Related(i, j, at / pairs));
        }
        at -= pairs * RELATIONS;
        if pairs == 0 || at >= pairs * self.paired * self.paired {
            return None;
        }
        let [i, j] = self.pair(at % pairs);
        let value = at / pairs;
        let [x, y] = [value / self.paired, value % self.paired].map(|n| self.edges.all[n]);
        Some(Item::Two([(i, x), (j, y)]))
    }

    /// Returns a pair of different slots by its index.
    fn pair(&self, mut at: usize) -> [usize; 2] {
        let mut first = 0;
        let mut rest = self.slots.len() - 1;
        while at >= rest {
            at -= rest;
            first += 1;
            rest -= 1;
        }
        [first, first + 1 + at]
    }

    /// Fills the values of all slots, pixel by pixel, for a picture. `alike` gives unmatched slots the same value in both
    /// programs.
    pub(super) fn fill(&mut self, frame: u64, alike: bool, values: &mut [Vec<f32>]) {
        for quad in 0..COUNT {
            let mut random = Random::new(self.seed, frame * COUNT as u64 + quad as u64);
            let at = pixels(quad);
            let is_structured = !self.ordinary && frame > 0;
            let is_mixed = is_structured && quad % 2 == 1;
            let is_smooth = random.below(4) == 0;
            for (slot, values) in self.slots.iter().zip(values.iter_mut()) {
                let value = |random: &mut Random| {
                    if is_mixed && random.below(2) == 0 {
                        self.edges.all[random.below(self.edges.all.len() as u64) as usize]
                    } else {
                        random.value()
                    }
                };
                let first = value(&mut random);
                let steps = [random.between(-0.1, 0.1), random.between(-0.1, 0.1)];
                for (n, pixel) in at.into_iter().enumerate() {
                    values[pixel] = match n {
                        _ if slot.is_constant => first,
                        0 => first,
                        _ if is_smooth => {
                            let [x, y] = [n % 2, n / 2].map(|n| n as f32);
                            first + steps[0] * x + steps[1] * y
                        }
                        _ => value(&mut random),
                    };
                }
            }
            if is_structured && !is_mixed {
                if let Some(item) = self.item(self.next) {
                    self.apply(&item, at, &mut random, values);
                    self.next += 1;
                } else {
                    self.next = self.items();
                }
            }
            if alike {
                let value = random.value();
                for (slot, values) in self.slots.iter().zip(values.iter_mut()) {
                    if slot.is_unmatched {
                        at.into_iter().for_each(|pixel| values[pixel] = value);
                    }
                }
            }
        }
    }

    fn apply(&self, item: &Item, at: [usize; 4], random: &mut Random, values: &mut [Vec<f32>]) {
        // Mostly in all pixels; sometimes in one, because neighbours may read it.
        let only = (random.below(4) == 0).then(|| random.below(4) as usize);
        let mut set = |slot: usize, value: &dyn Fn(&[Vec<f32>], usize) -> f32| {
            for (n, pixel) in at.into_iter().enumerate() {
                if self.slots[slot].is_constant || only.is_none_or(|only| only == n) {
                    values[slot][pixel] = value(values, pixel);
                }
            }
        };
        match *item {
            Item::One(slot, x) => set(slot, &|_, _| x),
            Item::All(x) => (0..self.slots.len()).for_each(|slot| set(slot, &|_, _| x)),
            Item::Two(pair) => pair.into_iter().for_each(|(slot, x)| set(slot, &|_, _| x)),
            Item::Related(from, to, relation) => {
                // A constant cannot follow a value that differs between pixels.
                let (from, to) = if self.slots[to].is_constant { (to, from) } else { (from, to) };
                let first = at[0];
                let is_constant = self.slots[to].is_constant;
                set(to, &|values, pixel| {
                    let x = values[from][if is_constant { first } else { pixel }];
                    match relation {
                        0 => x,
                        1 => -x,
                        2 => x.next_up(),
                        _ => x.next_down(),
                    }
                });
            }
        }
    }

    /// Makes the constants of a picture the same everywhere: those of one of its quads, another one in each picture.
    pub(super) fn unify_constants(&self, frame: u64, values: &mut [Vec<f32>]) {
        let [pixel, ..] = pixels((frame % COUNT as u64) as usize);
        for (slot, values) in self.slots.iter().zip(values) {
            if slot.is_constant {
                let value = values[pixel];
                values.fill(value);
            }
        }
    }
}
