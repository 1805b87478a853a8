//! Results of many tests or comparisons as JUnit XML, for build servers, and as SARIF, for code review.

use std::io::{self, Write};

use clap::ValueEnum;
use serde_json::{Value as Json, json};

/// The `--format` option of commands with a result for each program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ReportFormat {
    Text,
    Json,
    /// XML that build servers read.
    Junit,
    /// SARIF 2.1.0: the failures as results.
    Sarif,
}

/// The result of one program.
#[derive(Debug)]
pub(super) struct Case {
    pub(super) name: String,
    /// The file, if there is one.
    pub(super) file: Option<String>,
    pub(super) seconds: Option<f64>,
    pub(super) end: CaseEnd,
}

/// How it ended.
#[derive(Debug)]
pub(super) enum CaseEnd {
    Passed,
    /// There is nothing to decide, with the reason.
    Skipped(String),
    /// It failed as it is known to.
    Known(String),
    Failed(String),
    /// There is no verdict, with the reason.
    Error(String),
}

/// Writes cases as JUnit XML or SARIF.
///
/// # Panics
/// Debug builds, for the other formats, which the commands write.
pub(super) fn write(
    out: &mut impl Write,
    format: ReportFormat,
    tool: &str,
    cases: &[Case],
) -> io::Result<()> {
    debug_assert!(matches!(format, ReportFormat::Junit | ReportFormat::Sarif), "{format:?}");
    match format {
        ReportFormat::Junit => out.write_all(junit(tool, cases).as_bytes()),
        _ => writeln!(out, "{:#}", sarif(tool, cases)),
    }
}

fn junit(tool: &str, cases: &[Case]) -> String {
    let count = |is: &dyn Fn(&CaseEnd) -> bool| cases.iter().filter(|case| is(&case.end)).count();
    let failed = count(&|end| matches!(end, CaseEnd::Failed(_)));
    let errors = count(&|end| matches!(end, CaseEnd::Error(_)));
    let skipped = count(&|end| matches!(end, CaseEnd::Skipped(_) | CaseEnd::Known(_)));
    let seconds: f64 =
        cases.iter().filter_map(|case| case.seconds).fold(0.0, |sum, seconds| sum + seconds);
    let counts = format!(
        "tests=\"{}\" failures=\"{failed}\" errors=\"{errors}\" skipped=\"{skipped}\" time=\"{seconds:.3}\"",
        cases.len()
    );
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {counts}>\n  <testsuite name=\"{}\" {counts}>\n",
        escaped(tool)
    );
    for Case { name, file, seconds, end } in cases {
        let class = escaped(file.as_deref().unwrap_or(tool));
        let time = seconds.map_or(String::new(), |seconds| format!(" time=\"{seconds:.3}\""));
        text += &format!("    <testcase classname=\"{class}\" name=\"{}\"{time}", escaped(name));
        let element = match end {
            CaseEnd::Passed => {
                text += "/>\n";
                continue;
            }
            CaseEnd::Skipped(_) | CaseEnd::Known(_) => "skipped",
            CaseEnd::Failed(_) => "failure",
            CaseEnd::Error(_) => "error",
        };
        let message = message(end);
        let first = escaped(message.lines().next().unwrap_or_default());
        let all = escaped(message);
        text += &format!(
            ">\n      <{element} message=\"{first}\">{all}</{element}>\n    </testcase>\n"
        );
    }
    text + "  </testsuite>\n</testsuites>\n"
}

fn message(end: &CaseEnd) -> &str {
    match end {
        CaseEnd::Passed => "",
        CaseEnd::Skipped(text)
        | CaseEnd::Known(text)
        | CaseEnd::Failed(text)
        | CaseEnd::Error(text) => text,
    }
}

/// Returns text for an attribute or an element. Characters that XML cannot hold become U+FFFD.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\n' => out += "&#10;",
            '\t' => out += "&#9;",
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

const RULES: [(&str, &str); 2] = [
    ("failed", "The program does not do what is expected of it."),
    ("undecided", "There is no verdict on the program."),
];

fn sarif(tool: &str, cases: &[Case]) -> Json {
    let result = |case: &Case| {
        let (rule, level) = match case.end {
            CaseEnd::Passed | CaseEnd::Skipped(_) => return None,
            CaseEnd::Failed(_) => (0, "error"),
            CaseEnd::Known(_) => (0, "note"),
            CaseEnd::Error(_) => (1, "warning"),
        };
        let mut place =
            json!({ "logicalLocations": [{ "name": case.name, "fullyQualifiedName": case.name }] });
        if let Some(file) = &case.file {
            place["physicalLocation"] = json!({ "artifactLocation": { "uri": uri(file) } });
        }
        let mut result = json!({
            "ruleId": RULES[rule].0,
            "ruleIndex": rule,
            "level": level,
            "message": { "text": format!("{}: {}", case.name, message(&case.end)) },
            "locations": [place],
        });
        if matches!(case.end, CaseEnd::Known(_)) {
            result["baselineState"] = "unchanged".into();
        }
        Some(result)
    };
    let rules = RULES.map(|(id, text)| json!({ "id": id, "shortDescription": { "text": text } }));
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": tool,
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            } },
            "results": cases.iter().filter_map(result).collect::<Vec<_>>(),
        }],
    })
}

/// Returns a path as a URI: absolute, or relative to the working folder.
pub(super) fn uri(path: &str) -> String {
    let mut out = String::with_capacity(path.len() + 8);
    if path.starts_with('/') {
        out.push_str("file://");
    }
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                out.push(char::from(byte));
            }
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn paths_become_uris() {
        assert_eq!(uri("a b/c.r5"), "a%20b/c.r5");
        assert_eq!(uri("/tmp/\u{e9}#1"), "file:///tmp/%C3%A9%231");
    }

    #[test]
    fn text_is_escaped_for_xml() {
        assert_eq!(escaped("a<b>&\"c\"\n\x1b[1m"), "a&lt;b&gt;&amp;&quot;c&quot;&#10;\u{fffd}[1m");
    }

    #[test]
    fn counts_are_those_of_the_cases() {
        let case = |name: &str, end| Case {
            name: name.to_owned(),
            file: Some("a.json".to_owned()),
            seconds: Some(0.5),
            end,
        };
        let cases = [
            case("a", CaseEnd::Passed),
            case("b", CaseEnd::Failed("x\ny".to_owned())),
            case("c", CaseEnd::Error("no".to_owned())),
            case("d", CaseEnd::Known("old".to_owned())),
            case("e", CaseEnd::Skipped("nothing".to_owned())),
        ];
        let text = junit("r500 test", &cases);
        let head =
            "<testsuites tests=\"5\" failures=\"1\" errors=\"1\" skipped=\"2\" time=\"2.500\">";
        assert!(text.contains(head), "{text}");
        assert!(text.contains("<failure message=\"x\">x&#10;y</failure>"), "{text}");
        let sarif = sarif("r500 test", &cases);
        let results = sarif["runs"][0]["results"].as_array().unwrap();
        let levels: Vec<_> =
            results.iter().map(|result| result["level"].as_str().unwrap()).collect();
        assert_eq!(levels, ["error", "warning", "note"]);
        assert_eq!(results[2]["baselineState"], "unchanged");
    }
}
