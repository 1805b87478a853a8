//! Texture instructions: fetches and TEXKILL.

use r500_isa::values::{PredSel, TexOp};

use super::event::{EventKind, Lookup};
use super::group::Group;
use crate::numerics::compare;
use crate::reading::{KillRgba, UncoveredFetch, WriteInactiveKill};
use crate::shader::{Tex, TexReg};
use crate::texture::{DISABLED_UNIT, Gradients, QuadFetch};
use crate::warning::WarningKind;

/// The texels of a quad and, for a watched group, the steps of their fetches.
type Fetched = [([f32; 4], Option<Lookup>); 4];

impl Group<'_> {
    /// Executes a texture instruction.
    pub(super) fn tex(&mut self, address: u32, tex: &Tex) {
        let executing: Vec<bool> =
            self.state.lanes.iter().map(|lane| self.executes(lane)).collect();
        self.check_tex(address, tex, &executing);
        match tex.op {
            TexOp::TEXKILL => self.kill(tex, &executing),
            TexOp::LD | TexOp::PROJ | TexOp::LODBIAS | TexOp::LOD | TexOp::DXDY => {
                self.fetch_texels(tex, &executing);
            }
            // NOP. Reserved codes do nothing either (open).
            _ => self.emit_idle_event(tex),
        }
    }

    /// Fetches quad by quad: an implicit level of detail depends on the coordinates of all four
    /// pixels, inactive ones included (derived). All reads precede all writes.
    fn fetch_texels(&mut self, tex: &Tex, executing: &[bool]) {
        let quads = self.state.lanes.len() / 4;
        let fetched: Vec<Fetched> = (0..quads).map(|quad| self.fetch_quad(quad * 4, tex)).collect();
        let dest = self.destination(tex.dest);
        for (lane, (texel, lookup)) in fetched.into_iter().flatten().enumerate() {
            if !executing[lane] && !tex.write_inactive {
                continue;
            }
            let enabled = self.enabled(lane, tex.rgb_pred, tex.alpha_pred);
            let value = tex.dest_swiz.map(|channel| texel[usize::from(channel.code() & 3)]);
            let coord = self.coordinates(lane, tex.coord);
            if let Some(event) = self.event_of(lane) {
                let texel = Some(texel);
                event.kind = EventKind::Tex { coord, texel, lookup, enabled, killed: false };
            }
            self.write_temp(lane, dest, tex.wmask & enabled, value);
            self.count_stat(lane, tex.stat_we & enabled, executing[lane]);
        }
        if let Some(temp) = dest {
            self.state.fetches.issue(temp, tex.wmask);
        }
        if tex.tex_sem_acquire {
            self.state.fetches.acquire();
        }
    }

    fn fetch_quad(&self, quad: usize, tex: &Tex) -> Fetched {
        let Some(sampler) = self.draw.bindings.sampler(usize::from(tex.unit)) else {
            return [const { (DISABLED_UNIT, None) }; 4];
        };
        let lanes = [quad, quad + 1, quad + 2, quad + 3];
        let fetch = QuadFetch {
            op: tex.op,
            unscaled: tex.unscaled,
            strq: lanes.map(|lane| self.coordinates(lane, tex.coord)),
            gradients: lanes.map(|lane| Gradients {
                dx: self.coordinates(lane, tex.dx),
                dy: self.coordinates(lane, tex.dy),
            }),
        };
        let readings = &self.draw.options.readings;
        let mut fetched = if self.event.is_some() {
            let lookups = sampler.look_up(&fetch, &readings.texture());
            lookups.map(|lookup| (lookup.color, Some(lookup)))
        } else {
            sampler.fetch(&fetch, &readings.texture()).map(|texel| (texel, None))
        };
        // Open: a fetch may be skipped for uncovered pixels; here it is not.
        if tex.ignore_uncovered && readings.uncovered_fetch == UncoveredFetch::Zero {
            for (lane, (texel, _)) in lanes.into_iter().zip(&mut fetched) {
                if !self.state.lanes[lane].covered {
                    *texel = [0.0; 4];
                }
            }
        }
        fetched
    }

    /// TEXKILL: kills a pixel if one of the swizzled components is less than zero (documented; -0,
    /// NaN and denormals are not less). Applies to active pixels only, gated by the RGB predicate,
    /// by its red bit under RGBA (open). A killed pixel keeps its flow-control state (derived).
    fn kill(&mut self, tex: &Tex, executing: &[bool]) {
        let readings = self.draw.options.readings;
        for (lane, &executes) in executing.iter().enumerate() {
            let reaches =
                tex.write_inactive && readings.write_inactive_kill == WriteInactiveKill::Yes;
            if !executes && !reaches {
                continue;
            }
            let enabled = self.enabled(lane, tex.rgb_pred, tex.alpha_pred);
            let kills = if tex.rgb_pred.sel == PredSel::RGBA && readings.kill_rgba == KillRgba::Each
            {
                enabled
            } else {
                // All channels of a replicated predicate equal red.
                0u8.wrapping_sub(enabled & 1)
            };
            let coord = self.coordinates(lane, tex.coord);
            let killed = (0..4).any(|i| kills >> i & 1 != 0 && compare::lt(coord[i], 0.0));
            if killed {
                let pixel = &mut self.state.lanes[lane];
                self.state.counters.killed += u64::from(pixel.covered && pixel.inside);
                pixel.covered = false;
                pixel.killed = true;
            }
            if let Some(event) = self.event_of(lane) {
                event.kind = EventKind::Tex { coord, texel: None, lookup: None, enabled, killed };
            }
        }
    }

    fn emit_idle_event(&mut self, tex: &Tex) {
        for lane in 0..self.state.lanes.len() {
            if self.event_of(lane).is_none() || !self.executes(&self.state.lanes[lane]) {
                continue;
            }
            let coord = self.coordinates(lane, tex.coord);
            let enabled = self.enabled(lane, tex.rgb_pred, tex.alpha_pred);
            if let Some(event) = self.event_of(lane) {
                event.kind =
                    EventKind::Tex { coord, texel: None, lookup: None, enabled, killed: false };
            }
        }
    }

    /// Returns S, T, R, Q: a temporary, with aL added if relative, through its swizzle (documented).
    fn coordinates(&self, lane: usize, register: TexReg) -> [f32; 4] {
        let value = self.temp(lane, self.temp_address(register.addr, register.relative));
        register.swiz.map(|channel| value[usize::from(channel.code() & 3)])
    }

    fn check_tex(&mut self, address: u32, tex: &Tex, executing: &[bool]) {
        if !self.draw.options.warnings {
            return;
        }
        if tex.op == TexOp::NOP {
            return;
        }
        if !tex.op.is_named() {
            self.warn_group(WarningKind::ReservedTexOp, address, i32::from(tex.op.code()));
            return;
        }
        let samples = tex.op != TexOp::TEXKILL;
        if samples && self.draw.bindings.sampler(usize::from(tex.unit)).is_none() {
            self.warn_group(WarningKind::UnitDisabled, address, i32::from(tex.unit));
        }
        let mut registers = vec![(tex.coord, self.used_coordinates(tex))];
        if tex.op == TexOp::DXDY {
            let used = self.used_coordinates(tex) & 0b0111;
            registers.extend([(tex.dx, used), (tex.dy, used)]);
        }
        for lane in (0..executing.len()).filter(|&lane| executing[lane]) {
            for (register, used) in &registers {
                let TexReg { addr, relative, swiz } = *register;
                let channels = (0..4)
                    .filter(|i| used >> i & 1 != 0)
                    .fold(0, |mask, i| mask | 1 << (swiz[i].code() & 3));
                let temp = self.temp_address(addr, relative);
                self.check_relative(lane, address, addr, relative, r500_isa::TEMPORARIES);
                self.check_temp(lane, address, temp, channels);
            }
            let gated = if samples { tex.wmask } else { 0b0001 };
            self.check_predicate(lane, address, tex.rgb_pred, gated & 0b0111);
            if samples {
                self.check_predicate(lane, address, tex.alpha_pred, gated & 0b1000);
                if tex.wmask & self.enabled(lane, tex.rgb_pred, tex.alpha_pred) != 0 {
                    self.check_destination(lane, address, tex.dest);
                }
            }
        }
    }

    /// Returns which of S, T, R, Q an instruction reads.
    fn used_coordinates(&self, tex: &Tex) -> u8 {
        let axes = match self.draw.bindings.sampler(usize::from(tex.unit)) {
            Some(sampler) => sampler.axes(),
            None => 0,
        };
        match tex.op {
            TexOp::TEXKILL => 0b1111,
            TexOp::PROJ | TexOp::LODBIAS | TexOp::LOD => axes | 0b1000,
            _ => axes,
        }
    }
}
