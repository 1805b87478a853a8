//! The way of events from the process with the window to the programs that opened a device.

use std::collections::BTreeSet;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::sync::{Arc, Mutex};

use rustix::net::{RecvFlags, SendFlags, SocketAddrUnix};
use rustix::time::{ClockId, clock_gettime};

use super::event::{EVENT_BYTES, InputDevice, InputEvent, KEY, RawEvent};
use crate::lock::locked;
use crate::{Errno, frame_link};

/// Types of messages of a program. Others, as events for the lamps of a keyboard, have no effect.
const OPEN: u16 = 0xff01;
const CLOCK: u16 = 0xff02;

/// The sending end, in the process with the window.
#[derive(Debug, Clone)]
pub struct InputListener(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    socket: UnixListener,
    name: String,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    clients: Vec<Client>,
    /// Keys and buttons that are down.
    down: BTreeSet<(u8, u16)>,
}

/// A device that a program opened.
#[derive(Debug)]
struct Client {
    socket: OwnedFd,
    device: Option<InputDevice>,
    clock: ClockId,
}

impl InputListener {
    /// Creates a listener with a unique name, for [`Settings::input`](crate::Settings::input).
    pub fn new() -> io::Result<Self> {
        let name = frame_link::unique_name("r500-input")?;
        let socket = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name)?)?;
        socket.set_nonblocking(true)?;
        Ok(Self(Arc::new(Shared { socket, name, state: Mutex::default() })))
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Sends the events of one moment to the programs that have opened the device. A program that does not read loses events. Keys that
    /// are down already are not pressed again, and those that are up are not released.
    pub fn send(&self, device: InputDevice, events: &[InputEvent]) {
        let mut state = locked(&self.0.state);
        let of = device as u8;
        let mut sent: Vec<InputEvent> = events.to_vec();
        sent.retain(|event| match (event.kind, event.value) {
            (KEY, 0) => state.down.remove(&(of, event.code)),
            (KEY, 1) => state.down.insert((of, event.code)),
            (KEY, _) => state.down.contains(&(of, event.code)),
            _ => true,
        });
        self.deliver(&mut state, device, sent);
    }

    /// Releases all keys and buttons, as when the window is no longer in front.
    pub fn release_all(&self) {
        let mut state = locked(&self.0.state);
        let down = std::mem::take(&mut state.down);
        for device in InputDevice::ALL {
            let keys = down.iter().filter(|(of, _)| *of == device as u8);
            let events = keys.map(|(_, code)| InputEvent::key(*code, 0)).collect();
            self.deliver(&mut state, device, events);
        }
    }

    fn deliver(&self, state: &mut State, device: InputDevice, mut events: Vec<InputEvent>) {
        // Programs that have connected since the last event.
        while let Ok((socket, _)) = self.0.socket.accept() {
            let peer = rustix::net::sockopt::socket_peercred(&socket);
            if peer.is_ok_and(|peer| peer.uid == rustix::process::getuid()) {
                let clock = ClockId::Realtime;
                state.clients.push(Client { socket: socket.into(), device: None, clock });
            }
        }
        if events.is_empty() {
            return;
        }
        events.push(InputEvent::REPORT);
        state.clients.retain_mut(|client| client.give(device, &events));
    }
}

impl Client {
    /// Sends events, if they are of the client's device. Returns whether the program still has it open.
    fn give(&mut self, device: InputDevice, events: &[InputEvent]) -> bool {
        if !self.read_messages() {
            return false;
        }
        if self.device != Some(device) {
            return true;
        }
        let time = clock_gettime(self.clock);
        let time = time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64;
        let raw: Vec<RawEvent> = events.iter().map(|event| RawEvent::new(*event, time)).collect();
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        // A socket takes that few bytes in one piece, or not at all.
        match rustix::net::send(&self.socket, bytemuck::cast_slice(&raw), flags) {
            Ok(_) | Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => true,
            Err(_) => false,
        }
    }

    /// Reads what the program has sent. Returns whether it still has the device open.
    fn read_messages(&mut self) -> bool {
        let mut open = None;
        while open.is_none() {
            open = self.read_message();
        }
        open == Some(true)
    }

    /// Reads a message; if there is none, returns whether the program still has the device open.
    fn read_message(&mut self) -> Option<bool> {
        let mut bytes = [0_u8; EVENT_BYTES];
        match rustix::net::recv(&self.socket, &mut bytes[..], RecvFlags::DONTWAIT) {
            Ok((0, _)) => Some(false),
            Ok((EVENT_BYTES, _)) => {
                let message: RawEvent = bytemuck::pod_read_unaligned(&bytes);
                self.take(message.event());
                None
            }
            Ok(_) | Err(rustix::io::Errno::INTR) => None,
            Err(error) => Some(error == rustix::io::Errno::AGAIN),
        }
    }

    fn take(&mut self, InputEvent { kind, code, .. }: InputEvent) {
        match kind {
            OPEN => self.device = InputDevice::ALL.get(usize::from(code)).copied(),
            CLOCK => self.clock = clock_of(i32::from(code)).unwrap_or(self.clock),
            _ => {}
        }
    }
}

/// Returns a clock of `EVIOCSCLOCKID`.
fn clock_of(id: i32) -> Option<ClockId> {
    [ClockId::Realtime, ClockId::Monotonic, ClockId::Boottime]
        .into_iter()
        .find(|clock| *clock as i32 == id)
}

/// Connects a program's socket, which is its descriptor of the device, to the [`InputListener`] of a name.
pub fn connect_input(socket: impl AsFd, name: &str, device: InputDevice) -> Result<(), Errno> {
    let address = SocketAddrUnix::new_abstract_name(name.as_bytes())?;
    rustix::net::connect(&socket, &address)?;
    let code = InputDevice::ALL.into_iter().position(|it| it == device).unwrap_or_default() as u16;
    message(socket, OPEN, code)
}

/// Chooses the clock of the events that a device sends from now on.
pub(super) fn choose_clock(socket: impl AsFd, id: i32) -> Result<(), Errno> {
    if clock_of(id).is_none() {
        return Err(Errno::INVAL);
    }
    message(socket, CLOCK, id as u16)
}

fn message(socket: impl AsFd, kind: u16, code: u16) -> Result<(), Errno> {
    let message = RawEvent::new(InputEvent { kind, code, value: 0 }, 0);
    rustix::net::send(&socket, bytemuck::bytes_of(&message), SendFlags::NOSIGNAL)?;
    Ok(())
}
