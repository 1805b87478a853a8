//! Macros and repetitions: the lexer reads their bodies and arguments again each time they are used.
//!
//! Each use of a macro and each iteration of a repetition has a [`Scope`] of its own. A token belongs to the scope of
//! the text that it stands in: the body's, or, if it is of an argument, the scope of the use. Names are searched in the
//! scope of their token and in those around it, so what a body defines does not collide with another use, and does not
//! capture the names of an argument.

use std::sync::Arc;

use super::{Frame, FrameKind, Lexer, offset};
use crate::diagnostic::{Diagnostic, DiagnosticCode};
use crate::source::Span;
use r500_text::macros::{self, MacroWord, NoEnd};

/// A part of a file, and the scope of its names.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    pub(crate) span: Span,
    pub(crate) scope: u32,
}

/// A macro.
#[derive(Clone, Debug)]
pub(crate) struct Macro {
    pub(crate) name: Arc<str>,
    /// The span of its name in the definition.
    pub(crate) span: Span,
    /// Parameters in lower case, and their spans.
    pub(crate) parameters: Vec<(String, Span)>,
    pub(crate) body: Piece,
}

/// A use of a macro, or an iteration.
#[derive(Debug)]
pub(crate) struct Scope {
    /// The scope around the body. 0 is the whole source.
    pub(crate) parent: u32,
    /// The scope of the use.
    caller: u32,
    /// The statement that uses it.
    call: Span,
    used: Used,
}

#[derive(Debug)]
enum Used {
    Source,
    Macro { index: usize, arguments: Vec<Piece> },
    Iteration { counter: Option<Counter>, number: u32 },
}

/// The counter of a repetition.
#[derive(Clone, Debug)]
pub(crate) struct Counter {
    /// In lower case.
    pub(crate) name: Arc<str>,
    pub(crate) span: Span,
}

/// The rest of a repetition.
#[derive(Debug)]
pub(super) struct Repeat {
    count: u32,
    number: u32,
    parent: u32,
    caller: u32,
    call: Span,
    counter: Option<Counter>,
}

/// Letters of masks, swizzles and halves.
pub(crate) const SUFFIX_LETTERS: &[u8] = b"rgba01h_";

/// Bytes that a use of a parameter counts besides its argument, because short arguments take time, too.
const ARGUMENT_BYTES: usize = 16;

/// Limit of the arguments of a statement that messages can name.
const MAX_LEFT: usize = 64;

/// Limit of the uses that a message lists.
const MAX_TRACE: usize = 6;

impl Lexer<'_> {
    /// Returns the scope of the last token.
    pub(crate) fn scope(&self) -> u32 {
        self.current.scope
    }

    /// Returns how many texts are open around the last token.
    pub(crate) fn depth(&self) -> usize {
        self.outer.len()
    }

    /// Returns the scope around another one; `None` of the whole source.
    pub(crate) fn parent(&self, scope: u32) -> Option<u32> {
        match &self.scopes.get(scope as usize)?.used {
            Used::Source => None,
            _ => Some(self.scopes[scope as usize].parent),
        }
    }

    /// Returns the counter of a scope and its value, if it is of an iteration.
    pub(crate) fn counter(&self, scope: u32) -> Option<(&Counter, u32)> {
        match &self.scopes.get(scope as usize)?.used {
            Used::Iteration { counter: Some(counter), number } => Some((counter, *number)),
            _ => None,
        }
    }

    pub(super) fn source_scope() -> Scope {
        Scope { parent: 0, caller: 0, call: Span::default(), used: Used::Source }
    }

    /// Returns the body that begins after the last token, a `;`, and continues after the word that ends it.
    pub(crate) fn take_body(&mut self, opener: MacroWord) -> Result<Piece, Option<Span>> {
        let Frame { at, end, scope, .. } = self.current;
        match macros::body(&self.current.bytes, at, end, opener) {
            Ok((body, after)) => {
                self.current.at = after;
                Ok(Piece { span: self.span(body.start, body.end), scope })
            }
            Err(NoEnd::Other(range)) => Err(Some(self.span(range.start, range.end))),
            Err(NoEnd::Missing) => Err(None),
        }
    }

    /// Returns the arguments that follow the last token, and continues before the `;` that ends them.
    pub(crate) fn take_arguments(&mut self) -> Option<Vec<Piece>> {
        while matches!(self.current.kind, FrameKind::Argument { .. })
            && self.current.at == self.current.end
            && let Some(outer) = self.outer.pop()
        {
            self.current = outer;
        }
        let Frame { at, end, scope, .. } = self.current;
        let (list, after) = macros::arguments(&self.current.bytes, at, end)?;
        self.current.at = after;
        let piece =
            |part: std::ops::Range<usize>| Piece { span: self.span(part.start, part.end), scope };
        Some(list.into_iter().map(piece).collect())
    }

    /// Skips the rest of the innermost text.
    pub(crate) fn skip_text(&mut self) {
        self.current.at = self.current.end;
        if let FrameKind::Body { repeat } = &mut self.current.kind {
            *repeat = None;
        }
    }

    /// Reads the body of a macro next. `call` is the statement that uses it.
    pub(crate) fn expand(
        &mut self,
        index: usize,
        definition: &Macro,
        arguments: Vec<Piece>,
        call: Span,
    ) {
        let caller = self.current.scope;
        let body = definition.body;
        if !self.admit(body.span, call, self.open_bodies()) {
            return;
        }
        let used = Used::Macro { index, arguments };
        let scope = self.new_scope(Scope { parent: body.scope, caller, call, used });
        self.open(body.span, scope, FrameKind::Body { repeat: None });
    }

    /// Reads a body `count` times next.
    pub(crate) fn repeat(&mut self, body: Piece, count: u32, counter: Option<Counter>, call: Span) {
        if count == 0 || !self.admit(body.span, call, self.open_bodies()) {
            return;
        }
        let (parent, caller) = (body.scope, self.current.scope);
        let used = Used::Iteration { counter: counter.clone(), number: 0 };
        let scope = self.new_scope(Scope { parent, caller, call, used });
        let repeat = Repeat { count, number: 0, parent, caller, call, counter };
        self.open(body.span, scope, FrameKind::Body { repeat: Some(repeat) });
    }

    /// Continues with the next iteration, or with the text around the one that ended. Returns whether there is any.
    #[cold]
    pub(super) fn leave(&mut self) -> bool {
        if let FrameKind::Body { repeat } = &mut self.current.kind
            && let Some(mut next) = repeat.take()
        {
            next.number += 1;
            let body = self.span(self.current.start, self.current.end);
            if next.number < next.count && self.admit(body, next.call, 0) {
                let (parent, caller, call) = (next.parent, next.caller, next.call);
                let used = Used::Iteration { counter: next.counter.clone(), number: next.number };
                self.current.scope = self.new_scope(Scope { parent, caller, call, used });
                self.current.at = self.current.start;
                self.current.kind = FrameKind::Body { repeat: Some(next) };
                return true;
            }
        }
        if let FrameKind::Argument { used } = self.current.kind
            && self.left_arguments.len() < MAX_LEFT
        {
            self.left_arguments.push((self.text_of(&self.current), used));
        }
        match self.outer.pop() {
            Some(outer) => {
                self.current = outer;
                true
            }
            None => false,
        }
    }

    /// Reads the argument of a parameter in place of a word of a body, if the word is one. Returns whether it is.
    #[cold]
    pub(super) fn substitute(&mut self, start: usize, end: usize) -> bool {
        let Some(piece) = self.argument(start, end) else { return false };
        let used = self.span(start, end);
        self.current.at = end;
        if self.admit_argument(piece.span, used) {
            self.open(piece.span, piece.scope, FrameKind::Argument { used });
        }
        true
    }

    fn argument(&self, start: usize, end: usize) -> Option<Piece> {
        let word = self.current.bytes.get(start..end)?;
        let mut scope = self.current.scope;
        loop {
            let here = self.scopes.get(scope as usize)?;
            match &here.used {
                Used::Source => return None,
                Used::Macro { index, arguments } => {
                    let parameters = &self.macros.get(*index)?.parameters;
                    let place = parameters.iter().position(|(name, _)| {
                        name.len() == word.len() && name.as_bytes().eq_ignore_ascii_case(word)
                    });
                    if let Some(place) = place {
                        let bytes = &self.current.bytes;
                        let is = macros::may_be_parameter(bytes, start..end, SUFFIX_LETTERS);
                        return arguments.get(place).copied().filter(|_| is);
                    }
                }
                Used::Iteration { counter, .. } => {
                    // A counter hides the parameters around it.
                    if counter
                        .as_ref()
                        .is_some_and(|c| c.name.as_bytes().eq_ignore_ascii_case(word))
                    {
                        return None;
                    }
                }
            }
            scope = here.parent;
        }
    }

    fn new_scope(&mut self, scope: Scope) -> u32 {
        self.scopes.push(scope);
        offset(self.scopes.len() - 1)
    }

    fn open(&mut self, span: Span, scope: u32, kind: FrameKind) {
        let Some(file) = self.files.list.get(span.file as usize) else { return };
        let (start, end) = (span.start as usize, span.end as usize);
        let frame = Frame {
            at: start,
            start,
            end,
            scope,
            kind,
            ..Frame::new(span.file, file.bytes.clone())
        };
        self.outer.push(std::mem::replace(&mut self.current, frame));
    }

    /// Returns how many bodies are open.
    fn open_bodies(&self) -> usize {
        let frames = self.outer.iter().chain([&self.current]);
        frames.filter(|frame| matches!(frame.kind, FrameKind::Body { .. })).count()
    }

    /// Counts a body that is read again, in others; past a limit, reports the first, and returns `false`.
    fn admit(&mut self, text: Span, place: Span, depth: usize) -> bool {
        let limits = self.expansion_limits;
        let message = if depth >= limits.depth {
            Some("macros and repetitions are nested too deeply")
        } else if self.scopes.len() > limits.count {
            Some("too many uses of macros and iterations")
        } else {
            None
        };
        self.within_limits(message, text, 1, place)
    }

    /// Counts an argument that is read again; past a limit, reports the first, and returns `false`.
    fn admit_argument(&mut self, text: Span, place: Span) -> bool {
        self.within_limits(None, text, ARGUMENT_BYTES, place)
    }

    fn within_limits(
        &mut self,
        message: Option<&str>,
        text: Span,
        more: usize,
        place: Span,
    ) -> bool {
        if self.past_expansion_limit {
            return false;
        }
        let limits = self.expansion_limits;
        self.expanded_bytes += (text.end - text.start) as usize + more;
        let too_much = self.expanded_bytes > limits.bytes;
        let bytes = too_much.then_some("macros and repetitions produce too much text");
        let Some(message) = message.or(bytes) else { return true };
        self.past_expansion_limit = true;
        let mut diagnostic = Diagnostic::new(DiagnosticCode::ExpansionLimit, place, message)
            .label("from here on nothing is expanded")
            .help(format!(
                "the limits are {} uses and iterations, {} bytes, nested {} deep",
                limits.count, limits.bytes, limits.depth
            ));
        self.trace_scope(self.body_scope(), &mut diagnostic);
        self.diagnostics.push(diagnostic);
        false
    }

    /// Returns the scope of the innermost body around the last token, 0 outside of all.
    pub(crate) fn body_scope(&self) -> u32 {
        let mut frames = std::iter::once(&self.current).chain(self.outer.iter().rev());
        let body = frames.find(|frame| matches!(frame.kind, FrameKind::Body { .. }));
        body.map_or(0, |frame| frame.scope)
    }

    /// Adds the parameters that the text of a diagnostic is in place of: of the arguments that are open, and of those
    /// that the statement has read.
    pub(crate) fn trace_argument(&self, diagnostic: &mut Diagnostic) {
        let frames = std::iter::once(&self.current).chain(self.outer.iter().rev());
        let open = frames.map_while(|frame| match frame.kind {
            FrameKind::Argument { used } => Some((self.text_of(frame), used)),
            _ => None,
        });
        let all: Vec<(Span, Span)> =
            open.chain(self.left_arguments.iter().rev().copied()).collect();
        let mut place = diagnostic.span;
        for (text, used) in all {
            let inside =
                text.file == place.file && text.start <= place.start && place.start < text.end;
            if inside && diagnostic.related.len() < MAX_TRACE {
                diagnostic.related.push((used, "used here".to_owned()));
                place = used;
            }
        }
    }

    /// Forgets the arguments that were read, at the start of a statement.
    pub(crate) fn forget_arguments(&mut self) {
        self.left_arguments.clear();
    }

    fn text_of(&self, frame: &Frame) -> Span {
        Span { file: frame.file, start: offset(frame.start), end: offset(frame.end) }
    }

    /// Adds where a scope is used, for messages about text that was read before.
    pub(crate) fn trace_scope(&self, mut scope: u32, diagnostic: &mut Diagnostic) {
        for _ in 0..MAX_TRACE {
            let Some(here) = self.scopes.get(scope as usize) else { return };
            if matches!(here.used, Used::Source) {
                return;
            }
            let place = self.use_of(scope);
            if diagnostic.related.last() != Some(&place) {
                diagnostic.related.push(place);
            }
            scope = here.caller;
        }
    }

    fn use_of(&self, scope: u32) -> (Span, String) {
        let Some(scope) = self.scopes.get(scope as usize) else { return Default::default() };
        let text = match &scope.used {
            Used::Source => String::new(),
            Used::Macro { index, .. } => {
                let name = self.macros.get(*index).map_or("", |found| &found.name);
                format!("in this use of `{name}`")
            }
            Used::Iteration { number, counter: Some(counter) } => {
                format!("in the iteration with {} = {number}", counter.name)
            }
            Used::Iteration { number, .. } => format!("in iteration {number}, from 0"),
        };
        (scope.call, text)
    }

    /// Returns the depth of the outermost argument, deeper than `above`, of which a token, the last one, is the first.
    pub(crate) fn argument_at(&self, token: Span, above: usize) -> Option<usize> {
        let mut found = None;
        let mut place = token;
        for depth in (above + 1..=self.outer.len()).rev() {
            let frame = self.outer.get(depth).unwrap_or(&self.current);
            let FrameKind::Argument { used } = frame.kind else { break };
            if frame.file != place.file || frame.start != place.start as usize {
                break;
            }
            found = Some(depth);
            place = used;
        }
        found
    }

    /// Returns the outermost statement that uses a macro or repeats around a scope.
    pub(crate) fn outermost_use(&self, mut scope: u32) -> Option<Span> {
        let mut call = None;
        while let Some(here) = self.scopes.get(scope as usize)
            && !matches!(here.used, Used::Source)
        {
            call = Some(here.call);
            scope = here.caller;
        }
        call
    }
}
