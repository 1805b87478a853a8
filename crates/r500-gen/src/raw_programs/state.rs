//! Random state, inputs and textures for random words.

use r500_isa::state::{
    UsCodeAddr, UsCodeOffset, UsCodeRange, UsConfig, UsFcBoolConst, UsFcCtrl, UsFcIntConst,
    UsOutFmt, UsPixsize, UsWFmt,
};
use r500_isa::texture::{TxFilter0, TxFilter1, TxFormat0, TxFormat1, TxFormat2};
use r500_isa::values::{ClampMode, CoordType, LayerFilter, TexelFilter, TriPerf, TxFormat, TxSel};
use r500_isa::{Instruction, TARGETS};
use r500_program::{Input, InputData, Job, Level, Program, Texture};

use super::rarely;
use crate::Choices;
use crate::number::{number, special, vector};

/// Returns a job of these instructions.
pub(super) fn around(choices: &mut impl Choices, code: Vec<Instruction>) -> Job {
    let length = code.len() as u32;
    let mut job = Job::from_program(Program::from_code(code));
    let state = &mut job.program.state;
    state.config = maybe(choices, |choices| UsConfig(choices.below(4)));
    state.pixsize = maybe(choices, |choices| UsPixsize(choices.below(128)));
    state.fc_ctrl =
        maybe(choices, |choices| UsFcCtrl(0).with(UsFcCtrl::FULL_FC_EN, !choices.chance(1, 4)));
    state.fc_bool_const = maybe(choices, |choices| UsFcBoolConst(choices.bits()));
    for int in &mut state.fc_int_const {
        *int = maybe(choices, |choices| {
            let passes = if rarely(choices) { choices.below(256) } else { choices.below(5) };
            UsFcIntConst(0)
                .with(UsFcIntConst::KR, passes as u8)
                .with(UsFcIntConst::KG, choices.pick(0, &[1, 2, 5, 130, 255]))
                .with(UsFcIntConst::KB, choices.pick(1, &[0, -1, 2, 127, -128]))
        });
    }
    if choices.chance(1, 3) && length != 0 {
        let offset = choices.below(512u32.saturating_sub(length) + 1);
        let start = if rarely(choices) { choices.below(length) } else { 0 };
        let end = if rarely(choices) { choices.below(512) } else { length - 1 };
        let size = if rarely(choices) { choices.below(length) } else { length - 1 };
        let addr = UsCodeAddr(0).with(UsCodeAddr::START_ADDR, start as u16);
        state.code_addr = Some(addr.with(UsCodeAddr::END_ADDR, end as u16));
        let range = UsCodeRange(0).with(UsCodeRange::CODE_ADDR, offset as u16);
        state.code_range = Some(range.with(UsCodeRange::CODE_SIZE, size as u16));
        state.code_offset = Some(UsCodeOffset(0).with(UsCodeOffset::OFFSET_ADDR, offset as u16));
    }
    for n in 0..TARGETS {
        state.out_fmt[n] = maybe(choices, |choices| UsOutFmt(choices.bits()));
    }
    state.w_fmt = maybe(choices, |choices| UsWFmt(choices.below(8)));
    state.constants = (0..choices.below(33)).map(|_| vector(choices).map(f32::to_bits)).collect();
    for unit in 0..3 {
        job.textures[unit] = maybe(choices, texture);
    }
    job.size = Some([8, 8]);
    job.inputs = Some((0..choices.below(4)).map(|temp| input(choices, temp as u8)).collect());
    job.coverage = choices.chance(1, 3).then(|| (0..64).map(|_| !rarely(choices)).collect());
    job
}

/// Returns a value in most cases.
fn maybe<T, E: Choices>(choices: &mut E, value: impl FnOnce(&mut E) -> T) -> Option<T> {
    (!choices.chance(1, 4)).then(|| value(choices))
}

fn input(choices: &mut impl Choices, temp: u8) -> Input {
    let edges = choices.chance(1, 4);
    let values = (0..64)
        .map(|n: u16| match (edges, temp) {
            (true, _) => std::array::from_fn(|_| special(choices)),
            // Texture coordinates.
            (false, 0) => [f32::from(n % 8) / 8.0, f32::from(n / 8) / 4.0, number(choices), 1.0],
            _ => vector(choices),
        })
        .collect();
    Input { temp, data: InputData::Values { width: 8, values } }
}

/// Returns a small texture of two formats that every platform supports, with any filters and address modes.
#[must_use]
pub fn texture(choices: &mut impl Choices) -> Texture {
    let ty = CoordType::new(choices.below(3) as u8);
    let (log_width, log_height) = (choices.below(4), choices.below(4));
    let log_height = if ty == CoordType::CUBE { log_width } else { log_height };
    let log_depth = if ty == CoordType::D3 { choices.below(3) } else { 0 };
    let levels = 1 + choices.below(4);
    let float = choices.chance(1, 3);
    let format = if float { TxFormat::F32_32_32_32 } else { TxFormat::X8_8_8_8 };
    let layer = |choices: &mut _| LayerFilter::new(Choices::below(choices, 3) as u8);
    let texel = |choices: &mut _| TexelFilter::new(1 + Choices::below(choices, 3) as u8);
    let clamp = |choices: &mut _| ClampMode::new(Choices::below(choices, 8) as u8);
    let sel = |choices: &mut _| TxSel::new(Choices::below(choices, 6) as u8);
    let mut format1 = TxFormat1(0)
        .with(TxFormat1::TXFORMAT, format)
        .with(TxFormat1::TEX_COORD_TYPE, ty)
        .with(TxFormat1::GAMMA, !float && choices.chance(1, 4))
        .with(TxFormat1::SIGNED_COMP1, !float && choices.chance(1, 4));
    for field in
        [TxFormat1::SEL_RED, TxFormat1::SEL_GREEN, TxFormat1::SEL_BLUE, TxFormat1::SEL_ALPHA]
    {
        format1 = format1.with(field, sel(choices));
    }
    let levels_of = |choices: &mut _| {
        (0..levels)
            .map(|k| {
                let axis = |log: u32| 1 << log.saturating_sub(k);
                let layers = if ty == CoordType::CUBE { 6 } else { axis(log_depth) };
                let (width, height) = (axis(log_width), axis(log_height));
                let texels = width * height * layers * if float { 4 } else { 1 };
                let dword =
                    |_| if float { number(choices).to_bits() } else { Choices::bits(choices) };
                let bytes = (0..texels).map(dword).flat_map(u32::to_le_bytes).collect();
                Level { width, height, layers, bytes }
            })
            .collect()
    };
    Texture {
        filter0: TxFilter0(0)
            .with(TxFilter0::CLAMP_S, clamp(choices))
            .with(TxFilter0::CLAMP_T, clamp(choices))
            .with(TxFilter0::CLAMP_R, clamp(choices))
            .with(TxFilter0::MAG_FILTER, texel(choices))
            .with(TxFilter0::MIN_FILTER, texel(choices))
            .with(TxFilter0::MIP_FILTER, layer(choices))
            .with(TxFilter0::VOL_FILTER, layer(choices))
            .with(TxFilter0::MAX_MIP_LEVEL, choices.below(levels) as u8)
            .with(TxFilter0::MAX_ANISO, choices.below(5) as u8),
        filter1: TxFilter1(0)
            .with(TxFilter1::LOD_BIAS, choices.pick(1, &[0, 16, 40, 0x3f0]))
            .with(TxFilter1::TRI_PERF, TriPerf::new(choices.below(4) as u8))
            .with(TxFilter1::BORDER_FIX, choices.chance(1, 2)),
        format0: TxFormat0(0)
            .with(TxFormat0::TXWIDTH, (1 << log_width) - 1)
            .with(TxFormat0::TXHEIGHT, (1 << log_height) - 1)
            .with(TxFormat0::TXDEPTH, log_depth as u8)
            .with(TxFormat0::NUM_LEVELS, (levels - 1) as u8),
        format1,
        format2: TxFormat2(0),
        border_color: choices.bits(),
        levels: levels_of(choices),
        ..Texture::default()
    }
}
