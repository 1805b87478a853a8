//! A program: its statements one after the other, and what is known of it between them.

use std::collections::HashMap;

use r500_glsl::tree::{Expr, Function, Shader, Stmt, Variable, VariableId};
use r500_glsl::types::Type;
use r500_glsl::{Diagnostic, Span, Stage, Version};

use crate::bindings;
use crate::lexer::{Kind, Token, tokens};
use crate::opcodes::{OPCODES, Opcode, Target};

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
    pub(crate) hint: Option<&'a str>,
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

/// A program that is read.
pub(crate) struct Reader<'a> {
    pub(crate) stage: Stage,
    tokens: Vec<Token<'a>>,
    at: usize,
    errors: Vec<Diagnostic>,
    pub(crate) variables: Vec<Variable>,
    /// Uniforms, attributes and results that have a variable.
    pub(crate) by_name: HashMap<String, VariableId>,
    /// What the names of the program mean.
    pub(crate) names: HashMap<&'a str, Meaning>,
    /// Variables for arrays of parameters that are not part of one uniform.
    pub(crate) tables: HashMap<String, VariableId>,
    /// The target that each texture unit has.
    pub(crate) units: HashMap<u32, Target>,
    pub(crate) options: Options<'a>,
    pub(crate) body: Vec<Stmt>,
    pub(crate) sets_position: bool,
    /// The name by which each attribute of a vertex is read, by number.
    pub(crate) slots: HashMap<u32, String>,
    /// Vectors of `program.env` and `program.local`.
    pub(crate) lengths: [u32; 2],
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

    pub(crate) fn report(&mut self, error: Diagnostic) {
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
                        self.names.insert(name.text, Meaning::Broken);
                        return Err(stop);
                    }
                };
                self.names.insert(name.text, meaning);
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
    pub(crate) fn is_reserved(&self, word: &str) -> bool {
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
}
