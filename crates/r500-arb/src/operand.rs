//! Operands: what they read or write, with swizzles, masks and signs.

use r500_glsl::tree::{Expr, ExprKind, VariableId};
use r500_glsl::types::Type;
use r500_glsl::{Binary, Diagnostic, Span, Stage};

use crate::bindings;
use crate::build::Build;
use crate::lexer::Kind;
use crate::name::whole;
use crate::path::{Index, Part};
use crate::program::{Meaning, Place, Read, Reader, Stop, Vector};

/// What an instruction writes.
pub(crate) struct Destination {
    pub(crate) place: Place,
    /// The components that it writes, in their order.
    pub(crate) mask: Vec<u8>,
}

/// A source of an instruction, without its sign.
struct Source {
    value: Expr,
    /// Whether it is a number, without braces.
    is_number: bool,
    /// The components after the last point.
    swizzle: Option<(Vec<u8>, Span)>,
    span: Span,
}

/// Reads components: `xyz`, or `rgb` in fragment programs.
fn components(stage: Stage, text: &str) -> Option<Vec<u8>> {
    let of = |letters: &str| {
        text.chars().map(|c| letters.find(c).map(|at| at as u8)).collect::<Option<Vec<u8>>>()
    };
    of("xyzw").or_else(|| of("rgba").filter(|_| stage == Stage::Fragment))
}

impl Reader<'_> {
    /// Reads an operand that is a vector.
    pub(crate) fn vector(&mut self) -> Read<Expr> {
        let (negative, source) = self.source()?;
        let build = Build { span: source.span };
        let value = match source.swizzle {
            None => source.value,
            Some((list, _)) => match list[..] {
                [one] => build.swizzle(source.value, &[one; 4]),
                _ if list.len() == 4 => build.swizzle(source.value, &list),
                _ => return Err(self.bad_swizzle(source.span).into()),
            },
        };
        Ok(if negative { build.negate(value) } else { value })
    }

    /// Reads an operand that is one component.
    pub(crate) fn scalar(&mut self, opcode: &str) -> Read<Expr> {
        let (negative, source) = self.source()?;
        let build = Build { span: source.span };
        let component = match source.swizzle.as_ref().map(|(list, _)| &list[..]) {
            Some([one]) => *one,
            None => {
                let message = format!("{opcode} takes one component");
                let error = Diagnostic::error(source.span, message);
                let after = source.span.after();
                return Err(match source.is_number {
                    true => error.help("write a number as a vector with a component: `{2.0}.x`"),
                    false => error.fix("write which one: `.x`", after, ".x"),
                }
                .into());
            }
            Some(_) => {
                let message = format!("{opcode} takes one component");
                return Err(Diagnostic::error(source.span, message).help("write one").into());
            }
        };
        let value = build.component(&source.value, component);
        Ok(if negative { build.negate(value) } else { value })
    }

    /// Reads the source of SWZ: a vector without a swizzle, a comma, and four components of it, 0 or 1, each with a sign.
    pub(crate) fn extended_swizzle(&mut self) -> Read<Expr> {
        let (negative, source) = self.source()?;
        if let (Some((_, span)), _) | (None, Some(span)) =
            (&source.swizzle, negative.then_some(source.span).as_ref())
        {
            let message = "the source of SWZ has neither sign nor swizzle";
            let help = "its components follow after a comma: `SWZ a, b, x, -y, 0, 1;`";
            return Err(Diagnostic::error(*span, message).help(help).into());
        }
        let build = Build { span: source.span };
        let mut parts = Vec::new();
        let mut letters = String::new();
        for _ in 0..4 {
            self.expect(",", "before each of four components")?;
            let minus = self.take("-");
            if !minus {
                self.take("+");
            }
            let token = self.next();
            letters.extend(token.text.chars().filter(char::is_ascii_alphabetic));
            // Letters are all of one set.
            let all = components(self.stage, &letters);
            let part = match (token.kind, all.and_then(|all| all.last().copied())) {
                (Kind::Integer(n @ (0 | 1)), _) => build.number(n as f32),
                (Kind::Name, Some(component)) if token.text.len() == 1 => {
                    build.component(&source.value, component)
                }
                _ => {
                    let message = format!("{} is not a component", token.describe());
                    let help =
                        "components are x, y, z, w, 0 and 1, or r, g, b and a in their place";
                    return Err(Diagnostic::error(token.span, message).help(help).into());
                }
            };
            parts.push(if minus { build.negate(part) } else { part });
        }
        Ok(build.join(parts))
    }

    fn bad_swizzle(&self, span: Span) -> Diagnostic {
        let message = "a swizzle has one or four components";
        let help = match self.stage {
            Stage::Fragment => "write `.x`, `.xyzw` or `.rgba`",
            Stage::Vertex => "write `.x` or `.xyzw`",
        };
        Diagnostic::error(span, message).help(help)
    }

    /// Reads a sign and what follows it.
    fn source(&mut self) -> Read<(bool, Source)> {
        let start = self.peek().span;
        let negative = self.take("-");
        if !negative {
            self.take("+");
        }
        let token = self.peek();
        if matches!(token.kind, Kind::Integer(_) | Kind::Number(_)) || token.is("{") {
            let is_number = !token.is("{");
            let values = self.constant()?;
            let span = start.to(self.last_span());
            let swizzle = match self.take(".") {
                true => {
                    let token = self.next();
                    Some((self.suffix(token.text, token.span)?, token.span))
                }
                false => None,
            };
            let value = Build { span }.vector(values);
            return Ok((negative, Source { value, swizzle, is_number, span }));
        }
        let path = self.path()?;
        let span = whole(&path);
        let (meaning, parts) = self.path_meaning(&path)?;
        let value = self.value(meaning, &path, parts)?;
        let swizzle = self.suffix_of(&path[parts..])?;
        Ok((negative, Source { value, swizzle, is_number: false, span }))
    }

    fn suffix(&self, text: &str, span: Span) -> Read<Vec<u8>> {
        components(self.stage, text).filter(|list| list.len() <= 4).ok_or_else(|| {
            let message = format!("`.{text}` is not a swizzle");
            let help = match self.stage {
                Stage::Fragment => "components are x, y, z, w or r, g, b, a",
                Stage::Vertex => "components are x, y, z and w",
            };
            Diagnostic::error(span, message).help(help).into()
        })
    }

    /// Reads what of a path follows its meaning.
    fn suffix_of(&self, rest: &[Part]) -> Read<Option<(Vec<u8>, Span)>> {
        let Some(part) = rest.first() else { return Ok(None) };
        if let Some(more) = rest.get(1) {
            let message = "nothing follows a swizzle";
            return Err(Diagnostic::error(more.span, message).into());
        }
        if let Some((_, span)) = &part.index {
            return Err(Diagnostic::error(*span, "a swizzle has no index").into());
        }
        Ok(Some((self.suffix(&part.name, part.span)?, part.span)))
    }

    /// Returns what a path means, and how many of its parts say it.
    fn path_meaning(&mut self, path: &[Part]) -> Read<(Meaning, usize)> {
        let first = &path[0];
        if bindings::roots(self.stage).any(|root| root == first.name) {
            let binding = bindings::find(self.stage, path)?;
            let span = whole(&path[..binding.parts]);
            return Ok((self.bound(&binding, span)?, binding.parts));
        }
        Ok((self.meaning(&first.name, first.span)?, 1))
    }

    /// Returns a vector that is read.
    fn value(&mut self, meaning: Meaning, path: &[Part], parts: usize) -> Read<Expr> {
        let span = whole(&path[..parts]);
        let build = Build { span };
        // Indices of paths of the language are parts of their names.
        let is_declared = !bindings::roots(self.stage).any(|root| root == path[0].name);
        let index = path[0].index.clone().filter(|_| is_declared);
        if let Meaning::Array(elements) = meaning {
            return self.element(&path[0].name, &elements, index, span);
        }
        if let Some((_, span)) = index {
            let message = format!("`{}` is not an array", path[0].name);
            return Err(Diagnostic::error(span, message).into());
        }
        let name = path[..parts].iter().map(|part| &*part.name).collect::<Vec<_>>().join(".");
        Ok(match meaning {
            Meaning::Temporary(id) => build.variable(id, Type::floats(4)),
            Meaning::Attribute(value) => Expr { span, ..value },
            Meaning::Parameter(vector) => self.read_vector(vector, build),
            Meaning::Result(_) => {
                let message = format!("`{name}` is a result, which is only written");
                let help = "compute into a temporary, and move it to the result";
                return Err(Diagnostic::error(span, message).help(help).into());
            }
            Meaning::Address(_) => {
                let message = format!("`{name}` is an address register, which is only an index");
                return Err(Diagnostic::error(span, message).into());
            }
            Meaning::Array(_) | Meaning::Broken => return Err(Stop::Known),
        })
    }

    fn read_vector(&mut self, vector: Vector, build: Build) -> Expr {
        match vector {
            Vector::Constant(values) => build.vector(values),
            Vector::Uniform(id, None) => build.variable(id, self.type_of(id)),
            Vector::Uniform(id, Some(n)) => {
                // A number below 256.
                let index = build.integer(n as i32);
                self.indexed(id, index, build)
            }
        }
    }

    fn indexed(&self, array: VariableId, index: Expr, build: Build) -> Expr {
        let of = Box::new(build.variable(array, self.type_of(array)));
        build.expr(ExprKind::Index(of, Box::new(index)), Type::floats(4))
    }

    /// Returns an element of an array of parameters.
    fn element(
        &mut self,
        name: &str,
        elements: &[Vector],
        index: Option<(Index, Span)>,
        span: Span,
    ) -> Read<Expr> {
        let build = Build { span };
        let count = elements.len();
        match index {
            None => {
                let message = format!("`{name}` is an array");
                Err(Diagnostic::error(span, message)
                    .fix("write which element: `[0]`", span.after(), "[0]")
                    .into())
            }
            Some((Index::One(n), at)) => match elements.get(n as usize) {
                Some(vector) => Ok(self.read_vector(*vector, build)),
                None => {
                    let message = format!("`{name}` has elements 0 to {}", count.saturating_sub(1));
                    Err(Diagnostic::error(at, message).into())
                }
            },
            Some((Index::Range(..), at)) => {
                Err(Diagnostic::error(at, "an operand is one element, no range").into())
            }
            Some((Index::Relative { register, component, offset }, at)) => {
                let address = self.address(&register, component.as_deref(), at)?;
                Ok(self.relative(name, elements, (address, offset), build))
            }
        }
    }

    /// Returns the address register that an index names.
    fn address(&self, register: &str, component: Option<&str>, span: Span) -> Read<VariableId> {
        if self.stage == Stage::Fragment {
            let message = "fragment programs have no indices that are not numbers";
            return Err(Diagnostic::error(span, message).into());
        }
        let Meaning::Address(id) = self.meaning(register, span)? else {
            let message = format!("`{register}` is not an address register");
            let help = "declare one: `ADDRESS a;`, and set it: `ARL a.x, …;`";
            return Err(Diagnostic::error(span, message).help(help).into());
        };
        match component {
            Some("x") => Ok(id),
            _ => {
                let message = "address registers have one component";
                Err(Diagnostic::error(span, message).help(format!("write `{register}.x`")).into())
            }
        }
    }

    fn relative(
        &mut self,
        name: &str,
        elements: &[Vector],
        (address, offset): (VariableId, i32),
        build: Build,
    ) -> Expr {
        // Vectors of one uniform, one after the other, are read there.
        let part = match elements.first() {
            Some(Vector::Uniform(id, Some(first))) => {
                let is_part = (*first..)
                    .zip(elements)
                    .all(|(n, element)| *element == Vector::Uniform(*id, Some(n)));
                is_part.then_some((*id, *first))
            }
            _ => None,
        };
        let (array, first) = part.unwrap_or_else(|| (self.table_of(name, elements, build), 0));
        // At most 256.
        let offset = offset.saturating_add(first as i32);
        let address = build.variable(address, Type::INT);
        let index = match offset {
            0 => address,
            _ => build.binary(Binary::Add, address, build.integer(offset)),
        };
        self.indexed(array, index, build)
    }

    fn table_of(&mut self, name: &str, elements: &[Vector], build: Build) -> VariableId {
        if let Some(id) = self.tables.get(name) {
            return *id;
        }
        let values = elements.iter().map(|element| self.read_vector(*element, build)).collect();
        let id = self.table(name, values, build.span);
        self.tables.insert(name.to_owned(), id);
        id
    }

    /// Reads what an instruction writes.
    pub(crate) fn destination(&mut self) -> Read<Destination> {
        let path = self.path()?;
        let (meaning, parts) = self.path_meaning(&path)?;
        let span = whole(&path[..parts]);
        let build = Build { span };
        let name = path[..parts].iter().map(|part| &*part.name).collect::<Vec<_>>().join(".");
        let place = match meaning {
            Meaning::Temporary(id) => {
                if let Some((_, at)) = &path[0].index {
                    return Err(Diagnostic::error(*at, format!("`{name}` is not an array")).into());
                }
                Place { target: build.variable(id, Type::floats(4)), component: None }
            }
            Meaning::Result(place) => place,
            Meaning::Address(_) => {
                let message = format!("`{name}` is an address register, which only ARL sets");
                return Err(Diagnostic::error(span, message).into());
            }
            _ => {
                let message = format!("`{name}` is only read");
                let help = "write to a temporary or a result";
                return Err(Diagnostic::error(span, message).help(help).into());
            }
        };
        let mask = self.mask(&path[parts..])?;
        Ok(Destination { place, mask })
    }

    /// Reads a mask: components in their order.
    fn mask(&self, rest: &[Part]) -> Read<Vec<u8>> {
        let Some((list, span)) = self.suffix_of(rest)? else { return Ok(vec![0, 1, 2, 3]) };
        if list.windows(2).all(|pair| pair[0] < pair[1]) {
            return Ok(list);
        }
        let mut sorted = list;
        sorted.sort_unstable();
        sorted.dedup();
        let text: String = sorted.iter().map(|c| ['x', 'y', 'z', 'w'][usize::from(*c)]).collect();
        let message = "a mask has each component once, in the order of x, y, z, w";
        Err(Diagnostic::error(span, message).fix(format!("write `.{text}`"), span, text).into())
    }

    /// Reads the address register that ARL sets.
    pub(crate) fn address_destination(&mut self) -> Read<Expr> {
        let path = self.path()?;
        let span = whole(&path);
        let Meaning::Address(id) = self.meaning(&path[0].name, path[0].span)? else {
            let message = "ARL sets an address register";
            return Err(Diagnostic::error(span, message).help("declare one: `ADDRESS a;`").into());
        };
        match path.get(1) {
            Some(part) if part.name == "x" && path.len() == 2 => {
                Ok(Build { span }.variable(id, Type::INT))
            }
            _ => {
                let message = "address registers have one component";
                let help = format!("write `{}.x`", path[0].name);
                Err(Diagnostic::error(span, message).help(help).into())
            }
        }
    }
}
