//! The table of diagnostics: codes with their reference pages.

/// Severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The source is invalid.
    Error,
    /// The source is valid, but perhaps not as intended.
    Warning,
}

/// The reference page of a code.
#[derive(Debug)]
pub struct DiagnosticInfo {
    /// Its name, such as `E0201`.
    pub name: &'static str,
    /// Error or warning.
    pub severity: Severity,
    /// The message, one line.
    pub title: &'static str,
    /// Explanation and remedy.
    pub explanation: &'static str,
    /// A source with this diagnostic (in [`DiagnosticCode::NO_EXAMPLE`] one that shows the idea).
    pub example: &'static str,
}

macro_rules! codes {
    ($( $id:ident $name:literal $severity:ident $title:literal $explanation:literal $example:literal; )*) => {
        /// Which error or warning.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum DiagnosticCode {
            $( #[doc = concat!("`", $name, "`: ", $title)] $id, )*
        }

        impl DiagnosticCode {
            /// Every code, by name.
            pub const ALL: &'static [Self] = &[ $( Self::$id, )* ];

            /// Returns its page.
            #[must_use]
            pub const fn info(self) -> &'static DiagnosticInfo {
                match self {
                    $( Self::$id => &DiagnosticInfo {
                        name: $name,
                        severity: Severity::$severity,
                        title: $title,
                        explanation: $explanation,
                        example: $example,
                    }, )*
                }
            }
        }
    };
}

impl DiagnosticCode {
    /// Codes that a single example cannot trigger: other files, or very large ones, are needed.
    pub const NO_EXAMPLE: &'static [Self] = &[
        Self::IncludeCycle,
        Self::IncludeLimit,
        Self::TooManyErrors,
        Self::TooManyWarnings,
        Self::TooDeep,
        Self::JumpTooFar,
        Self::TooLong,
        Self::SourceTooLarge,
    ];

    /// Returns its name, such as `E0201`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.info().name
    }

    /// Returns the code of that name; case does not matter.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|c| c.name().eq_ignore_ascii_case(name))
    }
}

// Text and files 00, statements 01, sources and flags 02, operations 03, textures 04, flow 05, names and directives 06.
codes! {
    UnknownCharacter "E0001" Error "a character that starts no token"
        "The language is made of words, numbers, strings and the marks `. , ; : = * / | + - ! & @ [ ] ( )` and `->`. Comments start with `--`."
        ": MAD.rgb src0.rgb ; // no comment\n";
    UnclosedString "E0002" Error "a string without an end"
        "A string starts and ends with `\"` on one line. Inside it, `\\\"` is a quote and `\\\\` a backslash."
        "NAME \"plasma ;\n";
    UnknownHash "E0003" Error "`#` that is not `#include \"file\"`"
        "Only `#include` starts with `#`, and a file name in double quotes follows it."
        "#define X 1\n: ;\n";
    IncludeFailed "E0004" Error "an included file that cannot be read"
        "The file is searched for next to the including file, then along the search path. The message lists the paths that were tried."
        "#include \"no such file.inc\"\n";
    IncludeCycle "E0005" Error "a file that includes itself"
        "A file may be included any number of times, but not while it is still open: that would never end."
        "#include \"itself.fs.asm\"\n";
    IncludeLimit "E0006" Error "includes past a limit"
        "The depth, number and total size of included files are limited, so that endless chains and files that include each other over and over end with an error. Includes after it are skipped."
        "#include \"deeper.inc\"\n";
    SourceTooLarge "E0007" Error "a source or a program that is too long"
        "A source has at most 32 MiB, a program at most 65,536 instructions. The processor holds 512."
        "";
    TooManyErrors "E0008" Error "more errors than are collected"
        "The assembler stops at the first error past a limit (10,000; an option of the library). Such a source is likely not assembly, or one mistake in an included file or a generator repeats in every line."
        "";
    TooManyWarnings "W0009" Warning "more warnings than are collected"
        "Warnings past a limit (10,000; an option of the library) are dropped. The source assembles all the same."
        "";

    Unexpected "E0101" Error "something else was expected"
        "Syntax error. The message lists what is allowed here; the guide has the grammar of the language."
        "src0.rgb temp[0] : MAD.rgb src0.rgb ;\n";
    NoSemicolon "E0102" Error "a statement without `;`"
        "Every instruction and every directive ends with `;`. Line ends mean nothing."
        ": temp[0].r = FRC src0.rrr\n: temp[1].r = FRC src0.rrr ;\n";
    UnknownStatement "E0103" Error "a word that starts no statement"
        "A statement starts with a flag (`OUT`, `LAST`, ...), a source (`src0.rgb = ...`), `:`, `TEX`, a word of flow control, `RAW`, `@label`, the word of a directive, `.macro`, `.rept`, or the name of a macro."
        "TEXX temp[0].rgba = LD tex[0].rgba temp[0].rgba ;\n";
    EmptyStatement "W0104" Warning "a `;` without a statement"
        "It means nothing and is left out."
        ": ; ;\n";
    BadNumber "E0105" Error "something that is not a number"
        "Whole numbers are decimal, or hexadecimal with `0x`. Other numbers have digits before the point: `0.5`, `-1e-3`, `inf`, `nan`; `0x` and eight digits are the bits of a float. An expression such as `2*K+1` is a number, too; where a whole one belongs, its value must be whole."
        "src0.rgb = temp[3x] : MAD.rgb src0.rgb ;\n";
    OutOfRange "E0106" Error "a number that does not fit"
        "Temporaries are 0 to 127, constants 0 to 255, codes of inline constants 0 to 127, textures 0 to 15, render targets 0 to 3, integer and boolean constants 0 to 31."
        "src0.rgb = temp[128] : MAD.rgb src0.rgb ;\n";
    BadExpression "E0107" Error "an expression without a number as its value"
        "An expression has numbers, names that `DEF` gave to numbers, `pi`, `+ - * /`, parentheses and functions such as `sqrt(2)`. Its value is computed in double precision and rounded once. It must be finite, unless it has `inf` or `nan` in it."
        "const[0] = (1/0, 0, 0, 0) ;\n";

    DuplicateFlag "E0201" Error "a flag that is given twice"
        "A flag sets a field of the instruction; repeating it has no effect and is usually a mistake."
        "LAST LAST : ;\n";
    MisplacedFlag "E0202" Error "a flag of another kind of instruction"
        "`TEX_SEM_ACQUIRE`, `UNSCALED` and `IGNORE_UNCOVERED` are fields of texture instructions (`IGNORE_UNCOVERED` of flow control too); arithmetic has no place for them."
        "TEX_SEM_ACQUIRE : ;\n";
    DuplicateLet "E0203" Error "a source that is given twice"
        "Each of src0, src1, src2 and srcp has one address or operation for colours (`.rgb`) and one for alpha (`.a`)."
        "src0.rgb = temp[0], src0.rgb = temp[1] : MAD.rgb src0.rgb ;\n";
    BadSource "E0204" Error "something that is not a source"
        "A source is a temporary `temp[n]`, a constant `const[n]`, an inline constant by code `float(n)` or by value `0.5`, or a name that `DEF` or `UNIFORM` gave to one of these."
        "src0.rgb = tmp[0] : MAD.rgb src0.rgb ;\n";
    BadPresubtract "E0205" Error "something that is not a presubtract operation"
        "srcp is `neg2` (1-2*src0), `sub` (src1-src0), `add` (src1+src0) or `neg` (1-src0)."
        "srcp.rgb = mul : MAD.rgb srcp.rgb ;\n";
    NoInline "E0206" Error "a value that no inline constant has"
        "Inline constants are small floats: four bits of exponent, three of mantissa, no sign; 0, and 1/512 to 480. Put other values into a constant: `const[0] = (0.3, 0, 0, 0);`. A negative value is a positive one with `-` at the operand."
        "src0.rgb = 0.3 : MAD.rgb src0.rgb ;\n";
    NamedBits "E0207" Error "`WORDn` over bits that have names"
        "`WORD1(...)` to `WORD5(...)` set bits that no field names, so that odd instructions can be written. Bits with names are set by their names, or all six dwords by `RAW`."
        "WORD3(1) : ;\n";

    NoSource "E0208" Error "a source that does not exist"
        "An instruction has three sources, `src0`, `src1` and `src2`, each with an address for colours and one for alpha, and the presubtract result `srcp`. What needs more takes a second instruction."
        "src3.rgb = temp[0] : ;\n";

    UnknownOpcode "E0301" Error "an operation that does not exist"
        "RGB operations are MAD DP3 DP4 D2A MIN MAX CND CMP FRC SOP MDH MDV, alpha operations MAD DP MIN MAX CND CMP FRC EX2 LN2 RCP RSQ SIN COS MDH MDV; `OP(n)` names one by its code. There are no pseudo-operations: a copy is `MAD a 1 0`, a sum `MAD a 1 b`, a product `MAD a b 0`. Texture operations are NOP LD TEXKILL PROJ LODBIAS LOD DXDY."
        ": temp[0].r = MUL src0.rrr src0.rrr ;\n";
    UnclearHalf "E0302" Error "an operation that may belong to either half"
        "Which half an operation is for follows from its opcode if only one half has it, else from the masks of its destinations, else from the other operation. Never from the length of swizzles. Where nothing tells, name the half: `MAD.rgb`, `MAD.a`."
        ": MAD src0.rgb src0.rgb src0.rgb ;\n";
    SameHalf "E0303" Error "two operations of one half"
        "An instruction has at most one RGB and one alpha operation."
        ": temp[0].r = MAX src0.rrr src0.ggg, temp[1].g = MIN src0.rrr src0.ggg ;\n";
    WrongHalf "E0304" Error "an opcode against a mask"
        "The operation exists in one half only, and its destination belongs to the other."
        ": temp[0].rgb = RCP src0.r ;\n";
    MixedHalves "E0305" Error "one operation that writes colours and alpha"
        "Colours and alpha are written by different halves, so by two operations, separated by a comma."
        ": temp[0].rgba = MAD src0.rgb src0.111 src0.000 ;\n";
    TooManyOps "E0306" Error "a third operation"
        "An instruction has at most one RGB and one alpha operation."
        ": MAD.rgb src0.rgb, MAD.a src0.a, MAX src0.rgb ;\n";
    TooManyOperands "E0307" Error "a fourth operand"
        "Operations have operands A, B and C at most. The opcode does not matter: operands that it ignores may be written."
        ": MAD.rgb src0.rgb src0.rgb src0.rgb src0.rgb ;\n";
    BadMask "E0308" Error "something that is not a mask"
        "A mask is letters of `rgba` in this order, each at most once, or `none`."
        ": temp[0].gr = MAD src0.rgb src0.111 src0.000 ;\n";
    BadSwizzle "E0309" Error "something that is not a swizzle"
        "Letters of a swizzle are r g b a, 0, h (one half), 1 and _ (unused)."
        ": temp[0].rgb = MAD src0.xyz src0.111 src0.000 ;\n";
    SwizzleLength "E0310" Error "a swizzle of the wrong length"
        "RGB operands have three letters, one a channel; alpha operands have one."
        ": temp[0].rgb = MAD src0.rgb src0.1 src0.000 ;\n";
    BadOmod "E0311" Error "something that is not an output modifier"
        "A result is multiplied by 1.0, 2.0, 4.0, 8.0, 0.5, 0.25 or 0.125, spelled so; `raw` instead copies it bit for bit."
        ": temp[0].rgb = 3.0 * MAD src0.rgb src0.111 src0.000 ;\n";
    PredicateOnOutput "E0312" Error "a predicate write on an output instruction"
        "The mask that names predicate bits on an ALU instruction names channels of a render target on an output instruction; one instruction cannot do both."
        "OUT : pred[lt].r = MAD src0.rgb src0.111 src0.000 ;\n";
    MissingOperand "W0313" Warning "an operation whose last operand is not written"
        "An operand that is not written is red of src0 in every channel (all bits zero), not 0: `MAD src0.rgb src0.111` adds `src0.rrr`. Write `src0.000` for an addend of 0."
        "src0.rgb = temp[0] : temp[1].rgb = MAD src0.rgb src0.111 ;\n";
    OutputWithoutOut "W0314" Warning "an output that an instruction without `OUT` does not write"
        "Only instructions with the flag `OUT` write render targets. Without it the mask names predicate bits, and the number is the comparison that sets them: 0 `eq`, 1 `lt`, 2 `ge`, 3 `ne`. Begin the instruction with `OUT`, or write `pred[eq].r` if that is meant."
        ": out[0].rgb = MAD src0.rgb src0.111 src0.000 ;\n";

    TwoDestinations "E0401" Error "a texture instruction with two destinations"
        "A texture instruction writes one temporary. Several destinations may be written if they name the same; the mask of the last counts."
        "TEX temp[0].rg = temp[1].ba = LD tex[0].rgba temp[2].rgba ;\n";
    BadTexSwizzle "E0402" Error "something that is not a texture swizzle"
        "Swizzles of texture instructions are four letters of r, g, b, a; there are no constants in them."
        "TEX temp[0].rgba = LD tex[0].rgba temp[0].rg ;\n";
    BadTexture "E0403" Error "a texture that cannot be"
        "Sides of pictures are 1 to 4096 texels, the bytes of a `LEVEL` are pairs of hexadecimal digits, and a unit has a file or levels, not both."
        "TEXTURE tex[0] = checker(0, 8, 1) ;\n";

    Unclosed "E0501" Error "a block without an end"
        "`IF` ends with `ENDIF`, `LOOP` with `ENDLOOP`, `REP` with `ENDREP`."
        "IF alu ;\n";
    Unopened "E0502" Error "the end of a block that is not open"
        "`ELSE` and `ENDIF` belong to the innermost open block if that is an `IF`; `ENDLOOP` and `ENDREP` to a `LOOP` and a `REP`. For other shapes there is `FC`."
        "LOOP int[0] ;\nENDIF ;\nENDLOOP ;\n";
    OutsideLoop "E0503" Error "`BREAK` or `CONTINUE` outside of a loop"
        "They need a loop to leave or to continue. For other jumps there are `JUMP` and `FC`."
        "BREAK ;\n";
    UnknownLabel "E0504" Error "a label that is not defined"
        "A label is set with `@name`, before an instruction or after the last one, anywhere in the source."
        "JUMP @nowhere ;\n";
    DuplicateLabel "E0505" Error "a label that is defined twice"
        "A label names one address in its scope: the source, or one use of a macro or iteration."
        "@here @here JUMP @here ;\n";
    JumpTooFar "E0506" Error "an address that does not fit"
        "Jump, start and end addresses have nine bits: 511 is the greatest. A program that is longer cannot be jumped around in beyond that."
        "JUMP @far ; -- and @far 512 instructions further on\n";
    ConditionConflict "E0507" Error "a condition over two predicates or two booleans"
        "One instruction reads the ALU result, one predicate bit and one boolean constant. Conditions may combine these three freely."
        "IF pred.r & pred.g ;\nENDIF ;\n";
    TooDeep "E0508" Error "a jump out of more than 31 branches"
        "`BREAK` and `CONTINUE` take as many levels from the branch counters as branches are open between them and their loop; B_POP_CNT has five bits."
        "BREAK ; -- inside 32 IFs inside a loop\n";

    WrongRegister "E0601" Error "a register of the wrong kind"
        "Here another kind of register belongs; the message says which."
        "TEX temp[0].rgba = LD temp[0].rgba temp[0].rgba ;\n";
    BadName "E0602" Error "a name that is a word of the language"
        "Names are words that the language does not use itself, and do not start with a digit. Case does not matter."
        "DEF mad = temp[0] ;\n";
    DuplicateName "E0603" Error "a name that is defined twice"
        "A name stands for one register, number or macro in its scope: the source, or one use of a macro or iteration."
        "DEF a1 = temp[0] ;\nDEF a1 = temp[1] ;\n";
    UnknownField "E0604" Error "a field or value that a register does not have"
        "Fields of registers go by their documented names, values by theirs or by number."
        "US_PIXSIZE = PIXSIZE(3) ;\n";
    GivenTwice "E0605" Error "something that is given twice"
        "A directive says what a constant, a register or an input is; it is said once."
        "SIZE 4 4 ;\nSIZE 8 8 ;\n";
    SizeNeeded "E0606" Error "pixels without a size"
        "Positions in pixels, and what is expected of pixels, need to know how large the picture is: `SIZE width height ;`."
        "EXPECT out[0] at (0, 0) = (1, 0, 0, 1) ;\n";
    WrongCount "E0607" Error "values that do not fit the picture"
        "A row needs a value for each of its pixels, a picture for all of them, and a pixel must lie inside."
        "SIZE 2 1 ;\nEXPECT out[0] row 0 = (1, 0, 0, 1) ;\n";

    TooLong "W0701" Warning "more instructions than the processor holds"
        "The instruction memory has 512 slots. The words are assembled anyway."
        ": ; -- 513 times\n";

    ExpansionLimit "E0801" Error "macros and repetitions past a limit"
        "The depth, number and total size of what macros and repetitions produce are limited, so that a macro that uses itself, or repetitions in repetitions, end with an error. What comes after it is not expanded."
        ".macro again ;\n    again ;\n.endm ;\nagain ;\n";
    NoBody "E0802" Error "a macro or repetition without an end, or an end without a beginning"
        "`.macro` ends with `.endm`, `.rept` with `.endr`, in the same file."
        ".rept 4 ;\n: ;\n";
    MacroArguments "E0803" Error "a macro with another number of arguments"
        "A use of a macro gives a value to each of its parameters, separated by commas. Commas in brackets do not separate. A macro has at most 16 parameters."
        ".macro one to ;\n.endm ;\none 1, 2 ;\n";
}
