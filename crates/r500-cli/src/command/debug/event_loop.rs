//! The event loop of the terminal: draws the screen and handles keys.

use std::io;
use std::time::Duration;

use ratatui::crossterm::event::{self, Event, KeyEventKind};

use super::draw;
use super::screen::{REFRESH, Screen};
use super::session::Session;
use super::subject::Subject;
use crate::command::terminal;

/// Runs until the user quits.
pub(super) fn run<M: Subject>(session: Session<M>) -> io::Result<()> {
    let mut screen = Screen::new(session, terminal::colors(&io::stdout()));
    let mut terminal = ratatui::try_init()?;
    let result = loop {
        if let Err(error) = terminal.draw(|frame| draw::draw(frame, &screen)) {
            break Err(error);
        }
        // While an area query runs, its progress is shown.
        if screen.asking.is_some() {
            screen.wait(REFRESH);
            match event::poll(Duration::ZERO) {
                Ok(true) => {}
                Ok(false) => continue,
                Err(error) => break Err(error),
            }
        }
        match event::read() {
            Ok(Event::Key(key)) if key.kind != KeyEventKind::Release => screen.key(key),
            Ok(_) => {}
            Err(error) => break Err(error),
        }
        if screen.quit {
            break Ok(());
        }
    };
    ratatui::try_restore()?;
    result
}
