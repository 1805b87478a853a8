//! The JSON schema, key by key. [`super::job`] converts it into a job.

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::scalar::{
    Base64, Code, Coverage, Dword, Few, Flag, Float, FloatBits, Index, Indexed, Real,
};

/// A capture, a case or a draw. Keys that only describe it ([`IgnoredAny`]) are accepted and not
/// used; any other key is an error, so that a misspelt one is not lost.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    pub(super) name: Option<String>,
    pub(super) origin: Option<String>,
    pub(super) test: Option<String>,
    pub(super) status: Option<String>,
    pub(super) rationale: Option<String>,
    pub(super) size: Option<[u32; 2]>,
    pub(super) us: Option<State>,
    pub(super) program: Code,
    pub(super) constants: Option<Few<Option<[Option<FloatBits>; 4]>, { r500_isa::CONSTANTS }>>,
    pub(super) position: Option<[[Real; 4]; 3]>,
    pub(super) inputs: Option<Few<Input, 1024>>,
    pub(super) bound_textures: Option<Few<Texture, { r500_isa::TEXTURE_UNITS }>>,
    pub(super) uniforms: Option<Few<Uniform, 4096>>,
    pub(super) coverage: Option<Coverage>,
    pub(super) time: Option<Float>,
    pub(super) tolerance: Option<Float>,
    pub(super) compare: Option<Compare>,
    pub(super) expect: Option<Expect>,
    pub(super) background: Option<Vec<Option<[Float; 4]>>>,
    pub(super) check: Option<Check>,
    pub(super) sim: Option<String>,
    pub(super) compilation: Option<Compilation>,
    pub(super) probes: Option<IgnoredAny>,
    // Origins of captures and draws.
    #[serde(rename = "comment")]
    _comment: Option<IgnoredAny>,
    #[serde(rename = "compiler")]
    _compiler: Option<IgnoredAny>,
    #[serde(rename = "disassembly")]
    _disassembly: Option<IgnoredAny>,
    #[serde(rename = "draw")]
    _draw: Option<IgnoredAny>,
    #[serde(rename = "pixels")]
    _pixels: Option<IgnoredAny>,
    #[serde(rename = "position_only")]
    _position_only: Option<IgnoredAny>,
    #[serde(rename = "program_name")]
    _program_name: Option<IgnoredAny>,
    #[serde(rename = "rs")]
    _rs: Option<IgnoredAny>,
    #[serde(rename = "source")]
    _source: Option<IgnoredAny>,
    #[serde(rename = "textures")]
    _textures: Option<IgnoredAny>,
    #[serde(rename = "window")]
    _window: Option<IgnoredAny>,
}

/// The keys that distinguish a job from programs by name.
#[derive(Deserialize)]
pub(super) struct Probe {
    pub(super) program: Option<IgnoredAny>,
    pub(super) us: Option<IgnoredAny>,
    pub(super) size: Option<IgnoredAny>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE", default, deny_unknown_fields)]
pub(super) struct State {
    pub(super) us_config: Option<Dword>,
    pub(super) us_pixsize: Option<Dword>,
    pub(super) us_fc_ctrl: Option<Dword>,
    pub(super) us_fc_bool_const: Option<Dword>,
    pub(super) us_fc_int_const: Option<Indexed<{ r500_isa::INT_CONSTANTS }>>,
    pub(super) us_code_addr: Option<Dword>,
    pub(super) us_code_range: Option<Dword>,
    pub(super) us_code_offset: Option<Dword>,
    pub(super) us_out_fmt: Option<[Option<Dword>; r500_isa::TARGETS]>,
    pub(super) us_w_fmt: Option<Dword>,
    pub(super) us_format: Option<Indexed<{ r500_isa::TEXTURE_UNITS }>>,
    // Registers of other blocks, which captures list as well.
    #[serde(rename = "FG_ALPHA_FUNC")]
    _fg_alpha_func: Option<IgnoredAny>,
    #[serde(rename = "FG_DEPTH_SRC")]
    _fg_depth_src: Option<IgnoredAny>,
    #[serde(rename = "GA_US_VECTOR_INDEX")]
    _ga_us_vector_index: Option<IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    pub(super) temp: Index<{ r500_isa::TEMPORARIES as u64 }>,
    pub(super) components: Option<[Component; 4]>,
    pub(super) values: Option<Vec<[Float; 4]>>,
    pub(super) width: Option<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Component {
    pub(super) name: Option<String>,
    pub(super) plane_uv: Option<[Float; 3]>,
    pub(super) vertex_values: Option<[Real; 3]>,
}

#[derive(Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE", deny_unknown_fields)]
pub(super) struct Texture {
    #[serde(rename = "unit")]
    pub(super) unit: Index<{ r500_isa::TEXTURE_UNITS as u64 }>,
    pub(super) tx_filter0: Option<Dword>,
    pub(super) tx_filter1: Option<Dword>,
    pub(super) tx_format0: Option<Dword>,
    pub(super) tx_format1: Option<Dword>,
    pub(super) tx_format2: Option<Dword>,
    pub(super) tx_offset: Option<Dword>,
    pub(super) tx_border_color: Option<Dword>,
    pub(super) tx_chroma_key: Option<Dword>,
    pub(super) us_format0: Option<Dword>,
    #[serde(rename = "levels")]
    pub(super) levels: Option<Vec<Level>>,
    // Other keys of captures: the registers decide.
    #[serde(rename = "width")]
    _width: Option<IgnoredAny>,
    #[serde(rename = "height")]
    _height: Option<IgnoredAny>,
    #[serde(rename = "matches_upload")]
    _matches_upload: Option<IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Level {
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) layers: Option<u32>,
    pub(super) bytes: Base64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Uniform {
    pub(super) name: Option<String>,
    pub(super) constant: Option<Index<{ r500_isa::CONSTANTS as u64 }>>,
    pub(super) channel: Option<Index<4>>,
    /// 1 to 4.
    pub(super) channels: Option<std::num::NonZeroU8>,
    #[serde(rename = "type")]
    _type: Option<IgnoredAny>,
    pub(super) value: Option<serde_json::Value>,
}

#[derive(Deserialize)]
pub(super) enum Compare {
    #[serde(rename = "values")]
    Values,
    #[serde(rename = "8-bit")]
    EightBit,
}

/// A vector of wanted channels; null is one that is not checked, or all four.
pub(super) type Wanted = Option<[Option<Float>; 4]>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Expect {
    pub(super) target0: Option<Vec<Wanted>>,
    pub(super) target1: Option<Vec<Wanted>>,
    pub(super) target2: Option<Vec<Wanted>>,
    pub(super) target3: Option<Vec<Wanted>>,
    pub(super) depth: Option<Vec<Option<Float>>>,
    pub(super) coverage: Option<Vec<Option<Flag>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Check {
    pub(super) share: Option<Real>,
}

/// What a driver's log says of the program.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Compilation {
    pub(super) outcome: String,
    pub(super) reason: Option<String>,
    pub(super) resource: Option<String>,
    pub(super) most: Option<u32>,
    pub(super) needed: Option<u32>,
    pub(super) source: Option<String>,
    pub(super) process: Option<String>,
    /// What [`r500_program::Channel`] prints, by constant and channel.
    pub(super) constants: Option<Few<[String; 4], { r500_isa::CONSTANTS }>>,
    /// Targets of TGSI by unit.
    pub(super) samplers: Option<Few<Option<String>, { r500_isa::TEXTURE_UNITS }>>,
}
