//! Area queries: instructions that pixels execute and wait for, and the first step at which a condition holds.
//!
//! The page selects the areas, coarse ones first, and can stop after each query.

use r500::exec::record::{DrawSetup, area as record};
use r500::exec::{PixelRect, RunError};
use serde::{Deserialize, Serialize};

use crate::bytes::Bytes;
use crate::picture::{Drawing, Picture};

/// A query about the pixels of some areas of a picture.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct AreaQuery {
    /// The picture.
    pub drawing: Drawing,
    /// Left, bottom, width, height of each area.
    pub areas: Vec<[u32; 4]>,
    /// The condition to find first; without one, instructions executed and waited are counted.
    #[serde(default)]
    pub condition: Option<String>,
}

/// The answer to an [`AreaQuery`].
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct AreaResult {
    /// Groups of pixels that the limit of instructions stopped.
    pub stopped: u64,
    /// 32 bits each, area by area, row by row from the lowest. Of what pixels execute: two a pixel,
    /// instructions executed and waited. Of a condition: the steps after which it first holds, plus one;
    /// 0 for never.
    pub numbers: Bytes,
}

/// The draw setup of the last query, kept because queries come in sequence and textures may be large.
#[derive(Default)]
pub struct SceneCache(Option<(Drawing, DrawSetup)>);

impl SceneCache {
    fn scene(&mut self, picture: &Picture, drawing: &Drawing) -> Result<&DrawSetup, String> {
        let same = |kept: &Drawing| {
            let key = |of: &Drawing| (of.size, of.time.to_bits(), of.limit, of.frame);
            key(kept) == key(drawing) && kept.constants == drawing.constants
        };
        if !self.0.as_ref().is_some_and(|(kept, _)| same(kept)) {
            self.0 = Some((drawing.clone(), picture.scene(drawing)?));
        }
        self.0.as_ref().map(|(_, scene)| scene).ok_or_else(|| "no scene".to_owned())
    }
}

/// Executes a query. Returns its numbers, and the number of groups that a limit stopped.
///
/// # Errors
/// The message: an error in the condition, or of the run.
pub fn query(
    picture: &Picture,
    scenes: &mut SceneCache,
    query: &AreaQuery,
) -> Result<(Vec<u32>, u64), String> {
    let scene = scenes.scene(picture, &query.drawing)?;
    let condition = query.condition.as_ref().map(|text| {
        r500::expression::parse_condition(text, picture.names()).map_err(|error| error.to_string())
    });
    let condition = condition.transpose()?;
    let message = |error: RunError| error.to_string();
    let number = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
    let (mut numbers, mut stopped) = (Vec::new(), 0);
    for &[x, y, width, height] in &query.areas {
        let area = PixelRect { x, y, width, height };
        stopped += match &condition {
            None => {
                let heat = record::heatmap(scene, area).map_err(message)?;
                let pixels = heat.activity.iter().flat_map(|work| [work.executed, work.waited]);
                numbers.extend(pixels.map(number));
                heat.stopped
            }
            Some(condition) => {
                let seen = record::find_first(scene, area, condition).map_err(message)?;
                numbers.extend(seen.first.iter().map(|at| at.map_or(0, |at| number(at + 1))));
                seen.stopped
            }
        };
    }
    Ok((numbers, stopped))
}
