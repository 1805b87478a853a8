//! Which operations and samplers each reading affects, and which engines implement its values.
//!
//! An engine draws a program with any readings if none of them affects it, or if the engine implements those that do.
//! The reference engine implements all. A reading has one row in [`table`]; one without a row does not compile.

use r500_isa::values::{AddrOp, AlphaOp, FcOp, Omod, PredSel, RgbOp, Sel, TexOp};
use r500_isa::{JumpInput, Slot, Value};

use crate::shader::{Alu, Fc, Op, Tex};
use crate::texture::TexReadings;
use crate::{BindingKinds, Readings, Shader};

/// A reading that differs from the project's choice, and the first instruction of a program that it can affect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AffectedInstruction {
    /// The name of the reading.
    pub reading: &'static str,
    /// Its value.
    pub value: &'static str,
    /// The operation.
    pub operation: &'static str,
    /// Absolute address of the instruction.
    pub address: u32,
    /// Whether every engine implements the reading; else only the reference engine.
    pub in_every_engine: bool,
}

/// How a program may behave, as far as the effect of readings depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControlFlow {
    /// Each pixel has the results of running its own path alone, except for values that it reads from its quad.
    Structured,
    /// Not known.
    Any,
}

/// The engines that implement the values of a reading.
#[derive(Clone, Copy)]
enum Engines {
    All,
    Reference,
}

/// What a reading can affect.
enum Scope {
    /// Instructions: returns the operation that the reading affects.
    Instructions(fn(&Scan<'_>, usize, &Op) -> Option<&'static str>),
    /// Fetches: copies the reading of the texture unit, for instructions that it may affect. The sampler says whether it does.
    Fetches(fn(TexOp, &mut TexReadings, &TexReadings)),
    /// Cases that the checker reports as an error: no instruction of a program without errors.
    Errors,
}

struct Row {
    name: &'static str,
    differs: bool,
    engines: Engines,
    scope: Scope,
}

/// Makes the rows, one for each field of [`Readings`].
macro_rules! rows {
    ($readings:ident { $( $name:literal $field:ident $engines:ident $scope:expr; )* }) => {{
        // Without `..`: a reading without a row does not compile.
        let Readings { $( $field ),* } = *$readings;
        [ $( Row {
            name: $name,
            differs: $field != Readings::REFERENCE.$field,
            engines: Engines::$engines,
            scope: $scope,
        } ),* ]
    }};
}

/// The table.
#[rustfmt::skip]
fn table(readings: &Readings) -> impl IntoIterator<Item = Row> {
    use Scope::{Errors, Fetches, Instructions};
    rows!(readings {
        // Flow control.
        "break" break_rule Reference Instructions(|_, _, op| leaves_iteration(fc(op)?));
        "idle-loop" idle_loop Reference Instructions(|_, _, op| {
            fc(op).filter(|fc| begins_loop(fc) && !fc.inst.jump_any()).map(name_of_fc)
        });
        "alu-result-after-fc" alu_result_after_fc Reference Instructions(|scan, at, op| {
            let reads = fc(op)?.inst.depends_on(JumpInput::AluResult);
            (reads && scan.alu_result_may_pass_flow_control(at)).then_some("the ALU result")
        });
        "fc-pred-none" fc_pred_none Reference Instructions(|_, _, op| {
            let named = |sel| matches!(sel, PredSel::RGBA | PredSel::RRRR | PredSel::GGGG | PredSel::BBBB | PredSel::AAAA);
            votes_by_predicate(fc(op)?, |sel| !named(sel))
        });
        "fc-pred-rgba" fc_pred_rgba Reference Instructions(|_, _, op| {
            votes_by_predicate(fc(op)?, |sel| sel == PredSel::RGBA)
        });
        "pred-reserved" pred_reserved All Instructions(|_, _, op| {
            let reserved = |sel: PredSel| (sel.code() > PredSel::AAAA.code()).then_some("a reserved PRED_SEL");
            match op {
                Op::Alu(alu) => reserved(alu.rgb.pred.sel).or(reserved(alu.alpha.pred.sel)),
                Op::Tex(tex) => reserved(tex.rgb_pred.sel).or(reserved(tex.alpha_pred.sel)),
                Op::Fc(_) => None,
            }
        });
        "a-op-3" a_op_3 Reference Errors;
        "b-op-3" b_op_3 Reference Errors;
        "stack-limits" stack_limits Reference Errors;
        "left-window" left_window Reference Errors;
        "outside-pixels" outside_pixels Reference Instructions(|scan, _, op| {
            fc(op).filter(|_| scan.has_outside_pixels() && scan.neighbours_matter()).map(name_of_fc)
        });
        "killed-pixels" killed_pixels Reference Instructions(|scan, _, op| {
            tex(op).filter(|tex| tex.op == TexOp::TEXKILL && scan.neighbours_matter()).map(|_| "TEXKILL")
        });

        // Registers and writes.
        "relative-range" relative_range Reference Errors;
        "al-outside" al_outside Reference Instructions(|scan, at, op| {
            (scan.has_loops() && is_relative(op) && !scan.is_in_loop(at)).then_some("a relative address")
        });
        "inline-relative" inline_relative Reference Instructions(|scan, _, op| {
            (scan.has_loops() && has_relative_inline(alu(op)?)).then_some("an inline constant with REL")
        });
        "past-pixsize" past_pixsize Reference Errors;
        "write-inactive-depth" write_inactive_depth Reference Instructions(|_, _, op| {
            alu(op).filter(|alu| alu.write_inactive && alu.depth).map(|_| "an inactive write of depth")
        });
        "write-inactive-kill" write_inactive_kill Reference Instructions(|_, _, op| {
            tex(op).filter(|tex| tex.write_inactive && tex.op == TexOp::TEXKILL).map(|_| "TEXKILL")
        });
        "alu-result-predicate" alu_result_predicate All Instructions(|_, _, op| {
            let predicated = |alu: &&Alu| [alu.rgb.pred.sel, alu.alpha.pred.sel] != [PredSel::NONE; 2];
            alu(op).filter(|alu| alu.alu_result.is_some()).filter(predicated).map(|_| "a predicated ALU result")
        });
        "kill-rgba" kill_rgba All Instructions(|_, _, op| {
            tex(op).filter(|tex| tex.op == TexOp::TEXKILL && tex.rgb_pred.sel == PredSel::RGBA).map(|_| "TEXKILL")
        });
        "uncovered-fetch" uncovered_fetch Reference Instructions(|scan, _, op| {
            let skips = |tex: &&Tex| tex.ignore_uncovered && fetches(tex) && scan.has_uncovered_pixels();
            tex(op).filter(skips).filter(|_| scan.neighbours_matter()).map(name_of_tex)
        });

        // Operations that the documents exclude.
        "reserved-op" reserved_op Reference Errors;
        "dp-alone" dp_alone Reference Errors;
        "dp4-derivative" dp4_derivative Reference Instructions(|_, _, op| {
            alu(op).filter(|alu| alu.rgb.op == RgbOp::DP4 && alu.alpha.op.is_derivative()).map(|_| "DP4")
        });
        "omod-7" omod_7 Reference Errors;

        // Numbers. The texture unit's part of these is that of every engine.
        "clamp-nan" clamp_nan All Instructions(|_, _, op| {
            let clamps = |clamp: bool, omod: Omod, wanted: u8| clamp && omod != Omod::DISABLED && wanted != 0;
            let alu = alu(op)?;
            let [rgb, alpha] = [(alu.rgb.clamp, alu.rgb.omod, alu.wanted & 7), (alu.alpha.clamp, alu.alpha.omod, alu.wanted & 8)];
            [rgb, alpha].iter().any(|&(clamp, omod, wanted)| clamps(clamp, omod, wanted)).then_some("a clamp")
        });
        "denormals" denormals Reference Instructions(|_, _, op| calculates(alu(op)?));
        "zero-sign" zero_sign Reference Instructions(|scan, _, op| {
            multiplies(alu(op)?).filter(|_| scan.shader.zero_rule())
        });
        "mad-rounding" mad_rounding Reference Instructions(|_, _, op| multiplies(alu(op)?));

        // Textures.
        "lod-bias" lod_bias All Fetches(|op, only, all| {
            if op == TexOp::LOD || op == TexOp::DXDY {
                only.lod_bias = all.lod_bias;
            }
        });
        "lod-fraction" lod_fraction All Fetches(|_, only, all| only.lod_fraction = all.lod_fraction);
        "magnification" magnification All Fetches(|_, only, all| only.magnification = all.magnification);
        "texel-weights" texel_weights All Fetches(|_, only, all| only.weights = all.weights);
        "cube-ties" cube_ties All Fetches(|_, only, all| only.cube_ties = all.cube_ties);
        "depth-stencil" depth_stencil All Fetches(|_, only, all| only.depth_stencil = all.depth_stencil);
        "wide-border" wide_border All Fetches(|_, only, all| only.wide_border = all.wide_border);
        "gamma-border" gamma_border All Fetches(|_, only, all| only.gamma_border = all.gamma_border);
        "anisotropic-filter" anisotropic_filter All Fetches(|op, only, all| {
            if op != TexOp::LOD {
                only.anisotropic_filter = all.anisotropic_filter;
            }
        });
    })
}

impl Readings {
    /// Returns the readings that can affect a program in which the checker finds no error, each with the first instruction that it
    /// affects. The others have no effect on any pixel or counter of a draw with bindings of these kinds, whatever their values.
    #[must_use]
    pub fn affecting(
        &self,
        shader: &Shader,
        kinds: &BindingKinds,
        flow: ControlFlow,
    ) -> Vec<AffectedInstruction> {
        if *self == Self::REFERENCE {
            return Vec::new();
        }
        let scan = Scan { shader, kinds, flow };
        let rows = table(self).into_iter().filter(|row| row.differs);
        rows.filter_map(|Row { name, engines, scope, .. }| {
            let mut ops = shader.ops().iter().enumerate();
            let (at, operation) = ops.find_map(|(at, op)| {
                let operation = match scope {
                    Scope::Instructions(affects) => affects(&scan, at, op),
                    Scope::Fetches(copy) => affects_fetch(kinds, op, copy),
                    Scope::Errors => None,
                };
                Some((at, operation?))
            })?;
            Some(AffectedInstruction {
                reading: name,
                value: self.get(name).unwrap_or_default(),
                operation,
                address: shader.offset() + at as u32,
                in_every_engine: matches!(engines, Engines::All),
            })
        })
        .collect()
    }
}

/// Returns the operation if a reading of the texture unit affects a fetch from the sampler of its unit.
fn affects_fetch(
    kinds: &BindingKinds,
    op: &Op,
    copy: fn(TexOp, &mut TexReadings, &TexReadings),
) -> Option<&'static str> {
    let tex = tex(op).filter(|tex| fetches(tex))?;
    let mut only = TexReadings::REFERENCE;
    copy(tex.op, &mut only, &kinds.sampler(tex.unit)?.readings);
    (only != TexReadings::REFERENCE).then(|| name_of_tex(tex))
}

/// A program with the kinds of its bindings.
struct Scan<'a> {
    shader: &'a Shader,
    kinds: &'a BindingKinds,
    flow: ControlFlow,
}

impl Scan<'_> {
    fn ops(&self) -> &[Op] {
        self.shader.ops()
    }

    /// Returns whether results may depend on the state of other pixels of the quad or of the group.
    fn neighbours_matter(&self) -> bool {
        let groups = self.flow == ControlFlow::Any && self.ops().iter().any(|op| fc(op).is_some());
        groups || self.ops().iter().any(|op| self.reads_quad(op))
    }

    fn reads_quad(&self, op: &Op) -> bool {
        match op {
            Op::Alu(alu) => alu.rgb.op.is_derivative() || alu.alpha.op.is_derivative(),
            Op::Tex(tex) => {
                let sampler = self.kinds.sampler(tex.unit);
                fetches(tex) && sampler.is_some_and(|sampler| sampler.depends_on_lod)
            }
            Op::Fc(_) => false,
        }
    }

    /// Returns whether groups of pixels may reach beyond the picture.
    fn has_outside_pixels(&self) -> bool {
        !self.kinds.groups.groups_inside
    }

    /// Returns whether some pixels of a group may not be covered, or be killed.
    fn has_uncovered_pixels(&self) -> bool {
        let kills = |op: &Op| tex(op).is_some_and(|tex| tex.op == TexOp::TEXKILL);
        !self.kinds.groups.cover_picture
            || self.has_outside_pixels()
            || self.ops().iter().any(kills)
    }

    fn has_loops(&self) -> bool {
        self.ops().iter().filter_map(fc).any(begins_loop)
    }

    /// Returns whether an instruction is known to run in a LOOP, which sets aL: between it and its target, in a program without calls.
    fn is_in_loop(&self, at: usize) -> bool {
        let mut flow =
            self.ops().iter().enumerate().filter_map(|(index, op)| Some((index, fc(op)?)));
        let calls = flow.clone().any(|(_, fc)| fc.inst.a_op() != AddrOp::NONE);
        self.flow == ControlFlow::Structured
            && !calls
            && flow.any(|(index, fc)| {
                let end = self.target(fc).saturating_sub(self.shader.offset());
                fc.inst.op() == FcOp::LOOP && index < at && at < end as usize
            })
    }

    /// Returns the absolute address that a flow-control instruction jumps to.
    fn target(&self, fc: &Fc) -> u32 {
        let base = if fc.addr.jump_global() { 0 } else { self.shader.offset() };
        u32::from(fc.addr.jump_addr()) + base
    }

    /// Returns whether the ALU result that the instruction at an index reads may be older than another flow-control instruction: it may
    /// not if each path to the instruction writes it after the last one.
    fn alu_result_may_pass_flow_control(&self, at: usize) -> bool {
        let shader = self.shader;
        let is_target = |index: usize| {
            let address = shader.offset() + index as u32;
            self.ops().iter().filter_map(fc).any(|fc| self.target(fc) == address)
        };
        for index in (0..=at).rev() {
            if index != at {
                match &self.ops()[index] {
                    Op::Fc(_) => return true,
                    Op::Alu(alu) if alu.alu_result.is_some() && is_unpredicated(alu) => {
                        return false;
                    }
                    _ => {}
                }
            }
            if is_target(index) {
                return true;
            }
        }
        // The program starts with the initial value, under either reading.
        false
    }
}

fn alu(op: &Op) -> Option<&Alu> {
    match op {
        Op::Alu(alu) => Some(alu),
        _ => None,
    }
}

fn tex(op: &Op) -> Option<&Tex> {
    match op {
        Op::Tex(tex) => Some(tex),
        _ => None,
    }
}

fn fc(op: &Op) -> Option<&Fc> {
    match op {
        Op::Fc(fc) => Some(fc),
        _ => None,
    }
}

fn fetches(tex: &Tex) -> bool {
    matches!(tex.op, TexOp::LD | TexOp::PROJ | TexOp::LODBIAS | TexOp::LOD | TexOp::DXDY)
}

fn begins_loop(fc: &Fc) -> bool {
    matches!(fc.inst.op(), FcOp::LOOP | FcOp::REP)
}

fn leaves_iteration(fc: &Fc) -> Option<&'static str> {
    let op = fc.inst.op();
    matches!(op, FcOp::BREAKLOOP | FcOp::BREAKREP | FcOp::CONTINUE).then(|| name_of_fc(fc))
}

/// Returns the operation if its vote depends on a predicate of a selection.
fn votes_by_predicate(fc: &Fc, selected: impl Fn(PredSel) -> bool) -> Option<&'static str> {
    (selected(fc.pred().sel) && fc.inst.depends_on(JumpInput::Predicate)).then(|| name_of_fc(fc))
}

fn name_of_fc(fc: &Fc) -> &'static str {
    fc.inst.op().describe().map_or("flow control", name_of)
}

/// Returns the name of an operation in the language: documented names of ALU operations begin with `OP_`.
fn name_of(value: &'static Value) -> &'static str {
    value.name.strip_prefix("OP_").unwrap_or(value.name)
}

fn name_of_tex(tex: &Tex) -> &'static str {
    tex.op.describe().map_or("a fetch", name_of)
}

fn is_unpredicated(alu: &Alu) -> bool {
    [alu.rgb.pred.sel, alu.alpha.pred.sel] == [PredSel::NONE; 2]
}

/// Returns whether an instruction adds aL to the address of a register.
fn is_relative(op: &Op) -> bool {
    match op {
        Op::Alu(alu) => {
            let halves = alu.rgb.sources.iter().chain(&alu.alpha.sources);
            halves.into_iter().any(|source| source.relative)
                || alu.rgb.dest.relative
                || alu.alpha.dest.relative
        }
        Op::Tex(tex) => {
            [tex.coord, tex.dx, tex.dy].iter().any(|register| register.relative)
                || tex.dest.relative
        }
        Op::Fc(_) => false,
    }
}

fn has_relative_inline(alu: &Alu) -> bool {
    let mut sources = alu.rgb.sources.iter().chain(&alu.alpha.sources);
    sources.any(|source| source.relative && !source.constant && source.inline().is_some())
}

/// Returns a product of an instruction that is rounded and follows the zero rule.
fn multiplies(alu: &Alu) -> Option<&'static str> {
    let rgb = matches!(
        alu.rgb.op,
        RgbOp::MAD | RgbOp::MDH | RgbOp::MDV | RgbOp::DP3 | RgbOp::DP4 | RgbOp::D2A
    );
    let alpha = matches!(alu.alpha.op, AlphaOp::MAD | AlphaOp::MDH | AlphaOp::MDV);
    let used = alu.rgb.op == RgbOp::SOP || alu.wanted & 0b1000 != 0;
    if rgb && (alu.wanted & 0b0111 != 0 || alu.alpha.op == AlphaOp::DP) {
        return alu.rgb.op.describe().map(name_of);
    }
    (alpha && used).then(|| alu.alpha.op.describe().map_or("a product", name_of))
}

/// Returns an operation of an instruction whose operands or result may be denormal. Comparisons and the transcendental kernels treat
/// denormals as zeros under every reading.
fn calculates(alu: &Alu) -> Option<&'static str> {
    if alu.wanted == 0 && alu.alu_result.is_none() {
        return None;
    }
    let rgb = (alu.rgb.op == RgbOp::FRC).then_some("FRC");
    let alpha = matches!(alu.alpha.op, AlphaOp::FRC | AlphaOp::RCP | AlphaOp::RSQ)
        .then(|| alu.alpha.op.describe().map_or("a function", name_of));
    multiplies(alu).or(rgb).or(alpha).or(presubtracts(alu).then_some("SRCP_OP"))
}

/// Returns whether an operand of an instruction is presubtracted.
fn presubtracts(alu: &Alu) -> bool {
    let slots = Slot::ALL.into_iter().enumerate();
    let mut slots = slots.filter(|&(n, slot)| {
        let [rgb, alpha] = [alu.rgb.operands[n].sel, alu.alpha.operands[n].sel];
        // The alpha half's operands are factors of DP4.
        let factor = alu.rgb.op == RgbOp::DP4;
        rgb == Sel::SRCP && alu.rgb.op.uses(slot)
            || alpha == Sel::SRCP && (alu.alpha.op.uses(slot) || factor)
    });
    slots.next().is_some()
}
