//! Lifts texture instructions. `reference/tex.rs` documents the evidence for the rules.

use r500_exec::numerics::Denormals;
use r500_exec::reading::KillRgba;
use r500_exec::texture::DISABLED_UNIT;
use r500_exec::{Tex, TexReg};
use r500_ir::{ALL, Fetch, NONE, Opcode, Operand, Range, Stmt, Type};
use r500_isa::values::{PredSel, TexOp};

use crate::Lift;

impl Lift<'_> {
    pub(crate) fn tex(&mut self, address: u32, tex: &Tex) {
        match tex.op {
            TexOp::TEXKILL => self.kill(tex),
            TexOp::LD | TexOp::PROJ | TexOp::LODBIAS | TexOp::LOD | TexOp::DXDY => {
                self.fetch(address, tex);
            }
            _ => {}
        }
    }

    fn fetch(&mut self, address: u32, tex: &Tex) {
        let enabled = self.enabled(tex.rgb_pred, tex.alpha_pred);
        let from = tex.dest_swiz.map(|channel| usize::from(channel.code() & 3));
        let mut wanted = [false; 4];
        for i in (0..4).filter(|i| tex.wmask >> i & 1 != 0) {
            wanted[from[i]] = true;
        }
        let texel =
            if wanted.contains(&true) { self.texel(address, tex, wanted) } else { [NONE; 4] };
        let temp = self.temp_address(tex.dest.addr, tex.dest.relative);
        for i in (0..4).filter(|i| tex.wmask >> i & 1 != 0) {
            let old = self.regs.temps[temp][i];
            let exact = self.is_quad_visible(temp, i);
            self.regs.temps[temp][i] =
                self.written(Type::F32, enabled[i], texel[from[i]], old, exact);
        }
        self.count_stat(tex.stat_we, enabled);
    }

    fn texel(&mut self, address: u32, tex: &Tex, wanted: [bool; 4]) -> [Operand; 4] {
        let Some(sampler) = self.input.kinds.sampler(tex.unit) else {
            return DISABLED_UNIT.map(Operand::float);
        };
        let axes = sampler.axes;
        let used = match tex.op {
            TexOp::PROJ | TexOp::LODBIAS | TexOp::LOD => axes | 0b1000,
            _ => axes,
        };
        let gradients = if tex.op == TexOp::DXDY { axes } else { 0 };
        let strq = self.coordinates(tex.coord, used);
        let (dx, dy) = (self.coordinates(tex.dx, gradients), self.coordinates(tex.dy, gradients));
        let range = sampler.bounds.map_or(Range::ANY, |[lowest, highest]| {
            let range = Range::between(lowest, highest);
            let positive = lowest >= 0.0;
            let keeps = self.input.readings.denormals == Denormals::Keep;
            Range { minus_zero: !positive, denormal: !positive || keeps, ..range }
        });
        let texel = wanted.map(|wanted| wanted.then(|| self.builder.fresh(Type::F32, range)));
        self.builder.push(Stmt::Fetch(Box::new(Fetch {
            unit: tex.unit,
            op: tex.op,
            unscaled: tex.unscaled,
            strq,
            dx,
            dy,
            active: self.active,
            texel,
            address,
        })));
        texel.map(|value| value.map_or(NONE, Operand::Value))
    }

    fn kill(&mut self, tex: &Tex) {
        let enabled = self.enabled(tex.rgb_pred, tex.alpha_pred);
        let each =
            tex.rgb_pred.sel == PredSel::RGBA && self.input.readings.kill_rgba == KillRgba::Each;
        // Else only the red bit of the predicate mask counts.
        let (gates, gate) = if each { (enabled, ALL) } else { ([ALL; 4], enabled[0]) };
        let mut killed = NONE;
        for (x, gate) in self.coordinates(tex.coord, 0b1111).into_iter().zip(gates) {
            let below = self.builder.compare(Opcode::Lt, x.into(), Operand::float(0.0).into());
            let below = self.builder.and(below, gate);
            killed = self.builder.or(killed, below);
        }
        let gate = self.builder.and(gate, self.active);
        let killed = self.builder.and(killed, gate);
        if killed != NONE {
            self.builder.push(Stmt::Discard(killed));
        }
    }

    /// Returns S, T, R, Q; 0 for unused coordinates.
    fn coordinates(&self, register: TexReg, used: u8) -> [Operand; 4] {
        let value = self.regs.temps[self.temp_address(register.addr, register.relative)];
        let mut coordinates = [NONE; 4];
        for i in (0..4).filter(|i| used >> i & 1 != 0) {
            coordinates[i] = value[usize::from(register.swiz[i].code() & 3)];
        }
        coordinates
    }
}
