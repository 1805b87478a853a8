//! Tests of the passes, in `tests/ir/*.ir`: a function, the passes to run, and the result. Tests of the verifier: a pass for each kind of
//! bug.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use r500_golden::directive;

use super::opt::{AFTER_LIFT, Analyses, BEFORE_CODEGEN, Pass, pass, run};
use super::*;

/// Precedes a file's expected output.
const RESULT: &str = ";; result\n";

/// Returns the passes of a file's `run:` line.
fn passes(text: &str) -> Vec<Pass> {
    let names = directive(text, "run:").expect("no `; run:` line").split_whitespace();
    names
        .flat_map(|name| match name {
            "AFTER_LIFT" => AFTER_LIFT.to_vec(),
            "BEFORE_CODEGEN" => BEFORE_CODEGEN.to_vec(),
            name => vec![pass(name).unwrap_or_else(|| panic!("there is no pass `{name}`"))],
        })
        .collect()
}

/// Runs the passes of every file. `BLESS=1` rewrites the results in the files.
#[test]
fn passes_rewrite_as_the_files_say() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/ir");
    r500_golden::check_files(
        folder,
        |name| name.ends_with(".ir"),
        |path, text| {
            let input = text.split(RESULT).next().unwrap();
            let Parsed { mut function, ranges } =
                parse(input).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            verify(&function, "the file")
                .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let mut analyses = Analyses::new(&ranges, directive(input, "reads_quads").is_some());
            run(&mut function, &mut analyses, &passes(input));
            let result = function.to_string();
            // Printing and parsing round-trip.
            let again =
                parse(&result).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            assert_eq!(again.function.to_string(), result, "{}", path.display());
            assert_eq!(again.function.body, function.body, "{}", path.display());
            format!("{input}{RESULT}{result}")
        },
    );
}

/// The guide quotes a pass and its test, which are compiled and run here.
#[test]
fn example_in_the_guide_is_a_pass_that_works() {
    let guide = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/src/developing.md");
    let guide = std::fs::read_to_string(guide).unwrap();
    for file in [include_str!("opt/abs_of_neg.rs"), include_str!("../tests/ir/abs_of_neg.ir")] {
        assert!(guide.contains(file), "the guide does not have\n{file}");
    }
    let (_, text) = guide.split_once("```text\n").unwrap();
    let function = parse(text.split("```").next().unwrap()).unwrap().function;
    assert_eq!(verify(&function, "the guide"), Ok(()));
}

/// Every operation, statement and constant, as text and back.
#[test]
fn text_is_read_as_it_is_printed() {
    let text = "\
uniform %0: f32 = const 255.3
%1: f32 = input 3.2
%2: f32 = %0~ * %1~
%3: f32 = -(%0 * 1e-40) + %2
%4: f32 = %0 * -inf - 0x7fc00001
%5: f32 = %0 + -0.0
%6: f32 = 0 - %1
%7: f32 = neg %1
%8: f32 = abs %1
%9: f32 = neg_abs %1
%10: f32 = min %1, %2
%11: f32 = max.no_denormals %1, %2
%12: mask = %1 < %2
%13: mask = %1 >= %2
%14: mask = %1 == 3.5
%15: mask = %1 != %2
%16: mask = %12 & %13
%17: mask = %12 | all
%18: mask = all & !%12
%19: f32 = %16 ? %1 : 2.0
%20: f32 = flush %1
%21: f32 = clamp01 %1
%22: f32 = frc %1
%23: f32 = rcp %1
%24: f32 = rsq %1
%25: f32 = ex2 %1
%26: f32 = ln2 %1
%27: f32 = sin %1
%28: f32 = cos %1
%29: f32 = quad_broadcast 2 %1
%30: f32, _, %31: f32, _ = PROJ tex[4] unscaled %1, %2, 0, %3 where %12 at 77
_, %32: f32, _, _ = DXDY tex[15] %1, %2, 0, 0 dx %3, %4, 0, 0 dy %5, 0, 0, 1.0 where all at 78
discard %13
group_hazard %14
stat 2 %15
fuel 12 at 511
if %12 {
  %33: f32 = rcp %1
} else %18 {
}
phi %34: f32 = %33, _ over %1
phi %35: mask = all, 0 over _
loop 255 {
  param %36: f32 = 0
  param %37: mask = all
  loop 3 {
  }
  %38: f32 = %36 + 1.0
  next %36 = %38
  next %37 = %12
} while %12
out[0] = %1, 0, 1.0, %36 non_nan gb
out[3] = %34, %30, %31, %32
depth = %36 where %37
";
    let Parsed { function, .. } = parse(text).unwrap();
    assert_eq!(function.to_string(), text);
    assert_eq!(verify(&function, "the text"), Ok(()));
}

#[test]
fn text_that_does_not_fit_is_an_error_of_its_line() {
    let cases = [
        ("%0: f64 = input 0.0", 1, "is not a type"),
        ("\n; nothing\n%0: f32 = frobnicate %1", 3, "is not an operation"),
        ("%0: f32 = min 1.0", 1, "takes 2 operands"),
        ("if all {\n}", 2, "`} else MASK {` is missing"),
        ("loop 3 {\n  param %0: f32 = 0\n}", 3, "1 loop parameters, 0 next values"),
        ("loop 3 {\n  next %0 = 0\n}", 2, "%0 is not loop parameter 0"),
        ("out[4] = 0, 0, 0, 0", 1, "there are four targets"),
        ("%99999999: f32 = input 0.0", 1, "is too large a number"),
        ("nonsense", 1, "is neither a statement nor an output"),
    ];
    for (text, line, reason) in cases {
        let error = parse(text).unwrap_err();
        assert_eq!(error.line, line, "{text}: {error}");
        assert!(error.reason.contains(reason), "{text}: {error}");
    }
}

/// A function with a branch and a loop, into which bugs are injected.
const GOOD: &str = "\
%0: f32 = input 0.0
%1: mask = %0 >= 0
%2: mask = all & !%1
if %1 {
  %3: f32 = rcp %0
} else %2 {
  %4: f32 = rsq %0
}
phi %5: f32 = %3, %4 over _
loop 8 {
  param %6: f32 = 0
  param %7: mask = all
  %8: f32 = %6 + %5
  %9: mask = %7 & %1
  next %6 = %8
  next %7 = %9
} while %9
out[0] = %6, %6, %6, 1.0
";

/// Returns the branch and the loop of [`GOOD`].
fn regions(function: &mut Function) -> (&mut If, &mut Loop) {
    let [_, _, _, Stmt::If(branch), Stmt::Loop(repeat)] = &mut *function.body else {
        unreachable!()
    };
    (branch, repeat)
}

/// Runs a pass with a bug, `rewrite`. Returns the verifier's error.
fn bug(rewrite: fn(&mut Function, &Analyses<'_>) -> bool) -> VerifyError {
    let mut function = parse(GOOD).unwrap().function;
    assert_eq!(verify(&function, "the text"), Ok(()));
    (rewrite)(&mut function, &Analyses::default());
    let error = verify(&function, "bug").unwrap_err();
    if cfg!(debug_assertions) {
        // The pipeline stops after the pass.
        let pipeline = [AFTER_LIFT[0], Pass { name: "bug", run: rewrite }];
        let result = std::panic::catch_unwind(|| {
            let mut function = parse(GOOD).unwrap().function;
            run(&mut function, &mut Analyses::default(), &pipeline);
        });
        let message = *result.unwrap_err().downcast::<String>().unwrap();
        assert!(message.contains(&error.to_string()), "{message}");
    }
    assert!(error.to_string().starts_with("after `bug`: "), "{error}");
    error
}

/// Checks that the verifier reports a rewrite of [`GOOD`], with the value and the kind of error.
macro_rules! caught {
    ($value:literal, $kind:expr, |$function:ident| $bug:expr) => {{
        let error = bug(|$function, _| {
            $bug;
            true
        });
        assert_eq!((error.value, error.kind), (Some(Value($value)), $kind));
    }};
}

#[test]
fn use_before_definition_is_caught() {
    caught!(0, Malformed::NotDominated, |function| function.body.swap(0, 1));
    // After a branch, only its phis are visible.
    caught!(3, Malformed::NotDominated, |function| {
        function.colors[0] = Some([Operand::Value(Value(3)); 4]);
    });
    // An arm does not see the other arm's definitions.
    caught!(3, Malformed::NotDominated, |function| {
        regions(function).0.phis[0].arms[1] = Some(Operand::Value(Value(3)));
    });
}

#[test]
fn second_definition_is_caught() {
    caught!(0, Malformed::DefinedTwice, |function| {
        let first = function.body[0].clone();
        function.body.push(first);
    });
}

#[test]
fn wrong_type_is_caught() {
    let kind = Malformed::WrongType { expected: Type::F32, found: Type::Mask };
    caught!(1, kind, |function| {
        let sum = Inst::new(Opcode::Add, &[Operand::Value(Value(0)), Operand::Value(Value(1))]);
        regions(function).1.body[0] = Stmt::Def(Value(8), sum);
    });
    // A comparison returns a mask.
    let kind = Malformed::WrongType { expected: Type::Mask, found: Type::F32 };
    caught!(1, kind, |function| function.values[Value(1)].ty = Type::F32);
    let error = bug(|function, _| {
        regions(function).1.params[1].init = Operand::float(1.0);
        true
    });
    assert_eq!(error.kind, Malformed::NotAMask(0x3f80_0000));
}

#[test]
fn overlapping_arms_are_caught() {
    let error = bug(|function, _| {
        let branch = regions(function).0;
        branch.masks[1] = branch.masks[0];
        true
    });
    let mask = Operand::Value(Value(1));
    assert_eq!((error.value, error.kind), (Some(Value(1)), Malformed::OverlappingArms(mask, mask)));
    let error = bug(|function, _| {
        regions(function).0.masks[1] = ALL;
        true
    });
    assert_eq!(error.kind, Malformed::OverlappingArms(mask, ALL));
}

/// The first and the next value of a parameter are in one structure, so their numbers differ only in text (see above). A pass can lose or
/// duplicate a parameter.
#[test]
fn wrong_number_of_loop_parameters_is_caught() {
    caught!(6, Malformed::NotDominated, |function| regions(function).1.params.remove(0));
    caught!(6, Malformed::DefinedTwice, |function| {
        let params = &mut regions(function).1.params;
        params.push(params[0]);
    });
    caught!(6, Malformed::NoIterations, |function| regions(function).1.max_trips = 0);
}

#[test]
fn unknown_value_and_excess_argument_are_caught() {
    caught!(77, Malformed::UnknownValue, |function| {
        function.colors[0] = Some([Operand::Value(Value(77)); 4]);
    });
    caught!(0, Malformed::TooManyArguments(0), |function| {
        if let Stmt::Def(_, inst) = &mut function.body[0] {
            inst.args[2] = Operand::float(1.0);
        }
    });
}
