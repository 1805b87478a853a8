//! Scenes as C: a header with the stream and the buffers.

use std::fmt::Write as _;

use crate::Frame;

impl Frame {
    /// Returns a C header: the dwords of the stream; each buffer with its contents, or with the dword that fills it; where the picture is.
    /// Call it before a card executes the submission.
    #[must_use]
    pub fn c_header(&self) -> String {
        let array = |name: &str, words: &[u32]| {
            let lines = words.chunks(8).map(|line| {
                let line: String = line.iter().map(|word| format!(" {word:#010x},")).collect();
                format!("   {line}\n")
            });
            format!(
                "static const uint32_t {name}[{}] = {{\n{}}};\n\n",
                words.len(),
                lines.collect::<String>()
            )
        };
        let mut text = "/* The command stream of a scene. A NOP packet after a register or LOAD_VBPNTR names a buffer: its dword is four\n   times the place in scene_buffers, which is the relocation list. */\n#include <stdint.h>\n\n".to_owned();
        text += &array("scene_stream", &self.submission.words);
        let mut rows = String::new();
        for (n, relocation) in self.submission.relocations.iter().enumerate() {
            let buffer = &relocation.buffer;
            let words: Vec<u32> = (0..buffer.size() / 4).map(|n| buffer.dword(n * 4)).collect();
            let fill = words.first().filter(|first| words.iter().all(|word| word == *first));
            let data = match fill {
                Some(_) => "0".to_owned(),
                None => {
                    text += &array(&format!("scene_buffer_{n}"), &words);
                    format!("scene_buffer_{n}")
                }
            };
            // Writing to a string cannot fail.
            let _ = writeln!(
                rows,
                "    {{ {}, {data}, {:#010x}, {} }},",
                buffer.size(),
                fill.copied().unwrap_or_default(),
                u8::from(relocation.write_domain != 0)
            );
        }
        let _ = write!(
            text,
            "struct scene_buffer {{\n    uint32_t bytes;\n    const uint32_t *data; /* or 0: all dwords are fill */\n    uint32_t fill;\n    int written;          /* whether draws write it */\n}};\n\nstatic const struct scene_buffer scene_buffers[{}] = {{\n{rows}}};\n",
            self.submission.relocations.len()
        );
        if let Some((buffer, [width, height], pitch)) = self.picture_place() {
            let _ = write!(
                text,
                "\n/* The picture: dwords of scene_buffers[SCENE_PICTURE], blue in the lowest byte, row 0 at the top. */\n#define SCENE_PICTURE {buffer}\n#define SCENE_WIDTH {width}\n#define SCENE_HEIGHT {height}\n#define SCENE_PITCH {pitch} /* pixels from row to row */\n"
            );
        }
        text
    }
}
