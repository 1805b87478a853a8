//! Two layouts of one program are equal, and the divergence of a planted mistake is found at its instruction.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::{Path, PathBuf};

use r500::equivalence::{Divergence, Incomparable, InterfaceMatch, Pair, Search, SearchEnd, WORK};
use r500::exec::Options;
use r500::exec::reference::Reference;
use r500::fast::Fast;
use r500::formats::Limits;
use r500::isa::state::UsPixsize;
use r500::isa::values::{InstType, Mod};
use r500::isa::words::{AluAlphaInst, AluRgbaInst, TexAddr, TexAddrDxdy};
use r500::isa::{Instruction, Slot, Source};
use r500::program::{InputData, Job, Uniform};

fn captures() -> Vec<(String, Job)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus/mesa");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    let read = |file: PathBuf| {
        let job = r500::reader::open(&file, None, &Limits::default()).unwrap().next().unwrap();
        (file.file_stem().unwrap().to_string_lossy().into_owned(), named(job.unwrap()))
    };
    files.into_iter().map(read).collect()
}

/// Returns the job with names for all its constants.
fn named(mut job: Job) -> Job {
    let uniform = |n: usize| Uniform {
        name: format!("k{n}"),
        constant: u8::try_from(n).unwrap(),
        channel: 0,
        channels: 4,
    };
    job.uniforms = (0..job.program.state.constants.len()).map(uniform).collect();
    job
}

/// Returns the program in another layout: temporaries plus five, constants in reverse order.
fn relaid(job: &Job) -> Job {
    let mut job = job.clone();
    let count = job.program.state.constants.len();
    let constant = |n: u8| u8::try_from(count - 1).unwrap() - n;
    let source = |source: Source| match source.temporary() {
        Some(temp) => Source { addr: temp + 5, ..source },
        None if source.constant => Source { addr: constant(source.addr), ..source },
        None => source,
    };
    for inst in &mut job.program.code {
        match inst.ty() {
            InstType::FC => {}
            InstType::TEX => {
                let (addr, grad) = (inst.tex_addr(), inst.tex_addr_dxdy());
                inst.0[2] = addr
                    .with(TexAddr::SRC_ADDR, addr.src_addr() + 5)
                    .with(TexAddr::DST_ADDR, addr.dst_addr() + 5)
                    .bits();
                inst.0[3] = grad
                    .with(TexAddrDxdy::DX_ADDR, grad.dx_addr() + 5)
                    .with(TexAddrDxdy::DY_ADDR, grad.dy_addr() + 5)
                    .bits();
            }
            _ => {
                let (mut rgb, mut alpha) = (inst.rgb_addr(), inst.alpha_addr());
                for n in 0..3 {
                    rgb = rgb.with_source(n, source(rgb.sources()[n]));
                    alpha = alpha.with_source(n, source(alpha.sources()[n]));
                }
                (inst.0[1], inst.0[2]) = (rgb.bits(), alpha.bits());
                let (rgba, alpha) = (inst.rgba_inst(), inst.alpha_inst());
                inst.0[4] = alpha.with(AluAlphaInst::ALPHA_ADDRD, alpha.alpha_addrd() + 5).bits();
                inst.0[5] = rgba.with(AluRgbaInst::RGB_ADDRD, rgba.rgb_addrd() + 5).bits();
            }
        }
    }
    job.program.state.constants.reverse();
    job.program.state.pixsize = Some(UsPixsize::default().with(UsPixsize::PIX_SIZE, 127));
    for uniform in &mut job.uniforms {
        uniform.constant = constant(uniform.constant);
    }
    let mut inputs = job.inputs_or_default();
    inputs.iter_mut().for_each(|input| input.temp += 5);
    job.inputs = Some(inputs);
    job
}

const SIZE: Option<[u32; 2]> = Some([8, 8]);

#[test]
fn layouts_do_not_matter() {
    for (name, job) in captures() {
        let other = relaid(&job);
        let sharing = InterfaceMatch::of(&job, &other);
        assert_eq!(sharing.constants.len(), job.program.state.constants.len(), "{name}");
        let components = job.inputs_or_default().iter().any(|input| match &input.data {
            InputData::Planes(planes) => planes.iter().any(|p| p.name.contains('.')),
            InputData::Values { .. } => false,
        });
        assert_eq!(!sharing.inputs.is_empty(), components, "{name}");
        for shared in &sharing.inputs {
            let [a, b] = &shared.places;
            assert!(a.iter().zip(b).all(|(a, b)| (a.0 + 5, a.1) == *b), "{name}");
        }
        let jobs = [job, other];
        let pair = Pair::new(jobs[0].clone(), jobs[1].clone(), SIZE).unwrap();
        let found = pair.compare(&jobs, &Reference, &Options::default(), None).unwrap();
        assert_eq!((found.pixels, found.differing), (64, 0), "{name}");
        let engine = Fast::default();
        let search = Search {
            interface: &sharing,
            engine: &engine,
            options: Options::default(),
            seed: 1,
            tolerance: None,
            frames: 4,
            random: 4,
            work: WORK / 8,
            deadline: None,
            shard: [0, 1],
        };
        let found = search.run(&jobs).unwrap();
        assert!(matches!(found.end, SearchEnd::Equal), "{name}: {:?}", found.end);
        assert!(found.frames > 0, "{name}");
    }
}

/// Returns the instruction with a wrong operand: inverted sign, or other channels.
fn mistaken(inst: Instruction, sign: bool) -> Instruction {
    let mut operand = inst.rgb_operand(Slot::A);
    if sign {
        operand.modifier = match operand.modifier {
            Mod::NOP => Mod::NEG,
            Mod::NEG => Mod::NOP,
            Mod::ABS => Mod::NAB,
            _ => Mod::ABS,
        };
    } else {
        operand.swiz.rotate_left(1);
    }
    inst.with_rgb_operand(Slot::A, operand)
}

/// Every capture with a mistake in each instruction in turn: if the mistake changes the pixel, the divergence is found
/// there, although no instruction of the two programs is the same.
#[test]
fn a_planted_mistake_is_found_where_it_is() {
    let (mut shown, mut found) = (0, 0);
    let mut elsewhere = Vec::new();
    for (name, job) in captures() {
        let good = relaid(&job);
        let count = good.program.code.len();
        // A third of the instructions of long programs is enough.
        let step = if count > 64 { 3 } else { 1 };
        let places = (0..count).step_by(step).flat_map(|place| [(place, true), (place, false)]);
        for (place, sign) in places {
            let inst = good.program.code[place];
            let computes = matches!(inst.ty(), InstType::ALU | InstType::OUT);
            if !computes || inst.result_channels() & 7 == 0 {
                continue;
            }
            let mut bad = good.clone();
            bad.program.code[place] = mistaken(inst, sign);
            let pair = Pair::new(job.clone(), bad, SIZE).unwrap();
            let options = Options::default();
            let jobs = pair.jobs.clone();
            let comparison = match pair.compare(&jobs, &Reference, &options, None) {
                Ok(comparison) => comparison,
                // A mistake can make a loop endless.
                Err(Incomparable::Run { .. }) => continue,
                Err(error) => panic!("{name}: {error}"),
            };
            let Some(first) = comparison.first else { continue };
            let parting = Divergence::find(&pair, &jobs, &first, &options, None).unwrap();
            shown += 1;
            let at = |place: &Option<r500::equivalence::ExecutedInst>| {
                place.as_ref().map(|place| place.index)
            };
            if (at(&parting.a), at(&parting.b)) == (Some(place), Some(place)) {
                found += 1;
            } else {
                elsewhere.push((name.clone(), place, sign, at(&parting.a), at(&parting.b)));
            }
        }
    }
    assert!(shown > 500, "{shown}");
    // An operand with other channels may yield the result of another instruction, as if the two had been swapped.
    assert!(!elsewhere.iter().any(|case| case.2), "{found} of {shown}; {elsewhere:?}");
    assert!(elsewhere.len() * 50 < shown, "{found} of {shown}; {elsewhere:?}");
}
