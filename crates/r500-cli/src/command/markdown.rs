//! Rendering of simple Markdown, as in reference pages, for a terminal.

/// Renders Markdown as text: headings without marks, indented code blocks, `code` and *emphasis* as colours; without
/// `colors`, code keeps its marks and emphasis loses them. Ends with a line end.
pub(super) fn render(markdown: &str, colors: bool) -> String {
    let mut out = String::with_capacity(markdown.len());
    let mut in_block = false;
    for line in markdown.trim_end().lines() {
        if line.starts_with("```") {
            in_block = !in_block;
            continue;
        }
        if in_block {
            out.push_str(if line.is_empty() { "" } else { "    " });
            out.push_str(line);
        } else if let Some(heading) = heading(line) {
            out.push_str(&paint(heading, "1", colors));
        } else {
            spans(line, colors, &mut out);
        }
        out.push('\n');
    }
    out
}

/// Returns the text of a heading.
fn heading(line: &str) -> Option<&str> {
    line.trim_start_matches('#').strip_prefix(' ').filter(|_| line.starts_with('#'))
}

/// Appends a line of text.
fn spans(mut line: &str, colors: bool, out: &mut String) {
    while let Some(at) = line.find(['`', '*']) {
        let (before, rest) = line.split_at(at);
        out.push_str(before);
        let mark = &rest[..1];
        match rest[1..].split_once(mark) {
            Some((code, after)) if mark == "`" => {
                if colors {
                    out.push_str(&paint(code, "36", colors));
                } else {
                    out.push_str(&rest[..code.len() + 2]);
                }
                line = after;
            }
            // `A*B` is a product, not emphasis.
            Some((text, after))
                if starts_word(before) && !text.starts_with(' ') && !text.is_empty() =>
            {
                out.push_str(&paint(text, "3", colors));
                line = after;
            }
            _ => {
                out.push_str(mark);
                line = &rest[1..];
            }
        }
    }
    out.push_str(line);
}

/// Returns whether a word can begin after this text.
fn starts_word(before: &str) -> bool {
    before.chars().next_back().is_none_or(char::is_whitespace)
}

fn paint(text: &str, code: &str, colors: bool) -> String {
    if colors { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::render;

    #[test]
    fn blocks_are_indented_and_marks_are_gone() {
        let page = "## R1: name\n\n*error* of `A*B + C` and A*B*C.\n\n```text\nMAD\n\nDP3\n```\n";
        assert_eq!(
            render(page, false),
            "R1: name\n\nerror of `A*B + C` and A*B*C.\n\n    MAD\n\n    DP3\n"
        );
        assert_eq!(
            render(page, true).lines().nth(2),
            Some("\x1b[3merror\x1b[0m of \x1b[36mA*B + C\x1b[0m and A*B*C.")
        );
    }
}
