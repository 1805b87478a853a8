//! Shaders of the GPU at hand, and the self-test of hosts.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use r500::emit::{self, Arithmetic, Code, EmitError, Inputs, Options, SelfTest, Shader, emit};
use r500::program::Job;

use crate::error::error;
use crate::vectors::bytes_of;

/// Code (a text, or bytes of SPIR-V), interface (JSON), uniform buffer (floats).
pub(crate) type Fields<'py> = (Bound<'py, PyAny>, String, Bound<'py, PyBytes>);

/// Width, height and layers of a level, and its texels (floats).
pub(crate) type Level<'py> = ((u32, u32, u32), Bound<'py, PyBytes>);

fn fields<'py>(py: Python<'py>, shader: &Shader) -> PyResult<Fields<'py>> {
    let code = match &shader.code {
        Code::Text(text) => text.into_pyobject(py)?.into_any(),
        code @ Code::Words(_) => PyBytes::new(py, &code.bytes()).into_any(),
    };
    let uniforms = PyBytes::new(py, &bytes_of(&shader.uniforms));
    Ok((code, shader.interface.json(), uniforms))
}

/// Writes a program as a shader.
pub(crate) fn of_job<'py>(
    py: Python<'py>,
    job: &Job,
    name: &str,
    exact: bool,
    planes: bool,
) -> PyResult<Fields<'py>> {
    let mut options = Options::new(name.parse().map_err(error)?);
    if exact {
        options.arithmetic = Arithmetic::Exact;
    }
    if planes {
        options.inputs = Inputs::Planes;
    }
    let (language, arithmetic, inputs) = (options.language, options.arithmetic, options.inputs);
    let shader: Result<Shader, EmitError> =
        py.detach(|| emit(job, &Options { arithmetic, inputs, ..Options::new(language) }));
    fields(py, &shader.map_err(error)?)
}

/// Returns the levels of a unit's texture: width, height, layers, and floats.
pub(crate) fn texels<'py>(py: Python<'py>, job: &Job, unit: u8) -> PyResult<Vec<Level<'py>>> {
    let levels = py
        .detach(|| emit::texels(job, unit))
        .map_err(|reason| error(format!("unit {unit}: {reason}")))?;
    let level = |level: &emit::TextureLevel| {
        (level.size.into(), PyBytes::new(py, &bytes_of(&level.texels)))
    };
    Ok(levels.iter().map(level).collect())
}

/// The self-test of hosts for exact shaders.
#[pyclass(frozen)]
pub(crate) struct HostTest(SelfTest);

#[pyfunction]
pub(crate) fn host_test(name: &str) -> PyResult<HostTest> {
    emit::self_test(name.parse().map_err(error)?).map(HostTest).map_err(error)
}

#[pymethods]
impl HostTest {
    fn shader<'py>(&self, py: Python<'py>) -> PyResult<Fields<'py>> {
        fields(py, &self.0.shader)
    }

    #[getter]
    fn size(&self) -> (u32, u32) {
        self.0.size.into()
    }

    fn texels<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &bytes_of(&self.0.texels.texels))
    }

    fn expected<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let bytes: Vec<u8> = self.0.expected.iter().flat_map(|word| word.to_le_bytes()).collect();
        PyBytes::new(py, &bytes)
    }

    fn compare(&self, pixels: &[u8]) -> PyResult<Vec<String>> {
        let failures = self.0.compare(pixels.as_chunks::<4>().0).map_err(error)?;
        Ok(failures.iter().map(ToString::to_string).collect())
    }
}
