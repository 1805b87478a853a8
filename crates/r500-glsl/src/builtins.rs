//! Functions of the language.

use crate::types::{Base, Dimensions, Type};

macro_rules! builtins {
    ($($variant:ident $name:literal $($signature:literal)+;)*) => {
        /// A function of the language.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Builtin {
            $(#[doc = concat!("`", $name, "`")] $variant,)*
        }

        impl Builtin {
            /// The functions with their signatures.
            pub(crate) const TABLE: &'static [(&'static str, Self, &'static [&'static str])] =
                &[$(($name, Self::$variant, &[$($signature),+]),)*];

            /// Returns its name.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }
    };
}

// A signature is the result and the parameters, a character each: f i b scalars; 2 3 4 vectors of floats; F I B scalars or vectors of the
// same size everywhere in the signature; V W X vectors of that size; M any matrix, the same everywhere; samplers: p q one dimension and
// its shadow, s h two, r t rectangle, v three, c cube.
builtins! {
    Radians "radians" "FF";
    Degrees "degrees" "FF";
    Sin "sin" "FF";
    Cos "cos" "FF";
    Tan "tan" "FF";
    Asin "asin" "FF";
    Acos "acos" "FF";
    Atan "atan" "FF" "FFF";
    Sinh "sinh" "FF";
    Cosh "cosh" "FF";
    Tanh "tanh" "FF";
    Pow "pow" "FFF";
    Exp "exp" "FF";
    Log "log" "FF";
    Exp2 "exp2" "FF";
    Log2 "log2" "FF";
    Sqrt "sqrt" "FF";
    InverseSqrt "inversesqrt" "FF";
    Abs "abs" "FF" "II";
    Sign "sign" "FF" "II";
    Floor "floor" "FF";
    Ceil "ceil" "FF";
    Trunc "trunc" "FF";
    Round "round" "FF";
    RoundEven "roundEven" "FF";
    Fract "fract" "FF";
    Mod "mod" "FFF" "FFf";
    Min "min" "FFF" "FFf" "III" "IIi";
    Max "max" "FFF" "FFf" "III" "IIi";
    Clamp "clamp" "FFFF" "FFff" "IIII" "IIii";
    Mix "mix" "FFFF" "FFFf" "FFFB";
    Step "step" "FFF" "FfF";
    SmoothStep "smoothstep" "FFFF" "FffF";
    Length "length" "fF";
    Distance "distance" "fFF";
    Dot "dot" "fFF";
    Cross "cross" "333";
    Normalize "normalize" "FF";
    FaceForward "faceforward" "FFFF";
    Reflect "reflect" "FFF";
    Refract "refract" "FFFf";
    MatrixCompMult "matrixCompMult" "MMM";
    Transpose "transpose" "MM";
    OuterProduct "outerProduct" "MVV";
    Determinant "determinant" "fM";
    Inverse "inverse" "MM";
    LessThan "lessThan" "XVV" "XWW";
    LessThanEqual "lessThanEqual" "XVV" "XWW";
    GreaterThan "greaterThan" "XVV" "XWW";
    GreaterThanEqual "greaterThanEqual" "XVV" "XWW";
    Equal "equal" "XVV" "XWW" "XXX";
    NotEqual "notEqual" "XVV" "XWW" "XXX";
    Any "any" "bX";
    All "all" "bX";
    Not "not" "XX";
    DFdx "dFdx" "FF";
    DFdy "dFdy" "FF";
    Fwidth "fwidth" "FF";
    Texture1D "texture1D" "4pf" "4pff";
    Texture1DProj "texture1DProj" "4p2" "4p2f" "4p4" "4p4f";
    Texture1DLod "texture1DLod" "4pff";
    Texture1DGrad "texture1DGrad" "4pfff";
    Texture2D "texture2D" "4s2" "4s2f";
    Texture2DProj "texture2DProj" "4s3" "4s3f" "4s4" "4s4f";
    Texture2DLod "texture2DLod" "4s2f";
    Texture2DProjLod "texture2DProjLod" "4s3f" "4s4f";
    Texture2DGrad "texture2DGrad" "4s222";
    Texture2DRect "texture2DRect" "4r2";
    Texture2DRectProj "texture2DRectProj" "4r3" "4r4";
    Texture3D "texture3D" "4v3" "4v3f";
    Texture3DProj "texture3DProj" "4v4" "4v4f";
    Texture3DLod "texture3DLod" "4v3f";
    TextureCube "textureCube" "4c3" "4c3f";
    TextureCubeLod "textureCubeLod" "4c3f";
    TextureCubeGrad "textureCubeGrad" "4c333";
    Shadow1D "shadow1D" "4q3" "4q3f";
    Shadow1DProj "shadow1DProj" "4q4" "4q4f";
    Shadow2D "shadow2D" "4h3" "4h3f";
    Shadow2DProj "shadow2DProj" "4h4" "4h4f";
    Shadow2DRect "shadow2DRect" "4t3";
    Texture "texture" "4s2" "4s2f" "4v3" "4v3f" "4c3" "4c3f" "fh3" "fh3f";
    TextureProj "textureProj" "4s3" "4s3f" "4s4" "4s4f" "4v4" "4v4f";
    TextureLod "textureLod" "4s2f" "4v3f" "4c3f";
    TextureGrad "textureGrad" "4s222" "4v333" "4c333";
}

/// Names of extensions for functions that exist.
const ALIASES: [(&str, &str); 12] = [
    ("texture2DLodEXT", "texture2DLod"),
    ("texture2DProjLodEXT", "texture2DProjLod"),
    ("textureCubeLodEXT", "textureCubeLod"),
    ("texture2DGradEXT", "texture2DGrad"),
    ("textureCubeGradEXT", "textureCubeGrad"),
    ("texture1DGradARB", "texture1DGrad"),
    ("texture2DGradARB", "texture2DGrad"),
    ("texture1DLodARB", "texture1DLod"),
    ("texture2DLodARB", "texture2DLod"),
    ("textureCubeLodARB", "textureCubeLod"),
    ("texture3DLodARB", "texture3DLod"),
    ("textureCubeGradARB", "textureCubeGrad"),
];

impl Builtin {
    /// Returns the function of a name, with its signatures.
    pub(crate) fn named(name: &str) -> Option<(Self, &'static [&'static str])> {
        let name = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, of)| of);
        let found = Self::TABLE.iter().find(|(other, ..)| *other == name);
        found.map(|(_, builtin, signatures)| (*builtin, *signatures))
    }

    /// Returns whether it compares neighbouring pixels.
    #[must_use]
    pub fn is_derivative(self) -> bool {
        matches!(self, Self::DFdx | Self::DFdy | Self::Fwidth)
    }

    /// Returns whether it fetches from a texture.
    #[must_use]
    pub fn fetches(self) -> bool {
        let name = self.name();
        name.starts_with("texture") || name.starts_with("shadow")
    }
}

/// Matches arguments with a signature. Returns the type of the result, and those that the arguments must have.
pub(crate) fn matches(
    signature: &str,
    arguments: &[Type],
    converts_integers: bool,
) -> Option<(Type, Vec<Type>)> {
    let mut characters = signature.chars();
    let result = characters.next()?;
    if characters.clone().count() != arguments.len() {
        return None;
    }
    let (mut size, mut matrix) = (None, None);
    // `outerProduct` takes a column and a row of any sizes.
    let is_outer = signature == "MVV";
    let mut sizes = Vec::new();
    let mut wanted = Vec::new();
    for (c, argument) in characters.zip(arguments) {
        let fits = |base: Base, n: u8| match argument {
            Type::Vector(found, m) => {
                let converted = converts_integers && base == Base::Float && *found == Base::Int;
                (*found == base || converted) && *m == n
            }
            _ => false,
        };
        let fixed = |base, n| fits(base, n).then_some(Type::Vector(base, n));
        let ty = match c {
            'f' => fixed(Base::Float, 1)?,
            'i' => fixed(Base::Int, 1)?,
            'b' => fixed(Base::Bool, 1)?,
            '2' => fixed(Base::Float, 2)?,
            '3' => fixed(Base::Float, 3)?,
            '4' => fixed(Base::Float, 4)?,
            'F' | 'I' | 'B' | 'V' | 'W' | 'X' => {
                let base = match c {
                    'F' | 'V' => Base::Float,
                    'I' | 'W' => Base::Int,
                    _ => Base::Bool,
                };
                let (_, n) = argument.vector()?;
                let is_vector = matches!(c, 'V' | 'W' | 'X');
                let known = size.filter(|_| !is_outer);
                if !fits(base, n) || known.is_some_and(|known| known != n) || is_vector && n == 1 {
                    return None;
                }
                size = Some(n);
                sizes.push(n);
                Type::Vector(base, n)
            }
            'M' => {
                let Type::Matrix { .. } = argument else { return None };
                if matrix.as_ref().is_some_and(|known| known != argument) {
                    return None;
                }
                matrix = Some(argument.clone());
                argument.clone()
            }
            _ => {
                let Type::Sampler { dimensions, shadow } = argument else { return None };
                let wanted = match c {
                    'p' => (Dimensions::D1, false),
                    'q' => (Dimensions::D1, true),
                    's' => (Dimensions::D2, false),
                    'h' => (Dimensions::D2, true),
                    'r' => (Dimensions::Rect, false),
                    't' => (Dimensions::Rect, true),
                    'v' => (Dimensions::D3, false),
                    'c' => (Dimensions::Cube, false),
                    _ => return None,
                };
                if (*dimensions, *shadow) != wanted {
                    return None;
                }
                argument.clone()
            }
        };
        wanted.push(ty);
    }
    let result = match result {
        'f' => Type::FLOAT,
        'i' => Type::INT,
        'b' => Type::BOOL,
        '2' => Type::floats(2),
        '3' => Type::floats(3),
        '4' => Type::floats(4),
        'F' | 'V' => Type::Vector(Base::Float, size?),
        'I' | 'W' => Type::Vector(Base::Int, size?),
        'B' | 'X' => Type::Vector(Base::Bool, size?),
        'M' if is_outer => Type::Matrix { columns: *sizes.get(1)?, rows: *sizes.first()? },
        'M' => matrix?,
        _ => return None,
    };
    Some((result, wanted))
}

/// Returns the parameters of a signature, for messages: `vec2, float`.
pub(crate) fn describe(signature: &str) -> String {
    let names: Vec<&str> = signature
        .chars()
        .skip(1)
        .map(|c| match c {
            'f' => "float",
            'i' => "int",
            'b' => "bool",
            '2' => "vec2",
            '3' => "vec3",
            '4' => "vec4",
            'F' => "float or vector",
            'I' => "int or ivec",
            'B' => "bool or bvec",
            'V' => "vector",
            'W' => "ivec",
            'X' => "bvec",
            'M' => "matrix",
            'p' => "sampler1D",
            'q' => "sampler1DShadow",
            's' => "sampler2D",
            'h' => "sampler2DShadow",
            'r' => "sampler2DRect",
            't' => "sampler2DRectShadow",
            'v' => "sampler3D",
            _ => "samplerCube",
        })
        .collect();
    names.join(", ")
}
