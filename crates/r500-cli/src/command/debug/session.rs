//! What the commands do: the recording of a pixel, breakpoints, values on display.

use std::time::Duration;

use r500::exec::record::area::Heatmap;
use r500::exec::record::expr::Value;
use r500::exec::record::{Break, Direction, DrawSetup, End, Expr, Recording, Stop};
use r500::exec::{PixelRect, RunError};
use r500::expression;
use r500::program::Uniform;

use super::area::{Found, Question, Survey};
use super::language::{self, Verb};
use super::text;
use crate::command::syntax;

use Direction::{Backward, Forward};

/// A debugger between two commands.
pub(super) struct Session {
    pub(super) name: String,
    pub(super) uniforms: Vec<Uniform>,
    pub(super) recording: Recording,
    pub(super) breakpoints: Vec<Breakpoint>,
    pub(super) displays: Vec<(usize, String, Expr)>,
    next_number: usize,
    next_display: usize,
    last: String,
}

/// Where to stop.
pub(super) struct Breakpoint {
    pub(super) number: usize,
    pub(super) stop: Break,
    /// As it was written.
    pub(super) text: String,
    pub(super) enabled: bool,
    once: bool,
    pub(super) hits: u64,
}

/// What a command gives.
#[derive(Default)]
pub(super) struct Reply {
    /// What it says, whole lines.
    pub(super) text: String,
    pub(super) quit: bool,
    /// A map to show, if that is possible.
    pub(super) heat: Option<(Heatmap, Measure)>,
}

/// A command that was begun.
pub(super) enum Begun {
    /// It is done.
    Done(Reply),
    /// It asks many pixels.
    Asking(Survey),
}

/// What a map of heat is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Measure {
    Executed,
    Waited,
}

impl Session {
    pub(super) fn new(
        name: String,
        uniforms: Vec<Uniform>,
        scene: DrawSetup,
        pixel: [u32; 2],
    ) -> Result<Self, RunError> {
        Ok(Self {
            name,
            uniforms,
            recording: Recording::new(scene, pixel)?,
            breakpoints: Vec::new(),
            displays: Vec::new(),
            next_number: 1,
            next_display: 1,
            last: String::new(),
        })
    }

    /// Returns the pixel that is read.
    pub(super) fn pixel(&self) -> [u32; 2] {
        let moment = self.recording.now();
        [moment.pixel().x, moment.pixel().y]
    }

    /// Does what a line says, and waits until it is done; an empty one repeats the last that moves.
    ///
    /// The error is what is wrong with the line.
    pub(super) fn execute(&mut self, line: &str) -> Result<Reply, String> {
        match self.begin(line)? {
            Begun::Done(reply) => Ok(reply),
            Begun::Asking(mut survey) => loop {
                if let Some(found) = survey.wait(Duration::from_secs(60)) {
                    return self.found(found?);
                }
            },
        }
    }

    /// Does what a line says, or begins with it where it takes long; [`Session::found`] then ends it.
    pub(super) fn begin(&mut self, line: &str) -> Result<Begun, String> {
        let line = if line.trim().is_empty() { self.last.clone() } else { line.to_owned() };
        let (verb, rest) = language::parse(&line)?;
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
            Verb::Delete => self.select(rest, |list, i| {
                list.remove(i);
            })?,
            Verb::Enable => self.select(rest, |list, i| list[i].enabled = true)?,
            Verb::Disable => self.select(rest, |list, i| list[i].enabled = false)?,
            Verb::Print => reply.text = self.print(rest, text::value)?,
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
            Verb::Pixel => {
                let pixel = syntax::pixel(rest)?;
                self.look_at(pixel)?;
                reply.text = text::greeting(self);
                self.tell(&mut reply);
            }
            Verb::First => return self.first(rest).map(Begun::Asking),
            Verb::Heat => return self.heat(rest).map(Begun::Asking),
            Verb::Help => reply.text = language::help(rest)?,
            Verb::Quit => reply.quit = true,
        }
        Ok(Begun::Done(reply))
    }

    /// Uses the result of an area query.
    pub(super) fn found(&mut self, found: Found) -> Result<Reply, String> {
        let mut reply = Reply::default();
        let (seen, written) = match found {
            Found::Heat(heat, measure) => {
                reply.text = text::heat(&heat, measure);
                reply.heat = Some((heat, measure));
                return Ok(reply);
            }
            Found::Sight(seen, written) => (seen, written),
        };
        let pixels = seen.first.len();
        let Some((pixel, position)) = seen.earliest() else {
            reply.text = format!("none of the {pixels} pixels makes {written} true\n");
            return Ok(reply);
        };
        let [x, y] = pixel;
        reply.text = format!(
            "pixel {x},{y} first, after {position} steps; {} of the {pixels} pixels make {written} true\n",
            seen.count()
        );
        self.look_at(pixel)?;
        self.recording.seek(usize::try_from(position).unwrap_or(usize::MAX));
        self.tell(&mut reply);
        Ok(reply)
    }

    /// Sets or removes the breakpoint at an address.
    pub(super) fn toggle(&mut self, address: u32) -> String {
        let there = self.breakpoints.iter().position(|point| point.stop == Break::At(address));
        match there {
            Some(i) => {
                let point = self.breakpoints.remove(i);
                format!("breakpoint {} is gone\n", point.number)
            }
            None => self.add(Break::At(address), format!("break {address}"), false),
        }
    }

    /// Returns whether an address has a breakpoint.
    pub(super) fn breaks_at(&self, address: u32) -> bool {
        self.breakpoints.iter().any(|point| {
            matches!(point.stop, Break::At(at) | Break::AtIf(at, _) if at == address)
                && point.enabled
        })
    }

    /// Returns the values on display.
    pub(super) fn displayed(&self) -> String {
        let now = self.recording.now();
        let line = |(n, written, expr): &(usize, String, Expr)| {
            format!("{n}: {written} = {}\n", text::value(&expr.value(&now)))
        };
        self.displays.iter().map(line).collect()
    }

    fn repeat(
        &mut self,
        rest: &str,
        step: impl Fn(&mut Recording) -> Stop,
        reply: &mut Reply,
    ) -> Result<(), String> {
        let mut stop = Stop::Reached;
        for _ in 0..count(rest)? {
            stop = step(&mut self.recording);
            if stop != Stop::Reached {
                break;
            }
        }
        self.stopped(stop, reply);
        Ok(())
    }

    fn until(&mut self, rest: &str, direction: Direction, reply: &mut Reply) -> Result<(), String> {
        let stop = if rest.is_empty() {
            self.recording.until(direction)
        } else {
            let stop = match rest.trim_start_matches('@').parse() {
                Ok(address) => Break::At(self.address(address)?),
                Err(_) => Break::If(self.condition(rest)?),
            };
            match self.recording.run(direction, &[stop]) {
                Stop::Break(_) => Stop::Reached,
                stop => stop,
            }
        };
        self.stopped(stop, reply);
        Ok(())
    }

    fn go_on(&mut self, rest: &str, direction: Direction, reply: &mut Reply) -> Result<(), String> {
        for _ in 0..count(rest)? {
            let enabled: Vec<usize> =
                (0..self.breakpoints.len()).filter(|&i| self.breakpoints[i].enabled).collect();
            let stops: Vec<Break> =
                enabled.iter().map(|&i| self.breakpoints[i].stop.clone()).collect();
            let stop = self.recording.run(direction, &stops);
            if !matches!(stop, Stop::Break(_)) {
                self.stopped(stop, reply);
                return Ok(());
            }
            let here: Vec<usize> = self.recording.breaks_here(&stops).map(|i| enabled[i]).collect();
            reply.text.clear();
            for &i in &here {
                self.breakpoints[i].hits += 1;
                let change = match self.breakpoints[i].stop.clone() {
                    Break::Changes(expr) => text::change(self.before(&expr), &self.value(&expr)),
                    _ => String::new(),
                };
                let Breakpoint { number, text, .. } = &self.breakpoints[i];
                reply.text.push_str(&format!("breakpoint {number}, {text}{change}\n"));
            }
            for &i in here.iter().rev().filter(|&&i| self.breakpoints[i].once) {
                reply
                    .text
                    .push_str(&format!("breakpoint {} is gone\n", self.breakpoints[i].number));
            }
            let gone: Vec<usize> = here.into_iter().filter(|&i| self.breakpoints[i].once).collect();
            for i in gone.into_iter().rev() {
                self.breakpoints.remove(i);
            }
        }
        self.tell(reply);
        Ok(())
    }

    fn value(&self, expr: &Expr) -> Value {
        expr.value(&self.recording.now())
    }

    /// Returns a value one step before.
    fn before(&mut self, expr: &Expr) -> Option<Value> {
        let there = self.recording.step(Backward) == Stop::Reached;
        let value = there.then(|| self.value(expr));
        if there {
            self.recording.step(Forward);
        }
        value
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
            Stop::End => match self.recording.end() {
                End::Ended => reply.text.push_str("at the end of the program\n"),
                End::Stopped(error) => {
                    reply.text.push_str(&format!("at the end of the recording: {error}\n"));
                }
            },
            Stop::Reached | Stop::Break(_) => {}
        }
        self.tell(reply);
    }

    fn tell(&self, reply: &mut Reply) {
        reply.text.push_str(&text::here(self));
        reply.text.push_str(&self.displayed());
    }

    /// `[ADDRESS] [if COND]`.
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
        let address = match address.trim_start_matches('@') {
            "" => None,
            number => {
                let wanted =
                    || format!("`{number}` is not an address; write break [ADDRESS] [if COND]");
                Some(self.address(number.parse().map_err(|_| wanted())?)?)
            }
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

    fn add(&mut self, stop: Break, text: String, once: bool) -> String {
        let number = self.next_number;
        self.next_number += 1;
        let said = format!("breakpoint {number}: {text}\n");
        self.breakpoints.push(Breakpoint { number, stop, text, enabled: true, once, hits: 0 });
        said
    }

    /// Does something to the breakpoints of those numbers, or to all.
    fn select(
        &mut self,
        rest: &str,
        change: impl Fn(&mut Vec<Breakpoint>, usize),
    ) -> Result<(), String> {
        let numbers = numbers(rest)?;
        for number in &numbers {
            if !self.breakpoints.iter().any(|point| point.number == *number) {
                return Err(format!("there is no breakpoint {number}"));
            }
        }
        for i in (0..self.breakpoints.len()).rev() {
            if numbers.is_empty() || numbers.contains(&self.breakpoints[i].number) {
                change(&mut self.breakpoints, i);
            }
        }
        Ok(())
    }

    fn print(&self, rest: &str, show: impl Fn(&Value) -> String) -> Result<String, String> {
        let value = self.value(&self.expression(rest)?);
        Ok(format!("{rest} = {}\n", show(&value)))
    }

    fn expression(&self, written: &str) -> Result<Expr, String> {
        expression::parse(written, &self.uniforms).map_err(|error| explain(&error, written))
    }

    fn condition(&self, written: &str) -> Result<Expr, String> {
        expression::parse_condition(written, &self.uniforms)
            .map_err(|error| explain(&error, written))
    }

    /// Returns an address that can run.
    fn address(&self, address: u32) -> Result<u32, String> {
        let shader = &self.recording.setup().shader;
        if shader.op(address).is_some() {
            return Ok(address);
        }
        let (first, last) = shader.window();
        Err(format!("there is no instruction at {address}; the program has {first} to {last}"))
    }

    /// Selects another pixel; if it is in the same group, at the same step.
    pub(super) fn look_at(&mut self, pixel: [u32; 2]) -> Result<(), String> {
        let [width, height] = self.recording.setup().bindings.size();
        if pixel[0] >= width || pixel[1] >= height {
            return Err(format!(
                "{},{} is outside the picture of {width}x{height}",
                pixel[0], pixel[1]
            ));
        }
        if !self.recording.watch(pixel) {
            let scene = self.recording.setup().clone();
            self.recording = Recording::new(scene, pixel).map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    /// `COND [in X,Y,WxH]`.
    fn first(&self, rest: &str) -> Result<Survey, String> {
        let (written, area) = match rest.rsplit_once(" in ") {
            Some((written, area)) => (written.trim(), syntax::area(area.trim())?),
            None => (rest, self.picture()),
        };
        let question = Question::Sight(self.condition(written)?, written.to_owned());
        Survey::new(self.recording.setup(), area, question)
    }

    /// `[executed|waited] [X,Y,WxH]`.
    fn heat(&self, rest: &str) -> Result<Survey, String> {
        let (mut area, mut measure) = (self.picture(), Measure::Executed);
        for word in rest.split_whitespace() {
            match word {
                "executed" => measure = Measure::Executed,
                "waited" => measure = Measure::Waited,
                word => area = syntax::area(word)?,
            }
        }
        Survey::new(self.recording.setup(), area, Question::Heat(measure))
    }

    fn picture(&self) -> PixelRect {
        let [width, height] = self.recording.setup().bindings.size();
        PixelRect { x: 0, y: 0, width, height }
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

impl Measure {
    /// Returns what a pixel did of it.
    pub(super) fn of(self, work: &r500::exec::record::LaneActivity) -> u64 {
        match self {
            Self::Executed => work.executed,
            Self::Waited => work.waited,
        }
    }
}

fn explain(error: &expression::ExpressionError, written: &str) -> String {
    format!("{}\n{}", "this cannot be read:", error.render(written))
}

/// Returns how often; once if nothing is said.
fn count(rest: &str) -> Result<u64, String> {
    if rest.is_empty() {
        return Ok(1);
    }
    rest.parse().map_err(|_| format!("`{rest}` is not a number of times"))
}

fn numbers(rest: &str) -> Result<Vec<usize>, String> {
    let number =
        |word: &str| word.parse().map_err(|_| format!("`{word}` is not a number of a breakpoint"));
    rest.split([' ', ',']).filter(|word| !word.is_empty()).map(number).collect()
}
