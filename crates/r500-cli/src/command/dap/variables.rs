//! Registers and state as variables, identified by references, so that they are read again after each step.

use r500::exec::record::Snapshot;
use r500::exec::reference::LaneState;
use r500::isa::{TARGETS, TEMPORARIES};
use serde_json::{Value, json};

use super::target::Target;
use crate::command::float_format::{self, vector};
use crate::command::trace::state_name;

/// The scopes, with references from 1.
const SCOPES: [&str; 5] = ["Registers", "Outputs", "Constants", "State", "Group"];
/// References of registers: temporaries, outputs, constants.
const TEMPS: u64 = 1000;
const OUTPUTS: u64 = 2000;
const CONSTANTS: u64 = 3000;

/// Returns the scopes of a frame.
pub(super) fn scopes() -> Vec<Value> {
    let scope = |(n, name): (usize, &&str)| json!({ "name": name, "variablesReference": n + 1, "expensive": false });
    SCOPES.iter().enumerate().map(scope).collect()
}

/// Returns the variables of a reference.
///
/// # Errors
/// If the reference is invalid.
pub(super) fn variables(target: &Target, reference: u64) -> Result<Vec<Value>, String> {
    listed(target, reference)
        .ok_or_else(|| format!("there are no variables of reference {reference}"))
}

fn listed(target: &Target, reference: u64) -> Option<Vec<Value>> {
    let now = target.recording.now();
    let pixel = now.pixel();
    let number = |from: u64| usize::try_from(reference - from).ok();
    Some(match reference {
        1 => {
            let last = target.recording.last();
            let lanes = last.state().lanes();
            let used = (0..TEMPORARIES).filter(|&n| lanes.iter().any(|lane| lane.written[n] != 0));
            used.map(|n| register(&format!("temp[{n}]"), &pixel.temps[n], TEMPS + n as u64))
                .collect()
        }
        2 => (0..TARGETS)
            .filter(|&n| pixel.color_written[n] != 0)
            .map(|n| register(&format!("out[{n}]"), &pixel.color[n], OUTPUTS + n as u64))
            .chain(pixel.depth.map(|depth| plain("depth", float_format::text(depth))))
            .collect(),
        3 => constants(target),
        4 => state(&now),
        5 => group(&now),
        TEMPS..OUTPUTS => {
            let n = number(TEMPS)?;
            channels(&format!("temp[{n}]"), pixel.temps.get(n)?)
        }
        OUTPUTS..CONSTANTS => {
            let n = number(OUTPUTS)?;
            channels(&format!("out[{n}]"), pixel.color.get(n)?)
        }
        CONSTANTS.. => {
            let n = number(CONSTANTS)?;
            channels(&format!("const[{n}]"), &target.recording.setup().bindings.constant(n)?)
        }
        _ => return None,
    })
}

fn plain(name: &str, value: String) -> Value {
    json!({ "name": name, "value": value, "variablesReference": 0 })
}

fn register(name: &str, value: &[f32; 4], reference: u64) -> Value {
    json!({
        "name": name, "value": vector(value), "variablesReference": reference, "evaluateName": name,
        "indexedVariables": 0, "namedVariables": 4,
    })
}

fn channels(name: &str, value: &[f32; 4]) -> Vec<Value> {
    let channel = |(letter, &x): (char, &f32)| {
        json!({
            "name": letter.to_string(),
            "value": format!("{}  {}", float_format::text(x), float_format::bits(x)),
            "variablesReference": 0,
            "evaluateName": format!("{name}.{letter}"),
        })
    };
    "rgba".chars().zip(value).map(channel).collect()
}

fn constants(target: &Target) -> Vec<Value> {
    let setup = target.recording.setup();
    let name = |n: u8| {
        let named = target.map.names.iter().find(|uniform| uniform.constant == n);
        named
            .map_or_else(|| format!("const[{n}]"), |uniform| format!("const[{n}] {}", uniform.name))
    };
    let all = target.reads.constants.iter().filter_map(|&n| {
        let value = setup.bindings.constant(n.into())?;
        let mut variable = register(&name(n), &value, CONSTANTS + u64::from(n));
        variable["evaluateName"] = json!(format!("const[{n}]"));
        Some(variable)
    });
    all.collect()
}

fn state(now: &Snapshot<'_>) -> Vec<Value> {
    let pixel = now.pixel();
    let bit = |set: bool, on: bool| {
        if !set {
            "-"
        } else if on {
            "1"
        } else {
            "0"
        }
    };
    let predicate: Vec<String> = "rgba"
        .chars()
        .enumerate()
        .map(|(n, letter)| {
            let set = pixel.predicate_set >> n & 1 != 0;
            format!("{letter} {}", bit(set, pixel.predicate >> n & 1 != 0))
        })
        .collect();
    let loops: Vec<String> = now
        .state()
        .loops()
        .iter()
        .map(|frame| format!("{} left, aL {}", frame.count, frame.al))
        .collect();
    let active =
        if now.active() { "yes".to_owned() } else { format!("no: {}", state_name(pixel.state)) };
    vec![
        plain("step", now.position().to_string()),
        plain("address", now.address().to_string()),
        plain("active", active),
        plain("predicate", predicate.join("  ")),
        plain("alu_result", bit(pixel.alu_result_set, pixel.alu_result).to_owned()),
        plain("aL", now.al().to_string()),
        plain("loops", if loops.is_empty() { "none".to_owned() } else { loops.join(" > ") }),
    ]
}

fn group(now: &Snapshot<'_>) -> Vec<Value> {
    let ended = now.state().ended();
    let all = now.state().lanes().iter().zip(now.active_lanes());
    let lane = |(lane, executes): (&r500::exec::reference::Lane, bool)| {
        let state = match lane.state {
            _ if lane.killed => "killed".to_owned(),
            _ if executes && !ended => "executes".to_owned(),
            LaneState::Active => "stopped".to_owned(),
            state => state_name(state),
        };
        plain(&format!("{},{}", lane.x, lane.y), state)
    };
    all.filter(|(lane, _)| lane.inside).map(lane).collect()
}
