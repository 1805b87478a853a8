//! The checker: names and types. The tree becomes the typed tree; all errors are found, and what follows from one is not reported.
//!
//! | module | content |
//! | --- | --- |
//! | this one | declarations, scopes |
//! | [`statement`] | statements, and the limits of loops |
//! | [`expression`] | operators, components, indices |
//! | [`call`] | functions and constructors |
//! | [`variables`] | variables of the language |

mod call;
mod expression;
mod statement;
mod variables;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::ast;
use crate::builtins::Builtin;
use crate::constant::{evaluate, integer};
use crate::diagnostic::{Diagnostic, Diagnostics, Span, nearest};
use crate::tree::{Expr, Function, Shader, Stage, Storage, Variable, VariableId};
use crate::types::{Structure, Type};
use crate::version::Version;

/// Most components of an array or a structure.
const MOST_COMPONENTS: usize = 1 << 14;
/// Most components of all variables.
const MOST_IN_ALL: usize = 1 << 16;
/// Most calls inside of each other.
const MOST_CALLS: usize = 64;

/// Checks the items of a source. The shader counts only if there is no error.
pub(crate) fn check(
    source: &ast::Source,
    stage: Stage,
    version: Version,
    diagnostics: &mut Diagnostics,
) -> Option<Shader> {
    let items = &source.items;
    let defines = |name: &str| {
        let is = |item: &&ast::Item| matches!(item, ast::Item::Function(f) if *f.name == *name && f.body.is_some());
        items.iter().find(is)
    };
    let is_main_image =
        stage == Stage::Fragment && defines("main").is_none() && defines("mainImage").is_some();
    let mut checker = Checker {
        stage,
        version,
        is_main_image,
        diagnostics,
        variables: Vec::new(),
        scopes: vec![HashMap::new()],
        functions: Vec::new(),
        returns: Type::Void,
        loops: 0,
        loop_indices: Vec::new(),
        builtins: HashMap::new(),
        current: None,
        fragment_outputs: 0,
        indices: &source.indices,
        unsized_arrays: HashSet::new(),
    };
    for item in items {
        match item {
            ast::Item::Declare(declaration) => {
                checker.global(declaration);
            }
            ast::Item::Function(function) => checker.function(function),
        }
    }
    let wanted = if is_main_image { "mainImage" } else { "main" };
    let main = checker.functions.iter().position(|f| f.name == wanted && f.body.is_some());
    let Some(main) = main else {
        let has_errors = checker.diagnostics.all.iter().any(Diagnostic::is_error);
        if !has_errors {
            let message = "the shader has no function `main`";
            let names = checker.functions.iter().map(|function| function.name.as_str());
            let near = nearest("main", names);
            let near =
                checker.functions.iter().find(|function| Some(function.name.as_str()) == near);
            let error = match near {
                Some(near) => {
                    let help = format!("did you mean `main` instead of `{}`?", near.name);
                    Diagnostic::error(near.span, message).fix(help, near.span, "main")
                }
                None => {
                    Diagnostic::error(Span::default(), message).help("write `void main() { … }`")
                }
            };
            checker.diagnostics.add(error);
        }
        return None;
    };
    checker.check_recursion(main);
    checker.check_sizes();
    let Checker { variables, functions, .. } = checker;
    let functions = functions
        .into_iter()
        .map(|f| Function {
            name: f.name,
            parameters: f.parameters,
            returns: f.returns,
            body: f.body.unwrap_or_default(),
            span: f.span,
        })
        .collect();
    Some(Shader { stage, version, variables, functions, main, is_main_image })
}

#[derive(Clone, Debug)]
enum Symbol {
    Variable(VariableId),
    Type(Type),
}

struct Signature {
    name: String,
    parameters: Vec<VariableId>,
    types: Vec<Type>,
    returns: Type,
    body: Option<Vec<crate::tree::Stmt>>,
    calls: Vec<(usize, Span)>,
    span: Span,
}

struct Checker<'a> {
    stage: Stage,
    version: Version,
    is_main_image: bool,
    diagnostics: &'a mut Diagnostics,
    variables: Vec<Variable>,
    scopes: Vec<HashMap<Box<str>, Symbol>>,
    functions: Vec<Signature>,
    /// Of the function that is read.
    returns: Type,
    /// Open loops.
    loops: usize,
    /// The indices of open `for` loops, which are constant for GLSL ES 1.00.
    loop_indices: Vec<VariableId>,
    builtins: HashMap<&'static str, VariableId>,
    /// The function that is read.
    current: Option<usize>,
    /// Outputs of ES 3.00 without a location.
    fragment_outputs: u8,
    /// As of [`ast::Source`].
    indices: &'a HashMap<Box<str>, i64>,
    /// Arrays that are declared without a size.
    unsized_arrays: HashSet<VariableId>,
}

impl Checker<'_> {
    fn error(&mut self, span: Span, message: impl Into<String>) {
        self.diagnostics.add(Diagnostic::error(span, message));
    }

    fn lookup(&self, name: &str) -> Option<&Symbol> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name))
    }

    fn scoped<T>(&mut self, inside: impl FnOnce(&mut Self) -> T) -> T {
        self.scopes.push(HashMap::new());
        let result = inside(self);
        self.scopes.pop();
        result
    }

    /// Adds a name to the innermost scope.
    fn bind(&mut self, name: &str, span: Span, symbol: Symbol) {
        let known = self.scopes.last().and_then(|scope| scope.get(name)).cloned();
        if let Some(known) = known {
            let message = format!("`{name}` is declared twice");
            let mut error = Diagnostic::error(span, message);
            if let Symbol::Variable(id) = known
                && self.variables[id].ty.is_error()
            {
                return;
            }
            error = error.help("give one of both another name");
            self.diagnostics.add(error);
        }
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.into(), symbol);
        }
    }

    fn variable(&mut self, variable: Variable) -> VariableId {
        self.variables.push(variable);
        self.variables.len() - 1
    }

    /// Declares a variable of a declarator. One of an array without a size that is declared again, with a size, is the same variable.
    fn declare(
        &mut self,
        variable: Variable,
        declarator: &ast::Declarator,
        has_size: bool,
    ) -> VariableId {
        let known = self.scopes.last().and_then(|scope| scope.get(&declarator.name));
        if let Some(Symbol::Variable(id)) = known
            && self.unsized_arrays.contains(id)
            && let (Type::Array(of, length), Type::Array(known, least)) =
                (&variable.ty, &self.variables[*id].ty)
            && of == known
            && length >= least
        {
            let id = *id;
            if has_size {
                self.unsized_arrays.remove(&id);
            }
            self.variables[id] = variable;
            return id;
        }
        let is_array = matches!(variable.ty, Type::Array(..));
        let id = self.variable(variable);
        if is_array && !has_size {
            self.unsized_arrays.insert(id);
        }
        // Built-in ones may be declared again.
        let is_builtin = self.scopes.len() == 1
            && declarator.name.starts_with("gl_")
            && self.builtin_variable(&declarator.name).is_some();
        if !is_builtin {
            self.bind(&declarator.name, declarator.span, Symbol::Variable(id));
        }
        id
    }

    /// Returns the type of a declarator, and whether an array has a size by its declaration: else by the largest index.
    fn type_of_declarator(
        &mut self,
        base: &Type,
        declarator: &ast::Declarator,
        init: Option<&Expr>,
    ) -> (Type, bool) {
        match self.array_of(base.clone(), &declarator.array, init) {
            Type::Array(of, 0) => {
                let given = init.and_then(|init| match init.ty {
                    Type::Array(_, length) => Some(length),
                    _ => None,
                });
                let most = || self.indices.get(&declarator.name);
                let by_use = || most().and_then(|most| usize::try_from(*most).ok()?.checked_add(1));
                let fits =
                    |length: &usize| of.components().saturating_mul(*length) <= MOST_COMPONENTS;
                match given.or_else(by_use).filter(fits) {
                    Some(length) => (Type::Array(of, length), given.is_some()),
                    // Its elements are errors where they are named.
                    None => (Type::Array(of, 0), false),
                }
            }
            ty => (ty, true),
        }
    }

    // Types.

    fn type_of(&mut self, name: &ast::TypeName) -> Type {
        let ty = match &name.members {
            Some(members) => self.structure(name, members),
            None => match self.lookup(&name.name) {
                Some(Symbol::Type(ty)) => ty.clone(),
                _ => match Type::named(&name.name) {
                    Some(ty) => ty,
                    None => {
                        self.unknown_type(name);
                        Type::Error
                    }
                },
            },
        };
        self.array_of(ty, &name.array, None)
    }

    fn unknown_type(&mut self, name: &ast::TypeName) {
        let error = Diagnostic::error(name.span, format!("`{}` is not a type", name.name));
        let structures = self.scopes.iter().flat_map(|scope| scope.iter());
        let structures = structures
            .filter(|(_, symbol)| matches!(symbol, Symbol::Type(_)))
            .map(|(name, _)| &**name);
        let near = nearest(&name.name, Type::NAMES.into_iter().chain(structures));
        let error = match near {
            Some(near) => error.fix(format!("did you mean `{near}`?"), name.span, near),
            None => error,
        };
        self.diagnostics.add(error);
    }

    fn structure(&mut self, name: &ast::TypeName, members: &[ast::Declaration]) -> Type {
        let mut list: Vec<(String, Type)> = Vec::new();
        for declaration in members {
            let base = self.type_of(&declaration.ty);
            for variable in &declaration.variables {
                let ty = self.array_of(base.clone(), &variable.array, None);
                if list.iter().any(|(other, _)| **other == *variable.name) {
                    let message = format!("the structure has two members `{}`", variable.name);
                    self.error(variable.span, message);
                }
                list.push((variable.name.to_string(), ty));
            }
        }
        let ty = Type::Struct(Arc::new(Structure { name: name.name.to_string(), members: list }));
        let fits = ty.components() <= MOST_COMPONENTS;
        if !fits {
            let message = format!("the structure has more than {MOST_COMPONENTS} components");
            self.error(name.span, message);
        }
        let ty = if fits { ty } else { Type::Error };
        if !name.name.is_empty() {
            self.bind(&name.name, name.span, Symbol::Type(ty.clone()));
        }
        ty
    }

    /// Returns the array of a size; `[]` has that of its value.
    fn array_of(
        &mut self,
        of: Type,
        size: &Option<Option<Box<ast::Expr>>>,
        init: Option<&Expr>,
    ) -> Type {
        let Some(size) = size else { return of };
        let Some(size) = size else {
            if let Some(Type::Array(_, length)) = init.map(|init| &init.ty) {
                return Type::Array(Box::new(of), *length);
            }
            return Type::Array(Box::new(of), 0);
        };
        let span = size.span;
        let size = self.expr(size);
        if size.ty.is_error() || of.is_error() {
            return Type::Error;
        }
        let length = evaluate(&size, &self.variables)
            .filter(|_| size.ty == Type::INT)
            .and_then(|values| integer(*values.first()?))
            .filter(|length| *length > 0);
        match length {
            Some(length) if of.components().saturating_mul(length) <= MOST_COMPONENTS => {
                Type::Array(Box::new(of), length)
            }
            Some(length) => {
                let count = of.components().saturating_mul(length);
                let message =
                    format!("the array has {count} components, more than {MOST_COMPONENTS}");
                self.error(span, message);
                Type::Error
            }
            None => {
                let error =
                    Diagnostic::error(span, "the size of an array is a constant `int` above 0");
                self.diagnostics.add(error);
                Type::Error
            }
        }
    }

    // Global names.

    fn global(&mut self, declaration: &ast::Declaration) {
        let base = self.type_of(&declaration.ty);
        let qualifiers = &declaration.qualifiers;
        for variable in &declaration.variables {
            let init = variable.init.as_ref().map(|init| self.expr(init));
            let (ty, has_size) = self.type_of_declarator(&base, variable, init.as_ref());
            let init = init.map(|init| self.converted(init, &ty, "the value"));
            let storage = self.storage_of(qualifiers, variable);
            self.check_global(&ty, storage, variable, init.is_some());
            let declared = Variable {
                name: variable.name.to_string(),
                ty,
                storage,
                init,
                span: variable.span,
            };
            self.declare(declared, variable, has_size);
        }
    }

    fn storage_of(&mut self, qualifiers: &ast::Qualifiers, variable: &ast::Declarator) -> Storage {
        let is_vertex = self.stage == Stage::Vertex;
        match qualifiers.storage {
            Some((ast::Storage::Uniform, _)) => Storage::Uniform,
            Some((ast::Storage::Varying, _)) => Storage::Varying,
            Some((ast::Storage::Attribute, _)) if is_vertex => Storage::Attribute,
            Some((ast::Storage::Attribute, span)) => {
                let error = Diagnostic::error(span, "a fragment shader has no attributes");
                self.diagnostics.add(error.fix("did you mean `varying`?", span, "varying"));
                Storage::Varying
            }
            None if qualifiers.output && is_vertex => Storage::Varying,
            None if qualifiers.input && is_vertex => Storage::Attribute,
            None if qualifiers.output => {
                let n = qualifiers.location.unwrap_or(i64::from(self.fragment_outputs));
                self.fragment_outputs = self.fragment_outputs.saturating_add(1);
                match u8::try_from(n).ok().filter(|n| *n < 4) {
                    Some(n) => Storage::Output(n),
                    None => {
                        let message = "the chip has render targets 0 to 3";
                        self.error(variable.span, message);
                        Storage::Output(0)
                    }
                }
            }
            None if qualifiers.input => Storage::Varying,
            None if qualifiers.is_const => Storage::Constant,
            None => Storage::Global,
        }
    }

    fn check_global(
        &mut self,
        ty: &Type,
        storage: Storage,
        variable: &ast::Declarator,
        has_value: bool,
    ) {
        let name = &variable.name;
        if ty.is_error() {
            return;
        }
        if *ty == Type::Void {
            self.error(variable.span, format!("`{name}` cannot be `void`"));
        } else if ty.has_sampler() && storage != Storage::Uniform {
            let error =
                Diagnostic::error(variable.span, format!("the sampler `{name}` is not `uniform`"));
            self.diagnostics.add(error.help("write `uniform` before its type"));
        } else if storage == Storage::Constant && !has_value {
            let place = variable.span.after();
            let error =
                Diagnostic::error(variable.span, format!("the constant `{name}` has no value"));
            self.diagnostics.add(error.fix("write its value", place, " = 0.0"));
        }
        let (article, what) = match storage {
            Storage::Varying => ("a", "varying"),
            Storage::Attribute => ("an", "attribute"),
            _ => return,
        };
        if has_value {
            self.error(variable.span, format!("the {what} `{name}` cannot have a value"));
        } else if !is_varying(ty) {
            self.error(variable.span, format!("{article} {what} is of floats, not `{ty}`"));
        }
    }

    fn function(&mut self, function: &ast::Function) {
        let returns = self.type_of(&function.ty);
        let mut parameters = Vec::new();
        for parameter in &function.parameters {
            let base = self.type_of(&parameter.ty);
            let ty = self.array_of(base, &parameter.array, None);
            let output = parameter.qualifiers.output;
            let input = parameter.qualifiers.input || !output;
            if output && ty.has_sampler() {
                self.error(parameter.span, "a sampler cannot be an `out` parameter");
            }
            parameters.push(Variable {
                name: parameter.name.to_string(),
                ty,
                storage: Storage::Parameter { input, output },
                init: None,
                span: parameter.span,
            });
        }
        let types: Vec<Type> = parameters.iter().map(|parameter| parameter.ty.clone()).collect();
        let known =
            self.functions.iter().position(|f| *f.name == *function.name && f.types == types);
        if let Some(known) = known
            && self.functions[known].body.is_some()
            && function.body.is_some()
        {
            self.error(function.span, format!("the function `{}` is defined twice", function.name));
            return;
        }
        if let Some(known) = known
            && self.functions[known].returns != returns
        {
            let message = format!("`{}` was declared with another type", function.name);
            self.error(function.ty.span, message);
        }
        let index = known.unwrap_or(self.functions.len());
        if known.is_none() {
            self.functions.push(Signature {
                name: function.name.to_string(),
                parameters: Vec::new(),
                types,
                returns: returns.clone(),
                body: None,
                calls: Vec::new(),
                span: function.span,
            });
        }
        let ids: Vec<VariableId> = parameters.into_iter().map(|p| self.variable(p)).collect();
        self.functions[index].parameters.clone_from(&ids);
        let Some(body) = &function.body else { return };
        self.returns = returns;
        let body = self.scoped(|checker| {
            for (id, parameter) in ids.iter().zip(&function.parameters) {
                if !parameter.name.is_empty() {
                    checker.bind(&parameter.name, parameter.span, Symbol::Variable(*id));
                }
            }
            checker.function_body(index, body)
        });
        self.functions[index].body = Some(body);
    }

    /// Reports functions that call themselves, calls of functions without a body, and too many calls inside of each other.
    fn check_recursion(&mut self, main: usize) {
        // 0: not seen, 1: open, 2: done.
        let mut states = vec![0u8; self.functions.len()];
        let mut depths = vec![0_usize; self.functions.len()];
        let mut stack = vec![(main, 0)];
        states[main] = 1;
        while let Some((f, next)) = stack.pop() {
            let Some(&(callee, span)) = self.functions[f].calls.get(next) else {
                states[f] = 2;
                let inside = self.functions[f].calls.iter().map(|(callee, _)| depths[*callee]);
                depths[f] = inside.max().unwrap_or(0) + 1;
                continue;
            };
            stack.push((f, next + 1));
            let name = self.functions[callee].name.clone();
            if self.functions[callee].body.is_none() {
                self.error(span, format!("the function `{name}` has no body"));
            } else if states[callee] == 1 {
                let error = Diagnostic::error(span, format!("`{name}` calls itself"));
                self.diagnostics.add(error.help("the chip has no stack; write a loop"));
            } else if states[callee] == 0 {
                states[callee] = 1;
                stack.push((callee, 0));
            }
        }
        if depths[main] > MOST_CALLS {
            let span = self.functions[main].span;
            self.error(span, format!("more than {MOST_CALLS} calls are inside of each other"));
        }
    }

    fn check_sizes(&mut self) {
        let mut count = 0_usize;
        for variable in &self.variables {
            count = count.saturating_add(variable.ty.components());
            if count > MOST_IN_ALL {
                let message = format!("all variables have more than {MOST_IN_ALL} components");
                self.diagnostics.add(Diagnostic::error(variable.span, message));
                return;
            }
        }
    }
}

fn is_varying(ty: &Type) -> bool {
    match ty {
        Type::Array(of, _) => is_varying(of),
        Type::Struct(of) => of.members.iter().all(|(_, ty)| is_varying(ty)),
        _ => ty.base() == Some(crate::types::Base::Float),
    }
}

/// Returns the names of all functions of the language, for suggestions.
fn builtin_functions<'a>() -> impl Iterator<Item = &'a str> {
    Builtin::TABLE.iter().map(|(name, ..)| *name)
}
