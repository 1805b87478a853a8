//! A memory limit of textures, counted from sizes in headers before texels are decoded or made.

use r500_program::Job;

/// Bytes that the textures of a program may take together.
///
/// A texture counts twice: a program holds its texels, and a unit to which it is bound has them in the order in which
/// they are fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextureMemory {
    limit: u64,
    used: u64,
}

/// A texture that exceeds the memory limit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the texture {texture} of {}x{} texels takes {bytes} bytes, {total} with those before it; the limit is {limit}",
    size[0], size[1]
)]
pub struct TextureTooLarge {
    /// Its file, or the name of what is made.
    pub texture: String,
    /// Width and height of its finest level.
    pub size: [u32; 2],
    /// Bytes that it takes.
    pub bytes: u64,
    /// Bytes that it takes with the textures before it.
    pub total: u64,
    /// The limit.
    pub limit: u64,
}

/// Copies of the texels that are counted.
const COPIES: u64 = 2;

impl Default for TextureMemory {
    /// Returns the limit of [`Limits`](r500_formats::Limits).
    fn default() -> Self {
        Self::new(r500_formats::Limits::default().textures)
    }
}

impl TextureMemory {
    /// Returns a limit in bytes, none of which are used.
    #[must_use]
    pub const fn new(limit: u64) -> Self {
        Self { limit, used: 0 }
    }

    /// Returns the bytes of texels that may be in memory at once.
    #[must_use]
    pub const fn texels(&self) -> u64 {
        self.limit / COPIES
    }

    /// Counts a texture with so many bytes of texels.
    ///
    /// # Errors
    /// [`TextureTooLarge`] if it exceeds what is left.
    pub fn take(
        &mut self,
        texture: &str,
        size: [u32; 2],
        texels: u64,
    ) -> Result<(), TextureTooLarge> {
        let bytes = texels.saturating_mul(COPIES);
        let total = self.used.saturating_add(bytes);
        if total > self.limit {
            let (texture, limit) = (texture.to_owned(), self.limit);
            return Err(TextureTooLarge { texture, size, bytes, total, limit });
        }
        self.used = total;
        Ok(())
    }

    /// Counts the textures that a job holds.
    ///
    /// # Errors
    /// [`TextureTooLarge`] for the first that exceeds what is left.
    pub fn take_job(&mut self, job: &Job) -> Result<(), TextureTooLarge> {
        for (unit, texture) in job.textures.iter().enumerate() {
            if let Some(texture) = texture {
                let size =
                    texture.levels.first().map_or([0; 2], |level| [level.width, level.height]);
                let texels = texture.levels.iter().map(|level| level.bytes.len() as u64).sum();
                self.take(&format!("tex[{unit}]"), size, texels)?;
            }
        }
        Ok(())
    }
}
