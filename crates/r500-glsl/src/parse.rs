//! The parser: tokens become a tree. It finds all errors of syntax, one for each statement.

use std::collections::HashMap;

use crate::ast::{
    Binary, Declaration, Declarator, Expr, ExprKind, Function, Item, Parameter, Qualifiers, Source,
    Stmt, StmtKind, Storage, TypeName, Unary,
};
use crate::diagnostic::{Diagnostic, Diagnostics, Span};
use crate::lexer::{Tok, Token};

/// Most expressions and statements inside of each other.
const MOST_DEPTH: usize = 128;

/// Most levels of an expression, such as terms of a sum.
const MOST_LEVELS: usize = 256;

/// Words that are not names.
pub(crate) const KEYWORDS: [&str; 32] = [
    "attribute",
    "const",
    "uniform",
    "varying",
    "break",
    "continue",
    "do",
    "for",
    "while",
    "if",
    "else",
    "in",
    "out",
    "inout",
    "true",
    "false",
    "lowp",
    "mediump",
    "highp",
    "precision",
    "invariant",
    "discard",
    "return",
    "struct",
    "void",
    "switch",
    "case",
    "default",
    "centroid",
    "flat",
    "smooth",
    "layout",
];

pub(crate) fn parse(tokens: &[Token], diagnostics: &mut Diagnostics) -> Source {
    let mut parser = Parser { tokens, at: 0, diagnostics, depth: 0, indices: HashMap::new() };
    let mut items = Vec::new();
    while !parser.is_end() {
        let before = parser.at;
        match parser.item() {
            Ok(item) => items.extend(item),
            Err(Broken) => parser.recover(true),
        }
        if parser.at == before {
            parser.at += 1;
        }
    }
    Source { items, indices: parser.indices }
}

/// An error that was reported.
struct Broken;
type Parsed<T> = Result<T, Broken>;

struct Parser<'a> {
    tokens: &'a [Token],
    at: usize,
    diagnostics: &'a mut Diagnostics,
    depth: usize,
    /// As of [`Source`].
    indices: HashMap<Box<str>, i64>,
}

impl Parser<'_> {
    fn peek(&self) -> &Token {
        &self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    fn peek_at(&self, ahead: usize) -> &Token {
        &self.tokens[(self.at + ahead).min(self.tokens.len() - 1)]
    }

    fn is_end(&self) -> bool {
        self.peek().tok == Tok::End
    }

    fn previous(&self) -> Span {
        let last = self.tokens.len() - 1;
        self.at.checked_sub(1).map_or(Span::default(), |at| self.tokens[at.min(last)].span)
    }

    /// Skips tokens, but not past the end.
    fn skip(&mut self, count: usize) {
        self.at = (self.at + count).min(self.tokens.len() - 1);
    }

    fn take(&mut self, punct: &str) -> bool {
        let found = self.peek().is(punct);
        self.at += usize::from(found);
        found
    }

    fn word(&mut self, word: &str) -> bool {
        let found = self.peek().ident() == Some(word);
        self.at += usize::from(found);
        found
    }

    fn broken<T>(&mut self, diagnostic: Diagnostic) -> Parsed<T> {
        self.diagnostics.add(diagnostic);
        Err(Broken)
    }

    /// What is at the place, for messages.
    fn found(&self) -> String {
        match &self.peek().tok {
            Tok::Ident(name) if KEYWORDS.contains(&&**name) => format!("`{name}`"),
            Tok::Ident(name) => format!("the name `{name}`"),
            Tok::Int(_) | Tok::Float(_) => "a number".to_owned(),
            Tok::Punct(punct) => format!("`{punct}`"),
            Tok::Other(c) => format!("`{c}`"),
            Tok::End => "the end of the source".to_owned(),
        }
    }

    /// Takes a bracket or a separator that must be there.
    fn expect(&mut self, punct: &'static str, after: &str) -> Parsed<Span> {
        if self.take(punct) {
            return Ok(self.previous());
        }
        let place = self.previous().after();
        let message = format!("`{punct}` is missing after {after}, before {}", self.found());
        let error = Diagnostic::error(place, message);
        self.broken(error.fix(format!("write `{punct}` here"), place, punct))
    }

    fn name(&mut self, what: &str) -> Parsed<(Box<str>, Span)> {
        let token = self.peek().clone();
        match token.ident() {
            Some(name) if !KEYWORDS.contains(&name) => {
                self.at += 1;
                Ok((name.into(), token.span))
            }
            _ => {
                let message = format!("{what} is wanted here, not {}", self.found());
                self.broken(Diagnostic::error(token.span, message))
            }
        }
    }

    /// Skips to what follows the broken statement.
    fn recover(&mut self, top: bool) {
        let mut depth = 0usize;
        // A `;` that is missing at the end of a line: continue with the next line.
        while !self.is_end() {
            let token = self.peek();
            if token.is("{") {
                depth += 1;
            } else if token.is("}") {
                if depth <= 1 {
                    // The block of a function at the outermost level ends with it.
                    self.at += usize::from(depth == 1 || top);
                    return;
                }
                depth -= 1;
            } else if token.is(";") && depth == 0 {
                self.at += 1;
                return;
            } else if token.begins_line && depth == 0 && self.starts_statement() {
                return;
            }
            self.at += 1;
        }
    }

    fn starts_statement(&self) -> bool {
        match self.peek().ident() {
            Some(
                "if" | "for" | "while" | "return" | "discard" | "uniform" | "varying" | "const"
                | "precision" | "void",
            ) => true,
            Some(name) if KEYWORDS.contains(&name) => false,
            // A declaration, or an assignment.
            Some(_) => {
                let next = self.peek_at(1);
                next.ident().is_some()
                    || next.is("=")
                    || next.is("+=")
                    || next.is("*=")
                    || next.is(".")
                    || next.is("-=")
            }
            None => false,
        }
    }

    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MOST_DEPTH {
            let span = self.peek().span;
            let message = format!("more than {MOST_DEPTH} levels inside of each other");
            return self.broken(Diagnostic::error(span, message));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Returns an expression unless it has too many levels.
    fn whole(&mut self, expr: Expr) -> Parsed<Expr> {
        if usize::from(expr.depth) <= MOST_LEVELS {
            return Ok(expr);
        }
        let message = format!("the expression has more than {MOST_LEVELS} levels");
        let error = Diagnostic::error(expr.span, message);
        self.broken(error.help("split it, with variables for its parts"))
    }

    // Declarations.

    fn item(&mut self) -> Parsed<Vec<Item>> {
        if self.take(";") {
            return Ok(Vec::new());
        }
        if self.word("precision") {
            self.skip(2);
            self.expect(";", "the precision")?;
            return Ok(Vec::new());
        }
        let qualifiers = self.qualifiers()?;
        // `invariant gl_Position;`
        if self.peek().ident().is_some()
            && self.peek_at(1).is(";")
            && self.peek().ident() != Some("struct")
        {
            self.skip(2);
            return Ok(Vec::new());
        }
        let ty = self.type_name()?;
        let is_function = self.peek().ident().is_some() && self.peek_at(1).is("(");
        if is_function {
            return Ok(vec![Item::Function(self.function(ty)?)]);
        }
        Ok(vec![Item::Declare(self.declaration(qualifiers, ty)?)])
    }

    fn qualifiers(&mut self) -> Parsed<Qualifiers> {
        let mut found = Qualifiers::default();
        loop {
            let span = self.peek().span;
            match self.peek().ident() {
                Some("uniform") => found.storage = Some((Storage::Uniform, span)),
                Some("varying") => found.storage = Some((Storage::Varying, span)),
                Some("attribute") => found.storage = Some((Storage::Attribute, span)),
                Some("const") => found.is_const = true,
                Some("in") => found.input = true,
                Some("out") => found.output = true,
                Some("inout") => (found.input, found.output) = (true, true),
                Some(
                    "lowp" | "mediump" | "highp" | "invariant" | "centroid" | "flat" | "smooth"
                    | "noperspective",
                ) => {}
                Some("layout") => {
                    self.at += 1;
                    self.expect("(", "`layout`")?;
                    while !self.is_end() && !self.peek().is(")") {
                        let is_location = self.word("location");
                        if is_location
                            && self.take("=")
                            && let Tok::Int(value) = self.peek().tok
                        {
                            found.location = Some(value);
                        }
                        self.at += usize::from(!self.peek().is(")"));
                    }
                    self.expect(")", "the layout")?;
                    continue;
                }
                _ => return Ok(found),
            }
            self.at += 1;
        }
    }

    fn type_name(&mut self) -> Parsed<TypeName> {
        if self.word("struct") {
            return self.structure();
        }
        let token = self.peek().clone();
        let (name, span) = match token.ident() {
            Some("void") => {
                self.at += 1;
                ("void".into(), token.span)
            }
            _ => self.name("a type")?,
        };
        let array = self.array()?;
        Ok(TypeName { name, span, members: None, array })
    }

    fn structure(&mut self) -> Parsed<TypeName> {
        let span = self.previous();
        let name =
            if self.peek().is("{") { "".into() } else { self.name("the name of the structure")?.0 };
        self.expect("{", "the name of the structure")?;
        let mut members = Vec::new();
        while !self.take("}") {
            if self.is_end() {
                self.expect("}", "the members of the structure")?;
            }
            let qualifiers = self.qualifiers()?;
            let ty = self.type_name()?;
            members.push(self.declaration(qualifiers, ty)?);
        }
        Ok(TypeName { name, span, members: Some(members), array: None })
    }

    fn array(&mut self) -> Parsed<Option<Option<Box<Expr>>>> {
        if !self.take("[") {
            return Ok(None);
        }
        if self.take("]") {
            return Ok(Some(None));
        }
        let size = self.expr()?;
        self.expect("]", "the size")?;
        Ok(Some(Some(Box::new(size))))
    }

    /// The variables after a type, up to `;`.
    fn declaration(&mut self, qualifiers: Qualifiers, ty: TypeName) -> Parsed<Declaration> {
        let mut variables = Vec::new();
        if ty.members.is_some() && self.take(";") {
            return Ok(Declaration { qualifiers, ty, variables });
        }
        loop {
            let (name, span) = self.name("the name of a variable")?;
            let array = self.array()?;
            let init = if self.take("=") { Some(self.assignment()?) } else { None };
            variables.push(Declarator { name, span, array, init });
            if !self.take(",") {
                break;
            }
        }
        self.expect(";", "the declaration")?;
        Ok(Declaration { qualifiers, ty, variables })
    }

    fn function(&mut self, ty: TypeName) -> Parsed<Function> {
        let (name, span) = self.name("the name of the function")?;
        self.expect("(", "the name of the function")?;
        let mut parameters = Vec::new();
        if self.peek().ident() == Some("void") && self.peek_at(1).is(")") {
            self.at += 1;
        }
        while !self.peek().is(")") {
            let qualifiers = self.qualifiers()?;
            let ty = self.type_name()?;
            let (name, span) = match self.peek().ident() {
                Some(_) => self.name("the name of the parameter")?,
                None => ("".into(), ty.span),
            };
            let array = self.array()?;
            parameters.push(Parameter { qualifiers, ty, name, span, array });
            if !self.take(",") {
                break;
            }
        }
        self.expect(")", "the parameters")?;
        let body = if self.take(";") {
            None
        } else {
            self.expect("{", "the parameters")?;
            Some(self.block()?)
        };
        Ok(Function { ty, name, span, parameters, body })
    }

    // Statements.

    /// Reads statements up to `}`. Each broken one is one error.
    fn block(&mut self) -> Parsed<Vec<Stmt>> {
        let open = self.previous();
        let mut list = Vec::new();
        while !self.take("}") {
            if self.is_end() {
                let place = self.previous().after();
                let error = Diagnostic::error(open, "this `{` has no `}`");
                return self.broken(error.fix("write `}` at the end", place, "}"));
            }
            let before = self.at;
            match self.statement() {
                Ok(statement) => list.push(statement),
                Err(Broken) => {
                    self.recover(false);
                    // What follows belongs to the broken `if`.
                    while self.word("else") {
                        if let Err(Broken) = self.statement() {
                            self.recover(false);
                        }
                    }
                    if self.at == before && !self.peek().is("}") {
                        self.at += 1;
                    }
                }
            }
        }
        Ok(list)
    }

    fn statement(&mut self) -> Parsed<Stmt> {
        let start = self.peek().span;
        let kind = self.deeper(Self::statement_kind)?;
        Ok(Stmt { kind, span: start.to(self.previous()) })
    }

    fn statement_kind(&mut self) -> Parsed<StmtKind> {
        if self.take(";") {
            return Ok(StmtKind::Empty);
        }
        if self.take("{") {
            return Ok(StmtKind::Block(self.block()?));
        }
        match self.peek().ident().unwrap_or_default() {
            "if" => {
                self.at += 1;
                let test = self.in_parentheses("`if`")?;
                let then = Box::new(self.statement()?);
                let otherwise =
                    if self.word("else") { Some(Box::new(self.statement()?)) } else { None };
                Ok(StmtKind::If(test, then, otherwise))
            }
            "for" => {
                self.at += 1;
                self.expect("(", "`for`")?;
                let init = if self.take(";") { None } else { Some(Box::new(self.simple()?)) };
                let test = if self.peek().is(";") { None } else { Some(self.expr()?) };
                self.expect(";", "the condition")?;
                let step = if self.peek().is(")") { None } else { Some(self.expr()?) };
                self.expect(")", "the step")?;
                let body = Box::new(self.statement()?);
                Ok(StmtKind::For { init, test, step, body })
            }
            "while" => {
                self.at += 1;
                let test = self.in_parentheses("`while`")?;
                Ok(StmtKind::While(test, Box::new(self.statement()?)))
            }
            "do" => {
                self.at += 1;
                let body = Box::new(self.statement()?);
                if !self.word("while") {
                    let place = self.previous().after();
                    let error = Diagnostic::error(place, "`do` needs `while` after its statement");
                    return self.broken(error.fix("write the condition", place, " while (true);"));
                }
                let test = self.in_parentheses("`while`")?;
                self.expect(";", "the condition")?;
                Ok(StmtKind::Do(body, test))
            }
            "return" => {
                self.at += 1;
                let value = if self.peek().is(";") { None } else { Some(self.expr()?) };
                self.expect(";", "the value")?;
                Ok(StmtKind::Return(value))
            }
            word @ ("break" | "continue" | "discard") => {
                let kind = match word {
                    "break" => StmtKind::Break,
                    "continue" => StmtKind::Continue,
                    _ => StmtKind::Discard,
                };
                self.at += 1;
                self.expect(";", "the statement")?;
                Ok(kind)
            }
            "precision" => {
                self.skip(3);
                self.expect(";", "the precision")?;
                Ok(StmtKind::Empty)
            }
            "switch" => {
                let error = Diagnostic::error(self.peek().span, "`switch` is not read");
                self.broken(error.help("write `if` and `else if`"))
            }
            _ => Ok(self.simple()?.kind),
        }
    }

    fn in_parentheses(&mut self, after: &str) -> Parsed<Expr> {
        self.expect("(", after)?;
        let value = self.expr()?;
        self.expect(")", "the condition")?;
        Ok(value)
    }

    /// A declaration or an expression, with its `;`.
    fn simple(&mut self) -> Parsed<Stmt> {
        let start = self.peek().span;
        let kind = if self.starts_declaration() {
            let qualifiers = self.qualifiers()?;
            let ty = self.type_name()?;
            StmtKind::Declare(self.declaration(qualifiers, ty)?)
        } else {
            let value = self.expr()?;
            self.expect(";", "the statement")?;
            StmtKind::Expr(value)
        };
        Ok(Stmt { kind, span: start.to(self.previous()) })
    }

    fn starts_declaration(&self) -> bool {
        match self.peek().ident() {
            Some(
                "const" | "lowp" | "mediump" | "highp" | "struct" | "uniform" | "varying"
                | "attribute" | "in" | "out" | "flat" | "void",
            ) => true,
            Some(name) if KEYWORDS.contains(&name) => false,
            Some(_) => {
                // `T x`, `T[2] x`; not `a[2] = x`.
                let next = self.peek_at(1);
                if next.is("[") {
                    let close = (2..)
                        .take(64)
                        .find(|n| self.peek_at(*n).is("]") || self.peek_at(*n).tok == Tok::End);
                    return close.is_some_and(|n| self.peek_at(n + 1).ident().is_some());
                }
                next.ident().is_some_and(|name| !KEYWORDS.contains(&name))
            }
            None => false,
        }
    }

    // Expressions.

    fn expr(&mut self) -> Parsed<Expr> {
        let mut left = self.assignment()?;
        while self.take(",") {
            let right = self.assignment()?;
            let span = left.span.to(right.span);
            left =
                self.whole(Expr::new(ExprKind::Sequence(Box::new(left), Box::new(right)), span))?;
        }
        Ok(left)
    }

    fn assignment(&mut self) -> Parsed<Expr> {
        self.deeper(Self::assignment_inside)
    }

    fn assignment_inside(&mut self) -> Parsed<Expr> {
        let left = self.ternary()?;
        let Tok::Punct(punct) = self.peek().tok else { return Ok(left) };
        let is_compound =
            punct.len() > 1 && punct.ends_with('=') && !matches!(punct, "==" | "!=" | "<=" | ">=");
        let op = if punct == "=" {
            None
        } else if is_compound {
            let text = &punct[..punct.len() - 1];
            let found = Binary::TABLE.iter().find(|(other, ..)| *other == text);
            let Some((_, op, _)) = found else { return Ok(left) };
            Some(*op)
        } else {
            return Ok(left);
        };
        self.at += 1;
        let right = self.assignment()?;
        let span = left.span.to(right.span);
        self.whole(Expr::new(ExprKind::Assign(op, Box::new(left), Box::new(right)), span))
    }

    fn ternary(&mut self) -> Parsed<Expr> {
        let test = self.binary(0)?;
        if !self.take("?") {
            return Ok(test);
        }
        let then = self.assignment()?;
        self.expect(":", "the value for true")?;
        let otherwise = self.assignment()?;
        let span = test.span.to(otherwise.span);
        let kind = ExprKind::Ternary(Box::new(test), Box::new(then), Box::new(otherwise));
        self.whole(Expr::new(kind, span))
    }

    fn binary(&mut self, least: u8) -> Parsed<Expr> {
        let mut left = self.unary()?;
        loop {
            let Tok::Punct(punct) = self.peek().tok else { return Ok(left) };
            let found = Binary::TABLE.iter().find(|(text, ..)| *text == punct);
            let Some((_, op, strength)) = found.filter(|(.., strength)| *strength > least) else {
                return Ok(left);
            };
            self.at += 1;
            let right = self.deeper(|parser| parser.binary(*strength))?;
            let span = left.span.to(right.span);
            left = self
                .whole(Expr::new(ExprKind::Binary(*op, Box::new(left), Box::new(right)), span))?;
        }
    }

    fn unary(&mut self) -> Parsed<Expr> {
        let start = self.peek().span;
        let Tok::Punct(punct) = self.peek().tok else { return self.postfix() };
        let op = match punct {
            "-" => Unary::Negate,
            "!" => Unary::Not,
            "+" => Unary::Plus,
            "~" => Unary::Complement,
            "++" | "--" => {
                self.at += 1;
                let target = Box::new(self.deeper(Self::unary)?);
                let span = start.to(target.span);
                let kind = ExprKind::Step { postfix: false, add: punct == "++", target };
                return self.whole(Expr::new(kind, span));
            }
            _ => return self.postfix(),
        };
        self.at += 1;
        let of = self.deeper(Self::unary)?;
        let span = start.to(of.span);
        self.whole(Expr::new(ExprKind::Unary(op, Box::new(of)), span))
    }

    fn postfix(&mut self) -> Parsed<Expr> {
        let mut value = self.primary()?;
        loop {
            let start = value.span;
            let kind = if self.take(".") {
                let (name, span) = self.name("a component or a member")?;
                if &*name == "length" && self.take("(") {
                    self.expect(")", "`length(`")?;
                    ExprKind::Length(Box::new(value))
                } else {
                    ExprKind::Field(Box::new(value), name, span)
                }
            } else if self.take("[") {
                let index = self.expr()?;
                self.expect("]", "the index")?;
                if let (ExprKind::Name(name), ExprKind::Int(n)) = (&value.kind, &index.kind) {
                    let most = self.indices.entry(name.clone()).or_insert(*n);
                    *most = (*most).max(*n);
                }
                ExprKind::Index(Box::new(value), Box::new(index))
            } else if self.peek().is("++") || self.peek().is("--") {
                let add = self.peek().is("++");
                self.at += 1;
                ExprKind::Step { postfix: true, add, target: Box::new(value) }
            } else {
                return Ok(value);
            };
            value = self.whole(Expr::new(kind, start.to(self.previous())))?;
        }
    }

    fn primary(&mut self) -> Parsed<Expr> {
        let token = self.peek().clone();
        let span = token.span;
        let kind = match &token.tok {
            Tok::Int(value) => ExprKind::Int(*value),
            Tok::Float(value) => ExprKind::Float(*value),
            Tok::Ident(name) if **name == *"true" => ExprKind::Bool(true),
            Tok::Ident(name) if **name == *"false" => ExprKind::Bool(false),
            Tok::Ident(name) if !KEYWORDS.contains(&&**name) => {
                self.at += 1;
                return self.after_name(name.clone(), span);
            }
            Tok::Punct("(") => {
                self.at += 1;
                let inner = self.expr()?;
                let close = self.expect(")", "the expression")?;
                return Ok(Expr { span: span.to(close), ..inner });
            }
            Tok::End => {
                let message = "the source ends where a value is wanted";
                return self.broken(Diagnostic::error(self.previous(), message));
            }
            _ => {
                let message = format!("a value is wanted here, not {}", self.found());
                return self.broken(Diagnostic::error(span, message));
            }
        };
        self.at += 1;
        self.whole(Expr::new(kind, span))
    }

    fn after_name(&mut self, name: Box<str>, name_span: Span) -> Parsed<Expr> {
        // `float[](…)`, `float[3](…)`
        let begins = self.at;
        let mut array = None;
        if self.peek().is("[") {
            let known = self.diagnostics.all.len();
            array = self.array().unwrap_or_default();
            if array.is_none() || !self.peek().is("(") {
                self.diagnostics.all.truncate(known);
                self.at = begins;
                return self.whole(Expr::new(ExprKind::Name(name), name_span));
            }
        }
        if !self.take("(") {
            return self.whole(Expr::new(ExprKind::Name(name), name_span));
        }
        let mut arguments = Vec::new();
        if self.peek().ident() == Some("void") && self.peek_at(1).is(")") {
            self.at += 1;
        }
        while !self.peek().is(")") {
            arguments.push(self.assignment()?);
            if !self.take(",") {
                break;
            }
        }
        let close = self.expect(")", "the arguments")?;
        let span = name_span.to(close);
        self.whole(Expr::new(ExprKind::Call { name, name_span, array, arguments }, span))
    }
}
