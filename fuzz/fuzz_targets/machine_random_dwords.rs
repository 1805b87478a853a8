//! Property: any dwords as a program, with any dwords as its state and textures, draw or report an
//! error within their limits; collecting warnings changes no pixel.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use r500_exec::{BindError, Bindings, Shader, texture};
use r500_fuzz::watching_changes_nothing;
use r500_isa::Instruction;
use r500_isa::state::*;
use r500_isa::texture::*;
use r500_program::{Input, Job, Level, Plane, Program, Texture};

/// The structured fuzzer input. The code is last and uses the remaining bytes.
#[derive(Arbitrary, Debug)]
struct Picture {
    size: [u8; 2],
    wide_group: bool,
    config: Option<u32>,
    pixsize: Option<u32>,
    fc_ctrl: Option<u32>,
    bools: Option<u32>,
    ints: [Option<u32>; 4],
    window: Option<[u32; 3]>,
    out_fmt: [Option<u32>; 4],
    w_fmt: Option<u32>,
    constants: Vec<[u32; 4]>,
    uncovered: Option<u64>,
    planes: Option<[u32; 12]>,
    textures: [Option<Unit>; 2],
    code: Vec<[u32; 6]>,
}

#[derive(Arbitrary, Debug)]
struct Unit {
    us_format: Option<u32>,
    /// Width, height, log2 of the depth, and levels, all small.
    size: [u8; 4],
    /// `TX_FILTER0`, `TX_FILTER1`, `TX_FORMAT0`, `TX_FORMAT1`, `TX_FORMAT2`, `TX_OFFSET`.
    registers: [u32; 6],
    border_color: u32,
    texels: [u8; 16],
}

fuzz_target!(|picture: Picture| {
    let mut job = picture.job();
    let size = [u32::from(picture.size[0] % 8 + 1), u32::from(picture.size[1] % 8 + 1)];
    job.size = Some(size);
    job.coverage = picture
        .uncovered
        .map(|bits| (0..size[0] * size[1]).map(|pixel| bits >> (pixel % 64) & 1 == 0).collect());
    let Ok(shader) = Shader::new(&job.program) else { return };
    let Some(bindings) = bind(&mut job, size) else { return };

    let group = if picture.wide_group { [8, 8] } else { [2, 2] };
    watching_changes_nothing(&shader, &bindings, &job.program, group);
});

impl Picture {
    fn job(&self) -> Job {
        let mut program = Program::from_code(self.code.iter().copied().map(Instruction).collect());
        let state = &mut program.state;
        state.config = self.config.map(UsConfig);
        state.pixsize = self.pixsize.map(UsPixsize);
        state.fc_ctrl = self.fc_ctrl.map(UsFcCtrl);
        state.fc_bool_const = self.bools.map(UsFcBoolConst);
        for (to, from) in state.fc_int_const.iter_mut().zip(self.ints) {
            *to = from.map(UsFcIntConst);
        }
        if let Some([addr, range, offset]) = self.window {
            state.code_addr = Some(UsCodeAddr(addr));
            state.code_range = Some(UsCodeRange(range));
            state.code_offset = Some(UsCodeOffset(offset));
        }
        state.out_fmt = self.out_fmt.map(|fmt| fmt.map(UsOutFmt));
        state.w_fmt = self.w_fmt.map(UsWFmt);
        state.constants.clone_from(&self.constants);
        let mut job = Job::from_program(program);
        for (unit, raw) in self.textures.iter().enumerate() {
            job.program.state.format[unit] = raw.as_ref().and_then(|r| r.us_format).map(UsFormat);
            job.textures[unit] = raw.as_ref().map(Unit::texture);
        }
        if let Some(planes) = self.planes {
            let p = planes.map(f32::from_bits);
            let plane = |n: usize| Plane { c: p[3 * n], du: p[3 * n + 1], dv: p[3 * n + 2] };
            job.inputs = Some(vec![Input::planes(0, [plane(0), plane(1), plane(2), plane(3)])]);
        }
        job
    }
}

impl Unit {
    fn texture(&self) -> Texture {
        let [filter0, filter1, format0, format1, format2, offset] = self.registers;
        let [width, height, depth, levels] = self.size;
        Texture {
            filter0: TxFilter0(filter0),
            filter1: TxFilter1(filter1),
            format0: TxFormat0(format0)
                .with(TxFormat0::TXWIDTH, u16::from(width % 16))
                .with(TxFormat0::TXHEIGHT, u16::from(height % 16))
                .with(TxFormat0::TXDEPTH, depth % 4)
                .with(TxFormat0::NUM_LEVELS, levels % 6),
            format1: TxFormat1(format1),
            format2: TxFormat2(format2)
                .with(TxFormat2::TXPITCH, (format2 & 0x1f) as u16)
                .with(TxFormat2::TXWIDTH_11, false)
                .with(TxFormat2::TXHEIGHT_11, false),
            offset: TxOffset(offset),
            border_color: self.border_color,
            levels: vec![
                Level { bytes: self.texels.to_vec(), ..Level::default() };
                usize::from(levels % 6) + 1
            ],
            ..Texture::default()
        }
    }
}

/// Binds a job. Textures with levels of a wrong size get the size that the error reports; textures
/// that cannot be sampled are removed.
fn bind(job: &mut Job, size: [u32; 2]) -> Option<Bindings> {
    for _ in 0..64 {
        let (unit, error) = match Bindings::new(job, size) {
            Ok(bindings) => return Some(bindings),
            Err(BindError::Texture { unit, error }) => (unit, error),
            Err(_) => return None,
        };
        let levels = job.textures[unit].as_mut().map(|t| &mut t.levels);
        match (error, levels) {
            (texture::BindError::LevelSize { level, wanted, .. }, Some(levels)) => {
                let level = &mut levels[level];
                [level.width, level.height, level.layers] = wanted;
            }
            (texture::BindError::LevelBytes { level, wanted, .. }, Some(levels))
                if wanted <= 1 << 18 =>
            {
                let pattern = levels[level].bytes.clone();
                levels[level].bytes = pattern.into_iter().cycle().take(wanted as usize).collect();
            }
            _ => job.textures[unit] = None,
        }
    }
    panic!("the errors of binding lead nowhere");
}
