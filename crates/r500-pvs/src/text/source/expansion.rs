//! `DEF`, `.macro`, `.rept` and uses of macros. The rules of their text are those of fragment programs
//! ([`r500_text::macros`]).
//!
//! A body is read again for each use. Its parameters are replaced by the text of the arguments, in which names of
//! numbers, and whole expressions, are their values: an argument means what it means where the macro is used.

use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use r500_text::macros::{self, MAX_PARAMETERS, MacroWord, NoEnd};
use r500_text::raw_tokens::{RawTokenKind, raw_tokens};

use super::super::names;
use super::super::numbers::{Macro, Named, number, operand, whole};
use super::super::values::Wrong;
use super::{Include, Reader, SyntaxError};

/// Limit of the iterations of one repetition.
const MAX_COUNT: u32 = 1 << 16;

/// Letters of masks and of components of sources.
const SUFFIX_LETTERS: &[u8] = b"xyzw01h_";

/// Words that are not names, besides those of registers.
const RESERVED: [&str; 7] = ["al", "name", "fill", "flow", "expect", "def", "for"];

impl Reader {
    /// Parses what follows `DEF`.
    pub(super) fn define_number(&mut self, rest: &str) -> Result<(), Wrong> {
        const HELP: &str = "write `DEF rows = 4 ;` or `DEF third = 1/3 ;`";
        let (name, value) = rest.split_once('=').ok_or(("expected `=`".to_owned(), HELP))?;
        let value = number(value, &self.names).map_err(|error| (error.message, HELP))?;
        self.define(name.trim(), Named::Number(value))
    }

    fn define(&mut self, name: &str, value: Named) -> Result<(), Wrong> {
        const HELP: &str = "names have letters, digits and `_`, do not begin with a digit, and are not words of the language";
        let lower = name.to_ascii_lowercase();
        if !is_name(&lower) {
            return Err((format!("`{name}` cannot be a name"), HELP));
        }
        let Some(scope) = self.names.scopes.last_mut() else { return Ok(()) };
        if scope.insert(lower, value).is_some() {
            return Err((
                format!("`{name}` is defined twice"),
                "a name stands for one number or macro",
            ));
        }
        Ok(())
    }

    /// Reads a statement that begins with a point, at `at`. Returns where the next one begins; `None` for one that is
    /// not of a body.
    pub(super) fn body_statement(
        &mut self,
        text: &str,
        at: usize,
        include: &mut Include<'_>,
        open: &mut Vec<String>,
    ) -> Option<usize> {
        let rest = &text[at + 1..];
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let word = MacroWord::from_name(&rest.as_bytes()[..end])?;
        let span = at..at + 1 + end;
        if word.end().is_none() {
            self.push(SyntaxError::new(span.clone(), format!("`{}` ends nothing", word.text())));
            return Some(after_semicolon(text, span.end));
        }
        let Some(semicolon) = text[span.end..].find(';').map(|length| span.end + length) else {
            self.push(SyntaxError::new(span, "the statement has no end").help("end it with `;`"));
            return Some(text.len());
        };
        let header = text[span.end..semicolon].trim();
        let whole_span = at..at + text[at..semicolon].trim_end().len();
        let (body, end) = match macros::body(text.as_bytes(), semicolon + 1, text.len(), word) {
            Ok(found) => found,
            Err(error) => {
                let end = word.end().map_or("", MacroWord::text);
                let message = format!("`{}` without `{end}`", word.text());
                let error = SyntaxError::new(whole_span, message).help(match error {
                    NoEnd::Missing => format!("end it with `{end} ;`"),
                    NoEnd::Other(place) => {
                        format!("`{}` comes first; write `{end} ;` before it", &text[place])
                    }
                });
                self.push(error);
                return Some(text.len());
            }
        };
        let done = match word {
            MacroWord::Macro => self.define_macro(header, text, body),
            _ => self.repeat(header, text, body, whole_span.clone(), include, open),
        };
        if let Err((message, help)) = done {
            self.push(SyntaxError::new(whole_span, message).help(help));
        }
        Some(after_semicolon(text, end))
    }

    fn define_macro(&mut self, header: &str, text: &str, body: Range<usize>) -> Result<(), Wrong> {
        const HELP: &str = "write `.macro name parameter, parameter ; … .endm ;`";
        let name = header.split(|c: char| c.is_whitespace()).next().unwrap_or_default();
        let list = header[name.len()..].trim();
        let mut parameters: Vec<String> = Vec::new();
        for parameter in list.split(',').map(str::trim).filter(|_| !list.is_empty()) {
            let lower = parameter.to_ascii_lowercase();
            if !is_name(&lower) {
                return Err((format!("`{parameter}` cannot be a parameter"), HELP));
            }
            if parameters.contains(&lower) || parameters.len() == MAX_PARAMETERS {
                let message = format!("`{parameter}` is given twice, or is one of too many");
                return Err((message, HELP));
            }
            parameters.push(lower);
        }
        let line = text[..body.start].matches('\n').count() + 1;
        let body = text[body].to_owned();
        let found = Macro { name: name.to_owned(), parameters, body, line };
        self.define(name, Named::Macro(Rc::new(found)))
    }

    fn repeat(
        &mut self,
        header: &str,
        text: &str,
        body: Range<usize>,
        span: Range<usize>,
        include: &mut Include<'_>,
        open: &mut Vec<String>,
    ) -> Result<(), Wrong> {
        const HELP: &str = "write `.rept 4 ; … .endr ;`, or `.rept 4, i ;` to count from 0";
        // The counter is after the last comma that is not in brackets; names have no brackets.
        let (count, counter) = match header.rsplit_once(',') {
            Some((count, name)) if is_name(&name.trim().to_ascii_lowercase()) => {
                (count, Some(name.trim().to_ascii_lowercase()))
            }
            _ => (header, None),
        };
        let count = whole(count.trim(), MAX_COUNT, &self.names).ok_or_else(|| {
            (format!("`{}` is not a number of iterations up to {MAX_COUNT}", count.trim()), HELP)
        })?;
        for number in 0..count {
            if !self.admit(body.len(), span.clone()) {
                return Ok(());
            }
            let name = counter.iter().map(|name| (name.clone(), Named::Number(number.into())));
            self.names.scopes.push(name.collect());
            let errors = self.errors.len();
            self.depth += 1;
            self.read_part(text, body.clone(), include, open);
            self.depth -= 1;
            self.names.scopes.pop();
            if self.errors.len() > errors {
                // The other iterations have the same.
                return Ok(());
            }
        }
        Ok(())
    }

    /// Reads the use of a macro at `at`. Returns where the next statement begins; `None` if it is not one.
    pub(super) fn macro_use(
        &mut self,
        text: &str,
        at: usize,
        include: &mut Include<'_>,
        open: &mut Vec<String>,
    ) -> Option<usize> {
        let rest = &text[at..];
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        let (Named::Macro(found), scopes) = self.names.find(&rest[..end])? else { return None };
        let found = found.clone();
        let word = at..at + end;
        let Some((list, semicolon)) = macros::arguments(text.as_bytes(), word.end, text.len())
        else {
            self.push(
                SyntaxError::new(word, "the use of a macro has no end").help("end it with `;`"),
            );
            return Some(text.len());
        };
        let span = at..at + text[at..semicolon].trim_end().len();
        if list.len() != found.parameters.len() {
            let (wanted, given) = (found.parameters.len(), list.len());
            let takes = match wanted {
                0 => "no arguments".to_owned(),
                1 => "one argument".to_owned(),
                _ => format!("{wanted} arguments"),
            };
            let message = format!("`{}` takes {takes}, not {given}", found.name);
            let help = format!("write `{} {} ;`", found.name, found.parameters.join(", "));
            self.push(SyntaxError::new(span, message).help(help));
            return Some(semicolon + 1);
        }
        let arguments: Vec<String> =
            list.into_iter().map(|part| self.argument(&text[part])).collect();
        let body = substitute(&found, &arguments);
        if self.admit(body.len(), span.clone()) {
            self.read_body(&found, &body, scopes, &span, include, open);
        }
        Some(semicolon + 1)
    }

    fn read_body(
        &mut self,
        found: &Macro,
        body: &str,
        scopes: usize,
        span: &Range<usize>,
        include: &mut Include<'_>,
        open: &mut Vec<String>,
    ) {
        let (code, errors) = (self.code.len(), self.errors.len());
        let expectations = self.expectations.len();
        // The body has the names around its definition, not those around its use.
        let around = self.names.scopes.split_off(scopes);
        self.names.scopes.push(HashMap::new());
        self.depth += 1;
        self.read_part(body, 0..body.len(), include, open);
        self.depth -= 1;
        self.names.scopes.truncate(scopes);
        self.names.scopes.extend(around);
        self.code[code..].iter_mut().for_each(|(_, place)| *place = span.clone());
        self.expectations[expectations..].iter_mut().for_each(|e| e.span = span.clone());
        for error in &mut self.errors[errors..] {
            let head = &body[..error.span.start.min(body.len())];
            let line = found.line + head.matches('\n').count();
            error.message = format!("in `{}`, line {line}: {}", found.name, error.message);
            error.span = span.clone();
        }
    }

    /// Returns an argument as it means where the macro is used.
    fn argument(&self, text: &str) -> String {
        if let Ok(value) = number(text, &self.names) {
            return operand(value);
        }
        replace_words(text, |word| {
            let value = self.names.number(&text[word.clone()])?;
            let is = macros::may_be_parameter(text.as_bytes(), word, SUFFIX_LETTERS);
            is.then(|| operand(value))
        })
    }

    /// Counts a text that is read again; past a limit, reports the first, and returns `false`.
    fn admit(&mut self, bytes: usize, span: Range<usize>) -> bool {
        if self.past_limit {
            return false;
        }
        let limits = macros::ExpansionLimits::default();
        self.expansions += 1;
        self.expanded_bytes += bytes + 1;
        let inside = self.depth < limits.depth
            && self.expansions <= limits.count
            && self.expanded_bytes <= limits.bytes;
        if !inside {
            self.past_limit = true;
            let message = "macros and repetitions produce too much";
            self.push(SyntaxError::new(span, message).help(format!(
                "the limits are {} uses and iterations, {} bytes, nested {} deep",
                limits.count, limits.bytes, limits.depth
            )));
        }
        inside
    }
}

/// Returns whether a word, in lower case, can be a name.
fn is_name(word: &str) -> bool {
    let letters = word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    letters
        && word.starts_with(|c: char| !c.is_ascii_digit())
        && !RESERVED.contains(&word)
        && !names::DESTINATIONS.iter().any(|(_, name)| *name == word)
        && !names::SOURCES.iter().any(|(_, name)| *name == word)
        && !word.starts_with("vap_")
}

/// Returns the body of a macro with arguments in place of its parameters.
fn substitute(found: &Macro, arguments: &[String]) -> String {
    replace_words(&found.body, |word| {
        let lower = found.body[word.clone()].to_ascii_lowercase();
        let place = found.parameters.iter().position(|parameter| *parameter == lower)?;
        let is = macros::may_be_parameter(found.body.as_bytes(), word, SUFFIX_LETTERS);
        arguments.get(place).filter(|_| is).cloned()
    })
}

/// Returns a text with some of its words replaced.
fn replace_words(
    text: &str,
    mut replacement: impl FnMut(Range<usize>) -> Option<String>,
) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for token in raw_tokens(text.as_bytes()).filter(|token| token.kind == RawTokenKind::Word) {
        if let Some(new) = replacement(token.range()) {
            out.push_str(&text[from..token.start]);
            out.push_str(&new);
            from = token.end;
        }
    }
    out.push_str(&text[from..]);
    out
}

/// Returns the place after the next `;`, if only white space is before it.
fn after_semicolon(text: &str, at: usize) -> usize {
    let rest = &text[at..];
    let trimmed = rest.trim_start();
    if trimmed.starts_with(';') { at + rest.len() - trimmed.len() + 1 } else { at }
}
