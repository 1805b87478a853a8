//! Lifts without a draw: constants that are unknown, and the equality with lifts of draws.

#![allow(clippy::unwrap_used, missing_docs)]

use r500_exec::texture::{SamplerKind, TexReadings};
use r500_exec::{BindingKinds, Bindings, Draw, GROUP, GroupKind, Options, Readings, Shader};
use r500_ir::{Opcode, Stmt};
use r500_isa::state::{UsFcBoolConst, UsFcIntConst};
use r500_isa::{INT_CONSTANTS, TEXTURE_UNITS};
use r500_lift::{InputKind, LiftError, LiftInput, UnknownConstant, lift};
use r500_program::{Input, InputData, Job};

fn job(source: &str) -> Job {
    let assembly = r500_asm::assemble(source.as_bytes(), r500_asm::Options::default());
    assert!(assembly.is_ok(), "{}", assembly.render(r500_asm::RenderOptions::default()));
    assembly.job
}

/// Returns the input of a lift that knows nothing but the program, and that temporary 0 is an input.
fn nothing_known(shader: &Shader) -> LiftInput<'_> {
    LiftInput {
        shader,
        constants: &[],
        int_constants: [None; INT_CONSTANTS],
        bool_constants: None,
        inputs: vec![InputKind::any(0)],
        kinds: BindingKinds {
            samplers: [None; TEXTURE_UNITS],
            groups: GroupKind {
                size: GROUP,
                cover_picture: false,
                quads_inside: false,
                groups_inside: false,
            },
        },
        poison: false,
        readings: Readings::REFERENCE,
    }
}

const LOOP: &str = "
FULL_FC_EN ;
: temp[1].rgb = MAD src0.000 src0.000 src0.000, temp[1].a = MAD src0.0 src0.0 src0.0 ;
REP int[3] ;
    src0.rgb = temp[0], src1.rgb = temp[1] : temp[1].rgb = MAD src0.rgb src1.rgb src0.rgb ;
ENDREP ;
OUT LAST src0.rgb = temp[1], src0.a = temp[1] : out[0].rgb = MAX src0.rgb src0.rgb, out[0].a = MAX src0.a src0.a ;
";

const BRANCH: &str = "
FULL_FC_EN ;
IF bool[5] ;
    src0.a = temp[0] : temp[0].a = SIN src0.a ;
ENDIF ;
OUT LAST src0.rgb = temp[0], src0.a = temp[0] : out[0].rgb = MAX src0.rgb src0.rgb, out[0].a = MAX src0.a src0.a ;
";

#[test]
fn unknown_integer_constant_of_a_loop_is_an_error_that_names_it() {
    let job = job(LOOP);
    let shader = Shader::new(&job.program).unwrap();
    let mut input = nothing_known(&shader);
    assert_eq!(lift(&input), Err(LiftError::Unknown(UnknownConstant::Integer(3))));
    // Other constants do not matter.
    input.int_constants[3] = Some(UsFcIntConst::default().with(UsFcIntConst::KR, 7));
    let function = lift(&input).unwrap();
    let mut trips = Vec::new();
    function.each(&mut |stmt| {
        if let Stmt::Loop(repeat) = stmt {
            trips.push(repeat.max_trips);
        }
    });
    assert_eq!(trips, [7]);
}

#[test]
fn unknown_boolean_constant_of_a_branch_is_an_error_that_names_it() {
    let job = job(BRANCH);
    let shader = Shader::new(&job.program).unwrap();
    let mut input = nothing_known(&shader);
    assert_eq!(lift(&input), Err(LiftError::Unknown(UnknownConstant::Boolean(5))));
    for (bools, sines) in [(0, 0), (1 << 5, 1)] {
        input.bool_constants = Some(UsFcBoolConst(bools));
        let mut found = 0;
        lift(&input).unwrap().each(&mut |stmt| {
            found += usize::from(matches!(stmt, Stmt::Def(_, inst) if inst.opcode == Opcode::Sin));
        });
        assert_eq!(found, sines, "{bools:#x}");
    }
}

#[test]
fn constants_that_no_instruction_reads_may_be_unknown() {
    let job = job("OUT LAST src0.rgb = temp[0], src0.a = temp[0] :
        out[0].rgb = MAX src0.rgb src0.rgb, out[0].a = MAX src0.a src0.a ;");
    let shader = Shader::new(&job.program).unwrap();
    let function = lift(&nothing_known(&shader)).unwrap();
    assert_eq!(
        function.to_string(),
        "%0: f32 = input 0.0\n\
         %1: f32 = input 0.1\n\
         %2: f32 = input 0.2\n\
         %3: f32 = input 0.3\n\
         fuel 1 at 0\n\
         %4: f32 = flush %0\n\
         %5: f32 = flush %1\n\
         %6: f32 = flush %2\n\
         %7: f32 = flush %3\n\
         out[0] = %4, %5, %6, %7\n"
    );
}

#[test]
fn facts_given_directly_lift_like_those_of_a_draw() {
    let mut job = job("
        TEX TEX_SEM_ACQUIRE temp[1].rgba = LD tex[2].rgba temp[0].rgba ;
        OUT TEX_SEM_WAIT LAST src0.rgb = temp[1], src0.a = temp[1] :
            out[0].rgb = MAX src0.rgb src0.rgb, out[0].a = MAX src0.a src0.a ;");
    let values = InputData::Values { width: 4, values: vec![[0.5; 4]; 16] };
    job.inputs = Some(vec![Input { temp: 0, data: values }]);
    let shader = Shader::new(&job.program).unwrap();
    let bindings = Bindings::new(&job, [4, 4]).unwrap();
    let options = Options::default();
    let draw = Draw::new(&shader, &bindings, &options).unwrap();
    let of_draw = lift(&LiftInput::of_draw(&draw).unwrap()).unwrap();
    let mut input = nothing_known(&shader);
    // A unit without a texture: a constant.
    assert_eq!(lift(&input).unwrap().to_string(), of_draw.to_string());
    input.kinds.samplers[2] = Some(SamplerKind {
        axes: 0b011,
        depends_on_lod: false,
        bounds: Some([0.0, 2.0]),
        readings: TexReadings::REFERENCE,
    });
    let fetches = lift(&input).unwrap().body.iter().any(|stmt| matches!(stmt, Stmt::Fetch(_)));
    assert!(fetches);
}
