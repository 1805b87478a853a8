//! Registers, constants and numbers as people write them in arguments and rows: `t3`, `const[2].rg`, `time`, `0x3f800000`.

use r500_isa::CONSTANTS;
use r500_program::{Job, Uniform};

/// A constant with selected channels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConstantPlace {
    /// Its number.
    pub constant: usize,
    /// The channels.
    pub channels: Vec<usize>,
}

/// Parses `N`, `N.CHANNELS`, `NAME` or `NAME.CHANNELS`.
///
/// # Errors
/// What there is, if it is not a constant of the program.
pub fn constant_place(job: &Job, text: &str) -> Result<ConstantPlace, String> {
    let text = text.trim();
    let find = |text: &str| {
        if let Some(constant) = register(text, "const", CONSTANTS) {
            return Some(ConstantPlace { constant, channels: (0..4).collect() });
        }
        let uniform = names(job).find(|uniform| uniform.name == text)?;
        let first = usize::from(uniform.channel);
        let channels = (first..first + usize::from(uniform.channels)).filter(|&c| c < 4).collect();
        Some(ConstantPlace { constant: usize::from(uniform.constant), channels })
    };
    if let Some(place) = find(text) {
        return Ok(place);
    }
    if let Some((name, letters)) = text.rsplit_once('.')
        && let Some(whole) = find(name)
    {
        let letters = channels(letters).ok_or_else(|| {
            format!("`.{letters}` names no channels; write letters of rgba or xyzw")
        })?;
        let channels: Option<Vec<usize>> =
            letters.into_iter().map(|letter| whole.channels.get(letter).copied()).collect();
        let channels = channels
            .ok_or_else(|| format!("`{name}` has only {} channels", whole.channels.len()))?;
        return Ok(ConstantPlace { constant: whole.constant, channels });
    }
    let names: Vec<&str> = names(job).map(|uniform| uniform.name.as_str()).collect();
    let known = if names.is_empty() {
        "the program names none of its constants".to_owned()
    } else {
        format!("its names are {}", names.join(", "))
    };
    Err(format!("`{text}` is not a constant; there are const[0] to const[255], and {known}"))
}

/// Returns the names of a program's constants; names of immediates are last.
fn names(job: &Job) -> impl Iterator<Item = &Uniform> {
    job.uniforms.iter().chain(&job.named_by_value)
}

/// Parses a float: decimal, `nan`, `inf`, or its bits as `0x` and eight hex digits.
///
/// # Errors
/// What can be written.
pub fn float(text: &str) -> Result<f32, String> {
    let text = text.trim();
    let hex = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let value = match hex {
        Some(digits) if digits.len() == 8 => {
            u32::from_str_radix(digits, 16).ok().map(f32::from_bits)
        }
        Some(_) => None,
        None => text.parse().ok(),
    };
    value.ok_or_else(|| {
        format!("`{text}` is not a number; write a decimal, nan, inf, or float bits as 0x3f800000")
    })
}

/// Parses a set of channels from `rgba` or `xyzw` letters, red in bit 0.
#[must_use]
pub fn channels(text: &str) -> Option<Vec<usize>> {
    let letters: Option<Vec<usize>> = text
        .chars()
        .map(|c| match c.to_ascii_lowercase() {
            'r' | 'x' => Some(0),
            'g' | 'y' => Some(1),
            'b' | 'z' => Some(2),
            'a' | 'w' => Some(3),
            _ => None,
        })
        .collect();
    letters.filter(|letters| !letters.is_empty() && letters.len() <= 4)
}

/// Parses a register: `3`, `KIND[3]`, or the kind's first letter and the number (`t3`), below `count`.
#[must_use]
pub fn register(text: &str, kind: &str, count: usize) -> Option<usize> {
    let text = text.trim();
    let inner = text
        .strip_prefix(kind)
        .and_then(|rest| rest.trim().strip_prefix('[')?.strip_suffix(']'))
        .or_else(|| text.strip_prefix(&kind[..1]))
        .unwrap_or(text);
    inner.trim().parse().ok().filter(|&n| n < count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        assert_eq!(float("0x3f800000"), Ok(1.0));
        assert_eq!(float("-1.5e3"), Ok(-1500.0));
        assert!(float("nan").is_ok_and(f32::is_nan));
        assert!(float("0x3f8").is_err() && float("one").is_err() && float("").is_err());
    }

    #[test]
    fn registers() {
        assert_eq!(register("temp[12]", "temp", 128), Some(12));
        assert_eq!(register("t3", "temp", 128), Some(3));
        assert_eq!(register("7", "const", 256), Some(7));
        assert_eq!(register("temp[128]", "temp", 128), None);
        assert_eq!(register("time", "temp", 128), None);
        assert_eq!(channels("xw"), Some(vec![0, 3]));
        assert_eq!(channels("rgbq"), None);
    }
}
