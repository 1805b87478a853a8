//! Programs: reading, checking, statistics, the optimiser, comparison, runs.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use r500::asm::PrintOptions;
use r500::builtin_uniforms;
use r500::check::{Assumptions, Stats, check};
use r500::equivalence::PairVerdict;
use r500::exec::{Drawing as Prepared, Engine, Options, Shader};
use r500::files;
use r500::formats::{Format, Limits};
use r500::jit::shared_engine;
use r500::lint;
use r500::optimizer::{self, ROUNDS};
use r500::program::{Job, Outcome, Uniform};
use r500::reader::{self, Language};
use r500::writer;

use crate::drawing::Drawing;
use crate::error::{error, of_file};
use crate::shader;
use crate::vectors::{bytes_of, vectors};

fn engine(name: &str) -> PyResult<&'static dyn Engine> {
    name.parse().map(shared_engine).map_err(error)
}

#[pyfunction]
#[pyo3(signature = (bytes, name=None))]
pub(crate) fn read(py: Python<'_>, bytes: &[u8], name: Option<&str>) -> PyResult<Vec<Program>> {
    let jobs = py.detach(|| {
        let jobs = reader::jobs(bytes, name, None, &Limits::default())?;
        let is_source = jobs.assembly().is_some();
        let program = |job: Job| Program { job, is_source };
        jobs.map(|job| job.map(program)).collect::<Result<_, reader::ReadError>>()
    });
    jobs.map_err(error)
}

/// Returns the bytes of a file, by the rules for all files: no devices, no pipes, a limited length.
#[pyfunction]
pub(crate) fn read_file<'py>(py: Python<'py>, path: PathBuf) -> PyResult<Bound<'py, PyBytes>> {
    let bytes = py
        .detach(|| files::read(&path, files::MAX_TEXT))
        .map_err(|refused| of_file(&path, refused))?;
    Ok(PyBytes::new(py, &bytes))
}

/// Returns the program of `Program.dump`.
#[pyfunction]
pub(crate) fn restore(py: Python<'_>, json: &[u8], is_source: bool) -> PyResult<Program> {
    let limits = Limits::default();
    let format = Some(Language::Format(Format::Json));
    let jobs = py.detach(|| reader::read(json, None, format, &limits)).map_err(error)?;
    let job = jobs.into_iter().next().ok_or_else(|| error("there is no program"))?;
    Ok(Program { job, is_source })
}

/// Returns the name of the verdict on two programs, and its text.
#[pyfunction]
pub(crate) fn diff(py: Python<'_>, a: &Program, b: &Program) -> (&'static str, String) {
    let verdict = py.detach(|| PairVerdict::of(&a.job, &b.job, ROUNDS));
    (verdict.name(), verdict.to_string())
}

#[pyclass(frozen)]
pub(crate) struct Program {
    pub(crate) job: Job,
    /// Whether it is a source, whose author wrote all that there is of it.
    is_source: bool,
}

impl Program {
    /// Returns what its format says about its inputs.
    fn assumptions(&self) -> Assumptions {
        if self.is_source {
            lint::assumptions_of_source(&self.job)
        } else {
            Assumptions::of_job(&self.job)
        }
    }
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

    /// Returns name, number of the constant, first channel and number of channels of each named constant.
    #[getter]
    fn uniforms(&self) -> Vec<(String, u8, u8, u8)> {
        let fields = |uniform: &Uniform| {
            let Uniform { name, constant, channel, channels } = uniform.clone();
            (name, constant, channel, channels)
        };
        self.job.uniforms.iter().map(fields).collect()
    }

    /// Returns the numbers of `r500 stats` with their names.
    fn stats(&self, py: Python<'_>) -> PyResult<Vec<(&'static str, u64)>> {
        let stats = py.detach(|| Stats::of(&self.job.program)).map_err(error)?;
        Ok(Stats::NAMES.iter().copied().zip(stats.values()).collect())
    }

    /// Returns the optimised program, and the evidence that it is right.
    fn optimize(&self, py: Python<'_>) -> (Self, String) {
        let checked = py.detach(|| optimizer::optimize(&self.job, &r500::opt::Options::default()));
        let evidence = checked.evidence.to_string();
        (Self { job: checked.job, is_source: self.is_source }, evidence)
    }

    /// Returns what `restore` takes.
    fn dump<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyBytes>, bool)> {
        let json = Language::Format(Format::Json);
        let written = py
            .detach(|| writer::write(&self.job, json, &PrintOptions::default()))
            .map_err(error)?;
        Ok((PyBytes::new(py, &written.bytes), self.is_source))
    }

    fn check(&self, py: Python<'_>) -> Vec<(&'static str, &'static str, String)> {
        let lints = py.detach(|| check(&self.job.program, &self.assumptions()).lints);
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
            let prepared = Prepared::new(engine, shader, &bindings, options);
            Ok(Drawing::new(prepared.map_err(error)?, bindings, self.job.uniforms.clone()))
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

    fn texels<'py>(&self, py: Python<'py>, unit: u8) -> PyResult<Vec<shader::Level<'py>>> {
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
