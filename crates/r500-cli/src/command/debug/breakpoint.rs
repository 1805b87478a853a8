//! Breakpoints: who set them, their conditions, hit counts and messages.

use r500::exec::record::{Break, Expr};
use r500::expression::{self, Names, Vocabulary, Written};

/// Who set a breakpoint. An editor replaces the breakpoints of an owner as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::command) enum Owner {
    /// A command of the debugger.
    Command,
    /// An editor, on a line of the source.
    Line,
    /// An editor, on a label.
    Label,
    /// An editor, on an instruction of the disassembly.
    Instruction,
    /// An editor, on changes of a value.
    Data,
}

/// A breakpoint.
pub(in crate::command) struct Breakpoint<V> {
    pub(in crate::command) number: usize,
    pub(in crate::command) owner: Owner,
    pub(super) stop: Break<V>,
    /// Its text as entered.
    pub(in crate::command) text: String,
    pub(super) enabled: bool,
    pub(super) once: bool,
    pub(super) hits: u64,
    /// What has to hold in addition.
    pub(in crate::command) condition: Option<Expr<V>>,
    /// Which of its hits count.
    pub(in crate::command) hit_condition: Option<HitCondition>,
    /// The message that it logs instead of stopping.
    pub(in crate::command) message: Option<LogMessage<V>>,
    /// The positions at which it stops or logs, once they were needed.
    pub(super) positions: Option<Vec<usize>>,
}

/// Which hits of a breakpoint count, by their number from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::command) struct HitCondition {
    operator: HitOperator,
    count: u64,
    /// Its text as entered.
    written: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HitOperator {
    Equal,
    NotEqual,
    Less,
    AtMost,
    Greater,
    AtLeast,
    MultipleOf,
}

/// A message with the values of expressions.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::command) struct LogMessage<V>(pub(super) Vec<Part<V>>);

/// A part of a message.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Part<V> {
    Text(String),
    Value(Expr<V>),
}

impl<V: Vocabulary> Breakpoint<V> {
    /// Returns an enabled breakpoint, which the session numbers.
    pub(in crate::command) fn new(owner: Owner, stop: Break<V>, text: String) -> Self {
        Self {
            number: 0,
            owner,
            stop,
            text,
            enabled: true,
            once: false,
            hits: 0,
            condition: None,
            hit_condition: None,
            message: None,
            positions: None,
        }
    }

    /// Returns its text with its condition and its hit count.
    pub(super) fn description(&self) -> String {
        let mut text = self.text.clone();
        if let Some(condition) = &self.condition {
            text.push_str(&format!(" if {}", Written(condition)));
        }
        if let Some(hits) = &self.hit_condition {
            text.push_str(&format!(", hits {}", hits.written));
        }
        text
    }

    /// Calls `each` with its expressions.
    pub(super) fn expressions(&mut self, each: &mut dyn FnMut(&mut Expr<V>)) {
        match &mut self.stop {
            Break::At(_) => {}
            Break::AtIf(_, expr) | Break::If(expr) | Break::Changes(expr) => each(expr),
        }
        self.condition.iter_mut().for_each(&mut *each);
        for part in self.message.iter_mut().flat_map(|message| &mut message.0) {
            if let Part::Value(expr) = part {
                each(expr);
            }
        }
    }

    /// Forgets the positions, which are those of one pixel or vertex.
    pub(super) fn forget_positions(&mut self) {
        self.positions = None;
    }

    /// Returns whether its positions must be known before a run: there is more to it than a stop.
    pub(in crate::command) fn is_listed(&self) -> bool {
        self.condition.is_some() || self.hit_condition.is_some() || self.message.is_some()
    }
}

/// The operators; of two with the same start the longer one is first.
const OPERATORS: [(&str, HitOperator); 8] = [
    ("==", HitOperator::Equal),
    ("!=", HitOperator::NotEqual),
    ("<=", HitOperator::AtMost),
    (">=", HitOperator::AtLeast),
    ("<", HitOperator::Less),
    (">", HitOperator::Greater),
    ("=", HitOperator::Equal),
    ("%", HitOperator::MultipleOf),
];

impl HitCondition {
    /// Parses `3` or `== 3`, `!= 3`, `< 3`, `<= 3`, `> 3`, `>= 3`, and `% 3`: every third hit.
    pub(in crate::command) fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let found = OPERATORS.iter().find_map(|(word, operator)| {
            text.strip_prefix(word).map(|count| (*operator, count.trim()))
        });
        let (operator, count) = found.unwrap_or((HitOperator::Equal, text));
        match count.parse() {
            Ok(count) if operator != HitOperator::MultipleOf || count > 0 => {
                Ok(Self { operator, count, written: text.to_owned() })
            }
            _ => Err(format!(
                "`{text}` is not a hit count; write 3, >= 3, or % 3 for every third hit"
            )),
        }
    }

    /// Returns whether the hit of a number counts.
    pub(super) fn holds(&self, number: u64) -> bool {
        match self.operator {
            HitOperator::Equal => number == self.count,
            HitOperator::NotEqual => number != self.count,
            HitOperator::Less => number < self.count,
            HitOperator::AtMost => number <= self.count,
            HitOperator::Greater => number > self.count,
            HitOperator::AtLeast => number >= self.count,
            HitOperator::MultipleOf => number.is_multiple_of(self.count),
        }
    }
}

impl<V: Vocabulary> LogMessage<V> {
    /// Parses a text in which `{EXPR}` stands for a value.
    pub(in crate::command) fn parse(text: &str, names: Names<'_>) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            let (inside, after) = after
                .split_once('}')
                .ok_or_else(|| format!("the message has a `{{` without a `}}`: {text}"))?;
            let value = expression::parse_with(inside, names)
                .map_err(|error| format!("`{{{inside}}}` of the message: {error}"))?;
            parts.extend([Part::Text(before.to_owned()), Part::Value(value)]);
            rest = after;
        }
        parts.push(Part::Text(rest.to_owned()));
        Ok(Self(parts))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use r500::exec::record::Variable;

    use super::*;

    #[test]
    fn hit_counts_are_parsed_and_hold() {
        let holding = |text: &str| -> Vec<u64> {
            let condition = HitCondition::parse(text).unwrap();
            (1..=6).filter(|&number| condition.holds(number)).collect()
        };
        assert_eq!(holding("3"), [3]);
        assert_eq!(holding(" == 2"), [2]);
        assert_eq!(holding("=2"), [2]);
        assert_eq!(holding("!= 2"), [1, 3, 4, 5, 6]);
        assert_eq!(holding("<3"), [1, 2]);
        assert_eq!(holding("<= 3"), [1, 2, 3]);
        assert_eq!(holding("> 4"), [5, 6]);
        assert_eq!(holding(">=4"), [4, 5, 6]);
        assert_eq!(holding("% 2"), [2, 4, 6]);
        for text in ["", "%0", "x", "3 times", "-1", ">"] {
            assert!(
                HitCondition::parse(text).unwrap_err().contains("is not a hit count"),
                "{text}"
            );
        }
    }

    #[test]
    fn messages_are_parsed() {
        let parse = |text| LogMessage::<Variable>::parse(text, Names::of_constants(&[]));
        let parts = parse("a {temp[1].r} b {step}").unwrap().0;
        assert_eq!(parts.len(), 5);
        assert_eq!(parts[2], Part::Text(" b ".to_owned()));
        assert!(parse("{temp[1]").unwrap_err().contains("without a `}`"));
        assert!(parse("{nothing}").unwrap_err().contains("`{nothing}` of the message"));
    }
}
