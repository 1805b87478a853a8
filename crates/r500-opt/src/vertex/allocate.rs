//! Temporaries for virtual registers: a linear scan. A register is in one temporary, its components in any channels that are free.

use std::collections::HashMap;

use super::machine::{Dst, Inst, Loop, Op, Place, Register};

/// Temporaries of a vertex that drivers use.
pub const TEMPORARIES: usize = 32;
/// Alternate temporaries of a vertex.
const ALTERNATES: usize = 20;
/// Those that second operations write.
const DUAL_ALTERNATES: usize = 4;

/// Where a register is: a temporary, and the channel of each component.
#[derive(Clone, Copy, Debug)]
pub(super) struct Home {
    pub(super) number: u8,
    channels: [Option<u8>; 4],
}

impl Home {
    #[expect(clippy::expect_used, reason = "a component without a channel must not compile")]
    pub(super) fn channel(&self, component: u8) -> u8 {
        self.channels[usize::from(component)].expect("each component that is written has a channel")
    }
}

/// Where all registers are.
#[derive(Clone, Debug, Default)]
pub struct Homes(HashMap<Register, Home>);

impl Homes {
    #[expect(clippy::expect_used, reason = "a register without a temporary must not compile")]
    pub(super) fn of(&self, register: Register) -> Home {
        if let Some(number) = register.number() {
            return Home { number, channels: [0, 1, 2, 3].map(Some) };
        }
        *self.0.get(&register).expect("each register that code names has a temporary")
    }
}

/// What a register needs: from the instruction that writes it first to the last one that reads it, so many channels.
#[derive(Clone, Debug)]
struct Need {
    register: Register,
    first: usize,
    last: usize,
    components: Vec<u8>,
    /// Those that must be in the channel of the same number.
    fixed: Vec<u8>,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Temporary,
    Alternate,
    /// Of a second operation.
    Dual,
}

/// What [numbered registers](Register::numbered) hold besides what instructions write and read: channels of temporaries, or alternate
/// temporaries, by number.
#[derive(Clone, Debug, Default)]
pub struct NumberedRegisters {
    /// What the code finds.
    pub incoming: Vec<Channel>,
    /// What is read after the code.
    pub outgoing: Vec<Channel>,
}

/// A channel of a temporary, or of an alternate temporary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Channel {
    /// Whether it is of an alternate temporary.
    pub is_alternate: bool,
    /// The number of the temporary.
    pub number: u8,
    /// The channel, 0 to 3.
    pub channel: u8,
}

/// A channel that is in use, from the instruction that writes it (`None`: what the code finds) to the last one that reads it (`None`: what
/// is read after the code).
#[derive(Clone, Copy, Debug)]
struct Range {
    is_alternate: bool,
    number: u8,
    channel: u8,
    first: Option<usize>,
    last: Option<usize>,
}

impl Range {
    /// Returns whether a register that is written first and read last by these instructions cannot share the channel. An instruction reads
    /// before it writes.
    fn overlaps(&self, first: usize, last: usize) -> bool {
        self.first.is_none_or(|own| own < last.max(first + 1))
            && self.last.is_none_or(|own| own > first)
    }
}

impl NumberedRegisters {
    /// Returns the ranges in which channels of numbered registers are in use.
    fn taken<O>(&self, insts: &[Inst<O>]) -> Vec<Range> {
        let mut all: Vec<Range> = Vec::new();
        let mut open: HashMap<Channel, usize> = HashMap::new();
        let begin = |all: &mut Vec<Range>,
                     open: &mut HashMap<Channel, usize>,
                     of: Channel,
                     at: Option<usize>| {
            let Channel { is_alternate, number, channel } = of;
            open.insert(of, all.len());
            let last = Some(at.map_or(0, |at| at + 1));
            all.push(Range { is_alternate, number, channel, first: at, last });
        };
        for channel in &self.incoming {
            begin(&mut all, &mut open, *channel, None);
        }
        for (n, inst) in insts.iter().enumerate() {
            for src in inst.read() {
                let Some((is_alternate, number)) = src.place.and_then(numbered) else { continue };
                for channel in src.components() {
                    if let Some(range) = open.get(&Channel { is_alternate, number, channel }) {
                        all[*range].last = all[*range].last.max(Some(n));
                    }
                }
            }
            if let Dst::Register(place) = inst.dst
                && let Some((is_alternate, number)) = numbered(place)
            {
                for channel in &inst.lanes {
                    let of = Channel { is_alternate, number, channel: *channel };
                    begin(&mut all, &mut open, of, Some(n));
                }
            }
        }
        for channel in &self.outgoing {
            if let Some(range) = open.get(channel) {
                all[*range].last = None;
            }
        }
        all
    }
}

/// Returns the number of a place that is a numbered register, and whether it is an alternate temporary.
fn numbered(place: Place) -> Option<(bool, u8)> {
    match place {
        Place::Temporary(register) => Some((false, register.number()?)),
        Place::Alternate(register) => Some((true, register.number()?)),
        Place::Input(_) | Place::Constant(_) | Place::Relative(..) => None,
    }
}

/// Gives each register a temporary. The chip's temporaries can be limited to the first `most`; `numbered` are those that have other
/// contents besides, of code without loops.
///
/// # Errors
/// The number of temporaries that are needed, if there are fewer.
pub fn allocate<O>(
    insts: &[Inst<O>],
    loops: &[Loop],
    most: usize,
    numbered: &NumberedRegisters,
) -> Result<Homes, usize> {
    let mut homes = Homes::default();
    let taken = numbered.taken(insts);
    // For each temporary and channel the last place where it is in use.
    let mut files: [Vec<[Option<usize>; 4]>; 2] = [Vec::new(), Vec::new()];
    for need in needs(insts, loops).into_iter().filter(|need| need.register.number().is_none()) {
        let (file, from, most) = match need.kind {
            Kind::Temporary => (0, 0, usize::MAX),
            // Those of second operations need the first ones.
            Kind::Alternate => (1, DUAL_ALTERNATES, ALTERNATES),
            Kind::Dual => (1, 0, DUAL_ALTERNATES),
        };
        let is_taken = |number: usize, channel: u8| {
            taken.iter().any(|range| {
                (range.is_alternate, usize::from(range.number), range.channel)
                    == (file == 1, number, channel)
                    && range.overlaps(need.first, need.last)
            })
        };
        let file = &mut files[file];
        // An instruction reads before it writes.
        let free = |number: usize, channels: &[Option<usize>; 4]| -> Vec<u8> {
            let is_free = |c: &u8| {
                channels[usize::from(*c)].is_none_or(|last| last <= need.first)
                    && !is_taken(number, *c)
            };
            (0..4).filter(is_free).collect()
        };
        let wanted = need.components.len();
        #[expect(clippy::expect_used, reason = "past all that are in use, one is free")]
        let number = (from..)
            .find(|n| {
                let free = free(*n, file.get(*n).unwrap_or(&[None; 4]));
                let fixed = need.fixed.iter().all(|c| free.contains(c));
                fixed && fits(&free, wanted, need.kind)
            })
            .expect("the numbers do not end");
        if number >= most {
            return Err(number + 1);
        }
        if file.len() <= number {
            file.resize(number + 1, [None; 4]);
        }
        let free = free(number, &file[number]);
        // In its own channel if that is free.
        let own = need.components.iter().all(|c| free.contains(c));
        let mut channels = [None; 4];
        let mut others = free.iter().filter(|c| !need.fixed.contains(c));
        #[expect(clippy::expect_used, reason = "the number was chosen for as many free channels")]
        for component in &need.components {
            let is_own = own || need.fixed.contains(component);
            let next = if is_own { Some(component) } else { others.next() };
            let channel = *next.expect("the register has as many free channels");
            channels[usize::from(*component)] = Some(channel);
            file[number][usize::from(channel)] = Some(need.last);
        }
        let number = u8::try_from(number).unwrap_or(u8::MAX);
        homes.0.insert(need.register, Home { number, channels });
    }
    if files[0].len() > most { Err(files[0].len()) } else { Ok(homes) }
}

/// A second operation's alternate temporary holds nothing else: an instruction has one address of them.
fn fits(free: &[u8], wanted: usize, kind: Kind) -> bool {
    free.len() >= if kind == Kind::Temporary { wanted } else { 4 }
}

/// Returns the needs in the order of their beginnings. What was written before a loop, and is read or written in it, is needed in each
/// pass: until after its end.
fn needs<O>(insts: &[Inst<O>], loops: &[Loop]) -> Vec<Need> {
    let last_of = |first: usize, at: usize| {
        let around = loops.iter().filter(|of| first < of.first && (of.first..of.end).contains(&at));
        around.map(|of| of.end).fold(at, usize::max)
    };
    let mut all: Vec<Need> = Vec::new();
    let mut known: HashMap<Register, usize> = HashMap::new();
    for (n, inst) in insts.iter().enumerate() {
        for src in inst.read() {
            if let Some(Place::Temporary(register) | Place::Alternate(register)) = src.place
                && let Some(need) = known.get(&register)
            {
                let need = &mut all[*need];
                need.last = need.last.max(last_of(need.first, n));
            }
        }
        let mut write = |register: Register, kind, lanes: &[u8]| {
            let need = *known.entry(register).or_insert_with(|| {
                let (components, fixed) = (Vec::new(), Vec::new());
                all.push(Need { register, first: n, last: n, components, fixed, kind });
                all.len() - 1
            });
            let need = &mut all[need];
            need.last = need.last.max(last_of(need.first, n));
            for lane in lanes {
                if !need.components.contains(lane) {
                    need.components.push(*lane);
                }
                if matches!(inst.op, Op::Fixed(_)) && !need.fixed.contains(lane) {
                    need.fixed.push(*lane);
                }
            }
        };
        match inst.dst {
            Dst::Register(Place::Temporary(register)) => {
                write(register, Kind::Temporary, &inst.lanes);
            }
            Dst::Register(Place::Alternate(register)) => {
                write(register, Kind::Alternate, &inst.lanes);
            }
            Dst::Register(Place::Input(_) | Place::Constant(_) | Place::Relative(..)) => {
                unreachable!("instructions write registers and outputs")
            }
            Dst::Output(_) | Dst::Address(_) => {}
        }
        if let Some(dual) = &inst.dual {
            write(dual.register, Kind::Dual, &[0]);
        }
    }
    all
}
