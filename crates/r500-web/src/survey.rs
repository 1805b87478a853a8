//! What pixels do, area by area: how much they execute and wait, where a condition becomes true first.
//!
//! A page asks about areas of its choice, coarse ones first, and stops when it likes.

use r500::exec::record::{DrawSetup, area};
use r500::exec::{PixelRect, RunError};
use serde::{Deserialize, Serialize};

use crate::bytes::Bytes;
use crate::picture::{Drawing, Picture};

/// Areas of a picture, and what is asked about their pixels.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "AreaQuery"))]
pub struct Asked {
    /// The picture.
    pub drawing: Drawing,
    /// Left, bottom, width, height of each area.
    pub areas: Vec<[u32; 4]>,
    /// Where each pixel first makes this true; without it, what each executes and waits.
    #[serde(default)]
    pub condition: Option<String>,
}

/// What was found out about areas.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Surveyed {
    /// Groups of pixels that the limit of instructions stopped.
    pub stopped: u64,
    /// 32 bits each, area by area, row by row from the lowest. Of what pixels execute: two a pixel,
    /// instructions executed and waited. Of a condition: the steps after which it first holds, plus one;
    /// 0 for never.
    pub numbers: Bytes,
}

/// The scene of the picture that was asked about last: one question follows the other, and textures may be large.
#[derive(Default)]
pub struct Kept(Option<(Drawing, DrawSetup)>);

impl Kept {
    fn scene(&mut self, picture: &Picture, drawing: &Drawing) -> Result<&DrawSetup, String> {
        let same = |kept: &Drawing| {
            let key = |of: &Drawing| (of.size, of.time.to_bits(), of.limit);
            key(kept) == key(drawing) && kept.constants == drawing.constants
        };
        if !self.0.as_ref().is_some_and(|(kept, _)| same(kept)) {
            self.0 = Some((drawing.clone(), picture.scene(drawing)?));
        }
        self.0.as_ref().map(|(_, scene)| scene).ok_or_else(|| "no scene".to_owned())
    }
}

/// Returns the numbers, and how many groups a limit stopped.
///
/// # Errors
/// What is wrong with the condition, or why that cannot be found out.
pub fn survey(
    picture: &Picture,
    kept: &mut Kept,
    asked: &Asked,
) -> Result<(Vec<u32>, u64), String> {
    let scene = kept.scene(picture, &asked.drawing)?;
    let condition = asked.condition.as_ref().map(|text| {
        r500::expression::parse_condition(text, picture.names()).map_err(|error| error.to_string())
    });
    let condition = condition.transpose()?;
    let told = |error: RunError| error.to_string();
    let number = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
    let (mut numbers, mut stopped) = (Vec::new(), 0);
    for &[x, y, width, height] in &asked.areas {
        let area = PixelRect { x, y, width, height };
        stopped += match &condition {
            None => {
                let heat = area::heatmap(scene, area).map_err(told)?;
                let pixels = heat.activity.iter().flat_map(|work| [work.executed, work.waited]);
                numbers.extend(pixels.map(number));
                heat.stopped
            }
            Some(condition) => {
                let seen = area::find_first(scene, area, condition).map_err(told)?;
                numbers.extend(seen.first.iter().map(|at| at.map_or(0, |at| number(at + 1))));
                seen.stopped
            }
        };
    }
    Ok((numbers, stopped))
}
