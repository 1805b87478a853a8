//! If-conversion: short branches become predicated instructions.
//!
//! `alu[ge].r = x; IF alu; y; ELSE; z; ENDIF` becomes `pred[ge].r = x; y, predicated; z, by the inverse`. A pixel executes the
//! same instructions, those of its own arm, on the same values: predicates gate what an instruction writes, as the branch
//! does. Precondition: the arms are straight arithmetic to temporaries, neither reads nor writes predicates or the ALU
//! result, no jump leads into the branch, and the predicate bit is not live.

use r500_check::dataflow::ChannelId;
use r500_check::graph::Role;
use r500_isa::values::{AluResultSel, Compare, InstType, PredSel, RgbMask, Target};
use r500_isa::words::{AluAlphaInst, AluRgbInst, CmnInst};
use r500_program::Program;

use crate::flow::{Analyses, shows_followers};
use crate::layout::Code;

/// The greatest number of instructions in both arms. Longer arms cost more than their branch.
const MOST_INSTRUCTIONS: usize = 8;
/// How many instructions before the IF the search for its condition covers.
const MOST_BETWEEN: usize = 8;
/// `JUMP_FUNC` of an IF whose arm runs where the ALU result is true: pixels with a false one jump. The inverse value is
/// that of an IF with the inverse condition.
const IF_ALU: u8 = 0x0f;

/// A branch that can be predicated.
pub(crate) struct ShortBranch {
    /// The instruction that computes the condition.
    condition: usize,
    /// Whether its ALU result is read after the branch.
    keeps_result: bool,
    branch: usize,
    /// The ELSE, or the ENDIF of an IF without ELSE.
    middle: usize,
    endif: usize,
    /// Whether pixels with the condition take the first arm.
    positive: bool,
}

/// Finds the branches of a program that can be predicated.
pub(crate) fn short_branches(
    program: &Program,
    analyses: &Analyses,
    code: &Code,
) -> Vec<ShortBranch> {
    if shows_followers(program, &analyses.graph) {
        return Vec::new();
    }
    (0..program.code.len()).filter_map(|at| ShortBranch::at(program, analyses, code, at)).collect()
}

impl ShortBranch {
    fn at(program: &Program, analyses: &Analyses, code: &Code, branch: usize) -> Option<Self> {
        let Some(Role::If { other }) = analyses.role(branch) else { return None };
        let positive = match program.code[branch].fc_inst().jump_func() {
            IF_ALU => true,
            func if func == !IF_ALU => false,
            _ => return None,
        };
        let is_arm = |at: &usize| is_predicable(program, analyses, *at);
        let middle = (branch + 1..program.code.len()).find(|at| !is_arm(at))?;
        let endif = match analyses.role(middle)? {
            Role::EndIf if other == middle => middle,
            Role::Else { after } if other == middle + 1 => {
                let endif = (middle + 1..program.code.len()).find(|at| !is_arm(at))?;
                (analyses.role(endif) == Some(Role::EndIf) && after == endif).then_some(endif)?
            }
            _ => return None,
        };
        let end = analyses.graph.window().end;
        let own = branch..=endif;
        let short = endif - branch <= MOST_INSTRUCTIONS + 2;
        let closes = program.code[endif].fc_inst().b_pop_cnt() == 1;
        let foreign = code.lines.iter().enumerate().any(|(from, line)| {
            !own.contains(&from) && line.target.is_some_and(|to| own.contains(&(to as usize)))
        });
        if !short || !closes || foreign || own.clone().any(|at| Some(at) == end) {
            return None;
        }
        let condition = condition(program, analyses, code, branch)?;
        let after = analyses.live.live_in(endif + 1);
        let bit = bit_of(program, condition);
        if analyses.live.live_out(endif).contains(ChannelId::Predicate(bit)) {
            return None;
        }
        let keeps_result = after.contains(ChannelId::AluResult);
        Some(Self { condition, keeps_result, branch, middle, endif, positive })
    }

    /// Rewrites the branch as predicated instructions.
    pub(crate) fn predicate(&self, code: &mut Code) {
        let line = &mut code.lines[self.condition];
        let cmn = line.inst.cmn();
        let compare = Target::new(cmn.alu_result_op().code());
        let sel = if cmn.alu_result_sel() == AluResultSel::ALPHA {
            line.inst.0[0] = cmn.with(CmnInst::ALPHA_OMASK, true).bits();
            line.inst.0[4] = line.inst.alpha_inst().with(AluAlphaInst::TARGET, compare).bits();
            PredSel::AAAA
        } else {
            line.inst.0[0] = cmn.with(CmnInst::RGB_OMASK, RgbMask::new(1)).bits();
            line.inst.0[3] = line.inst.rgb_inst().with(AluRgbInst::TARGET, compare).bits();
            PredSel::RRRR
        };
        if !self.keeps_result {
            line.inst.0[3] = line.inst.rgb_inst().with(AluRgbInst::ALU_WMASK, false).bits();
            let cmn = line.inst.cmn().with(CmnInst::ALU_RESULT_SEL, AluResultSel::RED);
            line.inst.0[0] = cmn.with(CmnInst::ALU_RESULT_OP, Compare::EQ).bits();
        }
        let markers = [self.branch, self.middle, self.endif];
        for at in (self.branch..=self.endif).filter(|at| !markers.contains(at)) {
            let inverse = (at < self.middle) != self.positive;
            let inst = &mut code.lines[at].inst;
            let channels = inst.result_channels();
            let mut cmn = inst.cmn();
            if channels & 7 != 0 {
                cmn = cmn.with(CmnInst::RGB_PRED_SEL, sel).with(CmnInst::RGB_PRED_INV, inverse);
            }
            if channels & 8 != 0 {
                cmn = cmn.with(CmnInst::ALPHA_PRED_SEL, sel).with(CmnInst::ALPHA_PRED_INV, inverse);
            }
            inst.0[0] = cmn.bits();
        }
        let origins: Vec<u32> =
            markers[..].iter().flat_map(|&at| code.lines[at].origins.clone()).collect();
        code.lines[self.condition].origins.extend(origins);
        code.lines[self.condition].origins.sort_unstable();
        code.lines[self.condition].origins.dedup();
        code.retain(|at| !markers.contains(&at));
    }
}

/// Returns whether an instruction may be predicated in place of the branch around it.
fn is_predicable(program: &Program, analyses: &Analyses, at: usize) -> bool {
    let info = analyses.graph.info(at);
    let inst = program.code[at];
    inst.ty() == InstType::ALU
        && analyses.role(at) == Some(Role::Straight)
        && !inst.cmn().last()
        && inst.cmn().stat_we() == 0
        && !info.alu_result_write
        && !info.write_inactive
        && !info.reads_quad
        && info.predicate_writes == 0
        && info.predicate_reads == 0
}

/// Finds the instruction that computes the ALU result of an IF, in the straight code before it.
fn condition(program: &Program, analyses: &Analyses, code: &Code, branch: usize) -> Option<usize> {
    for at in (branch.saturating_sub(MOST_BETWEEN)..branch).rev() {
        // A jump to the instruction after the condition would skip the predicate write.
        let entered = code.lines.iter().any(|line| line.target == u32::try_from(at + 1).ok());
        if entered || analyses.role(at) != Some(Role::Straight) {
            return None;
        }
        let info = analyses.graph.info(at);
        if info.predicate_writes != 0 || info.predicate_reads != 0 || info.write_inactive {
            return None;
        }
        if info.alu_result_write {
            let inst = program.code[at];
            let is_computed = inst.result_channels() >> bit_of(program, at) & 1 != 0;
            // Predicates do not gate the ALU result, but they would gate the predicate that replaces it.
            let cmn = inst.cmn();
            let ungated = [cmn.rgb_pred_sel(), cmn.alpha_pred_sel()] == [PredSel::NONE; 2];
            return (inst.ty() == InstType::ALU && is_computed && ungated).then_some(at);
        }
    }
    None
}

/// Returns the predicate bit that replaces the ALU result: that of the channel.
fn bit_of(program: &Program, condition: usize) -> u8 {
    if program.code[condition].cmn().alu_result_sel() == AluResultSel::ALPHA { 3 } else { 0 }
}
