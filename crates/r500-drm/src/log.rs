//! Messages to the user on standard error.

use std::collections::HashSet;
use std::sync::Mutex;

static PRINTED: Mutex<Option<HashSet<String>>> = Mutex::new(None);

/// Prints a message.
#[allow(clippy::print_stderr, reason = "a program on the card has no other place for them")]
pub fn print(message: &str) {
    eprintln!("r500 card: {message}");
}

/// Prints a message once in this process.
pub fn print_once(message: &str) {
    // After a fork the lock may stay locked: print twice rather than never.
    let first = match PRINTED.try_lock() {
        Ok(mut printed) => printed.get_or_insert_default().insert(message.to_owned()),
        Err(_) => true,
    };
    if first {
        print(message);
    }
}
