//! What a draw reads, before it is executed: all that is needed to write the draw down.

use std::collections::{BTreeMap, HashMap};

use r500_chip::rb3d::{Rb3dAaresolveOffset, Rb3dColoroffset};
use r500_chip::values::{PrimType, PrimWalk};
use r500_chip::zb::ZbDepthoffset;
use r500_isa::TARGETS;
use r500_program::Job;
use r500_pvs::INPUTS;
use r500_stream::{BufferId, DrawCall, State};

use crate::limits::{Budget, CardError, Limits};
use crate::reading::Readings;
use crate::report::Report;
use crate::texture_store::TextureStore;
use crate::us::Fragments;
use crate::vap::DrawState;
use crate::vap::fetch::{Fetch, IndexList};

/// A draw before it is executed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DrawInputs {
    /// What the vertices form.
    pub primitive: PrimType,
    /// The input vectors that arrays or the packet give, ascending.
    pub inputs: Vec<u8>,
    /// Their values: one vector for each of `inputs`, vertex after vertex, in the order of their indices. Values are those after conversion.
    pub vertices: Vec<[f32; 4]>,
    /// The order in which the draw uses vertices.
    pub order: Vec<u32>,
    /// Fragment program and textures.
    pub fragment: Job,
    /// Registers and memories.
    pub state: State,
    /// The contents of the buffers of targets, depth and resolve.
    pub buffers: BTreeMap<BufferId, Vec<u8>>,
}

/// Limit of the vertices, and of the indices, that are kept.
const MOST: u64 = 1 << 20;

impl DrawInputs {
    /// Reads the inputs of a draw; `None` if the card does not draw it.
    pub(crate) fn new(
        state: &State,
        call: &DrawCall<'_>,
        readings: &Readings,
        exec_readings: r500_exec::Readings,
    ) -> Result<Option<Self>, CardError> {
        let draw = DrawState::new(state, call);
        let count = draw.count;
        if u64::from(count) > MOST {
            return Err(CardError::Vertices { limit: MOST });
        }
        // The draw itself reports what is wrong with it, and has limits.
        let mut report = Report::default();
        let mut budget = Budget::new(Limits::default());
        let mut store = TextureStore::default();
        let fragments =
            Fragments::new(state, readings, exec_readings, &mut store, &mut budget, &mut report)?;
        let Some(fragments) = fragments else { return Ok(None) };
        let fetch = Fetch::new(state);
        let inputs = fetch.locations();
        let mut vertices = Vec::new();
        let keep = |vertices: &mut Vec<_>, vectors: &[[f32; 4]; INPUTS]| {
            vertices.extend(inputs.iter().map(|n| vectors[usize::from(*n)]));
        };
        let order = match draw.vf_cntl.prim_walk() {
            PrimWalk::VERTEX_DATA => {
                for n in 0..count {
                    keep(&mut vertices, &fetch.inputs(fetch.embedded(n, &call.vertices)));
                }
                (0..count).collect()
            }
            walk @ (PrimWalk::INDEXES | PrimWalk::VERTEX_LIST) => {
                let list = IndexList::new(call);
                let index = |n| if walk == PrimWalk::INDEXES { list.get(n) } else { n };
                let used: Vec<u32> = (0..count).map(|n| fetch.limit(index(n))).collect();
                let mut sorted = used.clone();
                sorted.sort_unstable();
                sorted.dedup();
                let mut dwords = Vec::new();
                for index in &sorted {
                    fetch.gather(*index, &mut dwords);
                    keep(&mut vertices, &fetch.inputs(&dwords));
                }
                let places: HashMap<u32, u32> = sorted.iter().copied().zip(0..).collect();
                used.iter().map(|index| places[index]).collect()
            }
            _ => return Ok(None),
        };
        let targets = (0..TARGETS as u32).map(|n| state.member_binding::<Rb3dColoroffset>(n));
        let others = [state.binding::<ZbDepthoffset>(), state.binding::<Rb3dAaresolveOffset>()];
        let bound = targets.chain(others).flatten();
        Ok(Some(Self {
            primitive: draw.vf_cntl.prim_type(),
            vertices,
            order,
            fragment: fragments.job(),
            buffers: bound.map(|bound| (bound.buffer.id(), bound.buffer.to_vec())).collect(),
            state: state.clone(),
            inputs,
        }))
    }
}
