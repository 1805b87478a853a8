//! The reply of a command.

use r500::exec::record::area::Heatmap;

use super::area::Measure;

/// The reply of a command.
#[derive(Default)]
pub(in crate::command) struct Reply {
    /// What happened, in full lines; without the position. Of a map, what it shows.
    pub(in crate::command) text: String,
    /// Whether the command selects a position: its reply ends with the next instruction and the displayed values.
    pub(in crate::command) moved: bool,
    pub(in crate::command) quit: bool,
    /// A heat map to display.
    pub(super) heat: Option<(Heatmap, Measure)>,
}
