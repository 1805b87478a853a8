//! A breakpoint: who set it, where it stops, its condition, hit count and message.

use r500_exec::record::{Break, Expr};

use crate::expression::{self, Names, Vocabulary, Written};

/// Who set a breakpoint. An editor replaces the breakpoints of an owner as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
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
#[derive(Clone, Debug)]
pub struct Breakpoint<V> {
    /// Its number, from 1; 0 before it is [added](crate::breakpoints::Breakpoints::add).
    pub(crate) number: usize,
    /// Who set it.
    pub owner: Owner,
    /// Where it stops.
    pub stop: Break<V>,
    /// Its text as entered.
    pub text: String,
    /// Whether it stops or logs at all.
    pub enabled: bool,
    /// Whether it is removed by its first stop.
    pub once: bool,
    /// How often it stopped or logged.
    pub(crate) hits: u64,
    /// What has to hold in addition.
    pub(crate) condition: Option<Expr<V>>,
    /// Which of its hits count.
    pub(crate) hit_condition: Option<HitCondition>,
    /// The message that it logs instead of stopping.
    pub(crate) message: Option<LogMessage<V>>,
    /// The positions at which it stops or logs, once they were needed.
    pub(crate) positions: Option<Vec<usize>>,
}

/// Which hits of a breakpoint count, by their number from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HitCondition {
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
pub struct LogMessage<V>(pub(crate) Vec<Part<V>>);

/// A part of a message.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Part<V> {
    Text(String),
    Value(Expr<V>),
}

impl<V: Vocabulary> Breakpoint<V> {
    /// Returns an enabled breakpoint without a condition.
    #[must_use]
    pub fn new(owner: Owner, stop: Break<V>, text: String) -> Self {
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

    /// Returns its number, from 1.
    #[must_use]
    pub fn number(&self) -> usize {
        self.number
    }

    /// Returns how often it stopped or logged.
    #[must_use]
    pub fn hits(&self) -> u64 {
        self.hits
    }

    /// Returns whether it logs a message instead of stopping.
    #[must_use]
    pub fn logs(&self) -> bool {
        self.message.is_some()
    }

    /// Sets or removes what has to hold in addition.
    pub fn set_condition(&mut self, condition: Option<Expr<V>>) {
        self.condition = condition;
        self.forget_positions();
    }

    /// Sets or removes which of its hits count.
    pub fn set_hit_condition(&mut self, which: Option<HitCondition>) {
        self.hit_condition = which;
        self.forget_positions();
    }

    /// Sets or removes the message that it logs instead of stopping.
    pub fn set_message(&mut self, message: Option<LogMessage<V>>) {
        self.message = message;
        self.forget_positions();
    }

    /// Returns its text with its condition and its hit count.
    #[must_use]
    pub fn description(&self) -> String {
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
    pub(crate) fn expressions(&mut self, each: &mut dyn FnMut(&mut Expr<V>)) {
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
    pub(crate) fn forget_positions(&mut self) {
        self.positions = None;
    }

    /// Returns whether its positions must be known before a run: there is more to it than a stop.
    #[must_use]
    pub fn is_listed(&self) -> bool {
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
    ///
    /// # Errors
    /// What can be written.
    pub fn parse(text: &str) -> Result<Self, String> {
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
    #[must_use]
    pub fn holds(&self, number: u64) -> bool {
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
    ///
    /// # Errors
    /// A brace without its partner, or what is wrong with an expression.
    pub fn parse(text: &str, names: Names<'_>) -> Result<Self, String> {
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

    use r500_exec::record::Variable;

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
