//! Command-line options for bindings: inputs, constants, textures, registers, time.

use std::path::Path;

use clap::Args;
use r500::builtin_uniforms::{self, BuiltinUniforms};
use r500::files::{self, MAX_PICTURE};
use r500::isa::state::{UsFcBoolConst, UsFcIntConst};
use r500::isa::{BOOL_CONSTANTS, INT_CONSTANTS, TEMPORARIES, TEXTURE_UNITS, Word};
use r500::program::{Component, Input, InputData, Job, Plane, State};
use r500::register_text::{self, ConstantPlace, constant_place};
use r500::texture::{TextureError, TextureMemory, TextureSpec};

use super::exit::{Failure, Outcome};
use super::{plane_expr, syntax};

/// Options that override the program's own state.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "What the program reads")]
pub(super) struct StateArgs {
    /// An interpolant: `uv`, `position` (window position), `ndc` (-1 to 1), up to four linear
    /// expressions of u v x y w h (`2*u-1, v, 0, 1`), or values at three corners, lower left, lower
    /// right, upper left (`corners: 1,0,0,1; 0,1,0,1; 0,0,1,1`). Missing components are 0, 0, 1
    #[arg(long, value_name = "temp[N]=WHAT")]
    pub(super) input: Vec<String>,
    /// A float constant by number or name, whole or some channels: `3=1,0,0,1`, `3.a=0.5`,
    /// `color=1,0,0`. Bits are written 0x3f800000
    #[arg(long = "const", value_name = "N|NAME[.CHANNELS]=VALUES")]
    pub(super) constants: Vec<String>,
    /// An integer constant: loop count, first aL (0 if not given), step (1 if not given)
    #[arg(long, value_name = "N=COUNT[,AL[,STEP]]")]
    pub(super) int: Vec<String>,
    /// A boolean constant
    #[arg(long = "bool", value_name = "N=true|false")]
    pub(super) booleans: Vec<String>,
    /// A texture: a PNG, DDS or KTX2 file, raw:FILE, checker, gradient or noise, or `none`.
    /// Options follow with commas: filter=nearest|linear|trilinear, mag=, min=, mip=none|nearest|linear,
    /// vol=, wrap=repeat|mirror|clamp|border|…, wrap-s=, wrap-t=, wrap-r=, mips=stored|none|make,
    /// base=LEVEL, bias=B, border=#rrggbbaa, swizzle=rgba, signed=, srgb=, flip=yes|no; raw needs
    /// size=WxH[xD] and format=8_8_8_8|16f|DXT1|… (type=2d|3d|cube); checker and noise take
    /// size=, cells=N; checker colors=#rrggbb/#rrggbb; noise seed=S
    #[arg(long, value_name = "UNIT=SOURCE[,OPTION=VALUE…]")]
    pub(super) texture: Vec<String>,
    /// Seed of what is random (noise textures that give none of their own)
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    pub(super) seed: u64,
    /// A state register as the card would have it, in hex: US_CONFIG, US_PIXSIZE, US_FC_CTRL,
    /// US_CODE_ADDR, US_CODE_RANGE, US_CODE_OFFSET, US_W_FMT, US_OUT_FMT[0..3]
    #[arg(long, value_name = "REGISTER=HEX")]
    pub(super) register: Vec<String>,
    /// Seconds, for the constant that takes the time (see --time-to); default: TIME of the source, else
    /// the constant's own value
    #[arg(long, value_name = "SECONDS", allow_hyphen_values = true)]
    pub(super) time: Option<f32>,
    /// The constant that takes the time, by number and channel (`3.r`) or name; default: the one
    /// named `time`
    #[arg(long, value_name = "N.CHANNEL|NAME")]
    pub(super) time_to: Option<String>,
    /// Bytes that the textures of a program may take, where the command has a limit.
    #[arg(skip)]
    pub(super) texture_memory: Option<u64>,
}

impl StateArgs {
    /// Returns an option that is given and has a meaning for fragment programs only.
    pub(super) fn given_for_fragments(&self) -> Option<&'static str> {
        let given = [
            ("--texture", !self.texture.is_empty()),
            ("--int", !self.int.is_empty()),
            ("--bool", !self.booleans.is_empty()),
            ("--register", !self.register.is_empty()),
            ("--time-to", self.time_to.is_some()),
        ];
        given.iter().find(|(_, given)| *given).map(|(name, _)| *name)
    }

    /// Returns the option of the time, if it is given.
    pub(super) fn given_time(&self) -> Option<&'static str> {
        self.time.map(|_| "--time")
    }

    /// Applies the options to a job, after the built-in uniforms of a picture of `size` (`r500::builtin_uniforms`), and
    /// the time. Returns whether a constant takes the time.
    pub(super) fn apply(&self, job: &mut Job, size: [u32; 2]) -> Outcome<bool> {
        self.apply_at(job, size, None)
    }

    /// Applies the options as [`Self::apply`] does, for the picture at a time, if one is given.
    pub(super) fn apply_at(
        &self,
        job: &mut Job,
        size: [u32; 2],
        time: Option<f32>,
    ) -> Outcome<bool> {
        BuiltinUniforms::of_picture(job, size).apply(job);
        for text in &self.register {
            register(&mut job.program.state, text).map_err(|m| usage("--register", m))?;
        }
        for text in &self.input {
            let input = input(text, size).map_err(|m| usage("--input", m))?;
            let inputs = job.inputs.get_or_insert_with(|| vec![Input::uv()]);
            inputs.retain(|other| other.temp != input.temp);
            inputs.push(input);
        }
        for text in &self.constants {
            constant(job, text).map_err(|m| usage("--const", m))?;
        }
        for text in &self.int {
            int_constant(&mut job.program.state, text).map_err(|m| usage("--int", m))?;
        }
        for text in &self.booleans {
            boolean(&mut job.program.state, text).map_err(|m| usage("--bool", m))?;
        }
        for text in &self.texture {
            self.texture(job, text)?;
        }
        // `--time-to` names the constant for `TIME`, too; a constant named `time` has it by now.
        let time = time.or(self.time).or(self.time_to.as_ref().and(job.time));
        match time {
            Some(time) => self.apply_time(job, time),
            None => Ok(self.time_place(job)?.is_some()),
        }
    }

    /// Stores the time in the constant that takes it. Returns whether there is one.
    pub(super) fn apply_time(&self, job: &mut Job, time: f32) -> Outcome<bool> {
        job.time = Some(time);
        let Some(place) = self.time_place(job)? else { return Ok(false) };
        match (&self.time_to, place.channels.first()) {
            (Some(_), Some(channel)) => {
                job.program.state.set_constant(place.constant, *channel, time.to_bits());
            }
            _ => BuiltinUniforms { time: Some(time), ..BuiltinUniforms::default() }.apply(job),
        }
        Ok(true)
    }

    /// Returns the time at which pictures begin: the option's, or that of the job.
    pub(super) fn start_time(&self, job: &Job) -> Outcome<f32> {
        if let Some(time) = self.time.or(job.time) {
            return Ok(time);
        }
        let place = self.time_to.as_ref().and(self.time_place(job)?);
        let carried = place.and_then(|place| {
            let value = job.program.state.constants.get(place.constant)?;
            value.get(*place.channels.first()?).copied().map(f32::from_bits)
        });
        Ok(carried.unwrap_or_else(|| builtin_uniforms::start_time(job)))
    }

    /// Returns the constant that takes the time, if there is one.
    fn time_place(&self, job: &Job) -> Outcome<Option<ConstantPlace>> {
        let name = match &self.time_to {
            Some(name) => name,
            None if job.uniforms.iter().any(|u| u.name == "time") => "time",
            None => return Ok(None),
        };
        constant_place(job, name).map(Some).map_err(|m| usage("--time-to", m))
    }

    /// Returns the files of textures.
    pub(super) fn files(&self) -> Vec<std::path::PathBuf> {
        let specs = self.texture.iter().filter_map(|text| text.split_once('=')?.1.parse().ok());
        specs.filter_map(|spec: TextureSpec| spec.path().map(Path::to_owned)).collect()
    }

    fn texture(&self, job: &mut Job, text: &str) -> Outcome<()> {
        let wanted =
            || usage("--texture", format!("`{text}`: write UNIT=SOURCE, such as 0=brick.png"));
        let (unit, spec) = text.split_once('=').ok_or_else(wanted)?;
        let unit = register_text::register(unit, "tex", TEXTURE_UNITS).ok_or_else(|| {
            usage("--texture", format!("`{unit}` is not a texture unit; there are 0 to 15"))
        })?;
        // The size for scaled coordinates comes from the new texture.
        job.program.state.format[unit] = None;
        if spec.trim() == "none" {
            job.textures[unit] = None;
            return Ok(());
        }
        let mut parsed: TextureSpec =
            spec.parse().map_err(|error| usage("--texture", format!("`{text}`: {error}")))?;
        if !spec.contains("seed=") {
            parsed.seed = self.seed;
        }
        let failure = |error: TextureError| {
            let (could_not, help) = match error {
                TextureError::Read { .. } => (true, ""),
                TextureError::Memory(_) => (true, "; see --limit-memory"),
                _ => (false, ""),
            };
            let error = anyhow::anyhow!("texture unit {unit}: {error}{help}");
            if could_not { Failure::could_not(error) } else { Failure::input(error) }
        };
        job.live.retain(|live| usize::from(live.unit) != unit);
        // The replaced texture is not counted.
        job.textures[unit] = None;
        let mut memory =
            self.texture_memory.map_or_else(TextureMemory::default, TextureMemory::new);
        memory.take_job(job).map_err(|error| failure(error.into()))?;
        let read = |path: &Path| files::read(path, MAX_PICTURE);
        let texture = parsed.load_within(&read, Path::new(""), &mut memory).map_err(failure)?;
        job.textures[unit] = Some(texture);
        Ok(())
    }
}

fn usage(switch: &str, message: impl std::fmt::Display) -> Failure {
    Failure::usage(format!("{switch}: {message}"))
}

fn split(text: &str) -> Result<(&str, &str), String> {
    text.split_once('=').ok_or_else(|| format!("`{text}` has no `=`"))
}

/// Parses `temp[N]=WHAT`.
fn input(text: &str, size: [u32; 2]) -> Result<Input, String> {
    let (temp, what) = split(text)?;
    let temp = register_text::register(temp, "temp", TEMPORARIES)
        .and_then(|n| u8::try_from(n).ok())
        .ok_or_else(|| format!("`{temp}` is not a temporary; there are temp[0] to temp[127]"))?;
    let what = match what.trim() {
        "uv" => "u, v, 0, 1",
        "position" => "x, y, 0, 1",
        "ndc" => "2*u-1, 2*v-1, 0, 1",
        other => other,
    };
    let planes = match what.strip_prefix("corners:") {
        Some(corners) => corner_planes(corners)?,
        None => {
            let mut planes =
                [Plane::default(), Plane::default(), Plane::default(), Plane::constant(1.0)];
            let parts = plane_expr::components(what);
            if parts.len() > 4 {
                return Err(format!("`{what}` has more than four components"));
            }
            for (plane, part) in planes.iter_mut().zip(parts) {
                *plane = plane_expr::plane(part, size)?;
            }
            planes
        }
    };
    let data = InputData::Planes(planes.map(|plane| Component { name: String::new(), plane }));
    Ok(Input { temp, data })
}

fn corner_planes(text: &str) -> Result<[Plane; 4], String> {
    let corners: Result<Vec<[f32; 4]>, String> = text.split(';').map(syntax::vector).collect();
    let [origin, right, top] = corners?[..] else {
        return Err(format!(
            "`{}`: write three corners, lower left; lower right; upper left",
            text.trim()
        ));
    };
    Ok(std::array::from_fn(|i| Plane::from_corners([origin[i], right[i], top[i]])))
}

fn constant(job: &mut Job, text: &str) -> Result<(), String> {
    let (name, values) = split(text)?;
    let place = constant_place(job, name)?;
    let values: Result<Vec<f32>, String> = values.split(',').map(register_text::float).collect();
    let values = values?;
    if values.len() > place.channels.len() {
        return Err(format!(
            "`{text}`: {} numbers for {} channels",
            values.len(),
            place.channels.len()
        ));
    }
    for (channel, value) in place.channels.iter().zip(values) {
        job.program.state.set_constant(place.constant, *channel, value.to_bits());
    }
    Ok(())
}

fn int_constant(state: &mut State, text: &str) -> Result<(), String> {
    let wanted = || {
        format!(
            "`{text}`: write N=COUNT[,AL[,STEP]] with N 0 to 31, COUNT and AL 0 to 255, STEP -128 to 127"
        )
    };
    let (n, values) = split(text)?;
    let n = register_text::register(n, "int", INT_CONSTANTS).ok_or_else(wanted)?;
    let mut parts = values.split(',').map(str::trim);
    let count: u8 = parts.next().and_then(|p| p.parse().ok()).ok_or_else(wanted)?;
    let first: u8 = parts.next().map_or(Ok(0), str::parse).map_err(|_| wanted())?;
    let step: i8 = parts.next().map_or(Ok(1), str::parse).map_err(|_| wanted())?;
    if parts.next().is_some() {
        return Err(wanted());
    }
    let word = UsFcIntConst::default()
        .with(UsFcIntConst::KR, count)
        .with(UsFcIntConst::KG, first)
        .with(UsFcIntConst::KB, step);
    state.fc_int_const[n] = Some(word);
    Ok(())
}

fn boolean(state: &mut State, text: &str) -> Result<(), String> {
    let wanted = || format!("`{text}`: write N=true or N=false with N 0 to 31");
    let (n, value) = split(text)?;
    let n = register_text::register(n, "bool", BOOL_CONSTANTS).ok_or_else(wanted)?;
    let value = match value.trim() {
        "true" | "1" => true,
        "false" | "0" => false,
        _ => return Err(wanted()),
    };
    let bits = state.fc_bool_const.unwrap_or_default().kbool();
    let bits = if value { bits | 1 << n } else { bits & !(1 << n) };
    state.fc_bool_const = Some(UsFcBoolConst::default().with(UsFcBoolConst::KBOOL, bits));
    Ok(())
}

fn register(state: &mut State, text: &str) -> Result<(), String> {
    fn set<W: Word>(slot: &mut Option<W>, bits: u32) {
        *slot = Some(W::from_bits(bits));
    }
    let (name, value) = split(text)?;
    let digits = value.trim().trim_start_matches("0x");
    let bits =
        u32::from_str_radix(digits, 16).map_err(|_| format!("`{value}` is not a dword in hex"))?;
    let name = name.trim().to_ascii_uppercase();
    let (base, index) = match name.split_once('[') {
        Some((base, rest)) => (base, rest.strip_suffix(']').and_then(|n| n.parse::<usize>().ok())),
        None => (name.as_str(), None),
    };
    match (base, index) {
        ("US_CONFIG", None) => set(&mut state.config, bits),
        ("US_PIXSIZE", None) => set(&mut state.pixsize, bits),
        ("US_FC_CTRL", None) => set(&mut state.fc_ctrl, bits),
        ("US_FC_BOOL_CONST", None) => set(&mut state.fc_bool_const, bits),
        ("US_CODE_ADDR", None) => set(&mut state.code_addr, bits),
        ("US_CODE_RANGE", None) => set(&mut state.code_range, bits),
        ("US_CODE_OFFSET", None) => set(&mut state.code_offset, bits),
        ("US_W_FMT", None) => set(&mut state.w_fmt, bits),
        ("US_OUT_FMT", index) => match state.out_fmt.get_mut(index.unwrap_or(0)) {
            Some(slot) => set(slot, bits),
            None => return Err("US_OUT_FMT has the numbers 0 to 3".to_owned()),
        },
        ("US_FC_INT_CONST", Some(n)) if n < INT_CONSTANTS => set(&mut state.fc_int_const[n], bits),
        _ => {
            return Err(format!(
                "`{name}` is no register that can be set here; there are US_CONFIG, US_PIXSIZE, \
                 US_FC_CTRL, US_FC_BOOL_CONST, US_FC_INT_CONST[N], US_CODE_ADDR, US_CODE_RANGE, \
                 US_CODE_OFFSET, US_W_FMT, US_OUT_FMT[N]"
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use r500::program::Uniform;

    use super::*;

    fn named() -> Job {
        let uniform = |name: &str, constant, channel, channels| Uniform {
            name: name.to_owned(),
            constant,
            channel,
            channels,
        };
        let uniforms = vec![uniform("color", 2, 0, 3), uniform("time", 2, 3, 1)];
        Job { uniforms, ..Job::default() }
    }

    fn floats(job: &Job, n: usize) -> [f32; 4] {
        job.program.state.constants[n].map(f32::from_bits)
    }

    #[test]
    fn constants_by_number_name_and_channel() {
        let mut job = named();
        constant(&mut job, "0=1,2,3,4").unwrap();
        constant(&mut job, "const[0].ga=7,8").unwrap();
        constant(&mut job, "color=0.25,0.5,0.75").unwrap();
        constant(&mut job, "color.b=9").unwrap();
        assert_eq!(floats(&job, 0), [1.0, 7.0, 3.0, 8.0]);
        assert_eq!(floats(&job, 1), [0.0; 4]);
        assert_eq!(floats(&job, 2), [0.25, 0.5, 9.0, 0.0]);
        assert!(constant(&mut job, "color=1,2,3,4").unwrap_err().contains("4 numbers for 3"));
        assert!(constant(&mut job, "colour=1").unwrap_err().contains("its names are color, time"));
        assert!(constant(&mut job, "256=1").is_err());
        assert!(constant(&mut job, "color.a=1").unwrap_err().contains("only 3 channels"));
    }

    #[test]
    fn time_goes_where_it_is_wanted() {
        let mut job = named();
        let args = StateArgs::default();
        assert!(args.apply_time(&mut job, 1.5).unwrap());
        assert_eq!(floats(&job, 2)[3], 1.5);
        let args = StateArgs { time_to: Some("5.g".to_owned()), ..StateArgs::default() };
        assert!(args.apply_time(&mut job, 2.5).unwrap());
        assert_eq!(floats(&job, 5), [0.0, 2.5, 0.0, 0.0]);
        assert!(!StateArgs::default().apply_time(&mut Job::default(), 1.0).unwrap());
    }

    #[test]
    fn the_constant_keeps_its_value_without_a_time() {
        let mut job = named();
        job.program.state.set_constant(2, 3, 0.75_f32.to_bits());
        let drawn = |args: &StateArgs, job: &Job| {
            let mut job = job.clone();
            assert!(args.apply(&mut job, [4, 4]).unwrap());
            floats(&job, 2)[3]
        };
        let none = StateArgs::default();
        let constant = StateArgs { constants: vec!["time=2".to_owned()], ..StateArgs::default() };
        let time = StateArgs { time: Some(3.0), ..constant.clone() };
        assert_eq!((drawn(&none, &job), none.start_time(&job).unwrap()), (0.75, 0.75));
        assert_eq!(drawn(&constant, &job), 2.0);
        assert_eq!((drawn(&time, &job), time.start_time(&job).unwrap()), (3.0, 3.0));
        // A time of the source, also if it is 0.
        job.time = Some(0.0);
        assert_eq!((drawn(&none, &job), none.start_time(&job).unwrap()), (0.0, 0.0));
        assert_eq!((drawn(&constant, &job), drawn(&time, &job)), (2.0, 3.0));
        let elsewhere = StateArgs { time_to: Some("2.r".to_owned()), ..StateArgs::default() };
        job.program.state.set_constant(2, 0, 5.0_f32.to_bits());
        job.time = None;
        assert_eq!(elsewhere.start_time(&job).unwrap(), 5.0);
    }

    #[test]
    fn inputs() {
        let planes = |text: &str| match input(text, [64, 32]).unwrap().data {
            InputData::Planes(planes) => planes.map(|c| [c.plane.c, c.plane.du, c.plane.dv]),
            InputData::Values { .. } => unreachable!(),
        };
        let one = [1.0, 0.0, 0.0];
        let zero = [0.0; 3];
        assert_eq!(planes("temp[1]=uv"), [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], zero, one]);
        assert_eq!(planes("t1=position"), [[0.0, 64.0, 0.0], [0.0, 0.0, 32.0], zero, one]);
        assert_eq!(planes("1=0.5"), [[0.5, 0.0, 0.0], zero, zero, one]);
        assert_eq!(
            planes("1=corners: 1,2; 3,2; 1,6"),
            [[1.0, 2.0, 0.0], [2.0, 0.0, 4.0], zero, one]
        );
        assert_eq!(input("temp[7]=uv", [1, 1]).unwrap().temp, 7);
        assert!(input("temp[128]=uv", [1, 1]).is_err());
        assert!(input("1=1,2,3,4,5", [1, 1]).is_err());
        assert!(input("1=corners: 1;2", [1, 1]).is_err());
    }

    #[test]
    fn integers_booleans_registers() {
        let mut state = State::default();
        int_constant(&mut state, "3=5,1,-2").unwrap();
        // KR in bits 7:0, KG in 15:8, KB in 23:16.
        assert_eq!(state.fc_int_const[3].map(UsFcIntConst::bits), Some(0x00fe_0105));
        assert!(
            int_constant(&mut state, "32=5").is_err() && int_constant(&mut state, "0=256").is_err()
        );
        boolean(&mut state, "4=true").unwrap();
        boolean(&mut state, "0=1").unwrap();
        boolean(&mut state, "4=false").unwrap();
        assert_eq!(state.fc_bool_const.map(UsFcBoolConst::bits), Some(1));
        register(&mut state, "us_out_fmt[2]=0x3912").unwrap();
        assert_eq!(state.out_fmt[2].map(|r| r.bits()), Some(0x3912));
        assert!(register(&mut state, "US_OUT_FMT[4]=0").is_err());
        assert!(register(&mut state, "US_NONE=0").is_err());
    }
}
