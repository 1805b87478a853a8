//! A window with the screen of the virtual card, for `r500 card --window`.
//!
//! The program runs in its own processes, which send frames to this process (`r500_drm::FrameListener`). The window
//! opens with the first frame and closes when the program ends.

use std::num::NonZeroU32;
use std::process::{Child, ExitStatus};
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use r500_drm::{Frame, FrameListener, InputDevice, InputEvent, InputListener};
use rustix::process::{Pid, Signal, kill_process};
use softbuffer::{Context, Surface};
use winit::application::ApplicationHandler;
use winit::dpi::{PhysicalPosition, PhysicalSize};
use winit::event::{ElementState, KeyEvent, MouseButton, MouseScrollDelta, WindowEvent};
use winit::event_loop::{ActiveEventLoop, ControlFlow, EventLoop, EventLoopProxy};
use winit::platform::scancode::PhysicalKeyExtScancode;
use winit::window::{Window, WindowId};

use super::exit::{Failure, Outcome, no_window};
use super::terminal;

/// A window that is not open yet, and the source of its frames.
pub(super) struct CardWindow {
    events: EventLoop<Event>,
    listener: FrameListener,
    input: InputListener,
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
        let input = InputListener::new().map_err(no_window)?;
        Ok(Self { events, listener, input })
    }

    /// Returns the name to which programs send frames.
    pub(super) fn name(&self) -> &str {
        self.listener.name()
    }

    /// Returns the name from which programs read keyboard and mouse.
    pub(super) fn input_name(&self) -> &str {
        self.input.name()
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
            pointer: Pointer::new(self.input),
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
    pointer: Pointer,
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
        let size = |frame: &Frame| [frame.width, frame.height];
        if self.shown.as_ref().is_some_and(|shown| size(shown) != size(&frame)) {
            // The program has chosen another mode. Window systems may refuse; then the frame is scaled.
            let _ =
                surface.window().request_inner_size(PhysicalSize::new(frame.width, frame.height));
        }
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
            WindowEvent::KeyboardInput { event, .. } => self.pointer.key(&event),
            WindowEvent::MouseInput { state, button, .. } => self.pointer.button(button, state),
            WindowEvent::MouseWheel { delta, .. } => self.pointer.wheel(delta),
            WindowEvent::CursorMoved { position, .. } => {
                if let (Some(surface), Some(frame)) = (&self.surface, &self.shown) {
                    let PhysicalSize { width, height } = surface.window().inner_size();
                    let place = Placement::new([width, height], [frame.width, frame.height]);
                    self.pointer.moved(place.in_frame(position));
                }
            }
            WindowEvent::Focused(false) => self.pointer.input.release_all(),
            _ => {}
        }
    }
}

/// Keyboard and mouse over the window, for the program.
struct Pointer {
    input: InputListener,
    /// Where the mouse is in the frame, as far as the program knows.
    at: Option<[i32; 2]>,
    /// Parts of a step that the wheel has turned.
    turned: [f64; 2],
}

impl Pointer {
    fn new(input: InputListener) -> Self {
        Self { input, at: None, turned: [0.0; 2] }
    }

    fn key(&self, event: &KeyEvent) {
        // On X11 and Wayland these are the kernel's codes.
        let Some(code) = event.physical_key.to_scancode().and_then(|code| code.try_into().ok())
        else {
            return;
        };
        let value = match (event.state, event.repeat) {
            (ElementState::Released, _) => 0,
            (ElementState::Pressed, false) => 1,
            (ElementState::Pressed, true) => 2,
        };
        self.input.send(InputDevice::Keyboard, &[InputEvent::key(code, value)]);
    }

    fn button(&self, button: MouseButton, state: ElementState) {
        /// `BTN_LEFT`
        const LEFT: u16 = 0x110;
        let code = match button {
            MouseButton::Left => LEFT,
            MouseButton::Right => LEFT + 1,
            MouseButton::Middle => LEFT + 2,
            MouseButton::Back => LEFT + 3,
            MouseButton::Forward => LEFT + 4,
            MouseButton::Other(_) => return,
        };
        let value = i32::from(state == ElementState::Pressed);
        self.input.send(InputDevice::Mouse, &[InputEvent::key(code, value)]);
    }

    fn wheel(&mut self, delta: MouseScrollDelta) {
        /// Pixels of a step, for devices that scroll by pixels.
        const STEP: f64 = 15.0;
        let turn = match delta {
            MouseScrollDelta::LineDelta(x, y) => [x.into(), y.into()],
            MouseScrollDelta::PixelDelta(by) => [by.x / STEP, by.y / STEP],
        };
        let mut steps = [0; 2];
        for ((sum, turn), steps) in self.turned.iter_mut().zip(turn).zip(&mut steps) {
            *sum += turn;
            *steps = *sum as i32;
            *sum -= f64::from(*steps);
        }
        let events: Vec<_> = InputEvent::wheel(steps).collect();
        if !events.is_empty() {
            self.input.send(InputDevice::Mouse, &events);
        }
    }

    /// Moves the mouse to a pixel of the frame: by the distance from where it was before.
    fn moved(&mut self, to: [i32; 2]) {
        let from = self.at.replace(to).unwrap_or(to);
        let events: Vec<_> = InputEvent::movement([to[0] - from[0], to[1] - from[1]]).collect();
        if !events.is_empty() {
            self.input.send(InputDevice::Mouse, &events);
        }
    }
}

/// Where a frame is in a window: as large as fits, in the middle.
#[derive(Debug, Clone, Copy)]
struct Placement {
    frame: [u64; 2],
    corner: [u64; 2],
    size: [u64; 2],
}

impl Placement {
    fn new(window: [u32; 2], frame: [u32; 2]) -> Self {
        let [w, h, fw, fh] = [window[0], window[1], frame[0], frame[1]].map(u64::from);
        let size = match w * fh <= h * fw {
            true => [w, (w * fh / fw).max(1)],
            false => [(h * fw / fh).max(1), h],
        };
        let corner = [(w - size[0].min(w)) / 2, (h - size[1].min(h)) / 2];
        Self { frame: [fw, fh], corner, size }
    }

    /// Returns the pixel of the frame at a position in the window; next to the frame, that of its border.
    fn in_frame(&self, position: PhysicalPosition<f64>) -> [i32; 2] {
        let mut pixel = [0; 2];
        for (axis, at) in [position.x, position.y].into_iter().enumerate() {
            let (frame, size) = (self.frame[axis] as f64, self.size[axis] as f64);
            let inside = (at - self.corner[axis] as f64) * frame / size;
            pixel[axis] = inside.floor().clamp(0.0, frame - 1.0) as i32;
        }
        pixel
    }
}

/// Draws a frame into a window of any size: as large as fits, centred on black.
fn fit(frame: &Frame, [width, height]: [u32; 2], window: &mut [u32]) {
    let place = Placement::new([width, height], [frame.width, frame.height]);
    let Placement { frame: [fw, fh], corner: [left, top], size: [inner_w, inner_h] } = place;
    let [w, h] = [width, height].map(u64::from);
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
    fn the_mouse_is_on_the_pixel_below_it() {
        // Each pixel is two wide and high, below a black bar of two rows.
        let place = Placement::new([8, 8], [4, 2]);
        let at = |x, y| place.in_frame(PhysicalPosition::new(x, y));
        assert_eq!(at(0.5, 2.5), [0, 0]);
        assert_eq!(at(3.9, 3.9), [1, 0]);
        assert_eq!(at(4.0, 4.0), [2, 1]);
        assert_eq!(at(7.9, 7.9), [3, 1]);
        assert_eq!(at(-1.0, 0.0), [0, 0]);
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
