//! Round-trip properties of readers and writers.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use r500_formats::{Format, Limits, detect, read, write, write_all};
use r500_isa::{Instruction, Word};
use r500_program::{
    Compare, Component, Expect, Input, InputData, Job, LeftOut, Level, Plane, Program, State,
    Texture, Uniform,
};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Any values, the odd ones more often than not. Every field of a job is named here without
/// `..Default`, so that one which is added to a job, and not to the JSON, does not pass.
struct Random {
    random: SplitMix64,
    /// Whether numbers may be NaN.
    nan: bool,
}

impl Random {
    fn new(seed: u64, nan: bool) -> Self {
        Self { random: SplitMix64::seed_from_u64(seed), nan }
    }

    fn next(&mut self) -> u64 {
        self.random.next_u64()
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    fn dword(&mut self) -> u32 {
        match self.below(4) {
            0 => 0,
            1 => u32::MAX,
            _ => self.next() as u32,
        }
    }

    fn register<W: Word>(&mut self) -> W {
        W::from_bits(self.dword())
    }

    fn maybe<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        (!self.one_in(3)).then(|| make(self))
    }

    fn list<T>(&mut self, len: u64, mut make: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..len).map(|_| make(self)).collect()
    }

    fn float(&mut self) -> f32 {
        let odd = [0.0, -0.0, 1.0, 0.1, 1.0 / 3.0, f32::MAX, f32::MIN_POSITIVE, 1e-45, -1e-45];
        let value = match self.below(8) {
            0 => f32::INFINITY,
            1 => f32::NEG_INFINITY,
            2 => self.below(1000) as f32,
            3 => f32::from_bits(self.next() as u32),
            4 if self.nan => f32::NAN,
            _ => odd[self.below(odd.len() as u64) as usize],
        };
        if value.is_nan() && !self.nan { 0.5 } else { value }
    }

    fn vector(&mut self) -> [f32; 4] {
        std::array::from_fn(|_| self.float())
    }

    fn text(&mut self) -> String {
        let odd =
            ["", "fs-abs.0", "a \"b\" \\ c", "n\nt\t\u{1}\u{7f}", "gr\u{fc}n \u{1f34f}", "0", "{"];
        odd[self.below(odd.len() as u64) as usize].to_owned()
    }

    fn program(&mut self) -> Program {
        let length = self.below(9);
        Program {
            code: self.list(length, |r| Instruction(std::array::from_fn(|_| r.dword()))),
            state: State {
                config: self.maybe(Self::register),
                pixsize: self.maybe(Self::register),
                fc_ctrl: self.maybe(Self::register),
                fc_bool_const: self.maybe(Self::register),
                fc_int_const: std::array::from_fn(|_| self.maybe(Self::register)),
                code_addr: self.maybe(Self::register),
                code_range: self.maybe(Self::register),
                code_offset: self.maybe(Self::register),
                out_fmt: std::array::from_fn(|_| self.maybe(Self::register)),
                w_fmt: self.maybe(Self::register),
                format: std::array::from_fn(|_| self.maybe(Self::register)),
                constants: {
                    let count = self.below(4) * self.below(86);
                    self.list(count, |r| std::array::from_fn(|_| r.dword()))
                },
                absent_constants: Vec::new(),
                absent_channels: Vec::new(),
            },
        }
    }

    fn texture(&mut self) -> Texture {
        let levels = self.below(4);
        Texture {
            filter0: self.register(),
            filter1: self.register(),
            format0: self.register(),
            format1: self.register(),
            format2: self.register(),
            offset: self.register(),
            border_color: self.dword(),
            chroma_key: self.register(),
            levels: self.list(levels, |r| Level {
                width: r.dword(),
                height: r.dword(),
                layers: [0, 1, 6, 8, u32::MAX][r.below(5) as usize],
                bytes: {
                    let length = r.below(50);
                    r.list(length, |r| r.next() as u8)
                },
            }),
        }
    }

    fn input(&mut self, size: Option<[u32; 2]>) -> Input {
        let data = if self.one_in(2) {
            InputData::Planes(std::array::from_fn(|_| Component {
                name: self.text(),
                plane: Plane { c: self.float(), du: self.float(), dv: self.float() },
            }))
        } else {
            // Of the picture, or of its own width.
            let [width, height] = size.filter(|_| !self.one_in(3)).unwrap_or([3, 2]);
            let values = self.list(u64::from(width * height), Self::vector);
            InputData::Values { width, values }
        };
        Input { temp: self.below(128) as u8, data }
    }

    fn expect(&mut self, pixels: u64) -> Expect {
        Expect {
            targets: std::array::from_fn(|_| {
                self.maybe(|r| r.list(pixels, |r| std::array::from_fn(|_| r.maybe(Self::float))))
            }),
            depth: self.maybe(|r| r.list(pixels, |r| r.maybe(Self::float))),
            coverage: self.maybe(|r| r.list(pixels, |r| r.maybe(|r| r.one_in(2)))),
            compare: if self.one_in(2) { Compare::EightBit } else { Compare::Values },
            tolerance: self.float(),
            background: self.maybe(|r| r.list(pixels, Self::vector)),
            known_failure: self.one_in(2),
        }
    }

    fn job(&mut self) -> Job {
        let size = self.maybe(|r| [1 + r.below(5) as u32, 1 + r.below(4) as u32]);
        let pixels = size.map_or(7, |[w, h]| u64::from(w * h));
        let (inputs, uniforms) = (self.below(4), self.below(3));
        Job {
            name: self.text(),
            origin: self.text(),
            rationale: self.text(),
            status: self.text(),
            program: self.program(),
            size,
            inputs: self.maybe(|r| r.list(inputs, |r| r.input(size))),
            textures: std::array::from_fn(|_| self.one_in(6).then(|| self.texture())),
            live: Vec::new(),
            uniforms: self.list(uniforms, |r| Uniform {
                name: r.text(),
                constant: r.next() as u8,
                channel: r.below(4) as u8,
                channels: 1 + r.below(4) as u8,
            }),
            named_by_value: Vec::new(),
            coverage: self.maybe(|r| r.list(pixels, |r| r.one_in(2))),
            time: self.maybe(|r| r.float()),
            expect: self.expect(pixels),
            share: self.maybe(|r| r.below(1000) as f64 / 7e3),
            compilation: None,
            left_out: LeftOut::default(),
        }
    }
}

fn written(job: &Job, format: Format) -> Vec<u8> {
    let mut out = Vec::new();
    write(job, format, &mut out).unwrap();
    out
}

fn read_one(bytes: &[u8], format: Format) -> Job {
    let mut jobs = read(bytes, Some(format), &Limits::default()).unwrap_or_else(|e| {
        panic!("{e}\n{}", String::from_utf8_lossy(bytes));
    });
    assert_eq!(jobs.len(), 1);
    jobs.remove(0)
}

#[test]
fn job_to_json_and_back() {
    for state in 0..400 {
        let job = Random::new(state, false).job();
        for format in [Format::Json, Format::JsonLines] {
            let text = written(&job, format);
            assert_eq!(detect(&text, None), Some(Format::Json));
            let again = read_one(&text, format);
            assert_eq!(again, job);
            // `==` takes -0 for 0. The text does not.
            assert_eq!(written(&again, format), text);
        }
        let lines = written(&job, Format::JsonLines);
        assert_eq!(lines.iter().filter(|&&b| b == b'\n').count(), 1);
        assert_eq!(lines.last(), Some(&b'\n'));
    }
}

/// NaN is not equal to itself, but survives a round trip.
#[test]
fn nan_survives_json() {
    for state in 0..100 {
        let job = Random::new(state, true).job();
        let text = written(&job, Format::Json);
        assert_eq!(written(&read_one(&text, Format::Json), Format::Json), text);
    }
    let bits = [0x7fc0_0000, 0xffc0_0000, 0x7fc0_0001, 0x7f80_0001, 0xff80_0000, 0x8000_0000];
    for bits in bits {
        let job = Job { time: Some(f32::from_bits(bits)), ..Job::default() };
        let again = read_one(&written(&job, Format::Json), Format::Json);
        assert_eq!(again.time.map(f32::to_bits), Some(bits));
    }
}

/// Every float32 is the nearest to what is written for it. All are too many for a test: those near
/// powers of two and ten, where digits run out, and a sample of the rest.
#[test]
fn floats_survive_json() {
    let mut random = Random::new(7, false);
    let mut values: Vec<f32> = (0..60_000).map(|_| f32::from_bits(random.next() as u32)).collect();
    values.extend((-126..128).map(|e| 2f32.powi(e)));
    values.extend((-45..39).map(|e| format!("1e{e}").parse::<f32>().unwrap()));
    values.extend([1 << 24, (1 << 24) + 1, u32::MAX].map(|n| n as f32));
    let mut near = Vec::new();
    for value in &values {
        let bits = value.to_bits();
        near.extend([bits.wrapping_sub(1), bits, bits.wrapping_add(1)].map(f32::from_bits));
    }
    near.resize(near.len().next_multiple_of(4), 0.0);
    let (values, _) = near.as_chunks::<4>();
    let data = InputData::Values { width: 1, values: values.to_vec() };
    let job = Job { inputs: Some(vec![Input { temp: 0, data }]), ..Job::default() };
    let again = read_one(&written(&job, Format::JsonLines), Format::JsonLines);
    let InputData::Values { values: read, .. } = &again.inputs.unwrap()[0].data else { panic!() };
    for (read, wrote) in read.iter().zip(values) {
        assert_eq!(read.map(f32::to_bits), wrote.map(f32::to_bits));
    }
    assert_eq!(read.len(), values.len());
}

#[test]
fn program_to_dwords_and_back() {
    for state in 0..200 {
        let job = Random::new(state, false).job();
        for format in [Format::Raw, Format::CArray, Format::Hex] {
            let bytes = written(&job, format);
            let again = read_one(&bytes, format);
            assert_eq!(again, Job::from_program(Program::from_code(job.program.code.clone())));
            if !job.program.code.is_empty() && format != Format::Raw {
                assert_eq!(detect(&bytes, None), Some(format));
            }
        }
    }
}

#[test]
fn several_jobs_in_one_file() {
    let mut random = Random::new(1, false);
    let jobs: Vec<_> = (0..20).map(|_| random.job()).collect();
    for format in [Format::Json, Format::JsonLines] {
        let mut text = Vec::new();
        write_all(&jobs, format, &mut text).unwrap();
        assert_eq!(detect(&text, None), Some(format));
        assert_eq!(read(&text, None, &Limits::default()).unwrap(), jobs);
    }
    let error = write_all(&jobs, Format::Raw, Vec::new()).unwrap_err().to_string();
    assert_eq!(error, "20 programs for a raw program, which holds one");
    let error = write_all(&jobs[..1], Format::MesaLog, Vec::new()).unwrap_err().to_string();
    assert_eq!(error, "a log of Mesa's r300 driver is something to read, not to write");
}

/// What each format looks like, byte for byte.
#[test]
fn layouts() {
    let code =
        vec![Instruction([0x1800, 0x0800_0100, 0x0802_0080, 0x0080_a400, 0, 0x0049_0010]); 2];
    let mut job = Job { name: "two".into(), ..Job::from_program(Program::from_code(code)) };
    let one = "0x00001800,\n0x08000100,\n0x08020080,\n0x0080a400,\n0x00000000,\n0x00490010,\n\n";
    assert_eq!(written(&job, Format::CArray), one.repeat(2).as_bytes());
    let one = "00001800 08000100 08020080 0080a400 00000000 00490010\n";
    assert_eq!(written(&job, Format::Hex), one.repeat(2).as_bytes());
    let raw = written(&job, Format::Raw);
    assert_eq!(raw.len(), 48);
    assert_eq!(raw[..8], [0x00, 0x18, 0, 0, 0x00, 0x01, 0x00, 0x08]);

    job.program.code.truncate(1);
    job.size = Some([2, 1]);
    job.program.state.pixsize = Some(Word::from_bits(1));
    job.program.state.out_fmt[1] = Some(Word::from_bits(0xf));
    job.program.state.fc_int_const[31] = Some(Word::from_bits(0xff));
    job.program.state.constants = vec![[0x3f80_0000, 0, 0, 1]];
    job.inputs = Some(vec![Input::uv()]);
    job.coverage = Some(vec![true, false]);
    job.expect.targets[2] = Some(vec![[Some(0.5), None, Some(-0.0), Some(f32::INFINITY)]; 2]);
    let json = r#"{
 "name": "two",
 "size": [2, 1],
 "us": {
  "US_PIXSIZE": "00000001",
  "US_FC_INT_CONST": {"31": "000000ff"},
  "US_OUT_FMT": [null, "0000000f", null, null]
 },
 "program": [["00001800", "08000100", "08020080", "0080a400", "00000000", "00490010"]],
 "constants": [["3f800000", "00000000", "00000000", "00000001"]],
 "inputs": [
  {
   "temp": 0,
   "components": [
    {"plane_uv": [0, 1, 0]},
    {"plane_uv": [0, 0, 1]},
    {"plane_uv": [0, 0, 0]},
    {"plane_uv": [1, 0, 0]}
   ]
  }
 ],
 "coverage": [[1, 0]],
 "expect": {"target2": [[0.5, null, -0.0, "inf"], [0.5, null, -0.0, "inf"]]}
}
"#;
    assert_eq!(String::from_utf8(written(&job, Format::Json)).unwrap(), json);
    assert_eq!(read_one(json.as_bytes(), Format::Json), job);
}
