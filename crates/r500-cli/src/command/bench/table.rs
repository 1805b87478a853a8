//! Output of measurements as a table, CSV and JSON.

use std::io::{self, Write};

use r500_stream::counted;
use serde_json::{Value, json};

use super::baseline::Compared;
use super::measure::geometric;
use super::{Measured, Row};

/// Prints the table, followed by the geometric mean of each setup.
pub(super) fn text(
    out: &mut impl Write,
    measured: &Measured,
    compared: Option<&Compared>,
) -> io::Result<()> {
    let titles = [
        "program", "engine", "simd", "threads", "Mpixel/s", "best", "Ginstr/s", "of peak",
        "prepare",
    ];
    let mut rows = vec![titles.map(str::to_owned).to_vec()];
    rows[0].extend(compared.map(|_| "times then".to_owned()));
    for (i, row) in measured.rows.iter().enumerate() {
        let mut cells = vec![
            row.name.clone(),
            row.setup.engine.name().to_owned(),
            simd(row).unwrap_or("-").to_owned(),
            row.setup.threads.to_string(),
            number(row.pixels_a_second() / 1e6),
            number(row.pixels() / row.times.best / 1e6),
            number(row.instructions_a_second() / 1e9),
            format!("{:.1} %", row.share() * 100.0),
            duration(row.times.prepare),
        ];
        cells.extend(compared.map(|compared| ratio(compared.ratio(i))));
        rows.push(cells);
    }
    let body = rows.len();
    if several(measured) {
        rows.extend(means(measured, compared));
    }
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    for (n, row) in rows.iter().enumerate() {
        if n == body {
            let rule = widths.iter().sum::<usize>() + 2 * (widths.len() - 1);
            writeln!(out, "{}", "-".repeat(rule))?;
        }
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| {
            if column < 3 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
        });
        writeln!(out, "{}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
    }
    for (simd, threads, peak) in &measured.peaks {
        writeln!(
            out,
            "peak with {}, {}: {} Gflop/s (products and sums in registers, not fused)",
            simd.name(),
            counted(*threads, "thread"),
            number(peak / 1e9)
        )?;
    }
    Ok(())
}

/// Returns whether there is more than one program.
fn several(measured: &Measured) -> bool {
    measured.rows.iter().any(|row| row.key != measured.rows[0].key)
}

/// Returns the geometric means over the programs, for each setup.
fn means(measured: &Measured, compared: Option<&Compared>) -> Vec<Vec<String>> {
    let mut setups = Vec::new();
    for row in &measured.rows {
        if !setups.contains(&row.setup) {
            setups.push(row.setup);
        }
    }
    let mean = |setup| {
        let rows = || measured.rows.iter().enumerate().filter(move |(_, row)| row.setup == setup);
        let of = |value: &dyn Fn(&Row) -> f64| geometric(rows().map(|(_, row)| value(row)));
        let mut cells = vec![
            format!("geometric mean of {}", rows().count()),
            setup.engine.name().to_owned(),
            setup.simd.map_or("-", |simd| simd.name()).to_owned(),
            setup.threads.to_string(),
            number(of(&Row::pixels_a_second) / 1e6),
            number(of(&|row| row.pixels() / row.times.best) / 1e6),
            number(of(&Row::instructions_a_second) / 1e9),
            String::new(),
            duration(of(&|row| row.times.prepare)),
        ];
        cells.extend(compared.map(|compared| {
            let ratios: Vec<f64> = rows().filter_map(|(i, _)| compared.ratio(i)).collect();
            ratio((!ratios.is_empty()).then(|| geometric(ratios.into_iter())))
        }));
        cells
    };
    setups.into_iter().map(mean).collect()
}

/// Returns the level of the vector instructions that drew.
fn simd(row: &Row) -> Option<&'static str> {
    row.times.run_info.simd
}

/// Formats a number with at least three digits.
fn number(x: f64) -> String {
    let digits = if x >= 100.0 {
        0
    } else if x >= 10.0 {
        1
    } else if x >= 1.0 {
        2
    } else {
        3
    };
    format!("{x:.digits$}")
}

fn duration(seconds: f64) -> String {
    if seconds < 1e-3 {
        format!("{} us", number(seconds * 1e6))
    } else {
        format!("{} ms", number(seconds * 1e3))
    }
}

fn ratio(ratio: Option<f64>) -> String {
    ratio.map_or_else(|| "new".to_owned(), |ratio| format!("{ratio:.2}"))
}

/// Returns the share of the operations in machine code.
fn share([compiled, all]: [usize; 2]) -> f64 {
    if all == 0 { 1.0 } else { compiled as f64 / all as f64 }
}

/// Returns a row with all values, as an object.
fn object(row: &Row, ratio: Option<f64>) -> Value {
    json!({
        "key": row.key,
        "name": row.name,
        "file": row.file,
        "index": row.index,
        "engine": row.setup.engine.name(),
        "simd": row.setup.simd.map(|simd| simd.name()),
        "threads": row.setup.threads,
        "size": row.size,
        "drawn_by": row.times.run_info.engine,
        "instead": row.times.run_info.fallback_reason,
        "compiled": row.times.run_info.compiled.map(share),
        "frames": row.times.frames,
        "median_seconds": row.times.median,
        "best_seconds": row.times.best,
        "prepare_seconds": row.times.prepare,
        "pixels_per_second": row.pixels_a_second(),
        "instructions_per_pixel": row.work.instructions,
        "instruction_pixels_per_second": row.instructions_a_second(),
        "operations_per_pixel": row.work.operations,
        "operations_per_second": row.operations_a_second(),
        "peak_operations_per_second": row.peak,
        "share_of_peak": row.share(),
        "ratio": ratio,
    })
}

pub(super) fn json(measured: &Measured, compared: Option<&Compared>) -> Value {
    let rows = measured.rows.iter().enumerate();
    let rows: Vec<Value> =
        rows.map(|(i, row)| object(row, compared.and_then(|c| c.ratio(i)))).collect();
    let peaks: Vec<Value> = measured
        .peaks
        .iter()
        .map(|(simd, threads, peak)| {
            json!({ "simd": simd.name(), "threads": threads, "operations_per_second": peak })
        })
        .collect();
    json!({
        "version": 1,
        "r500": env!("CARGO_PKG_VERSION"),
        "architecture": std::env::consts::ARCH,
        "peaks": peaks,
        "rows": rows,
        "missing": compared.map(|compared| &compared.missing),
    })
}

/// Returns the columns of CSV: those of the JSON, the size in two.
pub(super) fn csv(
    out: &mut impl Write,
    measured: &Measured,
    compared: Option<&Compared>,
) -> io::Result<()> {
    for (i, row) in measured.rows.iter().enumerate() {
        let mut object = object(row, compared.and_then(|compared| compared.ratio(i)));
        object["width"] = row.size[0].into();
        object["height"] = row.size[1].into();
        let Value::Object(mut object) = object else { continue };
        object.remove("size");
        if i == 0 {
            writeln!(out, "{}", object.keys().map(String::as_str).collect::<Vec<_>>().join(","))?;
        }
        let cells = object.values().map(|value| match value {
            Value::Null => String::new(),
            Value::String(text) => cell(text),
            other => other.to_string(),
        });
        writeln!(out, "{}", cells.collect::<Vec<_>>().join(","))?;
    }
    Ok(())
}

/// Returns a cell of CSV.
fn cell(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
        assert_eq!(
            ["0.012", "1.23", "12.3", "1235"],
            [0.0123, 1.234, 12.34, 1234.6].map(number)[..]
        );
        assert_eq!((duration(0.000_25), duration(0.0123)), ("250 us".into(), "12.3 ms".into()));
    }

    #[test]
    fn geometric_means() {
        assert!((geometric([2.0, 8.0].into_iter()) - 4.0).abs() < 1e-12);
    }
}
