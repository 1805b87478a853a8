//! Vertices and indices of a draw.

use std::io::BufReader;

/// Vertices, one after another, and the order of their use.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Mesh {
    /// What a vertex consists of.
    pub(crate) attributes: Vec<Attribute>,
    /// What attributes are called, in their order; empty if they have only numbers.
    pub(crate) names: Vec<String>,
    /// The components of all attributes of vertex 0, then of vertex 1, and so on.
    pub(crate) values: Vec<f32>,
    /// `None`: each vertex once, in order.
    pub(crate) indices: Option<Vec<u32>>,
}

/// A part of each vertex.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Attribute {
    /// Number of the input of the vertex program.
    pub(crate) input: u8,
    /// 1 to 4 components; further ones are 0, 0, 1.
    pub(crate) components: u8,
}

/// Limit of the attributes of a vertex.
pub(crate) const MAX_ATTRIBUTES: usize = 16;
/// Limit of the vertices, and of the indices, of a draw.
pub(crate) const MAX_VERTICES: usize = 1 << 20;

impl Mesh {
    /// Returns the floats of a vertex.
    pub(crate) fn stride(&self) -> usize {
        self.attributes.iter().map(|attribute| usize::from(attribute.components)).sum()
    }

    /// Returns the number of vertices in the array.
    pub(crate) fn vertices(&self) -> usize {
        self.values.len() / self.stride().max(1)
    }

    /// Reads a Wavefront OBJ file: `position` (3), `normal` (3) and texture `coordinate` (2), as far as the file has them, as triangles.
    ///
    /// # Errors
    /// What is wrong with the file.
    pub(crate) fn from_obj(bytes: &[u8]) -> Result<Self, String> {
        let options =
            tobj::LoadOptions { triangulate: true, single_index: true, ..Default::default() };
        // Materials are not used.
        let no_materials = |_: &std::path::Path| Err(tobj::LoadError::OpenFileFailed);
        let (models, _) = tobj::load_obj_buf(&mut BufReader::new(bytes), &options, no_materials)
            .map_err(|error| error.to_string())?;
        let with_normals = models.iter().all(|model| !model.mesh.normals.is_empty());
        let with_coordinates = models.iter().all(|model| !model.mesh.texcoords.is_empty());
        let parts = [
            Some(("position", 3)),
            with_normals.then_some(("normal", 3)),
            with_coordinates.then_some(("coordinate", 2)),
        ];
        let mut mesh = Self::default();
        for ((name, components), input) in parts.into_iter().flatten().zip(0..) {
            mesh.attributes.push(Attribute { input, components });
            mesh.names.push(name.to_owned());
        }
        let mut indices = Vec::new();
        for tobj::Mesh { positions, normals, texcoords, indices: order, .. } in
            models.iter().map(|model| &model.mesh)
        {
            let first = mesh.vertices();
            if first + positions.len() / 3 > MAX_VERTICES
                || indices.len() + order.len() > MAX_VERTICES
            {
                return Err(format!("it has more than {MAX_VERTICES} vertices or indices"));
            }
            for (n, position) in positions.chunks_exact(3).enumerate() {
                mesh.values.extend(position);
                let part = |from: &[f32], size: usize| -> Vec<f32> {
                    from.get(n * size..(n + 1) * size)
                        .map_or_else(|| vec![0.0; size], <[f32]>::to_vec)
                };
                if with_normals {
                    mesh.values.extend(part(normals, 3));
                }
                if with_coordinates {
                    mesh.values.extend(part(texcoords, 2));
                }
            }
            indices.extend(order.iter().map(|index| first as u32 + index));
        }
        if indices.is_empty() {
            return Err("it has no faces".to_owned());
        }
        mesh.indices = Some(indices);
        Ok(mesh)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::panic)]

    use super::*;

    #[test]
    fn obj_files_become_triangles() {
        // A square: two triangles of four vertices.
        let square = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\nf 1/1 2/2 3/3 4/4\n";
        let mesh = Mesh::from_obj(square.as_bytes());
        let mesh = mesh.unwrap_or_else(|error| panic!("{error}"));
        let components: Vec<u8> = mesh.attributes.iter().map(|part| part.components).collect();
        assert_eq!((components.as_slice(), mesh.vertices()), (&[3, 2][..], 4));
        assert_eq!(mesh.indices.as_deref(), Some(&[0, 1, 2, 0, 2, 3][..]));
        assert_eq!(mesh.values[5..10], [1.0, 0.0, 0.0, 1.0, 0.0]);
        assert!(Mesh::from_obj(b"").is_err() && Mesh::from_obj(b"f 1 2 3\n").is_err());
    }
}
