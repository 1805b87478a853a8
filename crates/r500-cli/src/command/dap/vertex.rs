//! The scopes of a vertex: its registers and state.

use r500::pvs::Running;
use r500::vertex_run::VertexMachine;

use super::references::{Node, Shown};
use super::target::{Inspected, Target};
use super::variables::{expression, registers};
use crate::command::debug::vertex::{written_outputs, written_registers};

impl Inspected for VertexMachine {
    const SCOPES: &'static [(&'static str, Node)] = &[
        ("Registers", Node::Registers),
        ("Inputs", Node::Inputs),
        ("Outputs", Node::Outputs),
        ("Constants", Node::Constants),
        ("State", Node::State),
    ];

    fn parts(target: &Target<Self>, node: &Node) -> Result<Vec<Shown>, String> {
        let session = &target.session;
        let now = session.recording.now();
        match node {
            Node::Registers => {
                let shown = written_registers(session);
                let temporaries = shown.temporaries.into_iter().map(|n| format!("temp[{n}]"));
                let alternates = shown.alternates.into_iter().map(|n| format!("alt_temp[{n}]"));
                let address = shown.address.then(|| "a0".to_owned());
                registers(target, temporaries.chain(alternates).chain(address))
            }
            Node::Inputs => {
                let vertices = session.vertices();
                let given = vertices.set.given_inputs(vertices.number).into_iter();
                given
                    .map(|n| {
                        let written = format!("input[{n}]");
                        let name = vertices.set.attribute(n);
                        expression(target, format!("{written} {name}").trim_end(), &written)
                    })
                    .collect()
            }
            Node::Outputs => {
                let written = now.state().written();
                let outputs = written_outputs(session).into_iter();
                let outputs = outputs.filter(|&n| written.outputs[n] != 0);
                registers(target, outputs.map(|n| format!("out[{n}]")))
            }
            Node::State => state(target),
            Node::Loops => {
                let line = |(n, running): (usize, Running)| match running {
                    Running::Loop { left, index } => {
                        Some(Shown::plain(&format!("loop {n}"), format!("{left} left, aL {index}")))
                    }
                    Running::Call { .. } => None,
                };
                Ok((1..).zip(now.machine().running(now.state())).filter_map(line).collect())
            }
            _ => Err("a vertex has no such values".to_owned()),
        }
    }
}

fn state(target: &Target<VertexMachine>) -> Result<Vec<Shown>, String> {
    let now = target.session.recording.now();
    let active = match (now.active(), now.state().vertex().predicate()) {
        (true, _) => "yes".to_owned(),
        (false, _) if now.ended() => "no: the program has ended".to_owned(),
        (false, predicate) => format!("no: the predicate is {predicate}"),
    };
    let running: Vec<Running> = now.machine().running(now.state()).collect();
    let loops = running.iter().filter(|one| matches!(one, Running::Loop { .. })).count();
    Ok(vec![
        expression(target, "step", "step")?,
        expression(target, "address", "address")?,
        Shown { expression: Some("active".to_owned()), ..Shown::plain("active", active) },
        expression(target, "predicate", "pred")?,
        expression(target, "a0", "a0")?,
        expression(target, "aL", "aL")?,
        Shown::counted("loops", loops, Node::Loops),
        Shown::counted("calls", running.len() - loops, Node::Calls),
    ])
}
