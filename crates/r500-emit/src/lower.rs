//! The IR of a program as a [`Source`]: values become variables or parts of expressions, phis and loop parameters become variables that change.

mod fetch;

use std::collections::BTreeMap;

use r500_ir::{
    AddSign, DenormalMode, Function as Ir, If, Inst, Loop, MulFlags, Opcode, Operand,
    Stmt as IrStmt, Type as IrType, Value,
};
use r500_numerics::Arith;

use crate::kernels;
use crate::source::{Axis, Expr, Helper, Member, Op, PlanePart, Source, Stmt, Type, Var};
use crate::textures::Textures;
use crate::{Arithmetic, EmitError, Inputs};

/// The maximum number of operations in one expression: more are hard to read.
const EXPRESSION: usize = 5;

/// What a lowering needs besides the function.
pub(crate) struct Target<'a> {
    pub arithmetic: Arithmetic,
    pub inputs: Inputs,
    pub textures: &'a Textures<'a>,
    /// The text of the instruction at an address.
    pub annotate: &'a dyn Fn(u32) -> String,
    /// The registers of a vertex program's results, of which each has four.
    pub outputs: &'a [u8],
}

/// Translates a function.
///
/// # Errors
/// [`EmitError::ExactFetch`] if a fetch of an exact shader cannot be exact.
pub(crate) fn lower(function: &Ir, target: &Target<'_>) -> Result<Source, EmitError> {
    let mut lower = Lower {
        function,
        target,
        uses: Uses::of(function, target.arithmetic == Arithmetic::Exact),
        uniforms: function
            .uniforms
            .iter()
            .map(|uniform| (uniform.value, (uniform.source.constant, uniform.source.channel)))
            .collect(),
        exprs: BTreeMap::new(),
        types: Vec::new(),
        helpers: Vec::new(),
        covered: None,
        position: None,
        region: 0,
        regions: 0,
        address: None,
    };
    let mut body = Vec::new();
    let discards =
        function.body.iter().any(|stmt| stmt.any(&mut |stmt| matches!(stmt, IrStmt::Discard(_))));
    if discards {
        let covered = lower.fresh(Type::Bool);
        body.push(Stmt::Mut(covered, Expr::Bool(true)));
        lower.covered = Some(covered);
    }
    if target.inputs == Inputs::Planes
        && function.body.iter().any(|stmt| stmt.any(&mut |stmt| is_input(stmt)))
    {
        let mut at = |axis: Axis| {
            let var = lower.fresh(Type::F32);
            let size = Expr::Uniform(Member::Size, axis.channel());
            body.push(Stmt::Let(var, Expr::op(Op::Div, [Expr::Centre(axis), size])));
            Expr::Var(var)
        };
        let position = [at(Axis::X), at(Axis::Y)];
        lower.position = Some(position);
    }
    lower.statements(&function.body, &mut body)?;
    let colors = function
        .colors
        .map(|color| color.map(|channels| channels.map(|channel| lower.float(channel))));
    let depth = function.depth.map(|(depth, written)| {
        let (depth, written) = (lower.float(depth), lower.mask(written));
        Expr::select(written, depth, Expr::FragmentDepth)
    });
    let covered = lower.covered.map(Expr::Var);
    let results = function
        .results
        .chunks_exact(4)
        .map(|channels| std::array::from_fn(|n| lower.float(channels[n])));
    let outputs = target.outputs.iter().copied().zip(results).collect();
    let functions = kernels::functions(&lower.helpers, target.textures);
    let mut source =
        Source { functions, body, types: lower.types, colors, depth, covered, outputs };
    if target.arithmetic == Arithmetic::Exact {
        source.hide();
    }
    Ok(source)
}

struct Lower<'a> {
    function: &'a Ir,
    target: &'a Target<'a>,
    uses: Uses,
    uniforms: BTreeMap<Value, (u8, u8)>,
    /// What stands for a value: its variable, or, until its only use, its expression.
    exprs: BTreeMap<Value, Expr>,
    types: Vec<Type>,
    helpers: Vec<Helper>,
    covered: Option<Var>,
    /// The position in the picture, from 0 to 1, if inputs are planes.
    position: Option<[Expr; 2]>,
    /// The region whose statements are translated, numbered as in [`Uses`].
    region: u32,
    regions: u32,
    /// The address of the last comment.
    address: Option<u32>,
}

impl Lower<'_> {
    fn is_exact(&self) -> bool {
        self.target.arithmetic == Arithmetic::Exact
    }

    fn fresh(&mut self, ty: Type) -> Var {
        let var =
            Var(u32::try_from(self.types.len()).expect("a function has less than 2^32 values"));
        self.types.push(ty);
        var
    }

    fn variable(&mut self, value: Value) -> Var {
        let ty = match self.function.values[value].ty {
            IrType::F32 => Type::F32,
            IrType::Mask => Type::Bool,
        };
        let var = self.fresh(ty);
        self.exprs.insert(value, Expr::Var(var));
        var
    }

    /// Returns an operand that is a float.
    fn float(&mut self, operand: Operand) -> Expr {
        match operand {
            Operand::Const(bits) => Expr::F32(bits),
            Operand::Value(value) => self.value(value),
        }
    }

    /// Returns an operand that is a mask.
    fn mask(&mut self, operand: Operand) -> Expr {
        match operand {
            Operand::Const(bits) => Expr::Bool(bits != 0),
            Operand::Value(value) => self.value(value),
        }
    }

    fn typed(&mut self, operand: Operand, ty: IrType) -> Expr {
        match ty {
            IrType::F32 => self.float(operand),
            IrType::Mask => self.mask(operand),
        }
    }

    fn value(&self, value: Value) -> Expr {
        if let Some(&(constant, channel)) = self.uniforms.get(&value) {
            return Expr::Uniform(Member::Constant(constant), channel);
        }
        self.exprs
            .get(&value)
            .cloned()
            .expect("a value is defined before its use: the function is verified")
    }

    /// Translates the statements of a region.
    fn statements(&mut self, body: &[IrStmt], out: &mut Vec<Stmt>) -> Result<(), EmitError> {
        for stmt in body {
            match stmt {
                IrStmt::Def(value, inst) => self.define(*value, inst, out),
                IrStmt::Fetch(fetch) => self.fetch(fetch, out)?,
                IrStmt::Discard(mask) => {
                    let covered = self.covered.expect("declared, because a statement discards");
                    let mask = self.mask(*mask);
                    let stays = Expr::and(Expr::Var(covered), Expr::not(mask));
                    out.push(Stmt::Set(covered, stays));
                }
                // The interface says that these are left out.
                IrStmt::Stat { .. } | IrStmt::GroupHazard(_) | IrStmt::ConsumeFuel { .. } => {}
                IrStmt::If(branch) => self.branch(branch, out)?,
                IrStmt::Loop(repeat) => self.repeat(repeat, out)?,
            }
        }
        Ok(())
    }

    fn region<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> T {
        self.regions += 1;
        let outer = std::mem::replace(&mut self.region, self.regions);
        let result = f(self);
        self.region = outer;
        result
    }

    fn comment(&mut self, address: u32, out: &mut Vec<Stmt>) {
        if self.address != Some(address) {
            self.address = Some(address);
            let text = (self.target.annotate)(address);
            out.push(Stmt::Comment(text.split_whitespace().collect::<Vec<_>>().join(" ")));
        }
    }

    fn define(&mut self, value: Value, inst: &Inst, out: &mut Vec<Stmt>) {
        if let (Opcode::LoadConstant { base, channel }, [index]) = (inst.opcode, inst.args()) {
            if self.uses.is_used(value) {
                let index = self.float(*index);
                self.comment(self.function.values[value].source_loc, out);
                let loaded = self.load_constant(index, base, channel, out);
                let var = self.variable(value);
                out.push(Stmt::Let(var, loaded));
            }
            return;
        }
        let expr = self.operation(value, inst);
        let once = self.uses.only.get(&value) == Some(&Some(self.region));
        let varying = matches!(inst.opcode, Opcode::Input { .. }) && self.position.is_none();
        // In an exact shader each rounded operation has a variable, which the target protects.
        let protected = self.is_exact() && is_rounded(&expr);
        // Differences in a quad are taken where the program takes them: every pixel of the quad must be there.
        let fixed = matches!(inst.opcode, Opcode::QuadBroadcast(_));
        if varying || once && !fixed && !protected && expr.size() <= EXPRESSION {
            self.exprs.insert(value, expr);
            return;
        }
        if !self.uses.is_used(value) {
            return;
        }
        self.comment(self.function.values[value].source_loc, out);
        let var = self.variable(value);
        out.push(Stmt::Let(var, expr));
    }

    fn operation(&mut self, value: Value, inst: &Inst) -> Expr {
        let types = inst.opcode.operand_types(self.function.values[value].ty);
        let operands: Vec<Expr> =
            inst.args().iter().zip(types).map(|(arg, ty)| self.typed(*arg, ty)).collect();
        let mut operands = operands.into_iter();
        let mut next = || operands.next().expect("as many operands as the arity");
        let exact = self.target.arithmetic == Arithmetic::Exact;
        let binary = |op, a, b| Expr::op(op, [a, b]);
        match inst.opcode {
            Opcode::Input { input, channel } => self.input(input, channel),
            Opcode::Mul(flags) => self.product(flags, next(), next()),
            Opcode::Mad(flags, sign) => {
                let (a, b, c) = (next(), next(), next());
                let product = self.product(flags, a, b);
                let op = if sign == AddSign::Plus { Op::Add } else { Op::Sub };
                self.sum(op, product, c)
            }
            Opcode::Add => self.sum(Op::Add, next(), next()),
            Opcode::Sub => self.sum(Op::Sub, next(), next()),
            Opcode::Neg if exact => on_bits(Op::WordXor, next(), SIGN),
            Opcode::Neg => Expr::op(Op::Neg, [next()]),
            Opcode::Abs if exact => on_bits(Op::WordAnd, next(), !SIGN),
            Opcode::Abs => Expr::op(Op::Abs, [next()]),
            Opcode::NegAbs if exact => on_bits(Op::WordOr, next(), SIGN),
            Opcode::NegAbs => Expr::op(Op::Neg, [Expr::op(Op::Abs, [next()])]),
            Opcode::Min(_) if !exact => binary(Op::Min, next(), next()),
            Opcode::Max(_) if !exact => binary(Op::Max, next(), next()),
            Opcode::Max(_) => {
                let (a, b) = (next(), next());
                Expr::select(binary(Op::Ge, a.clone(), b.clone()), a, b)
            }
            Opcode::Min(denormals) => {
                let (a, b) = (next(), next());
                let mut less = binary(Op::Lt, a.clone(), b.clone());
                if denormals == DenormalMode::Kept {
                    // So that the select does not become x86's minimum, which flushes its result.
                    let one = Expr::Uniform(Member::Hidden, 2);
                    less = Expr::and(less, binary(Op::Lt, Expr::float(0.0), one));
                }
                Expr::select(less, a, b)
            }
            Opcode::Select => {
                let (condition, a, b) = (next(), next(), next());
                Expr::select(condition, a, b)
            }
            Opcode::Flush if !exact => next(),
            Opcode::Flush => self.call(Helper::Flush, vec![next()]),
            Opcode::Clamp01 if !exact => Expr::op(Op::Saturate, [next()]),
            Opcode::Clamp01 => {
                let x = next();
                let (zero, one) = (Expr::float(0.0), Expr::float(1.0));
                let below = Expr::select(binary(Op::Lt, x.clone(), one.clone()), x.clone(), one);
                Expr::select(binary(Op::Lt, zero.clone(), x), below, zero)
            }
            Opcode::Frc if !exact => Expr::op(Op::Fract, [next()]),
            Opcode::Frc => {
                let x = next();
                binary(Op::Sub, x.clone(), Expr::op(Op::Floor, [x]))
            }
            Opcode::Rcp => binary(Op::Div, Expr::float(1.0), next()),
            Opcode::Rsq if !exact => Expr::op(Op::InverseSqrt, [next()]),
            Opcode::Rsq => binary(Op::Div, Expr::float(1.0), Expr::op(Op::Sqrt, [next()])),
            Opcode::Ex2 if !exact => Expr::op(Op::Exp2, [next()]),
            Opcode::Ex2 => self.call(Helper::Ex2, vec![next()]),
            Opcode::Ln2 if !exact => Expr::op(Op::Log2, [next()]),
            Opcode::Ln2 => self.call(Helper::Ln2, vec![next()]),
            Opcode::Sin if !exact => Expr::op(Op::Sin, [radians(next())]),
            Opcode::Sin => self.call(Helper::Sin, vec![next()]),
            Opcode::Cos if !exact => Expr::op(Op::Cos, [radians(next())]),
            Opcode::Cos => self.call(Helper::Cos, vec![next()]),
            Opcode::LoadConstant { .. } => {
                unreachable!("loads have statements of their own")
            }
            Opcode::QuadBroadcast(lane) => self.call(Helper::QuadLane(lane), vec![next()]),
            Opcode::Lt => binary(Op::Lt, next(), next()),
            Opcode::Ge => binary(Op::Ge, next(), next()),
            Opcode::Eq => binary(Op::Eq, next(), next()),
            Opcode::Ne => binary(Op::Ne, next(), next()),
            Opcode::And => Expr::and(next(), next()),
            Opcode::Or => Expr::or(next(), next()),
            Opcode::AndNot => {
                let (a, b) = (next(), next());
                Expr::and(a, Expr::not(b))
            }
        }
    }

    /// Returns a channel of the constant numbered `base` and an index, 0 outside of the table. An index that is NaN is 0.
    fn load_constant(&mut self, index: Expr, base: u8, channel: u8, out: &mut Vec<Stmt>) -> Expr {
        /// Beyond all constants, in both directions.
        const FAR: f32 = 512.0;
        let mut named = |expr: Expr, ty: Type| {
            let var = self.fresh(ty);
            out.push(Stmt::Let(var, expr));
            var
        };
        let index = Expr::Var(named(index, Type::F32));
        let magnitude =
            Expr::op(Op::WordAnd, [Expr::op(Op::Bits, [index.clone()]), Expr::U32(!SIGN)]);
        let is_nan = Expr::op(Op::WordLt, [Expr::U32(0x7f80_0000), magnitude]);
        let index = Expr::Var(named(Expr::select(is_nan, Expr::float(0.0), index), Type::F32));
        let is_below = Expr::op(Op::Lt, [index.clone(), Expr::float(-FAR)]);
        let index = Expr::Var(named(Expr::select(is_below, Expr::float(-FAR), index), Type::F32));
        let is_beyond = Expr::op(Op::Lt, [Expr::float(FAR), index.clone()]);
        let index = Expr::Var(named(Expr::select(is_beyond, Expr::float(FAR), index), Type::F32));
        let number = Expr::op(Op::ToWordSigned, [index]);
        let number = Expr::op(Op::WordAdd, [number, Expr::U32(u32::from(base))]);
        let number = Expr::Var(named(number, Type::U32));
        let is_inside = Expr::op(Op::WordLt, [number.clone(), Expr::U32(256)]);
        let is_inside = Expr::Var(named(is_inside, Type::Bool));
        let number = named(Expr::select(is_inside.clone(), number, Expr::U32(0)), Type::U32);
        Expr::select(is_inside, Expr::Table(number, channel), Expr::float(0.0))
    }

    fn input(&self, input: u8, channel: u8) -> Expr {
        let Some([x, y]) = self.position.clone() else { return Expr::Input(input, channel) };
        let part = |part| Expr::Uniform(Member::Plane(input, part), channel);
        let along_x = Expr::op(Op::Mul, [part(PlanePart::AlongX), x]);
        let along_y = Expr::op(Op::Mul, [part(PlanePart::AlongY), y]);
        Expr::op(Op::Add, [Expr::op(Op::Add, [part(PlanePart::Corner), along_x]), along_y])
    }

    /// Returns a * b with the flags of a product. In a fast shader, the zero of a finite constant's product may have either sign.
    fn product(&mut self, flags: MulFlags, a: Expr, b: Expr) -> Expr {
        let exact = self.is_exact();
        let is_finite =
            |x: &Expr| matches!(x, Expr::F32(bits) if f32::from_bits(*bits).is_finite());
        let zero = |x: &Expr| Expr::op(Op::Eq, [x.clone(), Expr::float(0.0)]);
        let matters = |other: &Expr| exact || !is_finite(other);
        let rules = [flags.zero_a && matters(&b), flags.zero_b && matters(&a)];
        let is_zero = match rules {
            [false, false] => None,
            [true, true] => {
                let a = if flags.negate { on_sign(a) } else { a };
                return self.call(Helper::Product, vec![a, b]);
            }
            [true, false] => Some(zero(&a)),
            [false, true] => Some(zero(&b)),
        };
        let a = if flags.negate { on_sign(a) } else { a };
        let one = Expr::float(1.0);
        let product = match (a, b) {
            (x, factor) | (factor, x) if !exact && factor == one => x,
            (a, b) => Expr::op(Op::Mul, [a, b]),
        };
        match is_zero {
            None => product,
            Some(is_zero) => Expr::select(is_zero, Expr::float(0.0), product),
        }
    }

    /// Returns a + b or a - b; in a fast shader without a constant zero.
    fn sum(&self, op: Op, a: Expr, b: Expr) -> Expr {
        let is_zero = |x: &Expr| matches!(x, Expr::F32(0 | SIGN));
        match op {
            _ if self.is_exact() => Expr::op(op, [a, b]),
            _ if is_zero(&b) => a,
            Op::Add if is_zero(&a) => b,
            Op::Sub if is_zero(&a) => on_sign(b),
            _ => Expr::op(op, [a, b]),
        }
    }

    fn call(&mut self, helper: Helper, operands: Vec<Expr>) -> Expr {
        self.helper(helper);
        Expr::Call(helper, operands)
    }

    /// Adds a function to the shader.
    fn helper(&mut self, helper: Helper) {
        if !self.helpers.contains(&helper) {
            self.helpers.push(helper);
        }
    }

    fn branch(&mut self, branch: &If, out: &mut Vec<Stmt>) -> Result<(), EmitError> {
        let If { masks, arms, phis } = branch;
        let conditions = masks.map(|mask| self.mask(mask));
        let mut merged = Vec::new();
        for phi in phis {
            let ty = self.function.values[phi.value].ty;
            let start = match phi.incoming {
                Some(operand) => self.typed(operand, ty),
                None if ty == IrType::F32 => Expr::F32(0),
                None => Expr::Bool(false),
            };
            merged.push((self.variable(phi.value), start));
        }
        let vars: Vec<Var> = merged.iter().map(|(var, _)| *var).collect();
        out.extend(merged.into_iter().map(|(var, start)| Stmt::Mut(var, start)));
        // An arm may be the whole of a condition: the second condition must not depend on what the first arm changes.
        let [first, mut second] = conditions;
        if !arms[1].is_empty() && !matches!(second, Expr::Var(_) | Expr::Bool(_)) {
            let var = self.fresh(Type::Bool);
            out.push(Stmt::Let(var, second));
            second = Expr::Var(var);
        }
        let mut bodies = [Vec::new(), Vec::new()];
        for (n, arm) in arms.iter().enumerate() {
            bodies[n] = self.region(|lower| -> Result<Vec<Stmt>, EmitError> {
                let mut body = Vec::new();
                lower.statements(arm, &mut body)?;
                for (phi, var) in phis.iter().zip(&vars) {
                    if let Some(operand) = phi.arms[n] {
                        let ty = lower.function.values[phi.value].ty;
                        let value = lower.typed(operand, ty);
                        body.push(Stmt::Set(*var, value));
                    }
                }
                Ok(body)
            })?;
        }
        self.address = None;
        let [yes, no] = bodies;
        match (yes.is_empty(), no.is_empty()) {
            (true, true) => {}
            (false, true) => out.push(Stmt::If(first, yes, Vec::new())),
            (true, false) => out.push(Stmt::If(second, no, Vec::new())),
            // The masks are disjoint, but not always all lanes.
            (false, false) => {
                let otherwise = vec![Stmt::If(second, no, Vec::new())];
                out.push(Stmt::If(first, yes, otherwise));
            }
        }
        Ok(())
    }

    fn repeat(&mut self, repeat: &Loop, out: &mut Vec<Stmt>) -> Result<(), EmitError> {
        let Loop { max_trips, params, body, continue_mask } = repeat;
        let starts: Vec<Expr> = params
            .iter()
            .map(|param| self.typed(param.init, self.function.values[param.value].ty))
            .collect();
        let vars: Vec<Var> = params.iter().map(|param| self.variable(param.value)).collect();
        out.extend(vars.iter().zip(starts).map(|(var, start)| Stmt::Mut(*var, start)));
        let counter = self.fresh(Type::U32);
        self.address = None;
        let statements = self.region(|lower| -> Result<Vec<Stmt>, EmitError> {
            let mut statements = Vec::new();
            lower.statements(body, &mut statements)?;
            let nexts: Vec<Expr> = params
                .iter()
                .map(|param| lower.typed(param.next, lower.function.values[param.value].ty))
                .collect();
            let more = continue_mask.map(|mask| lower.mask(mask));
            // All are computed before any parameter changes.
            let mut settled = |lower: &mut Self, expr: Expr, own: Option<Var>, ty: Type| {
                let mut reads = false;
                expr.each(&mut |part| {
                    reads |=
                        matches!(part, Expr::Var(var) if vars.contains(var) && Some(*var) != own);
                });
                if !reads {
                    return expr;
                }
                let var = lower.fresh(ty);
                statements.push(Stmt::Let(var, expr));
                Expr::Var(var)
            };
            let mut sets = Vec::new();
            let more = more.map(|more| settled(lower, more, None, Type::Bool));
            for (var, next) in vars.iter().zip(nexts) {
                let ty = lower.types[var.0 as usize];
                let next = settled(lower, next, Some(*var), ty);
                if next != Expr::Var(*var) {
                    sets.push(Stmt::Set(*var, next));
                }
            }
            statements.extend(sets);
            statements.extend(more.filter(|more| *more != Expr::Bool(true)).map(Stmt::BreakUnless));
            Ok(statements)
        })?;
        self.address = None;
        out.push(Stmt::Loop(counter, *max_trips, statements));
        Ok(())
    }
}

fn is_input(stmt: &IrStmt) -> bool {
    matches!(stmt, IrStmt::Def(_, inst) if matches!(inst.opcode, Opcode::Input { .. }))
}

fn is_rounded(expr: &Expr) -> bool {
    let mut rounded = false;
    expr.each(&mut |part| {
        rounded |= match part {
            Expr::Op(op, _) => op.is_rounded(),
            Expr::Call(..) => true,
            _ => false,
        };
    });
    rounded
}

const SIGN: u32 = 0x8000_0000;

/// Returns x with an operation on its bits.
fn on_bits(op: Op, x: Expr, bits: u32) -> Expr {
    let word = Expr::op(Op::Bits, [x]);
    Expr::op(Op::FromBits, [Expr::op(op, [word, Expr::U32(bits)])])
}

/// Returns a / b. WGSL refuses constant expressions without a finite value, so constants are divided here.
fn quotient(a: Expr, b: Expr) -> Expr {
    match (a, b) {
        (Expr::F32(a), Expr::F32(b)) => {
            Expr::float(Arith::REFERENCE.div(f32::from_bits(a), f32::from_bits(b)))
        }
        (a, b) => Expr::op(Op::Div, [a, b]),
    }
}

/// Returns -x as a factor, where the bits of a denormal or NaN have no effect.
fn on_sign(x: Expr) -> Expr {
    match x {
        Expr::F32(bits) => Expr::F32(bits ^ SIGN),
        x => Expr::op(Op::Neg, [x]),
    }
}

/// Returns x turns in radians, reduced to one turn before, because hosts are inexact for large angles.
fn radians(turns: Expr) -> Expr {
    let is_reduced = matches!(&turns, Expr::Op(Op::Fract, _));
    let reduced = if is_reduced { turns } else { Expr::op(Op::Fract, [turns]) };
    Expr::op(Op::Mul, [reduced, Expr::float(std::f32::consts::TAU)])
}

/// Where values are used.
struct Uses {
    /// For each value that is used: the region of its only use, if it has only one. The function's region is 0; others are numbered in the
    /// order of their beginnings.
    only: BTreeMap<Value, Option<u32>>,
    exact: bool,
}

impl Uses {
    fn is_used(&self, value: Value) -> bool {
        self.only.contains_key(&value)
    }

    fn of(function: &Ir, exact: bool) -> Self {
        let mut uses = Self { only: BTreeMap::new(), exact };
        let mut regions = 0;
        uses.statements(&function.body, 0, &mut regions);
        function.outputs().for_each(|operand| uses.count(operand, 0));
        uses
    }

    fn count(&mut self, operand: Operand, region: u32) {
        if let Operand::Value(value) = operand {
            self.only.entry(value).and_modify(|only| *only = None).or_insert(Some(region));
        }
    }

    fn statements(&mut self, body: &[IrStmt], region: u32, regions: &mut u32) {
        for stmt in body {
            match stmt {
                IrStmt::If(branch) => {
                    branch.masks.iter().for_each(|mask| self.count(*mask, region));
                    branch
                        .phis
                        .iter()
                        .filter_map(|phi| phi.incoming)
                        .for_each(|operand| self.count(operand, region));
                    for (n, arm) in branch.arms.iter().enumerate() {
                        *regions += 1;
                        let inner = *regions;
                        self.statements(arm, inner, regions);
                        branch
                            .phis
                            .iter()
                            .filter_map(|phi| phi.arms[n])
                            .for_each(|operand| self.count(operand, inner));
                    }
                }
                IrStmt::Loop(repeat) => {
                    repeat.params.iter().for_each(|param| self.count(param.init, region));
                    *regions += 1;
                    let inner = *regions;
                    self.statements(&repeat.body, inner, regions);
                    repeat.params.iter().for_each(|param| self.count(param.next, inner));
                    repeat.continue_mask.into_iter().for_each(|mask| self.count(mask, inner));
                }
                // These have no effect in a shader.
                IrStmt::Stat { .. } | IrStmt::GroupHazard(_) => {}
                // Several uses in an expression duplicate it, so they count as such: minimum, maximum and others name operands twice.
                IrStmt::Def(_, inst) => {
                    for operand in inst.args() {
                        self.count(*operand, region);
                        if repeats(inst, self.exact) {
                            self.count(*operand, region);
                        }
                    }
                }
                stmt => stmt.operands(&mut |operand| self.count(operand, region)),
            }
        }
    }
}

/// Returns whether an operation may name an operand twice.
fn repeats(inst: &Inst, exact: bool) -> bool {
    match inst.opcode {
        Opcode::Min(_) | Opcode::Max(_) | Opcode::Clamp01 | Opcode::Frc => exact,
        Opcode::Mul(flags) | Opcode::Mad(flags, _) => flags.zero_a != flags.zero_b,
        _ => false,
    }
}
