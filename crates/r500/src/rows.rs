//! Batch evaluation: a program as a function of its inputs, run once for each row of values.

use r500_exec::{BindError, Bindings, Engine, Frame, Options, RunError, Shader, draw};
use r500_program::{Input, InputData, Job};

use crate::builtin_uniforms::{self, BuiltinUniforms};

/// The results, in the order of the rows.
#[derive(Clone, Debug)]
pub struct Rows {
    frame: Frame,
    count: usize,
}

/// Why rows cannot run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RowsError {
    /// Inputs of different lengths.
    #[error("temp[{temp}] has {given} rows and temp[{first}] has {wanted}: give as many of each")]
    Lengths {
        /// The temporary with another length.
        temp: u8,
        /// Its number of rows.
        given: usize,
        /// The temporary that it is compared with.
        first: u8,
        /// Number of rows of that one.
        wanted: usize,
    },
    /// No rows.
    #[error("there are no rows")]
    None,
    /// An input cannot be bound.
    #[error(transparent)]
    Bind(#[from] BindError),
    /// The run failed.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// Rows are drawn as pixels: how many in a row of the picture.
const COLUMNS: usize = 1024;

/// Runs a program once for each row. `inputs` are temporaries with one vector a row; all other inputs of the job are 0.
/// Each row is a quad of four equal pixels, so that differences across the quad are 0.
///
/// # Errors
/// [`RowsError`].
pub fn run_rows(
    engine: &dyn Engine,
    job: &Job,
    shader: &Shader,
    inputs: &[(u8, &[[f32; 4]])],
    options: &Options<'_>,
) -> Result<Rows, RowsError> {
    let Some(&(first, rows)) = inputs.first() else { return Err(RowsError::None) };
    let count = rows.len();
    if count == 0 {
        return Err(RowsError::None);
    }
    let (columns, lines) = (count.min(COLUMNS), count.div_ceil(COLUMNS));
    let size = [2 * columns, 2 * lines].map(|n| u32::try_from(n).unwrap_or(u32::MAX));
    let job = Job { inputs: Some(Vec::new()), coverage: None, ..job.clone() };
    let mut bindings = Bindings::new(&job, size)?;
    // Rows have no picture: the resolution is that of the job's.
    BuiltinUniforms::of_picture(&job, builtin_uniforms::default_size(&job))
        .bind(&job.uniforms, &mut bindings)?;
    for &(temp, rows) in inputs {
        if rows.len() != count {
            return Err(RowsError::Lengths { temp, given: rows.len(), first, wanted: count });
        }
        let mut values = Vec::with_capacity(4 * columns * lines);
        for line in 0..2 * lines {
            let rows = rows.iter().skip(line / 2 * COLUMNS).chain(std::iter::repeat(&[0.0; 4]));
            values.extend(rows.take(columns).flat_map(|row| [*row, *row]));
        }
        bindings.set_input(Input { temp, data: InputData::Values { width: size[0], values } })?;
    }
    Ok(Rows { frame: draw(engine, shader, &bindings, options)?, count })
}

impl Rows {
    /// Returns the number of rows.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns the pixel index of each row.
    fn pixels(&self) -> impl Iterator<Item = usize> + use<> {
        let width = self.frame.width() as usize;
        (0..self.count).map(move |row| row / COLUMNS * 2 * width + row % COLUMNS * 2)
    }

    /// Returns the colours of a target, one a row; `None` if the program cannot write it. Target 0 always exists.
    #[must_use]
    pub fn colors(&self, target: usize) -> Option<Vec<[f32; 4]>> {
        let plane = self.frame.target(target)?;
        Some(self.pixels().map(|pixel| plane[pixel]).collect())
    }

    /// Returns depth, one value a row; `None` if the program cannot write it.
    #[must_use]
    pub fn depth(&self) -> Option<Vec<f32>> {
        let plane = self.frame.depth()?;
        Some(self.pixels().map(|pixel| plane[pixel]).collect())
    }

    /// Returns whether each row was not killed.
    #[must_use]
    pub fn alive(&self) -> Vec<bool> {
        let plane = self.frame.coverage();
        self.pixels().map(|pixel| plane[pixel]).collect()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::exec::reference::Reference;
    use crate::reader::{Language, read};

    #[test]
    fn rows_are_functions_of_their_values() {
        let source = b"TEX temp[2].rgba = TEXKILL tex[0].rgba temp[1].rrrr ;
            OUT LAST src0.rgb = temp[0], src1.rgb = temp[1] :
            out[0].rgb = MAD src0.rgb src1.rgb src0.000, out[0].a = MAX src0.1 src0.1 ;";
        let job =
            read(source, None, Some(Language::Assembly), &Default::default()).unwrap().remove(0);
        let shader = Shader::new(&job.program).unwrap();
        // More rows than one row of the picture has.
        let a: Vec<[f32; 4]> = (0..2500).map(|n| [n as f32, 1.0, 2.0, 3.0]).collect();
        let b: Vec<[f32; 4]> = (0..2500).map(|n| [n as f32 - 2.0, 0.5, 4.0, 0.0]).collect();
        let run = |inputs: &[(u8, &[[f32; 4]])]| {
            run_rows(&Reference, &job, &shader, inputs, &Options::default())
        };
        let rows = run(&[(0, &a), (1, &b)]).unwrap();
        let (colors, alive) = (rows.colors(0).unwrap(), rows.alive());
        assert_eq!([colors.len(), alive.len()], [2500; 2]);
        for (n, (color, alive)) in colors.iter().zip(alive).enumerate() {
            // Negative values kill the row.
            assert_eq!(alive, n >= 2);
            let x = n as f32;
            let wanted = if alive { [x * (x - 2.0), 0.5, 8.0, 1.0] } else { [0.0; 4] };
            assert_eq!(*color, wanted, "row {n}");
        }
        let lengths = RowsError::Lengths { temp: 1, given: 3, first: 0, wanted: 2500 };
        assert_eq!(run(&[(0, &a), (1, &b[..3])]).unwrap_err(), lengths);
        assert_eq!(run(&[]).unwrap_err(), RowsError::None);
    }
}
