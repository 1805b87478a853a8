//! Frame transport: sends frames from programs on the card to the process with the window, over a Unix domain socket.
//!
//! A process of the program connects when it first shows a frame. A frame is its width and height, then its pixels in
//! rows from the top, all as dwords in native byte order.

use std::io::{self, BufReader, Read};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::sync::Mutex;

use rustix::net::SendFlags;
use rustix::rand::GetRandomFlags;

use crate::lock::locked;
use crate::log;

/// Limit of the width and height of a frame in pixels.
pub(crate) const MAX_SIDE: u32 = r500_stream::MAX_SIDE;

/// A picture for a window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// In pixels.
    pub width: u32,
    /// In pixels.
    pub height: u32,
    /// Row by row from the top, as 0x00RRGGBB.
    pub pixels: Vec<u32>,
}

/// The receiving end, in the process with the window.
#[derive(Debug)]
pub struct FrameListener {
    socket: UnixListener,
    name: String,
}

impl FrameListener {
    /// Creates a listener with a unique name, for [`Settings::window`](crate::Settings::window).
    pub fn new() -> io::Result<Self> {
        let name = unique_name("r500-window")?;
        let socket = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name)?)?;
        Ok(Self { socket, name })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Waits for the next process that shows frames. Processes of other users are rejected.
    pub fn accept(&self) -> io::Result<FrameReader> {
        loop {
            let (stream, _) = self.socket.accept()?;
            let peer = rustix::net::sockopt::socket_peercred(&stream)?;
            if peer.uid == rustix::process::getuid() {
                return Ok(FrameReader(BufReader::new(stream)));
            }
        }
    }
}

/// Returns a name for a socket that no other process guesses.
pub(crate) fn unique_name(prefix: &str) -> io::Result<String> {
    let mut random = [0_u8; 16];
    rustix::rand::getrandom(&mut random, GetRandomFlags::empty())?;
    Ok(format!("{prefix}-{:032x}", u128::from_ne_bytes(random)))
}

/// The frames of one process.
#[derive(Debug)]
pub struct FrameReader(BufReader<UnixStream>);

impl FrameReader {
    /// Waits for the next frame; `None` when the process has ended.
    pub fn next_frame(&mut self) -> io::Result<Option<Frame>> {
        let mut sides = [0_u32; 2];
        match self.0.read_exact(bytemuck::cast_slice_mut(&mut sides)) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            result => result?,
        }
        let [width, height] = sides;
        if sides.iter().any(|side| !(1..=MAX_SIDE).contains(side)) {
            return Err(io::Error::other(format!("a frame of {width}x{height} pixels")));
        }
        let mut pixels = vec![0; width as usize * height as usize];
        self.0.read_exact(bytemuck::cast_slice_mut(&mut pixels))?;
        Ok(Some(Frame { width, height, pixels }))
    }
}

/// The sending end, in a process of the program.
#[derive(Debug)]
pub(crate) struct FrameWriter {
    name: String,
    link: Mutex<Link>,
}

#[derive(Debug, Default)]
enum Link {
    /// No frame was shown.
    #[default]
    New,
    Connected(UnixStream),
    /// The window is gone.
    Closed,
}

impl FrameWriter {
    pub(crate) fn new(name: String) -> Self {
        Self { name, link: Mutex::default() }
    }

    /// Sends a frame to the window. After a failure, later frames are dropped.
    pub(crate) fn show(&self, frame: &Frame) {
        let mut link = locked(&self.link);
        if let Err(error) = self.send(&mut link, frame) {
            *link = Link::Closed;
            log::print_once(&format!("the window takes no frames: {error}"));
        }
    }

    fn send(&self, link: &mut Link, frame: &Frame) -> io::Result<()> {
        if matches!(link, Link::New) {
            let address = SocketAddr::from_abstract_name(&self.name)?;
            *link = Link::Connected(UnixStream::connect_addr(&address)?);
        }
        if let Link::Connected(stream) = link {
            for dwords in [&[frame.width, frame.height][..], &frame.pixels] {
                send_all(stream, bytemuck::cast_slice(dwords))?;
            }
        }
        Ok(())
    }
}

/// Sends bytes without SIGPIPE, which would end the program if the other end is closed.
fn send_all(stream: &UnixStream, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match rustix::net::send(stream, bytes, SendFlags::NOSIGNAL) {
            Ok(sent) => bytes = &bytes[sent..],
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// Frames of different sizes, larger than a socket's buffer, from two processes' worth of writers.
    #[test]
    fn frames_arrive_whole_and_in_order() {
        let listener = FrameListener::new().unwrap();
        let frame = |width: u32, height: u32| Frame {
            width,
            height,
            pixels: (0..width * height).map(|n| n.wrapping_mul(0x9e37_79b9) & 0xff_ffff).collect(),
        };
        let sent = [frame(640, 480), frame(1, 1), frame(33, 700)];
        let (name, frames) = (listener.name().to_owned(), sent.clone());
        let sender = std::thread::spawn(move || {
            for _ in 0..2 {
                let writer = FrameWriter::new(name.clone());
                frames.iter().for_each(|frame| writer.show(frame));
            }
        });
        for _ in 0..2 {
            let mut reader = listener.accept().unwrap();
            for frame in &sent {
                assert_eq!(reader.next_frame().unwrap().as_ref(), Some(frame));
            }
            assert_eq!(reader.next_frame().unwrap(), None);
        }
        sender.join().unwrap();
    }

    #[test]
    fn a_closed_window_does_not_end_the_program() {
        let listener = FrameListener::new().unwrap();
        let writer = FrameWriter::new(listener.name().to_owned());
        let frame = Frame { width: 2, height: 1, pixels: vec![1, 2] };
        writer.show(&frame);
        drop(listener.accept().unwrap());
        drop(listener);
        for _ in 0..3 {
            writer.show(&frame);
        }
        assert!(matches!(*locked(&writer.link), Link::Closed));
    }

    #[test]
    fn impossible_sizes_are_refused() {
        let listener = FrameListener::new().unwrap();
        let writer = FrameWriter::new(listener.name().to_owned());
        writer.show(&Frame { width: MAX_SIDE + 1, height: 1, pixels: Vec::new() });
        assert!(listener.accept().unwrap().next_frame().is_err());
    }
}
