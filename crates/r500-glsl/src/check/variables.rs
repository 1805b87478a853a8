//! Variables of the language: those of each stage, the limits, and ShaderToy's.

use std::sync::Arc;

use super::Checker;
use crate::diagnostic::Span;
use crate::tree::{BuiltinVariable, Expr, ExprKind, Stage, Storage, Variable, VariableId};
use crate::types::{Dimensions, Structure, Type};

/// A name with its type and what it is for.
type Row = (&'static str, Type, Storage);

fn vec4() -> Type {
    Type::floats(4)
}

fn array(of: Type, length: usize) -> Type {
    Type::Array(Box::new(of), length)
}

fn matrix(size: u8) -> Type {
    Type::Matrix { columns: size, rows: size }
}

fn structure(name: &str, members: &[(&str, Type)]) -> Type {
    let members = members.iter().map(|(name, ty)| ((*name).to_owned(), ty.clone())).collect();
    Type::Struct(Arc::new(Structure { name: name.to_owned(), members }))
}

/// Lights, units of textures and clip planes, as drivers for the chip have them.
const LIGHTS: usize = 8;
const TEXTURE_UNITS: usize = 8;
const CLIP_PLANES: usize = 6;

/// The state of fixed-function drawing, which both stages read: GLSL 1.10 and 1.20, 7.5. It has no values of its own: the host gives them by
/// name, like those of other uniforms.
fn of_fixed_function() -> Vec<Row> {
    let float = || Type::FLOAT;
    let material = structure(
        "gl_MaterialParameters",
        &[
            ("emission", vec4()),
            ("ambient", vec4()),
            ("diffuse", vec4()),
            ("specular", vec4()),
            ("shininess", float()),
        ],
    );
    let light = structure(
        "gl_LightSourceParameters",
        &[
            ("ambient", vec4()),
            ("diffuse", vec4()),
            ("specular", vec4()),
            ("position", vec4()),
            ("halfVector", vec4()),
            ("spotDirection", Type::floats(3)),
            ("spotExponent", float()),
            ("spotCutoff", float()),
            ("spotCosCutoff", float()),
            ("constantAttenuation", float()),
            ("linearAttenuation", float()),
            ("quadraticAttenuation", float()),
        ],
    );
    let scene = structure("gl_LightModelProducts", &[("sceneColor", vec4())]);
    let product = structure(
        "gl_LightProducts",
        &[("ambient", vec4()), ("diffuse", vec4()), ("specular", vec4())],
    );
    let point = structure(
        "gl_PointParameters",
        &[
            ("size", float()),
            ("sizeMin", float()),
            ("sizeMax", float()),
            ("fadeThresholdSize", float()),
            ("distanceConstantAttenuation", float()),
            ("distanceLinearAttenuation", float()),
            ("distanceQuadraticAttenuation", float()),
        ],
    );
    let fog = structure(
        "gl_FogParameters",
        &[
            ("color", vec4()),
            ("density", float()),
            ("start", float()),
            ("end", float()),
            ("scale", float()),
        ],
    );
    let range = structure(
        "gl_DepthRangeParameters",
        &[("near", float()), ("far", float()), ("diff", float())],
    );
    let planes = || array(vec4(), TEXTURE_UNITS);
    let list = vec![
        ("gl_DepthRange", range),
        ("gl_NormalScale", float()),
        ("gl_ClipPlane", array(vec4(), CLIP_PLANES)),
        ("gl_Point", point),
        ("gl_FrontMaterial", material.clone()),
        ("gl_BackMaterial", material),
        ("gl_LightSource", array(light, LIGHTS)),
        ("gl_LightModel", structure("gl_LightModelParameters", &[("ambient", vec4())])),
        ("gl_FrontLightModelProduct", scene.clone()),
        ("gl_BackLightModelProduct", scene),
        ("gl_FrontLightProduct", array(product.clone(), LIGHTS)),
        ("gl_BackLightProduct", array(product, LIGHTS)),
        ("gl_TextureEnvColor", planes()),
        ("gl_EyePlaneS", planes()),
        ("gl_EyePlaneT", planes()),
        ("gl_EyePlaneR", planes()),
        ("gl_EyePlaneQ", planes()),
        ("gl_ObjectPlaneS", planes()),
        ("gl_ObjectPlaneT", planes()),
        ("gl_ObjectPlaneR", planes()),
        ("gl_ObjectPlaneQ", planes()),
        ("gl_Fog", fog),
        ("gl_NormalMatrix", matrix(3)),
    ];
    let matrices = [
        "gl_ModelViewMatrix",
        "gl_ModelViewMatrixInverse",
        "gl_ModelViewMatrixTranspose",
        "gl_ModelViewMatrixInverseTranspose",
        "gl_ProjectionMatrix",
        "gl_ProjectionMatrixInverse",
        "gl_ProjectionMatrixTranspose",
        "gl_ProjectionMatrixInverseTranspose",
        "gl_ModelViewProjectionMatrix",
        "gl_ModelViewProjectionMatrixInverse",
        "gl_ModelViewProjectionMatrixTranspose",
        "gl_ModelViewProjectionMatrixInverseTranspose",
    ];
    let of_textures = [
        "gl_TextureMatrix",
        "gl_TextureMatrixInverse",
        "gl_TextureMatrixTranspose",
        "gl_TextureMatrixInverseTranspose",
    ];
    let matrices = matrices.map(|name| (name, matrix(4)));
    let of_textures = of_textures.map(|name| (name, array(matrix(4), TEXTURE_UNITS)));
    let all = list.into_iter().chain(matrices).chain(of_textures);
    all.map(|(name, ty)| (name, ty, Storage::Uniform)).collect()
}

/// The variables of fragment shaders.
fn of_fragments() -> Vec<Row> {
    use BuiltinVariable as B;
    let of = |name, ty, builtin| (name, ty, Storage::Builtin(builtin));
    vec![
        of("gl_FragColor", vec4(), B::FragColor),
        of("gl_FragData", array(vec4(), 4), B::FragData),
        of("gl_FragCoord", vec4(), B::FragCoord),
        of("gl_FragDepth", Type::FLOAT, B::FragDepth),
        of("gl_FrontFacing", Type::BOOL, B::FrontFacing),
        of("gl_PointCoord", Type::floats(2), B::PointCoord),
        of("gl_Color", vec4(), B::Color),
        of("gl_SecondaryColor", vec4(), B::SecondaryColor),
        of("gl_TexCoord", array(vec4(), 8), B::TexCoord),
        of("gl_FogFragCoord", Type::FLOAT, B::FogFragCoord),
        of("gl_FragDepthEXT", Type::FLOAT, B::FragDepth),
    ]
}

/// The variables of vertex shaders: outputs and attributes.
fn of_vertices() -> Vec<Row> {
    use Storage::{Attribute, Builtin, Global, Varying};
    vec![
        ("gl_Position", vec4(), Builtin(BuiltinVariable::Position)),
        ("gl_PointSize", Type::FLOAT, Builtin(BuiltinVariable::PointSize)),
        // The chip clips by `gl_Position`.
        ("gl_ClipVertex", vec4(), Global),
        ("gl_FrontColor", vec4(), Varying),
        ("gl_BackColor", vec4(), Varying),
        ("gl_FrontSecondaryColor", vec4(), Varying),
        ("gl_BackSecondaryColor", vec4(), Varying),
        ("gl_TexCoord", array(vec4(), 8), Varying),
        ("gl_FogFragCoord", Type::FLOAT, Varying),
        ("gl_Vertex", vec4(), Attribute),
        ("gl_Normal", Type::floats(3), Attribute),
        ("gl_Color", vec4(), Attribute),
        ("gl_SecondaryColor", vec4(), Attribute),
        ("gl_FogCoord", Type::FLOAT, Attribute),
        ("gl_MultiTexCoord0", vec4(), Attribute),
        ("gl_MultiTexCoord1", vec4(), Attribute),
        ("gl_MultiTexCoord2", vec4(), Attribute),
        ("gl_MultiTexCoord3", vec4(), Attribute),
        ("gl_MultiTexCoord4", vec4(), Attribute),
        ("gl_MultiTexCoord5", vec4(), Attribute),
        ("gl_MultiTexCoord6", vec4(), Attribute),
        ("gl_MultiTexCoord7", vec4(), Attribute),
    ]
}

/// The variables that ShaderToy declares.
fn of_shadertoy() -> Vec<Row> {
    let sampler = || Type::Sampler { dimensions: Dimensions::D2, shadow: false };
    let table = [
        ("iResolution", Type::floats(3)),
        ("iTime", Type::FLOAT),
        ("iGlobalTime", Type::FLOAT),
        ("iTimeDelta", Type::FLOAT),
        ("iFrameRate", Type::FLOAT),
        ("iFrame", Type::INT),
        ("iMouse", Type::floats(4)),
        ("iDate", Type::floats(4)),
        ("iSampleRate", Type::FLOAT),
        ("iChannelTime", array(Type::FLOAT, 4)),
        ("iChannelResolution", array(Type::floats(3), 4)),
        ("iChannel0", sampler()),
        ("iChannel1", sampler()),
        ("iChannel2", sampler()),
        ("iChannel3", sampler()),
    ];
    table.into_iter().map(|(name, ty)| (name, ty, Storage::Uniform)).collect()
}

/// The constants of the language, with the chip's values.
const LIMITS: [(&str, f32); 15] = [
    ("gl_MaxLights", LIGHTS as f32),
    ("gl_MaxClipPlanes", CLIP_PLANES as f32),
    ("gl_MaxTextureUnits", TEXTURE_UNITS as f32),
    ("gl_MaxVertexUniformComponents", 1024.0),
    ("gl_MaxVaryingFloats", 40.0),
    ("gl_MaxDrawBuffers", 4.0),
    ("gl_MaxTextureImageUnits", 16.0),
    ("gl_MaxCombinedTextureImageUnits", 16.0),
    ("gl_MaxVertexTextureImageUnits", 0.0),
    ("gl_MaxTextureCoords", 8.0),
    ("gl_MaxFragmentUniformVectors", 256.0),
    ("gl_MaxFragmentUniformComponents", 1024.0),
    ("gl_MaxVertexAttribs", 16.0),
    ("gl_MaxVertexUniformVectors", 256.0),
    ("gl_MaxVaryingVectors", 10.0),
];

impl Checker<'_> {
    fn rows(&self) -> Vec<Row> {
        let own = match self.stage {
            Stage::Vertex => of_vertices(),
            Stage::Fragment if self.is_main_image => [of_fragments(), of_shadertoy()].concat(),
            Stage::Fragment => of_fragments(),
        };
        [own, of_fixed_function()].concat()
    }

    /// Returns the names of variables that the shader may use without declaring them, for suggestions.
    pub(super) fn variables_of_language(&self) -> Vec<&str> {
        self.rows().into_iter().map(|(name, ..)| name).collect()
    }

    /// Returns the variable of a name of the language; the first use makes it.
    pub(super) fn builtin_variable(&mut self, name: &str) -> Option<VariableId> {
        if let Some(id) = self.builtins.get(name) {
            return Some(*id);
        }
        let row = self.rows().into_iter().find(|(other, ..)| *other == name);
        let (name, ty, storage, init) = match row {
            Some((name, ty, storage)) => (name, ty, storage, None),
            None => {
                let (name, value) = LIMITS.iter().find(|(other, _)| *other == name)?;
                let kind = ExprKind::Constant(vec![*value]);
                let init = Expr { kind, ty: Type::INT, span: Span::default() };
                (*name, Type::INT, Storage::Constant, Some(init))
            }
        };
        let span = Span::default();
        let id = self.variable(Variable { name: name.to_owned(), ty, storage, init, span });
        self.builtins.insert(name, id);
        Some(id)
    }
}
