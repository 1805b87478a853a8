//! `VAP`: vertex fetch, primitive assembly, and the outputs of a vertex.

pub(crate) mod assembly;
pub(crate) mod columns;
pub(crate) mod fetch;
pub(crate) mod programs;
pub(crate) mod vertices;

use r500_chip::vap::{
    VapAltNumVertices, VapCntl, VapCntlStatus, VapOutVtxFmt0, VapOutVtxFmt1, VapVfCntl,
};
use r500_stream::{DrawCall, State};

/// An output of the vertex processor: a vertex in clip space, or in window coordinates if it bypasses the viewport
/// transform.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Vertex {
    pub(crate) position: [f32; 4],
    /// Point size in pixels, if vertices have one.
    pub(crate) point_size: f32,
    pub(crate) colors: [[f32; 4]; 4],
    pub(crate) tex: [[f32; 4]; 8],
}

/// The vertex processor's state of a draw.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DrawState {
    pub(crate) vf_cntl: VapVfCntl,
    /// Number of vertices or indices of the draw.
    pub(crate) count: u32,
    /// Whether vertices are processed without rendering.
    pub(crate) no_render: bool,
}

impl DrawState {
    pub(crate) fn new(state: &State, draw: &DrawCall<'_>) -> Self {
        let registers = &state.registers;
        let alternative = registers.get::<VapAltNumVertices>().num_vertices();
        Self {
            vf_cntl: draw.vf_cntl,
            count: match draw.vf_cntl.use_alt_num_verts() {
                true => alternative,
                false => draw.vf_cntl.num_vertices().into(),
            },
            no_render: registers.get::<VapCntl>().vap_no_render(),
        }
    }
}

/// The outputs of a vertex, and their positions in the output memory of vertex programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OutputLayout {
    point_size: Option<u8>,
    colors: [Option<u8>; 4],
    tex: [Option<u8>; 8],
    /// Number of components of each texture coordinate, 0 to 4.
    pub(crate) tex_components: [u8; 8],
}

impl OutputLayout {
    /// Reads the registers. Outputs of a vertex program are packed: position, point size, colours, texture coordinates,
    /// as far as the registers select them. Without a program they have fixed positions (observed: 0 position, 1 point
    /// size, 2 to 5 colours, 6 to 13 texture coordinates).
    pub(crate) fn new(state: &State) -> Self {
        let fmt0: VapOutVtxFmt0 = state.registers.get();
        let fmt1: VapOutVtxFmt1 = state.registers.get();
        let bypass = state.registers.get::<VapCntlStatus>().pvs_bypass();
        let present = [
            fmt0.vtx_color_0_present(),
            fmt0.vtx_color_1_present(),
            fmt0.vtx_color_2_present(),
            fmt0.vtx_color_3_present(),
        ];
        let tex_components = [
            fmt1.tex_0_comp_cnt(),
            fmt1.tex_1_comp_cnt(),
            fmt1.tex_2_comp_cnt(),
            fmt1.tex_3_comp_cnt(),
            fmt1.tex_4_comp_cnt(),
            fmt1.tex_5_comp_cnt(),
            fmt1.tex_6_comp_cnt(),
            fmt1.tex_7_comp_cnt(),
        ]
        .map(|count| count.min(4));
        let mut packed = 1;
        let mut place = |present: bool, fixed: usize| {
            let packed_place = packed;
            packed += u8::from(present);
            present.then_some(if bypass { fixed as u8 } else { packed_place })
        };
        Self {
            point_size: place(fmt0.vtx_pt_size_present(), 1),
            colors: std::array::from_fn(|i| place(present[i], 2 + i)),
            tex: std::array::from_fn(|i| place(tex_components[i] != 0, 6 + i)),
            tex_components,
        }
    }

    /// Returns whether vertices have a point size.
    pub(crate) fn has_point_size(&self) -> bool {
        self.point_size.is_some()
    }

    /// Returns whether vertices have colour `n`.
    pub(crate) fn has_color(&self, n: usize) -> bool {
        self.colors[n].is_some()
    }

    /// Adds vertices to a list, of the outputs that `output` returns by vertex and number.
    pub(crate) fn vertices(
        &self,
        count: usize,
        output: impl Fn(usize, usize) -> [f32; 4],
        list: &mut Vec<Vertex>,
    ) {
        let first = list.len();
        list.resize(first + count, Vertex::default());
        let vertices = &mut list[first..];
        let each = |register: u8| {
            let output = &output;
            move |n: usize| output(n, usize::from(register))
        };
        let position = each(0);
        vertices.iter_mut().enumerate().for_each(|(n, vertex)| vertex.position = position(n));
        if let Some(size) = self.point_size.map(each) {
            vertices.iter_mut().enumerate().for_each(|(n, vertex)| vertex.point_size = size(n)[0]);
        }
        for (i, register) in (0..).zip(self.colors).filter_map(|(i, at)| Some((i, at?))) {
            let color = each(register);
            vertices.iter_mut().enumerate().for_each(|(n, vertex)| vertex.colors[i] = color(n));
        }
        for (i, register) in (0..).zip(self.tex).filter_map(|(i, at)| Some((i, at?))) {
            let tex = each(register);
            vertices.iter_mut().enumerate().for_each(|(n, vertex)| vertex.tex[i] = tex(n));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_are_packed_unless_the_program_is_bypassed() {
        let mut state = State::default();
        // Position, colour 1, point size; texture coordinates 0 (4 components) and 2 (2 components).
        state.registers.write(0x2090, 1 | 1 << 2 | 1 << 16);
        state.registers.write(0x2094, 4 | 2 << 6);
        let vertex = |state: &State| {
            let mut list = vec![Vertex::default()];
            OutputLayout::new(state).vertices(
                2,
                |n, register| [(register + 100 * n) as f32; 4],
                &mut list,
            );
            assert_eq!(list.len(), 3);
            assert_eq!(list[2].position, [100.0; 4]);
            list[1]
        };
        let packed = vertex(&state);
        assert_eq!(packed.point_size, 1.0);
        assert_eq!(packed.colors.map(|c| c[0]), [0.0, 2.0, 0.0, 0.0]);
        assert_eq!(packed.tex.map(|c| c[0]), [3.0, 0.0, 4.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        state.registers.write(0x2140, 1 << 8);
        let fixed = vertex(&state);
        assert_eq!(fixed.point_size, 1.0);
        assert_eq!(fixed.colors.map(|c| c[0]), [0.0, 3.0, 0.0, 0.0]);
        assert_eq!(fixed.tex.map(|c| c[0]), [6.0, 0.0, 8.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    }
}
