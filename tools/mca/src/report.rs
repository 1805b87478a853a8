//! The answer, as a table and as JSON.

use std::io::{self, Write};

use serde::Serialize;

/// The results of all estimates.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    /// LLVM's version.
    pub(crate) llvm: String,
    /// The processors.
    pub(crate) cpus: Vec<Cpu>,
    pub(crate) rows: Vec<Row>,
    /// Programs that could not be estimated, with the reason.
    pub(crate) failed: Vec<(String, String)>,
}

/// A processor.
#[derive(Debug, Serialize)]
pub(crate) struct Cpu {
    pub(crate) name: String,
    /// Maximal number of products and sums per cycle.
    pub(crate) peak: f64,
}

/// A program, or a part of it.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) name: String,
    /// The part; `None` for the whole program.
    pub(crate) part: Option<String>,
    /// The estimates by processor.
    pub(crate) estimates: Vec<Estimate>,
    /// The measured share of peak.
    pub(crate) measured: Option<f64>,
}

/// The estimate for a processor.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Estimate {
    pub(crate) pixels_per_kilocycle: f64,
    /// The estimated share of peak; `None` for parts of programs.
    pub(crate) share_of_peak: Option<f64>,
    /// Fraction of the time in which the busiest unit works.
    pub(crate) busy: f64,
    /// The name of that unit.
    pub(crate) unit: String,
    /// Instructions per 16 pixels.
    pub(crate) instructions: f64,
}

impl Report {
    pub(crate) fn write_json(&self, out: &mut impl Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, self)?;
        writeln!(out)
    }

    pub(crate) fn write_table(&self, out: &mut impl Write) -> io::Result<()> {
        let measured = self.rows.iter().any(|row| row.measured.is_some());
        let width = self.rows.iter().map(|row| row.title().len()).max().unwrap_or(0).max(7);
        write!(out, "{:width$}", "")?;
        for cpu in &self.cpus {
            write!(out, "  {:>25}", cpu.name)?;
        }
        write!(out, "\n{:width$}", "program")?;
        for _ in &self.cpus {
            write!(out, "  {:>9} {:>8} {:>6}", "px/kcycle", "of peak", "busy")?;
        }
        writeln!(out, "{}", if measured { "  measured" } else { "" })?;
        for row in &self.rows {
            write!(out, "{:width$}", row.title())?;
            for Estimate { pixels_per_kilocycle, share_of_peak, busy, .. } in &row.estimates {
                let share = percent(*share_of_peak);
                let busy = percent(Some(*busy));
                write!(out, "  {pixels_per_kilocycle:>9.1} {share:>8} {busy:>6}")?;
            }
            match measured {
                true => writeln!(out, "  {:>8}", percent(row.measured))?,
                false => writeln!(out)?,
            }
        }
        write!(out, "{:width$}", "median")?;
        for cpu in 0..self.cpus.len() {
            let of = |f: &dyn Fn(&Estimate) -> Option<f64>| {
                median(self.rows.iter().filter_map(|row| f(&row.estimates[cpu])))
            };
            let share = percent(of(&|estimate| estimate.share_of_peak));
            let busy = percent(of(&|estimate| Some(estimate.busy)));
            write!(out, "  {:>9} {share:>8} {busy:>6}", "")?;
        }
        writeln!(out)?;
        for cpu in &self.cpus {
            writeln!(out, "peak of {}: {:.1} products and sums in a cycle", cpu.name, cpu.peak)?;
        }
        writeln!(out, "estimated by llvm-mca {}; nothing of it is measured", self.llvm)?;
        for (name, why) in &self.failed {
            writeln!(out, "{name}: {why}")?;
        }
        Ok(())
    }
}

impl Row {
    fn title(&self) -> String {
        match &self.part {
            Some(part) => format!("{}, {part}", self.name),
            None => self.name.clone(),
        }
    }
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "-".to_owned(), |share| format!("{:.0} %", 100.0 * share))
}

fn median(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let mut numbers: Vec<f64> = numbers.collect();
    numbers.sort_unstable_by(f64::total_cmp);
    let middle = numbers.len() / 2;
    match numbers.len() % 2 {
        0 => Some((numbers.get(middle.checked_sub(1)?)? + numbers.get(middle)?) / 2.0),
        _ => numbers.get(middle).copied(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_are_in_the_middle() {
        assert_eq!(median([].into_iter()), None);
        assert_eq!(median([3.0, 1.0, 2.0].into_iter()), Some(2.0));
        assert_eq!(median([4.0, 1.0, 2.0, 3.0].into_iter()), Some(2.5));
    }
}
