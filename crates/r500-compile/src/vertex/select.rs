//! Instruction selection: operations that the processor has, with sources that one instruction can read.

use std::collections::HashMap;

use r500_opt::vertex::machine::{self, Dst, Loop, Op, Place, Select, Src, distinct};
use r500_pvs::VectorOp;

use crate::arithmetic::Alu;
use crate::code::{self, Atom, Component, Node, Register, Relative, Routine, Shape, Target, Value};
use crate::points::Origin;

/// An instruction, with what it comes from.
pub(super) type Inst = machine::Inst<Origin>;

/// What a constant holds.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Constant {
    /// A vector of a uniform.
    Uniform(u16),
    /// Numbers without their signs.
    Numbers(Vec<u32>),
}

/// A program.
#[derive(Clone, Debug, Default)]
pub(super) struct Code {
    pub(super) insts: Vec<Inst>,
    /// In the order of their ends.
    pub(super) loops: Vec<Loop>,
    pub(super) constants: Vec<Constant>,
}

/// Selects instructions. `outputs` has the chip's outputs for each vector of [`Target::Vertex`]; those that it does not name are not
/// written. `inputs` has the chip's input for each input of the routine that is read.
pub(super) fn select(
    routine: &Routine,
    inputs: &[Option<u8>],
    outputs: &[Vec<u8>],
    shares_moves: bool,
) -> Code {
    let mut used: Vec<u16> = Vec::new();
    each(&routine.nodes, &mut |node| {
        for component in operands(node) {
            match component.atom {
                Atom::Uniform(n, _) => used.push(n),
                Atom::Relative(Relative { array: (first, count), .. }, _) => {
                    used.extend(first..first + count);
                }
                Atom::Register(..) | Atom::Literal(_) => {}
            }
        }
    });
    // In their order, so that the columns of a matrix are one after the other.
    used.sort_unstable();
    used.dedup();
    let mut selector = Selector {
        code: Code {
            insts: Vec::new(),
            loops: Vec::new(),
            constants: used.into_iter().map(Constant::Uniform).collect(),
        },
        inputs: routine.shapes.iter().map(|shape| input_of(*shape, inputs)).collect(),
        shares_moves,
        moved: HashMap::new(),
        numbers: HashMap::new(),
        addresses: [None; 4],
        next_address: 0,
        next: routine.shapes.len() as u32,
        direct: direct(&routine.nodes, outputs),
    };
    selector.list(&routine.nodes, outputs);
    selector.code
}

/// Calls `visit` with all nodes, also those of loops.
pub(super) fn each<'a>(nodes: &'a [Node], visit: &mut impl FnMut(&'a Node)) {
    for node in nodes {
        visit(node);
        if let Node::Loop(_, body, _) = node {
            each(body, visit);
        }
    }
}

/// Returns whether an operation becomes one instruction, which reads all before it writes.
pub(super) fn is_one_instruction(_: &Routine, op: &code::Op) -> bool {
    let is_one_source = |operand: &Value| {
        let read = |component: &&Component| match component.atom {
            Atom::Literal(bits) => by_swizzle(bits).is_none(),
            _ => true,
        };
        let mut read = operand.iter().filter(read).map(|c| (c.vector(), c.abs, c.value()));
        let first = read.next();
        read.all(|other| Some(other) == first)
    };
    op.lanes.len() == 1 || op.operands.iter().all(is_one_source)
}

/// Returns the components that a node reads.
fn operands(node: &Node) -> Vec<Component> {
    match node {
        Node::Op(op) => op.operands.concat(),
        Node::Output(_, value, _) => value.clone(),
        _ => Vec::new(),
    }
}

fn input_of(shape: Shape, inputs: &[Option<u8>]) -> Option<u8> {
    match shape {
        Shape::Input(n) => inputs[usize::from(n)],
        _ => None,
    }
}

/// For a register, the output to which its operation writes, and the channel of each of its components.
type Direct = HashMap<Register, (u8, HashMap<u8, u8>)>;

/// Finds registers all of whose components are read once, by one output and without modifiers.
fn direct(nodes: &[Node], outputs: &[Vec<u8>]) -> Direct {
    let mut uses: HashMap<(Register, u8), usize> = HashMap::new();
    each(nodes, &mut |node| {
        let read = match node {
            Node::Output(Target::Vertex(n), ..) => !outputs[usize::from(*n)].is_empty(),
            _ => true,
        };
        if read {
            code::reads(node, &mut |register, c| *uses.entry((register, c)).or_default() += 1);
        }
    });
    let mut written: HashMap<Register, Vec<u8>> = HashMap::new();
    each(nodes, &mut |node| {
        if let Node::Op(op) = node {
            written.entry(op.register).or_default().extend(&op.lanes);
        }
    });
    let mut all = Direct::new();
    for node in nodes {
        let Node::Output(Target::Vertex(n), value, _) = node else { continue };
        let [output] = outputs[usize::from(*n)][..] else { continue };
        let mut of: HashMap<Register, HashMap<u8, u8>> = HashMap::new();
        for (channel, component) in (0u8..).zip(value) {
            if let Some((register, c)) = component.plain()
                && uses.get(&(register, c)) == Some(&1)
            {
                of.entry(register).or_default().insert(c, channel);
            }
        }
        for (register, map) in of {
            if written.get(&register).is_some_and(|lanes| lanes.iter().all(|c| map.contains_key(c)))
            {
                all.insert(register, (output, map));
            }
        }
    }
    all
}

struct Selector {
    code: Code,
    /// For registers that are inputs, the chip's.
    inputs: Vec<Option<u8>>,
    /// Whether what was moved to a temporary is kept there for later instructions.
    shares_moves: bool,
    moved: HashMap<Place, Register>,
    /// Where the numbers of the present instruction are.
    numbers: HashMap<u32, (u16, u8)>,
    /// What the components of the address register hold, and which is replaced next.
    addresses: [Option<(Register, u8)>; 4],
    next_address: u8,
    /// The next register that is not used.
    next: u32,
    direct: Direct,
}

/// A lane: what it writes, and the components of its operands.
type Lane = (u8, Vec<Component>);

impl Selector {
    fn fresh(&mut self) -> Register {
        self.next += 1;
        Register(self.next - 1)
    }

    fn list(&mut self, nodes: &[Node], outputs: &[Vec<u8>]) {
        for node in nodes {
            match node {
                Node::Op(op) => {
                    self.op(op);
                    self.forget(op.register);
                }
                Node::Output(Target::Vertex(n), value, origin) => {
                    for output in &outputs[usize::from(*n)] {
                        self.output(*output, value, *origin);
                    }
                }
                Node::Loop(passes, body, _) => {
                    // In a later pass an index may be another one.
                    self.addresses = [None; 4];
                    self.moved.retain(|place, _| !matches!(place, Place::Relative(..)));
                    let first = self.code.insts.len();
                    self.list(body, outputs);
                    let end = self.code.insts.len();
                    self.code.loops.push(Loop { first, end, passes: *passes });
                }
                _ => unreachable!(
                    "vertex shaders take both ways of branches, and loops to their ends"
                ),
            }
        }
    }

    /// Forgets what was read by an index that is another one now.
    fn forget(&mut self, written: Register) {
        for held in &mut self.addresses {
            *held = held.filter(|(register, _)| *register != written);
        }
        let is_kept = |place: &Place| match place {
            Place::Relative(_, (register, _)) => *register != written,
            _ => true,
        };
        self.moved.retain(|place, _| is_kept(place));
    }

    fn op(&mut self, op: &code::Op) {
        let (dst, lanes) = match self.direct.get(&op.register) {
            Some((output, map)) => {
                (Dst::Output(*output), op.lanes.iter().map(|lane| map[lane]).collect())
            }
            None => (Dst::Register(Place::Temporary(op.register)), op.lanes.clone()),
        };
        let origin = op.origin;
        if op.code == code::Code::Dot {
            self.pool(op.operands.iter().flatten());
            let sources =
                op.operands.iter().map(|operand| self.gathered(operand, origin)).collect();
            let sources: Vec<Src> = pad(sources, 4);
            return self.push(Op::Dot, dst, lanes, sources, false, origin);
        }
        if let code::Code::Alu(alu) = op.code
            && let Some(math) = alu.of_math_engine()
        {
            self.pool(op.operands.iter().flatten());
            let sources =
                op.operands.iter().map(|operand| self.gathered(operand, origin)).collect();
            return self.push(Op::Math(math), dst, lanes, sources, false, origin);
        }
        let all: Vec<Lane> = lanes
            .iter()
            .enumerate()
            .map(|(n, lane)| (*lane, op.operands.iter().map(|operand| operand[n]).collect()))
            .collect();
        self.by_lanes(op.code, dst, all, origin);
    }

    fn output(&mut self, output: u8, value: &Value, origin: Origin) {
        let lanes: Vec<Lane> = (0u8..)
            .zip(value)
            .filter(|(channel, component)| {
                let register = component.in_register().map(|(register, _)| register);
                let done = register.and_then(|register| self.direct.get(&register));
                !done.is_some_and(|(to, map)| *to == output && map.values().any(|c| c == channel))
            })
            .map(|(channel, component)| (channel, vec![*component]))
            .collect();
        if !lanes.is_empty() {
            self.by_lanes(code::Code::Copy, Dst::Output(output), lanes, origin);
        }
    }

    /// Instructions for operations by lanes: as few as the sources allow.
    fn by_lanes(&mut self, code: code::Code, dst: Dst, lanes: Vec<Lane>, origin: Origin) {
        let saturate = code == code::Code::MadSat;
        let (op, lanes) = operation(code, lanes);
        self.pool(lanes.iter().flat_map(|(_, operands)| operands));
        let mut groups: Vec<(Vec<u8>, Vec<Src>)> = Vec::new();
        for (lane, operands) in lanes {
            let sources: Vec<Src> = operands.iter().map(|component| self.part(component)).collect();
            let merged = groups.iter_mut().find_map(|group| {
                let all: Option<Vec<Src>> =
                    group.1.iter().zip(&sources).map(|(a, b)| merged(a, b)).collect();
                Some((group, all?))
            });
            match merged {
                Some((group, all)) => {
                    group.0.push(lane);
                    group.1 = all;
                }
                None => groups.push((vec![lane], sources)),
            }
        }
        for (lanes, sources) in groups {
            self.push(Op::Vector(op), dst, lanes, sources, saturate, origin);
        }
    }

    /// The source that reads one component.
    fn part(&mut self, component: &Component) -> Src {
        let negate = component.negate;
        let of = |place, c| Src {
            place: Some(place),
            abs: component.abs,
            parts: vec![(Select::Of(c), negate)],
        };
        match component.atom {
            Atom::Register(register, c) => {
                let input = self.inputs.get(register.0 as usize).copied().flatten();
                of(input.map_or(Place::Temporary(register), Place::Input), c)
            }
            Atom::Uniform(n, c) => of(Place::Constant(self.uniform(n)), c),
            Atom::Relative(Relative { base, index, .. }, c) => {
                of(Place::Relative(self.uniform(base), index), c)
            }
            Atom::Literal(bits) => match by_swizzle(bits) {
                Some(select) => Src { place: None, abs: false, parts: vec![(select, negate)] },
                None => {
                    let (n, c) = self.numbers[&bits];
                    of(Place::Constant(n), c)
                }
            },
        }
    }

    /// A source that reads all components; those of several places are brought together first.
    fn gathered(&mut self, value: &Value, origin: Origin) -> Src {
        let parts: Vec<Src> = value.iter().map(|component| self.part(component)).collect();
        let whole = parts[1..].iter().try_fold(parts[0].clone(), |all, part| merged(&all, part));
        if let Some(whole) = whole {
            return whole;
        }
        let register = self.fresh();
        let place = Place::Temporary(register);
        let lanes = (0u8..).zip(value).map(|(lane, c)| (lane, vec![*c])).collect();
        self.by_lanes(code::Code::Copy, Dst::Register(place), lanes, origin);
        Src::of(place, 0..value.len() as u8)
    }

    #[expect(clippy::expect_used, reason = "a uniform without a constant must not compile")]
    fn uniform(&self, n: u16) -> u16 {
        let constant = Constant::Uniform(n);
        let at = self.code.constants.iter().position(|other| *other == constant);
        at.expect("all uniforms that are read have constants") as u16
    }

    /// Puts the numbers of an instruction into constants: all into one if they fit.
    fn pool<'a>(&mut self, components: impl Iterator<Item = &'a Component>) {
        let mut numbers: Vec<u32> = Vec::new();
        for component in components {
            if let Atom::Literal(bits) = component.atom
                && by_swizzle(bits).is_none()
                && !numbers.contains(&bits)
            {
                numbers.push(bits);
            }
        }
        for piece in numbers.chunks(4) {
            let added = |constant: &Constant| match constant {
                Constant::Numbers(list) => {
                    let added = piece.iter().filter(|bits| !list.contains(bits)).count();
                    (list.len() + added <= 4).then_some(added)
                }
                Constant::Uniform(_) => None,
            };
            let constants = &mut self.code.constants;
            let found = constants.iter().enumerate().filter_map(|(n, c)| Some((added(c)?, n)));
            let n = found.min().map_or(constants.len(), |(_, n)| n);
            if n == constants.len() {
                constants.push(Constant::Numbers(Vec::new()));
            }
            let Constant::Numbers(list) = &mut constants[n] else {
                unreachable!("a constant of numbers was chosen")
            };
            for bits in piece {
                if !list.contains(bits) {
                    list.push(*bits);
                }
            }
            for (c, bits) in (0u8..).zip(list.iter()) {
                self.numbers.insert(*bits, (n as u16, c));
            }
        }
    }

    /// Adds an instruction. Of sources that it cannot read together, some are moved to temporaries first.
    fn push(
        &mut self,
        op: Op,
        dst: Dst,
        lanes: Vec<u8>,
        sources: Vec<Src>,
        saturate: bool,
        origin: Origin,
    ) {
        let mut inst = Inst { op, dst, lanes, sources, saturate, origin, address: 0, dual: None };
        for is_kind in [Place::is_constant as fn(&Place) -> bool, |place: &Place| {
            matches!(place, Place::Input(_))
        }] {
            while distinct(inst.sources.iter().filter_map(|src| src.place).filter(is_kind)) > 1 {
                self.move_one(&mut inst, is_kind);
            }
        }
        if !inst.fits() {
            self.move_to_alternate(&mut inst);
        }
        debug_assert!(inst.fits(), "{inst:?}");
        self.add(inst);
    }

    /// Adds an instruction, after one that loads the address register if it needs it.
    fn add(&mut self, mut inst: Inst) {
        let index = inst.sources.iter().find_map(|src| match src.place {
            Some(Place::Relative(_, index)) => Some(index),
            _ => None,
        });
        if let Some(index) = index {
            inst.address = self.address(index, inst.origin);
        }
        self.code.insts.push(inst);
    }

    /// Returns the component of the address register that has an index; it is loaded if none has.
    fn address(&mut self, index: (Register, u8), origin: Origin) -> u8 {
        let known = (0u8..).zip(&self.addresses).find(|(_, held)| **held == Some(index));
        if let Some((address, _)) = known {
            return address;
        }
        let address = self.next_address;
        self.next_address = (address + 1) % 4;
        self.addresses[usize::from(address)] = Some(index);
        let (register, component) = index;
        let place = match self.inputs.get(register.0 as usize).copied().flatten() {
            Some(input) => Place::Input(input),
            None => Place::Temporary(register),
        };
        self.code.insts.push(Inst {
            op: Op::Vector(VectorOp::FLT2FIX_DX),
            dst: Dst::Address(address),
            lanes: vec![address],
            sources: vec![Src::of(place, [component])],
            saturate: false,
            origin,
            address: 0,
            dual: None,
        });
        address
    }

    /// Moves a source of a kind to a temporary: one that was moved before, or the last.
    #[expect(clippy::expect_used, reason = "the caller has counted two of this kind")]
    fn move_one(&mut self, inst: &mut Inst, is_kind: fn(&Place) -> bool) {
        let places: Vec<Place> =
            inst.sources.iter().filter_map(|src| src.place).filter(is_kind).collect();
        let moved = places.iter().find_map(|place| Some((*place, *self.moved.get(place)?)));
        let (place, register) = moved.unwrap_or_else(|| {
            let place = *places.last().expect("there are several of this kind");
            (place, self.moved(place, inst))
        });
        for src in inst.sources.iter_mut().filter(|src| src.place == Some(place)) {
            src.place = Some(Place::Temporary(register));
        }
    }

    /// Moves a place to a temporary: whole if later instructions may read it there, else what an instruction reads.
    fn moved(&mut self, place: Place, inst: &Inst) -> Register {
        let register = self.fresh();
        let to = Place::Temporary(register);
        if self.shares_moves {
            self.copy(to, place, &[0, 1, 2, 3], inst.origin);
            self.moved.insert(place, register);
            return register;
        }
        let read = inst.sources.iter().filter(|src| src.place == Some(place));
        let mut components: Vec<u8> = read.flat_map(Src::components).collect();
        components.sort_unstable();
        components.dedup();
        self.copy(to, place, &components, inst.origin);
        register
    }

    /// Moves the last source to an alternate temporary, which is one more address.
    #[expect(clippy::expect_used, reason = "an instruction that does not fit has sources")]
    fn move_to_alternate(&mut self, inst: &mut Inst) {
        let last = inst.sources.last_mut().expect("an instruction of three temporaries");
        let place = last.place.expect("each source is a temporary");
        let mut components: Vec<u8> = last.components().collect();
        components.sort_unstable();
        components.dedup();
        let register = self.fresh();
        last.place = Some(Place::Alternate(register));
        self.copy(Place::Alternate(register), place, &components, inst.origin);
    }

    fn copy(&mut self, to: Place, from: Place, components: &[u8], origin: Origin) {
        let sources = vec![
            Src::of(from, components.iter().copied()),
            Src::number(Select::Zero, components.len()),
        ];
        self.add(Inst {
            op: Op::Vector(VectorOp::ADD),
            dst: Dst::Register(to),
            lanes: components.to_vec(),
            sources,
            saturate: false,
            origin,
            address: 0,
            dual: None,
        });
    }
}

/// Fills sources with zeros up to a number of parts.
fn pad(mut sources: Vec<Src>, parts: usize) -> Vec<Src> {
    for src in &mut sources {
        src.parts.resize(parts, (Select::Zero, false));
    }
    sources
}

/// Returns the number that a swizzle has.
fn by_swizzle(bits: u32) -> Option<Select> {
    match f32::from_bits(bits) {
        0.0 => Some(Select::Zero),
        1.0 => Some(Select::One),
        _ => None,
    }
}

/// Returns the source that reads what both read, one after the other, if there is one.
fn merged(a: &Src, b: &Src) -> Option<Src> {
    let (place, abs) = match (a.place, b.place) {
        (Some(left), Some(right)) if left == right && a.abs == b.abs => (a.place, a.abs),
        (_, None) => (a.place, a.abs),
        (None, _) => (b.place, b.abs),
        _ => return None,
    };
    Some(Src { place, abs, parts: [a.parts.clone(), b.parts.clone()].concat() })
}

/// Returns the operation of the vector engine with the operands that it takes. Products with 1 and sums with 0 have operations of two
/// operands, and so have selections of 1 and 0.
fn operation(code: code::Code, lanes: Vec<Lane>) -> (VectorOp, Vec<Lane>) {
    use code::Code;
    let all = |operand: usize, number: f32| {
        lanes.iter().all(|(_, operands)| operands[operand].value() == Some(number))
    };
    let take = |op: VectorOp, order: &[usize]| {
        let of = |(lane, operands): &Lane| (*lane, order.iter().map(|n| operands[*n]).collect());
        (op, lanes.iter().map(of).collect())
    };
    let zero = Component::literal(0.0);
    let with_zero = |op: VectorOp, operand: usize| {
        (op, lanes.iter().map(|(lane, operands)| (*lane, vec![operands[operand], zero])).collect())
    };
    match code {
        Code::Copy => with_zero(VectorOp::ADD, 0),
        Code::Alu(Alu::Mad) | Code::MadSat => match () {
            () if all(2, 0.0) && all(0, 1.0) => with_zero(VectorOp::ADD, 1),
            () if all(2, 0.0) && all(1, 1.0) => with_zero(VectorOp::ADD, 0),
            () if all(2, 0.0) => take(VectorOp::MULTIPLY, &[0, 1]),
            () if all(0, 1.0) => take(VectorOp::ADD, &[1, 2]),
            () if all(1, 1.0) => take(VectorOp::ADD, &[0, 2]),
            () => take(VectorOp::MULTIPLY_ADD, &[0, 1, 2]),
        },
        Code::Alu(Alu::Min) => take(VectorOp::MINIMUM, &[0, 1]),
        Code::Alu(Alu::Max) => take(VectorOp::MAXIMUM, &[0, 1]),
        Code::Alu(Alu::Cmp) if all(0, 1.0) && all(1, 0.0) => {
            with_zero(VectorOp::SET_GREATER_THAN_EQUAL, 2)
        }
        Code::Alu(Alu::Cmp) if all(0, 0.0) && all(1, 1.0) => with_zero(VectorOp::SET_LESS_THAN, 2),
        Code::Alu(Alu::Cmp) => take(VectorOp::COND_MUX_GTE, &[2, 0, 1]),
        Code::Alu(Alu::Frc) => take(VectorOp::FRACTION, &[0]),
        Code::Alu(_) | Code::Dot => {
            unreachable!(
                "scalars and sums of products are not by lanes, differences not of vertices"
            )
        }
    }
}
