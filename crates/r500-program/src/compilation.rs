//! The record of a compilation: what the driver that compiled a program says of it.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use r500_isa::TEXTURE_UNITS;

/// What the log of a driver says about a program besides its instructions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Compilation {
    /// How the compilation ended.
    pub outcome: Outcome,
    /// The shader as the driver received it (text of TGSI or NIR, or of the compiler's first program), with one space between words
    /// and no prefixes of loggers; empty if the log does not have it. Programs of two logs with the same text are of the same shader.
    pub source: String,
    /// What names the process in a log of several, such as `glxgears[1234]`; may be empty.
    pub process: String,
    /// What the log says of each float constant, by number and channel. A constant after the last is [`Channel::Unknown`].
    pub constants: Vec<[Channel; 4]>,
    /// What the shader samples in each texture unit.
    pub samplers: [Option<Sampler>; TEXTURE_UNITS],
}

/// How a compilation ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Outcome {
    /// The program is the shader.
    #[default]
    Compiled,
    /// The compiler gave up. The program, if there is one, is the driver's dummy.
    Failed(Failure),
    /// The shader has no instruction, and the program is the driver's dummy.
    Dummy,
}

/// Why a compiler gave up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Failure {
    /// The driver's words.
    pub reason: String,
    /// The resource that ran out, if the reason is one.
    pub limit: Option<Limit>,
}

/// A limit that a compilation exceeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// What is limited.
    pub resource: Resource,
    /// The greatest number, if it is known.
    pub most: Option<u32>,
    /// The number that the shader needs, if the driver prints it.
    pub needed: Option<u32>,
}

impl Limit {
    /// Returns by how much the shader exceeds the limit, if the driver prints the number.
    #[must_use]
    pub fn excess(&self) -> Option<u32> {
        self.needed?.checked_sub(self.most?)
    }
}

/// What a compiler can run out of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Resource {
    /// Temporary registers.
    Temporaries,
    /// Float constants.
    Constants,
    /// Instructions.
    Instructions,
    /// Levels of flow control or their instructions.
    FlowControl,
    /// An operation or a form of it that the compiler does not translate.
    Operations,
}

impl Resource {
    /// Returns its name: `temporaries`, `constants`, `instructions`, `flow-control`, `operations`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Temporaries => "temporaries",
            Self::Constants => "constants",
            Self::Instructions => "instructions",
            Self::FlowControl => "flow-control",
            Self::Operations => "operations",
        }
    }
}

impl Outcome {
    /// Returns its name: `compiled`, `failed`, `dummy`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Compiled => "compiled",
            Self::Failed(_) => "failed",
            Self::Dummy => "dummy",
        }
    }

    /// Returns whether the program is the shader, not the driver's dummy.
    #[must_use]
    pub const fn is_compiled(&self) -> bool {
        matches!(self, Self::Compiled)
    }
}

/// Prints the outcome as a clause: `the driver failed: Too many constants. Max: 256, Got: 313`.
impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Compiled => f.write_str("compiled"),
            Self::Dummy => f.write_str("the shader is empty, and the driver took its dummy"),
            Self::Failed(failure) => {
                write!(f, "the driver failed: {}", failure.reason)?;
                match failure.limit.and_then(|limit| limit.excess()) {
                    Some(excess) => write!(f, " ({excess} too many)"),
                    None => Ok(()),
                }
            }
        }
    }
}

/// What a log says of a channel of a float constant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Channel {
    /// Nothing.
    #[default]
    Unknown,
    /// A literal of the shader. Its value is that of the program's state, which holds it.
    Literal {
        /// The number of decimals that the log prints; `None` if it prints the bits.
        decimals: Option<u8>,
    },
    /// A literal of the shader that the log rounds to 0, so that only its size is known: less than half of the last decimal. The
    /// program's state does not hold it.
    Tiny {
        /// The number of decimals that the log prints.
        decimals: u8,
    },
    /// A uniform, whose value the log does not say: channel `channel` of element `index` of constant buffer `buffer`.
    Uniform {
        /// The constant buffer.
        buffer: u8,
        /// The element of the buffer.
        index: u16,
        /// The channel of the element, 0 red to 3 alpha.
        channel: u8,
    },
    /// A value that the driver computes from its state, such as the size of the window.
    State(DriverState),
    /// No shader reads it, so that the log does not say it.
    Unused,
}

/// A value that a driver computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum DriverState {
    /// The scale of the viewport, for `gl_FragCoord`.
    ViewportScale,
    /// The offset of the viewport, for `gl_FragCoord`.
    ViewportOffset,
}

/// The kind of texture that a shader samples in a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampler {
    /// The dimensions.
    pub target: SamplerTarget,
    /// Whether the shader compares with depths.
    pub shadow: bool,
}

/// The dimensions of a texture that a shader samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SamplerTarget {
    /// One dimension.
    D1,
    /// Two dimensions.
    D2,
    /// Two dimensions, coordinates in texels.
    Rect,
    /// Three dimensions.
    D3,
    /// Six faces.
    Cube,
}

impl SamplerTarget {
    /// Returns its name as TGSI writes it: `1D`, `2D`, `RECT`, `3D`, `CUBE`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::D1 => "1D",
            Self::D2 => "2D",
            Self::Rect => "RECT",
            Self::D3 => "3D",
            Self::Cube => "CUBE",
        }
    }
}

impl Compilation {
    /// Returns what the log says of channel `channel` (0 red to 3 alpha) of float constant `n`.
    #[must_use]
    pub fn channel(&self, n: usize, channel: usize) -> Channel {
        self.constants.get(n).map_or(Channel::Unknown, |constant| constant[channel & 3])
    }
}

/// Prints a channel: `literal`, `literal 4` (with its decimals), `tiny 4`, `CONST[0][3].x`, `viewport scale`, `unused`, `unknown`.
impl fmt::Display for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str("unknown"),
            Self::Unused => f.write_str("unused"),
            Self::Literal { decimals: None } => f.write_str("literal"),
            Self::Literal { decimals: Some(decimals) } => write!(f, "literal {decimals}"),
            Self::Tiny { decimals } => write!(f, "tiny {decimals}"),
            Self::Uniform { buffer, index, channel } => {
                let letter = ['x', 'y', 'z', 'w'][usize::from(channel & 3)];
                write!(f, "CONST[{buffer}][{index}].{letter}")
            }
            Self::State(state) => state.fmt(f),
        }
    }
}

/// Parses what [`Channel`] prints.
impl core::str::FromStr for Channel {
    type Err = UnknownChannel;

    fn from_str(text: &str) -> Result<Self, UnknownChannel> {
        let number = |text: &str| text.trim().parse::<u8>().map_err(|_| UnknownChannel);
        match text {
            "unknown" => return Ok(Self::Unknown),
            "unused" => return Ok(Self::Unused),
            "literal" => return Ok(Self::Literal { decimals: None }),
            "viewport scale" => return Ok(Self::State(DriverState::ViewportScale)),
            "viewport offset" => return Ok(Self::State(DriverState::ViewportOffset)),
            _ => {}
        }
        if let Some(decimals) = text.strip_prefix("literal ") {
            return Ok(Self::Literal { decimals: Some(number(decimals)?) });
        }
        if let Some(decimals) = text.strip_prefix("tiny ") {
            return Ok(Self::Tiny { decimals: number(decimals)? });
        }
        let uniform = || {
            let (buffer, rest) = text.strip_prefix("CONST[")?.split_once("][")?;
            let (index, letter) = rest.split_once("].")?;
            let channel = "xyzw".find(letter).filter(|_| letter.len() == 1)?;
            let channel = u8::try_from(channel).ok()?;
            let (buffer, index) = (buffer.parse().ok()?, index.parse().ok()?);
            Some(Self::Uniform { buffer, index, channel })
        };
        uniform().ok_or(UnknownChannel)
    }
}

/// A text that names no [`Channel`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownChannel;

impl fmt::Display for UnknownChannel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("this is not what a log says of a channel; for example `literal 4`, `CONST[0][3].x`, `unused`")
    }
}

impl core::error::Error for UnknownChannel {}

/// Prints the value: `viewport scale`, `viewport offset`.
impl fmt::Display for DriverState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ViewportScale => f.write_str("viewport scale"),
            Self::ViewportOffset => f.write_str("viewport offset"),
        }
    }
}

impl Sampler {
    /// Returns the kind of texture that a target of TGSI names: `2D`, `SHADOWCUBE`.
    #[must_use]
    pub fn from_target(name: &str) -> Option<Self> {
        let (name, shadow) = match name.strip_prefix("SHADOW") {
            Some(name) => (name, true),
            None => name.strip_suffix("SHADOW").map_or((name, false), |name| (name, true)),
        };
        let target = match name {
            "1D" => SamplerTarget::D1,
            "2D" => SamplerTarget::D2,
            "RECT" => SamplerTarget::Rect,
            "3D" => SamplerTarget::D3,
            "CUBE" => SamplerTarget::Cube,
            _ => return None,
        };
        Some(Self { target, shadow })
    }
}

/// Prints the target as TGSI writes it: `2D`, `SHADOW2D`.
impl fmt::Display for Sampler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.shadow { "SHADOW" } else { "" })?;
        f.write_str(self.target.name())
    }
}

impl Resource {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Temporaries,
        Self::Constants,
        Self::Instructions,
        Self::FlowControl,
        Self::Operations,
    ];

    /// Returns the resource with this [name](Self::name).
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|resource| resource.name() == name)
    }

    /// Returns what helps a shader that runs out of it.
    #[must_use]
    pub const fn help(self) -> &'static str {
        match self {
            Self::Temporaries => {
                "keep fewer values alive at once: compute them where they are used, split the shader into passes, or roll loops that the \
                 compiler unrolls"
            }
            Self::Constants => {
                "pack uniforms and literals into vectors, and declare arrays no larger than they are used; relative addressing keeps whole \
                 arrays"
            }
            Self::Instructions => {
                "split the shader into passes, replace long expressions by texture lookups, or keep loops from being unrolled"
            }
            Self::FlowControl => {
                "nest fewer branches and loops, or select values instead of branching"
            }
            Self::Operations => "write the shader without the operation that the driver names",
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn channels_are_parsed_as_they_print() {
        for channel in [
            Channel::Unknown,
            Channel::Unused,
            Channel::Literal { decimals: None },
            Channel::Literal { decimals: Some(4) },
            Channel::Tiny { decimals: 6 },
            Channel::Uniform { buffer: 0, index: 3, channel: 2 },
            Channel::State(DriverState::ViewportScale),
            Channel::State(DriverState::ViewportOffset),
        ] {
            assert_eq!(channel.to_string().parse(), Ok(channel));
        }
        for text in ["", "texture scale 0", "literal x", "CONST[0][3].r", "CONST[0][3].xy"] {
            assert_eq!(text.parse::<Channel>(), Err(UnknownChannel), "{text}");
        }
    }
}
