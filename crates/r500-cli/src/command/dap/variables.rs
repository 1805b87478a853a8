//! Registers and state as variables, which expand to their channels and parts.

use r500::compile::variables::Vector;
use r500::exec::record::Expr;
use r500::exec::record::expr::{Channels, Value as Number};
use r500::expression::{Vocabulary, Written};
use serde_json::{Value, json};

use super::references::{Node, References, Shown};
use super::target::{Inspected, Target};
use crate::command::debug::text;
use crate::command::float_format;
use crate::command::shader_variables;

/// Returns the scopes of a frame.
pub(super) fn scopes<M: Inspected>(target: &mut Target<M>) -> Value {
    let mut scope = |(name, node): &(&str, Node)| {
        let hint = if *node == Node::Registers { "registers" } else { "locals" };
        json!({
            "name": name, "presentationHint": hint, "expensive": false,
            "variablesReference": target.references.of(node.clone()),
        })
    };
    let of_shader = target.session.map.shader.is_some().then_some(("Variables", Node::Variables));
    let scopes: Vec<Value> = of_shader.iter().chain(M::SCOPES).map(&mut scope).collect();
    json!({ "scopes": scopes })
}

/// Returns the variables of a reference.
///
/// # Errors
/// If the reference is unknown.
pub(super) fn variables<M: Inspected>(
    target: &mut Target<M>,
    reference: u64,
) -> Result<Vec<Value>, String> {
    let node = target
        .references
        .get(reference)
        .ok_or_else(|| format!("there are no variables of reference {reference}"))?;
    let parts = parts(target, &node)?;
    Ok(parts.into_iter().map(|shown| variable(&mut target.references, shown)).collect())
}

/// Returns the value of an expression, as the response to `evaluate`.
///
/// # Errors
/// If it is not an expression.
pub(super) fn evaluate<M: Inspected>(
    target: &mut Target<M>,
    written: &str,
) -> Result<Value, String> {
    let shown = expression(target, written, written)?;
    let value = variable(&mut target.references, shown);
    let kept = ["variablesReference", "namedVariables"];
    let mut answer = json!({ "result": value["value"] });
    for name in kept.into_iter().filter(|&name| !value[name].is_null()) {
        answer[name] = value[name].clone();
    }
    Ok(answer)
}

fn variable(references: &mut References, shown: Shown) -> Value {
    let mut value = json!({ "name": shown.name, "value": shown.value, "variablesReference": 0 });
    if let Some((node, count)) = shown.parts {
        value["variablesReference"] = json!(references.of(node));
        value["namedVariables"] = json!(count);
    }
    if let Some(expression) = shown.expression {
        value["evaluateName"] = json!(expression);
    }
    value
}

/// Returns the value of an expression.
pub(super) fn expression<M: Inspected>(
    target: &Target<M>,
    name: &str,
    written: &str,
) -> Result<Shown, String> {
    let parsed = target.expression(written)?;
    let value = target.session.value(&parsed)?;
    let (Number::Numbers(_, count) | Number::Bools(_, count)) = value;
    let parts = (count > 1).then(|| (Node::Expression(written.to_owned()), count));
    Ok(Shown {
        name: name.to_owned(),
        value: value.to_string(),
        expression: Some(written.to_owned()),
        parts,
    })
}

/// Returns the values of registers.
pub(super) fn registers<M: Inspected>(
    target: &Target<M>,
    names: impl Iterator<Item = String>,
) -> Result<Vec<Shown>, String> {
    names.map(|name| expression(target, &name, &name)).collect()
}

fn parts<M: Inspected>(target: &Target<M>, node: &Node) -> Result<Vec<Shown>, String> {
    match node {
        Node::Constants => constants(target),
        Node::Variables => of_shader(target),
        Node::Variable(name) => vectors(target, name),
        Node::Expression(written) => channels(target, written),
        Node::Calls => {
            let now = target.session.recording.now();
            let line = |(n, address): (usize, u32)| {
                Shown::plain(&format!("call {n}"), format!("returns to @{address}"))
            };
            Ok((1..).zip(now.machine().calls(now.state())).map(line).collect())
        }
        node => M::parts(target, node),
    }
}

/// Returns a number with its bits.
pub(super) fn with_bits(x: f32) -> String {
    format!("{}  {}", float_format::text(x), float_format::bits(x))
}

/// Returns the channels of an expression's value: of a register those that it names, else in order.
fn channels<M: Inspected>(target: &Target<M>, written: &str) -> Result<Vec<Shown>, String> {
    let parsed = target.expression(written)?;
    let value = target.session.value(&parsed)?;
    let (Number::Numbers(_, count) | Number::Bools(_, count)) = value;
    let part = |n: usize| match value {
        Number::Numbers(x, _) => with_bits(x[n]),
        Number::Bools(x, _) => x[n].to_string(),
    };
    let channels = match parsed {
        Expr::Variable(variable) => single_channels(variable),
        _ => Vec::new(),
    };
    let letter = |n: usize| <M::Variable as Vocabulary>::LETTERS[n].to_string();
    let shown = (0..count).map(|n| match channels.get(n) {
        Some(&(channel, single)) => Shown {
            expression: Some(Written(&Expr::Variable(single)).to_string()),
            ..Shown::plain(&letter(channel), part(n))
        },
        None => Shown::plain(&letter(n), part(n)),
    });
    Ok(shown.collect())
}

/// Returns the channels of a register operand, each with its index.
fn single_channels<V: Vocabulary>(variable: V) -> Vec<(usize, V)> {
    let Some((_, all)) = variable.register() else { return Vec::new() };
    let single = |channel: usize| {
        let one = Channels::new(&[u8::try_from(channel).ok()?])?;
        Some((channel, variable.with_channels(one)))
    };
    all.iter().filter_map(single).collect()
}

/// Returns the variables of the shader.
fn of_shader<M: Inspected>(target: &Target<M>) -> Result<Vec<Shown>, String> {
    let variables = match target.session.variables() {
        Ok(variables) => variables,
        Err(why) => return Ok(vec![Shown::plain("", why)]),
    };
    let shown = variables.iter().map(|variable| match &variable.vectors[..] {
        [] => Shown::plain(&variable.name, "not set yet".to_owned()),
        [one] => vector::<M>(one),
        several => Shown {
            parts: Some((Node::Variable(variable.name.clone()), several.len())),
            ..Shown::plain(&variable.name, variable.ty.clone())
        },
    });
    Ok(shown.collect())
}

/// Returns the vectors of a variable of the shader.
fn vectors<M: Inspected>(target: &Target<M>, name: &str) -> Result<Vec<Shown>, String> {
    let variables = target.session.variables()?;
    // The innermost one of a name.
    let found = variables.iter().rev().find(|variable| variable.name == name);
    Ok(found.iter().flat_map(|variable| &variable.vectors).map(vector::<M>).collect())
}

fn vector<M: Inspected>(vector: &Vector) -> Shown {
    let registers = shader_variables::registers(vector, <M::Variable as Vocabulary>::LETTERS);
    let count = vector.values.len();
    Shown {
        expression: Some(vector.name.clone()),
        parts: (count > 1).then(|| (Node::Expression(vector.name.clone()), count)),
        ..Shown::plain(&vector.name, format!("{}  {registers}", shader_variables::value(vector)))
    }
}

fn constants<M: Inspected>(target: &Target<M>) -> Result<Vec<Shown>, String> {
    let constant = |&n: &u8| {
        let written = format!("const[{n}]");
        let names = text::constant_names(&target.session, n.into());
        expression(target, format!("{written} {names}").trim_end(), &written)
    };
    target.constants.iter().map(constant).collect()
}
