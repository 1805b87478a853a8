//! Debugger commands: the effect of each on the session, and its reply.

use std::time::Duration;

use r500::breakpoint::{Breakpoint, HitCondition, LogMessage, Owner};
use r500::exec::record::expr::Value;
use r500::exec::record::{Break, Direction, Expr, Recording, Stop};

use super::area::BackgroundQuery;
use super::language::{self, Verb};
use super::reply::Reply;
use super::session::Session;
use super::subject::Subject;
use super::text;

use Direction::{Backward, Forward};

/// The state of a started command.
pub(super) enum Begun {
    /// Complete.
    Done(Reply),
    /// Waiting for an area query.
    Asking(BackgroundQuery),
}

impl<M: Subject> Session<M> {
    /// Returns a reply as text: what happened, or the map, and the position.
    pub(in crate::command) fn text_of(&self, reply: &Reply) -> String {
        let mut text = match &reply.heat {
            Some((heat, measure)) => text::heat_map(heat, *measure),
            None => reply.text.clone(),
        };
        if reply.moved {
            text.push_str(&text::here(self));
            text.push_str(&self.displayed());
        }
        text
    }

    /// Executes a command line to completion; an empty line repeats the last stepping command.
    ///
    /// The error is a message about the line.
    pub(in crate::command) fn execute(&mut self, line: &str) -> Result<Reply, String> {
        match self.begin(line)? {
            Begun::Done(reply) => Ok(reply),
            Begun::Asking(mut survey) => loop {
                if let Some(found) = survey.wait(Duration::from_secs(60)) {
                    return M::found(self, found?);
                }
            },
        }
    }

    /// Executes a command line, or starts an area query, which [`Subject::found`] completes.
    pub(super) fn begin(&mut self, line: &str) -> Result<Begun, String> {
        let line = if line.trim().is_empty() { self.last.clone() } else { line.to_owned() };
        let (verb, rest) = language::parse(&line, M::KIND)?;
        if verb.moves() {
            self.last.clone_from(&line);
        } else {
            self.last.clear();
        }
        let mut reply = Reply::default();
        match verb {
            Verb::Step => self.repeat(rest, |recording| recording.step(Forward), &mut reply)?,
            Verb::ReverseStep => {
                self.repeat(rest, |recording| recording.step(Backward), &mut reply)?;
            }
            Verb::Next => {
                self.repeat(rest, |recording| recording.step_over(Forward), &mut reply)?
            }
            Verb::ReverseNext => {
                self.repeat(rest, |recording| recording.step_over(Backward), &mut reply)?;
            }
            Verb::Active => {
                self.repeat(rest, |recording| recording.step_active(Forward), &mut reply)?;
            }
            Verb::ReverseActive => {
                self.repeat(rest, |recording| recording.step_active(Backward), &mut reply)?;
            }
            Verb::Finish => self.repeat("", |recording| recording.step_out(Forward), &mut reply)?,
            Verb::ReverseFinish => {
                self.repeat("", |recording| recording.step_out(Backward), &mut reply)?;
            }
            Verb::Until => self.until(rest, Forward, &mut reply)?,
            Verb::ReverseUntil => self.until(rest, Backward, &mut reply)?,
            Verb::Continue => self.go_on(rest, Forward, &mut reply)?,
            Verb::ReverseContinue => self.go_on(rest, Backward, &mut reply)?,
            Verb::Run => self.arrive(0, &mut reply),
            Verb::End => self.arrive(usize::MAX, &mut reply),
            Verb::Goto => {
                let position = rest
                    .parse()
                    .map_err(|_| format!("goto wants a step, 0 to {}", self.recording.len()))?;
                self.arrive(position, &mut reply);
            }
            Verb::Break => reply.text = self.add_break(rest, false)?,
            Verb::TemporaryBreak => reply.text = self.add_break(rest, true)?,
            Verb::Watch => {
                let stop = Break::Changes(self.expression(rest)?);
                reply.text = self.add(stop, format!("watch {rest}"), false);
            }
            Verb::Condition => self.set_condition(rest)?,
            Verb::Hits => self.set_hits(rest)?,
            Verb::Log => reply.text = self.add_log(rest)?,
            Verb::Delete => {
                let chosen = self.chosen(rest)?;
                self.breakpoints.retain(|point| !chosen.contains(&point.number()));
            }
            Verb::Enable => self.enable(rest, true)?,
            Verb::Disable => self.enable(rest, false)?,
            Verb::Print => reply.text = self.print(rest, Value::to_string)?,
            Verb::Bits => reply.text = self.print(rest, text::bits)?,
            Verb::Display if rest.is_empty() => reply.text = self.displayed(),
            Verb::Display => {
                let expr = self.expression(rest)?;
                self.displays.push((self.next_display, rest.to_owned(), expr));
                self.next_display += 1;
                reply.text = self.displayed();
            }
            Verb::Undisplay => {
                let numbers = numbers(rest)?;
                self.displays.retain(|(n, ..)| !numbers.is_empty() && !numbers.contains(n));
            }
            Verb::Info => reply.text = text::info(self, rest)?,
            Verb::Backtrace => reply.text = text::backtrace(self),
            Verb::List => reply.text = text::list(self, rest)?,
            Verb::Select => {
                M::select(self, rest)?;
                reply.text = M::greeting(self);
                reply.moved = true;
            }
            Verb::First | Verb::Heat => return M::ask(self, verb, rest).map(Begun::Asking),
            Verb::Help => reply.text = language::help(rest, M::KIND)?,
            Verb::Quit => reply.quit = true,
        }
        Ok(Begun::Done(reply))
    }

    /// Returns the displayed values, one a line.
    pub(super) fn display_lines(&self) -> Vec<String> {
        let line = |(n, written, expr): &(usize, String, Expr<M::Variable>)| match self.value(expr)
        {
            Ok(value) => format!("{n}: {written} = {}", value),
            Err(unknown) => format!("{n}: {written}: {unknown}"),
        };
        self.displays.iter().map(line).collect()
    }

    fn displayed(&self) -> String {
        self.display_lines().iter().map(|line| format!("{line}\n")).collect()
    }

    fn repeat(
        &mut self,
        rest: &str,
        step: impl Fn(&mut Recording<M>) -> Stop,
        reply: &mut Reply,
    ) -> Result<(), String> {
        let from = self.recording.position();
        let mut stop = Stop::Reached;
        for _ in 0..count(rest)? {
            stop = step(&mut self.recording);
            if stop != Stop::Reached {
                break;
            }
        }
        reply.text = lines(&self.log_since(from));
        self.stopped(stop, reply);
        Ok(())
    }

    fn until(&mut self, rest: &str, direction: Direction, reply: &mut Reply) -> Result<(), String> {
        let from = self.recording.position();
        let stop = if rest.is_empty() {
            self.recording.until(direction)
        } else {
            let stop = match self.map.place(rest) {
                Ok(address) => Break::At(self.address(address)?),
                Err(why) if rest.starts_with(['@', ':']) => return Err(why),
                Err(_) => Break::If(self.condition(rest)?),
            };
            match self.recording.run(direction, &[stop]) {
                Stop::Break(_) => Stop::Reached,
                stop => stop,
            }
        };
        reply.text = lines(&self.log_since(from));
        self.stopped(stop, reply);
        Ok(())
    }

    fn go_on(&mut self, rest: &str, direction: Direction, reply: &mut Reply) -> Result<(), String> {
        let mut log = String::new();
        for _ in 0..count(rest)? {
            let ran = self.run(direction);
            log.push_str(&lines(&ran.log));
            reply.text.clone_from(&log);
            if ran.hits.is_empty() {
                self.stopped(ran.stop, reply);
                return Ok(());
            }
            for hit in &ran.hits {
                let line = format!("breakpoint {}, {}\n", hit.number, hit.description());
                reply.text.push_str(&line);
            }
            for hit in ran.hits.iter().filter(|hit| hit.once).rev() {
                reply.text.push_str(&format!("breakpoint {} is gone\n", hit.number));
            }
        }
        reply.moved = true;
        Ok(())
    }

    fn arrive(&mut self, position: usize, reply: &mut Reply) {
        self.recording.seek(position);
        let edge = match self.recording.position() {
            0 => Stop::Start,
            at if at == self.recording.len() => Stop::End,
            _ => Stop::Reached,
        };
        self.stopped(edge, reply);
    }

    fn stopped(&self, stop: Stop, reply: &mut Reply) {
        match stop {
            Stop::Start => reply.text.push_str("at the start of the program\n"),
            Stop::End => reply.text.push_str(&format!("at {}\n", self.end())),
            Stop::Reached | Stop::Break(_) => {}
        }
        reply.moved = true;
    }

    /// Parses `[ADDRESS] [if COND]` and adds a breakpoint.
    fn add_break(&mut self, rest: &str, once: bool) -> Result<String, String> {
        let lower = rest.to_ascii_lowercase();
        let (address, condition) = if lower == "if" || lower.starts_with("if ") {
            ("", Some(rest[2..].trim()))
        } else {
            match lower.find(" if ") {
                Some(at) => (rest[..at].trim(), Some(rest[at + 4..].trim())),
                None => (rest, None),
            }
        };
        let condition = condition.map(|text| self.condition(text)).transpose()?;
        let address = match address {
            "" => None,
            place => Some(self.address(self.map.place(place)?)?),
        };
        let stop = match (address, condition) {
            (Some(address), None) => Break::At(address),
            (Some(address), Some(condition)) => Break::AtIf(address, condition),
            (None, Some(condition)) => Break::If(condition),
            (None, None) => Break::At(self.recording.now().address()),
        };
        let text = match &stop {
            Break::At(address) => format!("break {address}"),
            _ => format!("break {rest}"),
        };
        Ok(self.add(stop, text, once))
    }

    /// Parses `N [COND]` and sets or removes the condition of a breakpoint.
    fn set_condition(&mut self, rest: &str) -> Result<(), String> {
        let (number, written) = number_and_rest(rest)?;
        let condition = match written {
            "" => None,
            written => Some(self.condition(written)?),
        };
        let point = self.numbered(number)?;
        point.set_condition(condition);
        Ok(())
    }

    /// Parses `N [WHICH]` and sets or removes the hit count of a breakpoint.
    fn set_hits(&mut self, rest: &str) -> Result<(), String> {
        let (number, written) = number_and_rest(rest)?;
        let which = match written {
            "" => None,
            written => Some(HitCondition::parse(written)?),
        };
        let point = self.numbered(number)?;
        point.set_hit_condition(which);
        Ok(())
    }

    /// Parses `PLACE TEXT` and adds a breakpoint that prints the text.
    fn add_log(&mut self, rest: &str) -> Result<String, String> {
        let (place, message) = rest
            .split_once(char::is_whitespace)
            .ok_or("log wants a place and a text: log @scene r is {temp[1].r}")?;
        let address = self.address(self.map.place(place)?)?;
        let text = format!("log {rest}");
        let mut point = Breakpoint::new(Owner::Command, Break::At(address), text.clone());
        let message = self.with_names(|names| LogMessage::parse(message.trim(), names))?;
        point.set_message(Some(message));
        let number = self.breakpoints.add(point);
        Ok(format!("breakpoint {number}: {text}\n"))
    }

    fn numbered(&mut self, number: usize) -> Result<&mut Breakpoint<M::Variable>, String> {
        self.breakpoints.get_mut(number).ok_or_else(|| no_breakpoint(number))
    }

    /// Parses the numbers of breakpoints; without numbers, returns those of all.
    fn chosen(&self, rest: &str) -> Result<Vec<usize>, String> {
        let known: Vec<usize> = self.breakpoints.iter().map(Breakpoint::number).collect();
        let numbers = numbers(rest)?;
        if let Some(unknown) = numbers.iter().find(|number| !known.contains(number)) {
            return Err(no_breakpoint(*unknown));
        }
        Ok(if numbers.is_empty() { known } else { numbers })
    }

    /// Enables or disables the breakpoints with these numbers, or all.
    fn enable(&mut self, rest: &str, enabled: bool) -> Result<(), String> {
        let chosen = self.chosen(rest)?;
        for point in self.breakpoints.iter_mut().filter(|point| chosen.contains(&point.number())) {
            point.enabled = enabled;
        }
        Ok(())
    }

    fn print(&self, rest: &str, show: impl Fn(&Value) -> String) -> Result<String, String> {
        let value = self.value(&self.expression(rest)?)?;
        Ok(format!("{rest} = {}\n", show(&value)))
    }
}

impl Verb {
    /// Returns whether an empty line repeats it.
    fn moves(self) -> bool {
        matches!(
            self,
            Self::Step
                | Self::ReverseStep
                | Self::Next
                | Self::ReverseNext
                | Self::Active
                | Self::ReverseActive
                | Self::Finish
                | Self::ReverseFinish
                | Self::Until
                | Self::ReverseUntil
                | Self::Continue
                | Self::ReverseContinue
        )
    }
}

fn lines(all: &[String]) -> String {
    all.iter().map(|line| format!("{line}\n")).collect()
}

/// Returns the number of repetitions, 1 by default.
fn count(rest: &str) -> Result<u64, String> {
    if rest.is_empty() {
        return Ok(1);
    }
    rest.parse().map_err(|_| format!("`{rest}` is not a number of times"))
}

fn numbers(rest: &str) -> Result<Vec<usize>, String> {
    rest.split([' ', ',']).filter(|word| !word.is_empty()).map(number).collect()
}

fn number(word: &str) -> Result<usize, String> {
    word.parse().map_err(|_| format!("`{word}` is not a number of a breakpoint"))
}

/// Parses the number of a breakpoint with a rest, which may be empty.
fn number_and_rest(rest: &str) -> Result<(usize, &str), String> {
    let (word, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    Ok((number(word)?, rest.trim()))
}

fn no_breakpoint(number: usize) -> String {
    format!("there is no breakpoint {number}")
}
