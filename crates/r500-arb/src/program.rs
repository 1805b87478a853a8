//! A program: its options, its declarations, and the variables of the tree that its names mean.

use std::collections::HashMap;

use r500_glsl::diagnostic::nearest;
use r500_glsl::tree::{
    BuiltinVariable, Expr, ExprKind, Function, Shader, Stmt, StmtKind, Storage, Variable,
    VariableId,
};
use r500_glsl::types::Type;
use r500_glsl::{Binary, Builtin, Diagnostic, Span, Stage, Version};

use crate::bindings::{self, Binding, Role};
use crate::build::Build;
use crate::lexer::{Kind, Token, tokens};
use crate::opcodes::{OPCODES, Opcode, Target};
use crate::path::{Index, Part};

/// Why a statement is not read further.
pub(crate) enum Stop {
    /// It has an error.
    Error(Box<Diagnostic>),
    /// It uses what has one.
    Known,
}

impl From<Diagnostic> for Stop {
    fn from(error: Diagnostic) -> Self {
        Self::Error(Box::new(error))
    }
}

/// The value, or why there is none.
pub(crate) type Read<T> = Result<T, Stop>;

/// An element of an array of parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Vector {
    /// A vector of a uniform; of an array the one with this number.
    Uniform(VariableId, Option<u32>),
    Constant([f32; 4]),
}

/// What a name of the program means.
#[derive(Clone, Debug)]
pub(crate) enum Meaning {
    Temporary(VariableId),
    Address(VariableId),
    Attribute(Expr),
    Result(Place),
    Parameter(Vector),
    Array(Vec<Vector>),
    /// What its declaration says is not known.
    Broken,
}

/// Where an instruction writes.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// A vector, or a scalar.
    pub(crate) target: Expr,
    /// The component that a scalar is.
    pub(crate) component: Option<u8>,
}

/// What `OPTION` changes.
#[derive(Debug, Default)]
pub(crate) struct Options<'a> {
    hint: Option<&'a str>,
    pub(crate) fog: Option<Fog>,
    pub(crate) position_invariant: bool,
    pub(crate) draw_buffers: bool,
    pub(crate) shadow: bool,
}

/// How fog grows with the distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fog {
    Linear,
    Exponential,
    Squared,
}

/// Names of options that change nothing here.
const HINTS: [&str; 2] = ["ARB_precision_hint_fastest", "ARB_precision_hint_nicest"];

/// Names of options with their stages.
const OPTIONS: [(&str, Stage); 7] = [
    ("ARB_fog_linear", Stage::Fragment),
    ("ARB_fog_exp", Stage::Fragment),
    ("ARB_fog_exp2", Stage::Fragment),
    ("ARB_draw_buffers", Stage::Fragment),
    ("ATI_draw_buffers", Stage::Fragment),
    ("ARB_fragment_program_shadow", Stage::Fragment),
    ("ARB_position_invariant", Stage::Vertex),
];

/// Words with which declarations begin.
pub(crate) const DECLARATIONS: [&str; 7] =
    ["TEMP", "ADDRESS", "ALIAS", "ATTRIB", "OUTPUT", "PARAM", "OPTION"];

/// Most errors of a source.
const MOST_ERRORS: usize = 200;

/// Reads a program. The tree counts if there is no error.
pub(crate) fn read(source: &str, stage: Stage) -> (Shader, Vec<Diagnostic>) {
    let mut errors = Vec::new();
    let tokens = tokens(source, &mut errors);
    let header = Span::new(0, tokens.first().map_or(0, |token| token.span.start));
    let mut reader = Reader {
        stage,
        lengths: ["env", "local"].map(|name| length(&tokens, name)),
        tokens,
        at: 0,
        errors,
        variables: Vec::new(),
        by_name: HashMap::new(),
        names: HashMap::new(),
        tables: HashMap::new(),
        units: HashMap::new(),
        options: Options::default(),
        body: Vec::new(),
        sets_position: false,
        slots: HashMap::new(),
    };
    reader.statements();
    reader.ending(header);
    let main = Function {
        name: "main".to_owned(),
        parameters: Vec::new(),
        returns: Type::Void,
        body: reader.body,
        span: header,
    };
    let shader = Shader {
        stage,
        version: Version::GLSL_1_10,
        variables: reader.variables,
        functions: vec![main],
        main: 0,
        is_main_image: false,
    };
    (shader, reader.errors)
}

/// Returns how many vectors of `program.env` or `program.local` a source names.
fn length(tokens: &[Token<'_>], name: &str) -> u32 {
    let is_array = |window: &&[Token<'_>]| {
        window[0].text == "program" && window[1].is(".") && window[2].text == name
    };
    let mut length = 1;
    for (at, _) in tokens.windows(3).enumerate().filter(|(_, window)| is_array(window)) {
        let index = tokens[at + 3..].iter().take_while(|token| !token.is("]"));
        for token in index {
            if let Kind::Integer(n) = token.kind {
                length = length.max(n.saturating_add(1));
            }
        }
    }
    length.min(bindings::PARAMETERS)
}

pub(crate) struct Reader<'a> {
    pub(crate) stage: Stage,
    tokens: Vec<Token<'a>>,
    at: usize,
    errors: Vec<Diagnostic>,
    variables: Vec<Variable>,
    /// Uniforms, attributes and results that have a variable.
    by_name: HashMap<String, VariableId>,
    /// Names of the program, with the places of their declarations.
    names: HashMap<&'a str, (Meaning, Span)>,
    /// Variables for arrays of parameters that are not part of one uniform.
    pub(crate) tables: HashMap<String, VariableId>,
    /// The target that each texture unit has.
    pub(crate) units: HashMap<u32, Target>,
    pub(crate) options: Options<'a>,
    pub(crate) body: Vec<Stmt>,
    pub(crate) sets_position: bool,
    /// The name by which each attribute of a vertex is read, by number.
    slots: HashMap<u32, String>,
    /// Vectors of `program.env` and `program.local`.
    lengths: [u32; 2],
}

impl<'a> Reader<'a> {
    fn statements(&mut self) {
        loop {
            let token = self.peek();
            if token.kind == Kind::End {
                let message = "the program has no `END`";
                self.report(Diagnostic::error(token.span, message).fix(
                    "write it after the last instruction",
                    token.span,
                    "\nEND\n",
                ));
                return;
            }
            if token.kind == Kind::Name && token.text == "END" {
                return;
            }
            if let Err(stop) = self.statement() {
                if let Stop::Error(error) = stop {
                    self.report(*error);
                }
                self.skip();
            }
        }
    }

    fn report(&mut self, error: Diagnostic) {
        if self.errors.len() < MOST_ERRORS {
            self.errors.push(error);
        }
    }

    /// Continues after the present statement: its `;`, or what begins another one if that is missing.
    fn skip(&mut self) {
        loop {
            let token = self.peek();
            if token.kind == Kind::End || self.is_reserved(token.text) || token.text == "END" {
                return;
            }
            self.at += 1;
            if token.is(";") {
                return;
            }
        }
    }

    fn statement(&mut self) -> Read<()> {
        let token = self.next();
        if token.kind != Kind::Name {
            let message = format!("{} begins no statement", token.describe());
            return Err(Diagnostic::error(token.span, message).into());
        }
        match token.text {
            "TEMP" | "ADDRESS" => self.variables_of(token.text == "ADDRESS")?,
            "ALIAS" | "ATTRIB" | "OUTPUT" | "PARAM" => {
                let name = self.new_name()?;
                let meaning = self.declared(token.text);
                // Uses of a name whose declaration has an error are not reported.
                let meaning = match meaning {
                    Ok(meaning) => meaning,
                    Err(stop) => {
                        self.names.insert(name.text, (Meaning::Broken, name.span));
                        return Err(stop);
                    }
                };
                self.names.insert(name.text, (meaning, name.span));
            }
            "OPTION" => self.option()?,
            _ => self.instruction(token)?,
        }
        self.end_of_statement()
    }

    fn end_of_statement(&mut self) -> Read<()> {
        let token = self.peek();
        if token.is(";") {
            self.at += 1;
            return Ok(());
        }
        let before = self.last_span().after();
        let message = format!("`;` is missing before {}", token.describe());
        let error = Diagnostic::error(before, message).fix("write `;`", before, ";");
        if token.kind == Kind::Name && self.begins_statement(token.text) {
            // The next statement is whole.
            self.report(error);
            return Ok(());
        }
        Err(error.into())
    }

    fn begins_statement(&self, word: &str) -> bool {
        let opcode = word.strip_suffix("_SAT").unwrap_or(word);
        DECLARATIONS.contains(&word) || OPCODES.iter().any(|of| of.name == opcode) || word == "END"
    }

    /// Returns whether a word of the stage's language begins a statement, and so is not a name.
    fn is_reserved(&self, word: &str) -> bool {
        let is_here = |of: &&Opcode| of.stage.is_none_or(|stage| stage == self.stage);
        let is_declaration =
            DECLARATIONS.contains(&word) && !(word == "ADDRESS" && self.stage == Stage::Fragment);
        is_declaration || OPCODES.iter().filter(is_here).any(|of| of.name == word)
    }

    // Tokens.

    pub(crate) fn peek(&self) -> Token<'a> {
        // The last token is the end, which is never taken.
        self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    pub(crate) fn next(&mut self) -> Token<'a> {
        let token = self.peek();
        if token.kind != Kind::End {
            self.at += 1;
        }
        token
    }

    /// The place of the token before the next one.
    pub(crate) fn last_span(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].span
    }

    /// Takes a mark if it is next.
    pub(crate) fn take(&mut self, mark: &str) -> bool {
        let is_next = self.peek().is(mark);
        self.at += usize::from(is_next);
        is_next
    }

    pub(crate) fn expect(&mut self, mark: &str, purpose: &str) -> Read<()> {
        if self.take(mark) {
            return Ok(());
        }
        let token = self.peek();
        let message = format!("`{mark}` is wanted {purpose}, not {}", token.describe());
        Err(Diagnostic::error(token.span, message).into())
    }

    // Declarations.

    /// Reads a name that is not yet used.
    fn new_name(&mut self) -> Read<Token<'a>> {
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

    fn variables_of(&mut self, is_address: bool) -> Read<()> {
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
            self.names.insert(name.text, (meaning, name.span));
            if !self.take(",") {
                return Ok(());
            }
        }
    }

    /// Reads what follows a name that a word declares.
    fn declared(&mut self, word: &str) -> Read<Meaning> {
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
            self.at += 1;
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

    fn option(&mut self) -> Read<()> {
        let token = self.next();
        let options = &mut self.options;
        let stage = OPTIONS.iter().find(|(name, _)| *name == token.text).map(|(_, stage)| *stage);
        if let Some(other) = stage.filter(|stage| *stage != self.stage) {
            let message = format!("`{}` is an option of {other} programs", token.text);
            return Err(Diagnostic::error(token.span, message).into());
        }
        match token.text {
            "ARB_fog_linear" | "ARB_fog_exp" | "ARB_fog_exp2" => {
                if options.fog.is_some() {
                    return Err(
                        Diagnostic::error(token.span, "a program has one kind of fog").into()
                    );
                }
                options.fog = Some(match token.text {
                    "ARB_fog_linear" => Fog::Linear,
                    "ARB_fog_exp" => Fog::Exponential,
                    _ => Fog::Squared,
                });
            }
            "ARB_draw_buffers" | "ATI_draw_buffers" => options.draw_buffers = true,
            "ARB_fragment_program_shadow" => options.shadow = true,
            "ARB_position_invariant" => options.position_invariant = true,
            name if HINTS.contains(&name) && self.stage == Stage::Fragment => {
                if options.hint.is_some_and(|hint| hint != name) {
                    return Err(
                        Diagnostic::error(token.span, "the hints exclude each other").into()
                    );
                }
                options.hint = Some(name);
            }
            name => {
                let error = Diagnostic::error(token.span, format!("there is no option `{name}`"));
                let known = OPTIONS.iter().filter(|(_, stage)| *stage == self.stage);
                let known: Vec<&str> = known.map(|(name, _)| *name).collect();
                let error = match nearest(name, known.iter().chain(&HINTS).copied()) {
                    Some(meant) => error.fix(format!("did you mean `{meant}`?"), token.span, meant),
                    None => error.help(format!("there are {}", known.join(", "))),
                };
                return Err(error.into());
            }
        }
        Ok(())
    }

    // Names.

    /// Returns what a name of the program means.
    pub(crate) fn meaning(&self, name: &str, span: Span) -> Read<Meaning> {
        match self.names.get(name) {
            Some((Meaning::Broken, _)) => Err(Stop::Known),
            Some((meaning, _)) => Ok(meaning.clone()),
            None => {
                let error = Diagnostic::error(span, format!("`{name}` is not declared"));
                let roots = bindings::roots(self.stage).map(|root| -> &'a str { root });
                let names: Vec<&str> = self.names.keys().copied().chain(roots).collect();
                Err(match nearest(name, names.into_iter()) {
                    Some(meant) => error.fix(format!("did you mean `{meant}`?"), span, meant),
                    None => error.help(format!("declare it: `TEMP {name};`")),
                }
                .into())
            }
        }
    }

    /// Reads a dotted name.
    pub(crate) fn path(&mut self) -> Read<Vec<Part>> {
        let mut parts = Vec::new();
        loop {
            let token = self.next();
            if token.kind != Kind::Name {
                let message = format!("a name is wanted, not {}", token.describe());
                return Err(Diagnostic::error(token.span, message).into());
            }
            let index = if self.peek().is("[") { Some(self.index()?) } else { None };
            parts.push(Part { name: token.text.to_owned(), span: token.span, index });
            if !self.take(".") {
                return Ok(parts);
            }
        }
    }

    /// Reads what is in brackets.
    fn index(&mut self) -> Read<(Index, Span)> {
        let open = self.next().span;
        let token = self.next();
        let index = match token.kind {
            Kind::Integer(first) => match self.take("..") {
                false => Index::One(first),
                true => {
                    let last = self.next();
                    let Kind::Integer(last) = last.kind else {
                        let message = "a range ends in a whole number";
                        return Err(Diagnostic::error(last.span, message).into());
                    };
                    Index::Range(first, last)
                }
            },
            Kind::Name => {
                let mut component = None;
                if self.take(".") {
                    component = Some(self.next().text.to_owned());
                }
                let sign = match self.peek() {
                    token if token.is("+") => 1,
                    token if token.is("-") => -1,
                    _ => 0,
                };
                let mut offset = 0;
                if sign != 0 {
                    self.at += 1;
                    let number = self.next();
                    let Kind::Integer(n) = number.kind else {
                        let message = "an offset is a whole number";
                        return Err(Diagnostic::error(number.span, message).into());
                    };
                    offset = sign * i32::try_from(n).unwrap_or(i32::MAX);
                }
                Index::Relative { register: token.text.to_owned(), component, offset }
            }
            _ => {
                let message = format!("an index is wanted, not {}", token.describe());
                return Err(Diagnostic::error(token.span, message).into());
            }
        };
        let close = self.peek().span;
        self.expect("]", "after the index")?;
        Ok((index, open.to(close)))
    }

    // Variables of the tree.

    pub(crate) fn variable(
        &mut self,
        name: &str,
        ty: Type,
        storage: Storage,
        span: Span,
    ) -> VariableId {
        self.variables.push(Variable { name: name.to_owned(), ty, storage, init: None, span });
        self.variables.len() - 1
    }

    /// Returns the variable with a name that the draw knows; the first use makes it.
    fn shared(&mut self, name: &str, ty: Type, storage: Storage) -> VariableId {
        if let Some(id) = self.by_name.get(name) {
            return *id;
        }
        let id = self.variable(name, ty, storage, Span::default());
        self.by_name.insert(name.to_owned(), id);
        id
    }

    pub(crate) fn uniform(&mut self, name: &str, ty: Type) -> VariableId {
        self.shared(name, ty, Storage::Uniform)
    }

    /// Makes the variable of an array whose elements are known or come from several uniforms.
    pub(crate) fn table(&mut self, name: &str, elements: Vec<Expr>, span: Span) -> VariableId {
        let build = Build { span };
        let is_constant = elements.iter().all(|e| matches!(e.kind, ExprKind::Constant(_)));
        let storage = if is_constant { Storage::Constant } else { Storage::Global };
        let ty = Type::Array(Box::new(Type::floats(4)), elements.len());
        let init = Expr { ty: ty.clone(), ..build.join(elements) };
        let id = self.variable(name, ty, storage, span);
        self.variables[id].init = Some(init);
        id
    }

    pub(crate) fn type_of(&self, id: VariableId) -> Type {
        self.variables[id].ty.clone()
    }

    /// Checks that an attribute is read by one of its two names.
    fn check_slot(&mut self, name: &str, span: Span) -> Read<()> {
        let Some(slot) = slot(name) else { return Ok(()) };
        let first = self.slots.entry(slot).or_insert_with(|| name.to_owned());
        if first == name {
            return Ok(());
        }
        let message = format!("`{name}` and `{first}` are the same attribute");
        Err(Diagnostic::error(span, message).help("read it by one of these names").into())
    }

    /// Returns an attribute as a vector.
    fn attribute(&mut self, name: &str, span: Span) -> Expr {
        let build = Build { span };
        let last = number_of(name);
        let four = Type::floats(4);
        let own = |variable| Storage::Builtin(variable);
        let (glsl, ty, storage) = match name {
            "fragment.color" => ("gl_Color".to_owned(), four, own(BuiltinVariable::Color)),
            "fragment.color.secondary" => {
                ("gl_SecondaryColor".to_owned(), four, own(BuiltinVariable::SecondaryColor))
            }
            "fragment.position" => {
                ("gl_FragCoord".to_owned(), four, own(BuiltinVariable::FragCoord))
            }
            "fragment.fogcoord" => {
                ("gl_FogFragCoord".to_owned(), Type::FLOAT, own(BuiltinVariable::FogFragCoord))
            }
            "vertex.position" => ("gl_Vertex".to_owned(), four, Storage::Attribute),
            "vertex.normal" => ("gl_Normal".to_owned(), Type::floats(3), Storage::Attribute),
            "vertex.color" => ("gl_Color".to_owned(), four, Storage::Attribute),
            "vertex.color.secondary" => ("gl_SecondaryColor".to_owned(), four, Storage::Attribute),
            "vertex.fogcoord" => ("gl_FogCoord".to_owned(), Type::FLOAT, Storage::Attribute),
            _ if name.starts_with("fragment.texcoord") => {
                (format!("gl_TexCoord[{last}]"), four, own(BuiltinVariable::TexCoord))
            }
            _ if name.starts_with("vertex.texcoord") => {
                (format!("gl_MultiTexCoord{last}"), four, Storage::Attribute)
            }
            _ => (name.to_owned(), four, Storage::Attribute),
        };
        let id = self.shared(&glsl, ty.clone(), storage);
        let missing = |count| (0..count).map(|_| build.number(0.0));
        let variable = build.variable(id, ty.clone());
        match ty.components() {
            4 => variable,
            // The rest of a shorter one is (0, 0, 1).
            n => {
                let parts = std::iter::once(variable).chain(missing(3 - n));
                build.join(parts.chain([build.number(1.0)]).collect())
            }
        }
    }

    /// Returns where a result goes.
    fn result(&mut self, name: &str, span: Span) -> Read<Place> {
        let build = Build { span };
        let last = number_of(name);
        let own = |variable| Storage::Builtin(variable);
        let four = Type::floats(4);
        let (glsl, storage, component) = match (self.stage, name) {
            (_, "result.depth") => ("gl_FragDepth", own(BuiltinVariable::FragDepth), Some(2)),
            (Stage::Fragment, _) => {
                if last != 0 && !self.options.draw_buffers {
                    let message = format!("`{name}` needs the option of several targets");
                    let help = "write `OPTION ARB_draw_buffers;` after the first line";
                    return Err(Diagnostic::error(span, message).help(help).into());
                }
                if self.options.draw_buffers {
                    let array = Type::Array(Box::new(four.clone()), 4);
                    let storage = own(BuiltinVariable::FragData);
                    let id = self.shared("gl_FragData", array.clone(), storage);
                    let of = Box::new(build.variable(id, array));
                    let index = Box::new(build.integer(last as i32));
                    let target = build.expr(ExprKind::Index(of, index), four);
                    return Ok(Place { target, component: None });
                }
                ("gl_FragColor", own(BuiltinVariable::FragColor), None)
            }
            (_, "result.position") => {
                self.check_position(span)?;
                ("gl_Position", own(BuiltinVariable::Position), None)
            }
            (_, "result.pointsize") => ("gl_PointSize", own(BuiltinVariable::PointSize), Some(0)),
            (_, "result.fogcoord") => ("gl_FogFragCoord", Storage::Varying, Some(0)),
            (_, "result.color") => ("gl_FrontColor", Storage::Varying, None),
            (_, "result.color.secondary") => ("gl_FrontSecondaryColor", Storage::Varying, None),
            (_, "result.color.back") => ("gl_BackColor", Storage::Varying, None),
            (_, "result.color.back.secondary") => ("gl_BackSecondaryColor", Storage::Varying, None),
            _ => {
                let id =
                    self.shared(&format!("gl_TexCoord[{last}]"), four.clone(), Storage::Varying);
                return Ok(Place { target: build.variable(id, four), component: None });
            }
        };
        let ty = if component.is_some() { Type::FLOAT } else { four };
        let id = self.shared(glsl, ty.clone(), storage);
        Ok(Place { target: build.variable(id, ty), component })
    }

    fn check_position(&mut self, span: Span) -> Read<()> {
        if self.options.position_invariant {
            let message = "`OPTION ARB_position_invariant` computes the position";
            let help = "remove the option, or this result";
            return Err(Diagnostic::error(span, message).help(help).into());
        }
        self.sets_position = true;
        Ok(())
    }

    // The end.

    /// Adds what options do after the last instruction.
    fn ending(&mut self, header: Span) {
        let build = Build { span: header };
        if self.options.position_invariant {
            self.position(build);
        } else if self.stage == Stage::Vertex && !self.sets_position {
            let error = Diagnostic::error(header, "the program does not write `result.position`");
            let help = "write the place in clip space to it, or `OPTION ARB_position_invariant;`";
            self.report(error.help(help));
        }
        if let Some(fog) = self.options.fog {
            self.fog(build, fog);
        }
    }

    fn append(&mut self, build: Build, target: Expr, value: Expr) {
        let kind = StmtKind::Expr(build.assign(target, value));
        self.body.push(Stmt { kind, span: build.span });
    }

    /// The position as fixed-function drawing has it.
    fn position(&mut self, build: Build) {
        let four = Type::floats(4);
        let rows = Type::Array(Box::new(four.clone()), 4);
        let matrix = self.uniform("state.matrix.mvp.row", rows.clone());
        let vertex = self.attribute("vertex.position", build.span);
        let row = |n: i32| {
            let of = Box::new(build.variable(matrix, rows.clone()));
            build.expr(ExprKind::Index(of, Box::new(build.integer(n))), four.clone())
        };
        let dots = (0..4).map(|n| build.dot(row(n), vertex.clone())).collect();
        let storage = Storage::Builtin(BuiltinVariable::Position);
        let id = self.shared("gl_Position", four.clone(), storage);
        self.append(build, build.variable(id, four.clone()), build.join(dots));
    }

    /// Mixes the colour with that of the fog. `state.fog.params` are the density, start, end and 1 / (end - start).
    fn fog(&mut self, build: Build, fog: Fog) {
        let four = Type::floats(4);
        let [color, params] = ["state.fog.color", "state.fog.params"]
            .map(|name| build.variable(self.uniform(name, four.clone()), four.clone()));
        let distance = build.component(&self.attribute("fragment.fogcoord", build.span), 0);
        let param = |n| build.component(&params, n);
        let power = |x: Expr| {
            let exponent = build.binary(Binary::Mul, x, build.number(-std::f32::consts::LOG2_E));
            build.call(Builtin::Exp2, vec![exponent])
        };
        let optical = build.binary(Binary::Mul, param(0), distance.clone());
        let factor = match fog {
            Fog::Linear => {
                let left = build.binary(Binary::Sub, param(2), distance);
                build.binary(Binary::Mul, left, param(3))
            }
            Fog::Exponential => power(optical),
            Fog::Squared => power(build.binary(Binary::Mul, optical.clone(), optical)),
        };
        let factor = build.saturate(factor);
        let Ok(place) = self.result("result.color[0]", build.span) else { return };
        let target = build.xyz(&place.target);
        let mixed = vec![build.xyz(&color), target.clone(), factor];
        self.append(build, target, build.call(Builtin::Mix, mixed));
    }
}

/// Returns the number of an attribute of vertices, which conventional attributes share with generic ones.
fn slot(name: &str) -> Option<u32> {
    Some(match name {
        "vertex.position" => 0,
        "vertex.normal" => 2,
        "vertex.color" => 3,
        "vertex.color.secondary" => 4,
        "vertex.fogcoord" => 5,
        "vertex.weight[0]" => 1,
        _ if name.starts_with("vertex.texcoord") => 8 + number_of(name),
        _ if name.starts_with("vertex.attrib") => number_of(name),
        _ => return None,
    })
}

/// Returns the number at the end of the name of a binding: 3 of `vertex.texcoord[3]`; 0 of those without one.
#[expect(
    clippy::expect_used,
    reason = "another attribute than the one that is named must not compile"
)]
fn number_of(name: &str) -> u32 {
    let number = name.strip_suffix(']').and_then(|name| name.rsplit('[').next());
    number.map_or(0, |number| number.parse().expect("bindings have numbers in their brackets"))
}

/// Returns the place of a whole path.
pub(crate) fn whole(path: &[Part]) -> Span {
    let end = |part: &Part| part.index.as_ref().map_or(part.span, |(_, span)| *span);
    match path {
        [first, .., last] => first.span.to(end(last)),
        [one] => one.span.to(end(one)),
        [] => Span::default(),
    }
}
