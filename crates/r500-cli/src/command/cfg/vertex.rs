//! The flow graph of a vertex program.

use std::fmt::Write as _;

use r500::cfg::{VertexFlow, edge_kind};
use r500::check::draw::Chart;
use r500::pvs::FlowNode;
use serde_json::{Value, json};

use super::{Graphic, block_title, edge_label, kind_name};

/// The control-flow graph of a vertex program, for output.
pub(super) struct VertexFlowOutput<'a>(pub(super) VertexFlow<'a>);

impl Graphic for VertexFlowOutput<'_> {
    fn text(&self) -> String {
        let flow = &self.0;
        let mut text = format!("{}: {}\n", flow.name, flow.summary());
        for (number, block) in flow.graph.blocks.iter().enumerate() {
            let is_start = Some(number) == flow.graph.start;
            let title = block_title(number, is_start, block.reached, block.loops);
            let _ = writeln!(text, "\n{title}");
            for address in block.first..=block.last {
                let _ = writeln!(text, "  {address:>3}  {}", flow.line(address));
            }
            for (edge, to) in &block.successors {
                let label = edge_label(edge_kind(*edge));
                let _ = match to {
                    Some(to) => writeln!(text, "       -> {label}block {to}"),
                    None => writeln!(text, "       -> {label}end"),
                };
            }
        }
        match &flow.tree {
            Ok(tree) => {
                text.push_str("\nstructure\n");
                outline(&mut text, tree, 1);
            }
            Err(why) => {
                let _ = writeln!(text, "\nno structure: {why}");
            }
        }
        text
    }

    fn json(&self) -> Value {
        let flow = &self.0;
        let blocks = flow.graph.blocks.iter().enumerate().map(|(number, block)| {
            let successors = block
                .successors
                .iter()
                .map(|(edge, to)| json!({ "kind": kind_name(edge_kind(*edge)), "block": to }));
            let instructions = (block.first..=block.last)
                .map(|address| json!({ "address": address, "text": flow.line(address) }));
            json!({
                "block": number,
                "first": block.first,
                "last": block.last,
                "reached": block.reached,
                "nesting": block.loops,
                "successors": successors.collect::<Value>(),
                "instructions": instructions.collect::<Value>(),
            })
        });
        json!({
            "version": 1,
            "kind": "vertex",
            "name": flow.name,
            "start": flow.graph.start,
            "blocks": blocks.collect::<Value>(),
            "loops": flow.graph.loops,
            "complete": flow.graph.complete,
            "structure": flow.tree.as_ref().ok().map(|nodes| tree(nodes)),
            "unstructured": flow.tree.as_ref().err().map(ToString::to_string),
        })
    }

    fn blocks(&self) -> usize {
        self.0.graph.blocks.len()
    }

    fn chart(&self, wrap: usize) -> Chart {
        self.0.chart(wrap)
    }
}

/// A run of instructions, or a loop.
enum Item<'a> {
    Straight(usize, usize),
    Loop(&'a r500::pvs::FlowLoop),
}

/// Joins instructions that follow each other.
fn items(nodes: &[FlowNode]) -> Vec<Item<'_>> {
    let mut items: Vec<Item<'_>> = Vec::new();
    for node in nodes {
        match (node, items.last_mut()) {
            (FlowNode::Instruction(number), Some(Item::Straight(_, last)))
                if *last + 1 == *number =>
            {
                *last = *number;
            }
            (FlowNode::Instruction(number), _) => items.push(Item::Straight(*number, *number)),
            (FlowNode::Loop(of), _) => items.push(Item::Loop(of)),
        }
    }
    items
}

fn outline(text: &mut String, nodes: &[FlowNode], depth: usize) {
    let blanks = depth * 2;
    for item in items(nodes) {
        let _ = match item {
            Item::Straight(first, last) if first == last => {
                writeln!(text, "{:blanks$}@{first}", "")
            }
            Item::Straight(first, last) => writeln!(text, "{:blanks$}@{first} to @{last}", ""),
            Item::Loop(of) => {
                let from = of.init.map_or(String::new(), |init| format!(", aL from {init}"));
                let (passes, step) = (of.trips, of.step);
                let _ = writeln!(text, "{:blanks$}LOOP {passes} times{from}, step {step}", "");
                outline(text, &of.body, depth + 1);
                writeln!(text, "{:blanks$}ENDLOOP", "")
            }
        };
    }
}

fn tree(nodes: &[FlowNode]) -> Value {
    let one = |item: Item<'_>| match item {
        Item::Straight(first, last) => {
            json!({ "statement": "straight", "first": first, "last": last })
        }
        Item::Loop(of) => json!({
            "statement": "loop",
            "passes": of.trips,
            "index": of.init,
            "step": of.step,
            "body": tree(&of.body),
        }),
    };
    items(nodes).into_iter().map(one).collect()
}
