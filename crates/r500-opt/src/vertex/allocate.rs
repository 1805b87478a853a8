//! Temporaries for virtual registers: a linear scan. A register is in one temporary, its components in any channels that are free.

use std::collections::HashMap;

use super::machine::{Dst, Inst, Place, Register};

/// Temporaries of a vertex that drivers use.
pub const TEMPORARIES: usize = 32;
/// Alternate temporaries of a vertex.
const ALTERNATES: usize = 20;
/// Those that second operations write.
const DUAL_ALTERNATES: usize = 4;

/// Where a register is: a temporary, and the channel of each component.
#[derive(Clone, Debug)]
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
    pub(super) fn of(&self, register: Register) -> &Home {
        self.0.get(&register).expect("each register that code names has a temporary")
    }
}

/// What a register needs: from the instruction that writes it first to the last one that reads it, so many channels.
#[derive(Clone, Debug)]
struct Need {
    register: Register,
    first: usize,
    last: usize,
    components: Vec<u8>,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Temporary,
    Alternate,
    /// Of a second operation.
    Dual,
}

/// Gives each register a temporary.
///
/// # Errors
/// The number of temporaries that are needed, if the chip has fewer.
pub fn allocate<O>(insts: &[Inst<O>]) -> Result<Homes, usize> {
    let mut homes = Homes::default();
    // For each temporary and channel the last place where it is in use.
    let mut files: [Vec<[Option<usize>; 4]>; 2] = [Vec::new(), Vec::new()];
    for need in needs(insts) {
        let (file, from, most) = match need.kind {
            Kind::Temporary => (0, 0, usize::MAX),
            // Those of second operations need the first ones.
            Kind::Alternate => (1, DUAL_ALTERNATES, ALTERNATES),
            Kind::Dual => (1, 0, DUAL_ALTERNATES),
        };
        let file = &mut files[file];
        // An instruction reads before it writes.
        let free = |channels: &[Option<usize>; 4]| -> Vec<u8> {
            let is_free = |c: &u8| channels[usize::from(*c)].is_none_or(|last| last <= need.first);
            (0..4).filter(is_free).collect()
        };
        let wanted = need.components.len();
        #[expect(clippy::expect_used, reason = "past all that are in use, one is free")]
        let number = (from..)
            .find(|n| file.get(*n).is_none_or(|channels| fits(&free(channels), wanted, need.kind)))
            .expect("the numbers do not end");
        if number >= most {
            return Err(number + 1);
        }
        if file.len() <= number {
            file.resize(number + 1, [None; 4]);
        }
        let free = free(&file[number]);
        // In its own channel if that is free.
        let own = need.components.iter().all(|c| free.contains(c));
        let mut channels = [None; 4];
        for (n, component) in need.components.iter().enumerate() {
            let channel = if own { *component } else { free[n] };
            channels[usize::from(*component)] = Some(channel);
            file[number][usize::from(channel)] = Some(need.last);
        }
        let number = u8::try_from(number).unwrap_or(u8::MAX);
        homes.0.insert(need.register, Home { number, channels });
    }
    if files[0].len() > TEMPORARIES { Err(files[0].len()) } else { Ok(homes) }
}

/// A second operation's alternate temporary holds nothing else: an instruction has one address of them.
fn fits(free: &[u8], wanted: usize, kind: Kind) -> bool {
    free.len() >= if kind == Kind::Temporary { wanted } else { 4 }
}

/// Returns the needs in the order of their beginnings.
fn needs<O>(insts: &[Inst<O>]) -> Vec<Need> {
    let mut all: Vec<Need> = Vec::new();
    let mut known: HashMap<Register, usize> = HashMap::new();
    for (n, inst) in insts.iter().enumerate() {
        for src in inst.read() {
            if let Some(Place::Temporary(register) | Place::Alternate(register)) = src.place
                && let Some(need) = known.get(&register)
            {
                all[*need].last = n;
            }
        }
        let mut write = |register: Register, kind, lanes: &[u8]| {
            let need = *known.entry(register).or_insert_with(|| {
                all.push(Need { register, first: n, last: n, components: Vec::new(), kind });
                all.len() - 1
            });
            let need = &mut all[need];
            need.last = n;
            for lane in lanes {
                if !need.components.contains(lane) {
                    need.components.push(*lane);
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
