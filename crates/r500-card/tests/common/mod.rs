//! Replays of captures, for tests and benchmarks.
#![allow(clippy::unwrap_used)]

use std::fs::File;
use std::path::Path;

use r500_card::Card;
use r500_stream::capture::{Event, Limits, Player, Reader, Record};

/// Sets the readings of a capture and calls `each` for its events.
pub(crate) fn replay(
    path: &Path,
    card: &mut Card,
    mut each: impl FnMut(&mut Card, &mut Player, Event),
) {
    let mut player = Player::new(Limits::default());
    for record in Reader::new(File::open(path).unwrap()).unwrap() {
        let record = record.unwrap();
        if let Record::Info(info) = &record {
            for reading in &info.readings {
                let (name, value) = reading.split_once('=').unwrap();
                card.set_reading(name, value).unwrap();
            }
        }
        if let Some(event) = player.apply(record).unwrap() {
            each(card, &mut player, event);
        }
    }
}
