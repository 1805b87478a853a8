//! What amplifies the last bits of a host's functions: found in the IR by following the numbers that may be inexact.

use std::collections::{BTreeMap, BTreeSet};

use r500_ir::{Function, Opcode, Operand, Stmt, Value};

use crate::Arithmetic;
use crate::interface::{Amplifier, AmplifierReason};
use crate::textures::{Textures, is_implicit};

/// Returns the amplifiers of a function, by address. Interpolated inputs are inexact.
pub(crate) fn amplifiers(
    function: &Function,
    arithmetic: Arithmetic,
    textures: &Textures<'_>,
    has_interpolated_inputs: bool,
) -> Vec<Amplifier> {
    let mut search = Search {
        function,
        textures,
        has_interpolated_inputs,
        exact: arithmetic == Arithmetic::Exact,
        inexact: BTreeSet::new(),
        compared: BTreeMap::new(),
        found: BTreeSet::new(),
    };
    // A loop parameter may become inexact in the body: until nothing changes.
    loop {
        let before = search.inexact.len();
        search.statements(&function.body, 0);
        if search.inexact.len() == before {
            break;
        }
    }
    search.found.into_iter().collect()
}

struct Search<'a> {
    function: &'a Function,
    textures: &'a Textures<'a>,
    has_interpolated_inputs: bool,
    exact: bool,
    inexact: BTreeSet<Value>,
    /// Masks that depend on comparisons of inexact numbers, and the address of one.
    compared: BTreeMap<Value, u32>,
    found: BTreeSet<Amplifier>,
}

impl Search<'_> {
    fn is_inexact(&self, operand: Operand) -> bool {
        operand.value().is_some_and(|value| self.inexact.contains(&value))
    }

    fn comparison(&self, operand: Operand) -> Option<u32> {
        operand.value().and_then(|value| self.compared.get(&value).copied())
    }

    fn add(&mut self, address: u32, reason: AmplifierReason) {
        self.found.insert(Amplifier { address, reason });
    }

    fn statements(&mut self, body: &[Stmt], depth: u32) {
        for stmt in body {
            match stmt {
                Stmt::Def(value, inst) => {
                    let address = self.function.values[*value].source_loc;
                    let any = inst.args().iter().any(|arg| self.is_inexact(*arg));
                    let mask = inst.args().iter().find_map(|arg| self.comparison(*arg));
                    match inst.opcode {
                        Opcode::QuadBroadcast(_) if depth > 0 => {
                            self.add(address, AmplifierReason::QuadInBranch)
                        }
                        Opcode::LoadConstant { .. } if any && !self.exact => {
                            self.add(address, AmplifierReason::ConstantIndex)
                        }
                        Opcode::Frc if any && !self.exact => {
                            self.add(address, AmplifierReason::Fraction)
                        }
                        Opcode::Lt | Opcode::Ge | Opcode::Eq | Opcode::Ne if any && !self.exact => {
                            self.add(address, AmplifierReason::Comparison);
                            self.compared.insert(*value, address);
                        }
                        _ => {}
                    }
                    if let Some(address) = mask {
                        self.compared.entry(*value).or_insert(address);
                    }
                    let inexact = match inst.opcode {
                        Opcode::Rsq
                        | Opcode::Ex2
                        | Opcode::Ln2
                        | Opcode::Sin
                        | Opcode::Cos
                        | Opcode::Rcp => true,
                        // A host interpolates its own way, and may fuse a product with a sum.
                        Opcode::Input { .. } => self.has_interpolated_inputs,
                        Opcode::Mad(..) => true,
                        _ => any,
                    };
                    if inexact && !self.exact {
                        self.inexact.insert(*value);
                    }
                }
                Stmt::Fetch(fetch) => {
                    let coordinates = fetch.strq.iter().chain(&fetch.dx).chain(&fetch.dy);
                    let inexact = coordinates.copied().any(|operand| self.is_inexact(operand));
                    if inexact && self.textures.may_be_nearest(fetch.unit) {
                        self.add(fetch.address, AmplifierReason::NearestFetch);
                    }
                    let in_quad =
                        is_implicit(fetch.op) && self.textures.may_depend_on_lod(fetch.unit);
                    if in_quad && depth > 0 && self.exact {
                        self.add(fetch.address, AmplifierReason::QuadInBranch);
                    }
                    self.inexact.extend(fetch.texel.into_iter().flatten().filter(|_| !self.exact));
                }
                Stmt::If(branch) => {
                    branch.arms.iter().for_each(|arm| self.statements(arm, depth + 1));
                    for phi in &branch.phis {
                        let operands =
                            || phi.incoming.into_iter().chain(phi.arms.into_iter().flatten());
                        if operands().any(|operand| self.is_inexact(operand)) {
                            self.inexact.insert(phi.value);
                        }
                        if let Some(address) =
                            operands().find_map(|operand| self.comparison(operand))
                        {
                            self.compared.entry(phi.value).or_insert(address);
                        }
                    }
                }
                Stmt::Loop(repeat) => {
                    // A counted loop has all its lanes in every iteration.
                    let inner = depth + u32::from(repeat.continue_mask.is_some());
                    self.statements(&repeat.body, inner);
                    for param in &repeat.params {
                        if [param.init, param.next]
                            .into_iter()
                            .any(|operand| self.is_inexact(operand))
                        {
                            self.inexact.insert(param.value);
                        }
                    }
                    if let Some(address) =
                        repeat.continue_mask.and_then(|mask| self.comparison(mask))
                    {
                        self.add(address, AmplifierReason::LoopEnd);
                    }
                }
                Stmt::Discard(_)
                | Stmt::Stat { .. }
                | Stmt::GroupHazard(_)
                | Stmt::ConsumeFuel { .. } => {}
            }
        }
    }
}
