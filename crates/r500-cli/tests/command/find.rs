//! `r500 find`.

use super::{Folder, r500};

/// A texture fetch and an output, as Mesa compiles `gl_FragColor = texture2D(…) * colour` in three instructions.
fn programs() -> Vec<u32> {
    let source = "
        INPUT temp[0] = (u, v, 0, 1) ;
        TEX TEX_SEM_WAIT TEX_SEM_ACQUIRE temp[1].rgba = LD tex[0].rgba temp[0].rgba ;
        TEX_SEM_WAIT src0.rgb = temp[1], src1.rgb = const[2], src0.a = temp[1], src1.a = const[2] :
            temp[1].rgb = MAD src0.rgb src1.rgb src0.000, temp[1].a = MAD src0.a src1.a src0.0 ;
        OUT TEX_SEM_WAIT LAST src0.rgb = temp[1], src0.a = temp[1] :
            out[0].rgb = MAX src0.rgb src0.rgb, out[0].a = MAX src0.a src0.a ;";
    let folder = Folder::new("find-source");
    let file = folder.write("a.r5", source);
    let out = folder.path("a.bin");
    r500(&["asm", &file, "-o", &out]).status(0);
    let bytes = std::fs::read(out).unwrap();
    bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

/// Bytes of an executable, which has no programs, with one in each byte order.
fn haystack(words: &[u32]) -> Vec<u8> {
    let mut bytes = std::fs::read(std::env::current_exe().unwrap()).unwrap();
    bytes.truncate(1 << 16);
    for (place, word) in bytes[0x1230..].as_chunks_mut::<4>().0.iter_mut().zip(words) {
        *place = word.to_le_bytes();
    }
    for (place, word) in bytes[0x8004..].as_chunks_mut::<4>().0.iter_mut().zip(words) {
        *place = word.to_be_bytes();
    }
    bytes
}

#[test]
fn programs_in_a_file_are_listed_and_written() {
    let folder = Folder::new("find");
    let words = programs();
    let file = folder.write("core", haystack(&words));
    let run = r500(&["find", &file]).status(0);
    assert_eq!(run.text().lines().count(), 2);
    run.shows("0x00001230  fragment program, 3 instructions, score ")
        .shows("0x00008004  fragment program, 3 instructions, score ")
        .shows(", big-endian");
    let out = folder.path("found");
    r500(&["find", &file, "-o", &out]).status(0).shows("core-0x001230.fp.bin");
    for name in ["core-0x001230.fp.bin", "core-0x008004.fp.bin"] {
        let written = std::fs::read(folder.path(&format!("found/{name}"))).unwrap();
        let wanted: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        assert_eq!(written, wanted, "{name}");
        r500(&["disasm", &folder.path(&format!("found/{name}"))]).status(0).shows("LD tex[0]");
    }
    // stdin, and JSON.
    let json = r500(&["find", &file, "--format", "json", "--kind", "fragment"]).status(0);
    let json: serde_json::Value = serde_json::from_str(json.text()).unwrap();
    let list = json["files"][0]["programs"].as_array().unwrap();
    assert_eq!(
        (list.len(), &list[1]["offset"], &list[1]["byte_order"]),
        (2, &0x8004.into(), &"big".into())
    );
    assert_eq!((&list[0]["bytes"], &list[0]["instructions"]), (&72.into(), &3.into()));
}

#[test]
fn nothing_found_is_status_1() {
    let folder = Folder::new("find-nothing");
    let file = folder.write("text", "This is prose; nothing else. ".repeat(1000));
    r500(&["find", &file]).status(1).shows("no program with a score of");
    let core = folder.write("core", haystack(&programs()));
    r500(&["find", &core, "--kind", "vertex"]).status(1);
    r500(&["find", &core, "--min-score", "100000"]).status(1).shows("100000");
    r500(&["find", &folder.path("missing")]).status(3);
    r500(&["find"]).status(2);
}
