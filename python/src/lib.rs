//! The native part of the Python package. It returns bytes and tuples, which the modules in `r500/` convert to arrays and
//! named tuples.

#![allow(missing_docs, reason = "the package documents it")]

mod byte_array;
mod card;
mod drawing;
mod error;
mod program;
mod shader;
mod vectors;

use pyo3::prelude::*;

use error::{Error, Refused};

#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("Error", module.py().get_type::<Error>())?;
    module.add("Refused", module.py().get_type::<Refused>())?;
    module.add_class::<program::Program>()?;
    module.add_class::<drawing::Drawing>()?;
    module.add_class::<card::Card>()?;
    module.add_class::<card::Capture>()?;
    module.add_class::<shader::HostTest>()?;
    module.add_function(wrap_pyfunction!(shader::host_test, module)?)?;
    module.add_function(wrap_pyfunction!(version, module)?)?;
    module.add_function(wrap_pyfunction!(program::read_file, module)?)?;
    module.add_function(wrap_pyfunction!(program::read, module)?)?;
    module.add_function(wrap_pyfunction!(program::restore, module)?)?;
    module.add_function(wrap_pyfunction!(program::diff, module)?)
}
