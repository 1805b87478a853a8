//! The flow graph of a fragment program.

use std::fmt::Write as _;

use r500::cfg::Flow;
use r500::check::draw::Chart;
use r500::check::graph::{BlockNode, Statement};
use serde_json::{Value, json};

use super::{Graphic, block_title, edge_label, kind_name};

/// The control-flow graph of a program, for output.
pub(super) struct FlowOutput<'a>(pub(super) Flow<'a>);

impl Graphic for FlowOutput<'_> {
    fn blocks(&self) -> usize {
        self.0.blocks.blocks.len()
    }

    fn chart(&self, wrap: usize) -> Chart {
        self.0.chart(wrap)
    }

    fn text(&self) -> String {
        let mut text = format!("{}: {}\n", self.0.name, self.0.summary());
        for (number, block) in self.0.blocks.blocks.iter().enumerate() {
            let is_start = number == self.0.blocks.start;
            let title = block_title(number, is_start, block.reached, self.nesting(number));
            let _ = writeln!(text, "\n{title}");
            for index in block.first..=block.last {
                let _ = writeln!(
                    text,
                    "  {:>3}  {}",
                    self.0.window.address(index),
                    self.0.lines[index]
                );
            }
            for (kind, to) in &block.successors {
                let label = edge_label(*kind);
                let _ = match to {
                    BlockNode::Block(to) => writeln!(text, "       -> {label}block {to}"),
                    BlockNode::End => writeln!(text, "       -> {label}end"),
                    BlockNode::Outside(at) => {
                        writeln!(text, "       -> {label}@{at}, outside the window")
                    }
                };
            }
        }
        if let Ok(structure) = &self.0.structure {
            text.push_str("\nstructure\n");
            self.outline(&mut text, &structure.main, 1);
            for (number, sub) in structure.subs.iter().enumerate() {
                let _ = writeln!(text, "  subroutine {number}");
                self.outline(&mut text, &sub.body, 2);
            }
        }
        text
    }

    fn json(&self) -> Value {
        let at = |index: usize| self.0.window.address(index);
        let blocks = self.0.blocks.blocks.iter().enumerate().map(|(number, block)| {
            let successors = block.successors.iter().map(|(kind, to)| match to {
                BlockNode::Block(to) => json!({ "kind": kind_name(*kind), "block": to }),
                BlockNode::End => json!({ "kind": kind_name(*kind), "block": null }),
                BlockNode::Outside(address) => {
                    json!({ "kind": kind_name(*kind), "block": null, "outside": address })
                }
            });
            let instructions = (block.first..=block.last)
                .map(|index| json!({ "address": at(index), "text": self.0.lines[index] }));
            json!({
                "block": number,
                "first": at(block.first),
                "last": at(block.last),
                "reached": block.reached,
                "nesting": self.nesting(number),
                "dominator": block.dominator,
                "predecessors": block.predecessors,
                "successors": successors.collect::<Value>(),
                "instructions": instructions.collect::<Value>(),
            })
        });
        let loops = self.0.blocks.loops.iter();
        let loops = loops.map(|l| json!({ "header": l.header, "blocks": l.blocks }));
        let why = self.0.structure.as_ref().err();
        let why = why.map(|why| json!({ "address": at(why.index), "reason": why.reason.text() }));
        let structure = self.0.structure.as_ref().ok().map(|structure| {
            let subs = structure.subs.iter();
            let subs =
                subs.map(|sub| json!({ "entry": at(sub.entry), "body": self.tree(&sub.body) }));
            json!({ "main": self.tree(&structure.main), "subroutines": subs.collect::<Value>() })
        });
        json!({
            "version": 1,
            "name": self.0.name,
            "start": self.0.blocks.start,
            "blocks": blocks.collect::<Value>(),
            "loops": loops.collect::<Value>(),
            "irreducible": self.0.blocks.irreducible,
            "complete": !self.0.graph.gave_up(),
            "structured": why.is_none(),
            "unstructured": why,
            "structure": structure,
        })
    }
}

impl FlowOutput<'_> {
    fn outline(&self, text: &mut String, statements: &[Statement], depth: usize) {
        let at = |index: usize| self.0.window.address(index);
        let line = |text: &mut String, line: std::fmt::Arguments<'_>| {
            let _ = writeln!(text, "{:1$}{line}", "", depth * 2);
        };
        for statement in statements {
            match statement {
                Statement::Straight { first, last } if first == last => {
                    line(text, format_args!("@{}", at(*first)));
                }
                Statement::Straight { first, last } => {
                    line(text, format_args!("@{} to @{}", at(*first), at(*last)));
                }
                Statement::If { at: place, then, else_at, otherwise, endif } => {
                    line(text, format_args!("IF @{}", at(*place)));
                    self.outline(text, then, depth + 1);
                    if let Some(place) = else_at {
                        line(text, format_args!("ELSE @{}", at(*place)));
                        self.outline(text, otherwise, depth + 1);
                    }
                    match endif {
                        Some(place) => line(text, format_args!("ENDIF @{}", at(*place))),
                        None => line(text, format_args!("ENDIF with that of the branch around")),
                    }
                }
                Statement::UniformIf { at: place, then, over, otherwise } => {
                    line(text, format_args!("IF by plain jumps @{}", at(*place)));
                    self.outline(text, then, depth + 1);
                    if let Some(place) = over {
                        line(text, format_args!("ELSE @{}", at(*place)));
                        self.outline(text, otherwise, depth + 1);
                    }
                }
                Statement::Loop { at: place, body, end } => {
                    line(text, format_args!("LOOP @{}", at(*place)));
                    self.outline(text, body, depth + 1);
                    line(text, format_args!("ENDLOOP @{}", at(*end)));
                }
                Statement::Break(place) => line(text, format_args!("BREAK @{}", at(*place))),
                Statement::Continue(place) => line(text, format_args!("CONTINUE @{}", at(*place))),
                Statement::Call { at: place, sub } => {
                    line(text, format_args!("CALL @{}, subroutine {sub}", at(*place)));
                }
                Statement::Return(place) => line(text, format_args!("RETURN @{}", at(*place))),
                Statement::Skip { at: place, to } => {
                    line(text, format_args!("JUMP @{} over to @{}", at(*place), at(*to)));
                }
            }
        }
    }

    fn tree(&self, statements: &[Statement]) -> Value {
        let at = |index: usize| self.0.window.address(index);
        let maybe = |index: Option<usize>| index.map(at);
        let one = |statement: &Statement| match statement {
            Statement::Straight { first, last } => {
                json!({ "statement": "straight", "first": at(*first), "last": at(*last) })
            }
            Statement::If { at: place, then, else_at, otherwise, endif } => json!({
                "statement": "if",
                "address": at(*place),
                "then": self.tree(then),
                "else": maybe(*else_at),
                "otherwise": self.tree(otherwise),
                "endif": maybe(*endif),
            }),
            Statement::UniformIf { at: place, then, over, otherwise } => json!({
                "statement": "choice",
                "address": at(*place),
                "then": self.tree(then),
                "else": maybe(*over),
                "otherwise": self.tree(otherwise),
            }),
            Statement::Loop { at: place, body, end } => json!({
                "statement": "loop",
                "address": at(*place),
                "body": self.tree(body),
                "end": at(*end),
            }),
            Statement::Break(place) => json!({ "statement": "break", "address": at(*place) }),
            Statement::Continue(place) => json!({ "statement": "continue", "address": at(*place) }),
            Statement::Call { at: place, sub } => {
                json!({ "statement": "call", "address": at(*place), "subroutine": sub })
            }
            Statement::Return(place) => json!({ "statement": "return", "address": at(*place) }),
            Statement::Skip { at: place, to } => {
                json!({ "statement": "jump", "address": at(*place), "to": at(*to) })
            }
        };
        statements.iter().map(one).collect()
    }

    /// Loops around a block.
    fn nesting(&self, block: usize) -> usize {
        self.0.blocks.loops.iter().filter(|l| l.blocks.contains(&block)).count()
    }
}
