//! Printing of trees as readable text, for failure messages.

use std::fmt::{self, Display, Formatter, Write};

use r500_isa::values::{
    AluResultSel, Channel, Compare, Mod, Omod, PredSel, Sel, SrcpOp, Swiz, TexOp,
};
use r500_isa::{Operand, Source};

use super::{
    Alu, Call, Cond, Dest, Endif, Half, Hints, If, IfShape, Leave, Loop, LoopKind, Pred, Return,
    Stmt, Tex, TexReg, Tree, Trim,
};

impl Display for Tree {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "state: zero rule {}, temporaries to t{}, {} flow control, code at {}, subroutines {:?}",
            if self.zero_rule { "on" } else { "off" },
            self.pixsize,
            if self.full_fc { "full" } else { "partial" },
            self.offset,
            self.layout,
        )?;
        self.constants_used(f)?;
        writeln!(f, "main:")?;
        list(f, self, &self.main, 1)?;
        for (n, sub) in self.subs.iter().enumerate() {
            writeln!(f, "sub{n}{}:", if sub.counted { " (counted)" } else { "" })?;
            list(f, self, &sub.body, 1)?;
        }
        Ok(())
    }
}

impl Tree {
    /// Prints a line for each constant that an instruction uses.
    fn constants_used(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut used = vec![false; self.constants.len()];
        let mut relative = false;
        let mut note = |source: Source| {
            relative |= source.constant && source.relative;
            if let Some(used) = used.get_mut(usize::from(source.addr)) {
                *used |= source.constant;
            }
        };
        self.each(&mut |stmt| {
            if let Stmt::Alu(alu) = stmt {
                alu.rgb.sources.into_iter().chain(alu.alpha.sources).for_each(&mut note);
            }
        });
        for (n, constant) in self.constants.iter().enumerate() {
            if relative || used[n] {
                writeln!(f, "c{n} = {:?}", constant.map(f32::from_bits))?;
            }
        }
        Ok(())
    }
}

fn list(f: &mut Formatter<'_>, tree: &Tree, list: &[Stmt], depth: usize) -> fmt::Result {
    list.iter().try_for_each(|stmt| statement(f, tree, stmt, depth))
}

fn statement(f: &mut Formatter<'_>, tree: &Tree, stmt: &Stmt, depth: usize) -> fmt::Result {
    write!(f, "{:1$}", "", depth * 2)?;
    match stmt {
        Stmt::Alu(node) => writeln!(f, "{node}"),
        Stmt::Tex(node) => writeln!(f, "{node}"),
        Stmt::If(node) => branch(f, tree, node, depth),
        Stmt::Loop(node) => repeat(f, tree, node, depth),
        Stmt::Break(Leave { when, any, trim }) => {
            writeln!(f, "break{}{}{trim}", When(*when, tree), any_mark(*any))
        }
        Stmt::Continue(Leave { when, any, trim }) => {
            writeln!(f, "continue{}{}{trim}", When(*when, tree), any_mark(*any))
        }
        Stmt::Call(Call { sub, when, any, trim }) => {
            writeln!(f, "call sub{sub}{}{}{trim}", When(*when, tree), any_mark(*any))
        }
        Stmt::Return(Return { when, trim }) => writeln!(f, "return{}{trim}", When(*when, tree)),
    }
}

fn branch(f: &mut Formatter<'_>, tree: &Tree, node: &If, depth: usize) -> fmt::Result {
    let [if_trim, else_trim, endif_trim] = node.form.trims;
    write!(f, "if {} {{", Holds(node.cond, tree))?;
    if node.form.shape != IfShape::Usual {
        write!(f, " ({:?})", node.form.shape)?;
    }
    writeln!(f, "{if_trim}")?;
    list(f, tree, &node.then, depth + 1)?;
    if let Some(otherwise) = &node.otherwise {
        let mark = any_mark(node.form.else_any);
        writeln!(f, "{:1$}}} else {{{mark}{else_trim}", "", depth * 2)?;
        list(f, tree, otherwise, depth + 1)?;
    }
    let endif = match node.form.endif {
        Endif::Never => String::new(),
        other => format!(" ({other:?})"),
    };
    writeln!(f, "{:1$}}}{endif}{endif_trim}", "", depth * 2)
}

fn repeat(f: &mut Formatter<'_>, tree: &Tree, node: &Loop, depth: usize) -> fmt::Result {
    let int = tree.int(node.int);
    let name = if node.kind == LoopKind::Loop { "loop" } else { "rep" };
    write!(f, "{name} {} times", int.kr())?;
    if node.kind == LoopKind::Loop {
        write!(f, ", aL = {} step {}", int.kg(), int.kb())?;
    }
    let form = &node.form;
    let target = if form.past_end { "" } else { " (to its end)" };
    writeln!(f, " (i{}) {{{}{target}{}", node.int, any_mark(form.any), form.trims[0])?;
    list(f, tree, &node.body, depth + 1)?;
    writeln!(f, "{:1$}}}{2}{3}", "", depth * 2, any_mark(form.end_any), form.trims[1])
}

fn any_mark(any: bool) -> &'static str {
    if any { " (any)" } else { "" }
}

/// Displays a condition.
struct Holds<'a>(Cond, &'a Tree);

impl Display for Holds<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self(Cond { table, pred, boolean }, tree) = self;
        let bool_now = |f: &mut Formatter<'_>| write!(f, "b{boolean}({})", tree.boolean(*boolean));
        match table {
            0x00 => f.write_str("false"),
            0xff => f.write_str("true"),
            0xf0 => f.write_str("alu"),
            0x0f => f.write_str("!alu"),
            0xcc => write!(f, "{pred}"),
            0x33 => write!(f, "!{pred}"),
            0xaa => bool_now(f),
            0x55 => f.write_char('!').and_then(|()| bool_now(f)),
            _ => {
                write!(f, "table {table:02x} of alu, {pred}, ")?;
                bool_now(f)
            }
        }
    }
}

/// Displays ` if CONDITION`, or nothing.
struct When<'a>(Option<Cond>, &'a Tree);

impl Display for When<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |cond| write!(f, " if {}", Holds(cond, self.1)))
    }
}

impl Display for Pred {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let name = match self.sel {
            PredSel::NONE => "1",
            PredSel::RGBA => "p.rgba",
            PredSel::RRRR => "p.r",
            PredSel::GGGG => "p.g",
            PredSel::BBBB => "p.b",
            PredSel::AAAA => "p.a",
            other => return write!(f, "{}p.{}", if self.inv { "!" } else { "" }, other.code()),
        };
        write!(f, "{}{name}", if self.inv { "!" } else { "" })
    }
}

impl Display for Trim {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.ignore_uncovered {
            f.write_str(" ignore_uncovered")?;
        }
        if self.global {
            f.write_str(" global")?;
        }
        write!(f, "{}", Hints { alu_wait: false, ..self.hints })
    }
}

impl Display for Hints {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { last, nop, alu_wait, tex_sem_wait, stat_we } = *self;
        let names = [(last, "last"), (nop, "nop"), (alu_wait, "wait"), (tex_sem_wait, "tex_wait")];
        for (_, name) in names.into_iter().filter(|(set, _)| *set) {
            write!(f, " {name}")?;
        }
        if stat_we != 0 { write!(f, " stat={stat_we}") } else { Ok(()) }
    }
}

impl Display for Alu {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let idle = |wmask: u8, omask: u8| wmask | omask == 0;
        let Self { out, rgb, alpha, result, depth, hints } = self;
        let reads = |sel| matches!(result, Some((channel, _)) if *channel == sel);
        let shared = rgb.op.is_dot_product() || rgb.op == r500_isa::values::RgbOp::SOP;
        let mut parts = Vec::new();
        if !idle(rgb.wmask, rgb.omask) || reads(AluResultSel::RED) {
            parts.push(self.half(rgb, "rgb", *out)?);
        }
        if !idle(alpha.wmask, alpha.omask) || *depth || reads(AluResultSel::ALPHA) || shared {
            parts.push(self.half(alpha, "a", *out)?);
        }
        f.write_str(if *out { "out " } else { "" })?;
        f.write_str(if parts.is_empty() { "nothing" } else { "" })?;
        f.write_str(&parts.join("; "))?;
        if *depth {
            f.write_str(if *out { "; depth = alpha" } else { "; (w_omask)" })?;
        }
        if let Some((sel, compare)) = result {
            let channel = if *sel == AluResultSel::RED { "red" } else { "alpha" };
            write!(f, "; alu = {channel} {} 0", sign(*compare))?;
        }
        write!(f, "{hints}")
    }
}

impl Alu {
    /// Prints a half; `channels` are the letters of its channels.
    fn half<Op: fmt::Debug, const N: usize>(
        &self,
        half: &Half<Op, N>,
        channels: &str,
        out: bool,
    ) -> Result<String, fmt::Error> {
        let mut s = String::new();
        let mut comma = "";
        if half.wmask != 0 {
            write!(s, "{}.{}", half.dest, masked(channels, half.wmask))?;
            comma = ", ";
        }
        if half.omask != 0 {
            let letters = masked(channels, half.omask);
            if out {
                write!(s, "{comma}{:?}.{letters}", half.target)?;
            } else {
                write!(s, "{comma}p.{letters}({} 0)", sign(half.target.compare()))?;
            }
        }
        if half.wmask | half.omask == 0 {
            write!(s, "({channels})")?;
        }
        write!(s, " = {:?}(", half.op)?;
        for (n, operand) in half.operands.iter().enumerate() {
            write!(s, "{}{}", if n == 0 { "" } else { ", " }, self.operand(operand)?)?;
        }
        s.push(')');
        match half.omod {
            Omod::MUL1 => {}
            Omod::DISABLED => s.push_str(" raw"),
            omod => write!(s, " * {}", omod.factor().unwrap_or(1.0))?,
        }
        if half.clamp {
            s.push_str(" clamped");
        }
        if half.pred != Pred::NONE {
            write!(s, " if {}", half.pred)?;
        }
        Ok(s)
    }

    /// Returns an operand with its sources substituted.
    fn operand<const N: usize>(&self, operand: &Operand<N>) -> Result<String, fmt::Error> {
        let colours = operand.swiz.iter().any(|swiz| swiz.code() < Swiz::A.code());
        let alpha = operand.swiz.contains(&Swiz::A);
        let rgb_source = self.source(operand.sel, self.rgb.sources, self.rgb.srcp)?;
        let alpha_source = self.source(operand.sel, self.alpha.sources, self.alpha.srcp)?;
        let source = match (colours, alpha) {
            (true, true) if rgb_source != alpha_source => format!("<{rgb_source}|{alpha_source}>"),
            (true, _) => rgb_source,
            (false, true) => alpha_source,
            (false, false) => String::new(),
        };
        let swizzle: String = operand.swiz.into_iter().map(swizzle).collect();
        let (open, close) = match operand.modifier {
            Mod::NEG => ("-", ""),
            Mod::ABS => ("|", "|"),
            Mod::NAB => ("-|", "|"),
            _ => ("", ""),
        };
        Ok(format!("{open}{source}.{swizzle}{close}"))
    }

    fn source(&self, sel: Sel, sources: [Source; 3], srcp: SrcpOp) -> Result<String, fmt::Error> {
        let [a, b, c] = sources.map(address);
        Ok(match sel {
            Sel::SRC0 => a,
            Sel::SRC1 => b,
            Sel::SRC2 => c,
            _ => match srcp {
                SrcpOp::SUB => format!("({b} - {a})"),
                SrcpOp::ADD => format!("({b} + {a})"),
                SrcpOp::NEG => format!("(1 - {a})"),
                _ => format!("(1 - 2*{a})"),
            },
        })
    }
}

impl Display for Tex {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { op, unit, coord, dest, wmask, rgb_pred, alpha_pred, .. } = *self;
        if op == TexOp::TEXKILL {
            write!(f, "kill if {coord} < 0")?;
        } else {
            let letters = masked("rgba", wmask);
            let texel: String = self.swiz.into_iter().map(channel).collect();
            write!(f, "{dest}.{letters} = {op:?}({coord}")?;
            if op == TexOp::DXDY {
                write!(f, ", {}, {}", self.gradients[0], self.gradients[1])?;
            }
            write!(f, ", unit {unit}).{texel}")?;
        }
        for (name, pred) in [("rgb", rgb_pred), ("a", alpha_pred)] {
            if pred != Pred::NONE {
                write!(f, " {name} if {pred}")?;
            }
        }
        write!(f, "{}", self.hints)
    }
}

impl Display for Dest {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "t{}", Address(self.addr, self.relative))
    }
}

impl Display for TexReg {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let letters: String = self.swiz.into_iter().map(channel).collect();
        write!(f, "t{}.{letters}", Address(self.addr, self.relative))
    }
}

struct Address(u8, bool);

impl Display for Address {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.1 { write!(f, "[aL+{}]", self.0) } else { write!(f, "{}", self.0) }
    }
}

fn address(source: Source) -> String {
    match source.inline() {
        Some(inline) => format!("#{}", inline.value()),
        None => {
            let bank = if source.constant { 'c' } else { 't' };
            format!("{bank}{}", Address(source.addr, source.relative))
        }
    }
}

fn sign(compare: Compare) -> &'static str {
    match compare {
        Compare::LT => "<",
        Compare::GE => ">=",
        Compare::NE => "!=",
        _ => "==",
    }
}

fn swizzle(swiz: Swiz) -> char {
    match swiz {
        Swiz::R => 'r',
        Swiz::G => 'g',
        Swiz::B => 'b',
        Swiz::A => 'a',
        Swiz::ZERO => '0',
        Swiz::HALF => 'h',
        Swiz::ONE => '1',
        _ => '_',
    }
}

fn channel(channel: Channel) -> char {
    match channel {
        Channel::R => 'r',
        Channel::G => 'g',
        Channel::B => 'b',
        _ => 'a',
    }
}

fn masked(letters: &str, mask: u8) -> String {
    letters.chars().enumerate().filter(|(i, _)| mask >> i & 1 != 0).map(|(_, c)| c).collect()
}
