//! Makes operations: known numbers are computed here, and what was computed before is not computed again.

use std::collections::HashMap;

use r500_glsl::{Span, Stage};

use crate::arithmetic::{ARITH, Alu, Arithmetic, FetchKind, compute};
use crate::code::{
    Code, Component, Condition, Fetch, Node, Op, Register, Routine, Shape, Target, Value,
};
use crate::points::{Origin, PointId};

/// What makes two operations the same.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Key {
    Op(Code, Vec<Value>),
    Fetch(FetchKind, Value, Vec<Value>),
}

/// What was computed in a list and is there in it and in those inside of it.
#[derive(Default)]
struct Known {
    values: HashMap<Key, Value>,
    /// The operands of each component that is a product and a sum.
    mads: HashMap<Component, [Component; 3]>,
}

/// A routine under construction. Nodes go to the innermost open list.
pub(crate) struct Builder {
    stage: Stage,
    shapes: Vec<Shape>,
    lists: Vec<Vec<Node>>,
    /// By open list.
    known: Vec<Known>,
    /// Where nodes come from.
    pub(crate) span: Span,
    /// The execution of a statement that nodes are a part of.
    pub(crate) point: PointId,
    /// The number of operations, for limits.
    pub(crate) count: usize,
    /// What integers are the whole part of, by their components.
    floors: HashMap<Component, Component>,
}

impl Builder {
    pub(crate) fn new(stage: Stage) -> Self {
        Self {
            stage,
            shapes: Vec::new(),
            lists: vec![Vec::new()],
            known: vec![Known::default()],
            span: Span::default(),
            point: 0,
            count: 0,
            floors: HashMap::new(),
        }
    }

    /// Returns what a component is the whole part of; itself, if that is not known.
    pub(crate) fn whole_part_of(&self, component: Component) -> Component {
        self.floors.get(&component).copied().unwrap_or(component)
    }

    #[expect(clippy::expect_used, reason = "a program without its list must not compile")]
    pub(crate) fn finish(mut self) -> Routine {
        let nodes = self.lists.pop().expect("the outermost list is never closed");
        Routine { nodes, shapes: self.shapes }
    }

    pub(crate) fn register(&mut self, shape: Shape) -> Register {
        self.shapes.push(shape);
        Register((self.shapes.len() - 1) as u32)
    }

    /// Returns a register for so many components, and its components.
    fn fresh(&mut self, count: usize) -> (Register, Value) {
        let shape = match count {
            1 => Shape::Alpha,
            2 | 3 => Shape::Colors,
            _ => Shape::Whole,
        };
        let register = self.register(shape);
        (register, (0..count as u8).map(|c| Component::register(register, c)).collect())
    }

    /// Opens a list of nodes.
    pub(crate) fn open(&mut self) {
        self.lists.push(Vec::new());
        self.known.push(Known::default());
    }

    /// Closes the innermost list.
    #[expect(clippy::expect_used, reason = "the callers open what they close")]
    pub(crate) fn close(&mut self) -> Vec<Node> {
        self.known.pop();
        self.lists.pop().expect("a list was opened")
    }

    /// Ends the innermost list: what is in it, and known in it, is in the list around it.
    #[expect(clippy::expect_used, reason = "the callers open what they keep")]
    pub(crate) fn keep(&mut self) {
        let known = self.known.pop().expect("a list was opened");
        if let Some(around) = self.known.last_mut() {
            around.values.extend(known.values);
            around.mads.extend(known.mads);
        }
        let nodes = self.lists.pop().expect("a list was opened");
        self.splice(nodes);
    }

    /// Adds the nodes of a closed list.
    pub(crate) fn splice(&mut self, nodes: Vec<Node>) {
        if let Some(list) = self.lists.last_mut() {
            list.extend(nodes);
        }
    }

    pub(crate) fn node(&mut self, node: Node) {
        self.count += 1;
        if let Some(list) = self.lists.last_mut() {
            list.push(node);
        }
    }

    /// Returns where nodes come from.
    pub(crate) fn origin(&self) -> Origin {
        Origin { span: self.span, point: self.point }
    }

    /// Sets where the next nodes come from.
    pub(crate) fn set_origin(&mut self, origin: Origin) {
        (self.span, self.point) = (origin.span, origin.point);
    }

    fn remembered(&self, key: &Key) -> Option<Value> {
        self.known.iter().rev().find_map(|known| known.values.get(key)).cloned()
    }

    fn remember(&mut self, key: Key, value: &Value) {
        if let Some(known) = self.known.last_mut() {
            known.values.insert(key, value.clone());
        }
    }

    /// Returns the operands of a component without modifiers that is a product and a sum.
    fn mad_of(&self, component: Component) -> Option<[Component; 3]> {
        component.plain()?;
        self.known.iter().rev().find_map(|known| known.mads.get(&component)).copied()
    }

    fn op(&mut self, code: Code, register: Register, lanes: Vec<u8>, operands: Vec<Value>) {
        let origin = self.origin();
        self.node(Node::Op(Op { code, register, lanes, operands, origin }));
    }

    /// Makes an operation by components, each of which may be known.
    fn by_components(&mut self, code: Code, operands: &[&Value]) -> Value {
        let count = operands.iter().map(|operand| operand.len()).max().unwrap_or(0);
        let at = |operand: &Value, i: usize| operand[if operand.len() == 1 { 0 } else { i }];
        let of_component = |i: usize| -> Vec<Component> {
            self.folded(code, operands.iter().map(|operand| at(operand, i)).collect())
        };
        let components: Vec<Vec<Component>> = (0..count).map(of_component).collect();
        let mut result: Vec<Option<Component>> =
            components.iter().map(|parts| self.simplified(code, parts)).collect();
        // The same components once.
        let mut open: Vec<(Vec<Component>, Vec<usize>)> = Vec::new();
        for (i, parts) in components.into_iter().enumerate() {
            if result[i].is_none() {
                match open.iter_mut().find(|(other, _)| *other == parts) {
                    Some((_, places)) => places.push(i),
                    None => open.push((parts, vec![i])),
                }
            }
        }
        // Registers have four components; matrices are computed by pieces.
        for piece in open.chunks(4) {
            let wanted: Vec<Value> = (0..operands.len())
                .map(|n| piece.iter().map(|(parts, _)| parts[n]).collect())
                .collect();
            let value = self.computed(code, wanted);
            for ((_, places), component) in piece.iter().zip(&value) {
                places.iter().for_each(|place| result[*place] = Some(*component));
            }
        }
        result.into_iter().flatten().collect()
    }

    /// Returns the components that an operation gives, which may be there already.
    fn computed(&mut self, code: Code, operands: Vec<Value>) -> Value {
        let count = operands.first().map_or(0, Vec::len);
        let key = Key::Op(code, operands.clone());
        if let Some(value) = self.remembered(&key) {
            return value;
        }
        let (register, value) = self.fresh(count);
        if let (Code::Alu(Alu::Mad), [a, b, c], Some(known)) =
            (code, &operands[..], self.known.last_mut())
        {
            let of = |n: usize| (value[n], [a[n], b[n], c[n]]);
            known.mads.extend((0..count).map(of));
        }
        self.op(code, register, (0..count as u8).collect(), operands);
        self.remember(key, &value);
        value
    }

    /// Computes a product of two numbers that is added to something.
    fn folded(&self, code: Code, parts: Vec<Component>) -> Vec<Component> {
        let [a, b, c] = parts[..] else { return parts };
        if !matches!(code, Code::Alu(Alu::Mad) | Code::MadSat) {
            return parts;
        }
        match (a.value(), b.value()) {
            (Some(x), Some(y)) => {
                // The product is rounded before the sum.
                let product = compute(self.stage, Alu::Mad, [x, y, 0.0]);
                let folded = [Component::literal(product), Component::literal(1.0), c];
                if product.is_normal() { folded.to_vec() } else { parts }
            }
            _ => parts,
        }
    }

    /// Returns the component that an operation gives, if no operation is needed for it.
    fn simplified(&self, code: Code, parts: &[Component]) -> Option<Component> {
        let values: Option<Vec<f32>> = parts.iter().map(|part| part.value()).collect();
        if let Some(values) = values {
            let operand = |n: usize| values.get(n).copied().unwrap_or(0.0);
            let numbers = [operand(0), operand(1), operand(2)];
            return match code {
                Code::Alu(Alu::Ddx | Alu::Ddy) => Some(Component::literal(0.0)),
                Code::Alu(op) => Some(Component::literal(compute(self.stage, op, numbers))),
                Code::MadSat => {
                    let raw = compute(self.stage, Alu::Mad, numbers);
                    Some(Component::literal(ARITH.clamp01(raw)))
                }
                Code::Copy => Some(parts[0]),
                Code::Dot => None,
            };
        }
        match code {
            Code::Alu(Alu::Mad) => {
                let [a, b, c] = parts else { return None };
                let is_product = c.value() == Some(0.0);
                for (factor, other) in [(a, b), (b, a)] {
                    match factor.value() {
                        // A product with 0 is 0, whatever the other factor is. The sign of a zero is open.
                        Some(0.0) => {
                            return Some(if is_product { Component::literal(0.0) } else { *c });
                        }
                        Some(1.0) if is_product => return Some(*other),
                        Some(-1.0) if is_product => return Some(other.negated()),
                        _ => {}
                    }
                }
                None
            }
            Code::Alu(Alu::Cmp) => {
                let [a, b, c] = parts else { return None };
                match c.value() {
                    Some(value) => {
                        Some(if compute(self.stage, Alu::Cmp, [1.0, 0.0, value]) == 1.0 {
                            *a
                        } else {
                            *b
                        })
                    }
                    None => (a == b).then_some(*a),
                }
            }
            Code::Alu(Alu::Min | Alu::Max) => (parts[0] == parts[1]).then(|| parts[0]),
            _ => None,
        }
    }

    /// Returns a value whose components are all of one register, without modifiers.
    pub(crate) fn gathered(&mut self, value: &Value) -> Vec<(Register, u8)> {
        let plain: Option<Vec<(Register, u8)>> =
            value.iter().map(|component| component.plain()).collect();
        if let Some(plain) = plain
            && plain.iter().all(|(register, _)| *register == plain[0].0)
        {
            return plain;
        }
        let distinct = distinct(value);
        let copy = self.copied(&distinct);
        places_of(value, &distinct, &copy)
    }

    /// Returns the components of a fetch's operand in one register. Where they would have to be copied there, the products and sums that
    /// some of them are are computed there, and the others with them. The sign of a zero does not matter to a fetch.
    fn gathered_coordinates(&mut self, value: &Value) -> Vec<(Register, u8)> {
        let distinct = distinct(value);
        // More than two are likely to be those of another fetch with one more.
        if distinct.len() == 2
            && let Some(operands) = self.mads_of(&distinct)
        {
            let sums = self.computed(Code::Alu(Alu::Mad), operands.to_vec());
            return places_of(value, &distinct, &sums);
        }
        self.gathered(value)
    }

    /// Returns the operands of one instruction that gives a value of components of several registers.
    fn mads_of(&self, value: &Value) -> Option<[Value; 3]> {
        let registers: Option<Vec<Register>> =
            value.iter().map(|component| Some(component.plain()?.0)).collect();
        let registers = registers?;
        let is_in_one = registers.iter().all(|register| *register == registers[0]);
        if is_in_one || !value.iter().any(|c| self.mad_of(*c).is_some()) {
            return None;
        }
        let as_mad = |c: &Component| {
            let [one, zero] = [1.0, 0.0].map(Component::literal);
            self.mad_of(*c).unwrap_or([*c, one, zero])
        };
        let mads: Vec<[Component; 3]> = value.iter().map(as_mad).collect();
        let operands = [0, 1, 2].map(|n: usize| mads.iter().map(|parts| parts[n]).collect());
        operands.iter().all(|value: &Value| Component::are_of_one_source(value)).then_some(operands)
    }

    /// Returns a copy of a value in a register of its own.
    fn copied(&mut self, value: &Value) -> Value {
        let key = Key::Op(Code::Copy, vec![value.clone()]);
        if let Some(copy) = self.remembered(&key) {
            return copy;
        }
        let (register, copy) = self.fresh(value.len());
        self.op(Code::Copy, register, (0..value.len() as u8).collect(), vec![value.clone()]);
        self.remember(key, &copy);
        copy
    }

    /// Returns a value that one source of an instruction can give.
    fn of_one_source(&mut self, value: &Value) -> Value {
        if Component::are_of_one_source(value) { value.clone() } else { self.copied(value) }
    }

    /// Differences in the quad of up to three components, each in its own channel.
    fn differences(&mut self, op: Alu, value: &[Component]) -> Value {
        if value.iter().all(|component| component.value().is_some()) {
            return vec![Component::literal(0.0); value.len()];
        }
        let shape = if value.len() == 1 { Shape::Alpha } else { Shape::Colors };
        let first = value[0].in_register().map(|(register, _)| register);
        let in_place = first.is_some_and(|register| {
            let fits = match self.shapes[register.0 as usize] {
                Shape::Alpha => shape == Shape::Alpha,
                _ => shape == Shape::Colors,
            };
            fits && value
                .iter()
                .zip(0..)
                .all(|(component, c)| component.plain() == Some((register, c)))
        });
        let value = if in_place { value.to_vec() } else { self.copied(&value.to_vec()) };
        let key = Key::Op(Code::Alu(op), vec![value.clone()]);
        if let Some(known) = self.remembered(&key) {
            return known;
        }
        let (register, result) = self.fresh(value.len());
        self.op(Code::Alu(op), register, (0..value.len() as u8).collect(), vec![value]);
        self.remember(key, &result);
        result
    }

    /// Makes a register for a variable over branches or passes.
    pub(crate) fn variable(&mut self, count: usize) -> Value {
        let mut all = Vec::new();
        let mut left = count;
        while left > 0 {
            let n = left.min(4);
            all.extend(self.fresh(n).1);
            left -= n;
        }
        all
    }

    /// Sets components of variables to values, all at once: no value is one of the components after it was set.
    pub(crate) fn set(&mut self, list: &[(Component, Component)]) {
        let list: Vec<(Component, Component)> =
            list.iter().copied().filter(|(to, from)| to != from).collect();
        let sets = |from: (Register, u8)| list.iter().any(|(to, _)| to.in_register() == Some(from));
        let clashes = list
            .iter()
            .any(|(to, from)| from.atom != to.atom && from.register_read().is_some_and(sets));
        let values: Vec<Component> = if clashes {
            // Through registers of their own.
            let mut staged = Vec::new();
            for piece in list.chunks(4) {
                let value: Value = piece.iter().map(|(_, from)| *from).collect();
                let (register, copy) = self.fresh(piece.len());
                self.op(Code::Copy, register, (0..piece.len() as u8).collect(), vec![value]);
                staged.extend(copy);
            }
            staged
        } else {
            list.iter().map(|(_, from)| *from).collect()
        };
        let mut done = vec![false; list.len()];
        for i in 0..list.len() {
            if done[i] {
                continue;
            }
            let Some((register, _)) = list[i].0.in_register() else { continue };
            let (mut lanes, mut value) = (Vec::new(), Vec::new());
            for j in i..list.len() {
                if let Some((other, lane)) = list[j].0.in_register()
                    && other == register
                {
                    lanes.push(lane);
                    value.push(values[j]);
                    done[j] = true;
                }
            }
            self.op(Code::Copy, register, lanes, vec![value]);
        }
    }

    pub(crate) fn kill(&mut self, value: &Value) {
        let list = self.gathered(value);
        let origin = self.origin();
        // One instruction tests components of a register.
        if let Some(Node::Kill(last, _)) = self.lists.last_mut().and_then(|nodes| nodes.last_mut())
            && last.first().map(|(register, _)| register)
                == list.first().map(|(register, _)| register)
        {
            let added = list.iter().filter(|place| !last.contains(place)).copied();
            let added: Vec<(Register, u8)> = added.collect();
            last.extend(added);
            return;
        }
        self.node(Node::Kill(list, origin));
    }

    pub(crate) fn output(&mut self, target: Target, value: Value) {
        let origin = self.origin();
        self.node(Node::Output(target, value, origin));
    }

    /// Chooses by a condition.
    pub(crate) fn choose(&mut self, condition: Condition, yes: &Value, no: &Value) -> Value {
        if let Some(known) = condition.value() {
            return if known { yes.clone() } else { no.clone() };
        }
        let test = vec![condition.test];
        match condition.negated {
            false => self.alu(Alu::Cmp, &[yes, no, &test]),
            true => self.alu(Alu::Cmp, &[no, yes, &test]),
        }
    }
}

impl Arithmetic for Builder {
    type Component = Component;

    fn stage(&self) -> Stage {
        self.stage
    }

    fn number(value: f32) -> Component {
        Component::literal(value)
    }

    fn negate(&self, of: &Value) -> Value {
        of.iter().map(|component| component.negated()).collect()
    }

    fn abs(&self, of: &Value) -> Value {
        of.iter().map(|component| component.absolute()).collect()
    }

    fn alu(&mut self, op: Alu, operands: &[&Value]) -> Value {
        if op.is_difference() {
            let pieces = operands[0].chunks(3).map(|piece| self.differences(op, piece));
            return pieces.collect::<Vec<Value>>().concat();
        }
        if op.is_transcendental() {
            // One component at a time: one unit computes them.
            let count = operands.iter().map(|operand| operand.len()).max().unwrap_or(0);
            let all: Vec<Value> = (0..count)
                .map(|n| {
                    let of = |operand: &&Value| vec![operand[n.min(operand.len() - 1)]];
                    let scalars: Vec<Value> = operands.iter().map(of).collect();
                    self.by_components(Code::Alu(op), &scalars.iter().collect::<Vec<&Value>>())
                })
                .collect();
            return all.concat();
        }
        self.by_components(Code::Alu(op), operands)
    }

    fn floor(&mut self, a: &Value) -> Value {
        let fraction = self.alu(Alu::Frc, &[a]);
        let floor = self.sub(a, &fraction);
        for (floor, of) in floor.iter().zip(a) {
            self.floors.insert(*floor, *of);
        }
        floor
    }

    fn mad_sat(&mut self, operands: [&Value; 3]) -> Value {
        self.by_components(Code::MadSat, &operands)
    }

    fn dot(&mut self, a: &Value, b: &Value) -> Value {
        let known: Option<Vec<[f32; 2]>> =
            a.iter().zip(b).map(|(a, b)| Some([a.value()?, b.value()?])).collect();
        if let Some(known) = known {
            return vec![Component::literal(dot_of(self.stage, &known))];
        }
        let [a, b] = [a, b].map(|operand| self.of_one_source(operand));
        let key = Key::Op(Code::Dot, vec![a.clone(), b.clone()]);
        if let Some(value) = self.remembered(&key) {
            return value;
        }
        let (register, value) = self.fresh(1);
        self.op(Code::Dot, register, vec![0], vec![a, b]);
        self.remember(key, &value);
        value
    }

    fn fetch(&mut self, kind: FetchKind, strq: &Value, gradients: Option<[&Value; 2]>) -> Value {
        let key = Key::Fetch(
            kind,
            strq.clone(),
            gradients.iter().flatten().map(|g| (*g).clone()).collect(),
        );
        if let Some(value) = self.remembered(&key) {
            return value;
        }
        let four = |list: Vec<(Register, u8)>| -> [(Register, u8); 4] {
            std::array::from_fn(|n| list[n.min(list.len() - 1)])
        };
        let coordinates = four(self.gathered_coordinates(strq));
        let gradients = gradients.map(|both| both.map(|gradient| four(self.gathered(gradient))));
        let register = self.register(Shape::Whole);
        let value: Value = (0..4).map(|c| Component::register(register, c)).collect();
        let origin = self.origin();
        self.node(Node::Fetch(Fetch {
            kind,
            register,
            lanes: [true; 4],
            strq: coordinates,
            gradients,
            origin,
        }));
        self.remember(key, &value);
        value
    }
}

/// Returns the components of a value, each once.
fn distinct(value: &Value) -> Value {
    let mut distinct: Value = Vec::new();
    for component in value {
        if !distinct.contains(component) {
            distinct.push(*component);
        }
    }
    distinct
}

/// Returns where the components of a value are that were computed anew, each once.
#[expect(clippy::expect_used, reason = "a component without a place must not compile")]
fn places_of(value: &Value, distinct: &Value, computed: &Value) -> Vec<(Register, u8)> {
    let place = |component: &Component| {
        let at = distinct.iter().position(|other| other == component)?;
        computed[at].in_register()
    };
    value
        .iter()
        .map(|component| place(component).expect("what is computed is in registers"))
        .collect()
}

/// The sum of products, in the chip's order.
pub(crate) fn dot_of(stage: Stage, pairs: &[[f32; 2]]) -> f32 {
    let side = |side: usize, n: usize| pairs.get(n).map_or(0.0, |pair| pair[side]);
    let raw = match pairs.len() {
        // The vertex processor has that of four components only.
        _ if stage == Stage::Vertex => {
            ARITH.dot4(std::array::from_fn(|n| side(0, n)), std::array::from_fn(|n| side(1, n)))
        }
        2 => ARITH.dot2_add([side(0, 0), side(0, 1)], [side(1, 0), side(1, 1)], 0.0),
        3 => ARITH.dot3(std::array::from_fn(|n| side(0, n)), std::array::from_fn(|n| side(1, n))),
        _ => ARITH.dot4(std::array::from_fn(|n| side(0, n)), std::array::from_fn(|n| side(1, n))),
    };
    r500_numerics::finish(raw, 1.0)
}
