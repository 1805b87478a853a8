//! The debugger of a vertex: its registers, and other vertices of its program.

use r500::compile::variables::{Inspector, Moments, Place, Stop};
use r500::exec::Limits;
use r500::exec::record::{End, Recording, Snapshot};
use r500::pvs::{ALT_TEMPORARIES, OUTPUTS, Running, Step, TEMPORARIES};
use r500::trace::InstructionTexts;
use r500::vertex_run::{self, VertexMachine};
use r500_stream::counted;

use super::area::{BackgroundQuery, Found};
use super::debugged::Debugged;
use super::language::{Kind, Verb};
use super::reply::Reply;
use super::session::Session;
use super::subject::{Mask, Register, Subject};
use super::text;
use crate::command::float_format::vector;
use crate::command::trace::vertex_effects;
use crate::command::vertex::VertexSet;

/// The vertices of a session.
pub(in crate::command) struct Others {
    pub(in crate::command) set: VertexSet,
    /// The inspected vertex.
    pub(in crate::command) number: u64,
    limits: Limits,
}

impl Session<VertexMachine> {
    /// Records a vertex of a set.
    ///
    /// # Errors
    /// Which vertices there are, if there is no such vertex.
    pub(in crate::command) fn of_vertex(
        set: VertexSet,
        number: u64,
        limits: Limits,
    ) -> Result<Self, String> {
        let recording = Recording::of(VertexMachine::new(set.setup(number, limits)?));
        let texts = InstructionTexts::of_vertices(set.program());
        let (name, map) = (set.name().to_owned(), set.map().clone());
        Ok(Self::of(name, map, texts, recording, Others { set, number, limits }))
    }

    /// Returns the vertices, and which one is inspected.
    pub(in crate::command) fn vertices(&self) -> &Others {
        &self.others
    }

    /// Selects another vertex, at the same step if its run is that long.
    fn look_at(&mut self, number: u64) -> Result<(), String> {
        let Others { set, limits, .. } = &self.others;
        let position = self.recording.position();
        let setup = set.setup(number, *limits).map_err(|why| format!("vertex {number}: {why}"))?;
        self.recording = Recording::of(VertexMachine::new(setup));
        self.recording.seek(position);
        self.others.number = number;
        self.forget_run();
        Ok(())
    }
}

/// Registers of a vertex that are shown.
pub(in crate::command) struct ShownRegisters {
    pub(in crate::command) temporaries: Vec<usize>,
    pub(in crate::command) alternates: Vec<usize>,
    /// Whether the address register is one of them.
    pub(in crate::command) address: bool,
}

/// Returns the registers that the run writes.
pub(in crate::command) fn written_registers(session: &Session<VertexMachine>) -> ShownRegisters {
    let last = session.recording.last();
    let written = last.state().written();
    ShownRegisters {
        temporaries: (0..TEMPORARIES).filter(|&n| written.temporaries[n] != 0).collect(),
        alternates: (0..ALT_TEMPORARIES).filter(|&n| written.alternates[n] != 0).collect(),
        address: written.address != 0,
    }
}

/// Returns the outputs that the run writes.
pub(in crate::command) fn written_outputs(session: &Session<VertexMachine>) -> Vec<usize> {
    let last = session.recording.last();
    (0..OUTPUTS).filter(|&n| last.state().written().outputs[n] != 0).collect()
}

impl Debugged for VertexMachine {
    type Others = Others;

    const KIND: Kind = Kind::Vertex;
    const NOTHING_THERE: &'static str = "holds no instruction";

    fn dwords(&self, address: u32) -> Option<Vec<u32>> {
        Some(self.instruction(address)?.0.to_vec())
    }

    fn is_executable(&self, address: u32) -> bool {
        self.instruction(address).is_some()
    }

    fn addresses(&self) -> (u32, u32) {
        Self::addresses(self)
    }

    fn address_of(step: &Step) -> u32 {
        vertex_run::address(step.address)
    }

    fn effects(&self, step: &Step) -> Vec<String> {
        let inst = self.instruction(Self::address_of(step));
        inst.map_or_else(Vec::new, |inst| vertex_effects(&inst, step))
    }

    fn calls(&self, state: &Self::State) -> Vec<u32> {
        let address = |running| match running {
            Running::Call { return_to } => u32::try_from(return_to).ok(),
            Running::Loop { .. } => None,
        };
        self.running(state).filter_map(address).collect()
    }

    fn inactive(now: &Snapshot<'_, Self>) -> String {
        format!(" (not executed: the predicate is {})", now.state().vertex().predicate())
    }

    fn fate(_: &Snapshot<'_, Self>) -> Option<&'static str> {
        None
    }

    fn nesting(now: &Snapshot<'_, Self>) -> Vec<String> {
        let line = |(depth, running): (usize, Running)| match running {
            Running::Loop { left, index } => {
                format!("loop {depth}: {} left, aL {index}", counted(left, "iteration"))
            }
            Running::Call { return_to } => format!("call {depth}: returns to @{return_to}"),
        };
        (1..).zip(now.machine().running(now.state())).map(line).collect()
    }

    fn moments(recording: &Recording<Self>, inspector: &Inspector, stops: &[Stop]) -> Moments {
        let machine = recording.machine();
        inspector.of_vertex_run(&machine.setup().inputs, |n| machine.constant(n), stops)
    }

    fn register(now: &Snapshot<'_, Self>, place: Place) -> f32 {
        place.of_vertex(now.state().vertex(), &|n| now.machine().constant(n))
    }

    fn short_flags(now: &Snapshot<'_, Self>) -> String {
        let vertex = now.state().vertex();
        format!("pred {}, aL {}", vertex.predicate(), vertex.loop_index())
    }
}

impl Subject for VertexMachine {
    const TOPICS: &'static [&'static str] = &[
        "step",
        "done",
        "registers",
        "inputs",
        "constants",
        "outputs",
        "loops",
        "breakpoints",
        "vertex",
        "work",
        "end",
        "variables",
    ];
    const TABLES: &'static [&'static str] = &["registers", "inputs", "constants", "outputs"];
    const COLORS: bool = false;

    fn greeting(session: &Session<Self>) -> String {
        let Others { set, number, .. } = &session.others;
        let steps = counted(session.recording.len(), "step");
        let mut text =
            format!("{}: vertex {number} of {}; {steps} recorded\n", session.name, set.count());
        if let End::Stopped(error) = session.recording.end() {
            text.push_str(&format!("the recording ends early: {error}\n"));
        }
        if let Some(note) = Self::note(session) {
            text.push_str(&format!("{note}\n"));
        }
        text
    }

    fn selected(session: &Session<Self>) -> String {
        format!("vertex {}", session.others.number)
    }

    fn note(session: &Session<Self>) -> Option<String> {
        session.others.set.missing(session.others.number)
    }

    fn pixel(_: &Session<Self>) -> Option<[u32; 2]> {
        None
    }

    fn info(session: &Session<Self>, topic: &str, rest: &str) -> Result<String, String> {
        Ok(match topic {
            "registers" => {
                let mut text = lines(&registers(session, rest == "all"));
                text.push_str(&flags(&session.recording.now()));
                text.push('\n');
                text
            }
            "inputs" => or(lines(&inputs(session)), "the vertex has no inputs\n"),
            "constants" => or(lines(&constants(session)), "the program has no constants\n"),
            "outputs" => {
                let mut written = outputs(session);
                written.retain(|output| output.written != 0);
                or(lines(&written), "no output was written yet\n")
            }
            "vertex" => {
                let Others { set, number, .. } = &session.others;
                format!("vertex {number} of {}\n{}", set.count(), lines(&inputs(session)))
            }
            "work" => work(session),
            _ => end(session),
        })
    }

    fn table(session: &Session<Self>, table: usize) -> Vec<Register> {
        match table {
            0 => registers(session, false),
            1 => inputs(session),
            2 => constants(session),
            _ => outputs(session),
        }
    }

    fn state_lines(session: &Session<Self>) -> Vec<String> {
        let now = session.recording.now();
        let executes = match now.active() || now.ended() {
            true => String::new(),
            false => format!("the next instruction is{}", Self::inactive(&now)),
        };
        let mut lines = vec![flags(&now), executes];
        lines.retain(|line| !line.is_empty());
        lines.extend(Self::nesting(&now));
        let written = outputs(session).into_iter().filter(|output| output.written != 0);
        lines.extend(written.map(|output| format!("{} = {}", output.name, vector(&output.value))));
        lines
    }

    fn mask(_: &Session<Self>) -> Option<Mask> {
        None
    }

    fn neighbor(session: &Session<Self>, dx: i64, dy: i64) -> Option<String> {
        let number = session.others.number.checked_add_signed(dx - dy)?;
        (number < session.others.set.count()).then(|| format!("vertex {number}"))
    }

    fn select(session: &mut Session<Self>, argument: &str) -> Result<(), String> {
        let number = argument.trim().parse();
        session.look_at(number.map_err(|_| format!("`{argument}` is not the number of a vertex"))?)
    }

    fn ask(_: &Session<Self>, verb: Verb, _: &str) -> Result<BackgroundQuery, String> {
        Err(format!("{verb:?} is for pixels"))
    }

    fn found(_: &mut Session<Self>, _: Found) -> Result<Reply, String> {
        Err("areas are of pixels".to_owned())
    }
}

/// Returns a text, or another one if it is empty.
fn or(text: String, other: &str) -> String {
    if text.is_empty() { other.to_owned() } else { text }
}

/// Returns registers with their values, one a line.
fn lines(registers: &[Register]) -> String {
    let line = |register: &Register| {
        let Register { name, value, written, note, .. } = register;
        let written = match written {
            0 => "  (never written)".to_owned(),
            0b1111 => String::new(),
            mask => format!("  (only .{} written)", letters(*mask)),
        };
        let note = if note.is_empty() { String::new() } else { format!("  {note}") };
        format!("{name} = {}{written}{note}\n", vector(value))
    };
    registers.iter().map(line).collect()
}

fn letters(mask: u8) -> String {
    "xyzw".chars().zip(0..).filter(|(_, n)| mask >> n & 1 != 0).map(|(letter, _)| letter).collect()
}

/// Returns predicate, aL, and the address register once it is written.
fn flags(now: &Snapshot<'_, VertexMachine>) -> String {
    let (vertex, written) = (now.state().vertex(), now.state().written());
    let address = match written.address {
        0 => String::new(),
        _ => format!(", a0 = {}", vector(&vertex.address_register().map(|x| x as f32))),
    };
    format!("pred = {}, aL = {}{address}", vertex.predicate(), vertex.loop_index())
}

/// Returns the temporaries, alternate temporaries and the address register that the run writes, or all.
fn registers(session: &Session<VertexMachine>, all: bool) -> Vec<Register> {
    let now = session.recording.now();
    let (vertex, written) = (now.state().vertex(), now.state().written());
    let shown = match all {
        true => ShownRegisters {
            temporaries: (0..TEMPORARIES).collect(),
            alternates: (0..ALT_TEMPORARIES).collect(),
            address: true,
        },
        false => written_registers(session),
    };
    let plain = |name: String, value: [f32; 4], written: u8| {
        let fresh = just_written(session, &name);
        Register { name, value, written, fresh, note: String::new() }
    };
    let temporaries = shown
        .temporaries
        .into_iter()
        .map(|n| plain(format!("temp[{n}]"), vertex.temporaries()[n], written.temporaries[n]));
    let alternates = shown
        .alternates
        .into_iter()
        .map(|n| plain(format!("alt_temp[{n}]"), vertex.alternates()[n], written.alternates[n]));
    let value = vertex.address_register().map(|x| x as f32);
    let address = shown.address.then(|| plain("a0".to_owned(), value, written.address));
    temporaries.chain(alternates).chain(address).collect()
}

fn inputs(session: &Session<VertexMachine>) -> Vec<Register> {
    let Others { set, number, .. } = &session.others;
    let all = &session.recording.machine().setup().inputs;
    let input = |n: u8| Register {
        name: format!("input[{n}]"),
        value: all[usize::from(n)],
        written: 0b1111,
        fresh: 0,
        note: set.attribute(n).to_owned(),
    };
    set.given_inputs(*number).into_iter().map(input).collect()
}

fn constants(session: &Session<VertexMachine>) -> Vec<Register> {
    let Others { set, number, .. } = &session.others;
    let machine = session.recording.machine();
    let numbers = set.given_constants(*number).into_iter();
    let constant = |n: u8| Register {
        name: format!("const[{n}]"),
        value: machine.constant(n),
        written: 0b1111,
        fresh: 0,
        note: text::constant_names(session, n.into()),
    };
    numbers.filter_map(|n| u8::try_from(n).ok()).map(constant).collect()
}

/// Returns the outputs that the run writes.
fn outputs(session: &Session<VertexMachine>) -> Vec<Register> {
    let now = session.recording.now();
    let (vertex, written) = (now.state().vertex(), now.state().written());
    let output = |n: usize| {
        let name = format!("out[{n}]");
        let fresh = just_written(session, &name);
        let (value, written) = (vertex.outputs()[n], written.outputs[n]);
        Register { name, value, written, fresh, note: String::new() }
    };
    written_outputs(session).into_iter().map(output).collect()
}

/// Returns the components of a register that the last step wrote.
fn just_written(session: &Session<VertexMachine>, name: &str) -> u8 {
    let writes = session.recording.last_step().map_or(&[][..], |step| &step.writes);
    let own = writes.iter().filter(|write| write.name() == name);
    own.fold(0, |mask, write| mask | write.bits())
}

fn work(session: &Session<VertexMachine>) -> String {
    let work = session.recording.activity().first().copied().unwrap_or_default();
    format!(
        "the vertex executes {} and skips {} by predicates\n",
        counted(work.executed, "instruction"),
        work.waited
    )
}

/// Returns what the run leaves.
fn end(session: &Session<VertexMachine>) -> String {
    let steps = counted(session.recording.len(), "step");
    let mut text = match session.recording.end() {
        End::Ended => format!("after {steps}\n"),
        End::Stopped(error) => {
            format!(
                "the program did not end: the recording stops after {steps}: {error}\nwritten until then:\n"
            )
        }
    };
    let last = session.recording.last();
    for n in written_outputs(session) {
        text.push_str(&format!("out[{n}] = {}\n", vector(&last.state().vertex().outputs()[n])));
    }
    text
}
