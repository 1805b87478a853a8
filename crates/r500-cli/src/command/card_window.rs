//! A window with the screen of the virtual card, for `r500 card --window`.
//!
//! The program runs in its own processes, which send frames to this process (`r500_drm::FrameListener`). The window
//! opens with the first frame and closes when the program ends.

use std::num::NonZeroU32;
use std::process::{Child, ExitStatus};
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use r500_drm::{Frame, FrameListener};
use rustix::process::{Pid, Signal, kill_process};
use softbuffer::{Context, Surface};
use winit::application::ApplicationHandler;
use winit::dpi::PhysicalSize;
use winit::event::WindowEvent;
use winit::event_loop::{ActiveEventLoop, ControlFlow, EventLoop, EventLoopProxy};
use winit::window::{Window, WindowId};

use super::exit::{Failure, Outcome, no_window};
use super::terminal;

/// A window that is not open yet, and the source of its frames.
pub(super) struct CardWindow {
    events: EventLoop<Event>,
    listener: FrameListener,
}

/// Events from other threads for the window thread.
#[derive(Debug)]
enum Event {
    /// There is a new frame.
    Frame,
    /// The program has ended.
    Ended(std::io::Result<ExitStatus>),
}

impl CardWindow {
    /// Prepares a window; fails without a window system.
    pub(super) fn new() -> Outcome<Self> {
        let events = EventLoop::with_user_event().build().map_err(no_window)?;
        let listener = FrameListener::new().map_err(no_window)?;
        Ok(Self { events, listener })
    }

    /// Returns the name to which programs send frames.
    pub(super) fn name(&self) -> &str {
        self.listener.name()
    }

    /// Shows the frames of a program until it ends. Returns how it ended; `None` if the window was closed before.
    pub(super) fn show(self, title: String, mut child: Child) -> Outcome<Option<ExitStatus>> {
        let pid = Pid::from_child(&child);
        let latest = Arc::default();
        let sink = Sink { latest: Arc::clone(&latest), proxy: self.events.create_proxy() };
        let proxy = self.events.create_proxy();
        let listener = self.listener;
        std::thread::spawn(move || sink.accept(&listener));
        std::thread::spawn(move || {
            // Fails if the window, and with it this process, is gone.
            let _ = proxy.send_event(Event::Ended(child.wait()));
        });
        let mut screen = Screen {
            title,
            pid,
            latest,
            shown: None,
            surface: None,
            closing: false,
            ended: None,
            failure: None,
        };
        self.events.set_control_flow(ControlFlow::Wait);
        self.events.run_app(&mut screen).map_err(no_window)?;
        if let Some(failure) = screen.failure {
            return Err(failure);
        }
        Ok(screen.ended.filter(|_| !screen.closing))
    }
}

/// The newest frame that is not shown yet.
type Latest = Arc<Mutex<Option<Frame>>>;

/// Receives frames.
#[derive(Clone)]
struct Sink {
    latest: Latest,
    proxy: EventLoopProxy<Event>,
}

impl Sink {
    /// Receives the frames of each process that connects, each on its own thread.
    fn accept(&self, listener: &FrameListener) {
        loop {
            let mut reader = match listener.accept() {
                Ok(reader) => reader,
                Err(error) => return terminal::warn(&format!("no more frames: {error}")),
            };
            let sink = self.clone();
            std::thread::spawn(move || {
                loop {
                    match reader.next_frame() {
                        Ok(Some(frame)) => {
                            *sink.latest.lock().unwrap_or_else(PoisonError::into_inner) =
                                Some(frame);
                            // As above.
                            let _ = sink.proxy.send_event(Event::Frame);
                        }
                        Ok(None) => return,
                        Err(error) => return terminal::warn(&format!("a frame is lost: {error}")),
                    }
                }
            });
        }
    }
}

/// The window with the last frame.
struct Screen {
    title: String,
    pid: Pid,
    latest: Latest,
    shown: Option<Frame>,
    surface: Option<Surface<Rc<Window>, Rc<Window>>>,
    /// Whether the user closed it.
    closing: bool,
    /// Exit status of the program.
    ended: Option<ExitStatus>,
    failure: Option<Failure>,
}

impl Screen {
    /// Shows the newest frame, and opens the window for the first.
    fn update(&mut self, events: &ActiveEventLoop) -> Outcome<()> {
        let frame = self.latest.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(frame) = frame else { return Ok(()) };
        let surface = match &self.surface {
            Some(surface) => surface,
            None => {
                let attributes = Window::default_attributes()
                    .with_title(&self.title)
                    .with_inner_size(PhysicalSize::new(frame.width, frame.height));
                let window = Rc::new(events.create_window(attributes).map_err(no_window)?);
                let context = Context::new(window.clone()).map_err(no_window)?;
                self.surface.insert(Surface::new(&context, window).map_err(no_window)?)
            }
        };
        surface.window().request_redraw();
        self.shown = Some(frame);
        Ok(())
    }

    fn redraw(&mut self) -> Outcome<()> {
        let (Some(surface), Some(frame)) = (&mut self.surface, &self.shown) else { return Ok(()) };
        let PhysicalSize { width, height } = surface.window().inner_size();
        let (Some(columns), Some(rows)) = (NonZeroU32::new(width), NonZeroU32::new(height)) else {
            return Ok(());
        };
        surface.resize(columns, rows).map_err(no_window)?;
        let mut buffer = surface.buffer_mut().map_err(no_window)?;
        fit(frame, [width, height], &mut buffer);
        buffer.present().map_err(no_window)
    }

    /// Terminates the program; the second time, kills it.
    fn close(&mut self) {
        let signal = if self.closing { Signal::KILL } else { Signal::TERM };
        self.closing = true;
        if let Err(error) = kill_process(self.pid, signal) {
            terminal::warn(&format!("cannot end the program: {error}"));
        }
    }

    /// Ends the program and this process with a failure.
    fn fail(&mut self, events: &ActiveEventLoop, failure: Failure) {
        self.close();
        self.failure = Some(failure);
        events.exit();
    }
}

impl ApplicationHandler<Event> for Screen {
    fn resumed(&mut self, _: &ActiveEventLoop) {}

    fn user_event(&mut self, events: &ActiveEventLoop, event: Event) {
        match event {
            Event::Frame => {
                if let Err(failure) = self.update(events) {
                    self.fail(events, failure);
                }
            }
            Event::Ended(status) => {
                match status {
                    Ok(status) => self.ended = Some(status),
                    Err(error) => self.failure = Some(Failure::could_not(error)),
                }
                events.exit();
            }
        }
    }

    fn window_event(&mut self, events: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        match event {
            WindowEvent::CloseRequested => self.close(),
            WindowEvent::RedrawRequested => {
                if let Err(failure) = self.redraw() {
                    self.fail(events, failure);
                }
            }
            WindowEvent::Resized(_) => {
                if let Some(surface) = &self.surface {
                    surface.window().request_redraw();
                }
            }
            _ => {}
        }
    }
}

/// Draws a frame into a window of any size: as large as fits, centred on black.
fn fit(frame: &Frame, [width, height]: [u32; 2], window: &mut [u32]) {
    let [w, h, fw, fh] = [width, height, frame.width, frame.height].map(u64::from);
    let (inner_w, inner_h) = match w * fh <= h * fw {
        true => (w, (w * fh / fw).max(1)),
        false => ((h * fw / fh).max(1), h),
    };
    let (left, top) = ((w - inner_w) / 2, (h - inner_h) / 2);
    for (y, row) in (0..h).zip(window.chunks_mut(width as usize)) {
        for (x, pixel) in (0..w).zip(row) {
            let inside = (left..left + inner_w).contains(&x) && (top..top + inner_h).contains(&y);
            *pixel = if inside {
                let (column, line) = ((x - left) * fw / inner_w, (y - top) * fh / inner_h);
                frame.pixels[(line * fw + column) as usize]
            } else {
                0
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fitted(width: u32, height: u32) -> Vec<u32> {
        let frame = Frame { width: 2, height: 1, pixels: vec![1, 2] };
        let mut window = vec![9; (width * height) as usize];
        fit(&frame, [width, height], &mut window);
        window
    }

    #[test]
    fn frames_keep_their_shape_in_windows_of_other_sizes() {
        assert_eq!(fitted(2, 1), [1, 2]);
        assert_eq!(fitted(4, 2), [1, 1, 2, 2, 1, 1, 2, 2]);
        assert_eq!(fitted(2, 3), [0, 0, 1, 2, 0, 0]);
        assert_eq!(fitted(4, 1), [0, 1, 2, 0]);
        assert_eq!(fitted(1, 1), [1]);
    }
}
