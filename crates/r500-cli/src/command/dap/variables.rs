//! Registers and state as variables, which expand to their channels and parts.

use r500::exec::record::expr::{Channels, Value as Number};
use r500::exec::record::{Expr, Snapshot, Variable};
use r500::exec::reference::{Lane, LaneState};
use r500::expression::Written;
use r500::isa::{TARGETS, TEMPORARIES};
use serde_json::{Value, json};

use super::references::{Node, References};
use super::target::Target;
use crate::command::debug::text;
use crate::command::float_format::{self, vector};
use crate::command::trace::state_name;

/// The scopes of a frame.
const SCOPES: [(&str, Node); 5] = [
    ("Registers", Node::Registers),
    ("Outputs", Node::Outputs),
    ("Constants", Node::Constants),
    ("State", Node::State),
    ("Group", Node::Group),
];

/// A variable, before it has a reference.
struct Shown {
    name: String,
    value: String,
    /// The expression that has this value.
    expression: Option<String>,
    /// What it expands to, and the number of its parts.
    parts: Option<(Node, usize)>,
}

/// Returns the scopes of a frame.
pub(super) fn scopes(target: &mut Target) -> Value {
    let mut scope = |(name, node): (&str, Node)| {
        let hint = if node == Node::Registers { "registers" } else { "locals" };
        json!({
            "name": name, "presentationHint": hint, "expensive": false,
            "variablesReference": target.references.of(node),
        })
    };
    let scopes: Vec<Value> = SCOPES.into_iter().map(&mut scope).collect();
    json!({ "scopes": scopes })
}

/// Returns the variables of a reference.
///
/// # Errors
/// If the reference is unknown.
pub(super) fn variables(target: &mut Target, reference: u64) -> Result<Vec<Value>, String> {
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
pub(super) fn evaluate(target: &mut Target, written: &str) -> Result<Value, String> {
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

fn plain(name: &str, value: String) -> Shown {
    Shown { name: name.to_owned(), value, expression: None, parts: None }
}

/// Returns the value of an expression.
fn expression(target: &Target, name: &str, written: &str) -> Result<Shown, String> {
    let parsed = target.expression(written)?;
    let value = target.session.value(&parsed);
    let (Number::Numbers(_, count) | Number::Bools(_, count)) = value;
    let parts = (count > 1).then(|| (Node::Expression(written.to_owned()), count));
    Ok(Shown {
        name: name.to_owned(),
        value: text::value(&value),
        expression: Some(written.to_owned()),
        parts,
    })
}

fn parts(target: &Target, node: &Node) -> Result<Vec<Shown>, String> {
    let session = &target.session;
    let now = session.recording.now();
    let all =
        |names: Vec<String>| names.iter().map(|name| expression(target, name, name)).collect();
    Ok(match node {
        Node::Registers => {
            let used = text::used_temporaries(session).into_iter();
            return all(used.map(|n| format!("temp[{n}]")).collect());
        }
        Node::Outputs => {
            let written = (0..TARGETS).filter(|&n| now.pixel().color_written[n] != 0);
            let colors = written.map(|n| format!("out[{n}]"));
            return all(colors.chain(now.pixel().depth.map(|_| "depth".to_owned())).collect());
        }
        Node::Constants => return constants(target),
        Node::State => return state(target),
        Node::Group => group(&now),
        Node::Expression(written) => return channels(target, written),
        Node::Loops => {
            let line = |(n, frame): (usize, &r500::exec::reference::LoopFrame)| {
                let value = format!("{} left, aL {}", frame.count, frame.al);
                plain(&format!("loop {n}"), value)
            };
            (1..).zip(now.state().loops()).map(line).collect()
        }
        Node::Calls => {
            let line = |(n, address): (usize, &u32)| {
                plain(&format!("call {n}"), format!("returns to @{address}"))
            };
            (1..).zip(now.state().calls()).map(line).collect()
        }
        Node::Lane(lane) => lane_parts(&now, *lane)?,
        Node::LaneTemp(lane, n) => {
            let temps = now.state().lanes().get(*lane).and_then(|lane| lane.temps.get(*n));
            let value = temps.ok_or("there is no such register")?;
            let channel = |(letter, &x): (char, &f32)| plain(&letter.to_string(), with_bits(x));
            "rgba".chars().zip(value).map(channel).collect()
        }
    })
}

fn with_bits(x: f32) -> String {
    format!("{}  {}", float_format::text(x), float_format::bits(x))
}

/// Returns the channels of an expression's value: of a register those that it names, else in order.
fn channels(target: &Target, written: &str) -> Result<Vec<Shown>, String> {
    let parsed = target.expression(written)?;
    let value = target.session.value(&parsed);
    let (Number::Numbers(_, count) | Number::Bools(_, count)) = value;
    let part = |n: usize| match value {
        Number::Numbers(x, _) => with_bits(x[n]),
        Number::Bools(x, _) => x[n].to_string(),
    };
    let channels = match parsed {
        Expr::Variable(variable) => single_channels(variable),
        _ => Vec::new(),
    };
    let letters = ["r", "g", "b", "a"];
    let shown = (0..count).map(|n| match channels.get(n) {
        Some(&(channel, single)) => Shown {
            expression: Some(Written(&Expr::Variable(single)).to_string()),
            ..plain(letters[channel], part(n))
        },
        None => plain(letters[n], part(n)),
    });
    Ok(shown.collect())
}

/// Returns the channels of a register operand, each with its index.
fn single_channels(variable: Variable) -> Vec<(usize, Variable)> {
    type Make = Box<dyn Fn(Channels) -> Variable>;
    let (all, make): (Channels, Make) = match variable {
        Variable::Temp(n, all) => (all, Box::new(move |one| Variable::Temp(n, one))),
        Variable::Const(n, all) => (all, Box::new(move |one| Variable::Const(n, one))),
        Variable::Out(n, all) => (all, Box::new(move |one| Variable::Out(n, one))),
        Variable::Predicate(all) => (all, Box::new(Variable::Predicate)),
        _ => return Vec::new(),
    };
    let single = |channel: usize| {
        let one = Channels::new(&[u8::try_from(channel).ok()?])?;
        Some((channel, make(one)))
    };
    all.iter().filter_map(single).collect()
}

fn constants(target: &Target) -> Result<Vec<Shown>, String> {
    let bindings = &target.session.recording.setup().bindings;
    let read = target.reads.constants.iter();
    let bound = read.filter(|&&n| bindings.constant(n.into()).is_some());
    bound
        .map(|&n| {
            let written = format!("const[{n}]");
            let names = text::constant_names(&target.session, n.into());
            expression(target, format!("{written} {names}").trim_end(), &written)
        })
        .collect()
}

fn state(target: &Target) -> Result<Vec<Shown>, String> {
    let now = target.session.recording.now();
    let pixel = now.pixel();
    let active =
        if now.active() { "yes".to_owned() } else { format!("no: {}", state_name(pixel.state)) };
    let (loops, calls) = (now.state().loops(), now.state().calls());
    let nested = |name: &str, count: usize, node: Node| Shown {
        parts: (count > 0).then_some((node, count)),
        ..plain(name, if count == 0 { "none".to_owned() } else { count.to_string() })
    };
    Ok(vec![
        expression(target, "step", "step")?,
        expression(target, "address", "address")?,
        Shown { expression: Some("active".to_owned()), ..plain("active", active) },
        expression(target, "predicate", "pred")?,
        expression(target, "alu_result", "alu_result")?,
        expression(target, "aL", "aL")?,
        nested("loops", loops.len(), Node::Loops),
        nested("calls", calls.len(), Node::Calls),
    ])
}

fn group(now: &Snapshot<'_>) -> Vec<Shown> {
    let ended = now.state().ended();
    let all = now.state().lanes().iter().zip(now.active_lanes()).enumerate();
    let shown = |(n, (lane, executes)): (usize, (&Lane, bool))| {
        let state = match lane.state {
            _ if lane.killed => "killed".to_owned(),
            _ if executes && !ended => "executes".to_owned(),
            LaneState::Active => "stopped".to_owned(),
            state => state_name(state),
        };
        let parts = written(lane).count() + 1;
        Shown {
            parts: Some((Node::Lane(n), parts)),
            ..plain(&format!("{},{}", lane.x, lane.y), state)
        }
    };
    all.filter(|(_, (lane, _))| lane.inside).map(shown).collect()
}

/// Returns the temporaries that a lane has written so far.
fn written(lane: &Lane) -> impl Iterator<Item = usize> + '_ {
    (0..TEMPORARIES).filter(|&n| lane.written[n] != 0)
}

/// Returns the registers of a pixel of the group.
fn lane_parts(now: &Snapshot<'_>, n: usize) -> Result<Vec<Shown>, String> {
    let lane = now.state().lanes().get(n).ok_or("there is no such pixel")?;
    let temp = |t: usize| Shown {
        parts: Some((Node::LaneTemp(n, t), 4)),
        ..plain(&format!("temp[{t}]"), vector(&lane.temps[t]))
    };
    let set = float_format::letters(lane.predicate);
    let predicate = plain("predicate", if set.is_empty() { "none".to_owned() } else { set });
    Ok(written(lane).map(temp).chain([predicate]).collect())
}
