//! The client: compiles and draws a pair of shaders by OpenGL, without a window.
//!
//! It runs in a process of its own, on the virtual card. A driver that crashes or hangs takes only that process.
#![expect(unsafe_code, reason = "EGL and OpenGL are C; this module alone calls them")]

use glow::HasContext;
use khronos_egl as egl;

use crate::request::{Attribute, Component, Report, Request, Sampler, Step, TAGGED, Uniform};
use crate::shader::{Api, POSITION};

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// There is no libEGL.
    #[error("libEGL.so.1 cannot be loaded: {0}")]
    NoEgl(String),
    /// EGL finds no driver.
    #[error("EGL gives no context: {0}")]
    NoContext(String),
    /// OpenGL failed.
    #[error("OpenGL: {0}")]
    Gl(String),
    /// The report cannot be written.
    #[error("the report cannot be written: {0}")]
    Report(#[from] std::io::Error),
}

/// Width and height of the picture in pixels.
const SIDE: i32 = 16;

/// Compiles, links and draws, and writes the report.
///
/// # Errors
/// [`ClientError`]; errors of the shaders are part of the report.
pub fn run(request: &Request) -> Result<(), ClientError> {
    let report = Client::new(request.api)?.report(request)?;
    let text = serde_json::to_vec(&report).map_err(std::io::Error::from)?;
    std::fs::write(&request.report, text)?;
    Ok(())
}

/// A context that is current on this thread for as long as the process runs.
struct Client {
    gl: glow::Context,
}

type Egl = egl::DynamicInstance<egl::EGL1_5>;

impl Client {
    fn new(api: Api) -> Result<Self, ClientError> {
        // SAFETY: libEGL is the system's; its initialisers have no requirements.
        let egl = unsafe { Egl::load_required() };
        let egl = egl.map_err(|error| ClientError::NoEgl(error.to_string()))?;
        context(&egl, api).map_err(|error| ClientError::NoContext(error.to_string()))?;
        let address = |name: &std::ffi::CStr| {
            let name = name.to_str().unwrap_or_default();
            egl.get_proc_address(name).map_or(std::ptr::null(), |function| function as *const _)
        };
        // SAFETY: a context is current, and EGL's functions of these names have the types that OpenGL gives them.
        let gl = unsafe { glow::Context::from_loader_function_cstr(address) };
        // The library stays loaded: `gl` has its functions.
        std::mem::forget(egl);
        Ok(Self { gl })
    }

    fn report(&self, request: &Request) -> Result<Report, ClientError> {
        let mut report = Report {
            renderer: self.string(glow::RENDERER),
            version: self.string(glow::VERSION),
            ..Report::default()
        };
        let vertex = self.compile(glow::VERTEX_SHADER, &request.vertex, &mut report.vertex)?;
        let fragment =
            self.compile(glow::FRAGMENT_SHADER, &request.fragment, &mut report.fragment)?;
        if !report.vertex.ok || !report.fragment.ok {
            return Ok(report);
        }
        let (program, link) = self.link(vertex, fragment)?;
        let linked = link.ok;
        report.link = Some(link);
        if !linked {
            return Ok(report);
        }
        self.prepare()?;
        report.attributes = self.attributes(program);
        let uniforms = self.uniforms(program, &mut report)?;
        let flags = report
            .uniforms
            .iter()
            .flat_map(|uniform| &uniform.components)
            .filter(|component| matches!(component, Component::TrueIn(_)))
            .count();
        report.draws = TAGGED + flags;
        // What was needed to fill textures is submitted before the draws.
        self.finish()?;
        for draw in 0..report.draws {
            self.set(&uniforms, &report.uniforms, draw);
            self.set_attributes(&report.attributes, draw);
            self.draw()?;
        }
        Ok(report)
    }

    fn string(&self, name: u32) -> String {
        // SAFETY: the context is current on this thread.
        unsafe { self.gl.get_parameter_string(name) }
    }

    fn compile(&self, kind: u32, text: &str, step: &mut Step) -> Result<glow::Shader, ClientError> {
        let gl = &self.gl;
        // SAFETY: the context is current on this thread, and `shader` is one of its shaders.
        unsafe {
            let shader = gl.create_shader(kind).map_err(ClientError::Gl)?;
            gl.shader_source(shader, text);
            gl.compile_shader(shader);
            step.ok = gl.get_shader_compile_status(shader);
            step.log = gl.get_shader_info_log(shader);
            Ok(shader)
        }
    }

    fn link(
        &self,
        vertex: glow::Shader,
        fragment: glow::Shader,
    ) -> Result<(glow::Program, Step), ClientError> {
        let gl = &self.gl;
        // SAFETY: the context is current on this thread, and the objects are its own.
        unsafe {
            let program = gl.create_program().map_err(ClientError::Gl)?;
            gl.attach_shader(program, vertex);
            gl.attach_shader(program, fragment);
            // If the shader has no attribute of this name, nothing happens.
            gl.bind_attrib_location(program, 0, POSITION);
            gl.link_program(program);
            let step = Step {
                ok: gl.get_program_link_status(program),
                log: gl.get_program_info_log(program),
            };
            if step.ok {
                gl.use_program(Some(program));
            }
            Ok((program, step))
        }
    }

    /// Makes the target of draws and the array of attribute 0, a triangle over the whole target. Other attributes keep a constant value.
    fn prepare(&self) -> Result<(), ClientError> {
        let gl = &self.gl;
        let corners: [f32; 6] = [-1.0, -1.0, 3.0, -1.0, -1.0, 3.0];
        let bytes: Vec<u8> = corners.iter().flat_map(|corner| corner.to_ne_bytes()).collect();
        // SAFETY: the context is current on this thread, and the objects are its own; `bytes` has the three vertices of two floats.
        unsafe {
            let target = gl.create_texture().map_err(ClientError::Gl)?;
            gl.bind_texture(glow::TEXTURE_2D, Some(target));
            gl.tex_image_2d(
                glow::TEXTURE_2D,
                0,
                glow::RGBA as i32,
                SIDE,
                SIDE,
                0,
                glow::RGBA,
                glow::UNSIGNED_BYTE,
                glow::PixelUnpackData::Slice(None),
            );
            let frame = gl.create_framebuffer().map_err(ClientError::Gl)?;
            gl.bind_framebuffer(glow::FRAMEBUFFER, Some(frame));
            gl.framebuffer_texture_2d(
                glow::FRAMEBUFFER,
                glow::COLOR_ATTACHMENT0,
                glow::TEXTURE_2D,
                Some(target),
                0,
            );
            gl.bind_texture(glow::TEXTURE_2D, None);
            if gl.check_framebuffer_status(glow::FRAMEBUFFER) != glow::FRAMEBUFFER_COMPLETE {
                return Err(ClientError::Gl("the target is not complete".to_owned()));
            }
            gl.viewport(0, 0, SIDE, SIDE);
            let buffer = gl.create_buffer().map_err(ClientError::Gl)?;
            gl.bind_buffer(glow::ARRAY_BUFFER, Some(buffer));
            gl.buffer_data_u8_slice(glow::ARRAY_BUFFER, &bytes, glow::STATIC_DRAW);
            gl.vertex_attrib_pointer_f32(0, 2, glow::FLOAT, false, 8, 0);
            gl.enable_vertex_attrib_array(0);
        }
        Ok(())
    }

    fn attributes(&self, program: glow::Program) -> Vec<Attribute> {
        let gl = &self.gl;
        let mut number = 0;
        // SAFETY: the context is current on this thread, and `program` is one of its programs.
        unsafe {
            let all = (0..gl.get_active_attributes(program))
                .filter_map(|n| gl.get_active_attribute(program, n));
            all.map(|found| {
                let location = gl.get_attrib_location(program, &found.name);
                let name = found.name.trim_end_matches("[0]").to_owned();
                let vectors = found.size.max(1).unsigned_abs() * columns(found.atype);
                let mut next = |_| {
                    number += 1;
                    attribute_values(number)
                };
                Attribute { name, location, values: (0..vectors).map(&mut next).collect() }
            })
            .collect()
        }
    }

    /// Sets all attributes but the first, which has the place, for a draw.
    fn set_attributes(&self, attributes: &[Attribute], draw: usize) {
        for attribute in attributes {
            let Some(first) = attribute.location else { continue };
            for (location, values) in
                (first..).zip(&attribute.values).filter(|(location, _)| *location > 0)
            {
                let [x, y, z, w] = values[draw.min(TAGGED - 1)];
                // SAFETY: the context is current on this thread; a location of the program in use.
                unsafe { self.gl.vertex_attrib_4_f32(location, x, y, z, w) };
            }
        }
    }

    /// Returns the locations of the components' uniforms, and puts uniforms and samplers in the report.
    fn uniforms(
        &self,
        program: glow::Program,
        report: &mut Report,
    ) -> Result<Vec<Located>, ClientError> {
        let mut located = Vec::new();
        let mut tags = Tags::default();
        // SAFETY: the context is current on this thread, and `program` is one of its programs.
        let count = unsafe { self.gl.get_active_uniforms(program) };
        for n in 0..count {
            // SAFETY: as above.
            let Some(found) = (unsafe { self.gl.get_active_uniform(program, n) }) else { continue };
            let base = found.name.strip_suffix("[0]").unwrap_or(&found.name);
            let elements = found.size.max(1);
            let is_array = found.name.ends_with("[0]");
            for element in 0..elements {
                let name = if is_array { format!("{base}[{element}]") } else { base.to_owned() };
                // SAFETY: as above.
                let location = unsafe { self.gl.get_uniform_location(program, &name) };
                // Uniforms of OpenGL itself, such as matrices, have no location.
                let Some(location) = location else { continue };
                match Kind::of(found.utype) {
                    Some(Kind::Sampler(kind, target)) => {
                        let size = self.texture(report.samplers.len(), target, &location)?;
                        report.samplers.push(Sampler { name, kind: kind.to_owned(), size });
                    }
                    Some(kind) => {
                        let columns = columns(found.utype);
                        let first = report.uniforms.len();
                        for column in 0..columns {
                            let name = if columns > 1 {
                                format!("{name}[{column}]")
                            } else {
                                name.clone()
                            };
                            let components = (0..kind.rows()).map(|_| tags.next(kind)).collect();
                            report.uniforms.push(Uniform { name, components });
                        }
                        located.push(Located { location, kind, columns, first });
                    }
                    None => {
                        return Err(ClientError::Gl(format!(
                            "uniform {name} has type {:#x}",
                            found.utype
                        )));
                    }
                }
            }
        }
        Ok(located)
    }

    /// Binds a texture of another size than all others to unit `n`, and the sampler to the unit.
    fn texture(
        &self,
        n: usize,
        target: Target,
        location: &glow::UniformLocation,
    ) -> Result<[u32; 2], ClientError> {
        let gl = &self.gl;
        let size = target.size(n);
        let [width, height] = size.map(|side| side as i32);
        let unit = u32::try_from(n).map_err(|_| ClientError::Gl("too many samplers".to_owned()))?;
        let (format, kind) = match target.is_shadow {
            true => (glow::DEPTH_COMPONENT, glow::UNSIGNED_INT),
            false => (glow::RGBA, glow::UNSIGNED_BYTE),
        };
        let bind = target.bind;
        let none = || glow::PixelUnpackData::Slice(None);
        // SAFETY: the context is current on this thread, and the objects are its own.
        unsafe {
            gl.active_texture(glow::TEXTURE0 + unit);
            let texture = gl.create_texture().map_err(ClientError::Gl)?;
            gl.bind_texture(bind, Some(texture));
            let set = |name, value: u32| gl.tex_parameter_i32(bind, name, value as i32);
            set(glow::TEXTURE_MIN_FILTER, glow::NEAREST);
            set(glow::TEXTURE_MAG_FILTER, glow::NEAREST);
            set(glow::TEXTURE_WRAP_S, glow::CLAMP_TO_EDGE);
            set(glow::TEXTURE_WRAP_T, glow::CLAMP_TO_EDGE);
            if target.is_shadow {
                set(glow::TEXTURE_COMPARE_MODE, glow::COMPARE_REF_TO_TEXTURE);
                set(glow::TEXTURE_COMPARE_FUNC, glow::LEQUAL);
            }
            let internal = format as i32;
            match bind {
                glow::TEXTURE_1D => {
                    gl.tex_image_1d(bind, 0, internal, width, 0, format, kind, none())
                }
                glow::TEXTURE_3D => {
                    gl.tex_image_3d(bind, 0, internal, width, height, 2, 0, format, kind, none())
                }
                glow::TEXTURE_CUBE_MAP => {
                    for face in 0..6 {
                        let face = glow::TEXTURE_CUBE_MAP_POSITIVE_X + face;
                        gl.tex_image_2d(face, 0, internal, width, height, 0, format, kind, none());
                    }
                }
                _ => gl.tex_image_2d(bind, 0, internal, width, height, 0, format, kind, none()),
            }
            gl.uniform_1_i32(Some(location), unit as i32);
        }
        Ok(size)
    }

    /// Sets all uniforms for a draw.
    fn set(&self, located: &[Located], uniforms: &[Uniform], draw: usize) {
        for Located { location, kind, columns, first } in located {
            let vectors = uniforms.iter().skip(*first).take(*columns as usize);
            let values: Vec<f32> = vectors
                .flat_map(|vector| &vector.components)
                .map(|component| component.in_draw(draw))
                .collect();
            self.set_uniform(location, *kind, *columns, &values);
        }
    }

    fn set_uniform(
        &self,
        location: &glow::UniformLocation,
        kind: Kind,
        columns: u32,
        values: &[f32],
    ) {
        let gl = &self.gl;
        let at = Some(location);
        let whole: Vec<i32> = values.iter().map(|value| *value as i32).collect();
        // SAFETY: the context is current on this thread, and the location is one of the program in use; `values` has its components.
        unsafe {
            match (kind, columns) {
                (Kind::Float(1), 1) => gl.uniform_1_f32_slice(at, values),
                (Kind::Float(2), 1) => gl.uniform_2_f32_slice(at, values),
                (Kind::Float(3), 1) => gl.uniform_3_f32_slice(at, values),
                (Kind::Float(_), 1) => gl.uniform_4_f32_slice(at, values),
                (Kind::Float(2), 2) => gl.uniform_matrix_2_f32_slice(at, false, values),
                (Kind::Float(3), 3) => gl.uniform_matrix_3_f32_slice(at, false, values),
                (Kind::Float(4), 4) => gl.uniform_matrix_4_f32_slice(at, false, values),
                (Kind::Float(3), 2) => gl.uniform_matrix_2x3_f32_slice(at, false, values),
                (Kind::Float(4), 2) => gl.uniform_matrix_2x4_f32_slice(at, false, values),
                (Kind::Float(2), 3) => gl.uniform_matrix_3x2_f32_slice(at, false, values),
                (Kind::Float(4), 3) => gl.uniform_matrix_3x4_f32_slice(at, false, values),
                (Kind::Float(2), _) => gl.uniform_matrix_4x2_f32_slice(at, false, values),
                (Kind::Float(_), _) => gl.uniform_matrix_4x3_f32_slice(at, false, values),
                (Kind::Integer(1) | Kind::Boolean(1), _) => gl.uniform_1_i32_slice(at, &whole),
                (Kind::Integer(2) | Kind::Boolean(2), _) => gl.uniform_2_i32_slice(at, &whole),
                (Kind::Integer(3) | Kind::Boolean(3), _) => gl.uniform_3_i32_slice(at, &whole),
                (Kind::Integer(_) | Kind::Boolean(_), _) => gl.uniform_4_i32_slice(at, &whole),
                (Kind::Sampler(..), _) => {}
            }
        }
    }

    fn draw(&self) -> Result<(), ClientError> {
        // SAFETY: the context is current on this thread; attribute 0 has three vertices, all others have a constant value.
        unsafe { self.gl.draw_arrays(glow::TRIANGLES, 0, 3) };
        self.finish()
    }

    fn finish(&self) -> Result<(), ClientError> {
        // SAFETY: the context is current on this thread.
        let error = unsafe {
            self.gl.finish();
            self.gl.get_error()
        };
        match error {
            glow::NO_ERROR => Ok(()),
            error => Err(ClientError::Gl(format!("a call failed with {error:#06x}"))),
        }
    }
}

/// Returns the values of vector `number` of the attributes, from 1, in the draws: between 0 and 1, as colours must be.
fn attribute_values(number: u16) -> [[f32; 4]; TAGGED] {
    let value = |component: u16| f32::from(number * 4 + component) / 128.0;
    let upward = std::array::from_fn(|component| value(component as u16));
    [upward, upward.map(|value| 1.0 - value)]
}

/// Makes a context without a surface and makes it current.
fn context(egl: &Egl, api: Api) -> Result<(), egl::Error> {
    const PLATFORM_SURFACELESS_MESA: egl::Enum = 0x31dd;
    // SAFETY: this platform has no native display.
    let display = unsafe {
        egl.get_platform_display(
            PLATFORM_SURFACELESS_MESA,
            std::ptr::null_mut(),
            &[egl::ATTRIB_NONE],
        )
    }?;
    egl.initialize(display)?;
    let (bind, bit) = match api {
        Api::Es => (egl::OPENGL_ES_API, egl::OPENGL_ES2_BIT),
        Api::Gl => (egl::OPENGL_API, egl::OPENGL_BIT),
    };
    egl.bind_api(bind)?;
    let wanted = [egl::SURFACE_TYPE, 0, egl::RENDERABLE_TYPE, bit, egl::NONE];
    let config = egl.choose_first_config(display, &wanted)?.ok_or(egl::Error::BadConfig)?;
    let version: &[egl::Int] = match api {
        Api::Es => &[egl::CONTEXT_CLIENT_VERSION, 2, egl::NONE],
        Api::Gl => &[egl::NONE],
    };
    let context = egl.create_context(display, config, None, version)?;
    egl.make_current(display, None, None, Some(context))
}

/// A uniform's location, and its first vector in the report.
struct Located {
    location: glow::UniformLocation,
    kind: Kind,
    columns: u32,
    first: usize,
}

impl Component {
    /// Returns its value in a draw.
    fn in_draw(self, draw: usize) -> f32 {
        match self {
            Self::Numbers(numbers) => numbers[draw.min(TAGGED - 1)],
            Self::TrueIn(wanted) => f32::from(u8::from(draw == wanted)),
        }
    }
}

/// Numbers for the components of uniforms.
#[derive(Default)]
struct Tags {
    numbers: u16,
    flags: usize,
}

impl Tags {
    /// Returns what distinguishes the next component: numbers that no shader has by chance, exact as floats; integers are whole.
    fn next(&mut self, kind: Kind) -> Component {
        if matches!(kind, Kind::Boolean(_)) {
            self.flags += 1;
            return Component::TrueIn(TAGGED - 1 + self.flags);
        }
        self.numbers += 1;
        let fraction = if matches!(kind, Kind::Float(_)) { 0.28125 } else { 0.0 };
        Component::Numbers(
            [12_289.0, 77_003.0].map(|base: f32| base + f32::from(self.numbers) + fraction),
        )
    }
}

/// What a uniform is.
#[derive(Clone, Copy)]
enum Kind {
    /// Floats: the number of rows.
    Float(u32),
    /// Integers: components.
    Integer(u32),
    /// Booleans: components.
    Boolean(u32),
    /// A sampler: its type.
    Sampler(&'static str, Target),
}

/// The texture of a sampler.
#[derive(Clone, Copy)]
struct Target {
    bind: u32,
    is_shadow: bool,
}

impl Target {
    /// Returns width and height of texture `n`: powers of two, which every format and mode takes, another pair for each. Cubes are
    /// squares, one-dimensional textures have one row.
    fn size(self, n: usize) -> [u32; 2] {
        let step = n as u32 % 12;
        match self.bind {
            glow::TEXTURE_CUBE_MAP => [1 << step.min(10); 2],
            glow::TEXTURE_1D => [1 << step.min(11), 1],
            _ => [2 << (step / 4), 32 << (step % 4)],
        }
    }
}

impl Kind {
    fn rows(self) -> u32 {
        match self {
            Self::Float(rows) | Self::Integer(rows) | Self::Boolean(rows) => rows,
            Self::Sampler(..) => 0,
        }
    }

    fn of(kind: u32) -> Option<Self> {
        let sampler = |name, bind, is_shadow| Self::Sampler(name, Target { bind, is_shadow });
        Some(match kind {
            glow::FLOAT => Self::Float(1),
            glow::FLOAT_VEC2 | glow::FLOAT_MAT2 | glow::FLOAT_MAT3x2 | glow::FLOAT_MAT4x2 => {
                Self::Float(2)
            }
            glow::FLOAT_VEC3 | glow::FLOAT_MAT3 | glow::FLOAT_MAT2x3 | glow::FLOAT_MAT4x3 => {
                Self::Float(3)
            }
            glow::FLOAT_VEC4 | glow::FLOAT_MAT4 | glow::FLOAT_MAT2x4 | glow::FLOAT_MAT3x4 => {
                Self::Float(4)
            }
            glow::INT => Self::Integer(1),
            glow::INT_VEC2 => Self::Integer(2),
            glow::INT_VEC3 => Self::Integer(3),
            glow::INT_VEC4 => Self::Integer(4),
            glow::BOOL => Self::Boolean(1),
            glow::BOOL_VEC2 => Self::Boolean(2),
            glow::BOOL_VEC3 => Self::Boolean(3),
            glow::BOOL_VEC4 => Self::Boolean(4),
            glow::SAMPLER_1D => sampler("sampler1D", glow::TEXTURE_1D, false),
            glow::SAMPLER_2D => sampler("sampler2D", glow::TEXTURE_2D, false),
            glow::SAMPLER_3D => sampler("sampler3D", glow::TEXTURE_3D, false),
            glow::SAMPLER_CUBE => sampler("samplerCube", glow::TEXTURE_CUBE_MAP, false),
            glow::SAMPLER_2D_RECT => sampler("sampler2DRect", glow::TEXTURE_RECTANGLE, false),
            glow::SAMPLER_1D_SHADOW => sampler("sampler1DShadow", glow::TEXTURE_1D, true),
            glow::SAMPLER_2D_SHADOW => sampler("sampler2DShadow", glow::TEXTURE_2D, true),
            glow::SAMPLER_2D_RECT_SHADOW => {
                sampler("sampler2DRectShadow", glow::TEXTURE_RECTANGLE, true)
            }
            _ => return None,
        })
    }
}

/// Returns the number of columns of a type.
fn columns(kind: u32) -> u32 {
    match kind {
        glow::FLOAT_MAT2 | glow::FLOAT_MAT2x3 | glow::FLOAT_MAT2x4 => 2,
        glow::FLOAT_MAT3 | glow::FLOAT_MAT3x2 | glow::FLOAT_MAT3x4 => 3,
        glow::FLOAT_MAT4 | glow::FLOAT_MAT4x2 | glow::FLOAT_MAT4x3 => 4,
        _ => 1,
    }
}
