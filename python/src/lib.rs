//! The native part of the Python package. It returns bytes and tuples, which `r500/__init__.py` converts to arrays and
//! named tuples.

#![allow(missing_docs, reason = "the package documents it")]

mod shader;

use std::path::PathBuf;
use std::sync::LazyLock;

use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use r500::asm::PrintOptions;
use r500::builtin_uniforms;
use r500::check::{Assumptions, check};
use r500::exec::output::color::bytes_per_pixel;
use r500::exec::reference::Reference;
use r500::exec::{Bindings, ColorSurface, Engine, Options, PixelRect, Shader, Surfaces};
use r500::fast::Fast;
use r500::files;
use r500::formats::Limits;
use r500::isa::state::{UsFcIntConst, UsOutFmt};
use r500::jit::Jit;
use r500::lint;
use r500::program::{Input, InputData, Job, Outcome};
use r500::reader::{self, Language};
use r500::writer;

pyo3::create_exception!(r500, Error, PyException, "What is wrong, and how to fix it.");

fn error(error: impl std::fmt::Display) -> PyErr {
    Error::new_err(error.to_string())
}

static JIT: LazyLock<Jit> = LazyLock::new(Jit::new);
static FAST: LazyLock<Fast> = LazyLock::new(Fast::new);
static REFERENCE: Reference = Reference;

fn engine(name: &str) -> PyResult<&'static dyn Engine> {
    match name {
        "jit" => Ok(&*JIT),
        "fast" => Ok(&*FAST),
        "reference" => Ok(&REFERENCE),
        name => {
            Err(error(format!("no engine is called `{name}`: there are jit, fast and reference")))
        }
    }
}

/// Returns vectors of little-endian floats.
fn vectors(bytes: &[u8]) -> Vec<[f32; 4]> {
    let float = |bytes: [u8; 4]| f32::from_le_bytes(bytes);
    let floats: Vec<f32> = bytes.as_chunks::<4>().0.iter().map(|bytes| float(*bytes)).collect();
    floats.as_chunks::<4>().0.to_vec()
}

fn bytes_of(vectors: &[[f32; 4]]) -> Vec<u8> {
    vectors.as_flattened().iter().flat_map(|x| x.to_le_bytes()).collect()
}

#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

#[pyfunction]
#[pyo3(signature = (bytes, name=None))]
fn read(py: Python<'_>, bytes: &[u8], name: Option<&str>) -> PyResult<Vec<Program>> {
    let jobs = py.detach(|| {
        let jobs = reader::jobs(bytes, name, None, &Limits::default())?;
        let source = jobs.assembly().map(lint::assumptions);
        let program = |job: Job| {
            let assumptions = source.unwrap_or_else(|| Assumptions::of_job(&job));
            Program { job, assumptions }
        };
        jobs.map(|job| job.map(program)).collect::<Result<_, reader::ReadError>>()
    });
    jobs.map_err(error)
}

/// Returns the bytes of a file, by the rules for all files: no devices, no pipes, a limited length.
#[pyfunction]
fn read_file<'py>(py: Python<'py>, path: PathBuf) -> PyResult<Bound<'py, PyBytes>> {
    let bytes = py.detach(|| files::read(&path, files::MAX_TEXT)).map_err(|refused| {
        match refused.raw_os_error() {
            // Python's own kinds of OSError.
            Some(_) => PyErr::from(refused),
            None => error(format!("{}: {refused}", path.display())),
        }
    })?;
    Ok(PyBytes::new(py, &bytes))
}

#[pyclass(frozen)]
struct Program {
    job: Job,
    /// What its format says about its inputs.
    assumptions: Assumptions,
}

type Step = (u32, String, bool, bool, Vec<(String, String, Vec<f32>)>);
type CompilationFields = (
    &'static str,
    Option<String>,
    Option<&'static str>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<&'static str>,
    String,
);
type RowResults<'py> =
    (Vec<(usize, Bound<'py, PyBytes>)>, Option<Bound<'py, PyBytes>>, Bound<'py, PyBytes>);

#[pymethods]
impl Program {
    #[getter]
    fn name(&self) -> &str {
        &self.job.name
    }

    #[getter]
    fn size(&self) -> Option<(u32, u32)> {
        self.job.size.map(Into::into)
    }

    /// Returns outcome, reason, resource, limit, need, excess, help and process.
    #[getter]
    fn compilation(&self) -> Option<CompilationFields> {
        let compilation = self.job.compilation.as_deref()?;
        let failure = match &compilation.outcome {
            Outcome::Failed(failure) => Some(failure),
            Outcome::Compiled | Outcome::Dummy => None,
        };
        let limit = failure.and_then(|failure| failure.limit);
        Some((
            compilation.outcome.name(),
            failure.map(|failure| failure.reason.clone()),
            limit.map(|limit| limit.resource.name()),
            limit.and_then(|limit| limit.most),
            limit.and_then(|limit| limit.needed),
            limit.and_then(|limit| limit.excess()),
            limit.map(|limit| limit.resource.help()),
            compilation.process.clone(),
        ))
    }

    fn check(&self, py: Python<'_>) -> Vec<(&'static str, &'static str, String)> {
        let lints = py.detach(|| check(&self.job.program, &self.assumptions).lints);
        let finding = |lint: r500::check::Lint| {
            let info = lint.code.info();
            (info.severity.name(), info.number, lint.to_string())
        };
        lints.into_iter().map(finding).collect()
    }

    fn disassemble(&self) -> PyResult<String> {
        let options = PrintOptions::default();
        let written = writer::write(&self.job, Language::Assembly, &options).map_err(error)?;
        String::from_utf8(written.bytes).map_err(error)
    }

    fn prepare(&self, py: Python<'_>, size: (u32, u32), engine_name: &str) -> PyResult<Drawing> {
        let engine = engine(engine_name)?;
        py.detach(|| {
            let shader = Shader::new(&self.job.program).map_err(error)?;
            let bindings = builtin_uniforms::bind(&self.job, size.into()).map_err(error)?;
            let options = Options::default();
            let prepared = r500::exec::Drawing::new(engine, shader, &bindings, options);
            Ok(Drawing { prepared: prepared.map_err(error)?, bindings })
        })
    }

    fn run<'py>(
        &self,
        py: Python<'py>,
        inputs: Vec<(u8, Vec<u8>)>,
        engine_name: &str,
    ) -> PyResult<RowResults<'py>> {
        let engine = engine(engine_name)?;
        let rows = py.detach(|| {
            let shader = Shader::new(&self.job.program).map_err(error)?;
            let inputs: Vec<_> =
                inputs.iter().map(|(temp, bytes)| (*temp, vectors(bytes))).collect();
            let inputs: Vec<_> =
                inputs.iter().map(|(temp, rows)| (*temp, rows.as_slice())).collect();
            r500::rows::run_rows(engine, &self.job, &shader, &inputs, &Options::default())
                .map_err(error)
        })?;
        let colors = (0..4).filter_map(|target| Some((target, rows.colors(target)?)));
        let colors = colors.map(|(target, colors)| (target, PyBytes::new(py, &bytes_of(&colors))));
        let depth = rows.depth().map(|depth| {
            let bytes: Vec<u8> = depth.iter().flat_map(|x| x.to_le_bytes()).collect();
            PyBytes::new(py, &bytes)
        });
        let alive: Vec<u8> = rows.alive().into_iter().map(u8::from).collect();
        Ok((colors.collect(), depth, PyBytes::new(py, &alive)))
    }

    fn shader<'py>(
        &self,
        py: Python<'py>,
        language: &str,
        exact: bool,
        planes: bool,
    ) -> PyResult<shader::Fields<'py>> {
        shader::of_job(py, &self.job, language, exact, planes)
    }

    fn texels<'py>(
        &self,
        py: Python<'py>,
        unit: u8,
    ) -> PyResult<Vec<([u32; 3], Bound<'py, PyBytes>)>> {
        shader::texels(py, &self.job, unit)
    }

    fn trace(&self, py: Python<'_>, size: (u32, u32), pixel: (u32, u32)) -> PyResult<Vec<Step>> {
        let steps = py.detach(|| {
            let shader = Shader::new(&self.job.program).map_err(error)?;
            let bindings = builtin_uniforms::bind(&self.job, size.into()).map_err(error)?;
            r500::trace::trace(&shader, &bindings, &Options::default(), pixel.into()).map_err(error)
        })?;
        let letters = |mask: u8| {
            "rgba".chars().enumerate().filter(|(n, _)| mask >> n & 1 != 0).map(|(_, c)| c).collect()
        };
        let step = |step: r500::trace::TraceStep| {
            let writes = step.writes.into_iter();
            let writes = writes.map(|write| (write.register, letters(write.mask), write.value));
            (step.address, step.text, step.active, step.killed, writes.collect())
        };
        Ok(steps.into_iter().map(step).collect())
    }
}

#[pyclass]
struct Drawing {
    prepared: r500::exec::Drawing<'static>,
    bindings: Bindings,
}

#[pymethods]
impl Drawing {
    #[getter]
    fn size(&self) -> (u32, u32) {
        self.bindings.size().into()
    }

    #[getter]
    fn engine(&self) -> &'static str {
        self.prepared.run_info().engine
    }

    #[getter]
    fn fallback_reason(&self) -> Option<String> {
        self.prepared.run_info().fallback_reason
    }

    fn set_constant(&mut self, n: usize, value: (f32, f32, f32, f32)) -> PyResult<()> {
        self.bindings.set_constant(n, value.into()).map_err(error)
    }

    fn set_int_constant(&mut self, n: usize, iterations: u8, first: u8, step: i8) -> PyResult<()> {
        let value = UsFcIntConst(0)
            .with(UsFcIntConst::KR, iterations)
            .with(UsFcIntConst::KG, first)
            .with(UsFcIntConst::KB, step);
        self.bindings.set_int_constant(n, value).map_err(error)
    }

    fn set_bool_constant(&mut self, n: usize, value: bool) -> PyResult<()> {
        self.bindings.set_bool_constant(n, value).map_err(error)
    }

    fn set_input(&mut self, temp: u8, bytes: &[u8]) -> PyResult<()> {
        let [width, height] = self.bindings.size();
        let values = vectors(bytes);
        if values.len() as u64 != u64::from(width) * u64::from(height) {
            return Err(error(format!(
                "{} values for a picture of {width}x{height}",
                values.len()
            )));
        }
        let data = InputData::Values { width, values };
        self.bindings.set_input(Input { temp, data }).map_err(error)
    }

    #[pyo3(signature = (mask=None))]
    fn set_coverage(&mut self, mask: Option<&[u8]>) -> PyResult<()> {
        let mask = mask.map(|mask| mask.iter().map(|byte| *byte != 0).collect());
        self.bindings.set_coverage(mask).map_err(error)
    }

    fn draw<'py>(
        &mut self,
        py: Python<'py>,
        format: u32,
        target: usize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let format = UsOutFmt(format);
        let Some(size) = bytes_per_pixel(format) else {
            return Err(error(format!("US_OUT_FMT = {:#x} stores nothing", format.0)));
        };
        if target > 3 {
            return Err(error(format!("there is no target {target}: they end with 3")));
        }
        let [width, height] = self.bindings.size();
        let pitch = width as usize * size;
        let bytes = (pitch as u64).saturating_mul(height.into());
        let limit = self.prepared.options().limits.memory;
        let length = usize::try_from(bytes).ok().filter(|_| bytes <= limit);
        let length = length.ok_or_else(|| {
            error(format!(
                "a picture of {width}x{height} takes {bytes} bytes, the limit is {limit}"
            ))
        })?;
        // A picture that cannot be allocated is a MemoryError.
        PyBytes::new_with(py, length, |bytes| {
            py.detach(|| {
                let area = PixelRect { x: 0, y: 0, width, height };
                let mut colors = [None, None, None, None];
                colors[target] = Some(ColorSurface { format, bytes, pitch });
                let mut surfaces = Surfaces { area, colors, depth: None, coverage: None };
                self.prepared.draw_to(&self.bindings, &mut surfaces).map(drop).map_err(error)
            })
        })
    }
}

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("Error", module.py().get_type::<Error>())?;
    module.add_class::<Program>()?;
    module.add_class::<Drawing>()?;
    module.add_class::<shader::HostTest>()?;
    module.add_function(wrap_pyfunction!(shader::host_test, module)?)?;
    module.add_function(wrap_pyfunction!(read_file, module)?)?;
    module.add_function(wrap_pyfunction!(version, module)?)?;
    module.add_function(wrap_pyfunction!(read, module)?)
}
