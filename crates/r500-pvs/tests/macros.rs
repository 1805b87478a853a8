//! Constant expressions, macros and repetitions of vertex programs: they are the program of the plain text, which stands next to them.
#![allow(clippy::unwrap_used, clippy::panic)]

use r500_pvs::{Source, SyntaxError};

fn parse(text: &str) -> Result<Source, Vec<SyntaxError>> {
    Source::parse(text, &mut |name| match name {
        "lib" => {
            Ok(".macro copy n ; out[n].xyzw = VE_ADD input[n].xyzw input[n].0000 ; .endm ;"
                .to_owned())
        }
        _ => Err("there is no such file".to_owned()),
    })
}

/// Both texts are the same program with the same values, and its print has neither macros nor names.
#[track_caller]
fn same(text: &str, plain: &str) {
    let (got, wanted) = (parse(text).unwrap(), parse(plain).unwrap());
    assert_eq!(got.to_string(), wanted.to_string(), "{text}");
    assert_eq!(got.program, wanted.program);
    assert_eq!(parse(&got.to_string()).unwrap().program, wanted.program);
}

#[test]
fn expressions_stand_wherever_a_number_does() {
    same(
        "DEF K = 3 ; DEF third = 1/3 ;
         const[2*K] = (1/128, 2*pi, -(1+2)/3, 3*third) ;
         EXPECT out[K-3].xy = (third, min(K, 2)) FOR const[K] = (K, 0, 0, 0) ;
         EXPECT tolerance = 1/4 ; EXPECT out[0].x = (1) ;
         FLOW[K-2] = JUMP after K to 2*K ;
         VAP_PVS_CONST_CNTL = PVS_MAX_CONST_ADDR(K*2+1) ;
         temp[K+1].x = VE_ADD const[a0.x+K-1].xxxx temp[K].yyyy ;",
        "const[6] = (0.0078125, 6.2831855, -1, 1) ;
         EXPECT out[0].xy = (0.33333334, 2) FOR const[3] = (3, 0, 0, 0) ;
         EXPECT tolerance = 0.25 ; EXPECT out[0].x = (1) ;
         FLOW[1] = JUMP after 3 to 6 ;
         VAP_PVS_CONST_CNTL = PVS_MAX_CONST_ADDR(7) ;
         temp[4].x = VE_ADD const[a0.x+2].xxxx temp[3].yyyy ;",
    );
}

#[test]
fn macros_and_repetitions_are_expanded() {
    same(
        ".macro row to, matrix, n ;
            to = VE_DOT const[matrix+n].xyzw input[0].xyzw ;
        .endm ;
        DEF projection = 8 ;
        row out[0].x, projection, 0 ; row out[0].y, projection, 1 ;
        .rept 2, i ; row temp[i].z, 2*projection, i+1 ; .endr ;",
        "out[0].x = VE_DOT const[8].xyzw input[0].xyzw ; out[0].y = VE_DOT const[9].xyzw input[0].xyzw ;
         temp[0].z = VE_DOT const[17].xyzw input[0].xyzw ; temp[1].z = VE_DOT const[18].xyzw input[0].xyzw ;",
    );
    same(
        "#include \"lib\"\ncopy 1 ; copy 2 ;",
        "out[1].xyzw = VE_ADD input[1].xyzw input[1].0000 ; out[2].xyzw = VE_ADD input[2].xyzw input[2].0000 ;",
    );
    // Names of a body are its own, and those of arguments are of the use.
    same(
        ".macro own n ; DEF x = 5 ; temp[x].x = VE_MAX temp[n].xxxx temp[2*n].yyyy ; .endm ;
         DEF x = 1 ; own x+1 ; own 3-x ; temp[x].x = VE_MAX temp[x].xxxx temp[x].yyyy ;",
        "temp[5].x = VE_MAX temp[2].xxxx temp[4].yyyy ; temp[5].x = VE_MAX temp[2].xxxx temp[4].yyyy ; temp[1].x = VE_MAX temp[1].xxxx temp[1].yyyy ;",
    );
    // Components are never parameters.
    same(
        ".macro m x ; temp[x].x = VE_MAX temp[x].x___ temp[x].xxxx ; .endm ; m 7 ;",
        "temp[7].x = VE_MAX temp[7].x___ temp[7].xxxx ;",
    );
    same(
        ".macro down n ; temp[n].x = VE_MAX temp[n].xxxx temp[n].xxxx ; .rept min(n, 1) ; down n-1 ; .endr ; .endm ; down 1 ;",
        "temp[1].x = VE_MAX temp[1].xxxx temp[1].xxxx ; temp[0].x = VE_MAX temp[0].xxxx temp[0].xxxx ;",
    );
}

#[test]
fn errors_name_the_use_and_the_place_in_the_body() {
    let text = ".macro m n ;\n temp[n].x = VE_MAX temp[0].xxxx temp[0].xxxx ;\n temp[n].x = VE_MIXX temp[0].xxxx ;\n.endm ;\nm 3 ;";
    let errors = parse(text).unwrap_err();
    let [error] = &errors[..] else { panic!("{errors:?}") };
    assert_eq!(&text[error.span.clone()], "m 3");
    assert!(
        error.message.starts_with("in `m`, line 3: there is no operation `VE_MIXX`"),
        "{error}"
    );
    // Of all iterations, the first that is wrong.
    let text = ".rept 99, i ;\n temp[126+i].x = VE_MAX temp[0].xxxx temp[0].xxxx ;\n.endr ;";
    let errors = parse(text).unwrap_err();
    let [error] = &errors[..] else { panic!("{errors:?}") };
    assert_eq!(&text[error.span.clone()], "126+i");
}

#[test]
fn what_is_wrong_is_reported() {
    for (text, message) in [
        ("DEF temp = 1 ;", "`temp` cannot be a name"),
        ("DEF a = 1 ; DEF A = 2 ;", "`A` is defined twice"),
        (
            "const[0] = (1/0, 0, 0, 0) ;",
            "`1/0` is not a number: the value of this expression is inf",
        ),
        ("const[0] = (1+nothing, 0, 0, 0) ;", "`1+nothing` is not a number: there is no `nothing`"),
        (
            "temp[1/2].x = VE_MAX temp[0].xxxx temp[0].xxxx ;",
            "expected a number from 0 to 127, of `temp`",
        ),
        (".macro m p ; .endm ; m ;", "`m` takes one argument, not 0"),
        (".macro m ; .endm ; m", "the use of a macro has no end"),
        (".macro m ;", "`.macro` without `.endm`"),
        (".rept 2 ; .endm ;", "`.rept` without `.endr`"),
        (".rept x ; .endr ;", "`x` is not a number of iterations up to 65536"),
        (".endr ;", "`.endr` ends nothing"),
        (".macro m ; m ; m ; .endm ; m ;", "in `m`, line 1: "),
        (".rept 60000 ; .rept 60000 ; .endr ; .endr ;", "macros and repetitions produce too much"),
    ] {
        let errors = parse(text).unwrap_err();
        assert!(errors[0].message.starts_with(message), "{text}: {errors:?}");
        assert_eq!(errors.len(), 1, "{text}: {errors:?}");
    }
}

/// The example of the guide.
#[test]
fn the_example_of_the_guide_is_what_it_says() {
    let page = include_str!("../../../docs/src/vertex-programs.md");
    let (_, rest) = page.split_once("```text\nDEF matrix").unwrap();
    let (text, _) = rest.split_once("```").unwrap();
    same(
        &format!("DEF matrix{text}"),
        "out[0].x = VE_DOT const[8].xyzw input[0].xyzw ; out[0].y = VE_DOT const[9].xyzw input[0].xyzw ;
         temp[0].xyzw = VE_ADD input[1].xyzw input[1].0000 ; temp[1].xyzw = VE_ADD input[2].xyzw input[2].0000 ;",
    );
}
