//! Diagnostics of the assembler and the checker together, and the fixes for them.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, clippy::expect_used, clippy::panic)]

use std::path::Path;

use r500::asm::ide::{Analysis, TextEdit};
use r500::asm::{Options, assemble};
use r500::check::Severity;
use r500::service::{self, SourceDiagnostic};

fn analysis(source: &str) -> Analysis {
    Analysis::new(source.as_bytes(), Options::default())
}

fn diagnostics(source: &str) -> Vec<SourceDiagnostic> {
    service::diagnostics(&analysis(source))
}

fn apply(source: &str, edits: &[TextEdit]) -> String {
    let mut edits: Vec<&TextEdit> = edits.iter().collect();
    edits.sort_by_key(|edit| std::cmp::Reverse(edit.span));
    let mut out = source.to_owned();
    for edit in edits {
        out.replace_range(edit.span.start as usize..edit.span.end as usize, &edit.text);
    }
    out
}

fn codes(source: &str) -> Vec<&'static str> {
    diagnostics(source).iter().map(|problem| problem.code).collect()
}

const WAITS: &str = "\
US_PIXSIZE = PIX_SIZE(2) ; INPUT temp[0] = uv ;
TEX temp[1].rgba = LD tex[0].rgba temp[0].rgba ;
  src0.rgb = temp[1] : alu[lt].r = MAX src0.rgb src0.rgb ;
IF alu ALU_WAIT ;
  OUT : out[0].rgb = MAX src0.111 src0.111 ;
ENDIF ALU_WAIT ;
OUT LAST : out[0].rgba = MAX src0.111 src0.111 ;
";

#[test]
fn language_errors_have_fixes() {
    let source = ": temp[0].rgb = MDA src0.rgb src0.111 src0.000 ;";
    let [problem] = &diagnostics(source)[..] else { panic!() };
    assert_eq!((problem.code, problem.severity), ("E0301", Severity::Error));
    assert_eq!(&source[problem.span.start as usize..problem.span.end as usize], "MDA");
    let fixed = apply(source, &problem.repairs[0].edits);
    assert_eq!(fixed, source.replace("MDA", "MAD"));
    assert!(assemble(fixed.as_bytes(), Options::default()).is_ok());
}

#[test]
fn findings_come_with_safe_repairs_and_can_be_allowed() {
    let source = WAITS.replace("rgba = MAX", "rgb = MAX");
    // The read of what a fetch brings, without waiting for it.
    let all = diagnostics(&source);
    let wait = all.iter().find(|problem| problem.code == "R5042").expect("R5042");
    let [fix, allow] = &wait.repairs[..] else { panic!("{:?}", wait.repairs) };
    assert!(fix.safe && fix.resolves && !allow.resolves);
    let fixed = apply(&source, &fix.edits);
    assert!(fixed.contains("TEX_SEM_WAIT src0.rgb = temp[1]"), "{fixed}");
    assert!(!codes(&fixed).contains(&"R5042"));

    let allowed = apply(&source, &allow.edits);
    assert!(allowed.contains("\n  -- r500: allow(R5042)\n  src0.rgb = temp[1]"), "{allowed}");
    let left = codes(&allowed);
    assert!(!left.contains(&"R5042") && left.len() + 1 == all.len());
    assert_eq!(codes("-- r500: allow(R9999)\nOUT : out[0].rgb = MAX src0.111 src0.111 ;")[0], "");

    let again = |text: &[u8]| assemble(text, Options::default());
    let fixed = service::fix_all(&analysis(&source), again).unwrap();
    let fixed = String::from_utf8(fixed).unwrap();
    assert!(!codes(&fixed).contains(&"R5042"));
    assert_eq!(service::fix_all(&analysis(&fixed), again), None);
}

/// Half a source is not checked; one without instructions (names to include) has nothing to check.
#[test]
fn the_checker_is_asked_about_programs_only() {
    assert!(codes("").is_empty() && codes("DEF a1 = temp[0] ;\n").is_empty());
    assert!(codes(&WAITS.replace("ENDIF ALU_WAIT ;", "")).iter().all(|code| code.starts_with('E')));
}

#[test]
fn every_code_has_its_page_and_place_in_the_guide() {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src");
    let all = r500::check::LintCode::ALL.iter().map(|code| code.info().number);
    let all = all.chain(r500::asm::DiagnosticCode::ALL.iter().map(|code| code.name()));
    for code in all {
        assert!(service::explain(code).unwrap().starts_with(&format!("## {code}: ")));
        let link = service::guide(code).unwrap();
        let (page, anchor) = link.split_once(".html#").unwrap();
        let page = std::fs::read_to_string(guide.join(format!("{page}.md"))).unwrap();
        // As mdBook makes anchors of headings.
        let found = page.lines().filter_map(|line| line.strip_prefix("## ")).any(|heading| {
            let kept = |c: &char| c.is_alphanumeric() || " -_".contains(*c);
            let made: String = heading.chars().filter(kept).collect();
            made.to_lowercase().replace(' ', "-") == anchor
        });
        assert!(found, "{link}");
    }
    assert_eq!(service::explain("E9999").or(service::guide("R1")), None);
}

#[test]
fn codes_in_comments_are_explained_and_offered() {
    let source = ": ; -- r500: allow(R5038, dead-write) not like R5042, dead-write";
    let hover = |needle: &str, nth: usize| {
        let (at, _) = source.match_indices(needle).nth(nth).unwrap();
        service::hover(&analysis(source), at + 1).map(|hover| hover.text)
    };
    assert!(hover("R5038", 0).unwrap().starts_with("## R5038: "));
    assert_eq!(hover("R5038", 0), hover("dead-write", 0));
    assert!(
        hover("R5042", 0).is_some()
            && hover("dead-write", 1).is_none()
            && hover("like", 0).is_none()
    );
    let offered = |source: &str| service::completions(&analysis(source), source.len());
    assert_eq!(offered(": ; -- r500: allow(R50").len(), r500::check::LintCode::ALL.len());
    assert!(offered(": ; -- r500: allow(R5038)").is_empty() && offered("-- OU").is_empty());
    assert!(!offered("OU").is_empty());
}

/// Of every repair of every example of an error: its text assembles to fewer diagnostics, or to others.
#[test]
fn repairs_of_every_error_change_something() {
    let mut tried = 0;
    for code in r500::asm::DiagnosticCode::ALL {
        let source = code.info().example;
        for problem in diagnostics(source) {
            for repair in problem.repairs.iter().filter(|repair| repair.resolves) {
                let fixed = apply(source, &repair.edits);
                let now = diagnostics(&fixed);
                let still = now.iter().any(|p| p.code == problem.code && p.span == problem.span);
                assert!(!still, "{source}\n{fixed}");
                tried += 1;
            }
        }
    }
    assert!(tried >= 5, "{tried}");
}
