//! Requests that replace breakpoints: on lines, labels, instructions and changes of values.

use r500::breakpoint::{Breakpoint, Owner};
use r500::exec::record::{Break, Expr, Machine};
use r500::expression::Vocabulary;
use serde_json::{Value, json};

use super::frames::LISTING;
use super::target::{Inspected, Target};
use super::{disassembly, variables};

/// A breakpoint, and what the response says of it.
type Made<M> = Result<(Breakpoint<<M as Machine>::Variable>, Value), String>;

/// Sets the breakpoints on lines of a source. `from` is the number of the client's first line.
pub(super) fn set_lines<M: Inspected>(
    target: &mut Target<M>,
    arguments: &Value,
    from: usize,
) -> Value {
    // Other files have no instructions of this program, so their breakpoints do not affect it.
    if !is_ours(target, &arguments["source"]) {
        let none = || Err("no instruction of the program is there".to_owned());
        let wanted = arguments["breakpoints"].as_array().map_or(0, Vec::len);
        return answers((0..wanted).map(|_| none()));
    }
    let make = |target: &Target<M>, one: &Value| {
        let line = one["line"].as_u64().and_then(|line| usize::try_from(line).ok());
        // Lines of the map are counted from 1.
        let line = line.and_then(|line| line.checked_add(1 - from));
        let found = line.and_then(|line| target.session.map.address_of(line));
        let (address, line) = found.ok_or("no instruction of the program is there")?;
        let point = at(target, Owner::Line, address, &format!("line {line}"), one)?;
        Ok((point, json!({ "line": line + from - 1 })))
    };
    set(target, Owner::Line, &arguments["breakpoints"], make)
}

/// Sets the breakpoints on labels.
pub(super) fn set_labels<M: Inspected>(target: &mut Target<M>, arguments: &Value) -> Value {
    set(target, Owner::Label, &arguments["breakpoints"], |target, one| {
        let name = one["name"].as_str().unwrap_or_default();
        let map = &target.session.map;
        let address = map.label(name).ok_or_else(|| {
            let labels = map.labels().collect::<Vec<_>>().join(", ");
            if labels.is_empty() {
                format!("there is no label `{name}`; the program has no labels")
            } else {
                format!("there is no label `{name}`; there are: {labels}")
            }
        })?;
        let text = format!("@{}", name.trim_start_matches('@'));
        Ok((at(target, Owner::Label, address, &text, one)?, json!({})))
    })
}

/// Sets the breakpoints on instructions of the disassembly.
pub(super) fn set_instructions<M: Inspected>(target: &mut Target<M>, arguments: &Value) -> Value {
    set(target, Owner::Instruction, &arguments["breakpoints"], |target, one| {
        let base = disassembly::address(&one["instructionReference"])?;
        let address = disassembly::plus(base, &one["offset"])?;
        let address =
            u32::try_from(address).map_err(|_| format!("there is no instruction at {address}"))?;
        let point = at(target, Owner::Instruction, address, &format!("@{address}"), one)?;
        Ok((point, json!({ "instructionReference": address.to_string() })))
    })
}

/// Sets the breakpoints on changes of values.
pub(super) fn set_data<M: Inspected>(target: &mut Target<M>, arguments: &Value) -> Value {
    set(target, Owner::Data, &arguments["breakpoints"], |target, one| {
        let text = one["dataId"].as_str().unwrap_or_default();
        let stop = Break::Changes(target.expression(text)?);
        Ok((target.breakpoint(Owner::Data, stop, &format!("watch {text}"), one)?, json!({})))
    })
}

/// Returns whether and how changes of a value can be watched.
pub(super) fn data_info<M: Inspected>(
    target: &mut Target<M>,
    arguments: &Value,
) -> Result<Value, String> {
    let name = arguments["name"].as_str().unwrap_or_default();
    // Without a reference the name is an expression.
    let listed = match arguments["variablesReference"].as_u64() {
        Some(owner) if owner != 0 => variables::variables(target, owner)?,
        _ => Vec::new(),
    };
    let listed = listed.iter().find(|variable| variable["name"] == name);
    let text = match listed {
        Some(variable) => variable["evaluateName"].as_str(),
        None => Some(name),
    };
    let refused = |why: String| json!({ "dataId": null, "description": why });
    let Some(text) = text else {
        return Ok(refused(format!("`{name}` cannot be watched: it is not an expression")));
    };
    Ok(match target.expression(text) {
        Ok(Expr::Number(_) | Expr::Bool(_)) => {
            refused(format!("{text} is constant: it does not change"))
        }
        Ok(Expr::Variable(variable)) if variable.is_constant() => {
            refused(format!("{text} is constant: it does not change"))
        }
        Ok(_) => {
            json!({ "dataId": text, "description": format!("{text} changes"), "accessTypes": ["write"] })
        }
        Err(why) => refused(why),
    })
}

/// Returns a breakpoint at an address.
fn at<M: Inspected>(
    target: &Target<M>,
    owner: Owner,
    address: u32,
    text: &str,
    wanted: &Value,
) -> Result<Breakpoint<M::Variable>, String> {
    let address = target.session.address(address)?;
    target.breakpoint(owner, Break::At(address), text, wanted)
}

/// Replaces the breakpoints of an owner. Returns the result for each.
fn set<M: Inspected>(
    target: &mut Target<M>,
    owner: Owner,
    wanted: &Value,
    make: impl Fn(&Target<M>, &Value) -> Made<M>,
) -> Value {
    let wanted = wanted.as_array().map_or(&[][..], Vec::as_slice);
    let made: Vec<Made<M>> = wanted.iter().map(|one| make(target, one)).collect();
    let session = &mut target.session;
    session.breakpoints.retain(|point| point.owner != owner);
    answers(made.into_iter().map(|one| {
        one.map(|(point, mut answer)| {
            answer["id"] = json!(session.breakpoints.add(point));
            answer
        })
    }))
}

fn answers(all: impl Iterator<Item = Result<Value, String>>) -> Value {
    let answer = |one: Result<Value, String>| match one {
        Ok(mut answer) => {
            answer["verified"] = json!(true);
            answer
        }
        Err(why) => json!({ "verified": false, "message": why }),
    };
    json!({ "breakpoints": all.map(answer).collect::<Vec<Value>>() })
}

/// Returns whether a source of the client is that of the program.
fn is_ours<M: Inspected>(target: &Target<M>, source: &Value) -> bool {
    let Some(path) = &target.session.map.path else {
        return source["sourceReference"] == LISTING;
    };
    let canonical =
        |path: &std::path::Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    source["path"].as_str().is_some_and(|other| canonical(other.as_ref()) == canonical(path))
}
