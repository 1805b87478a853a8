//! Translation of operations over values to instructions on virtual registers: values that an instruction reads or writes together are
//! components of one register.

use r500_pvs::Op as ProgramOp;

use super::allocate::NumberedRegisters;
use super::ir::{Atom, Block, Cell, File, Kind, Memory, Node, Part, Target, Value};
use super::machine::{Dst, Inst, Op, Place, Register, Select, Src};

/// Where each value is: a register and its component.
pub(super) struct Registers {
    places: Vec<Option<(Place, u8)>>,
}

/// Sets of values that are in one register, with union by representatives.
struct Sets(Vec<u32>);

impl Sets {
    fn find(&mut self, value: Value) -> u32 {
        let mut at = value.0;
        while self.0[at as usize] != at {
            let parent = self.0[at as usize];
            self.0[at as usize] = self.0[parent as usize];
            at = parent;
        }
        at
    }

    fn unite(&mut self, a: Value, b: Value) {
        let (a, b) = (self.find(a), self.find(b));
        self.0[a.max(b) as usize] = a.min(b);
    }
}

/// A value with what its place depends on.
#[derive(Clone, Copy)]
struct Member {
    value: Value,
    home: Option<Cell>,
    /// Whether it must be in that register.
    is_numbered: bool,
    /// Whether it must be in that channel.
    is_fixed: bool,
    /// Half instructions from its definition to its last read.
    from: usize,
    to: usize,
}

impl Member {
    fn overlaps(&self, other: &Self) -> bool {
        self.from < other.to && other.from < self.to
    }
}

impl Registers {
    /// Returns the places of values; `None` if values would have to be in one register that has no room for them.
    pub(super) fn of(block: &Block) -> Option<Self> {
        let count = block.values();
        let mut sets = Sets((0..count as u32).collect());
        let end = 2 * block.nodes.len() + 2;
        let mut members: Vec<Option<Member>> = vec![None; count];
        let member = |value: Value, from: usize, is_fixed: bool| {
            let home = block.homes.get(&value).copied();
            Some(Member { value, home, is_numbered: false, is_fixed, from, to: from + 1 })
        };
        let in_register = |cell: &Cell| cell.file != File::Address;
        for (_, value) in block.incoming.iter().filter(|(cell, _)| in_register(cell)) {
            members[value.0 as usize] =
                member(*value, 0, true).map(|member| Member { is_numbered: true, ..member });
        }
        for (n, node) in block.nodes.iter().enumerate() {
            for parts in &node.sources {
                let mut first = None;
                for value in parts.iter().filter_map(|part| part.value()) {
                    // Read before it is written: no such code.
                    let member = members[value.0 as usize].as_mut()?;
                    member.to = member.to.max(2 * n + 2);
                    sets.unite(*first.get_or_insert(value), value);
                }
            }
            if let Target::Values(File::Temporary | File::Alternate) = node.target {
                for lane in &node.lanes {
                    let (value, is_fixed) = (lane.value, matches!(node.kind, Kind::Fixed(_)));
                    members[value.0 as usize] = member(value, 2 * n + 3, is_fixed);
                    sets.unite(node.lanes[0].value, value);
                }
            }
        }
        for (cell, value) in block.outgoing.iter().filter(|(cell, _)| in_register(cell)) {
            let member = members[value.0 as usize].as_mut()?;
            if member.home != Some(*cell) {
                return None;
            }
            (member.is_numbered, member.is_fixed) = (true, true);
            member.to = end + 2;
        }
        let mut groups: Vec<Vec<Member>> = vec![Vec::new(); count];
        for member in members.into_iter().flatten() {
            groups[sets.find(member.value) as usize].push(member);
        }
        // One register for what must be in the same.
        let mut places = vec![None; count];
        let mut next = 0;
        let mut numbered: Vec<(Cell, Vec<Member>)> = Vec::new();
        for group in groups.into_iter().filter(|group| !group.is_empty()) {
            match group.iter().find(|member| member.is_numbered).and_then(|member| member.home) {
                Some(home) => {
                    let same = |other: &&mut (Cell, Vec<Member>)| {
                        (other.0.file, other.0.number) == (home.file, home.number)
                    };
                    match numbered.iter_mut().find(same) {
                        Some((_, all)) => all.extend(group),
                        None => numbered.push((home, group)),
                    }
                }
                None => {
                    let file = group[0].home.map_or(File::Temporary, |home| home.file);
                    let register = Register(next);
                    next += 1;
                    assign(&mut places, file, register, &group)?;
                }
            }
        }
        for (home, group) in numbered {
            let is_there = |member: &Member| {
                let here = |other: Cell| (other.file, other.number) == (home.file, home.number);
                !member.is_numbered || member.home.is_some_and(here)
            };
            if !group.iter().all(is_there) {
                return None;
            }
            assign(&mut places, home.file, Register::numbered(home.number), &group)?;
        }
        Some(Self { places })
    }

    /// Returns the register of a value, and its component.
    #[expect(clippy::expect_used, reason = "a value without a register must not become code")]
    fn place(&self, value: Value) -> (Place, u8) {
        self.places[value.0 as usize].expect("values that are read are defined")
    }
}

/// Gives the values of a register components. Values that are not needed at the same time may share one.
fn assign(
    places: &mut [Option<(Place, u8)>],
    file: File,
    register: Register,
    group: &[Member],
) -> Option<()> {
    let place = match file {
        File::Alternate => Place::Alternate(register),
        File::Temporary | File::Address => Place::Temporary(register),
    };
    if group.iter().any(|member| member.home.is_some_and(|home| home.file != file)) {
        return None;
    }
    if let [member] = group
        && !member.is_fixed
    {
        places[member.value.0 as usize] = Some((place, 0));
        return Some(());
    }
    let mut assigned: Vec<(Member, u8)> = Vec::new();
    for must in [true, false] {
        for member in group.iter().filter(|member| member.is_fixed == must) {
            let home = member.home.map(|home| home.channel);
            let is_free = |channel: u8| {
                assigned.iter().all(|(other, c)| *c != channel || !other.overlaps(member))
            };
            let is_unused = |channel: u8| assigned.iter().all(|(_, c)| *c != channel);
            let channel = if must {
                home.filter(|channel| is_free(*channel))
            } else {
                home.filter(|channel| is_unused(*channel))
                    .or_else(|| home.filter(|channel| is_free(*channel)))
                    .or_else(|| (0..4).find(|channel| is_unused(*channel)))
                    .or_else(|| (0..4).find(|channel| is_free(*channel)))
            }?;
            assigned.push((*member, channel));
            places[member.value.0 as usize] = Some((place, channel));
        }
    }
    Some(())
}

/// Returns the instructions of a block; `None` if one cannot read what it needs.
pub(super) fn instructions(block: &Block) -> Option<Vec<Inst<Vec<usize>>>> {
    let registers = Registers::of(block)?;
    // Each address is in its component of the address register when it is read.
    let is_address = |(cell, _): &&(Cell, Value)| cell.file == File::Address;
    let mut addresses = [None; 4];
    for (cell, value) in block.incoming.iter().filter(is_address) {
        addresses[usize::from(cell.channel)] = Some(*value);
    }
    for node in &block.nodes {
        let is_there = |part: Part| match part.atom {
            Atom::Memory(Memory::Relative(_, value, of), _) => {
                addresses[usize::from(of)] == Some(value)
            }
            _ => true,
        };
        if !node.parts().all(is_there) {
            return None;
        }
        if node.is_addressed_write() {
            for lane in &node.lanes {
                addresses[usize::from(lane.channel)] = Some(lane.value);
            }
        }
    }
    let mut outgoing = block.outgoing.iter().filter(is_address);
    if !outgoing.all(|(cell, value)| addresses[usize::from(cell.channel)] == Some(*value)) {
        return None;
    }
    let insts: Option<Vec<_>> =
        block.nodes.iter().map(|node| instruction(node, &registers)).collect();
    insts.filter(|insts| insts.iter().all(Inst::fits))
}

fn instruction(node: &Node, registers: &Registers) -> Option<Inst<Vec<usize>>> {
    let op = match node.kind {
        Kind::Lanes(op) => Op::Vector(op),
        Kind::Dot => Op::Dot,
        Kind::Scalar(op) => Op::Math(op),
        Kind::Fixed(ProgramOp::Macro(_)) => return None,
        Kind::Fixed(op) => Op::Fixed(op),
    };
    let channels = node.lanes.iter().map(|lane| lane.channel);
    let (dst, lanes) = match node.target {
        Target::Output(n) => (Dst::Output(n), channels.collect()),
        Target::Values(File::Address) => {
            (Dst::Address(node.lanes.first()?.channel), channels.collect())
        }
        Target::Values(_) => {
            let (place, _) = registers.place(node.lanes.first()?.value);
            let components = node.lanes.iter().map(|lane| registers.place(lane.value).1);
            (Dst::Register(place), components.collect::<Vec<u8>>())
        }
    };
    let mut address = 0;
    let sources: Option<Vec<Src>> =
        node.sources.iter().map(|parts| source(parts, registers, &mut address)).collect();
    Some(Inst {
        op,
        dst,
        lanes,
        sources: sources?,
        saturate: node.saturate,
        origin: node.origins.clone(),
        address,
        dual: None,
    })
}

/// Returns the source that reads all parts; `None` if they are in several places, or have the absolute value in part.
fn source(parts: &[Part], registers: &Registers, address: &mut u8) -> Option<Src> {
    let mut src = Src { place: None, abs: false, parts: Vec::new() };
    for part in parts {
        let (place, select) = match part.atom {
            Atom::Zero => (None, Select::Zero),
            Atom::One => (None, Select::One),
            Atom::Value(value) => {
                let (place, component) = registers.place(value);
                (Some(place), Select::Of(component))
            }
            Atom::Memory(memory, component) => {
                let place = match memory {
                    Memory::Input(n) => Place::Input(n),
                    Memory::Constant(n) => Place::Constant(n.into()),
                    Memory::Relative(n, value, of) => {
                        *address = of;
                        // The number of the value tells addresses apart.
                        Place::Relative(n.into(), (Register(value.0), of))
                    }
                };
                (Some(place), Select::Of(component))
            }
        };
        if place.is_some() {
            if src.place.is_some() && (src.place != place || src.abs != part.abs) {
                return None;
            }
            (src.place, src.abs) = (place, part.abs);
        }
        src.parts.push((select, part.negate));
    }
    Some(src)
}

/// Returns what numbered registers hold before and after a block.
pub(super) fn numbered(block: &Block) -> NumberedRegisters {
    let channels =
        |list: &[(Cell, Value)]| list.iter().filter_map(|(cell, _)| cell.as_channel()).collect();
    NumberedRegisters { incoming: channels(&block.incoming), outgoing: channels(&block.outgoing) }
}
