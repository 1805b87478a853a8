//! Declarations: names, constants, and arrays of parameters.

use r500_glsl::tree::{Stmt, StmtKind, Storage};
use r500_glsl::types::Type;
use r500_glsl::{Diagnostic, Span, Stage};

use crate::bindings::{self, Binding, Role};
use crate::lexer::{Kind, Token};
use crate::name::whole;
use crate::program::{Meaning, Read, Reader, Vector};

impl<'a> Reader<'a> {
    /// Reads a name that is not yet used.
    pub(crate) fn new_name(&mut self) -> Read<Token<'a>> {
        let token = self.next();
        let is_reserved = self.is_reserved(token.text)
            || bindings::roots(self.stage).any(|root| root == token.text)
            || matches!(token.text, "texture" | "END");
        if token.kind != Kind::Name {
            let message = format!("a name is wanted, not {}", token.describe());
            return Err(Diagnostic::error(token.span, message).into());
        }
        if is_reserved {
            let message = format!("`{}` is a word of the language", token.text);
            return Err(Diagnostic::error(token.span, message).help("take another name").into());
        }
        if self.names.contains_key(token.text) {
            let message = format!("`{}` is declared twice", token.text);
            return Err(Diagnostic::error(token.span, message).help("take another name").into());
        }
        Ok(token)
    }

    pub(crate) fn variables_of(&mut self, is_address: bool) -> Read<()> {
        loop {
            let name = self.new_name()?;
            let ty = if is_address { Type::INT } else { Type::floats(4) };
            let id = self.variable(name.text, ty, Storage::Local, name.span);
            self.body.push(Stmt { kind: StmtKind::Declare(id, None), span: name.span });
            if is_address && self.stage == Stage::Fragment {
                let message = "fragment programs have no address registers";
                return Err(Diagnostic::error(name.span, message).into());
            }
            let meaning = if is_address { Meaning::Address(id) } else { Meaning::Temporary(id) };
            self.names.insert(name.text, meaning);
            if !self.take(",") {
                return Ok(());
            }
        }
    }

    /// Reads what follows a name that a word declares.
    pub(crate) fn declared(&mut self, word: &str) -> Read<Meaning> {
        if word == "PARAM" && self.peek().is("[") {
            return self.array();
        }
        self.expect("=", "after the name")?;
        match word {
            "ALIAS" => {
                let token = self.next();
                self.meaning(token.text, token.span)
            }
            "PARAM" if self.begins_constant() => {
                Ok(Meaning::Parameter(Vector::Constant(self.constant()?)))
            }
            _ => {
                let path = self.path()?;
                let binding = bindings::find(self.stage, &path)?;
                let role = match word {
                    "ATTRIB" => Role::Attribute,
                    "OUTPUT" => Role::Result,
                    _ => Role::Parameter,
                };
                let span = whole(&path);
                self.check_role(&binding, role, span)?;
                if let Some(rest) = path.get(binding.parts) {
                    let message = format!("nothing follows `{}`", binding.name);
                    return Err(Diagnostic::error(rest.span, message).into());
                }
                self.bound(&binding, span)
            }
        }
    }

    fn check_role(&self, binding: &Binding, role: Role, span: Span) -> Read<()> {
        if binding.role == role {
            return Ok(());
        }
        let (is, word) = match binding.role {
            Role::Attribute => ("an attribute", "ATTRIB"),
            Role::Result => ("a result", "OUTPUT"),
            Role::Parameter => ("a parameter", "PARAM"),
        };
        let message = format!("`{}` is {is}", binding.name);
        Err(Diagnostic::error(span, message).help(format!("declare it with {word}")).into())
    }

    /// Returns what a path of the language means as a declared name or an operand.
    pub(crate) fn bound(&mut self, binding: &Binding, span: Span) -> Read<Meaning> {
        Ok(match binding.role {
            Role::Attribute => {
                self.check_slot(&binding.name, span)?;
                Meaning::Attribute(self.attribute(&binding.name, span))
            }
            Role::Result => Meaning::Result(self.result(&binding.name, span)?),
            Role::Parameter => {
                let vectors = self.parameters(binding);
                match vectors[..] {
                    [one] => Meaning::Parameter(one),
                    _ => {
                        let message = format!("`{}` are {} vectors", binding.name, vectors.len());
                        let help = "name one of them, or declare an array: `PARAM a[] = { … };`";
                        return Err(Diagnostic::error(span, message).help(help).into());
                    }
                }
            }
        })
    }

    /// Reads `[4] = { … }`.
    fn array(&mut self) -> Read<Meaning> {
        self.expect("[", "before the size")?;
        let size = self.peek();
        if let Kind::Integer(_) = size.kind {
            self.next();
        }
        self.expect("]", "after the size")?;
        self.expect("=", "after the name")?;
        self.expect("{", "before the elements")?;
        let mut all = Vec::new();
        loop {
            if self.begins_constant() {
                all.push(Vector::Constant(self.constant()?));
            } else {
                let path = self.path()?;
                let binding = bindings::find(self.stage, &path)?;
                self.check_role(&binding, Role::Parameter, whole(&path))?;
                all.extend(self.parameters(&binding));
            }
            if !self.take(",") {
                break;
            }
        }
        self.expect("}", "after the elements")?;
        match size.kind {
            Kind::Integer(n) if n as usize != all.len() => {
                let message = format!("the array has {} elements, not {n}", all.len());
                let error = Diagnostic::error(size.span, message);
                Err(error.fix("write their number", size.span, all.len().to_string()).into())
            }
            _ => Ok(Meaning::Array(all)),
        }
    }

    /// Returns the vectors of a parameter.
    fn parameters(&mut self, binding: &Binding) -> Vec<Vector> {
        let Some((first, last)) = binding.vectors else {
            let id = self.uniform(&binding.name, Type::floats(4));
            return vec![Vector::Uniform(id, None)];
        };
        let length = match &*binding.name {
            "program.env" => self.lengths[0],
            "program.local" => self.lengths[1],
            _ => 4,
        };
        let array = Type::Array(Box::new(Type::floats(4)), length as usize);
        let id = self.uniform(&binding.name, array);
        (first..=last).map(|n| Vector::Uniform(id, Some(n))).collect()
    }

    fn begins_constant(&self) -> bool {
        let token = self.peek();
        matches!(token.kind, Kind::Integer(_) | Kind::Number(_))
            || ["{", "-", "+"].iter().any(|mark| token.is(mark))
    }

    /// Reads a number, which all components have, or `{x, y, z, w}`, of which 0, 0 and 1 are what is missing.
    pub(crate) fn constant(&mut self) -> Read<[f32; 4]> {
        if !self.take("{") {
            return Ok([self.number()?; 4]);
        }
        let mut values = [0.0, 0.0, 0.0, 1.0];
        let mut count = 0;
        loop {
            let at = self.peek().span;
            let value = self.number()?;
            let Some(slot) = values.get_mut(count) else {
                return Err(Diagnostic::error(at, "a vector has four components").into());
            };
            *slot = value;
            count += 1;
            if !self.take(",") {
                break;
            }
        }
        self.expect("}", "after the components")?;
        Ok(values)
    }

    fn number(&mut self) -> Read<f32> {
        let negative = match self.peek() {
            token if token.is("-") || token.is("+") => self.next().is("-"),
            _ => false,
        };
        let token = self.next();
        let value = match token.kind {
            Kind::Integer(n) => n as f32,
            Kind::Number(value) => value,
            _ => {
                let message = format!("a number is wanted, not {}", token.describe());
                return Err(Diagnostic::error(token.span, message).into());
            }
        };
        Ok(if negative { -value } else { value })
    }
}
