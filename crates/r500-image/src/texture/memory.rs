//! Memory limit of textures, checked against the sizes in headers before texels are decoded or generated.

use r500_program::Job;

/// Limit of the bytes of all textures of a program.
///
/// A texture counts twice: the program stores its texels, and the texture unit stores them again in fetch order.
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
    /// Its file, or the name of the procedural texture.
    pub texture: String,
    /// Width and height of its finest level in texels.
    pub size: [u32; 2],
    /// Its size in bytes.
    pub bytes: u64,
    /// Its size and that of the textures before it, in bytes.
    pub total: u64,
    /// The limit in bytes.
    pub limit: u64,
}

/// Number of copies of the texels in memory.
const COPIES: u64 = 2;

impl Default for TextureMemory {
    /// Returns the limit of [`Limits`](r500_formats::Limits).
    fn default() -> Self {
        Self::new(r500_formats::Limits::default().textures)
    }
}

impl TextureMemory {
    /// Returns an unused limit of `limit` bytes.
    #[must_use]
    pub const fn new(limit: u64) -> Self {
        Self { limit, used: 0 }
    }

    /// Returns how many bytes of texels may be in memory at once.
    #[must_use]
    pub const fn texels(&self) -> u64 {
        self.limit / COPIES
    }

    /// Counts a texture with the given bytes of texels.
    ///
    /// # Errors
    /// [`TextureTooLarge`] if it exceeds the remaining memory.
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

    /// Counts the textures of a job.
    ///
    /// # Errors
    /// [`TextureTooLarge`] for the first that exceeds the remaining memory.
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
