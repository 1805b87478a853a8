//! Source of an optimised program, with the text of unchanged instructions preserved.

use std::ops::Range;

use r500_asm::{Assembly, Options, assemble, print_code};
use r500_isa::state::{UsCodeAddr, UsCodeRange, UsPixsize};
use r500_program::{Job, Program};

use super::{Checked, Evidence};

/// Returns the source of an optimised program. Directives, comments and names around the instructions stay, and so do
/// the lines of unchanged instructions with the comments above them. Other instructions are printed. `job_of` returns
/// the job of a source that assembles, with its textures.
///
/// `None` if no such text assembles to the result, for example if instructions are in an included file.
#[must_use]
pub fn rewrite_source(
    original: &Assembly,
    checked: &Checked,
    job_of: &dyn Fn(&str) -> Option<Job>,
) -> Option<String> {
    let source = str::from_utf8(&original.files.list.first()?.bytes).ok()?;
    if checked.evidence == Evidence::Unchanged || checked.evidence.is_refusal() {
        return Some(source.to_owned());
    }
    let program = &checked.job.program;
    let printed = print_code(&program.code, program.state.base_address());
    let kept = with_kept_lines(original, source, checked, &printed);
    let mut listings = kept.into_iter().chain([printed]);
    listings.find_map(|listing| {
        let text = in_place(original, source, program, &listing)?;
        (job_of(&text)? == checked.job).then_some(text)
    })
}

/// Returns the source with its instructions replaced by a listing, and with the sizes of the result.
fn in_place(original: &Assembly, text: &str, result: &Program, listing: &str) -> Option<String> {
    let spans = &original.spans;
    if spans.iter().any(|span| span.file != 0) {
        return None;
    }
    let first = lines(text, byte_range(spans.first()?)).start;
    let last = lines(text, byte_range(spans.last()?)).end;
    let mut before = text.get(..first)?.to_owned();
    let mut after = text.get(last..)?.to_owned();
    let state = &result.state;
    for part in [&mut before, &mut after] {
        let sizes = [
            ("PIX_SIZE", state.pixsize.map(|size| UsPixsize::PIX_SIZE.code(size))),
            ("END_ADDR", state.code_addr.map(|addr| UsCodeAddr::END_ADDR.code(addr))),
            ("CODE_SIZE", state.code_range.map(|range| UsCodeRange::CODE_SIZE.code(range))),
        ];
        for (field, value) in sizes {
            if let Some(value) = value {
                *part = with_field(part, field, value);
            }
        }
    }
    Some(format!("{before}{listing}{after}"))
}

/// Replaces the number in the parentheses after the name of a field.
fn with_field(text: &str, field: &str, value: u32) -> String {
    let name = format!("{field}(");
    let mut parts = text.split(&name);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.find(')').map_or(part, |end| &part[end..]);
        out += &format!("{name}{value}{rest}");
    }
    out
}

/// Returns a listing in which unchanged instructions have the lines of the source, with their comments.
fn with_kept_lines(
    original: &Assembly,
    source: &str,
    checked: &Checked,
    printed: &str,
) -> Option<String> {
    let listing = assemble(printed.as_bytes(), Options::default());
    let [old, new] = [original, &listing].map(|one| &one.spans);
    let origins = &checked.optimized.origins;
    if new.len() != origins.len() {
        return None;
    }
    let blocks: Vec<Range<usize>> =
        old.iter().map(|span| lines(source, byte_range(span))).collect();
    let mut text = printed.to_owned();
    for (at, (span, origins)) in new.iter().zip(origins).enumerate().rev() {
        let &[origin] = &origins[..] else { continue };
        let origin = origin as usize;
        let stays = original.job.program.code.get(origin) == checked.job.program.code.get(at);
        let alone = |block: &Range<usize>| {
            blocks.iter().filter(|other| other.start < block.end && block.start < other.end).count()
                == 1
        };
        let Some(block) = blocks.get(origin).filter(|block| stays && alone(block)) else {
            continue;
        };
        let block = source.get(with_comments(source, block.clone()))?;
        let place = lines(printed, byte_range(span));
        let printed_line = printed.get(place.clone())?;
        let indent = |text: &str| text.len() - text.trim_start_matches(' ').len();
        text.replace_range(place, &indented(block, indent(printed_line), indent(block)));
    }
    Some(text)
}

/// Changes the indentation of a block's first line, and moves the other lines with it.
fn indented(block: &str, wanted: usize, found: usize) -> String {
    let line = |line: &str| {
        let own = line.len() - line.trim_start_matches(' ').len();
        let spaces = (own + wanted).saturating_sub(found);
        format!("{}{}", " ".repeat(spaces), line.trim_start_matches(' '))
    };
    block.split_inclusive('\n').map(line).collect()
}

fn byte_range(span: &r500_asm::Span) -> Range<usize> {
    span.start as usize..span.end as usize
}

/// Returns the full lines around a part of a text, including the last line ending.
fn lines(text: &str, part: Range<usize>) -> Range<usize> {
    let start = text[..part.start].rfind('\n').map_or(0, |at| at + 1);
    let end = text[part.end..].find('\n').map_or(text.len(), |at| part.end + at + 1);
    start..end
}

/// Extends a block of lines by the comment lines directly above it.
fn with_comments(text: &str, block: Range<usize>) -> Range<usize> {
    let mut start = block.start;
    while start > 0 {
        let above = lines(text, start - 1..start - 1);
        if !text[above.clone()].trim_start().starts_with("--") {
            break;
        }
        start = above.start;
    }
    start..block.end
}
