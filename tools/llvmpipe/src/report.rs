//! The answer, as a table and as JSON.

use std::io::{self, Write};

use serde::Serialize;

use crate::measure::median;

/// The results of all programs.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    /// The engine's name.
    pub(crate) engine: String,
    /// The requested instruction set.
    pub(crate) simd: String,
    /// Threads of each renderer.
    pub(crate) threads: usize,
    /// Width and height of the pictures.
    pub(crate) size: [u32; 2],
    /// The output format of the engine: `float` or `rgba8`.
    pub(crate) output: &'static str,
    /// The name of llvmpipe's renderer.
    pub(crate) llvmpipe: String,
    /// Median of the programs' ratios.
    pub(crate) median: Option<f64>,
    /// The least of the programs' ratios.
    pub(crate) worst: Option<f64>,
    /// The programs that were timed, the least ratio first.
    pub(crate) programs: Vec<Row>,
    /// The programs that could not be timed.
    pub(crate) failed: Vec<Failed>,
}

/// A program that was timed.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Row {
    /// Its name.
    pub(crate) name: String,
    /// The engine's speed divided by llvmpipe's.
    pub(crate) ratio: f64,
    /// First and third quartile of the ratio over pairs of frames.
    pub(crate) quartiles: [f64; 2],
    /// Pairs of frames.
    pub(crate) pairs: usize,
    /// Megapixels per second of the engine.
    pub(crate) mpixels: f64,
    /// Megapixels per second of llvmpipe.
    pub(crate) llvmpipe_mpixels: f64,
    /// Milliseconds from a program to its first pixels.
    pub(crate) prepare_ms: f64,
    /// Milliseconds from a source to its first pixels.
    pub(crate) llvmpipe_prepare_ms: f64,
    /// Fraction of pixels that differ by more than 2/255, at the capture's size.
    pub(crate) differing: f64,
    /// The accepted fraction.
    pub(crate) allowed: f64,
    /// Fraction of pixels that differ at the measured size.
    pub(crate) differing_at_size: f64,
    /// The vector instructions used, if the engine has a choice.
    pub(crate) simd: Option<&'static str>,
    /// Why another engine than the requested one drew it.
    pub(crate) instead: Option<String>,
}

/// A program that was not timed.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Failed {
    /// Its name.
    pub(crate) name: String,
    /// The reason.
    pub(crate) error: String,
}

impl Row {
    /// Returns whether both draw the same picture.
    pub(crate) fn same(&self) -> bool {
        self.differing <= self.allowed
    }
}

impl Report {
    /// Sorts the programs and computes the summary.
    pub(crate) fn finish(&mut self) {
        self.programs.sort_by(|a, b| a.ratio.total_cmp(&b.ratio));
        self.median = median(self.programs.iter().map(|row| row.ratio));
        self.worst = self.programs.first().map(|row| row.ratio);
    }

    /// Returns whether every program was timed, and drew the same picture in both comparisons.
    pub(crate) fn is_clean(&self) -> bool {
        self.failed.is_empty() && self.programs.iter().all(Row::same)
    }

    /// Writes the report as one JSON object.
    ///
    /// # Errors
    /// Errors of the output.
    pub(crate) fn write_json(&self, out: &mut impl Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, self)?;
        writeln!(out)
    }

    /// Writes the report as a table.
    ///
    /// # Errors
    /// Errors of the output.
    pub(crate) fn write_table(&self, out: &mut impl Write) -> io::Result<()> {
        let [width, height] = self.size;
        let Self { engine, simd, threads, output, llvmpipe, .. } = self;
        let names = self.programs.iter().map(|row| row.name.len());
        let name_width = names.max().unwrap_or(0).max("program".len());
        let simd = self.programs.iter().find_map(|row| row.simd).unwrap_or(simd);
        writeln!(out, "{engine} ({simd}) against {llvmpipe}")?;
        writeln!(out, "{width}x{height}, {threads} threads each, stored as {output}\n")?;
        writeln!(
            out,
            "{:name_width$}  ratio  quartiles     Mpixel/s        prepare ms",
            "program"
        )?;
        let columns = "                      r500 llvmpipe   r500 llvmpipe   differ";
        writeln!(out, "{:name_width$} {columns}", "")?;
        for row in &self.programs {
            let mark = if row.same() { "" } else { "  not the same picture" };
            writeln!(
                out,
                "{:name_width$} {:>6.2} {:>5.2}-{:<5.2} {:>8.1} {:>8.1} {:>6.2} {:>8.1} {:>7.2}%{mark}",
                row.name,
                row.ratio,
                row.quartiles[0],
                row.quartiles[1],
                row.mpixels,
                row.llvmpipe_mpixels,
                row.prepare_ms,
                row.llvmpipe_prepare_ms,
                row.differing * 100.0,
            )?;
        }
        if let (Some(median), Some(worst)) = (self.median, self.programs.first()) {
            writeln!(out, "\nmedian {median:.2}, worst {:.2} ({})", worst.ratio, worst.name)?;
        }
        for Row { name, instead, .. } in &self.programs {
            if let Some(reason) = instead {
                writeln!(out, "{name}: drawn by another engine: {reason}")?;
            }
        }
        for Failed { name, error } in &self.failed {
            writeln!(out, "{name}: not timed: {error}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn row(name: &str, ratio: f64, differing: f64) -> Row {
        Row {
            name: name.into(),
            ratio,
            quartiles: [ratio - 0.1, ratio + 0.1],
            pairs: 9,
            mpixels: 4.0 * ratio,
            llvmpipe_mpixels: 4.0,
            prepare_ms: 0.25,
            llvmpipe_prepare_ms: 40.0,
            differing,
            allowed: 0.002,
            differing_at_size: 0.0,
            simd: Some("avx2"),
            instead: None,
        }
    }

    fn report(programs: Vec<Row>) -> Report {
        let mut report = Report {
            engine: "reference".into(),
            simd: "auto".into(),
            threads: 2,
            size: [64, 32],
            output: "float",
            llvmpipe: "llvmpipe (256 bits)".into(),
            median: None,
            worst: None,
            programs,
            failed: Vec::new(),
        };
        report.finish();
        report
    }

    #[test]
    fn json_has_the_promised_keys() {
        let report = report(vec![row("a", 2.0, 0.0), row("b", 0.5, 0.001), row("c", 1.25, 0.0)]);
        assert!(report.is_clean());
        let mut text = Vec::new();
        report.write_json(&mut text).unwrap();
        let value: serde_json::Value = serde_json::from_slice(&text).unwrap();
        assert_eq!((&value["median"], &value["worst"]), (&1.25.into(), &0.5.into()));
        let names: Vec<_> = value["programs"].as_array().unwrap().iter().collect();
        assert_eq!((&names[0]["name"], &names[0]["ratio"]), (&"b".into(), &0.5.into()));
    }

    #[test]
    fn a_table_tells_what_differs() {
        let report = report(vec![row("a", 2.0, 0.1), row("b", 1.0, 0.0)]);
        assert!(!report.is_clean());
        let mut text = Vec::new();
        report.write_table(&mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(text.contains("10.00%  not the same picture\n"), "{text}");
        assert!(text.ends_with("\nmedian 1.50, worst 1.00 (b)\n"), "{text}");
    }

    #[test]
    fn nothing_timed_is_no_number() {
        let mut report = report(Vec::new());
        report.failed.push(Failed { name: "a".into(), error: "why".into() });
        assert!(!report.is_clean());
        let mut text = Vec::new();
        report.write_json(&mut text).unwrap();
        let value: serde_json::Value = serde_json::from_slice(&text).unwrap();
        assert!(value["median"].is_null() && value["worst"].is_null());
    }
}
