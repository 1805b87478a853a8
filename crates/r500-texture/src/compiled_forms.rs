//! The compiled forms of a sampler: one for each set of readings that it is fetched with.

use std::sync::OnceLock;

use super::batch::CompiledSampler;
use super::readings::TexReadings;
use super::scalar_sampler::ScalarSampler;

/// The compiled forms, in a list that only grows, so that a form can be borrowed while another is compiled. Nearly every sampler has one.
#[derive(Debug, Default)]
pub(super) struct CompiledForms(OnceLock<Box<Form>>);

#[derive(Debug)]
struct Form {
    readings: TexReadings,
    /// `None` if only the scalar sampler implements the fetches.
    compiled: Option<CompiledSampler>,
    next: CompiledForms,
}

impl CompiledForms {
    /// Returns the form for readings, which it compiles at their first use; `None` if only the scalar sampler implements them.
    #[inline(always)]
    pub(super) fn get(
        &self,
        scalar: &ScalarSampler,
        readings: &TexReadings,
    ) -> Option<&CompiledSampler> {
        let relevant = match *readings == TexReadings::REFERENCE {
            true => TexReadings::REFERENCE,
            false => scalar.affecting(readings),
        };
        let mut forms = self;
        loop {
            let form = forms.0.get_or_init(|| Form::new(scalar, relevant));
            if form.readings == relevant {
                return form.compiled.as_ref();
            }
            forms = &form.next;
        }
    }
}

impl Form {
    #[cold]
    fn new(scalar: &ScalarSampler, readings: TexReadings) -> Box<Self> {
        let compiled = CompiledSampler::new(scalar, &readings);
        Box::new(Self { readings, compiled, next: CompiledForms::default() })
    }
}
