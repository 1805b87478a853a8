//! The debuggee: a program and the debugger's session with its recorded run.

use r500::breakpoint::{Breakpoint, HitCondition, LogMessage, Owner};
use r500::exec::record::{Break, Expr};
use r500::expression::{self, Names};
use serde_json::Value;

use super::references::{Node, References, Shown};
use crate::command::debug::session::Session;
use crate::command::debug::subject::Subject;

/// A kind of machine that editors inspect.
pub(super) trait Inspected: Subject {
    /// The scopes of a frame.
    const SCOPES: &'static [(&'static str, Node)];

    /// Returns the parts of a value, of all but expressions, constants and calls.
    fn parts(target: &Target<Self>, node: &Node) -> Result<Vec<Shown>, String>;
}

pub(super) struct Target<M: Inspected> {
    pub(super) session: Session<M>,
    /// The constants that the program reads and that have a value.
    pub(super) constants: Vec<u8>,
    /// The expandable values that the client knows.
    pub(super) references: References,
}

impl<M: Inspected> Target<M> {
    /// Parses an expression.
    pub(super) fn expression(&self, text: &str) -> Result<Expr<M::Variable>, String> {
        let parse = |names: Names<'_>| expression::parse_with(text, names);
        self.session.with_names(parse).map_err(|error| error.to_string())
    }

    /// Returns a breakpoint with the conditions and the message of a request.
    pub(super) fn breakpoint(
        &self,
        owner: Owner,
        stop: Break<M::Variable>,
        text: &str,
        wanted: &Value,
    ) -> Result<Breakpoint<M::Variable>, String> {
        let given = |name: &str| wanted[name].as_str().map(str::trim).filter(|t| !t.is_empty());
        let mut text = text.to_owned();
        let mut point = Breakpoint::new(owner, stop.clone(), String::new());
        if let Some(written) = given("hitCondition") {
            point.set_hit_condition(Some(HitCondition::parse(written)?));
        }
        if let Some(written) = given("logMessage") {
            let message = self.session.with_names(|names| LogMessage::parse(written, names))?;
            point.set_message(Some(message));
            text.push_str(", logs");
        }
        if let Some(written) = given("condition") {
            let parse = |names: Names<'_>| expression::parse_condition_with(written, names);
            let condition = self.session.with_names(parse);
            let condition = condition.map_err(|error| error.to_string())?;
            // Without a hit count or a message, a run need not know all positions.
            match stop {
                Break::At(address) if !point.is_listed() => {
                    text.push_str(&format!(" if {written}"));
                    point = Breakpoint::new(owner, Break::AtIf(address, condition), String::new());
                }
                _ => point.set_condition(Some(condition)),
            }
        }
        point.text = text;
        Ok(point)
    }
}
