//! Documentation of every keyword, used by hover and completion.
//!
//! The meaning of a field or value is in `r500-isa`; a row names the field. Rows of other words (statements,
//! directives) have their own text.

use r500_isa::{Field, Register};

use crate::names::Kw;

/// The contexts of a keyword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// A flag before an instruction.
    Flag,
    /// A flag before a texture instruction only.
    TexFlag,
    /// A source, which a binding sets and an operand reads.
    Source,
    /// Registers and constants of a source.
    Address,
    /// A presubtract operation.
    Presubtract,
    /// Destinations of an operation.
    Destination,
    /// Between destination and opcode.
    Result,
    /// An arithmetic operation.
    Operation,
    /// A texture operation.
    TexOperation,
    /// A comparison with zero.
    Compare,
    /// The first word of an instruction statement.
    Statement,
    /// A part of a condition.
    Condition,
    /// After a flow-control statement.
    Modifier,
    /// The value of a modifier.
    ModifierValue,
    /// A statement of `FC`.
    FcOperation,
    /// The beginning or end of a body, with its point.
    Body,
    /// The first word of a directive.
    Directive,
    /// A register that a directive or a modifier names.
    Register,
    /// A word inside a directive, given by its first word.
    Within(Kw),
}

/// A word in one of its roles.
#[derive(Debug)]
pub(super) struct KeywordDoc {
    pub(super) word: &'static str,
    pub(super) role: Role,
    /// The text to insert, as a completion snippet: `$0` is the final cursor position, `${1:x}` a placeholder. Empty:
    /// the word alone.
    pub(super) usage: &'static str,
    /// The field that it sets, as `REGISTER.FIELD`, and the code of its value, if it has one.
    field: &'static str,
    code: Option<u32>,
    /// Text of words without a field, or in addition to the field's.
    pub(super) meaning: &'static str,
}

impl KeywordDoc {
    /// Returns the field that it sets.
    pub(super) fn field(&self) -> Option<(&'static Register, &'static Field)> {
        field(self.field)
    }

    /// Returns its value, if the tables describe it.
    pub(super) fn value(&self) -> Option<&'static r500_isa::Value> {
        let (_, field) = self.field()?;
        field.value(self.code?)
    }

    /// Returns its meaning, one line.
    pub(super) fn meaning(&self) -> String {
        let of_field = match (self.value(), self.code, self.field()) {
            (Some(value), ..) => value.meaning,
            (None, None, Some((_, field))) => field.meaning,
            _ => "",
        };
        match (self.meaning, of_field) {
            ("", of_field) => of_field.to_owned(),
            (own, "") => own.to_owned(),
            (own, of_field) => format!("{own}: {of_field}"),
        }
    }

    /// Returns its syntax, for display.
    pub(super) fn shown(&self) -> String {
        if self.usage.is_empty() { self.word.to_owned() } else { plain(self.usage) }
    }
}

/// Returns the field of a path `REGISTER.FIELD`.
pub(super) fn field(path: &str) -> Option<(&'static Register, &'static Field)> {
    let (register, field) = path.split_once('.')?;
    let register = r500_isa::register(register)?;
    Some((register, register.field(field)?))
}

/// Returns a snippet for display: placeholders are replaced by their names.
pub(super) fn plain(snippet: &str) -> String {
    let mut out = String::with_capacity(snippet.len());
    let mut rest = snippet;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        match rest.strip_prefix('{').and_then(|inside| inside.split_once('}')) {
            Some((inside, after)) => {
                out.push_str(inside.split_once(':').map_or("", |(_, name)| name));
                rest = after;
            }
            None => rest = rest.trim_start_matches(|c: char| c.is_ascii_digit()),
        }
    }
    out.push_str(rest);
    // Where the cursor goes something stands.
    out.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

/// Returns the rows of a word, ignoring case.
pub(super) fn rows(word: &str) -> impl Iterator<Item = &'static KeywordDoc> {
    WORDS.iter().filter(move |row| row.word.eq_ignore_ascii_case(word))
}

/// Returns the rows of a role.
pub(super) fn of_role(role: Role) -> impl Iterator<Item = &'static KeywordDoc> {
    WORDS.iter().filter(move |row| row.role == role)
}

macro_rules! words {
    ($( $role:ident $(($of:ident))? $word:literal $usage:literal $field:literal $(= $code:literal)? $meaning:literal; )*) => {
        &[ $( KeywordDoc {
            word: $word,
            role: Role::$role $((Kw::$of))?,
            usage: $usage,
            field: $field,
            code: words!(@ $($code)?),
            meaning: $meaning,
        }, )* ]
    };
    (@ $code:literal) => { Some($code) };
    (@) => { None };
}

/// Every word in each of its roles, in the order of completion.
#[rustfmt::skip]
pub(super) static WORDS: &[KeywordDoc] = words! {
    // Statements of instructions.
    Statement "TEX"      "TEX ${1:TEX_SEM_ACQUIRE} temp[${2:0}].rgba = ${3:LD} tex[${4:0}].rgba temp[${5:0}].rgba ;$0" "US_CMN_INST.TYPE" = 3 "";
    Statement "IF"       "IF ${1:alu} ALU_WAIT ;\n    $0\nENDIF ALU_WAIT ;" "" "Pixels for which the condition holds continue, the others wait at `ELSE` or `ENDIF`; skipped if it holds for none.";
    Statement "ELSE"     "ELSE ALU_WAIT ;$0"  "" "The pixels that waited and those that went on change places.";
    Statement "ENDIF"    "ENDIF ALU_WAIT ;$0" "" "All pixels of the `IF` continue together.";
    Statement "LOOP"     "LOOP int[${1:0}] ALU_WAIT ;\n    $0\nENDLOOP ALU_WAIT ;" "US_FC_INST.OP" = 1 "A loop that counts in `aL`: trip count, first value and step are `int[n]`";
    Statement "ENDLOOP"  "ENDLOOP ALU_WAIT ;$0" "US_FC_INST.OP" = 2 "The end of a `LOOP`";
    Statement "REP"      "REP int[${1:0}] ALU_WAIT ;\n    $0\nENDREP ALU_WAIT ;" "US_FC_INST.OP" = 3 "A loop that leaves `aL` alone";
    Statement "ENDREP"   "ENDREP ALU_WAIT ;$0" "US_FC_INST.OP" = 4 "The end of a `REP`";
    Statement "BREAK"    "BREAK IF ${1:alu} ALU_WAIT ;$0" "" "Pixels for which the condition holds (all, without one) leave the innermost loop.";
    Statement "CONTINUE" "CONTINUE IF ${1:alu} ALU_WAIT ;$0" "US_FC_INST.OP" = 7 "Pixels for which the condition holds wait for the next iteration of the innermost loop";
    Statement "CALL"     "CALL @${1:label} ALU_WAIT ;$0" "" "Jumps to the label and remembers where to come back to.";
    Statement "RETURN"   "RETURN ALU_WAIT ;$0" "" "Continues after the `CALL` that led here.";
    Statement "JUMP"     "JUMP @${1:label} ALU_WAIT ;$0" "US_FC_INST.OP" = 0 "Jumps to the label and leaves the branch counters alone";
    Statement "FC"       "FC ${1:JUMP} JUMP_FUNC(${2:0xff}) -> ${3:0} ;$0" "US_CMN_INST.TYPE" = 2 "Flow control with every field named; those that are not are 0";
    Statement "RAW"      "RAW ${1:0x00000000} ${2:0} ${3:0} ${4:0} ${5:0} ${6:0} ;$0" "" "An instruction by its six dwords.";

    // Macros and repetitions.
    Body ".macro" ".macro ${1:put} ${2:to} ;\n    $0\n.endm ;" "" "A macro: statements that each `name argument ;` stands for. Labels and names that it defines belong to the use.";
    Body ".endm"  ".endm ;$0" "" "The end of a macro.";
    Body ".rept"  ".rept ${1:4}, ${2:i} ;\n    $0\n.endr ;" "" "Statements so many times; the name, if there is one, counts from 0.";
    Body ".endr"  ".endr ;$0" "" "The end of a repetition.";

    // Flags.
    Flag "OUT"            "" "US_CMN_INST.TYPE" = 1 "";
    Flag "TEX_SEM_WAIT"   "" "US_CMN_INST.TEX_SEM_WAIT" "";
    Flag "LAST"           "" "US_CMN_INST.LAST" "";
    Flag "NOP"            "" "US_CMN_INST.NOP" "";
    Flag "ALU_WAIT"       "" "US_CMN_INST.ALU_WAIT" "";
    Flag "WRITE_INACTIVE" "" "US_CMN_INST.WRITE_INACTIVE" "";
    Flag "PRED"           "PRED(${1:r})$0" "US_CMN_INST.RGB_PRED_SEL" "Both halves, or one: `PRED.rgb(r)`, `PRED.a(!g)`; `!` inverts";
    Flag "STAT_WE"        "STAT_WE(${1:rgba})$0" "US_CMN_INST.STAT_WE" "";
    Flag "ALU_RESULT"     "ALU_RESULT.${1:r}(${2:lt})$0" "US_CMN_INST.ALU_RESULT_SEL" "Channel and comparison without ALU_WMASK";
    Flag "WMASK"          "WMASK(${1:rgba})$0" "US_CMN_INST.RGB_WMASK" "Of an instruction without a destination";
    Flag "OMASK"          "OMASK(${1:rgba})$0" "US_CMN_INST.RGB_OMASK" "Of an instruction without a destination";
    Flag "CLAMP"          "CLAMP(${1:rgba})$0" "US_CMN_INST.RGB_CLAMP" "Of an instruction without an operation";
    Flag "WORD1"          "WORD1(${1:0})$0" "" "Bits of dword 1 that no field names.";
    Flag "WORD2"          "WORD2(${1:0})$0" "" "Bits of dword 2 that no field names.";
    Flag "WORD3"          "WORD3(${1:0})$0" "" "Bits of dword 3 that no field names.";
    Flag "WORD4"          "WORD4(${1:0})$0" "" "Bits of dword 4 that no field names.";
    Flag "WORD5"          "WORD5(${1:0})$0" "" "Bits of dword 5 that no field names.";
    TexFlag "TEX_SEM_ACQUIRE"  "" "US_TEX_INST.TEX_SEM_ACQUIRE" "";
    TexFlag "UNSCALED"         "" "US_TEX_INST.UNSCALED" "";
    TexFlag "IGNORE_UNCOVERED" "" "US_TEX_INST.IGNORE_UNCOVERED" "";

    // Sources.
    Source "src0" "" "US_ALU_RGB_INST.RGB_SEL_A" = 0 "";
    Source "src1" "" "US_ALU_RGB_INST.RGB_SEL_A" = 1 "";
    Source "src2" "" "US_ALU_RGB_INST.RGB_SEL_A" = 2 "";
    Source "srcp" "" "US_ALU_RGB_INST.RGB_SEL_A" = 3 "";
    Address "temp"  "temp[${1:0}]$0" "" "A temporary, 0 to 127: four floats a pixel. US_PIXSIZE says how many there are.";
    Address "const" "const[${1:0}]$0" "" "A float constant, 0 to 255: four floats, the same for every pixel.";
    Address "float" "float(${1:0.5})$0" "" "An inline constant, by value or by code (0 to 127): four bits of exponent, three of mantissa, no sign.";
    Address "aL"    "" "" "The counter of the innermost `LOOP`, added to an address.";
    Presubtract "neg2" "" "US_ALU_RGB_ADDR.SRCP_OP" = 0 "";
    Presubtract "sub"  "" "US_ALU_RGB_ADDR.SRCP_OP" = 1 "";
    Presubtract "add"  "" "US_ALU_RGB_ADDR.SRCP_OP" = 2 "";
    Presubtract "neg"  "" "US_ALU_RGB_ADDR.SRCP_OP" = 3 "";

    // Destinations and results.
    Destination "temp"  "temp[${1:0}].${2:rgb} = $0" "" "Writes channels of a temporary.";
    Destination "out"   "out[${1:0}].${2:rgb} = $0" "" "Writes channels of a render target (0 to 3); the instruction needs the flag `OUT`.";
    Destination "pred"  "pred[${1:lt}].${2:r} = $0" "" "Sets predicate bits where the result compares so with zero; not on an `OUT` instruction.";
    Destination "alu"   "alu[${1:lt}].${2:r} = $0" "US_ALU_RGB_INST.ALU_WMASK" "The result's red or alpha, compared with zero";
    Destination "depth" "depth = $0" "US_ALU_ALPHA_INST.W_OMASK" "";
    Result "clamp" "" "US_CMN_INST.RGB_CLAMP" "";
    Result "raw"   "" "US_ALU_RGB_INST.OMOD" = 7 "";
    Result "1.0"   "1.0 * $0" "US_ALU_RGB_INST.OMOD" = 0 "";
    Result "2.0"   "2.0 * $0" "US_ALU_RGB_INST.OMOD" = 1 "";
    Result "4.0"   "4.0 * $0" "US_ALU_RGB_INST.OMOD" = 2 "";
    Result "8.0"   "8.0 * $0" "US_ALU_RGB_INST.OMOD" = 3 "";
    Result "0.5"   "0.5 * $0" "US_ALU_RGB_INST.OMOD" = 4 "";
    Result "0.25"  "0.25 * $0" "US_ALU_RGB_INST.OMOD" = 5 "";
    Result "0.125" "0.125 * $0" "US_ALU_RGB_INST.OMOD" = 6 "";
    Compare "eq" "" "US_CMN_INST.ALU_RESULT_OP" = 0 "";
    Compare "lt" "" "US_CMN_INST.ALU_RESULT_OP" = 1 "";
    Compare "ge" "" "US_CMN_INST.ALU_RESULT_OP" = 2 "";
    Compare "ne" "" "US_CMN_INST.ALU_RESULT_OP" = 3 "";

    // Operations: what they compute is in `names::OPCODES` and the tables of values.
    Operation "OP" "OP(${1:0})$0" "" "An operation by its code.";
    TexOperation "OP" "OP(${1:0})$0" "" "An operation by its code.";

    // Conditions.
    Condition "alu"   "" "" "The ALU result, as `alu[…] =` set it last.";
    Condition "pred"  "pred.${1:r}$0" "US_CMN_INST.RGB_PRED_SEL" "A predicate bit";
    Condition "bool"  "bool[${1:0}]$0" "US_FC_ADDR.BOOL_ADDR" "";
    Condition "table" "table(${1:0xf0})$0" "US_FC_INST.JUMP_FUNC" "When it holds";

    // Modifiers of flow control.
    Modifier "IF"          "IF ${1:alu}$0" "" "Only for pixels for which the condition holds.";
    Modifier "ALU_WAIT"    "" "US_CMN_INST.ALU_WAIT" "";
    Modifier "TEX_SEM_WAIT" "" "US_CMN_INST.TEX_SEM_WAIT" "";
    Modifier "LAST"        "" "US_CMN_INST.LAST" "";
    Modifier "any"         "" "US_FC_INST.JUMP_ANY" "On";
    Modifier "all"         "" "US_FC_INST.JUMP_ANY" "Off";
    Modifier "int"         "int[${1:0}]$0" "US_FC_ADDR.INT_ADDR" "";
    Modifier "bool"        "bool[${1:0}]$0" "US_FC_ADDR.BOOL_ADDR" "";
    Modifier "IGNORE_UNCOVERED" "" "US_FC_INST.IGNORE_UNCOVERED" "";
    Modifier "JUMP_FUNC"   "JUMP_FUNC(${1:0xf0})$0" "US_FC_INST.JUMP_FUNC" "";
    Modifier "B_ELSE"      "" "US_FC_INST.B_ELSE" "";
    Modifier "A_OP"        "A_OP(${1:push})$0" "US_FC_INST.A_OP" "";
    Modifier "B_OP0"       "B_OP0(${1:incr})$0" "US_FC_INST.B_OP0" "";
    Modifier "B_OP1"       "B_OP1(${1:decr})$0" "US_FC_INST.B_OP1" "";
    Modifier "B_POP_CNT"   "B_POP_CNT(${1:1})$0" "US_FC_INST.B_POP_CNT" "";
    Modifier "JUMP_GLOBAL" "" "US_FC_ADDR.JUMP_GLOBAL" "";
    ModifierValue "none" "" "US_FC_INST.B_OP0" = 0 "";
    ModifierValue "decr" "" "US_FC_INST.B_OP0" = 1 "";
    ModifierValue "incr" "" "US_FC_INST.B_OP0" = 2 "";
    ModifierValue "pop"  "" "US_FC_INST.A_OP" = 1 "";
    ModifierValue "push" "" "US_FC_INST.A_OP" = 2 "";
    FcOperation "JUMP"      "" "US_FC_INST.OP" = 0 "";
    FcOperation "LOOP"      "" "US_FC_INST.OP" = 1 "";
    FcOperation "ENDLOOP"   "" "US_FC_INST.OP" = 2 "";
    FcOperation "REP"       "" "US_FC_INST.OP" = 3 "";
    FcOperation "ENDREP"    "" "US_FC_INST.OP" = 4 "";
    FcOperation "BREAKLOOP" "" "US_FC_INST.OP" = 5 "";
    FcOperation "BREAKREP"  "" "US_FC_INST.OP" = 6 "";
    FcOperation "CONTINUE"  "" "US_FC_INST.OP" = 7 "";

    // Directives.
    Directive "NAME"       "NAME \"$1\" ;$0" "" "What the program is called.";
    Directive "SIZE"       "SIZE ${1:256} ${2:256} ;$0" "" "The picture's width and height in pixels.";
    Directive "TIME"       "TIME ${1:0} ;$0" "" "The moment of an animation that the picture shows, in seconds.";
    Directive "INPUT"      "INPUT temp[${1:0}] = ${2:uv} ;$0" "" "What a temporary holds when the program starts. Without any, temp[0] = (u, v, 0, 1). `INPUT none` says that there is nothing.";
    Directive "const"      "const[${1:0}] = (${2:0, 0, 0, 1}) ;$0" "" "Gives a float constant its value.";
    Directive "int"        "int[${1:0}] = (${2:16, 0, 1}) ;$0" "" "Gives an integer constant its value: trip count, first aL, step.";
    Directive "bool"       "bool[${1:0}] = ${2:true} ;$0" "" "Gives a boolean constant its value.";
    Directive "DEF"        "DEF ${1:place} = ${2:temp[0]} ;$0" "" "A name for a register, an inline constant or a number; of a constant, perhaps with its value.";
    Directive "UNIFORM"    "UNIFORM \"${1:name}\" = const[${2:0}]$0 ;" "" "A name by which users of the program set a constant, or neighbouring channels of it. `time` is set from the animation.";
    Directive "TEXTURE"    "TEXTURE tex[${1:0}] = ${2:checker(64, 64, 8)} ;$0" "" "What a texture unit holds: a picture's file, or one that is computed; then how it is sampled.";
    Directive "LEVEL"      "LEVEL tex[${1:0}] = (${2:2}, ${3:2}) bytes \"$4\" ;$0" "" "The next level of a texture whose registers `TX_…` directives give: its size and its bytes.";
    Directive "EXPECT"     "EXPECT out[${1:0}] at (${2:0}, ${3:0}) = (${4:0, 0, 0, 1}) ;$0" "" "What the picture must show; `r500 test` compares.";
    Directive "COVERAGE"   "COVERAGE = ${1:1} ;$0" "" "Which pixels are drawn.";
    Directive "ENTRY"      "ENTRY @${1:label} ;$0" "US_CODE_ADDR.START_ADDR" "";
    Directive "END"        "END @${1:label} ;$0" "US_CODE_ADDR.END_ADDR" "";
    Directive "FULL_FC_EN" "FULL_FC_EN ;$0" "US_FC_CTRL.FULL_FC_EN" "";
    Directive "SHARE"      "SHARE ${1:1} ;$0" "" "How much of all channels must be as expected for the test to pass.";
    Directive "ORIGIN"     "ORIGIN \"$1\" ;$0" "" "Where the program comes from.";
    Directive "RATIONALE"  "RATIONALE \"$1\" ;$0" "" "Why what is expected is right.";
    Directive "STATUS"     "STATUS \"$1\" ;$0" "" "How sure what is expected is.";

    // Registers as such.
    Register "temp"  "temp[${1:0}]$0"  "" "A temporary, 0 to 127.";
    Register "const" "const[${1:0}]$0" "" "A float constant, 0 to 255.";
    Register "tex"   "tex[${1:0}]$0"   "" "A texture unit, 0 to 15.";
    Register "out"   "out[${1:0}]$0"   "" "A render target, 0 to 3.";
    Register "int"   "int[${1:0}]$0"   "" "An integer constant, 0 to 31: trip count, first aL and step of a loop.";
    Register "bool"  "bool[${1:0}]$0"  "" "A boolean constant, 0 to 31.";

    // Words of directives.
    Within(Input) "uv"       "" "" "(u, v, 0, 1), from 0 to 1 over the picture, v upward.";
    Within(Input) "position" "" "" "(x, y, 0, 1) in pixels; needs `SIZE`.";
    Within(Input) "plane"    "plane(${1:0}, ${2:1}, ${3:0})$0" "" "c + du*u + dv*v: the value at u = v = 0 and how it grows along both.";
    Within(Input) "corners"  "corners(${1:0}, ${2:1}, ${3:0})$0" "" "The values at the lower left, lower right and upper left corner.";
    Within(Input) "vertices" "vertices(${1:0}, ${2:1}, ${3:0})$0" "" "The values at three vertices of a triangle.";
    Within(Input) "values"   "values(${1:2}) $0" "" "A vector a pixel, row by row from y = 0; the number is a row's length.";
    Within(Input) "u"        "" "" "From 0 at the left to 1 at the right.";
    Within(Input) "v"        "" "" "From 0 at the bottom to 1 at the top.";
    Within(Input) "x"        "" "" "In pixels from the left; needs `SIZE`.";
    Within(Input) "y"        "" "" "In pixels from the bottom; needs `SIZE`.";
    Within(Input) "none"     "" "" "No inputs.";
    Within(Texture) "file"     "file \"$1\"$0" "" "A picture's file, relative to this one.";
    Within(Texture) "checker"  "checker(${1:64}, ${2:64}, ${3:8})$0" "" "Black and white squares: width, height, side of a square.";
    Within(Texture) "gradient" "gradient(${1:64}, ${2:64})$0" "" "Red along x, green along y: width, height.";
    Within(Texture) "noise"    "noise(${1:64}, ${2:64}, ${3:1})$0" "" "Random texels: width, height, seed.";
    Within(Texture) "previous" "previous out[${1:0}]$0" "" "What the program wrote to an output in the picture before, a texel for each pixel; 0 in the first picture.";
    Within(Texture) "keyboard" "" "" "Keys, 256x3 texels: down, pressed in this picture, each other time. On the page.";
    Within(Texture) "camera"   "" "" "The pictures of a camera. On the page.";
    Within(Texture) "video"    "" "" "The pictures of a video. On the page.";
    Within(Texture) "nearest"  "" "" "The texel that is nearest.";
    Within(Texture) "linear"   "" "" "Between the four texels around (usual).";
    Within(Texture) "wrap"     "" "" "Outside, the picture begins anew (usual).";
    Within(Texture) "mirror"   "" "" "Outside, the picture is mirrored.";
    Within(Texture) "clamp"    "" "" "Outside, the edge texel is repeated.";
    Within(Texture) "border"   "" "" "Outside is the border colour.";
    Within(Level) "bytes" "bytes \"$1\"$0" "" "The level's bytes, two hexadecimal digits each.";
    Within(Level) "raw"   "raw \"$1\"$0" "" "A file of the level's bytes.";
    Within(Expect) "out"        "out[${1:0}]$0" "" "What a render target holds.";
    Within(Expect) "depth"      "" "" "The depth.";
    Within(Expect) "coverage"   "" "" "Which pixels the program did not kill.";
    Within(Expect) "background" "" "" "What stands where nothing is drawn.";
    Within(Expect) "at"         "at (${1:0}, ${2:0}) = $0" "" "One pixel.";
    Within(Expect) "row"        "row ${1:0} = $0" "" "A row of pixels.";
    Within(Expect) "column"     "column ${1:0} = $0" "" "A column of pixels.";
    Within(Expect) "all"        "all = $0" "" "Every pixel alike.";
    Within(Expect) "tolerance"  "tolerance = ${1:0.01}$0" "" "How far values may be off.";
    Within(Expect) "compare"    "compare = ${1:values}$0" "" "How values are compared.";
    Within(Expect) "values"     "" "" "As floats.";
    Within(Expect) "8bit"       "" "" "As the bytes that a picture of 8 bits a channel holds.";
    Within(Expect) "_"          "" "" "Anything.";
    Within(Expect) "true"       "" "" "Covered.";
    Within(Expect) "false"      "" "" "Not covered.";
    Within(Expect) "failure"    "" "" "It is known that this fails.";
    Within(Coverage) "at"       "at (${1:0}, ${2:0}) = $0" "" "One pixel.";
    Within(Coverage) "row"      "row ${1:0} = $0" "" "A row of pixels.";
    Within(Coverage) "column"   "column ${1:0} = $0" "" "A column of pixels.";
    Within(Coverage) "all"      "all = $0" "" "Every pixel alike.";
    Within(Bool) "true"  "" "" "Set.";
    Within(Bool) "false" "" "" "Not set.";
};

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::names;

    #[test]
    fn every_word_has_a_row_and_every_row_its_field() {
        for kw in Kw::ALL {
            let operation = names::opcode(*kw).is_some();
            let texture = names::TEX_OPS.iter().any(|(k, _)| k == kw);
            let found = rows(kw.text()).next().is_some();
            assert!(found || operation || texture, "{kw:?} has no row");
        }
        for row in WORDS {
            assert!(row.field.is_empty() || row.field().is_some(), "{row:?}");
            assert!(row.code.is_none() || row.value().is_some(), "{row:?}");
            assert!(!row.meaning().is_empty(), "{row:?}");
        }
    }

    #[test]
    fn snippets_read_as_text() {
        assert_eq!(plain("IF ${1:alu} ;\n    $0\nENDIF ;"), "IF alu ;\n\nENDIF ;");
        assert_eq!(plain("NAME \"$1\" ;$0"), "NAME \"\" ;");
        assert_eq!(plain("${1:a"), "{1:a");
    }
}
