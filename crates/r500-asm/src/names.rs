//! The keyword table: the spelling of each word of the language.
//!
//! [`Kw`] lists the words that the parser distinguishes on its hot path; a hash table from spelling to [`Kw`] is
//! computed at compile time. The tables below relate words to values of `r500-isa`, for the parser in one direction and
//! the printer in the other.

use r500_isa::values::{
    AddrOp, AlphaOp, BranchOp, Compare, FcOp, PredSel, RgbOp, SrcpOp, Swiz, TexOp,
};

macro_rules! keywords {
    ($( $kw:ident $text:literal )*) => {
        /// A keyword; `Ident` is any other word.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub(crate) enum Kw { Ident, $( $kw, )* }

        impl Kw {
            /// Every keyword.
            pub(crate) const ALL: &'static [Self] = &[ $( Self::$kw, )* ];

            /// Returns its spelling; case is ignored.
            pub(crate) const fn text(self) -> &'static str {
                match self { Self::Ident => "", $( Self::$kw => $text, )* }
            }
        }
    };
}

#[rustfmt::skip]
keywords! {
    // Flags.
    Out "OUT"  TexSemWait "TEX_SEM_WAIT"  TexSemAcquire "TEX_SEM_ACQUIRE"  Last "LAST"  Nop "NOP"
    AluWait "ALU_WAIT"  WriteInactive "WRITE_INACTIVE"  StatWe "STAT_WE"  Pred "PRED"
    Wmask "WMASK"  Omask "OMASK"  Clamp "CLAMP"  AluResult "ALU_RESULT"  Unscaled "UNSCALED"
    IgnoreUncovered "IGNORE_UNCOVERED"
    Word1 "WORD1"  Word2 "WORD2"  Word3 "WORD3"  Word4 "WORD4"  Word5 "WORD5"
    // Registers and destinations.
    Src0 "src0"  Src1 "src1"  Src2 "src2"  Srcp "srcp"
    Temp "temp"  Const "const"  Float "float"  Int "int"  Bool "bool"  Tex "tex"
    Alu "alu"  Depth "depth"  Al "aL"
    // Presubtract.
    Neg2 "neg2"  Sub "sub"  Add "add"  Neg "neg"
    // Operations.
    Mad "MAD"  Dp3 "DP3"  Dp4 "DP4"  D2a "D2A"  Min "MIN"  Max "MAX"  Cnd "CND"  Cmp "CMP"
    Frc "FRC"  Sop "SOP"  Mdh "MDH"  Mdv "MDV"  Dp "DP"  Ex2 "EX2"  Ln2 "LN2"  Rcp "RCP"
    Rsq "RSQ"  Sin "SIN"  Cos "COS"  Op "OP"  Raw "RAW"
    Ld "LD"  Texkill "TEXKILL"  Proj "PROJ"  Lodbias "LODBIAS"  Lod "LOD"  Dxdy "DXDY"
    // Comparisons with zero.
    Eq "eq"  Lt "lt"  Ge "ge"  Ne "ne"
    // Flow control.
    Fc "FC"  If "IF"  Else "ELSE"  Endif "ENDIF"  Loop "LOOP"  Endloop "ENDLOOP"  Rep "REP"
    Endrep "ENDREP"  Break "BREAK"  Breakloop "BREAKLOOP"  Breakrep "BREAKREP"
    Continue "CONTINUE"  Call "CALL"  Return "RETURN"  Jump "JUMP"
    Any "any"  All "all"  Table "table"  JumpFunc "JUMP_FUNC"  BElse "B_ELSE"  AOp "A_OP"
    BOp0 "B_OP0"  BOp1 "B_OP1"  BPopCnt "B_POP_CNT"  JumpGlobal "JUMP_GLOBAL"
    NoneWord "none"  Incr "incr"  Decr "decr"  Push "push"  Pop "pop"
    // Directives.
    Size "SIZE"  Time "TIME"  Name "NAME"  Origin "ORIGIN"  Input "INPUT"  Texture "TEXTURE"
    Level "LEVEL"  Expect "EXPECT"  Coverage "COVERAGE"  Entry "ENTRY"  End "END"  Def "DEF"
    Uniform "UNIFORM"  FullFcEn "FULL_FC_EN"  Share "SHARE"  Rationale "RATIONALE"  Status "STATUS"
}

/// Appends a byte to a key: a word of up to 16 bytes in lower case as a number; `_` becomes 0x7f, which no word
/// contains.
pub(crate) const fn key_push(key: u128, byte: u8) -> u128 {
    key << 8 | (byte | 0x20) as u128
}

const fn key_of(text: &str) -> u128 {
    let bytes = text.as_bytes();
    assert!(bytes.len() <= 16, "a keyword is longer than the lookup can hold");
    let (mut key, mut i) = (0, 0);
    while i < bytes.len() {
        key = key_push(key, bytes[i]);
        i += 1;
    }
    key
}

const SLOTS: usize = 512;

const fn slot_of(key: u128) -> usize {
    let folded = (key as u64) ^ ((key >> 64) as u64).rotate_left(29);
    (folded.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 55) as usize
}

/// Open addressing with a load factor of a quarter.
static LOOKUP: [(u128, Kw); SLOTS] = {
    let mut table = [(0u128, Kw::Ident); SLOTS];
    let mut i = 0;
    while i < Kw::ALL.len() {
        let key = key_of(Kw::ALL[i].text());
        let mut slot = slot_of(key);
        while table[slot].0 != 0 {
            assert!(table[slot].0 != key, "a keyword is listed twice");
            slot = (slot + 1) % SLOTS;
        }
        table[slot] = (key, Kw::ALL[i]);
        i += 1;
    }
    table
};

/// Returns the keyword with that key.
#[inline]
pub(crate) fn lookup(key: u128) -> Kw {
    let mut slot = slot_of(key);
    loop {
        let (found, kw) = LOOKUP[slot];
        if found == key || found == 0 {
            return kw;
        }
        slot = (slot + 1) % SLOTS;
    }
}

/// Returns the keyword of a word, ignoring case.
pub(crate) fn find(word: &[u8]) -> Kw {
    if word.len() > 16 {
        return Kw::Ident;
    }
    lookup(word.iter().fold(0, |key, byte| key_push(key, *byte)))
}

/// Returns the register of that name, if a program contains it.
pub(crate) fn register_of(name: &str) -> Option<&'static r500_isa::Register> {
    let register = r500_isa::register(name)?;
    CARRIED.contains(&register.name).then_some(register)
}

/// The registers that a program contains.
#[rustfmt::skip]
pub(crate) const CARRIED: &[&str] = &[
    "US_CONFIG", "US_PIXSIZE", "US_CODE_ADDR", "US_CODE_RANGE", "US_CODE_OFFSET", "US_FC_CTRL",
    "US_FC_BOOL_CONST", "US_FC_INT_CONST", "US_OUT_FMT", "US_W_FMT", "US_FORMAT",
    "TX_FILTER0", "TX_FILTER1", "TX_FORMAT0", "TX_FORMAT1", "TX_FORMAT2", "TX_OFFSET",
    "TX_BORDER_COLOR", "TX_CHROMA_KEY",
];

/// An arithmetic operation: its word, and its code in each half that has it.
pub(crate) struct Opcode {
    pub(crate) kw: Kw,
    pub(crate) rgb: Option<RgbOp>,
    pub(crate) alpha: Option<AlphaOp>,
}

const fn op(kw: Kw, rgb: Option<RgbOp>, alpha: Option<AlphaOp>) -> Opcode {
    Opcode { kw, rgb, alpha }
}

/// Every arithmetic operation.
#[rustfmt::skip]
pub(crate) static OPCODES: &[Opcode] = &[
    op(Kw::Mad, Some(RgbOp::MAD), Some(AlphaOp::MAD)),
    op(Kw::Dp3, Some(RgbOp::DP3), None),
    op(Kw::Dp4, Some(RgbOp::DP4), None),
    op(Kw::D2a, Some(RgbOp::D2A), None),
    op(Kw::Dp,  None,             Some(AlphaOp::DP)),
    op(Kw::Min, Some(RgbOp::MIN), Some(AlphaOp::MIN)),
    op(Kw::Max, Some(RgbOp::MAX), Some(AlphaOp::MAX)),
    op(Kw::Cnd, Some(RgbOp::CND), Some(AlphaOp::CND)),
    op(Kw::Cmp, Some(RgbOp::CMP), Some(AlphaOp::CMP)),
    op(Kw::Frc, Some(RgbOp::FRC), Some(AlphaOp::FRC)),
    op(Kw::Sop, Some(RgbOp::SOP), None),
    op(Kw::Ex2, None,             Some(AlphaOp::EX2)),
    op(Kw::Ln2, None,             Some(AlphaOp::LN2)),
    op(Kw::Rcp, None,             Some(AlphaOp::RCP)),
    op(Kw::Rsq, None,             Some(AlphaOp::RSQ)),
    op(Kw::Sin, None,             Some(AlphaOp::SIN)),
    op(Kw::Cos, None,             Some(AlphaOp::COS)),
    op(Kw::Mdh, Some(RgbOp::MDH), Some(AlphaOp::MDH)),
    op(Kw::Mdv, Some(RgbOp::MDV), Some(AlphaOp::MDV)),
];

/// Returns the operation of a keyword.
#[inline]
pub(crate) fn opcode(kw: Kw) -> Option<&'static Opcode> {
    // Index plus one; 0 for other words.
    static INDEX: [u8; 256] = {
        let mut index = [0; 256];
        let mut i = 0;
        while i < OPCODES.len() {
            index[OPCODES[i].kw as usize] = i as u8 + 1;
            i += 1;
        }
        index
    };
    OPCODES.get(usize::from(INDEX[kw as usize]).wrapping_sub(1))
}

/// Opcode words by `RGB_OP`; empty for reserved codes.
pub(crate) static RGB_OPS: [&str; 16] = {
    let mut names = [""; 16];
    let mut i = 0;
    while i < OPCODES.len() {
        if let Some(code) = OPCODES[i].rgb {
            names[code.code() as usize] = OPCODES[i].kw.text();
        }
        i += 1;
    }
    names
};

/// Opcode words by `ALPHA_OP`; empty for reserved codes.
pub(crate) static ALPHA_OPS: [&str; 16] = {
    let mut names = [""; 16];
    let mut i = 0;
    while i < OPCODES.len() {
        if let Some(code) = OPCODES[i].alpha {
            names[code.code() as usize] = OPCODES[i].kw.text();
        }
        i += 1;
    }
    names
};

/// Whether only the RGB half has the operation, by `RGB_OP`.
pub(crate) static RGB_ONLY: [bool; 16] = {
    let mut only = [false; 16];
    let mut i = 0;
    while i < OPCODES.len() {
        if let (Some(code), None) = (OPCODES[i].rgb, OPCODES[i].alpha) {
            only[code.code() as usize] = true;
        }
        i += 1;
    }
    only
};

/// Whether only the alpha half has the operation, by `ALPHA_OP`.
pub(crate) static ALPHA_ONLY: [bool; 16] = {
    let mut only = [false; 16];
    let mut i = 0;
    while i < OPCODES.len() {
        if let (None, Some(code)) = (OPCODES[i].rgb, OPCODES[i].alpha) {
            only[code.code() as usize] = true;
        }
        i += 1;
    }
    only
};

/// Texture operations.
pub(crate) static TEX_OPS: &[(Kw, TexOp)] = &[
    (Kw::Nop, TexOp::NOP),
    (Kw::Ld, TexOp::LD),
    (Kw::Texkill, TexOp::TEXKILL),
    (Kw::Proj, TexOp::PROJ),
    (Kw::Lodbias, TexOp::LODBIAS),
    (Kw::Lod, TexOp::LOD),
    (Kw::Dxdy, TexOp::DXDY),
];

/// Presubtract operations.
pub(crate) static SRCP_OPS: &[(Kw, SrcpOp)] = &[
    (Kw::Neg2, SrcpOp::NEG2),
    (Kw::Sub, SrcpOp::SUB),
    (Kw::Add, SrcpOp::ADD),
    (Kw::Neg, SrcpOp::NEG),
];

/// Comparisons with zero.
pub(crate) static COMPARES: &[(Kw, Compare)] =
    &[(Kw::Eq, Compare::EQ), (Kw::Lt, Compare::LT), (Kw::Ge, Compare::GE), (Kw::Ne, Compare::NE)];

/// `US_FC_INST.OP`.
pub(crate) static FC_OPS: &[(Kw, FcOp)] = &[
    (Kw::Jump, FcOp::JUMP),
    (Kw::Loop, FcOp::LOOP),
    (Kw::Endloop, FcOp::ENDLOOP),
    (Kw::Rep, FcOp::REP),
    (Kw::Endrep, FcOp::ENDREP),
    (Kw::Breakloop, FcOp::BREAKLOOP),
    (Kw::Breakrep, FcOp::BREAKREP),
    (Kw::Continue, FcOp::CONTINUE),
];

/// `US_FC_INST.A_OP`.
pub(crate) static ADDR_OPS: &[(Kw, AddrOp)] =
    &[(Kw::NoneWord, AddrOp::NONE), (Kw::Pop, AddrOp::POP), (Kw::Push, AddrOp::PUSH)];

/// `US_FC_INST.B_OP0` and `B_OP1`.
pub(crate) static BRANCH_OPS: &[(Kw, BranchOp)] =
    &[(Kw::NoneWord, BranchOp::NONE), (Kw::Decr, BranchOp::DECR), (Kw::Incr, BranchOp::INCR)];

/// Predicate selects; other codes are written as numbers.
pub(crate) static PRED_SELS: &[(&str, PredSel)] = &[
    ("none", PredSel::NONE),
    ("rgba", PredSel::RGBA),
    ("r", PredSel::RRRR),
    ("g", PredSel::GGGG),
    ("b", PredSel::BBBB),
    ("a", PredSel::AAAA),
];

/// Output modifiers 0 to 6 as the dialect spells them, before and after the dot.
pub(crate) static OMODS: [(&str, &str); 7] =
    [("1", "0"), ("2", "0"), ("4", "0"), ("8", "0"), ("0", "5"), ("0", "25"), ("0", "125")];

/// Swizzle letters by code.
pub(crate) static SWIZZLES: [u8; 8] = *b"rgba0h1_";

/// Returns the swizzle of a letter.
#[inline]
pub(crate) const fn swizzle(letter: u8) -> Option<Swiz> {
    Some(Swiz::new(match letter | 0x20 {
        b'r' => 0,
        b'g' => 1,
        b'b' => 2,
        b'a' => 3,
        b'h' => 5,
        _ => match letter {
            b'0' => 4,
            b'1' => 6,
            b'_' => 7,
            _ => return None,
        },
    }))
}

/// Returns a swizzle or mask of the letters x y z w in this language's letters: `xyz` gives `rgb`. `None` if it has
/// none of them, or others.
pub(crate) fn translated_swizzle(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    let letters: Option<String> = lower
        .chars()
        .map(|letter| match letter {
            'x' => Some('r'),
            'y' => Some('g'),
            'z' => Some('b'),
            'w' => Some('a'),
            '0' | 'h' | '1' | '_' => Some(letter),
            _ => None,
        })
        .collect();
    letters.filter(|_| lower.contains(['x', 'y', 'z', 'w']))
}

/// Masks by their bits, red lowest: the suffix of a destination.
pub(crate) static MASKS: [&str; 16] = [
    "none", "r", "g", "rg", "b", "rb", "gb", "rgb", "a", "ra", "ga", "rga", "ba", "rba", "gba",
    "rgba",
];

/// Returns the value of a word in one of the tables above.
pub(crate) fn value_of<T: Copy>(table: &[(Kw, T)], kw: Kw) -> Option<T> {
    table.iter().find(|(k, _)| *k == kw).map(|(_, v)| *v)
}

/// Returns the word for a value in one of the tables above.
pub(crate) fn word_of<T: Copy + PartialEq>(table: &[(Kw, T)], value: T) -> Option<&'static str> {
    table.iter().find(|(_, v)| *v == value).map(|(k, _)| k.text())
}

/// Returns the candidate most similar to `word`, if one is similar enough.
#[must_use]
pub fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > 32 {
        return None;
    }
    let word = word.to_ascii_lowercase();
    candidates
        .into_iter()
        // Longer names are not similar, and the comparison takes time for each letter.
        .filter(|c| c.len() <= 64)
        .map(|c| (strsim::osa_distance(&word, &c.to_ascii_lowercase()), c))
        .min_by_key(|(d, _)| *d)
        .filter(|(d, c)| *d <= 1 + c.len().min(word.len()) / 4)
        .map(|(_, c)| c)
}
