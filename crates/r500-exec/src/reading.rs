//! Readings: a named option for each rule that the documents leave open.
//!
//! The first value of each reading is this project's choice, which every engine implements; the reference engine
//! implements all values, so that a comparison with a card can find the right one. `affecting.rs` says which operations
//! and samplers each reading affects, and which readings the other engines implement, too. The evidence for each reading is in its row: *documented* (register documents), *ctm* (the vendor's CTM
//! guide), *observed* (compiled programs give the right picture only with it), *derived*, *open* (several
//! readings are consistent with all known facts).

use crate::numerics::{Arith, ClampNan, Denormals, ZeroSign};
use crate::texture::{
    AnisotropicFilter, CubeTies, DepthStencil, GammaBorder, LodBias, LodFraction, Magnification,
    TexReadings, Weights, WideBorder,
};

/// The description of a reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadingInfo {
    /// Its name.
    pub name: &'static str,
    /// The question it answers.
    pub question: &'static str,
    /// The evidence.
    pub evidence: &'static str,
    /// Its values, name and meaning, the project's choice first.
    pub values: &'static [(&'static str, &'static str)],
}

/// A reading or value that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadingError {
    /// No such reading.
    #[error("there is no reading `{name}`; the readings are {known}")]
    Name {
        /// The name.
        name: String,
        /// The known readings.
        known: String,
    },
    /// No such value.
    #[error("reading `{name}` has no value `{value}`; its values are {known}")]
    Value {
        /// The reading.
        name: &'static str,
        /// The value.
        value: String,
        /// The known values.
        known: String,
    },
}

/// Defines named readings: an enumeration for each, and the structure `Readings` with a choice for each.
#[macro_export]
macro_rules! readings {
    ($(
        $name:literal $field:ident : $ty:ident = $question:literal, $evidence:literal
        { $( $value:ident $spelling:literal $meaning:literal; )* } $( of $existing:path )?
    )*) => {
        $( $crate::readings!(@enum $ty $question { $( $value $meaning; )* } $( $existing )?); )*

        /// The choice for each open rule.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct Readings {
            $( #[doc = $question] pub $field: $ty, )*
        }

        impl Default for Readings {
            fn default() -> Self {
                Self::REFERENCE
            }
        }

        impl Readings {
            /// The project's choices.
            pub const REFERENCE: Self = Self { $( $field: $crate::readings!(@first $ty $( $value )*), )* };

            /// The descriptions of all readings.
            pub const TABLE: &'static [$crate::reading::ReadingInfo] = &[ $( $crate::reading::ReadingInfo {
                name: $name,
                question: $question,
                evidence: $evidence,
                values: &[ $( ($spelling, $meaning), )* ],
            }, )* ];

            /// Sets a reading by name.
            ///
            /// # Errors
            /// An error that lists the known names or values, if there is no such reading or value.
            pub fn set(
                &mut self,
                name: &str,
                value: &str,
            ) -> Result<(), $crate::reading::ReadingError> {
                use $crate::reading::ReadingError;
                match name {
                    $( $name => self.$field = match value {
                        $( $spelling => $ty::$value, )*
                        _ => {
                            let known = [ $( $spelling ),* ].join(", ");
                            return Err(ReadingError::Value { name: $name, value: value.to_owned(), known });
                        }
                    }, )*
                    _ => {
                        let known = [ $( $name ),* ].join(", ");
                        return Err(ReadingError::Name { name: name.to_owned(), known });
                    }
                }
                Ok(())
            }

            /// Returns the value of a reading, as [`set`](Self::set) spells it.
            #[must_use]
            pub fn get(&self, name: &str) -> Option<&'static str> {
                match name {
                    $( $name => Some(match self.$field { $( $ty::$value => $spelling, )* }), )*
                    _ => None,
                }
            }
        }
    };
    (@enum $ty:ident $question:literal { $( $value:ident $meaning:literal; )* }) => {
        #[doc = $question]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $ty { $( #[doc = $meaning] $value, )* }
    };
    (@enum $ty:ident $question:literal { $( $value:ident $meaning:literal; )* } $existing:path) => {};
    (@first $ty:ident $first:ident $( $rest:ident )*) => { $ty::$first };
}

#[rustfmt::skip]
readings! {
    // Flow control.
    "break" break_rule: BreakRule =
        "When BREAKLOOP, BREAKREP and CONTINUE take their jump.",
        "Observed: `mask` follows the CTM guide's description of a loop frame, and all 193 compiled programs work with it, as with `popcnt` and `never`; `literal` breaks 49 of 193, `flat` 8 of 193."
    {
        Mask "mask" "if no voter who entered the loop is left in it";
        PopCnt "popcnt" "if B_OP1's decrement would reactivate no pixel and no pixel is active or waiting for the next iteration";
        Never "never" "never: the pixels become inactive, the group continues";
        Literal "literal" "as JUMP does: if all active pixels want to, or any";
        Flat "flat" "as mask, but inactive pixels become active at the next end of a loop, whatever the nesting";
    }
    "idle-loop" idle_loop: IdleLoop =
        "What LOOP and REP with JUMP_ANY clear do when no pixel votes.",
        "Observed: by the letter it jumps without a push; where the target is the ENDLOOP itself (drivers write it so) that pops the outer loop and breaks a compiled program."
    {
        Stay "stay" "enter the loop; nothing runs in it";
        Behind "behind" "jump, but to the address after the ENDLOOP if that is the target";
        Literal "literal" "jump";
    }
    "alu-result-after-fc" alu_result_after_fc: AluResultAfterFc =
        "Whether the ALU result survives a flow-control instruction.",
        "Open: it is only meant for the next one (ctm); both fit everything known."
    {
        Keep "keep" "it stays";
        Clear "clear" "it becomes 0";
    }
    "fc-pred-none" fc_pred_none: FcPredNone =
        "What JUMP_FUNC sees as predicate when PRED_SEL is NONE (inverted: the opposite).",
        "Open: the tables that drivers write do not depend on it."
    {
        One "one" "1";
        Zero "zero" "0";
    }
    "fc-pred-rgba" fc_pred_rgba: FcPredRgba =
        "What JUMP_FUNC sees as predicate when PRED_SEL is RGBA.",
        "Open: a flow-control instruction has no channels."
    {
        Red "red" "the R bit";
        Alpha "alpha" "the A bit";
    }
    "pred-reserved" pred_reserved: PredReserved =
        "What PRED_SEL 6 and 7 select.",
        "Open: reserved."
    {
        None "none" "nothing: not predicated";
        Alpha "alpha" "the A bit";
    }
    "a-op-3" a_op_3: AOp3 =
        "What A_OP 3 does.",
        "Open: reserved."
    {
        None "none" "nothing";
        PopPush "pop-push" "pops, then pushes";
    }
    "b-op-3" b_op_3: BOp3 =
        "What B_OP0 and B_OP1 3 do.",
        "Open: reserved."
    {
        None "none" "nothing";
        Incr "incr" "as INCR";
    }
    "stack-limits" stack_limits: StackLimits =
        "Whether branch counters, loop stack and address stack have limits (32 each, branches 4 in partial flow control).",
        "Open: overflow is undefined (ctm); the depths are not documented. Drivers allow 32 branch levels."
    {
        Bounded "bounded" "they have";
        Unbounded "unbounded" "they have not";
    }
    "left-window" left_window: LeftWindow =
        "What happens when the program counter leaves the code window.",
        "Open."
    {
        End "end" "the group's program ends";
        Wrap "wrap" "it continues at the window's other end";
    }
    "outside-pixels" outside_pixels: OutsidePixels =
        "Whether pixels of a group outside the picture take part in decisions.",
        "Open."
    {
        Vote "vote" "they do, as uncovered pixels";
        Absent "absent" "they do not";
    }
    "killed-pixels" killed_pixels: KilledPixels =
        "Whether a pixel continues to execute after TEXKILL.",
        "Derived: its neighbours' differences need it, and the next generation keeps validity apart from activity; stopping fits all pictures too."
    {
        GoOn "go-on" "it does, without output";
        Stop "stop" "it executes nothing any more";
    }

    // Registers and writes.
    "relative-range" relative_range: RelativeRange =
        "Which register aL names beyond the last or below the first.",
        "Open: not defined anywhere."
    {
        Wrap "wrap" "it wraps around";
        Clamp "clamp" "the nearest one there is";
    }
    "al-outside" al_outside: AlOutside =
        "The value of aL outside every loop.",
        "Open."
    {
        Zero "zero" "0";
        Last "last" "what the loop left last had";
    }
    "inline-relative" inline_relative: InlineRelative =
        "What REL does to an inline constant.",
        "Open."
    {
        Ignore "ignore" "nothing";
        Add "add" "adds aL to its code";
    }
    "past-pixsize" past_pixsize: PastPixsize =
        "Whether temporaries above US_PIXSIZE exist.",
        "Open."
    {
        Exist "exist" "they do";
        Absent "absent" "they read as 0 and keep nothing";
    }
    "write-inactive-depth" write_inactive_depth: WriteInactiveDepth =
        "Whether WRITE_INACTIVE reaches depth.",
        "Open: documented for channels; extended to predicates, outputs and the ALU result by derivation."
    {
        Yes "yes" "it does";
        No "no" "only active pixels write depth";
    }
    "write-inactive-kill" write_inactive_kill: WriteInactiveKill =
        "Whether WRITE_INACTIVE lets TEXKILL kill inactive pixels.",
        "Open."
    {
        No "no" "it does not";
        Yes "yes" "it does";
    }
    "alu-result-predicate" alu_result_predicate: AluResultPredicate =
        "Whether the instruction's predicate gates the ALU result.",
        "Open: nothing known emits both."
    {
        Ungated "ungated" "it does not";
        Gated "gated" "by the predicate of the channel that is compared";
    }
    "kill-rgba" kill_rgba: KillRgba =
        "Which predicate bit gates TEXKILL when RGB_PRED_SEL is RGBA.",
        "Open."
    {
        Red "red" "the R bit";
        Each "each" "each component its own";
    }
    "uncovered-fetch" uncovered_fetch: UncoveredFetch =
        "What a fetch with IGNORE_UNCOVERED gives uncovered pixels.",
        "Open: the register says that data need not be requested."
    {
        Fetch "fetch" "the texel all the same";
        Zero "zero" "0";
    }

    // Operations that the documents exclude.
    "reserved-op" reserved_op: ReservedOp =
        "The result of a reserved opcode.",
        "Open."
    {
        Zero "zero" "0";
        OperandA "operand-a" "operand A";
    }
    "dp-alone" dp_alone: DpAlone =
        "The result of alpha DP with an operation that is not a dot product.",
        "Open: the CTM guide says it is not valid."
    {
        Zero "zero" "0";
        Red "red" "the RGB half's red result";
    }
    "dp4-derivative" dp4_derivative: Dp4Derivative =
        "The alpha factors of DP4 with an alpha MDH or MDV.",
        "Open."
    {
        Operands "operands" "the alpha half's selected operands";
        Corners "corners" "what the derivative uses: the corner and B";
    }
    "omod-7" omod_7: Omod7 =
        "What OMOD 7 does to operations other than MIN, MAX, CMP, CND.",
        "Open: documented as valid for these four only."
    {
        Copy "copy" "copies the result as for those";
        Finish "finish" "scales by 1, as OMOD 0";
    }

    // Numbers.
    "clamp-nan" clamp_nan: ClampNan =
        "The result of the clamp to 0..1 for NaN.",
        "Open: no known program gets there."
    {
        Zero "zero" "0";
        One "one" "1";
        Nan "nan" "NaN";
    } of crate::numerics::ClampNan
    "denormals" denormals: Denormals =
        "How arithmetic treats denormal operands and results.",
        "Open: results are flushed after OMOD 0 to 6 (documented), comparisons see zero (ctm), the rest is not known."
    {
        Flush "flush" "zero of the same sign";
        Keep "keep" "IEEE";
    } of crate::numerics::Denormals
    "zero-sign" zero_sign: ZeroSign =
        "The sign of the zero that ZERO_TIMES_ANYTHING_EQUALS_ZERO makes.",
        "Open: seen only through RCP, raw copies and float targets."
    {
        Plus "plus" "always +0";
        Xor "xor" "negative where exactly one factor is";
    } of crate::numerics::ZeroSign
    "mad-rounding" mad_rounding: MadRounding =
        "How often a multiply-add rounds.",
        "Open: this generation promises no fused operation; two roundings agree with the pictures."
    {
        Twice "twice" "the product, then the sum";
        Once "once" "only the sum";
    }

    // Textures.
    "lod-bias" lod_bias: LodBias =
        "Which level of detail TX_FILTER1.LOD_BIAS is added to.",
        "Documented: to the computed one, before it is clamped. Open: whether one that the program gives is computed."
    {
        Always "always" "every one";
        NotLod "not-lod" "not that of LOD";
        Implicit "implicit" "only those of the quad's differences";
    } of crate::texture::LodBias
    "lod-fraction" lod_fraction: LodFraction =
        "How fine the level of detail is that selects filter and levels.",
        "Observed: Mesa's r300 driver adds 1/32 to every bias, and at a level's exact size a card (RV530, piglit compressedteximage) shows nothing of the next level. Derived: 1/32 is half of 1/16, which makes the cut a rounding."
    {
        FourBits "four-bits" "multiples of 1/16, cut toward minus infinity";
        FiveBits "five-bits" "multiples of 1/32, the unit of LOD_BIAS";
        Exact "exact" "as it is computed";
    } of crate::texture::LodFraction
    "magnification" magnification: Magnification =
        "When MAG_FILTER is used.",
        "Open: no threshold is documented."
    {
        Zero "zero" "at a level of detail of 0 or less, bias included";
        Half "half" "at 1/2 or less";
        Unbiased "unbiased" "at 0 or less, LOD_BIAS not counted";
    } of crate::texture::Magnification
    "texel-weights" texel_weights: Weights =
        "How fine the weights of linear filters are.",
        "Observed: cut to 8 bits they fail a picture that uses a texel as a coordinate."
    {
        Exact "exact" "as the fraction of the coordinate comes out";
        EightBits "eight-bits" "multiples of 1/256";
    } of crate::texture::Weights
    "cube-ties" cube_ties: CubeTies =
        "Which face a direction between faces meets.",
        "Open."
    {
        XThenY "x-first" "the first of X, Y, Z";
        ZThenY "z-first" "the first of Z, Y, X";
    } of crate::texture::CubeTies
    "depth-stencil" depth_stencil: DepthStencil =
        "Which component of TX_FMT_24_8 is which.",
        "Observed: Mesa's r300 driver selects component 0 as depth, and piglit's tests of depth textures that pass on a card (RV530: fbo-depth copypixels, glsl-fs-shadow2D, texwrap bordercolor) pass only so. Formats at large count components from the lowest bit (documented)."
    {
        DepthFirst "depth-first" "depth 0, stencil 1";
        LowestFirst "lowest-first" "stencil 0, depth 1";
    } of crate::texture::DepthStencil
    "wide-border" wide_border: WideBorder =
        "How the border colour is read for formats without texels of 32 bits.",
        "Documented: it has the texture's format, which its register cannot hold."
    {
        EightBits "eight-bits" "four components of 8 bits, the byte repeated in signed ones of 16 bits (a card, RV530, passes piglit's texwrap bordercolor for these)";
        LowestDword "lowest-dword" "the lowest dword of a texel";
    } of crate::texture::WideBorder
    "gamma-border" gamma_border: GammaBorder =
        "Whether the border colour of a texture with GAMMA is converted to linear values.",
        "Observed: Mesa's r300 driver writes the border in gamma, and piglit's tests of sRGB border colours, compressed formats too, fail on cards (RV515, RV530: texwrap GL_EXT_texture_sRGB bordercolor) as with this reading."
    {
        Stored "stored" "it is not; it is used as written";
        Converted "converted" "it is, as texels are";
    } of crate::texture::GammaBorder
    "anisotropic-filter" anisotropic_filter: AnisotropicFilter =
        "How many fetches along the longer step from pixel to pixel an anisotropic filter takes the mean of.",
        "Open: the documents reserve the code that drivers write. Derived: Direct3D defines the level of detail as that of the smaller axis of a pixel's footprint, and the limit as one of the ratio of its axes."
    {
        Nearest "nearest" "the ratio of the axes of the footprint, rounded to nearest";
        Up "up" "the ratio, rounded up";
        Linear "linear" "one, as a linear filter";
    } of crate::texture::AnisotropicFilter
}

impl Readings {
    /// Returns the arithmetic of these readings, with the zero rule of a `US_CONFIG`.
    #[must_use]
    pub fn arith(&self, zero_rule: bool) -> Arith {
        Arith {
            zero_rule,
            zero_sign: self.zero_sign,
            denormals: self.denormals,
            fused: self.mad_rounding == MadRounding::Once,
            clamp_nan: self.clamp_nan,
        }
    }

    /// Returns the texture unit's part of these readings.
    #[must_use]
    pub fn texture(&self) -> TexReadings {
        TexReadings {
            arith: self.arith(false),
            lod_bias: self.lod_bias,
            lod_fraction: self.lod_fraction,
            magnification: self.magnification,
            weights: self.texel_weights,
            cube_ties: self.cube_ties,
            depth_stencil: self.depth_stencil,
            wide_border: self.wide_border,
            gamma_border: self.gamma_border,
            anisotropic_filter: self.anisotropic_filter,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn every_value_can_be_set_and_read_back() {
        for info in Readings::TABLE {
            assert_eq!(Readings::REFERENCE.get(info.name), Some(info.values[0].0), "{}", info.name);
            for (value, _) in info.values {
                let mut readings = Readings::REFERENCE;
                readings.set(info.name, value).unwrap();
                assert_eq!(readings.get(info.name), Some(*value));
            }
        }
    }

    #[test]
    fn unknown_readings_are_refused() {
        let mut readings = Readings::REFERENCE;
        assert!(matches!(readings.set("brake", "mask"), Err(ReadingError::Name { .. })));
        let error = readings.set("break", "maks").unwrap_err();
        assert_eq!(
            error.to_string(),
            "reading `break` has no value `maks`; its values are mask, popcnt, never, literal, flat"
        );
    }
}
