//! Table of several programs.

use std::io::{self, Write};

use r500::check::Stats;
use r500_stream::counted;
use serde_json::{Map, Value};

use super::Column;
use super::program::Program;

/// Columns that are shown by default.
pub(super) fn usual() -> Vec<Column> {
    let names = [
        "instructions",
        "alu",
        "textures",
        "flow",
        "co_issue_rate",
        "presubtract",
        "omod",
        "inlines",
        "temporaries",
        "constants",
        "indirections",
        "branch_levels",
        "loop_levels",
        "longest_path",
        "cycles",
    ];
    names.iter().filter_map(|name| super::column(name).ok()).collect()
}

/// Returns the sum of the numbers; longest paths and cycles of structured programs only.
fn total(programs: &[Program]) -> Stats {
    let mut total = Stats::default();
    for counted in programs.iter().filter_map(|program| program.counted.as_ref().ok()) {
        total.add(&counted.stats);
    }
    total
}

/// Returns the number of programs without those that the driver could not compile.
fn compiled(programs: &[Program]) -> usize {
    programs.iter().filter(|program| !program.failed).count()
}

pub(super) fn text(
    out: &mut impl Write,
    programs: &[Program],
    columns: &[Column],
) -> io::Result<()> {
    let mut rows = vec![header(columns)];
    for program in programs {
        let cells = columns.iter().map(|column| match (&program.counted, *column) {
            (Err(_), _) => "-".to_owned(),
            (Ok(_), Column::Name) => program.name.clone(),
            (Ok(counted), Column::CoIssue) => percent(counted.stats.co_issue_rate()),
            (Ok(counted), Column::Number(n)) => {
                counted.number(n).map_or_else(|| "-".to_owned(), |value| value.to_string())
            }
        });
        rows.push(std::iter::once(program.name.clone()).chain(cells).collect());
    }
    let total = total(programs);
    let sums = columns.iter().map(|column| match *column {
        Column::Name => String::new(),
        Column::CoIssue => percent(total.co_issue_rate()),
        Column::Number(n) => total.values()[n].to_string(),
    });
    let label = format!("total of {}", counted(compiled(programs), "program"));
    rows.push(std::iter::once(label).chain(sums).collect());
    let mut widths = vec![0; columns.len() + 1];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let last = rows.len() - 1;
    for (n, row) in rows.iter().enumerate() {
        if n == last {
            let rule = widths.iter().sum::<usize>() + 2 * (widths.len() - 1);
            writeln!(out, "{}", "-".repeat(rule))?;
        }
        let mut cells = row.iter().zip(&widths);
        if let Some((name, width)) = cells.next() {
            write!(out, "{name:<width$}")?;
        }
        for (cell, width) in cells {
            write!(out, "  {cell:>width$}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn header(columns: &[Column]) -> Vec<String> {
    let titles = columns.iter().map(|column| column.title().to_owned());
    std::iter::once("program".to_owned()).chain(titles).collect()
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

pub(super) fn csv(out: &mut impl Write, programs: &[Program]) -> io::Result<()> {
    writeln!(out, "name,file,index,{},co_issue_rate,structured,error", Stats::NAMES.join(","))?;
    for program in programs {
        write!(out, "{},{},{}", cell(&program.name), cell(&program.file), program.index)?;
        for n in 0..Stats::NAMES.len() {
            match program.number(n) {
                Some(value) => write!(out, ",{value}")?,
                None => write!(out, ",")?,
            }
        }
        match &program.counted {
            Ok(counted) => {
                let structured = counted.unstructured.is_none();
                writeln!(out, ",{},{structured},", counted.stats.co_issue_rate())?;
            }
            Err(error) => writeln!(out, ",,,{}", cell(error))?,
        }
    }
    Ok(())
}

/// Returns a cell of CSV.
pub(super) fn cell(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

pub(super) fn total_json(programs: &[Program]) -> Value {
    let total = total(programs);
    let mut object = Map::new();
    object.insert("programs".into(), compiled(programs).into());
    for (name, value) in Stats::NAMES.iter().zip(total.values()) {
        object.insert((*name).into(), value.into());
    }
    object.insert("co_issue_rate".into(), total.co_issue_rate().into());
    Value::Object(object)
}
