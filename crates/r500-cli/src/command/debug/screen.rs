//! The state of the screen, and the effect of each key.

use std::time::Duration;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::area::{BackgroundQuery, Measure};
use super::commands::Begun;
use super::language::{self, Kind};
use super::reply::Reply;
use super::session::Session;
use super::subject::Subject;
use super::text;
use r500::exec::record::area::Heatmap;

/// How often the progress of an area query is redrawn.
pub(super) const REFRESH: Duration = Duration::from_millis(60);
/// Limit of the lines of the help.
pub(super) const HELP_LINES: u16 = 96;

/// The state of the screen.
pub(super) struct Screen<M: Subject> {
    pub(super) session: Session<M>,
    /// The input line; `None` while keys are commands.
    pub(super) prompt: Option<Prompt>,
    /// The reply of the last command.
    pub(super) message: String,
    /// Whether it is an error.
    pub(super) mistake: bool,
    /// The program line selected with the arrow keys.
    pub(super) cursor: Option<u32>,
    /// Horizontal scroll offset of the program.
    pub(super) aside: usize,
    /// The shown table of registers, an index of [`Subject::TABLES`].
    pub(super) table: usize,
    /// Vertical scroll offset of the registers.
    pub(super) scroll: usize,
    pub(super) heat: Option<(Heatmap, Measure)>,
    /// The running area query, which keys can only cancel.
    pub(super) asking: Option<BackgroundQuery>,
    /// The scroll offset of the help, if it is shown.
    pub(super) help: Option<u16>,
    pub(super) colors: bool,
    history: Vec<String>,
    pub(super) quit: bool,
}

/// An input line.
#[derive(Default)]
pub(super) struct Prompt {
    pub(super) text: String,
    /// The byte index of the cursor.
    pub(super) cursor: usize,
    /// Index in the history.
    recalled: Option<usize>,
}

impl<M: Subject> Screen<M> {
    pub(super) fn new(session: Session<M>, colors: bool) -> Self {
        let message = M::greeting(&session);
        Self {
            session,
            prompt: None,
            message,
            mistake: false,
            cursor: None,
            aside: 0,
            table: 0,
            scroll: 0,
            heat: None,
            asking: None,
            help: None,
            colors,
            history: Vec::new(),
            quit: false,
        }
    }

    /// Handles a key.
    pub(super) fn key(&mut self, key: KeyEvent) {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        if let Some(survey) = &self.asking {
            if key.code == KeyCode::Esc || control && key.code == KeyCode::Char('c') {
                survey.stop();
            }
            return;
        }
        if self.prompt.is_some() {
            self.type_key(key.code, control);
            return;
        }
        if control {
            if matches!(key.code, KeyCode::Char('c' | 'd')) {
                self.quit = true;
            }
            return;
        }
        if let Some(away) = self.help {
            self.help = match key.code {
                KeyCode::Down | KeyCode::PageDown | KeyCode::Char(' ') => {
                    Some(away.saturating_add(4).min(HELP_LINES))
                }
                KeyCode::Up | KeyCode::PageUp => Some(away.saturating_sub(4)),
                _ => None,
            };
            return;
        }
        let shift = key.modifiers.contains(KeyModifiers::SHIFT);
        match key.code {
            KeyCode::Left if shift => self.select_neighbor(-1, 0),
            KeyCode::Right if shift => self.select_neighbor(1, 0),
            KeyCode::Up if shift => self.select_neighbor(0, 1),
            KeyCode::Down if shift => self.select_neighbor(0, -1),
            KeyCode::Char('s') | KeyCode::Right => self.command("step"),
            KeyCode::Char('S') | KeyCode::Left => self.command("reverse-step"),
            KeyCode::Char('n') => self.command("next"),
            KeyCode::Char('N') => self.command("reverse-next"),
            KeyCode::Char('a') => self.command("active"),
            KeyCode::Char('A') => self.command("reverse-active"),
            KeyCode::Char('f') => self.command("finish"),
            KeyCode::Char('F') => self.command("reverse-finish"),
            KeyCode::Char('u') => self.command("until"),
            KeyCode::Char('U') => self.command("reverse-until"),
            KeyCode::Char('c') => self.command("continue"),
            KeyCode::Char('C') => self.command("reverse-continue"),
            KeyCode::Char('r' | 'g') | KeyCode::Home => self.command("run"),
            KeyCode::Char('e' | 'G') | KeyCode::End => self.command("end"),
            KeyCode::Char('i') => self.command("info step"),
            KeyCode::Char('w') => self.command("backtrace"),
            KeyCode::Enter => self.command(""),
            KeyCode::Char('b') => self.toggle(),
            KeyCode::Char('t') => self.run_to_cursor(),
            KeyCode::Char('h') => self.change_heat(),
            KeyCode::Char('p') => self.ask("print "),
            KeyCode::Char(':' | '/') => self.ask(""),
            KeyCode::Char('?') | KeyCode::F(1) => self.help = Some(0),
            KeyCode::Char('>') => self.aside = (self.aside + 8).min(400),
            KeyCode::Char('<') => self.aside = self.aside.saturating_sub(8),
            KeyCode::Char('q') => self.quit = true,
            KeyCode::Up => self.move_cursor(-1),
            KeyCode::Down => self.move_cursor(1),
            KeyCode::Tab => {
                self.table = (self.table + 1) % M::TABLES.len();
                self.scroll = 0;
            }
            KeyCode::PageDown => self.scroll = self.scroll.saturating_add(4).min(256),
            KeyCode::PageUp => self.scroll = self.scroll.saturating_sub(4),
            KeyCode::Esc => {
                self.heat = None;
                self.cursor = None;
            }
            _ => {}
        }
    }

    /// Runs a command and shows its reply.
    pub(super) fn command(&mut self, line: &str) {
        if line.trim().eq_ignore_ascii_case("help") || line.trim() == "?" {
            self.help = Some(0);
            return;
        }
        match self.session.begin(line) {
            Ok(Begun::Asking(survey)) => {
                self.asking = Some(survey);
                self.message.clear();
                self.mistake = false;
                // Results that are available immediately are shown immediately.
                self.wait(REFRESH);
            }
            Ok(Begun::Done(reply)) => self.show(Ok(reply)),
            Err(mistake) => self.show(Err(mistake)),
        }
    }

    /// Waits up to `patience` for the area query, and shows its result.
    pub(super) fn wait(&mut self, patience: Duration) {
        let Some(found) = self.asking.as_mut().and_then(|survey| survey.wait(patience)) else {
            return;
        };
        self.asking = None;
        let reply = found.and_then(|found| M::found(&mut self.session, found));
        self.show(reply);
    }

    fn show(&mut self, reply: Result<Reply, String>) {
        match reply {
            Ok(reply) => {
                self.message = reply.text;
                self.mistake = false;
                self.quit |= reply.quit;
                if reply.moved {
                    self.cursor = None;
                }
                if reply.heat.is_some() {
                    self.heat = reply.heat;
                }
            }
            Err(mistake) => {
                self.message = mistake;
                self.mistake = true;
            }
        }
    }

    /// Returns the selected program line, or the next instruction; at the end of the run, the last one.
    pub(super) fn line(&self) -> u32 {
        self.cursor.unwrap_or_else(|| self.session.here())
    }

    fn ask(&mut self, text: &str) {
        self.prompt = Some(Prompt { text: text.to_owned(), cursor: text.len(), recalled: None });
    }

    fn select_neighbor(&mut self, dx: i64, dy: i64) {
        if let Some(command) = M::neighbor(&self.session, dx, dy) {
            self.command(&command);
        }
    }

    fn toggle(&mut self) {
        let line = self.line();
        if self.session.recording.machine().is_executable(line) {
            self.message = self.session.toggle(line);
            self.mistake = false;
        }
    }

    fn run_to_cursor(&mut self) {
        self.command(&format!("until {}", self.line()));
    }

    fn change_heat(&mut self) {
        match self.heat.take() {
            None => self.command("heat executed"),
            Some((heat, Measure::Executed)) => {
                self.message = text::heat_summary(&heat, Measure::Waited).join("\n");
                self.heat = Some((heat, Measure::Waited));
            }
            Some(_) => self.message.clear(),
        }
    }

    fn move_cursor(&mut self, by: i64) {
        let (first, last) = self.session.recording.machine().addresses();
        let moved = i64::from(self.line()) + by;
        let moved = moved.clamp(i64::from(first), i64::from(last));
        self.cursor = u32::try_from(moved).ok();
    }

    /// Handles a key while a line is typed.
    fn type_key(&mut self, code: KeyCode, control: bool) {
        let Some(prompt) = &mut self.prompt else { return };
        match code {
            KeyCode::Esc => self.prompt = None,
            KeyCode::Char('c' | 'd' | 'g') if control => self.prompt = None,
            KeyCode::Char('u') if control => *prompt = Prompt::default(),
            KeyCode::Char('a') if control => prompt.cursor = 0,
            KeyCode::Char('e') if control => prompt.cursor = prompt.text.len(),
            KeyCode::Char(_) if control => {}
            KeyCode::Char(c) => {
                prompt.text.insert(prompt.cursor, c);
                prompt.cursor += c.len_utf8();
            }
            KeyCode::Backspace if prompt.text.is_empty() => self.prompt = None,
            KeyCode::Backspace => {
                if let Some(c) = prompt.text[..prompt.cursor].chars().next_back() {
                    prompt.cursor -= c.len_utf8();
                    prompt.text.remove(prompt.cursor);
                }
            }
            KeyCode::Delete if prompt.cursor < prompt.text.len() => {
                prompt.text.remove(prompt.cursor);
            }
            KeyCode::Left => {
                let before = prompt.text[..prompt.cursor].chars().next_back();
                prompt.cursor -= before.map_or(0, char::len_utf8);
            }
            KeyCode::Right => {
                let behind = prompt.text[prompt.cursor..].chars().next();
                prompt.cursor += behind.map_or(0, char::len_utf8);
            }
            KeyCode::Home => prompt.cursor = 0,
            KeyCode::End => prompt.cursor = prompt.text.len(),
            KeyCode::Up => {
                let last = self.history.len().checked_sub(1);
                let at = prompt.recalled.map_or(last, |at| Some(at.saturating_sub(1)));
                prompt.recall(at, &self.history);
            }
            KeyCode::Down => {
                let at = prompt.recalled.map(|at| at + 1).filter(|&at| at < self.history.len());
                prompt.recall(at, &self.history);
            }
            KeyCode::Tab => prompt.complete(M::KIND),
            KeyCode::Enter => {
                let line = std::mem::take(&mut prompt.text);
                self.prompt = None;
                if !line.trim().is_empty() {
                    if self.history.last() != Some(&line) {
                        self.history.push(line.clone());
                    }
                    self.command(&line);
                }
            }
            _ => {}
        }
    }
}

impl Prompt {
    fn recall(&mut self, at: Option<usize>, history: &[String]) {
        self.recalled = at;
        self.text = at.and_then(|at| history.get(at)).cloned().unwrap_or_default();
        self.cursor = self.text.len();
    }

    /// Completes an unambiguous prefix of a command.
    fn complete(&mut self, kind: Kind) {
        if self.text.is_empty() || self.text.contains(' ') {
            return;
        }
        if let Ok((verb, "")) = language::parse(&self.text, kind)
            && let Some(row) = language::commands(kind).find(|row| row.verb == verb)
        {
            self.text = format!("{} ", row.name);
            self.cursor = self.text.len();
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::disallowed_methods)]

    use std::path::Path;
    use std::sync::Arc;

    use r500::exec::record::{DrawSetup, PixelGroup};
    use r500::exec::{Bindings, Options, Shader};
    use r500::vertex_run::VertexMachine;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use super::*;
    use crate::command::debug::draw;
    use crate::command::source_map::SourceMap;
    use crate::command::vertex::{COUNTING, Keep, VertexFile};

    fn screen(colors: bool) -> Screen<PixelGroup> {
        let path =
            concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/corpus/mesa/loop_in_branch.json");
        let bytes = std::fs::read(path).unwrap();
        let limits = r500::formats::Limits::default();
        let job = r500::reader::read(&bytes, None, None, &limits).unwrap().remove(0);
        let scene = DrawSetup {
            shader: Arc::new(Shader::new(&job.program).unwrap()),
            bindings: Arc::new(Bindings::new(&job, [24, 20]).unwrap()),
            options: Options { threads: 1, ..Options::default() },
        };
        let session = Session::new(
            "loop".to_owned(),
            SourceMap::of(&job, None, Path::new("")),
            scene,
            [5, 6],
        )
        .unwrap();
        Screen::new(session, colors)
    }

    fn press<M: Subject>(screen: &mut Screen<M>, keys: &str) {
        for c in keys.chars() {
            let code = match c {
                '\n' => KeyCode::Enter,
                '\t' => KeyCode::Tab,
                '^' => KeyCode::Up,
                'v' => KeyCode::Down,
                '<' => KeyCode::Backspace,
                c => KeyCode::Char(c),
            };
            screen.key(KeyEvent::new(code, KeyModifiers::NONE));
            while screen.asking.is_some() {
                screen.wait(Duration::from_secs(1));
            }
        }
    }

    fn shown<M: Subject>(screen: &Screen<M>, width: u16, height: u16) -> String {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal.draw(|frame| draw::draw(frame, screen)).unwrap();
        terminal.backend().to_string()
    }

    /// A query of minutes: the screen stays responsive and shows the progress, and Esc cancels it.
    #[test]
    fn a_long_question_shows_its_progress_and_can_be_stopped() {
        let mut screen = screen(false);
        let mut scene = screen.session.recording.setup().clone();
        scene.bindings =
            Arc::new(Bindings::new(&r500::program::Job::default(), [16_000, 16_000]).unwrap());
        screen.session =
            Session::new("loop".to_owned(), SourceMap::default(), scene, [5, 6]).unwrap();
        for line in ["heat", "first temp[0].r is nan"] {
            screen.command(line);
            assert!(screen.asking.is_some());
            let text = shown(&screen, 100, 30);
            assert!(text.contains("asking the pixels   ") && text.contains("Esc or Ctrl-C stops"));
            // Other keys are ignored.
            screen.key(KeyEvent::new(KeyCode::Char('q'), KeyModifiers::NONE));
            assert!(!screen.quit && screen.asking.is_some());
            screen.key(KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL));
            let from = std::time::Instant::now();
            while screen.asking.is_some() {
                screen.wait(REFRESH);
                assert!(from.elapsed() < Duration::from_secs(20));
            }
            assert!(screen.message.starts_with("stopped, "), "{}", screen.message);
            assert!(screen.heat.is_none());
        }
        press(&mut screen, "s");
        assert_eq!(screen.session.recording.position(), 1);
    }

    #[test]
    fn every_size_is_drawn() {
        let mut screen = screen(true);
        for keys in
            ["", "sss", "h", "h", "h", "?", "?\t", "\t", "e", ":print temp[0]", "\n", ":dance\n"]
        {
            press(&mut screen, keys);
            let sizes = [(1, 1), (2, 3), (20, 2), (39, 11), (40, 12), (60, 12), (80, 24), (96, 12)];
            for (width, height) in sizes.into_iter().chain([(120, 30), (250, 80), (10, 60)]) {
                shown(&screen, width, height);
            }
        }
    }

    fn vertex_screen(colors: bool) -> Screen<VertexMachine> {
        let files = r500::files::NamedFiles::anywhere();
        let (path, text) = (Path::new("count.vs.asm"), COUNTING.as_bytes());
        let file = VertexFile::of(path, text, &files, Default::default()).unwrap();
        let inputs = ["i0=0".to_owned(), "i0=4".to_owned()];
        let set = file.set(&inputs, &[], Keep::AlsoOthers(0)).unwrap();
        Screen::new(Session::of_vertex(set, 0, Default::default()).unwrap(), colors)
    }

    #[test]
    fn a_vertex_is_drawn_at_every_size() {
        let mut screen = vertex_screen(true);
        for keys in ["", "ss", "h", "?", "?\t", "\t", "\t", "e", ":print a0", "\n", ":dance\n"] {
            press(&mut screen, keys);
            let sizes = [(1, 1), (2, 3), (20, 2), (39, 11), (40, 12), (60, 12), (80, 24), (96, 12)];
            for (width, height) in sizes.into_iter().chain([(120, 30), (250, 80), (10, 60)]) {
                shown(&screen, width, height);
            }
        }
    }

    #[test]
    fn keys_walk_through_a_vertex() {
        let mut screen = vertex_screen(false);
        press(&mut screen, "ss");
        let text = shown(&screen, 120, 40);
        assert!(text.contains("step 2 of 7, coming: @1"), "{text}");
        assert!(text.contains("┌ vertex 0 ") && text.contains("loop 1: 2 iterations left, aL 6"));
        assert!(text.contains("registers inputs constants outputs") && !text.contains('#'));
        let text = shown(&screen, 80, 24);
        assert!(text.contains(" count.vs.asm, vertex 0 "), "{text}");
        assert!(text.contains("step 2 of 7: pred false, aL 6"), "{text}");
        press(&mut screen, "\t");
        assert!(shown(&screen, 80, 24).contains("input[0]"));
        press(&mut screen, "fsss");
        assert!(shown(&screen, 120, 40).contains("out[0] = (6, 6, 6, 6)"));
        screen.key(KeyEvent::new(KeyCode::Right, KeyModifiers::SHIFT));
        let text = shown(&screen, 120, 40);
        assert!(text.contains("┌ vertex 1 ") && text.contains("out[0] = (3, 3, 3, 3)"), "{text}");
        assert!(text.contains("the run has ended"), "{text}");
        // There are two.
        screen.key(KeyEvent::new(KeyCode::Right, KeyModifiers::SHIFT));
        assert!(shown(&screen, 120, 40).contains("┌ vertex 1 "));
        press(&mut screen, "SS");
        let text = shown(&screen, 120, 40);
        assert!(text.contains("not executed: the predicate is false"), "{text}");
        press(&mut screen, "h");
        assert!(screen.mistake && screen.message.contains("is for pixels"));
    }

    #[test]
    fn keys_walk_and_the_panes_show_it() {
        let mut screen = screen(false);
        press(&mut screen, "ssS");
        let text = shown(&screen, 120, 40);
        assert!(text.contains("step 1 of "), "{text}");
        assert!(text.contains("pixel 5,6 and its group"), "{text}");
        // The second row from above of the group at 4,4, second column.
        assert!(text.contains(" A [A](A) A ") || text.contains("(A)[A] A  A "), "{text}");
        press(&mut screen, "vb");
        assert!(screen.session.breakpoints.breaks_at(screen.line()));
        assert!(shown(&screen, 120, 40).contains('●'));
        press(&mut screen, "b");
        assert_eq!(screen.session.breakpoints.iter().count(), 0);
        press(&mut screen, "e");
        assert!(shown(&screen, 120, 40).contains("the run has ended: delivered"));
        // The instruction that was executed last stays in view.
        let text = shown(&screen, 80, 16);
        let number = format!("{:>3}  ", screen.line());
        assert!(text.lines().any(|line| line.contains(&number) && line.contains("OUT")), "{text}");
        press(&mut screen, "h");
        let text = shown(&screen, 120, 40);
        assert!(text.contains("instructions executed"), "{text}");
    }

    /// Returns the rows of the screen that contain a text.
    fn rows_with(text: &str, part: &str) -> usize {
        text.lines().filter(|line| line.contains(part)).count()
    }

    #[test]
    fn small_terminals_show_program_mask_and_registers() {
        for (width, height, program, registers) in [(80, 24, 6, 2), (60, 15, 3, 2)] {
            let mut screen = screen(false);
            press(&mut screen, "sssssss");
            let text = shown(&screen, width, height);
            let count = screen.session.recording.setup().shader.code().len().min(program);
            let listed = (0..40).filter(|n| {
                text.lines().any(|line| {
                    let line = line.trim_start_matches(['"', '▶', '●', ' ']);
                    line.starts_with(&format!("{n}  "))
                })
            });
            assert!(listed.count() >= count, "{text}");
            assert!(text.contains('▶'), "{text}");
            assert!(rows_with(&text, "temp[") >= registers, "{text}");
            assert!(text.contains("[A]") && text.contains("(A)"), "{text}");
            assert!(text.contains("step 7 of ") && text.contains(": pred none, alu "), "{text}");
            assert!(text.contains("pixel 5,6") && text.contains("? help"), "{text}");

            // The map covers the program only.
            press(&mut screen, "h");
            let text = shown(&screen, width, height);
            assert!(text.contains("instructions executed (h: waited"), "{text}");
            assert!(text.contains("0  .:-=+*#%@ "), "{text}");
            assert!(rows_with(&text, "temp[") >= registers && text.contains("[A]"), "{text}");
            screen.key(KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE));
            assert!(!shown(&screen, width, height).contains("(h: waited"));
        }
    }

    /// In a narrow terminal the next instruction is shown to its end, also the last one of the program.
    #[test]
    fn long_lines_are_wrapped_where_the_cursor_is() {
        let mut screen = screen(false);
        press(&mut screen, "e");
        let last = screen.session.recording.setup().shader.window().addresses().1;
        screen.cursor = Some(last);
        let whole = text::listed(&screen.session, last);
        assert!(whole.len() > 54, "{whole}");
        let text = shown(&screen, 60, 15);
        let shown: Vec<&str> =
            text.lines().flat_map(|line| line.trim_matches('"').split_whitespace()).collect();
        let wanted: Vec<&str> = whole.split_whitespace().collect();
        assert!(shown.windows(wanted.len()).any(|words| words == wanted), "{text}");
    }

    #[test]
    fn the_scale_of_the_map_has_the_colours_of_the_map() {
        let mut screen = screen(true);
        press(&mut screen, "h");
        let text = shown(&screen, 120, 40);
        assert!(!text.contains(".:-=") && text.contains("cyan: the pixel"), "{text}");
        assert!(!screen.message.contains('@'), "{}", screen.message);
    }

    #[test]
    fn wide_terminals_have_registers_in_a_column_of_their_own() {
        let mut screen = screen(false);
        press(&mut screen, "sss");
        let text = shown(&screen, 260, 50);
        let row = text.lines().find(|line| line.contains("registers constants outputs")).unwrap();
        assert!(row.contains("step 3 of ") && row.contains(" loop "), "{text}");
        // Constants have room for their names, numbers for all digits.
        assert!(text.contains("A active") && !text.contains("k left a loop"), "{text}");
    }

    #[test]
    fn lines_are_typed_recalled_and_completed() {
        let mut screen = screen(false);
        press(&mut screen, ":goto 33<\n");
        assert_eq!(screen.session.recording.position(), 3);
        press(&mut screen, ":^");
        assert_eq!(screen.prompt.as_ref().map(|prompt| prompt.text.as_str()), Some("goto 3"));
        press(&mut screen, "<4\n\n");
        assert_eq!(screen.session.recording.position(), 4);
        press(&mut screen, ":tbr\t");
        assert_eq!(screen.prompt.as_ref().map(|prompt| prompt.text.as_str()), Some("tbreak "));
        screen.key(KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE));
        assert!(screen.prompt.is_none());
        press(&mut screen, ":print temp[0\n");
        assert!(screen.mistake && screen.message.contains("missing"), "{}", screen.message);
        let right = KeyEvent::new(KeyCode::Right, KeyModifiers::SHIFT);
        screen.key(right);
        assert_eq!(screen.session.pixel(), [6, 6]);
        assert_eq!(screen.session.recording.position(), 4, "the same group continues");
        press(&mut screen, "q");
        assert!(screen.quit);
    }
}
