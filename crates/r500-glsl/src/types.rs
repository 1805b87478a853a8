//! Types.

use std::fmt;
use std::sync::Arc;

/// What a component is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Base {
    /// `bool`
    Bool,
    /// `int`
    Int,
    /// `float`
    Float,
}

/// What a sampler reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dimensions {
    /// One.
    D1,
    /// Two.
    D2,
    /// Two, coordinates in texels.
    Rect,
    /// Three.
    D3,
    /// Six faces.
    Cube,
}

impl Dimensions {
    /// Returns the number of coordinates.
    #[must_use]
    pub fn coordinates(self) -> usize {
        match self {
            Self::D1 => 1,
            Self::D2 | Self::Rect => 2,
            Self::D3 | Self::Cube => 3,
        }
    }
}

/// A type.
#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    /// No value.
    Void,
    /// A scalar (1) or a vector (2 to 4).
    Vector(Base, u8),
    /// A matrix of floats, by columns.
    Matrix {
        /// Columns.
        columns: u8,
        /// Rows.
        rows: u8,
    },
    /// A texture unit.
    Sampler {
        /// What it reads.
        dimensions: Dimensions,
        /// Whether it compares with depths.
        shadow: bool,
    },
    /// An array.
    Array(Box<Self>, usize),
    /// A structure.
    Struct(Arc<Structure>),
    /// That of what has an error.
    Error,
}

/// A structure.
#[derive(Clone, Debug, PartialEq)]
pub struct Structure {
    /// Its name.
    pub name: String,
    /// Names and types of its members.
    pub members: Vec<(String, Type)>,
}

impl Type {
    /// `float`
    pub const FLOAT: Self = Self::Vector(Base::Float, 1);
    /// `int`
    pub const INT: Self = Self::Vector(Base::Int, 1);
    /// `bool`
    pub const BOOL: Self = Self::Vector(Base::Bool, 1);

    /// Returns a vector of floats, a float for 1.
    #[must_use]
    pub const fn floats(n: u8) -> Self {
        Self::Vector(Base::Float, n)
    }

    /// Returns the built-in type of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let vector = |base, n: &str| match n {
            "2" => Some(Self::Vector(base, 2)),
            "3" => Some(Self::Vector(base, 3)),
            "4" => Some(Self::Vector(base, 4)),
            _ => None,
        };
        let sampler = |dimensions, shadow| Some(Self::Sampler { dimensions, shadow });
        match name {
            "void" => Some(Self::Void),
            "float" => Some(Self::FLOAT),
            "int" | "uint" => Some(Self::INT),
            "bool" => Some(Self::BOOL),
            "sampler1D" => sampler(Dimensions::D1, false),
            "sampler2D" => sampler(Dimensions::D2, false),
            "sampler3D" => sampler(Dimensions::D3, false),
            "samplerCube" => sampler(Dimensions::Cube, false),
            "sampler2DRect" => sampler(Dimensions::Rect, false),
            "sampler1DShadow" => sampler(Dimensions::D1, true),
            "sampler2DShadow" => sampler(Dimensions::D2, true),
            "sampler2DRectShadow" => sampler(Dimensions::Rect, true),
            _ => {
                if let Some(n) = name.strip_prefix("vec") {
                    return vector(Base::Float, n);
                }
                if let Some(n) = name.strip_prefix("ivec").or_else(|| name.strip_prefix("uvec")) {
                    return vector(Base::Int, n);
                }
                if let Some(n) = name.strip_prefix("bvec") {
                    return vector(Base::Bool, n);
                }
                let size = |text: &str| text.parse().ok().filter(|n| (2..=4).contains(n));
                let (columns, rows) = match name.strip_prefix("mat")?.split_once('x') {
                    Some((columns, rows)) => (size(columns)?, size(rows)?),
                    None => {
                        let n = size(name.strip_prefix("mat")?)?;
                        (n, n)
                    }
                };
                Some(Self::Matrix { columns, rows })
            }
        }
    }

    /// The names of built-in types, for suggestions.
    pub(crate) const NAMES: [&'static str; 21] = [
        "float",
        "int",
        "bool",
        "vec2",
        "vec3",
        "vec4",
        "ivec2",
        "ivec3",
        "ivec4",
        "bvec2",
        "bvec3",
        "bvec4",
        "mat2",
        "mat3",
        "mat4",
        "sampler1D",
        "sampler2D",
        "sampler3D",
        "samplerCube",
        "sampler2DRect",
        "sampler2DShadow",
    ];

    /// Returns the number of components: of all columns, members and elements.
    #[must_use]
    pub fn components(&self) -> usize {
        match self {
            Self::Vector(_, n) => usize::from(*n),
            Self::Matrix { columns, rows } => usize::from(*columns) * usize::from(*rows),
            Self::Array(of, length) => of.components().saturating_mul(*length),
            Self::Struct(of) => of.members.iter().map(|(_, ty)| ty.components()).sum(),
            Self::Void | Self::Sampler { .. } | Self::Error => 0,
        }
    }

    /// Returns whether it is of what has an error.
    #[must_use]
    pub fn is_error(&self) -> bool {
        *self == Self::Error
    }

    /// Returns the base and the number of components of a scalar or a vector.
    #[must_use]
    pub fn vector(&self) -> Option<(Base, u8)> {
        match self {
            Self::Vector(base, n) => Some((*base, *n)),
            _ => None,
        }
    }

    /// Returns the base of each component of a scalar, vector or matrix.
    #[must_use]
    pub fn base(&self) -> Option<Base> {
        match self {
            Self::Vector(base, _) => Some(*base),
            Self::Matrix { .. } => Some(Base::Float),
            _ => None,
        }
    }

    /// Returns whether it has a texture unit in it.
    #[must_use]
    pub fn has_sampler(&self) -> bool {
        match self {
            Self::Sampler { .. } => true,
            Self::Array(of, _) => of.has_sampler(),
            Self::Struct(of) => of.members.iter().any(|(_, ty)| ty.has_sampler()),
            _ => false,
        }
    }

    /// Returns the type of an element, a column or a component, and their number.
    #[must_use]
    pub fn element(&self) -> Option<(Self, usize)> {
        match self {
            Self::Array(of, length) => Some(((**of).clone(), *length)),
            Self::Vector(base, n) if *n > 1 => Some((Self::Vector(*base, 1), usize::from(*n))),
            Self::Matrix { columns, rows } => Some((Self::floats(*rows), usize::from(*columns))),
            _ => None,
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Void => f.write_str("void"),
            Self::Vector(base, n) => {
                let (scalar, prefix) = match base {
                    Base::Bool => ("bool", "b"),
                    Base::Int => ("int", "i"),
                    Base::Float => ("float", ""),
                };
                if *n == 1 { f.write_str(scalar) } else { write!(f, "{prefix}vec{n}") }
            }
            Self::Matrix { columns, rows } if columns == rows => write!(f, "mat{columns}"),
            Self::Matrix { columns, rows } => write!(f, "mat{columns}x{rows}"),
            Self::Sampler { dimensions, shadow } => {
                let name = match dimensions {
                    Dimensions::D1 => "1D",
                    Dimensions::D2 => "2D",
                    Dimensions::Rect => "2DRect",
                    Dimensions::D3 => "3D",
                    Dimensions::Cube => "Cube",
                };
                write!(f, "sampler{name}{}", if *shadow { "Shadow" } else { "" })
            }
            Self::Array(of, length) => write!(f, "{of}[{length}]"),
            Self::Struct(of) => f.write_str(&of.name),
            Self::Error => f.write_str("?"),
        }
    }
}
