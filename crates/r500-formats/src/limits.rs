//! Resource limits of readers.

/// Resource limits for untrusted input. The defaults permit any realistic input. Memory is at most about ten times
/// `document`, plus the jobs, for any input, compressed or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the whole input, after decompression (4 GiB).
    pub bytes: u64,
    /// Bytes of text in memory at once: a JSON document, a line of JSON lines or of a log, a hex or C text (128 MiB).
    pub document: u64,
    /// Jobs in an input (1,048,576).
    pub jobs: u64,
    /// Instructions of a program ([`r500_program::MAX_INSTRUCTIONS`], 65,536).
    pub instructions: u64,
    /// Bytes of a program's textures when loaded and bound (4 GiB). Format readers apply [`document`](Self::document);
    /// loaders of the files that a source names apply this limit.
    pub textures: u64,
    /// Pixels of a picture (67,108,864, which is 8192 x 8192).
    pub pixels: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            bytes: 1 << 32,
            document: 1 << 27,
            jobs: 1 << 20,
            instructions: r500_program::MAX_INSTRUCTIONS as u64,
            textures: 1 << 32,
            pixels: 1 << 26,
        }
    }
}
