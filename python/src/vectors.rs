//! Vectors of four floats as bytes.

/// Returns vectors of little-endian floats.
pub(crate) fn vectors(bytes: &[u8]) -> Vec<[f32; 4]> {
    let float = |bytes: [u8; 4]| f32::from_le_bytes(bytes);
    let floats: Vec<f32> = bytes.as_chunks::<4>().0.iter().map(|bytes| float(*bytes)).collect();
    floats.as_chunks::<4>().0.to_vec()
}

pub(crate) fn bytes_of(vectors: &[[f32; 4]]) -> Vec<u8> {
    vectors.as_flattened().iter().flat_map(|x| x.to_le_bytes()).collect()
}
