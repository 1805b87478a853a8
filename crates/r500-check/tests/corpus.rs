//! Programs of a real driver.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
use r500_check::check_job;
use r500_formats::{Limits, read};
use std::collections::BTreeMap;

fn jobs(folder: &str) -> Vec<(String, r500_program::Job)> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/corpus/");
    let mut files: Vec<_> = std::fs::read_dir(format!("{root}{folder}"))
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|p| p.extension().is_some_and(|e| e == "json"))
        .collect();
    files.sort();
    files
        .iter()
        .flat_map(|path| {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            read(&std::fs::read(path).unwrap(), None, &Limits::default())
                .unwrap()
                .into_iter()
                .map(move |job| (name.clone(), job))
        })
        .collect()
}
#[test]
fn dump() {
    for folder in ["mesa", "piglit", "cases"] {
        let mut count: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for (name, job) in jobs(folder) {
            for f in &check_job(&job).findings {
                count
                    .entry(f.code.info().name)
                    .or_default()
                    .push(format!("{name}/{} {f}", job.name));
            }
        }
        println!("== {folder}");
        for (c, v) in count {
            println!("{c}: {}", v.len());
            for l in v.iter().take(6) {
                println!("     {l}");
            }
        }
    }
}
