//! The variables of a shader that is traced or debugged, as text.

use std::sync::{Arc, OnceLock};

use r500::compile::Base;
use r500::compile::variables::{Inspector, Place, Variable, Vector};
use r500::compile::{self, vertex};
use serde_json::{Map, Value, json};

use super::float_format;

/// What our own compiler made of a shader, with its source.
#[derive(Debug)]
pub(super) struct CompiledShader {
    text: String,
    program: CompiledProgram,
    /// It is made where it is asked for: the program is run for it.
    inspector: OnceLock<Option<Inspector>>,
}

/// A program with what the compiler knows of it.
#[derive(Debug)]
pub(super) enum CompiledProgram {
    Fragment(Box<compile::Compiled>),
    Vertex(Box<vertex::Compiled>),
}

impl CompiledShader {
    pub(super) fn new(text: String, program: CompiledProgram) -> Arc<Self> {
        Arc::new(Self { text, program, inspector: OnceLock::new() })
    }

    /// Returns the inspector of its variables.
    pub(super) fn inspector(&self) -> Option<&Inspector> {
        let make = || match &self.program {
            CompiledProgram::Fragment(compiled) => Inspector::of_fragment(&self.text, compiled),
            CompiledProgram::Vertex(compiled) => Inspector::of_vertex(&self.text, compiled),
        };
        self.inspector.get_or_init(make).as_ref()
    }
}

/// Returns the value of a vector: one number, or several in parentheses.
pub(super) fn value(vector: &Vector) -> String {
    let one = |value: &f32| match vector.base {
        Base::Bool => (*value != 0.0).to_string(),
        Base::Int | Base::Float => float_format::text(*value),
    };
    let all: Vec<String> = vector.values.iter().map(one).collect();
    if let [one] = &all[..] { one.clone() } else { format!("({})", all.join(", ")) }
}

/// Returns the registers that hold a vector, with the letters of channels: `temp[2].xyz`, `temp[1].x, const[0].y`. A component that no
/// register holds is `-`.
pub(super) fn registers(vector: &Vector, letters: [char; 4]) -> String {
    if vector.places.iter().all(Option::is_none) {
        return "in no known register".to_owned();
    }
    let mut parts: Vec<(String, String)> = Vec::new();
    for place in &vector.places {
        let register = place.map_or_else(|| "-".to_owned(), Place::register);
        let letter = place.map(|place| letters[usize::from(place.channel & 3)]);
        match parts.last_mut() {
            Some((last, channels)) if *last == register && letter.is_some() => {
                channels.extend(letter);
            }
            _ => parts.push((register, letter.into_iter().collect())),
        }
    }
    let text = |(register, channels): &(String, String)| match channels.is_empty() {
        true => register.clone(),
        false => format!("{register}.{channels}"),
    };
    parts.iter().map(text).collect::<Vec<_>>().join(", ")
}

/// Returns lines for a variable: each scalar, vector or column with its value and registers.
pub(super) fn lines(variable: &Variable, letters: [char; 4]) -> Vec<String> {
    if variable.vectors.is_empty() {
        return vec![format!("{} is not set yet", variable.name)];
    }
    let line = |vector: &Vector| {
        format!("{} = {}  {}", vector.name, value(vector), registers(vector, letters))
    };
    variable.vectors.iter().map(line).collect()
}

/// Returns the vectors of variables by their names in JSON, with their registers; `null` for a variable that is not set.
pub(super) fn json(variables: &[Variable], letters: [char; 4]) -> Value {
    let mut all = Map::new();
    for variable in variables {
        if variable.vectors.is_empty() {
            all.insert(variable.name.clone(), Value::Null);
        }
        for vector in &variable.vectors {
            let number = |value: &f32| match vector.base {
                Base::Bool => Value::from(*value != 0.0),
                Base::Int | Base::Float => float_format::json(*value),
            };
            let values: Value = vector.values.iter().map(number).collect();
            let held = vector.places.iter().any(Option::is_some);
            let registers = held.then(|| registers(vector, letters));
            all.insert(vector.name.clone(), json!({ "value": values, "registers": registers }));
        }
    }
    Value::Object(all)
}

#[cfg(test)]
mod tests {
    use r500::compile::variables::Bank;

    use super::*;

    #[test]
    fn registers_are_named_once_for_neighbours() {
        let place =
            |number, channel, negated| Some(Place { bank: Bank::Temp, number, channel, negated });
        let vector = |places: Vec<Option<Place>>| Vector {
            name: "v".to_owned(),
            base: Base::Float,
            values: vec![0.5; places.len()],
            places,
        };
        let rgba = ['r', 'g', 'b', 'a'];
        let text = |places| registers(&vector(places), rgba);
        assert_eq!(text(vec![place(2, 0, false), place(2, 1, false)]), "temp[2].rg");
        assert_eq!(
            text(vec![place(2, 0, false), None, place(2, 1, true)]),
            "temp[2].r, -, -temp[2].g"
        );
        assert_eq!(text(vec![None, None]), "in no known register");
        assert_eq!(value(&vector(vec![None])), "0.5");
    }
}
