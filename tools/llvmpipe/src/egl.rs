//! Mesa's llvmpipe without a window: a surfaceless EGL display, with a context for OpenGL and one
//! for OpenGL ES.
#![allow(unsafe_code)]

use std::cell::OnceCell;

use anyhow::{Context as _, Result, bail};
use glow::HasContext;
use khronos_egl as egl;

/// `EGL_PLATFORM_SURFACELESS_MESA`.
const PLATFORM_SURFACELESS: egl::Enum = 0x31DD;

/// llvmpipe.
pub(crate) struct Mesa {
    egl: egl::DynamicInstance<egl::EGL1_5>,
    display: egl::Display,
    es: OnceCell<Bound>,
    desktop: OnceCell<Bound>,
}

/// A context and its functions.
struct Bound {
    context: egl::Context,
    gl: glow::Context,
}

/// Returns the environment that selects Mesa's renderer and its number of threads, and disables the
/// shader cache on disk.
pub(crate) fn environment(threads: usize) -> [(&'static str, String); 4] {
    [
        ("LIBGL_ALWAYS_SOFTWARE", "true".to_owned()),
        ("GALLIUM_DRIVER", "llvmpipe".to_owned()),
        ("LP_NUM_THREADS", threads.to_string()),
        ("MESA_SHADER_CACHE_DISABLE", "true".to_owned()),
    ]
}

impl Mesa {
    /// Loads EGL and opens the display.
    ///
    /// # Errors
    /// If there is no EGL 1.5, or no surfaceless platform.
    pub(crate) fn load() -> Result<Self> {
        // SAFETY: a library with this name implements EGL.
        let egl = unsafe {
            egl::DynamicInstance::<egl::EGL1_5>::load_required_from_filename("libEGL.so.1")
        };
        let egl = egl.context("EGL")?;
        let (default, no_attributes) = (egl::DEFAULT_DISPLAY, [egl::ATTRIB_NONE]);
        // SAFETY: the default display of this platform is null.
        let display =
            unsafe { egl.get_platform_display(PLATFORM_SURFACELESS, default, &no_attributes) };
        let display = display.context("an EGL display without surfaces")?;
        egl.initialize(display).context("EGL")?;
        Ok(Self { egl, display, es: OnceCell::new(), desktop: OnceCell::new() })
    }

    /// Returns the functions of desktop OpenGL or of OpenGL ES, and makes their context current.
    /// The functions of the other one must not be called from then on.
    ///
    /// # Errors
    /// If there is no such context, or its renderer is not llvmpipe.
    pub(crate) fn current(&self, desktop: bool) -> Result<&glow::Context> {
        let cell = if desktop { &self.desktop } else { &self.es };
        if cell.get().is_none() {
            let bound = self.make(desktop).with_context(|| match desktop {
                true => "an OpenGL context",
                false => "an OpenGL ES context",
            })?;
            // The cell is empty, as checked above.
            let _ = cell.set(bound);
        }
        let bound = cell.get().context("a context")?;
        self.make_current(bound.context, desktop)?;
        Ok(&bound.gl)
    }

    /// Returns the renderer's name, with the width of its vectors, and its version.
    ///
    /// # Errors
    /// If there is no llvmpipe.
    pub(crate) fn renderer(&self) -> Result<String> {
        let gl = self.current(false)?;
        // SAFETY: the context is current.
        let (renderer, version) = unsafe {
            (gl.get_parameter_string(glow::RENDERER), gl.get_parameter_string(glow::VERSION))
        };
        Ok(format!("{renderer}; {version}"))
    }

    fn make(&self, desktop: bool) -> Result<Bound> {
        let kind = if desktop { egl::OPENGL_BIT } else { egl::OPENGL_ES2_BIT };
        self.bind_api(desktop)?;
        let attributes =
            [egl::SURFACE_TYPE, egl::PBUFFER_BIT, egl::RENDERABLE_TYPE, kind, egl::NONE];
        let config = self.egl.choose_first_config(self.display, &attributes)?;
        let config = config.context("no configuration")?;
        let version: &[egl::Int] = match desktop {
            true => &[egl::NONE],
            false => &[egl::CONTEXT_MAJOR_VERSION, 3, egl::NONE],
        };
        let context = self.egl.create_context(self.display, config, None, version)?;
        self.make_current(context, desktop)?;
        // SAFETY: the context is current, and these are the addresses of its functions.
        let (gl, renderer) = unsafe {
            let gl = glow::Context::from_loader_function(|name| {
                self.egl.get_proc_address(name).map_or(std::ptr::null(), |f| f as *const _)
            });
            let renderer = gl.get_parameter_string(glow::RENDERER);
            (gl, renderer)
        };
        if !renderer.starts_with("llvmpipe") {
            bail!("the renderer is `{renderer}` and not llvmpipe");
        }
        Ok(Bound { context, gl })
    }

    fn bind_api(&self, desktop: bool) -> Result<()> {
        let api = if desktop { egl::OPENGL_API } else { egl::OPENGL_ES_API };
        Ok(self.egl.bind_api(api)?)
    }

    fn make_current(&self, context: egl::Context, desktop: bool) -> Result<()> {
        self.bind_api(desktop)?;
        Ok(self.egl.make_current(self.display, None, None, Some(context))?)
    }
}
