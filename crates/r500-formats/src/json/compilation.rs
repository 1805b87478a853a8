//! What a driver's log says of a program, in JSON.

use r500_program::{Compilation, Failure, Limit, Outcome, Resource, Sampler};

use super::json_printer::JsonNode;
use super::schema;
use crate::ReadError;

/// Returns the compilation of an entry.
pub(super) fn read(entry: schema::Compilation) -> Result<Compilation, ReadError> {
    let unknown = |what: &str, text: &str| ReadError::value(format!("`{text}` is not {what}"));
    let resource = |name: String| {
        let resource = Resource::from_name(&name);
        resource.ok_or_else(|| unknown("a resource", &name).at_path("resource"))
    };
    let outcome = match entry.outcome.as_str() {
        "compiled" => Outcome::Compiled,
        "dummy" => Outcome::Dummy,
        "failed" => Outcome::Failed(Failure {
            reason: entry.reason.unwrap_or_default(),
            limit: entry.resource.map(resource).transpose()?.map(|resource| Limit {
                resource,
                most: entry.most,
                needed: entry.needed,
            }),
        }),
        other => return Err(unknown("an outcome", other).at_path("outcome")),
    };
    let mut constants = Vec::new();
    for (n, texts) in entry.constants.unwrap_or_default().0.into_iter().enumerate() {
        let mut channels = [Default::default(); 4];
        for (channel, text) in channels.iter_mut().zip(&texts) {
            let error = |error: r500_program::UnknownChannel| {
                ReadError::value(format!("`{text}`: {error}")).at_path(format!("constants[{n}]"))
            };
            *channel = text.parse().map_err(error)?;
        }
        constants.push(channels);
    }
    let mut samplers = [None; r500_isa::TEXTURE_UNITS];
    let targets = entry.samplers.unwrap_or_default().0;
    for (n, (sampler, target)) in samplers.iter_mut().zip(targets).enumerate() {
        if let Some(target) = target {
            let known = Sampler::from_target(&target);
            let error = || unknown("a target", &target).at_path(format!("samplers[{n}]"));
            *sampler = Some(known.ok_or_else(error)?);
        }
    }
    let (source, process) = (entry.source.unwrap_or_default(), entry.process.unwrap_or_default());
    Ok(Compilation { outcome, source, process, constants, samplers })
}

/// Returns the entry of a compilation.
pub(super) fn write(compilation: &Compilation) -> JsonNode {
    let mut entries: Vec<(&'static str, JsonNode)> =
        vec![("outcome", JsonNode::text(compilation.outcome.name()))];
    if let Outcome::Failed(Failure { reason, limit }) = &compilation.outcome {
        entries.push(("reason", JsonNode::text(reason)));
        if let Some(limit) = limit {
            entries.push(("resource", JsonNode::text(limit.resource.name())));
            let numbers = [("most", limit.most), ("needed", limit.needed)];
            let given = numbers.into_iter().filter_map(|(key, n)| Some((key, n?)));
            entries.extend(given.map(|(key, n)| (key, JsonNode::integer(n))));
        }
    }
    for (key, text) in [("source", &compilation.source), ("process", &compilation.process)] {
        if !text.is_empty() {
            entries.push((key, JsonNode::text(text)));
        }
    }
    if !compilation.constants.is_empty() {
        let channels = |c: &[r500_program::Channel; 4]| {
            JsonNode::list(c.iter().map(|channel| JsonNode::text(&channel.to_string())))
        };
        entries.push(("constants", JsonNode::list(compilation.constants.iter().map(channels))));
    }
    if let Some(last) = compilation.samplers.iter().rposition(Option::is_some) {
        let samplers = compilation.samplers[..=last].iter();
        let target =
            |sampler: &Option<Sampler>| sampler.map(|sampler| JsonNode::text(&sampler.to_string()));
        entries.push(("samplers", JsonNode::sparse(samplers.map(target))));
    }
    JsonNode::Object(entries.into_iter().map(|(key, value)| (key.into(), value)).collect())
}
