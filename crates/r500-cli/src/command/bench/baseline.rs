//! Baselines: earlier measurements, and their comparison.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::measure::geometric;
use super::{Measured, Row, Setup};
use crate::command::exit::{Failure, Outcome};
use crate::command::{input_args, terminal};

/// The key of a row: program, engine, instructions, threads, size.
type Key = (String, String, Option<String>, u64, [u64; 2]);

/// An earlier run, from `--save` or JSON output.
pub(super) struct Baseline {
    /// Minimum time of a picture in seconds: other load on the machine only makes pictures slower, so minima are the
    /// most comparable.
    rows: BTreeMap<Key, f64>,
    /// Peak operations per second, by level and threads.
    peaks: BTreeMap<(String, u64), f64>,
}

/// Comparison of this run with a baseline.
pub(super) struct Compared {
    /// Speed-up of each row; `None` if the baseline does not have it.
    ratios: Vec<Option<f64>>,
    /// Programs of the baseline that this run lacks.
    pub(super) missing: Vec<String>,
}

impl Baseline {
    pub(super) fn read(file: &Path) -> Outcome<Self> {
        let not_kept = |why: &str| {
            Failure::input(anyhow::anyhow!(
                "{}: {why}; --against takes what --save or --format json of r500 bench wrote",
                file.display()
            ))
        };
        let bytes = input_args::bytes(file)?;
        let value: Value =
            serde_json::from_slice(&bytes).map_err(|error| not_kept(&error.to_string()))?;
        if value["version"] != 1 {
            return Err(not_kept("it is not of version 1"));
        }
        let (rows, peaks) = (value["rows"].as_array(), value["peaks"].as_array());
        let (Some(rows), Some(peaks)) = (rows, peaks) else {
            return Err(not_kept("`rows` or `peaks` is missing"));
        };
        let row = |row: &Value| {
            let key = (
                row["key"].as_str()?.to_owned(),
                row["engine"].as_str()?.to_owned(),
                row["simd"].as_str().map(str::to_owned),
                row["threads"].as_u64()?,
                [row["size"][0].as_u64()?, row["size"][1].as_u64()?],
            );
            let best = row["best_seconds"].as_f64().filter(|best| *best > 0.0)?;
            Some((key, best))
        };
        let peak = |peak: &Value| {
            let key = (peak["simd"].as_str()?.to_owned(), peak["threads"].as_u64()?);
            Some((key, peak["operations_per_second"].as_f64()?))
        };
        let rows: Option<_> = rows.iter().map(row).collect();
        let peaks: Option<_> = peaks.iter().map(peak).collect();
        match (rows, peaks) {
            (Some(rows), Some(peaks)) => Ok(Self { rows, peaks }),
            _ => Err(not_kept("a row lacks something")),
        }
    }

    /// Compares; warns if the machine is another, or in another state.
    pub(super) fn compare(&self, measured: &Measured) -> Compared {
        for (simd, threads, peak) in &measured.peaks {
            let then = self.peaks.get(&(simd.name().to_owned(), *threads as u64));
            let Some(then) = then.filter(|then| !(0.87..1.15).contains(&(peak / **then))) else {
                continue;
            };
            terminal::warn(&format!(
                "the arithmetic of this machine ({}, threads: {threads}) is {:.2} times as fast as \
                 then: another processor, or others use it",
                simd.name(),
                peak / then
            ));
        }
        let now: Vec<Key> = measured.rows.iter().map(key).collect();
        let ratio = |(key, row): (&Key, &Row)| Some(self.rows.get(key)? / row.times.best);
        let ratios = now.iter().zip(&measured.rows).map(ratio).collect();
        let gone = self.rows.keys().filter(|(then, ..)| !now.iter().any(|(key, ..)| key == then));
        let mut missing: Vec<String> = gone.map(|(program, ..)| program.clone()).collect();
        missing.dedup();
        Compared { ratios, missing }
    }
}

impl Compared {
    /// Returns how many times as fast a row is.
    pub(super) fn ratio(&self, row: usize) -> Option<f64> {
        self.ratios.get(row).copied().flatten()
    }

    /// Says which rows are slower than so many times what they were; whether there are any.
    pub(super) fn report_slower(&self, measured: &Measured, least: f64) -> bool {
        let rows = measured.rows.iter().zip(&self.ratios);
        let ratios = rows.filter_map(|(row, ratio)| Some((row, (*ratio)?)));
        let slower: Vec<_> = ratios.clone().filter(|(_, ratio)| *ratio < least).collect();
        for (row, ratio) in &slower {
            let Setup { threads, .. } = row.setup;
            let simd = row.setup.simd.map_or("", |simd| simd.name());
            let who = format!("{} {simd} (threads: {threads})", row.setup.engine);
            terminal::error(&format!("{}: {who}: {ratio:.2} times as fast as then", row.name));
        }
        if ratios.clone().count() > 1 {
            let mean = geometric(ratios.map(|(_, ratio)| ratio));
            terminal::note(&format!("{mean:.2} times as fast as then (geometric mean)"));
        }
        !slower.is_empty()
    }
}

fn key(row: &Row) -> Key {
    (
        row.key.clone(),
        row.setup.engine.name().to_owned(),
        row.setup.simd.map(|simd| simd.name().to_owned()),
        row.setup.threads as u64,
        row.size.map(u64::from),
    )
}
