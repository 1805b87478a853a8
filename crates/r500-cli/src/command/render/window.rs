//! `--window`: the picture in a window, animated.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant, SystemTime};

use r500::builtin_uniforms::BuiltinUniforms;
use r500::exec::live_textures::{PreviousPicture, previous_targets};
use r500::exec::{Bindings, Drawing, Frame};
use r500::program::Job;
use softbuffer::{Context, Surface};
use winit::application::ApplicationHandler;
use winit::dpi::{PhysicalPosition, PhysicalSize};
use winit::event::{ElementState, KeyEvent, WindowEvent};
use winit::event_loop::{ActiveEventLoop, ControlFlow, EventLoop};
use winit::keyboard::{Key, NamedKey};
use winit::window::{Window, WindowId};

use super::Render;
use super::output::Plane;
use crate::command::engine_args::{bind, not_bound, not_run};
use crate::command::exit::{Failure, Outcome, Status, no_window};
use crate::command::{input_args, terminal};

impl Render {
    /// Shows the picture until its window is closed.
    pub(super) fn live(&self) -> Outcome {
        let Some(job) = self.job()? else { return input_args::LISTED };
        let size = self.size.or(job.size).unwrap_or([256, 256]);
        let scene = Scene::new(self, job, size)?;
        if !scene.moves && self.state.time.is_some() {
            terminal::warn("no constant takes the time; say which does with --time-to");
        }
        let mut live = Live {
            render: self,
            clock: Clock::new(self.state.start_time(&scene.base)?),
            scene,
            screen: None,
            drawn: 0,
            rate: Rate::default(),
            mouse: None,
            title: String::new(),
            next: Instant::now(),
            looked: Instant::now(),
            stamps: Vec::new(),
            failure: None,
        };
        if self.reload {
            live.stamps = live.stamps_now()?;
        }
        let events = EventLoop::new().map_err(no_window)?;
        events.run_app(&mut live).map_err(no_window)?;
        live.failure.map_or(Ok(Status::Fine), Err)
    }
}

/// A program for pictures of one size.
struct Scene {
    /// The job as it was read.
    base: Job,
    /// The job with the command-line options applied.
    job: Job,
    drawing: Drawing<'static>,
    bindings: Bindings,
    frame: Frame,
    /// Whether a constant takes the time, or the number of pictures drawn before, or textures have the picture before.
    moves: bool,
    /// Whether textures have the picture before.
    feeds_back: bool,
}

impl Scene {
    fn new(render: &Render, base: Job, size: [u32; 2]) -> Outcome<Self> {
        let mut job = base.clone();
        let takes_time = render.state.apply(&mut job, size)?;
        let feeds_back = previous_targets(&job).next().is_some();
        PreviousPicture::default().bind(&mut job, size);
        let moves =
            feeds_back || takes_time || job.uniforms.iter().any(|uniform| uniform.name == "frame");
        let (shader, bindings) = bind(&job, size)?;
        let (engine, options) = (render.machine.engine(), render.machine.options()?);
        let drawing = Drawing::new(engine, shader, &bindings, options).map_err(not_run)?;
        let frame = drawing.frame(&bindings).map_err(not_run)?;
        Ok(Self { base, job, drawing, bindings, frame, moves, feeds_back })
    }

    /// Draws the picture at a time, after a number of others.
    fn draw(&mut self, render: &Render, time: f32, frame: u32) -> Outcome<()> {
        if self.moves {
            let builtin = BuiltinUniforms { frame: Some(frame), ..BuiltinUniforms::default() };
            builtin.apply(&mut self.job);
            render.state.apply_time(&mut self.job, time)?;
            // Other bindings stay, because binding textures takes longer than a picture.
            for (n, constant) in self.job.program.state.constants.iter().enumerate() {
                self.bindings.set_constant(n, constant.map(f32::from_bits)).map_err(not_bound)?;
            }
        }
        self.drawing.draw_into(&self.bindings, &mut self.frame).map_err(not_run)?;
        if self.feeds_back {
            let size = [self.frame.width(), self.frame.height()];
            PreviousPicture::of(&self.job, &self.frame).bind(&mut self.job, size);
            self.bindings = bind(&self.job, size)?.1;
        }
        Ok(())
    }
}

/// The window and its contents.
struct Screen {
    window: Rc<Window>,
    surface: Surface<Rc<Window>, Rc<Window>>,
    /// Interval between pictures that the display can show.
    interval: Duration,
}

impl Screen {
    fn open(events: &ActiveEventLoop, [width, height]: [u32; 2]) -> Outcome<Self> {
        let attributes = Window::default_attributes()
            .with_title("r500")
            .with_inner_size(PhysicalSize::new(width, height));
        let window = Rc::new(events.create_window(attributes).map_err(no_window)?);
        let context = Context::new(window.clone()).map_err(no_window)?;
        let surface = Surface::new(&context, window.clone()).map_err(no_window)?;
        let millihertz = window.current_monitor().and_then(|m| m.refresh_rate_millihertz());
        let millihertz = millihertz.filter(|rate| *rate > 0).unwrap_or(60_000);
        let interval = Duration::from_secs_f64(1_000.0 / f64::from(millihertz));
        Ok(Self { window, surface, interval })
    }

    fn size(&self) -> [u32; 2] {
        let PhysicalSize { width, height } = self.window.inner_size();
        [width, height]
    }

    /// Copies a plane of this size to the window, on several threads.
    fn show(
        &mut self,
        [width, height]: [u32; 2],
        plane: &Plane<'_>,
        threads: usize,
    ) -> Outcome<()> {
        let (Some(columns), Some(lines)) = (NonZeroU32::new(width), NonZeroU32::new(height)) else {
            return Ok(());
        };
        self.surface.resize(columns, lines).map_err(no_window)?;
        let mut buffer = self.surface.buffer_mut().map_err(no_window)?;
        fill(&mut buffer, [width as usize, height as usize], plane, threads);
        buffer.present().map_err(no_window)
    }
}

/// Fills the pixels of a window, row by row from the top.
fn fill(buffer: &mut [u32], [width, height]: [usize; 2], plane: &Plane<'_>, threads: usize) {
    let rows = height.div_ceil(threads.max(1)).max(1);
    std::thread::scope(|scope| {
        let mut end = height;
        for band in buffer.chunks_mut((rows * width).max(1)) {
            let begin = end.saturating_sub(rows);
            let part = plane.rows(begin..end);
            end = begin;
            scope.spawn(move || {
                for (to, pixel) in band.iter_mut().zip(part.picture().pixels) {
                    *to = over_black(pixel);
                }
            });
        }
    });
}

/// Converts a pixel for the window: 0x00RRGGBB, blended over black.
fn over_black([r, g, b, a]: [u8; 4]) -> u32 {
    let part = |c: u8| {
        let product = u32::from(c) * u32::from(a);
        // Division by 255 with rounding, without a division.
        (product + 128 + ((product + 128) >> 8)) >> 8
    };
    part(r) << 16 | part(g) << 8 | part(b)
}

/// The clock of the picture, which can be stopped.
struct Clock {
    /// Seconds at the last start, or at the stop.
    base: f64,
    /// When it was started, if it runs.
    since: Option<Instant>,
}

impl Clock {
    fn new(start: f32) -> Self {
        Self { base: start.into(), since: Some(Instant::now()) }
    }

    fn seconds(&self) -> f64 {
        self.base + self.since.map_or(0.0, |since| since.elapsed().as_secs_f64())
    }

    fn runs(&self) -> bool {
        self.since.is_some()
    }

    /// Stops or continues.
    fn toggle(&mut self) {
        *self = match self.since {
            Some(_) => Self { base: self.seconds(), since: None },
            None => Self { base: self.base, since: Some(Instant::now()) },
        };
    }
}

/// Frame rate, over about half a second.
#[derive(Default)]
struct Rate {
    begin: Option<Instant>,
    frames: u32,
    drawing: Duration,
    /// Frames per second, and the time to draw one.
    known: Option<(f64, Duration)>,
}

impl Rate {
    fn frame(&mut self, drawing: Duration) {
        self.frames += 1;
        self.drawing += drawing;
        let begin = *self.begin.get_or_insert_with(Instant::now);
        let elapsed = begin.elapsed();
        if elapsed >= Duration::from_millis(500) {
            // The first frame only starts the measurement.
            let rate = f64::from(self.frames - 1) / elapsed.as_secs_f64();
            let known = Some((rate, self.drawing / self.frames));
            *self = Self { begin: Some(Instant::now()), frames: 1, drawing, known };
        }
    }
}

/// A program in its window.
struct Live<'a> {
    render: &'a Render,
    scene: Scene,
    screen: Option<Screen>,
    clock: Clock,
    /// Number of pictures drawn.
    drawn: u32,
    rate: Rate,
    /// The mouse position, from the upper left.
    mouse: Option<PhysicalPosition<f64>>,
    title: String,
    /// When the next picture is due.
    next: Instant,
    /// When file times were last read, and their values.
    looked: Instant,
    stamps: Vec<(PathBuf, Option<SystemTime>)>,
    failure: Option<Failure>,
}

impl Live<'_> {
    /// Draws and shows a picture.
    fn picture(&mut self) -> Outcome<()> {
        let Some(screen) = &mut self.screen else { return Ok(()) };
        let size = screen.size();
        if size.contains(&0) {
            return Ok(());
        }
        if size != self.scene.bindings.size() {
            self.scene = Scene::new(self.render, self.scene.base.clone(), size)?;
        }
        let start = Instant::now();
        self.scene.draw(self.render, self.clock.seconds() as f32, self.drawn)?;
        self.drawn = self.drawn.saturating_add(1);
        self.rate.frame(start.elapsed());
        if let Some(plane) = self.render.planes(&self.scene.frame)?.first() {
            let threads = match self.render.machine.threads {
                0 => std::thread::available_parallelism().map_or(1, usize::from),
                threads => threads,
            };
            screen.show(size, plane, threads)?;
        }
        self.report();
        Ok(())
    }

    /// Updates the title.
    fn report(&mut self) {
        let Some(screen) = &self.screen else { return };
        let frame = &self.scene.frame;
        let name = match self.scene.job.name.as_str() {
            "" => "r500",
            name => name,
        };
        let mut title = name.to_owned();
        if !self.scene.moves {
            title.push_str(" - still");
        } else if !self.clock.runs() {
            title.push_str(&format!(" - stopped at {:.2} s", self.clock.seconds()));
        } else if let Some((rate, drawing)) = self.rate.known {
            let drawing = drawing.as_secs_f64() * 1e3;
            title.push_str(&format!(" - {rate:.0} frames/s, {drawing:.1} ms each"));
        }
        title.push_str(&format!(" - {}", frame.run_info.engine));
        if let Some(simd) = frame.run_info.simd {
            title.push_str(&format!(" {simd}"));
        }
        if let Some([x, y]) = self.pointed() {
            let values = match frame.target(self.render.target.index()) {
                Some(_) => frame.color(self.render.target.index(), x, y).to_vec(),
                None => Vec::new(),
            };
            let values: Vec<String> = values.iter().map(|v| format!("{v:.4}")).collect();
            title.push_str(&format!(" - ({x}, {y}) = {}", values.join(" ")));
        }
        if title != self.title {
            screen.window.set_title(&title);
            self.title = title;
        }
    }

    /// Returns the pixel under the mouse, from the lower left.
    fn pointed(&self) -> Option<[u32; 2]> {
        let mouse = self.mouse?;
        let (width, height) = (self.scene.frame.width(), self.scene.frame.height());
        let inside = (0.0..f64::from(width)).contains(&mouse.x)
            && (0.0..f64::from(height)).contains(&mouse.y);
        inside.then(|| [mouse.x as u32, height - 1 - mouse.y as u32])
    }

    /// Ends the event loop on a failure.
    fn check(&mut self, events: &ActiveEventLoop, outcome: Outcome<()>) {
        if let Err(failure) = outcome {
            self.failure = Some(failure);
            events.exit();
        }
    }

    /// Returns the files of the picture and their modification times.
    fn stamps_now(&self) -> Outcome<Vec<(PathBuf, Option<SystemTime>)>> {
        let files = [self.render.source.files()?, self.render.state.files()].concat();
        let written = |file: &PathBuf| std::fs::metadata(file).and_then(|m| m.modified()).ok();
        Ok(files.into_iter().map(|file| (file.clone(), written(&file))).collect())
    }

    /// Reloads the program if its files have changed. Returns whether it did.
    fn reload(&mut self) -> bool {
        if !self.render.reload || self.looked.elapsed() < Duration::from_millis(200) {
            return false;
        }
        self.looked = Instant::now();
        // A file that is being written may be incomplete: keep the current picture.
        let Ok(stamps) = self.stamps_now() else { return false };
        if stamps == self.stamps {
            return false;
        }
        self.stamps = stamps;
        let size = self.scene.bindings.size();
        let scene = self.render.job().and_then(|job| match job {
            Some(job) => Scene::new(self.render, job, size).map(Some),
            None => Ok(None),
        });
        match scene {
            Ok(Some(scene)) => {
                self.scene = scene;
                return true;
            }
            Ok(None) => {}
            Err(failure) => failure.report(),
        }
        false
    }
}

impl ApplicationHandler for Live<'_> {
    fn resumed(&mut self, events: &ActiveEventLoop) {
        if self.screen.is_none() {
            match Screen::open(events, self.scene.bindings.size()) {
                Ok(screen) => self.screen = Some(screen),
                Err(failure) => self.check(events, Err(failure)),
            }
        }
        if let Some(screen) = &self.screen {
            screen.window.request_redraw();
        }
    }

    fn window_event(&mut self, events: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        match event {
            WindowEvent::CloseRequested | WindowEvent::Destroyed => events.exit(),
            WindowEvent::RedrawRequested => {
                let outcome = self.picture();
                self.check(events, outcome);
            }
            WindowEvent::Resized(_) => {
                self.rate = Rate::default();
                if let Some(screen) = &self.screen {
                    screen.window.request_redraw();
                }
            }
            WindowEvent::CursorMoved { position, .. } => {
                self.mouse = Some(position);
                self.report();
            }
            WindowEvent::CursorLeft { .. } => {
                self.mouse = None;
                self.report();
            }
            WindowEvent::KeyboardInput {
                event: KeyEvent { logical_key, state: ElementState::Pressed, repeat: false, .. },
                ..
            } => match logical_key.as_ref() {
                Key::Named(NamedKey::Escape) | Key::Character("q" | "Q") => events.exit(),
                Key::Named(NamedKey::Space) => {
                    self.clock.toggle();
                    self.rate = Rate::default();
                    self.report();
                }
                _ => {}
            },
            _ => {}
        }
    }

    fn about_to_wait(&mut self, events: &ActiveEventLoop) {
        let reloaded = self.reload();
        let Some(screen) = &self.screen else { return };
        let now = Instant::now();
        let runs = self.scene.moves && self.clock.runs();
        if reloaded || runs && now >= self.next {
            screen.window.request_redraw();
            // Late pictures are skipped.
            self.next = (self.next + screen.interval).max(now);
        }
        events.set_control_flow(if runs {
            ControlFlow::WaitUntil(self.next)
        } else if self.render.reload {
            ControlFlow::WaitUntil(now + Duration::from_millis(200))
        } else {
            ControlFlow::Wait
        });
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use r500::exec::{Options, Shader};

    use super::*;

    #[test]
    fn pixels_lie_over_black() {
        assert_eq!(over_black([0x12, 0x34, 0x56, 255]), 0x12_3456);
        assert_eq!(over_black([255, 255, 255, 0]), 0);
        assert_eq!(over_black([255, 100, 1, 128]), 128 << 16 | 50 << 8 | 1);
        // Equal to division by 255 with rounding, for all values.
        for c in 0..=255u8 {
            for a in 0..=255u8 {
                let wanted = (f64::from(c) * f64::from(a) / 255.0).round() as u32;
                assert_eq!(over_black([c, 0, 0, a]) >> 16, wanted);
            }
        }
    }

    /// Several threads with bands of different heights draw the same picture as one.
    #[test]
    fn threads_fill_the_same_window() {
        let job =
            Job::from_program(r500::program::Program::from_code(vec![r500::isa::Instruction(
                // OUT: out[0] = (u, v, 0, 1).
                [0x78101, 0, 0x80, 0x00db_0220, 0x00c1_8003, 0x0049_0000],
            )]));
        let shader = Shader::new(&job.program).unwrap();
        let bindings = Bindings::new(&job, [3, 7]).unwrap();
        let reference = r500::exec::reference::Reference;
        let frame = r500::exec::draw(&reference, &shader, &bindings, &Options::default()).unwrap();
        let plane = Plane::color(&frame, 0).unwrap();
        let window = |threads| {
            let mut buffer = [0; 21];
            fill(&mut buffer, [3, 7], &plane, threads);
            buffer
        };
        // The upper left pixel: u = 1/6, v = 13/14.
        let upper_left = (255.0f64 / 6.0).round() as u32;
        assert_eq!(window(1)[0], upper_left << 16 | 237 << 8);
        for threads in [2, 3, 4, 7, 50] {
            assert_eq!(window(threads), window(1));
        }
    }

    #[test]
    fn stopped_clock_does_not_advance() {
        let mut clock = Clock::new(2.0);
        assert!(clock.runs() && clock.seconds() >= 2.0);
        clock.toggle();
        let stopped = clock.seconds();
        std::thread::sleep(Duration::from_millis(2));
        assert!(!clock.runs() && clock.seconds() == stopped);
        clock.toggle();
        std::thread::sleep(Duration::from_millis(2));
        assert!(clock.seconds() > stopped);
    }
}
