//! Rejected readings change the pictures that are the evidence for the chosen ones.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use std::collections::BTreeSet;

use common::{capture, corpus, run};
use r500_exec::Options;

/// Returns the cases of the corpus whose picture changes under a reading.
fn changed(name: &str, value: &str) -> BTreeSet<String> {
    let mut changed = BTreeSet::new();
    for (case, job) in corpus("cases") {
        let bits = |options: &Options<'_>| -> Vec<Vec<[u32; 4]>> {
            let frame = run(&job, options);
            let plane = |target| {
                let colors = frame.target(target).unwrap_or_default().iter();
                colors.map(|color| color.map(f32::to_bits)).collect()
            };
            (0..4).map(plane).collect()
        };
        let mut other = Options { threads: 1, ..Options::default() };
        let reference = bits(&other);
        other.readings.set(name, value).unwrap();
        if bits(&other) != reference {
            changed.insert(case);
        }
    }
    changed
}

fn names(list: &[&str]) -> BTreeSet<String> {
    list.iter().map(|&name| name.to_owned()).collect()
}

#[test]
fn popcnt_differs_where_a_break_leaves_an_if_without_decrement() {
    assert_eq!(changed("break", "popcnt"), names(&["break_if_no_bop"]));
}

#[test]
fn reading_never_differs_after_the_break() {
    assert_eq!(changed("break", "never"), names(&["break_all_jump", "continue_all"]));
}

#[test]
fn literal_breaks_every_divergent_break() {
    let changed = changed("break", "literal");
    for name in ["break_divergent", "break_staggered", "break_two_ifs", "continue_divergent"] {
        assert!(changed.contains(name), "{name} is the same: {changed:?}");
    }
}

#[test]
fn flat_breaks_a_break_beside_an_inner_loop() {
    assert!(changed("break", "flat").contains("break_outer_then_inner_loop"));
}

/// The capture that is the evidence: under the literal reading, the inner loop pops the outer one.
#[test]
fn a_literal_idle_loop_breaks_a_compiled_program() {
    let job = capture("loop_idle_inner");
    let mut options = Options::default();
    let reference = run(&job, &options);
    options.readings.set("idle-loop", "literal").unwrap();
    let literal = run(&job, &options);
    assert_ne!(reference.target(0).unwrap(), literal.target(0).unwrap());
    options.readings.set("idle-loop", "behind").unwrap();
    let behind = run(&job, &options);
    assert_eq!(reference.target(0).unwrap(), behind.target(0).unwrap());
}
