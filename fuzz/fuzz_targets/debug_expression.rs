//! Property: the text of any condition parses, or is reported with a span inside it; a parsed expression prints as text
//! that parses to the same expression. For pixels and for vertices.
#![no_main]

use std::fmt::Debug;

use libfuzzer_sys::fuzz_target;
use r500::exec::record::{Expr, Variable};
use r500::expression::{Vocabulary, Written, parse, parse_condition};
use r500::vertex_run::VertexVariable;
use r500_program::Uniform;

fuzz_target!(|source: &str| {
    let uniform = |name: &str, channel, channels| Uniform {
        name: name.to_owned(),
        constant: 7,
        channel,
        channels,
    };
    let names = [uniform("color", 0, 3), uniform("time", 3, 1)];
    check::<Variable>(source, &names);
    check::<VertexVariable>(source, &names);
});

fn check<V: Vocabulary + Debug>(source: &str, names: &[Uniform]) {
    let _ = parse_condition::<V>(source, names);
    let expr: Expr<V> = match parse(source, names) {
        Ok(expr) => expr,
        Err(error) => {
            assert!(source.get(error.span.clone()).is_some(), "{error:?}");
            let _ = error.render(source);
            return;
        }
    };
    assert!((1..=4).contains(&expr.width()));
    let written = Written(&expr).to_string();
    match parse::<V>(&written, names) {
        // Compared as text, because NaN is not equal to itself.
        Ok(again) => assert_eq!(format!("{again:?}"), format!("{expr:?}"), "{written}"),
        // The printed brackets may exceed the limits of the parser.
        Err(error) => {
            let limit = ["nested", "longer"].iter().any(|word| error.message.contains(word));
            assert!(limit, "{}", error.render(&written));
        }
    }
}
