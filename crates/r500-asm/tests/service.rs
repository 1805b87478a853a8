//! Editor services: compared with the register documents and with real sources; no invalid source makes them fail.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::path::Path;

use common::Random;
use r500_asm::ide::{Analysis, HintKind, OutlineKind, Renaming, Token};
use r500_asm::{Loaded, Options, assemble};
use r500_text::raw_tokens::{RawTokenKind, raw_tokens};

fn analysis(source: &str) -> Analysis {
    Analysis::new(source.as_bytes(), Options::default())
}

/// Returns a source with `¦` at the cursor, and its position.
fn cursor(source: &str) -> (Analysis, usize) {
    let at = source.find('¦').unwrap();
    (analysis(&source.replace('¦', "")), at)
}

fn hover(source: &str) -> String {
    let (analysis, at) = cursor(source);
    analysis.hover(at).map_or(String::new(), |hover| hover.text)
}

fn completions(source: &str) -> Vec<String> {
    let (analysis, at) = cursor(source);
    analysis.completions(at).into_iter().map(|c| c.label).collect()
}

fn examples() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut list: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "r5"))
        .map(|path| (path.display().to_string(), std::fs::read_to_string(&path).unwrap()))
        .collect();
    list.sort();
    assert!(list.len() >= 10);
    list
}

#[track_caller]
fn has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in: {text}");
    }
}

/// Bits as the register documents specify them.
#[test]
fn hover_shows_meaning_and_span_of_a_word() {
    has(&hover("TEX_SEM_W¦AIT : ;"), &["US_CMN_INST.TEX_SEM_WAIT", "(bit 2)", "here 1"]);
    has(&hover("LAST ALU_WAIT¦ : ;"), &["(bit 10)", "Instruction 0: `00000500"]);
    has(&hover(": temp[0].rgb = ¦MAD src0.rgb src0.rgb src0.rgb ;"), &["`MAD A B C`", "A*B + C"]);
    has(&hover(": temp[0].a = RS¦Q src0.a ;"), &["1 / square root of A", "Alpha half only"]);
    has(&hover(": temp[0].rgb = D¦P3 src0.rgb src0.rgb ;"), &["`DP3 A B`", "RGB half only"]);
    has(&hover(": temp[0].rgb = 0.25¦ * MAD ;"), &["divided by 4", "(bits 28:26)"]);
    has(&hover("srcp.rgb = su¦b : ;"), &["src1 - src0", "(bits 31:30)"]);
    has(&hover(": temp[0].rgb = MAX src0.¦r0h src0.rgb ;"), &["`0` 0", "`h` 1/2", "red"]);
    has(&hover(": temp[0].¦rb = MAX src0.rgb src0.rgb ;"), &["Mask: red, blue"]);
    has(&hover("TEX temp[0].rgba = L¦D tex[0].rgba temp[0].rgba ;"), &["`LD`"]);
    has(&hover("TEX N¦OP temp[0].rgba = LD tex[0].rgba temp[0].rgba ;"), &["US_CMN_INST.NOP"]);
    has(&hover("FC JUMP JUMP_FU¦NC(0xf0) ;"), &["US_FC_INST.JUMP_FUNC", "(bits 15:8)", "here 240"]);
    has(&hover("¦LOOP int[0] ; ENDLOOP ;"), &["aL"]);
    has(&hover("US_PIX¦SIZE = 4 ;"), &["pixel stack frame", "`PIX_SIZE` (6:0)"]);
    has(&hover("US_OUT_FMT[0] = OUT_FMT(¦C4_8) ;"), &["C4_8", "US_OUT_FMT.OUT_FMT"]);
    has(&hover("SI¦ZE 4 4 ;"), &["width"]);
    has(&hover("src0.rgb = float(¦48) : ;"), &["0.5", "0xb0"]); // exponent 6 - 7, mantissa 0
    has(&hover("src0.rgb = 0.¦5 : ;"), &["code 48"]);
    assert_eq!(hover(": ; -- LA¦ST"), "");
    assert_eq!(hover(": ;¦"), "");
}

#[test]
fn hover_shows_values_of_the_program() {
    let source = "UNIFORM \"time\" = const[2].a ; const[2] = (1, 2, 0.5, 4) ; DEF eye = const[2] ; int[0] = (64, 3, -1) ;
src0.rgb = const[2], src1.rgb = temp[1] : temp[1].rgb = MAD src0.rgb src1.rgb src1.rgb ;
LOOP int[0] ; @here src0.rgb = eye : temp[2].rgb = MAX src0.rgb src0.rgb ; JUMP @here ; ENDLOOP ;";
    let at = |needle: &str, nth: usize| {
        let (at, _) = source.match_indices(needle).nth(nth).unwrap();
        analysis(source).hover(at).unwrap().text
    };
    has(&at("const[2]", 3), &["(1, 2, 0.5, 4)", "`time`", "`.a`", "Read by instruction 0, 2"]);
    let text = "Written by instruction 0\n- 0, line 2: `src0.rgb = const[2], src1.rgb = temp[1] : temp[1].rgb = MAD src0.rgb src1.rgb …`";
    has(&at("temp[1]", 0), &[text, "Read by instruction 0"]);
    has(&at("const[2]", 3), &["Named `eye`", "- 2, line 3: `src0.rgb = eye : "]);
    has(&at("int[0]", 1), &["64 iterations, aL from 3 in steps of -1"]);
    has(&at("eye", 1), &["`eye`: `const[2]` = (1, 2, 0.5, 4)"]);
    has(&at("here", 1), &["`@here`: address 2, 1 use"]);
}

#[test]
fn completion_offers_words_that_the_grammar_allows() {
    let offers = |source: &str, all: &[&str], none: &[&str]| {
        let list = completions(source);
        for wanted in all {
            assert!(list.iter().any(|l| l == wanted), "{source}: no {wanted} in {list:?}");
        }
        for unwanted in none {
            assert!(!list.iter().any(|l| l == unwanted), "{source}: {unwanted} in {list:?}");
        }
    };
    offers("¦", &["OUT", "src0", "IF", "SIZE", "US_CONFIG", "TEX"], &["MAD", "rgb"]);
    offers("OUT ¦", &["LAST", "src0"], &["MAD", "IF", "SIZE"]);
    offers("src0.¦", &["rgb", "a"], &["rrr"]);
    offers("src0.rgb = ¦", &["temp", "const", "float"], &["MAD", "sub"]);
    offers("srcp.rgb = ¦", &["sub", "neg2"], &["temp"]);
    offers("DEF eye = const[0] ; DEF t = tex[0] ; src0.rgb = e¦ : ;", &["eye"], &["t"]);
    offers("src0.a = temp[0] : ¦", &["temp", "out", "MAD", "RSQ", "clamp", "0.5"], &["OUT", "LD"]);
    offers("src0.a = temp[0] : temp[0].a = ¦", &["RSQ", "MAD"], &["DP3", "SOP"]);
    offers(": temp[0].rgb = ¦ ;", &["DP3", "MAD"], &["RSQ", "DP"]);
    offers(": temp[0].rgb = MAD ¦", &["src0", "srcp"], &["MAD", "temp"]);
    offers(": temp[0].rgb = MAD src0.¦", &["rgb", "111"], &["a"]);
    offers(": alu[¦", &["lt", "ge"], &["MAD"]);
    offers("TEX ¦", &["TEX_SEM_ACQUIRE", "temp"], &["OUT", "MAD"]);
    offers("TEX temp[0].rgba = ¦", &["LD", "PROJ"], &["MAD"]);
    offers("TEX temp[0].rgba = LD ¦", &["tex"], &["LD"]);
    offers("@away ; JUMP ¦", &["@away"], &["alu"]);
    offers("@away ; JUMP @¦ ;", &["away"], &["@away"]);
    offers("IF ¦", &["alu", "pred", "bool"], &["MAD"]);
    offers("LOOP int[0] ; BREAK ¦", &["IF", "ALU_WAIT"], &["MAD"]);
    offers("FC ¦", &["BREAKLOOP"], &["ALU_WAIT"]);
    offers("US_CONFIG = ¦", &["ZERO_TIMES_ANYTHING_EQUALS_ZERO"], &["MAD"]);
    offers("US_OUT_FMT[0] = OUT_FMT(¦", &["C4_8"], &["OUT_FMT"]);
    offers("INPUT temp[0] = ¦", &["uv", "plane"], &["checker"]);
    offers("TEXTURE tex[0] = ¦", &["checker", "file"], &["uv"]);
    // An unterminated statement above does not affect the next.
    offers("src0.rgb = temp[0]\nTEX temp[0].rgba = ¦", &["LD"], &["MAD"]);
    offers("-- a comm¦ent", &[], &["OUT"]);
    offers("NAME \"O¦\" ;", &[], &["OUT"]);
}

/// Every keyword of real sources is offered at its position.
#[test]
fn completion_offers_every_word_of_existing_sources() {
    let (mut words, mut missing) = (0, Vec::new());
    for (name, source) in examples() {
        let analysis = analysis(&source);
        let text = source.as_bytes();
        let code: Vec<_> = raw_tokens(text).filter(|p| p.kind != RawTokenKind::Comment).collect();
        for (at, raw_token) in code.iter().enumerate() {
            let word = &source[raw_token.range()];
            let follows_dot = at > 0 && code[at - 1].kind == RawTokenKind::Mark(b'.');
            // Numbers, some masks and swizzles, and new names are not offered.
            if raw_token.kind != RawTokenKind::Word
                || word.as_bytes()[0].is_ascii_digit()
                || follows_dot
            {
                continue;
            }
            let new = at > 0 && (code[at - 1].is(text, "DEF") || code[at - 1].is(text, "UNIFORM"));
            let label = at > 0 && code[at - 1].kind == RawTokenKind::Mark(b'@');
            if new || label {
                continue;
            }
            words += 1;
            let offered = analysis.completions(raw_token.end);
            if !offered.iter().any(|c| c.label.eq_ignore_ascii_case(word)) {
                missing.push(format!("{name}: {word} at {}", raw_token.start));
            }
        }
    }
    assert!(words > 2000, "{words}");
    assert!(
        missing.is_empty(),
        "{} of {words}: {:#?}",
        missing.len(),
        &missing[..missing.len().min(20)]
    );
}

/// A complete statement that is offered assembles.
#[test]
fn statements_that_are_offered_assemble() {
    let mut tried = 0;
    for item in analysis("").completions(0) {
        let plain = item.plain();
        // Partial statements and ends of blocks are not complete on their own.
        let end = ["END", "ELSE", ".end"].iter().any(|word| plain.starts_with(word));
        if !plain.ends_with(';') || end {
            continue;
        }
        let source = match item.label.as_str() {
            "BREAK" | "CONTINUE" => format!("LOOP int[0] ; {plain} ENDLOOP ;"),
            "CALL" | "JUMP" | "ENTRY" | "END" => format!("@label {plain}"),
            "EXPECT" | "COVERAGE" => format!("SIZE 1 1 ; {plain}"),
            // The value of a state register has no default.
            _ if plain.contains("=  ;") => continue,
            _ => plain.clone(),
        };
        let assembly = assemble(source.as_bytes(), Options::default());
        assert!(assembly.is_ok(), "{source}\n{}", assembly.render(Default::default()));
        tried += 1;
    }
    assert!(tried >= 25, "{tried}");
}

#[test]
fn names_and_labels_are_found_and_renamed() {
    let source = "DEF way = temp[1] ; @loop src0.rgb = way : WAY.rgb = MAX src0.rgb src0.rgb ;\n\
        TEX way.rgba = LD tex[0].rgba way.rgba ; JUMP @LOOP ; JUMP loop IF alu ; END @loop ;";
    let analysis = analysis(source);
    assert!(analysis.assembly().is_ok());
    let text = |span| String::from_utf8_lossy(analysis.assembly().files.bytes(span)).into_owned();
    let way = source.find("src0.rgb = way").unwrap() + 12;
    assert_eq!(analysis.definition(way).map(|span| span.start), Some(4));
    let uses: Vec<String> = analysis.references(way, true).into_iter().map(text).collect();
    assert_eq!(uses, ["way", "temp[1]", "way", "WAY", "way", "way"]);
    let labels: Vec<String> =
        analysis.references(source.find("@loop").unwrap(), true).into_iter().map(text).collect();
    assert_eq!(labels, ["@loop", "@LOOP", "loop", "@loop"]);

    let renamed = |at: usize, name: &str| {
        let mut edits = analysis.rename(at, name).unwrap();
        edits.sort_by_key(|edit| std::cmp::Reverse(edit.span));
        let mut out = source.to_owned();
        for edit in edits {
            out.replace_range(edit.span.start as usize..edit.span.end as usize, &edit.text);
        }
        out
    };
    assert_eq!(renamed(way, "step"), source.replace("way", "step").replace("WAY", "step"));
    let label = source.find("@LOOP").unwrap() + 3;
    assert_eq!(renamed(label, "again"), source.replace("loop", "again").replace("LOOP", "again"));
    assert_eq!(analysis.rename(way, "mad"), Err(Renaming::NotAName));
    assert_eq!(analysis.rename(way, "US_CONFIG"), Err(Renaming::NotAName));
    assert_eq!(analysis.rename(way, "a b"), Err(Renaming::NotAName));
    assert_eq!(analysis.rename(source.find("MAX").unwrap(), "x"), Err(Renaming::Nothing));
    // Labels live apart from names and words.
    assert!(analysis.rename(label, "way").is_ok() && analysis.rename(label, "mad").is_ok());
}

/// The value of an expression is the number of a register, a number in it is not.
#[test]
fn registers_with_expressions_are_those_of_their_values() {
    let source = "DEF K = 1 ;
src0.rgb = temp[1], src1.rgb = temp[K+1] : temp[2*1].rgb = MAD src0.rgb src1.rgb src0.000 ;
OUT src0.rgb = temp[aL+1], src1.rgb = temp[K] : out[0].rgb = MAX src0.rgb src1.rgb ;";
    let analysis = analysis(source);
    let found = |needle: &str| -> Vec<&str> {
        let all = analysis.occurrences(source.find(needle).unwrap()).into_iter();
        all.map(|one| &source[one.span.start as usize..one.span.end as usize]).collect()
    };
    assert_eq!(found("temp[1]"), ["temp[1]", "temp[aL+1]", "temp[K]"]);
    assert_eq!(found("temp[2*1]"), ["temp[K+1]", "temp[2*1]"]);
}

#[test]
fn registers_are_found_by_number_and_by_name() {
    use r500_asm::ide::OccurrenceRole::{Definition, Read, Write};
    let source = "DEF way = temp[1] ; const[0x2] = (1, 2, 3, 4) ; INPUT temp[0] = uv ;
TEXTURE tex[0] = noise(4, 4, 1) ;
src0.rgb = temp[0], src1.rgb = const[2] : way.rgb = MAD src0.rgb src1.rgb src0.000 ;
TEX temp[1].rgba = LD tex[0].rgba temp[1+aL].rgba ;
OUT src0.rgb = way : out[0].rgb = MAX src0.rgb src0.rgb, out[0].a = MAX src0.1 src0.1 ;
EXPECT out[0] = (0, 0, 0, 1) ;";
    let analysis = analysis(source);
    let text = |span| String::from_utf8_lossy(analysis.assembly().files.bytes(span)).into_owned();
    let found = |needle: &str, nth: usize| -> Vec<(String, _)> {
        let (at, _) = source.match_indices(needle).nth(nth).unwrap();
        let all = analysis.occurrences(at).into_iter();
        all.map(|one| (text(one.span), one.role)).collect()
    };
    let list = |all: &[(&str, _)]| -> Vec<(String, _)> {
        all.iter().map(|(text, role)| ((*text).to_owned(), *role)).collect()
    };
    let temp1 = [
        ("way", Definition),
        ("temp[1]", Definition),
        ("way", Write),
        ("temp[1]", Write),
        ("temp[1+aL]", Read),
        ("way", Read),
    ];
    for (needle, nth) in [("temp[1]", 1), ("[1+aL]", 0), ("way.rgb", 0), ("1].rgba", 0)] {
        assert_eq!(found(needle, nth), list(&temp1), "{needle}");
    }
    assert_eq!(found("const[2]", 0), list(&[("const[0x2]", Definition), ("const[2]", Read)]));
    assert_eq!(found("temp[0]", 1), list(&[("temp[0]", Definition), ("temp[0]", Read)]));
    assert_eq!(found("tex[0]", 1), list(&[("tex[0]", Definition), ("tex[0]", Read)]));
    let out = [("out[0]", Write), ("out[0]", Write), ("out[0]", Read)];
    assert_eq!(found("out[0]", 0), list(&out));

    let at = |needle: &str, nth| source.match_indices(needle).nth(nth).unwrap().0;
    let lines = |all: Vec<r500_asm::Span>| -> Vec<usize> {
        all.iter().map(|span| source[..span.start as usize].lines().count()).collect()
    };
    assert_eq!(lines(analysis.definitions(at("const[2]", 0))), [1]);
    assert_eq!(lines(analysis.definitions(at("temp[1+aL]", 0))), [1, 1, 3, 4]);
    assert_eq!(lines(analysis.definitions(at("tex[0]", 1))), [2]);
    assert_eq!(lines(analysis.definitions(at("out[0]", 2))), [5, 5]);
    assert_eq!(lines(analysis.references(at("const[2]", 0), false)), [3]);
    assert_eq!(analysis.definitions(at("src0", 0)), []);
    // A rename changes the name only.
    assert_eq!(analysis.rename(at("way", 0), "path").unwrap().len(), 3);
}

#[test]
fn names_of_included_files_are_found_there() {
    let mut loader = |path: &str, _: &str| {
        Ok(Loaded { name: path.to_owned(), bytes: b"DEF eye = const[3] ;".to_vec() })
    };
    let source = b"#include \"names.inc\"\nsrc0.rgb = eye : ;";
    let options = Options { loader: Some(&mut loader), ..Options::default() };
    let analysis = Analysis::new(source, options);
    let definition = analysis.definition(source.len() - 6).unwrap();
    assert_eq!((definition.file, definition.start), (1, 4));
    assert_eq!(analysis.definition(12).map(|span| span.file), Some(1));
    let uses = analysis.references(source.len() - 6, true);
    let files: Vec<u32> = uses.iter().map(|span| span.file).collect();
    assert_eq!(files, [0, 1, 1]);
    has(&analysis.hover(12).unwrap().text, &["names.inc"]);
}

#[test]
fn the_outline_and_the_hints_follow_the_source() {
    let source = "SIZE 4 4 ; DEF eye = const[3] ;\n@start IF alu ;\n  : ;\nENDIF ;\n#include \"x\"";
    let analysis = analysis(source);
    let outline = analysis.outline();
    let short: Vec<_> = outline.iter().map(|o| (o.name.as_str(), o.kind)).collect();
    assert_eq!(
        short,
        [
            ("SIZE", OutlineKind::Directive),
            ("eye", OutlineKind::Name),
            ("@start", OutlineKind::Label),
            ("IF alu", OutlineKind::Block),
            ("\"x\"", OutlineKind::Include),
        ]
    );
    let block = outline[3].span;
    assert!(source[block.start as usize..block.end as usize].ends_with("ENDIF ;"));
    let hints = analysis.hints(0..source.len());
    let at: Vec<_> = hints.iter().map(|h| (h.kind, &source[h.at..h.at + 1])).collect();
    assert_eq!(at.len(), 6);
    assert_eq!(at[0], (HintKind::Address, "I"));
    assert_eq!(hints[2].text, "1");
    // An empty instruction: sources at inline constant 0, the rest zero.
    assert_eq!(hints[3].text, "00000000 08020080 08020080 00000000 00000000 00000000");
    assert_eq!(analysis.hints(0..3).len(), 0);
}

/// Truncated sources, with words dropped and swapped: every service returns spans inside the text.
#[test]
fn broken_sources_do_not_panic() {
    let mut random = Random::new(0x5eed);
    for (_, source) in examples() {
        for round in 0..12 {
            let mut text = source.clone().into_bytes();
            match round % 3 {
                0 => text.truncate(random.below(u32::try_from(text.len()).unwrap()) as usize),
                1 => {
                    for _ in 0..8 {
                        let at = random.below(u32::try_from(text.len()).unwrap()) as usize;
                        text[at] = b" ;:.[](@=\"-\xc3"[random.below(12) as usize];
                    }
                }
                _ => {
                    let all: Vec<_> = raw_tokens(&text).collect();
                    let pick = all[random.below(u32::try_from(all.len()).unwrap()) as usize];
                    text.drain(pick.range());
                }
            }
            let analysis = Analysis::new(&text, Options::default());
            let inside = |span: r500_asm::Span| {
                assert!(span.start <= span.end && span.end as usize <= text.len(), "{span:?}");
            };
            for _ in 0..60 {
                let at = random.below(u32::try_from(text.len() + 2).unwrap()) as usize;
                if let Some(hover) = analysis.hover(at) {
                    inside(hover.span);
                    assert!(!hover.text.is_empty());
                }
                analysis.completions(at).iter().for_each(|c| inside(c.replace));
                analysis.references(at, true).into_iter().for_each(inside);
                let _ = (analysis.definition(at), analysis.rename(at, "other"));
            }
            for at in (0..text.len()).step_by(7) {
                let Some(signature) = analysis.signature(at) else { continue };
                assert!(signature.active.is_none_or(|active| active < signature.parts.len()));
                assert!(signature.parts.iter().all(|p| signature.label.get(p.clone()).is_some()));
            }
            let tokens = analysis.tokens(0..text.len());
            tokens.iter().for_each(|token| inside(token.span));
            assert!(tokens.windows(2).all(|two| two[0].span.end <= two[1].span.start));
            analysis.folds().iter().for_each(|fold| inside(fold.span));
            (0..16).filter_map(|unit| analysis.texture_statement(unit)).for_each(inside);
            analysis.outline().iter().for_each(|o| (inside(o.span), inside(o.name_span)).0);
            assert!(analysis.hints(0..text.len()).iter().all(|h| h.at <= text.len()));
        }
    }
}

/// Returns the words of a source with their kinds; `-` for words that are left out.
fn coloured(source: &str) -> String {
    let analysis = analysis(source);
    let tokens = analysis.tokens(0..source.len());
    let signature = tokens.iter().map(|token| {
        let text = &source[token.span.start as usize..token.span.end as usize];
        let kind = format!("{:?}", token.kind);
        format!("{text}={kind}{}", if token.definition { "!" } else { "" })
    });
    signature.collect::<Vec<_>>().join(" ")
}

/// Words are classified by context, as in the guide's grammar: `out`, `tex`, `raw` and `NOP` have several kinds.
#[test]
fn tokens_classify_words_by_context() {
    let signature = coloured(
        "OUT LAST src0.rgb = temp[1], srcp.a = sub : out[0].rg = raw MAD src0.1g0 -srcp.aaa |src0.rgb| ;",
    );
    let wanted = "OUT=Flag LAST=Flag src0=Register rgb=Channels temp=Register 1=Number srcp=Register \
        a=Channels sub=Operation out=Register 0=Number rg=Channels raw=Flag MAD=Operation src0=Register \
        1g0=Channels srcp=Register aaa=Channels src0=Register rgb=Channels";
    assert_eq!(signature, wanted);
    assert_eq!(
        coloured(
            "src0.rgb = 0.5 : alu[lt].r = 0.25 * MAX src0.111 src0.000 ; -- x\nIF alu ALU_WAIT ; ENDIF ;"
        ),
        "src0=Register rgb=Channels 0=Number 5=Number alu=Register lt=Value r=Channels 0=Number 25=Number \
         MAX=Operation src0=Register 111=Channels src0=Register 000=Channels -- x=Comment IF=Keyword \
         alu=Register ALU_WAIT=Flag ENDIF=Keyword"
    );
    assert_eq!(
        coloured(
            "DEF eye = tex[2] ; @top TEX NOP temp[1].rgba = LD eye.rgba temp[0].rg00 ; TEX = NOP ; JUMP @top ;"
        ),
        "DEF=Directive eye=Name! tex=Register 2=Number @top=Label! TEX=Keyword NOP=Flag temp=Register \
         1=Number rgba=Channels LD=Operation eye=Name rgba=Channels temp=Register 0=Number rg00=Channels \
         TEX=Keyword NOP=Operation JUMP=Keyword @top=Label"
    );
    assert_eq!(
        coloured(
            "#include \"a\"\nUS_PIXSIZE = PIX_SIZE(2) ; US_OUT_FMT[0] = OUT_FMT(C4_8) ; const[1] = (-1.5e3, 0x10, 0, 1) ; INPUT temp[0] = uv ; RAW 0x1 2 3 4 5 6 ; wrong : ;"
        ),
        "#include=Directive \"a\"=Text US_PIXSIZE=Directive PIX_SIZE=Field 2=Number US_OUT_FMT=Directive \
         0=Number OUT_FMT=Field C4_8=Value const=Register 1=Number 1=Number 5e3=Number 0x10=Number 0=Number 1=Number \
         INPUT=Directive temp=Register 0=Number uv=Value RAW=Keyword 0x1=Number 2=Number 3=Number 4=Number 5=Number 6=Number"
    );
    assert_eq!(
        coloured("EXPECT out[0] at (1, 2) = (0, _, 1, 1) compare = 8bit ;"),
        "EXPECT=Directive out=Register 0=Number at=Value 1=Number 2=Number 0=Number _=Value 1=Number 1=Number \
         compare=Value 8bit=Value"
    );
}

/// Parts are answered with the whole's tokens; in existing sources, every word of the language is
/// classified.
#[test]
fn tokens_of_a_part_are_those_of_the_whole() {
    for (name, source) in examples() {
        let analysis = analysis(&source);
        let all = analysis.tokens(0..source.len());
        assert!(all.windows(2).all(|two| two[0].span.end <= two[1].span.start), "{name}");
        for from in (0..source.len()).step_by(97) {
            let to = (from + 200).min(source.len());
            let part = analysis.tokens(from..to);
            let touching = |t: &&Token| t.span.end as usize >= from && t.span.start as usize <= to;
            let wanted: Vec<Token> = all.iter().filter(touching).copied().collect();
            assert_eq!(part, wanted, "{name} {from}..{to}");
        }
        let signature: Vec<usize> = all.iter().map(|token| token.span.end as usize).collect();
        let words =
            raw_tokens(source.as_bytes()).filter(|raw_token| raw_token.kind == RawTokenKind::Word);
        let untold: Vec<&str> = words
            .filter(|raw_token| signature.binary_search(&raw_token.end).is_err())
            .map(|raw_token| &source[raw_token.range()])
            .collect();
        assert!(untold.is_empty(), "{name}: {untold:?}");
    }
}

#[test]
fn blocks_comments_and_long_statements_fold() {
    let source = "-- one\n-- two\n\n-- alone\nIF alu ;\n  src0.rgb = temp[0] :\n    temp[1].rgb = MAX src0.rgb src0.rgb ;\nELSE ;\n: ;\nENDIF ; IF alu ; ENDIF ;\nLOOP int[0] ;\nENDLOOP ;\n";
    let folds = analysis(source).folds();
    let lines = |at: u32| source[..at as usize].matches('\n').count();
    let signature: Vec<_> =
        folds.iter().map(|f| (lines(f.span.start), lines(f.span.end), f.comment)).collect();
    // An empty loop has nothing to hide.
    assert_eq!(signature, [(0, 1, true), (4, 6, false), (5, 6, false), (7, 8, false)]);
}

#[test]
fn the_statement_of_a_texture_is_found() {
    let source = "-- TEXTURE tex[1] = noise(4, 4) ;\nTEXTURE tex[0] = checker(8, 8, 2) ; DEF skin = tex[3] ;\ntexture skin = gradient(4, 4)\n  linear ;";
    let analysis = analysis(source);
    let text = |unit| {
        let span = analysis.texture_statement(unit)?;
        Some(&source[span.start as usize..span.end as usize])
    };
    assert_eq!(text(0), Some("TEXTURE tex[0] = checker(8, 8, 2) ;"));
    assert_eq!(text(1), None);
    assert_eq!(text(3), Some("texture skin = gradient(4, 4)\n  linear ;"));
}

/// Signatures while operands and arguments are written, with the one that is being written in `<>`.
#[test]
fn signatures_show_parameters_and_the_active_one() {
    let signature = |source: &str| {
        let (analysis, at) = cursor(source);
        let Some(signature) = analysis.signature(at) else { return String::new() };
        let mut label = signature.label.clone();
        if let Some(active) = signature.active {
            let part = signature.parts[active].clone();
            label.insert(part.end, '>');
            label.insert(part.start, '<');
        }
        label
    };
    assert_eq!(signature(": temp[0].rgb = MAD ¦"), "MAD <A> B C");
    assert_eq!(signature(": temp[0].rgb = MAD src0.r¦ ;"), "MAD <A> B C");
    assert_eq!(signature(": temp[0].rgb = MAD -|src0.rgb| ¦ ;"), "MAD A <B> C");
    assert_eq!(signature(": temp[0].rgb = MAD src0.rgb src1.rgb sr¦c0.000 ;"), "MAD A B <C>");
    assert_eq!(signature(": temp[0].rgb = MAD src0.rgb src1.rgb src0.000 ¦"), "MAD A B C");
    assert_eq!(signature(": temp[0].rgb = DP3 src0.rgb src0.rgb, temp[0].a = RSQ ¦"), "RSQ <A>");
    assert_eq!(signature("src0.rgb = ¦"), "");
    assert_eq!(signature("TEXTURE tex[0] = checker(8, ¦"), "checker(64, <64>, 8)");
    assert_eq!(signature("INPUT temp[0] = (plane(¦-1, 2, 0), 0, 0, 1) ;"), "plane(<0>, 1, 0)");
    assert_eq!(signature("INPUT temp[0] = (plane(-1, 2, 0), ¦0, 0, 1) ;"), "");
    assert_eq!(signature("PRED(¦r) : ;"), "PRED(<r>)");
    assert_eq!(signature(": ; -- MAD ¦"), "");
}

const MACROS: &str = "DEF third = 1/3 ; DEF K = 4 ;
.macro fade to, amount ;
    src0.rgb = to, src1.rgb = const[amount] : to.rgb = MAD src0.rgb src1.rgb src0.000 ;
.endm ;
fade temp[1], K+1 ;
fade temp[2], 3 ;
.rept 2, step ;
    fade temp[step], step ;
.endr ;
const[0] = (third, 0, 0, 0) ;
";

/// Position of the nth occurrence of a text.
fn nth(needle: &str, nth: usize) -> usize {
    MACROS.match_indices(needle).nth(nth).unwrap().0
}

#[test]
fn hover_shows_what_macros_and_constants_stand_for() {
    let analysis = analysis(MACROS);
    assert!(analysis.assembly().diagnostics.is_empty());
    let hover = |needle: &str, n: usize| analysis.hover(nth(needle, n)).unwrap().text;
    // 1/3 to nearest: 0x3eaaaaab.
    has(&hover("third", 1), &["number 0.333333", "float 0.33333334 (0x3eaaaaab)"]);
    has(&hover("K+1", 0), &["`K`: inline constant 4"]);
    has(&hover("fade", 0), &["`.macro fade to, amount`: 3 uses"]);
    let first =
        "src0.rgb = temp[1], src1.rgb = const[5] : temp[1].rgb = MAD src0.rgb src1.rgb src0.000 ;";
    has(&hover("fade", 1), &["Instruction 0:", first]);
    has(&hover("rept", 0), &["Instructions 2 to 3:", "const[0]", "const[1]", "counts from 0"]);
    has(&hover("amount", 1), &["`amount`: a parameter"]);
    has(&hover("endr", 0), &["The end of a repetition"]);
    has(&r500_asm::ide::explain_word(".macro").unwrap(), &["`.macro put to ;"]);
}

#[test]
fn macros_are_found_renamed_and_completed() {
    let analysis = analysis(MACROS);
    let text = |span: r500_asm::Span| &MACROS[span.start as usize..span.end as usize];
    // From a use to the definition, of macros, parameters, counters and numbers.
    for (needle, use_of, definition) in
        [("fade", 3, 0), ("to", 1, 0), ("amount", 1, 0), ("step", 1, 0), ("third", 1, 0)]
    {
        let found = analysis.definition(nth(needle, use_of)).unwrap();
        assert_eq!((found.start as usize, text(found)), (nth(needle, definition), needle));
    }
    let places = |at| analysis.references(at, true).len();
    assert_eq!(
        (places(nth("fade", 0)), places(nth("amount", 0)), places(nth("step", 0))),
        (4, 2, 3)
    );
    let edits = analysis.rename(nth("to,", 0), "target").unwrap();
    assert_eq!(edits.iter().map(|edit| text(edit.span)).collect::<Vec<_>>(), ["to", "to", "to"]);
    let labels = |source: &str| completions(source);
    let offers = |source: String, wanted: &str| {
        let list = labels(&source);
        assert!(list.iter().any(|label| label == wanted), "{source}: {wanted} in {list:?}");
    };
    offers(format!("{MACROS}¦"), "fade");
    offers(format!("{MACROS}¦"), ".rept");
    offers(format!("{MACROS}src0.rgb = temp[¦"), "K");
    offers(format!("{MACROS}src0.rgb = temp[¦"), "third");
    offers(format!("{MACROS}src0.rgb = ¦"), "sqrt");
    let outline: Vec<String> = analysis.outline().into_iter().map(|entry| entry.name).collect();
    assert_eq!(outline[..3], ["third", "K", "fade"]);
    let folds: Vec<&str> = analysis.folds().iter().map(|fold| text(fold.span)).collect();
    assert!(folds.iter().any(|fold| fold.starts_with(".macro fade")), "{folds:?}");
    // The body has three instructions at one place: their addresses in one hint.
    let hints: Vec<String> =
        analysis.hints(0..MACROS.len()).into_iter().map(|hint| hint.text).collect();
    assert_eq!(hints, ["0, 1, 2, 3"]);
}

#[test]
fn words_of_macros_have_kinds() {
    use r500_asm::ide::TokenKind::{Directive, Name, Number};
    let analysis = analysis(MACROS);
    let kinds: Vec<_> = analysis
        .tokens(0..MACROS.len())
        .into_iter()
        .map(|token| {
            (
                &MACROS[token.span.start as usize..token.span.end as usize],
                token.kind,
                token.definition,
            )
        })
        .collect();
    for wanted in [
        (".macro", Directive, false),
        ("fade", Name, true),
        ("fade", Name, false),
        ("to", Name, false),
        ("amount", Name, false),
        (".rept", Directive, false),
        ("step", Name, true),
        ("third", Name, false),
        ("3", Number, false),
    ] {
        assert!(kinds.contains(&wanted), "{wanted:?} in {kinds:?}");
    }
}
