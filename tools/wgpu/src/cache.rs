//! Pipelines by the content of programs: a program that comes again, with other constants, is neither written nor compiled again.

use std::collections::HashMap;
use std::rc::Rc;

use anyhow::{Result, ensure};
use r500::emit::{Arithmetic, Inputs, Interface, Options, ShaderKey, emit};
use r500::program::Job;

use crate::host::{Compiled, Host};
use crate::picture::FORMAT;

/// A program as the device draws it.
pub(crate) struct Pipeline {
    pub(crate) compiled: Compiled,
    pub(crate) interface: Interface,
}

/// The pipelines of a device. An emulator would limit their number.
#[derive(Default)]
pub(crate) struct Cache {
    pipelines: HashMap<ShaderKey, Rc<Pipeline>>,
    found: usize,
}

impl Cache {
    /// Returns the pipeline of a job's program.
    ///
    /// # Errors
    /// If the program has no such shader, or the device does not take it.
    pub(crate) fn pipeline(
        &mut self,
        host: &Host,
        job: &Job,
        arithmetic: Arithmetic,
    ) -> Result<Rc<Pipeline>> {
        let options = Options { arithmetic, inputs: Inputs::Planes, ..Options::new(host.language) };
        let key = ShaderKey::new(job, &options);
        if let Some(pipeline) = self.pipelines.get(&key) {
            self.found += 1;
            return Ok(Rc::clone(pipeline));
        }
        let shader = emit(job, &options)?;
        ensure!(!shader.interface.depth, "this example has no depth buffer");
        let compiled = host.compile(&shader.code, &shader.interface, FORMAT)?;
        let pipeline = Rc::new(Pipeline { compiled, interface: shader.interface });
        self.pipelines.insert(key, Rc::clone(&pipeline));
        Ok(pipeline)
    }

    /// Returns the number of pipelines, and how often one was found.
    pub(crate) fn counts(&self) -> (usize, usize) {
        (self.pipelines.len(), self.found)
    }
}
