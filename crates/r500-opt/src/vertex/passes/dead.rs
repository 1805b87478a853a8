//! Dead-code elimination: lanes that nothing reads, and writes of outputs that later ones replace.

use crate::vertex::ir::{Block, Target};

/// Removes dead lanes and operations.
pub(in crate::vertex) fn remove(block: &mut Block) {
    let mut is_read = vec![false; block.values()];
    block.outgoing.iter().for_each(|(_, value)| is_read[value.0 as usize] = true);
    let mut written: Vec<(u8, u8)> = Vec::new();
    for node in block.nodes.iter_mut().rev() {
        match node.target {
            Target::Values(_) => node.retain_lanes(|lane| is_read[lane.value.0 as usize]),
            Target::Output(n) => {
                node.retain_lanes(|lane| !written.contains(&(n, lane.channel)));
                written.extend(node.lanes.iter().map(|lane| (n, lane.channel)));
            }
        }
        if !node.lanes.is_empty() {
            node.read_values().for_each(|value| is_read[value.0 as usize] = true);
        }
    }
    block.nodes.retain(|node| !node.lanes.is_empty());
}
