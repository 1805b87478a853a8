//! `TEXTURE` and `LEVEL`: contents of the texture units.

use r500_isa::TEXTURE_UNITS;
use r500_isa::texture::{TxFilter0, TxFilter1, TxFormat0, TxFormat1};
use r500_isa::values::{ClampMode, LayerFilter, TexelFilter, TxFormat, TxSel};
use r500_program::{Level, LiveSource, LiveTexture, Texture};

use super::{Parsed, Parser, Register};
use crate::diagnostic::{Diagnostic, DiagnosticCode};
use crate::items::{TextureRequest, TextureSource};
use crate::lexer::TokenKind;
use crate::source::Span;

/// Levels so far: span of the first of each unit.
pub(super) struct TextureState {
    levels: Vec<(u8, Span)>,
    /// Remaining bytes for procedural textures, and their limit.
    bytes_left: u64,
    max_bytes: u64,
}

impl TextureState {
    pub(super) fn new(max_bytes: u64) -> Self {
        Self { levels: Vec::new(), bytes_left: max_bytes, max_bytes }
    }
}

/// Greatest width and height of a texture.
const MAX_SIDE: u32 = 4096;

/// Number of levels from the greatest size down to one texel.
const MAX_LEVELS: usize = 13;

impl Parser<'_> {
    fn unit(&mut self) -> Parsed<u8> {
        self.register_of("a texture like `tex[0]`", |r| match r {
            Register::Tex(n) => Some(n),
            _ => None,
        })
    }

    /// Parses `TEXTURE tex[n] = file "name" … ;` or a procedural picture.
    pub(super) fn texture(&mut self) -> Parsed<()> {
        self.bump();
        let start = self.tok.span;
        let unit = self.unit()?;
        // A program with an error draws no pictures: thousands of them would take minutes.
        let again = self.once_at(&format!("TEXTURE tex[{unit}]"), start);
        self.expect_token(TokenKind::Equals)?;
        let mut file = None;
        let mut texture = Texture::default();
        let mut sampled = (TexelFilter::LINEAR, ClampMode::WRAP);
        if self.eat_text("file") {
            let (path, span) = self.string()?;
            file = Some((path, span));
        } else if self.eat_text("checker") {
            let [w, h, cell] = self.whole_numbers()?;
            let size = self.size_within(w, h, again, start);
            let cell = cell.max(1);
            texture = picture(size, |x, y| {
                let level = if (x / cell + y / cell) % 2 == 0 { 255 } else { 0 };
                [level, level, level, 255]
            });
        } else if self.eat_text("gradient") {
            let [w, h] = self.whole_numbers()?;
            let size = self.size_within(w, h, again, start);
            texture = picture(size, |x, y| [ramp(x, w), ramp(y, h), 0, 255]);
        } else if self.eat_text("noise") {
            let [w, h, seed] = self.whole_numbers()?;
            let size = self.size_within(w, h, again, start);
            texture = picture(size, |x, y| noise(x, y, seed));
        } else if let Some(source) = self.live_source()? {
            sampled = match source {
                LiveSource::Previous(_) | LiveSource::Keyboard => {
                    (TexelFilter::POINT, ClampMode::CLAMP)
                }
                LiveSource::Camera | LiveSource::Video => (TexelFilter::LINEAR, ClampMode::CLAMP),
            };
            let size = if source == LiveSource::Keyboard { LiveSource::KEYBOARD } else { [1, 1] };
            texture = source.zeros(size);
            self.job.live.retain(|live| live.unit != unit);
            self.job.live.push(LiveTexture { unit, source });
        } else {
            return Err(self.expected(
                "`file \"name\"`, `checker(w, h, cell)`, `gradient(w, h)`, `noise(w, h, seed)`, `previous out[n]`, `keyboard`, `camera` or `video`",
            ));
        }
        let (filter0, filter1) = self.sampling(sampled)?;
        texture.filter0 = filter0.with(TxFilter0::ID, unit);
        texture.filter1 = filter1;
        let slot = &mut self.job.textures[usize::from(unit)];
        *slot = Some(texture);
        if let Some((path, span)) = file {
            self.textures.push(TextureRequest { unit, source: TextureSource::Picture, path, span });
        }
        self.parse_semicolon()
    }

    /// Returns the size of a picture to draw: that of the texture, or one texel if it is in error.
    fn size_within(&mut self, w: u32, h: u32, again: bool, start: Span) -> [u32; 2] {
        let bytes = 4 * u64::from(w) * u64::from(h);
        let state = &mut self.texture_state;
        match state.bytes_left.checked_sub(bytes) {
            _ if again => [1, 1],
            Some(left) => {
                state.bytes_left = left;
                [w, h]
            }
            None => {
                let (left, most) = (state.bytes_left, state.max_bytes);
                let label = format!(
                    "its {w}x{h} texels take {bytes} bytes; {left} are left of {most} for all of them"
                );
                let span = start.to(self.before);
                self.report(
                    Diagnostic::new(DiagnosticCode::BadTexture, span, "the textures are too large")
                        .label(label),
                );
                [1, 1]
            }
        }
    }

    /// Parses `(a, b, …)`: sizes up to the greatest, and optionally another number.
    fn whole_numbers<const N: usize>(&mut self) -> Parsed<[u32; N]> {
        let mut numbers = [0; N];
        self.expect_token(TokenKind::OpenParen)?;
        for (i, number) in numbers.iter_mut().enumerate() {
            if i > 0 {
                self.expect_token(TokenKind::Comma)?;
            }
            let span = self.tok.span;
            *number = self.number(if i < 2 { MAX_SIDE } else { u32::MAX }, "a number of texels")?;
            if i < 2 && *number == 0 {
                self.report(
                    Diagnostic::new(DiagnosticCode::BadTexture, span, "a texture without texels")
                        .label(format!("sides are 1 to {MAX_SIDE}")),
                );
                *number = 1;
            }
        }
        self.expect_token(TokenKind::CloseParen)?;
        Ok(numbers)
    }

    /// Parses `previous out[n]`, `keyboard`, `camera` or `video`.
    fn live_source(&mut self) -> Parsed<Option<LiveSource>> {
        if self.eat_text("previous") {
            let target = self.register_of("an output like `out[0]`", |r| match r {
                Register::Out(n) => Some(n),
                _ => None,
            })?;
            return Ok(Some(LiveSource::Previous(target)));
        }
        let named = LiveSource::named().into_iter().find(|(name, _)| self.at_text(name));
        if named.is_some() {
            self.bump();
        }
        Ok(named.map(|(_, source)| source))
    }

    /// Parses `nearest`, `linear`; `wrap`, `mirror`, `clamp`, `border`, after what is usual.
    fn sampling(
        &mut self,
        (mut filter, mut clamp): (TexelFilter, ClampMode),
    ) -> Parsed<(TxFilter0, TxFilter1)> {
        loop {
            let filters = [("nearest", TexelFilter::POINT), ("linear", TexelFilter::LINEAR)];
            let clamps = [
                ("wrap", ClampMode::WRAP),
                ("mirror", ClampMode::MIRROR),
                ("clamp", ClampMode::CLAMP),
                ("border", ClampMode::BORDER),
            ];
            if let Some((_, value)) = filters.into_iter().find(|(text, _)| self.at_text(text)) {
                filter = value;
            } else if let Some((_, value)) = clamps.into_iter().find(|(text, _)| self.at_text(text))
            {
                clamp = value;
            } else if self.at(TokenKind::Semicolon) {
                break;
            } else {
                return Err(self.missing_semicolon(
                    "`nearest`, `linear`, `wrap`, `mirror`, `clamp`, `border` or `;`",
                ));
            }
            self.bump();
        }
        let filter0 = TxFilter0(0)
            .with(TxFilter0::CLAMP_S, clamp)
            .with(TxFilter0::CLAMP_T, clamp)
            .with(TxFilter0::CLAMP_R, clamp)
            .with(TxFilter0::MAG_FILTER, filter)
            .with(TxFilter0::MIN_FILTER, filter)
            .with(TxFilter0::MIP_FILTER, LayerFilter::NONE);
        Ok((filter0, TxFilter1(0).with(TxFilter1::BORDER_FIX, true)))
    }

    /// Parses `LEVEL tex[n] = (width, height, layers) bytes "hex" … ;` or `… raw "file" ;`: the next level of a
    /// texture with registers set by `TX_…` directives.
    pub(super) fn texture_level(&mut self) -> Parsed<()> {
        let start = self.bump().span;
        let unit = self.unit()?;
        self.expect_token(TokenKind::Equals)?;
        self.expect_token(TokenKind::OpenParen)?;
        let width = self.number(MAX_SIDE, "the width")?;
        self.expect_token(TokenKind::Comma)?;
        let height = self.number(MAX_SIDE, "the height")?;
        let layers = if self.eat(TokenKind::Comma) { self.number(MAX_SIDE, "layers")? } else { 1 };
        self.expect_token(TokenKind::CloseParen)?;
        let mut bytes = Vec::new();
        let mut request = None;
        if self.eat_text("raw") {
            request = Some(self.string()?);
        } else if self.eat_text("bytes") {
            while self.at(TokenKind::Str) {
                let span = self.bump().span;
                let text = self.bytes(span);
                let digits = text.get(1..text.len().saturating_sub(1)).unwrap_or(&[]);
                match hex(digits) {
                    Some(part) => bytes.extend_from_slice(&part),
                    None => self.report(
                        Diagnostic::new(DiagnosticCode::BadTexture, span, "not bytes")
                            .label("two hexadecimal digits a byte"),
                    ),
                }
            }
        } else {
            return Err(self.expected("`bytes \"hex\"` or `raw \"file\"`"));
        }
        let texture = self.job.textures[usize::from(unit)].get_or_insert_default();
        if texture.levels.len() >= MAX_LEVELS {
            self.report(
                Diagnostic::new(
                    DiagnosticCode::BadTexture,
                    start.to(self.before),
                    "too many levels",
                )
                .label(format!("a texture has at most {MAX_LEVELS}")),
            );
            return self.parse_semicolon();
        }
        if let Some((path, span)) = request {
            let source = TextureSource::Level { level: texture.levels.len() };
            self.textures.push(TextureRequest { unit, source, path, span });
        }
        let texture = self.job.textures[usize::from(unit)].get_or_insert_default();
        texture.levels.push(Level { width, height, layers, bytes });
        self.texture_state.levels.push((unit, start.to(self.before)));
        self.parse_semicolon()
    }

    /// Reports units with two definitions of their picture.
    pub(super) fn finish_textures(&mut self) {
        let mut pictures = [None; TEXTURE_UNITS];
        for request in self.textures.iter().filter(|t| t.source == TextureSource::Picture) {
            pictures[usize::from(request.unit)].get_or_insert(request.span);
        }
        for (unit, span) in std::mem::take(&mut self.texture_state.levels) {
            if let Some(other) = pictures[usize::from(unit)] {
                self.report(
                    Diagnostic::new(
                        DiagnosticCode::BadTexture,
                        span,
                        format!("tex[{unit}] has a file and levels of its own"),
                    )
                    .label("levels are for textures whose registers are given")
                    .related(other, "the file"),
                );
            }
        }
    }
}

/// Returns a picture of 8 bits a channel, red in the lowest byte.
fn picture([w, h]: [u32; 2], texel: impl Fn(u32, u32) -> [u8; 4]) -> Texture {
    let bytes = (0..h).flat_map(|y| (0..w).map(move |x| (x, y))).flat_map(|(x, y)| texel(x, y));
    let low = |side: u32| u16::try_from((side - 1) & 0x7ff).unwrap_or(0);
    Texture {
        format0: TxFormat0(0).with(TxFormat0::TXWIDTH, low(w)).with(TxFormat0::TXHEIGHT, low(h)),
        format1: TxFormat1(0)
            .with(TxFormat1::TXFORMAT, TxFormat::X8_8_8_8)
            .with(TxFormat1::SEL_RED, TxSel::C0)
            .with(TxFormat1::SEL_GREEN, TxSel::C1)
            .with(TxFormat1::SEL_BLUE, TxSel::C2)
            .with(TxFormat1::SEL_ALPHA, TxSel::C3),
        format2: r500_isa::texture::TxFormat2(0)
            .with(r500_isa::texture::TxFormat2::TXWIDTH_11, (w - 1) & 0x800 != 0)
            .with(r500_isa::texture::TxFormat2::TXHEIGHT_11, (h - 1) & 0x800 != 0),
        levels: vec![Level { width: w, height: h, layers: 1, bytes: bytes.collect() }],
        ..Texture::default()
    }
}

/// Returns a ramp of 0 to 255 over the texels of a side.
#[allow(clippy::cast_possible_truncation)]
fn ramp(at: u32, side: u32) -> u8 {
    (at * 255 / (side - 1).max(1)).min(255) as u8
}

/// Returns four hash bytes, the same on every platform.
fn noise(x: u32, y: u32, seed: u32) -> [u8; 4] {
    let mut h = seed ^ x.wrapping_mul(0x9e37_79b1) ^ y.wrapping_mul(0x85eb_ca77);
    for _ in 0..2 {
        h = (h ^ h >> 16).wrapping_mul(0x7feb_352d);
        h = (h ^ h >> 15).wrapping_mul(0x846c_a68b);
        h ^= h >> 16;
    }
    let [r, g, b, _] = h.to_le_bytes();
    [r, g, b, 255]
}

fn hex(digits: &[u8]) -> Option<Vec<u8>> {
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    let digit = |b: u8| char::from(b).to_digit(16);
    #[allow(clippy::cast_possible_truncation)]
    digits.chunks_exact(2).map(|p| Some((digit(p[0])? << 4 | digit(p[1])?) as u8)).collect()
}
