//! Stack frames: the next instruction, and the calls that run.

use serde_json::{Value, json};

use super::target::{Inspected, Target};

/// The source reference of the listing of a program without assembly.
pub(super) const LISTING: u64 = 1;

/// Returns the frames, the innermost first. `from` is the number of the client's first line.
pub(super) fn stack<M: Inspected>(target: &Target<M>, from: usize) -> Value {
    let now = target.session.recording.now();
    let calls = now.machine().calls(now.state()).into_iter().rev();
    let addresses = std::iter::once(target.session.here()).chain(calls);
    let frames: Vec<Value> =
        addresses.zip(1..).map(|(address, id)| frame(target, id, address, from)).collect();
    json!({ "totalFrames": frames.len(), "stackFrames": frames })
}

/// Returns the source of the program: its file, or its listing.
pub(super) fn source<M: Inspected>(target: &Target<M>) -> Value {
    match &target.session.map.path {
        Some(path) => {
            let path = path.canonicalize().unwrap_or_else(|_| path.clone());
            json!({ "name": target.session.name, "path": path.to_string_lossy() })
        }
        None => json!({
            "name": format!("{} (listing)", target.session.name), "sourceReference": LISTING,
        }),
    }
}

fn frame<M: Inspected>(target: &Target<M>, id: u32, address: u32, from: usize) -> Value {
    let map = &target.session.map;
    let label = map.label_before(address);
    let name = label.map_or_else(|| format!("@{address}"), |label| format!("{label} @{address}"));
    let mut frame = json!({
        "id": id, "name": name, "line": 0, "column": 0,
        "instructionPointerReference": address.to_string(),
    });
    // Instructions of included files have no line here.
    if let Some((first, last)) = map.line_of(address) {
        let indent =
            map.lines.get(first - 1).map_or(0, |line| line.len() - line.trim_start().len());
        frame["line"] = json!(first + from - 1);
        frame["endLine"] = json!(last + from - 1);
        frame["column"] = json!(indent + from);
        frame["source"] = source(target);
    }
    frame
}
