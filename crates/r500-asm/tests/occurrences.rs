//! Occurrences of registers whose numbers are expressions.
#![allow(clippy::unwrap_used)]

use r500_asm::Options;
use r500_asm::ide::Analysis;

#[test]
fn registers_with_computed_numbers_are_found() {
    let source = "DEF K = 3 ; const[K-1] = (1, 2, 3, 4) ;
.macro put n ;
    src0.rgb = temp[n], src1.rgb = const[2*K - 4] : temp[n+1].rgb = MAD src0.rgb src1.rgb src1.000 ;
.endm ;
put K ;
put 4 ;
src0.rgb = temp[5+aL] : temp[0x3].rgb = MAX src0.rgb src0.rgb ;
";
    let analysis = Analysis::new(source.as_bytes(), Options::default());
    assert!(analysis.assembly().is_ok(), "{:?}", analysis.assembly().diagnostics);
    let at = |needle: &str| source.find(needle).unwrap();
    let found = |needle: &str| -> Vec<&str> {
        let places = analysis.references(at(needle), true).into_iter();
        places.map(|span| &source[span.start as usize..span.end as usize]).collect()
    };
    assert_eq!(found("const[K-1]"), ["const[K-1]", "const[2*K - 4]"]);
    assert_eq!(found("const[2*K"), ["const[K-1]", "const[2*K - 4]"]);
    // The parameter makes `temp[n]` two registers, of which each use finds its own.
    assert_eq!(found("temp[0x3]"), ["temp[n]", "temp[0x3]"]);
    assert_eq!(found("temp[5+aL]"), ["temp[n+1]", "temp[5+aL]"]);
    assert_eq!(found("temp[n]"), [""; 0]);
    let hover = analysis.hover(at("const[2*K")).unwrap().text;
    assert!(hover.starts_with("`const[2]` = (1, 2, 3, 4)"), "{hover}");
}
