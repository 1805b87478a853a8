//! Inputs that each reader accepts, beyond the corpus and the output of the writers.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use r500_formats::{Format, Limits, read};
use r500_isa::Instruction;
use r500_program::{Compare, Input, InputData, Job, Plane};

fn jobs(text: &str) -> Vec<Job> {
    read(text.as_bytes(), None, &Limits::default()).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn job(text: &str) -> Job {
    let mut jobs = jobs(text);
    assert_eq!(jobs.len(), 1);
    jobs.remove(0)
}

fn words(job: &Job) -> Vec<[u32; 6]> {
    job.program.code.iter().map(|i| i.0).collect()
}

#[test]
fn c_arrays() {
    let text = r#"
        /* Two programs // and
           what surrounds them: 0x99, { 0x98 } */
        #ifndef PROGRAMS_H
        #define COUNT 12 // 0x97
        extern "C" {
        struct place { int x[2]; float y; };
        static const char *const names[] = { };
        int version = 3; // not a program
        static const uint32_t plasma[2 * 6] = {
            0x00001800, 0X0800ABCD, 2, 010, 5u, 6UL,  // octal 8
            /* again: */ { 0xffffffff, 0, 0, 0, 0, 0 },
        };
        const unsigned int
        empty [ ] = {};
        }
    "#;
    let jobs = jobs(text);
    assert_eq!(
        jobs.iter().map(|j| j.name.as_str()).collect::<Vec<_>>(),
        ["names", "plasma", "empty"]
    );
    assert_eq!(words(&jobs[1]), [[0x1800, 0x0800_abcd, 2, 8, 5, 6], [u32::MAX, 0, 0, 0, 0, 0]]);
    assert!(jobs[2].program.code.is_empty());

    let bare = "0x1,\n0x2,\n0x3,\n0x4,\n0x5,\n0x6,\n\n";
    assert_eq!(words(&job(&bare.repeat(2))), [[1, 2, 3, 4, 5, 6]; 2]);
    assert_eq!(words(&job("// so\r\n{ 0x1,2,3,\r\n4,5,6 }")), [[1, 2, 3, 4, 5, 6]]);
}

#[test]
fn hex_text() {
    let text = "# one\n00000001 0x2 0X3, 00000004\t00000005 // five\n\n00000006 ; six\n-- end";
    assert_eq!(words(&job(text)), [[1, 2, 3, 4, 5, 6]]);
    assert_eq!(
        words(&job("\u{feff}DEADBEEF deadBEEF 0xA 0xB 0xC 0xD")),
        [[0xdead_beef, 0xdead_beef, 10, 11, 12, 13]]
    );
}

#[test]
fn empty_files_are_empty_programs() {
    for format in [Format::Raw, Format::CArray, Format::Hex] {
        let jobs = read(b"", Some(format), &Limits::default()).unwrap();
        assert_eq!(jobs, [Job::default()]);
    }
}

/// Alternative forms that users may write.
#[test]
fn json_in_other_words() {
    let job = job(r#"{
        "program": ["00001800", 1, "0x2", 3, 4, 5],
        "us": { "US_CONFIG": 2, "US_PIXSIZE": null, "US_FC_INT_CONST": { "3": null, "04": "0xff" },
                "US_FORMAT": { "15": "00000001" }, "FG_ALPHA_FUNC": "00000000" },
        "constants": [[1, 0.5, "nan", "-inf"], ["3f800000", -2, 16777217, 1e-46]],
        "size": null, "inputs": null, "bound_textures": null, "coverage": [true, 0], "time": 2,
        "expect": { "target0": [null, [1, null, "inf", "0xffc00001"]], "coverage": [1, null] },
        "uniforms": [ { "name": "n", "type": "1f", "value": [9] },
                      { "name": "m", "constant": 3, "channel": 1 } ],
        "rs": { "RS_IP": [] }, "comment": [[[{}]]]
    }"#);
    assert_eq!(words(&job), [[0x1800, 1, 2, 3, 4, 5]]);
    let state = &job.program.state;
    assert_eq!(state.config.unwrap().0, 2);
    assert_eq!(state.pixsize, None);
    assert_eq!((state.fc_int_const[3], state.fc_int_const[4].unwrap().0), (None, 0xff));
    assert_eq!(state.format[15].unwrap().0, 1);
    // 2^24 + 1 is rounded to even, 1e-46 to 0.
    let (half, minus_two) = (0x3f00_0000, 0xc000_0000);
    assert_eq!(state.constants[0], [0x3f80_0000, half, 0x7fc0_0000, 0xff80_0000]);
    assert_eq!(state.constants[1], [0x3f80_0000, minus_two, 0x4b80_0000, 0]);
    assert_eq!((job.size, &job.inputs, job.coverage), (None, &None, Some(vec![true, false])));
    assert_eq!(job.time, Some(2.0));
    let target = job.expect.targets[0].as_ref().unwrap();
    assert_eq!(target[0], [None; 4]);
    assert_eq!(target[1][..3], [Some(1.0), None, Some(f32::INFINITY)]);
    assert_eq!(target[1][3].unwrap().to_bits(), 0xffc0_0001);
    assert_eq!(job.expect.coverage, Some(vec![Some(true), None]));
    assert_eq!(job.expect.compare, Compare::Values);
    let [uniform] = job.uniforms.as_slice() else { panic!() };
    assert_eq!((uniform.name.as_str(), uniform.constant, uniform.channel), ("m", 3, 1));

    // Null is the same as no key.
    let nulls = r#"{"program": [], "us": null, "constants": null, "expect": null, "check": null,
        "bound_textures": [{"unit": 0, "levels": null}], "tolerance": null, "sim": null,
        "inputs": [{"temp": 0, "values": null, "components": [
            {"name": null, "plane_uv": [1, 2, 3]}, {"plane_uv": [1, 2, 3], "vertex_values": null},
            {"plane_uv": [1, 2, 3]}, {"plane_uv": [1, 2, 3]}]}]}"#;
    let nulls = self::job(nulls);
    assert_eq!(nulls.program, Default::default());
    assert_eq!(nulls.textures[0], Some(Default::default()));
    assert_eq!(nulls.inputs, Some(vec![Input::planes(0, [Plane { c: 1.0, du: 2.0, dv: 3.0 }; 4])]));

    for key in ["\"test\": \"a\"", "\"background\": []", "\"probes\": [\"probe all\"]"] {
        let draw = self::job(&format!("{{\"program\": [], {key}}}"));
        assert_eq!(draw.expect.compare, Compare::EightBit, "{key}");
        let by_value = format!("{{\"program\": [], {key}, \"compare\": \"values\"}}");
        assert_eq!(self::job(&by_value).expect.compare, Compare::Values, "{key}");
    }
}

#[test]
fn json_of_programs() {
    let one = Instruction([1, 2, 3, 4, 5, 6]);
    for list in ["[1, 2, 3, 4, 5, 6]", "[[1, 2, 3, 4, 5, 6]]", "[\"00000001\", 2, 3, 4, 5, 6]"] {
        assert_eq!(job(list).program.code, [one]);
        let named = jobs(&format!("{{\n \"a\\\"b\" : {list} ,\"c\":{{\"program\": {list}}} }}\n"));
        assert_eq!(named.iter().map(|j| j.name.as_str()).collect::<Vec<_>>(), ["a\"b", "c"]);
        assert!(named.iter().all(|j| j.program.code == [one]));
    }
    // Lines may be anything that a document may be.
    let lines =
        jobs("\u{feff}\n{\"a\": [], \"b\": []}\r\n\r\n[{\"program\": []}]\n{\"program\": []}");
    assert_eq!(lines.iter().map(|j| j.name.as_str()).collect::<Vec<_>>(), ["a", "b", "", ""]);
}

/// Without `layers`, the registers say how many a level has.
#[test]
fn layers_of_textures() {
    let level = "{\"width\": 1, \"height\": 1, \"bytes\": \"\"}";
    let layers = |format0: &str, format1: &str| -> Vec<u32> {
        let text = format!(
            "{{\"program\": [], \"bound_textures\": [{{\"unit\": 2, \"TX_FORMAT0\": \"{format0}\", \
             \"TX_FORMAT1\": \"{format1}\", \"levels\": [{level}, {level}, {level}]}}]}}"
        );
        job(&text).textures[2].as_ref().unwrap().levels.iter().map(|l| l.layers).collect()
    };
    assert_eq!(layers("00000000", "0008860c"), [1, 1, 1]);
    // TEX_COORD_TYPE 3D, TXDEPTH 1: two layers, then one.
    assert_eq!(layers("00400000", "0208860c"), [2, 1, 1]);
    assert_eq!(layers("00c00000", "0208860c"), [8, 4, 2]);
    assert_eq!(layers("00400000", "0408860c"), [6, 6, 6]);
}

/// Planes through values at vertices, worked out by hand.
#[test]
fn planes_from_any_triangle() {
    let plane = |position: &str, values: &str| {
        let nothing = "{\"plane_uv\": [0, 0, 0]}";
        let text = format!(
            "{{\"program\": [], \"position\": {position}, \"inputs\": [{{\"temp\": 1, \"components\": \
             [{{\"vertex_values\": {values}}}, {nothing}, {nothing}, {nothing}]}}]}}"
        );
        let error = match read(text.as_bytes(), None, &Limits::default()) {
            Ok(jobs) => {
                let InputData::Planes(p) = &jobs[0].inputs.as_ref().unwrap()[0].data else {
                    panic!()
                };
                return Ok(p[0].plane);
            }
            Err(error) => error,
        };
        assert_eq!(error.place().path, "inputs[0].components[0]");
        Err(error.kind().to_string())
    };
    // The full-screen triangle: its corners are (0, 0), (2, 0), (0, 2) of the picture.
    let full = "[[-1, -1, 0, 1], [3, -1, 0, 1], [-1, 3, 0, 1]]";
    assert_eq!(plane(full, "[1, 2, 5]"), Ok(Plane { c: 1.0, du: 0.5, dv: 2.0 }));
    assert_eq!(plane(full, "[1, 2, 5]"), Ok(Plane::from_triangle([1.0, 2.0, 5.0])));
    // w = 2 divides: corners at (0, 0), (1/2, 0), (0, 1).
    let halved = "[[-2, -2, 0.3, 2], [0, -2, 0, 2], [-2, 2, 0, 2]]";
    assert_eq!(plane(halved, "[1, 2, 5]"), Ok(Plane { c: 1.0, du: 2.0, dv: 4.0 }));
    // Corners at (1, 1), (0, 1), (1, 0), the other way round: 3 + 2u - 5v is 0, -2, 5 there.
    let turned = "[[1, 1, 0, 1], [-1, 1, 0, 1], [1, -1, 0, 1]]";
    assert_eq!(plane(turned, "[0, -2, 5]"), Ok(Plane { c: 3.0, du: 2.0, dv: -5.0 }));

    let error = |position| plane(position, "[1, 2, 5]").unwrap_err();
    let line = "[[0, 0, 0, 1], [1, 1, 0, 1], [2, 2, 0, 1]]";
    assert_eq!(error(line), "the vertices lie on a line, so they span no plane");
    let leaning = "[[-1, -1, 0, 1], [3, -1, 0, 2], [-1, 3, 0, 1]]";
    assert_eq!(
        error(leaning),
        "the vertices have different w, so values between them form no plane"
    );
    let behind = "[[-1, -1, 0, -1], [3, -1, 0, -1], [-1, 3, 0, -1]]";
    assert_eq!(error(behind), "vertices must have finite positions and a w above 0");
    let nowhere = "[[\"nan\", -1, 0, 1], [3, -1, 0, 1], [-1, 3, 0, 1]]";
    assert_eq!(error(nowhere), "vertices must have finite positions and a w above 0");
}
