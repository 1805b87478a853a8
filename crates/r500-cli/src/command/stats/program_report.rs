//! Report of one program.

use std::io::{self, Write};

use super::program::{Counted, Program};

/// Prints all numbers of a program.
pub(super) fn print(out: &mut impl Write, program: &Program) -> io::Result<()> {
    let Ok(Counted { stats: s, unstructured, unknown_trip_counts }) = &program.counted else {
        // Reported on stderr.
        return Ok(());
    };
    writeln!(out, "{}", program.name)?;
    let mut section = |title: &str, lines: &[(&str, String)]| -> io::Result<()> {
        writeln!(out, "\n{title}")?;
        for (name, value) in lines {
            writeln!(out, "  {name:<28}{value}")?;
        }
        Ok(())
    };
    let dead = match s.unreached {
        0 => String::new(),
        n => format!("  (and {n} that no run reaches)"),
    };
    section(
        "Instructions",
        &[
            ("all", format!("{:>6}{dead}", s.instructions)),
            ("ALU", format!("{:>6}  ({} of them OUT)", s.alu, s.outputs)),
            ("texture", format!("{:>6}  ({} TEXKILL)", s.textures + s.kills, s.kills)),
            ("flow control", format!("{:>6}", s.flow)),
        ],
    )?;
    let used = s.co_issued + s.rgb_only + s.alpha_only;
    let rate = s.co_issue_rate() * 100.0;
    section(
        "Halves of ALU instructions",
        &[
            ("both", format!("{:>6}  ({rate:.1} % of {used})", s.co_issued)),
            ("RGB alone", format!("{:>6}", s.rgb_only)),
            ("alpha alone", format!("{:>6}", s.alpha_only)),
            ("neither", format!("{:>6}", s.idle)),
        ],
    )?;
    section(
        "Use of",
        &[
            ("presubtract", format!("{:>6}", s.presubtract)),
            ("output modifiers (OMOD)", format!("{:>6}", s.omod)),
            ("inline constants", format!("{:>6}", s.inlines)),
            ("predicated writes", format!("{:>6}", s.predicated)),
            ("NOP", format!("{:>6}", s.nops)),
            ("texture semaphore waits", format!("{:>6}", s.waits)),
            ("temporaries", format!("{:>6}", s.temporaries)),
            ("constants", format!("{:>6}", s.constants)),
        ],
    )?;
    section(
        "Structure",
        &[
            ("texture indirections", format!("{:>6}", s.indirections)),
            ("most open branches", format!("{:>6}", s.branch_levels)),
            ("loops", format!("{:>6}  ({} inside each other)", s.loops, s.loop_levels)),
            ("most open calls", format!("{:>6}", s.call_levels)),
        ],
    )?;
    if let Some((address, why)) = unstructured {
        return section(
            "Cost",
            &[(
                "longest path, cycles",
                format!("unknown: not structured, at @{address} {}", why.reason),
            )],
        );
    }
    let assumed = if unknown_trip_counts.is_empty() {
        String::new()
    } else {
        let ints: Vec<String> = unknown_trip_counts.iter().map(|n| format!("int[{n}]")).collect();
        format!("  (one iteration for loops of {}, not given)", ints.join(", "))
    };
    section(
        "Cost",
        &[
            ("longest path", format!("{:>6}  instructions, each loop once", s.longest_path)),
            ("estimated cycles", format!("{:>6}  to issue, at most{assumed}", s.cycles)),
        ],
    )
}
