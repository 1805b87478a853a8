//! The requests. A request is a line of JSON, followed by the attached bytes.

use std::sync::Arc;

use r500::emit::Interface;
use r500::fast::Simd;
use r500::program::Job;
use r500_jit::{Effort, Jit, Settings, When};
use serde::Deserialize;

use crate::area::{self, AreaQuery, AreaResult};
use crate::bytes::keep;
use crate::compare::CompareOptions;
use crate::document::Document;
use crate::look::Look;
use crate::message::{Source, json, parse};
use crate::picture::{Drawing, Picture};
use crate::step::{Breakpoint, Going, Stepping};
use crate::{analysis, compare, edit, encoding, expect, gpu, language, open, step};

/// A request. `do` names it.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "do", rename_all = "camelCase")]
pub enum Request {
    /// A program in a file of any format, as a source. Attached: the file.
    Open {
        /// Which program, from 0.
        #[serde(default)]
        pick: usize,
        /// The file's name.
        name: String,
        /// Bytes attached.
        length: usize,
    },
    /// Sets the source; the answer is its [`analysis::Analysis`]. Attached: the files that it may name.
    Analyse(Source),
    /// Sets the source to draw; the answer describes the program. Attached: the files that it may name.
    Load(Source),
    /// Draws rows of the program that was loaded.
    Draw(Drawing),
    /// Displays the rows drawn last in another way.
    Show {
        /// Target 0 to 3, or 4 for depth.
        target: usize,
        /// How its values are displayed.
        look: Look,
    },
    /// The program that was loaded as a shader for the browser's GPU.
    Shader {
        /// Whether it computes the reference engine's bits, on a device that passes the test.
        exact: bool,
    },
    /// The uniform buffer of the shader that was asked for last, for a picture.
    Uniforms {
        /// Whether it is that of the exact shader.
        exact: bool,
        /// The picture.
        drawing: Drawing,
    },
    /// The shader that tests a device.
    GpuTest,
    /// The rules that a device breaks. Attached: the picture of the test, 4 bytes a pixel, as the device drew it.
    GpuFailures {
        /// Bytes attached.
        length: usize,
    },
    /// A picture of raw values. Attached: four floats a pixel, the lowest row first.
    Shown {
        /// Width of the picture.
        width: u32,
        /// Bytes attached.
        length: usize,
        /// How its values are displayed.
        look: Look,
    },
    /// Evaluates the `EXPECT` directives of the program that was loaded.
    Expect {
        /// Instructions that a group of pixels may execute.
        limit: u64,
    },
    /// Compares the program that was loaded, A, with another source, B. Attached: the files that B may name.
    Compare {
        /// The source of B.
        other: Source,
        /// Options of the comparison.
        options: CompareOptions,
    },
    /// An animation as a GIF file. Attached: frames of 8 bits a channel, the upper row first.
    Gif {
        /// Width and height.
        size: [u32; 2],
        /// Frames.
        frames: usize,
        /// Frames a second.
        fps: u16,
    },
    /// The raw values of the rows drawn last.
    Values {
        /// Target 0 to 3, or 4 for depth.
        target: usize,
    },
    /// The instruction with that number in the source taken last, bit by bit.
    Encoding {
        /// Its number, from 0.
        index: usize,
    },
    /// The source after a change of a field of an instruction.
    EditField {
        /// Number of the instruction.
        index: usize,
        /// Number of the dword.
        word: usize,
        /// Name of the field.
        field: String,
        /// Its new code.
        code: u32,
    },
    /// The source after a change of a constant.
    EditConstant {
        /// Its number.
        constant: u8,
        /// Its new value, as bits.
        value: [u32; 4],
    },
    /// The source after a change of an integer constant.
    EditInt {
        /// Its number.
        number: u8,
        /// Iterations, first value of aL, step of aL.
        value: [i32; 3],
    },
    /// The source after binding another texture.
    EditTexture {
        /// Its unit.
        unit: u8,
        /// The text after `TEXTURE tex[n] =`.
        what: String,
    },
    /// The flow graph as SVG.
    Flow,
    /// The program in another format: `raw`, `c-array`, `json` …
    Write {
        /// The format's name.
        format: String,
    },
    /// The meaning of the word at a place.
    Hover {
        /// The place, in UTF-16 units.
        at: usize,
    },
    /// The completions at a place.
    Complete {
        /// The place, in UTF-16 units.
        at: usize,
    },
    /// Where the name or label at a place is defined; nothing if in an included file.
    Definition {
        /// The place, in UTF-16 units.
        at: usize,
    },
    /// Where the name or label at a place is used and defined.
    References {
        /// The place, in UTF-16 units.
        at: usize,
    },
    /// The name at a place that can be changed.
    Renamable {
        /// The place, in UTF-16 units.
        at: usize,
    },
    /// The source after renaming the name at a place.
    Rename {
        /// The place, in UTF-16 units.
        at: usize,
        /// The new name.
        name: String,
    },
    /// The source after formatting.
    Format,
    /// The source after all safe fixes of the checker.
    FixAll,
    /// An equivalent program of a source at a lower cost. Attached: the files that it may name.
    #[cfg(feature = "optimizer")]
    Optimize(Source),
    /// A shader in GLSL, compiled.
    #[cfg(feature = "optimizer")]
    Compile {
        /// The shader.
        text: String,
        /// The name of the program.
        name: String,
        /// Whether the program is for the picture alone: not optimised, without costs.
        draft: bool,
    },
    /// The edits of a shader that give a uniform a value, or a sampler a texture.
    #[cfg(feature = "optimizer")]
    EditShader {
        /// The shader.
        text: String,
        /// The uniform or sampler.
        name: String,
        /// Its value or texture.
        setting: crate::shader::Setting,
    },
    /// The kinds of the words in a part of the source.
    Tokens {
        /// The part, in UTF-16 units.
        from: usize,
        /// Where it ends.
        to: usize,
    },
    /// Records a pixel of the program that was loaded; the answer has the state at the start of its run.
    Record {
        /// The picture.
        drawing: Drawing,
        /// Column and row, from the bottom.
        pixel: [u32; 2],
    },
    /// Moves to another position of the recorded run; the answer has the state there.
    Go(Going),
    /// Checks the texts of a breakpoint, with the names of the program that was loaded; an error says what is wrong.
    CheckBreakpoint {
        /// The breakpoint.
        breakpoint: Breakpoint,
    },
    /// Queries the pixels of areas.
    Area(AreaQuery),
    /// Sets a scene; the answer is its [`analysis::Analysis`]. Attached: the files that it may name.
    #[cfg(feature = "optimizer")]
    AnalyseScene(Source),
    /// Sets the scene to draw. Attached: the files that it may name.
    #[cfg(feature = "optimizer")]
    LoadScene(Source),
    /// Draws the scene that was loaded.
    #[cfg(feature = "optimizer")]
    DrawScene {
        /// Seconds.
        time: f32,
        /// How its values are displayed.
        look: Look,
    },
    /// Displays the scene drawn last in another way.
    #[cfg(feature = "optimizer")]
    ShowScene {
        /// How its values are displayed.
        look: Look,
    },
    /// The values of the scene drawn last: four floats a pixel, the lowest row first.
    #[cfg(feature = "optimizer")]
    SceneValues,
    /// Evaluates the expectations of the scene that was loaded.
    #[cfg(feature = "optimizer")]
    ExpectScene,
    /// Records a pixel of the scene that was loaded, in the draw that shades it last.
    #[cfg(feature = "optimizer")]
    RecordScene {
        /// Seconds.
        time: f32,
        /// Column and row, from the bottom.
        pixel: [u32; 2],
        /// Instructions that a group of pixels may execute.
        limit: u64,
    },
    /// A capture of the command stream that draws the scene that was loaded.
    #[cfg(feature = "optimizer")]
    SceneCapture {
        /// Seconds.
        time: f32,
    },
    /// The explanation of a diagnostic's code.
    Page {
        /// The code.
        code: String,
    },
}

/// The state that is kept between requests.
pub struct Session {
    document: Option<Document>,
    /// The engine with its compiled code, which is kept because successive versions of an edited program differ little.
    engine: Arc<Jit>,
    picture: Option<Picture>,
    /// The source of `picture`.
    drawn: Option<Document>,
    stepping: Option<Stepping>,
    area_scenes: area::SceneCache,
    #[cfg(feature = "optimizer")]
    scene: crate::scene::SceneSession,
    /// The interfaces of the loaded program's shaders: fast, exact.
    interfaces: [Option<Interface>; 2],
    /// Bytes to which the last answer refers.
    kept: Vec<Vec<u8>>,
}

impl Default for Session {
    fn default() -> Self {
        // Compilation takes some milliseconds, and the picture is drawn repeatedly.
        let settings = Settings { when: When::Before(Effort::Full), ..Settings::default() };
        Self {
            document: None,
            engine: Arc::new(Jit::with(Simd::detect(), settings)),
            picture: None,
            drawn: None,
            stepping: None,
            area_scenes: area::SceneCache::default(),
            #[cfg(feature = "optimizer")]
            scene: crate::scene::SceneSession::default(),
            interfaces: [None, None],
            kept: Vec::new(),
        }
    }
}

impl Session {
    /// Processes a request. Returns the answer as JSON.
    ///
    /// # Errors
    /// The error message.
    pub fn answer(&mut self, request: &[u8]) -> Result<String, String> {
        let (request, mut attached) = parse(request)?;
        self.kept.clear();
        match request {
            Request::Open { pick, name, length } => {
                json(&open::open(attached.take(length)?, &name, pick)?)
            }
            Request::Analyse(source) => {
                let document = attached.document(source)?;
                let analysis = analysis::analyse(&document);
                self.document = Some(document);
                json(&analysis)
            }
            Request::Load(source) => {
                let document = attached.document(source)?;
                // The old picture may be large, so it is dropped first.
                self.picture = None;
                self.interfaces = [None, None];
                self.area_scenes = area::SceneCache::default();
                let mut job = document.job()?;
                r500::stand_in::fill(&mut job);
                let picture = Picture::new(job, self.engine.clone())?;
                let loaded = picture.loaded();
                self.picture = Some(picture);
                self.drawn = Some(document);
                json(&loaded)
            }
            Request::Draw(drawing) => {
                let picture = self.picture.as_mut().ok_or("nothing is loaded")?;
                picture.take_live(&drawing.live, &mut attached)?;
                json(&picture.draw(&drawing)?)
            }
            Request::Show { target, look } => {
                let picture = self.picture.as_mut().ok_or("nothing is loaded")?;
                json(&picture.show(target, look))
            }
            Request::Shader { exact } => {
                let picture = self.picture.as_ref().ok_or("nothing is loaded")?;
                let kept = &mut self.kept;
                let (shader, interface) =
                    gpu::shader(picture.job(), exact, &mut |bytes| keep(kept, bytes))?;
                self.interfaces[usize::from(exact)] = Some(interface);
                json(&shader)
            }
            Request::Uniforms { exact, drawing } => {
                let picture = self.picture.as_ref().ok_or("nothing is loaded")?;
                let interface = self.interfaces[usize::from(exact)].as_ref();
                let interface = interface.ok_or("the shader was not asked for")?;
                json(&keep(&mut self.kept, picture.uniforms(interface, &drawing)?))
            }
            Request::GpuTest => {
                let kept = &mut self.kept;
                json(&gpu::test(&mut |bytes| keep(kept, bytes))?)
            }
            Request::GpuFailures { length } => json(&gpu::failures(attached.take(length)?)?),
            Request::Shown { width, length, look } => {
                let picture = look.of_bytes(width, attached.take(length)?);
                let pixels = picture.pixels.into_flattened();
                json(&keep(&mut self.kept, pixels))
            }
            Request::Expect { limit } => {
                let document = self.drawn.as_ref().ok_or("nothing is loaded")?;
                json(&expect::judge(document, &document.job()?, &self.engine, limit)?)
            }
            Request::Compare { other, options } => {
                let other = attached.document(other)?;
                let own = self.drawn.as_ref().ok_or("nothing is loaded")?;
                let kept = &mut self.kept;
                let mut keep = |bytes| keep(kept, bytes);
                json(&compare::compare([own, &other], &options, &*self.engine, &mut keep)?)
            }
            Request::Gif { size: [width, height], frames, fps } => {
                let length = width as usize * height as usize * 4;
                let frames: Result<Vec<_>, String> = (0..frames)
                    .map(|_| {
                        let pixels = attached.take(length)?.as_chunks().0.to_vec();
                        Ok(r500::picture::Picture { width, height, pixels })
                    })
                    .collect();
                let gif = r500::picture::encode_gif(&frames?, fps).map_err(|e| e.to_string())?;
                json(&keep(&mut self.kept, gif))
            }
            Request::Values { target } => {
                let picture = self.picture.as_ref().ok_or("nothing is loaded")?;
                json(&picture.values(target))
            }
            Request::Encoding { index } => json(&encoding::encoding(self.document()?, index)?),
            Request::EditField { index, word, field, code } => {
                json(&encoding::edit_field(self.document()?, index, word, &field, code)?)
            }
            Request::EditConstant { constant, value } => {
                json(&edit::constant(self.document()?, constant, value)?)
            }
            Request::EditInt { number, value } => {
                json(&edit::int_constant(self.document()?, number, value)?)
            }
            Request::EditTexture { unit, what } => {
                json(&edit::texture(self.document()?, unit, &what)?)
            }
            Request::Flow => json(&r500::cfg::svg(&self.job()?, 64).map_err(|e| e.to_string())?),
            Request::Write { format } => {
                let written = open::write(&self.job()?, &format)?;
                json(&keep(&mut self.kept, written))
            }
            Request::Hover { at } => json(&language::hover(self.document()?, at)),
            Request::Complete { at } => json(&language::completions(self.document()?, at)),
            Request::Definition { at } => json(&language::definition(self.document()?, at)),
            Request::References { at } => json(&language::references(self.document()?, at)),
            Request::Renamable { at } => json(&language::renamable(self.document()?, at)),
            Request::Rename { at, name } => json(&language::rename(self.document()?, at, &name)?),
            Request::Format => json(&language::format(self.document()?)?),
            Request::FixAll => json(&language::fix_all(self.document()?)),
            #[cfg(feature = "optimizer")]
            Request::Optimize(source) => {
                json(&crate::optimize::optimize(&attached.document(source)?)?)
            }
            #[cfg(feature = "optimizer")]
            Request::Compile { text, name, draft } => {
                json(&crate::shader::compile(&text, &name, draft))
            }
            #[cfg(feature = "optimizer")]
            Request::EditShader { text, name, setting } => {
                json(&crate::shader::with_setting(&text, &name, &setting))
            }
            Request::Tokens { from, to } => json(&language::tokens(self.document()?, from, to)),
            Request::Record { drawing, pixel } => {
                let picture = self.picture.as_mut().ok_or("nothing is loaded")?;
                picture.take_live(&drawing.live, &mut attached)?;
                let names = picture.names().to_vec();
                self.stepping = None;
                let stepping = Stepping::new(picture.scene(&drawing)?, pixel, names)?;
                let addresses = keep(&mut self.kept, stepping.addresses());
                let recorded = json(&stepping.recorded(addresses));
                self.stepping = Some(stepping);
                recorded
            }
            Request::Go(going) => {
                let stepping = self.stepping.as_mut().ok_or("nothing is recorded")?;
                json(&stepping.go(&going)?)
            }
            Request::CheckBreakpoint { breakpoint } => {
                let picture = self.picture.as_ref().ok_or("nothing is loaded")?;
                json(&step::check(&breakpoint, picture.names())?)
            }
            Request::Area(query) => {
                let picture = self.picture.as_mut().ok_or("nothing is loaded")?;
                picture.take_live(&query.drawing.live, &mut attached)?;
                let (numbers, stopped) = area::query(picture, &mut self.area_scenes, &query)?;
                let bytes = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
                json(&AreaResult { stopped, numbers: keep(&mut self.kept, bytes) })
            }
            #[cfg(feature = "optimizer")]
            Request::AnalyseScene(source) => json(&crate::scene::analyse(&attached.scene(source)?)),
            #[cfg(feature = "optimizer")]
            Request::LoadScene(source) => json(&self.scene.load(&attached.scene(source)?)?),
            #[cfg(feature = "optimizer")]
            Request::DrawScene { time, look } => {
                json(&self.scene.draw(time, &look, &mut self.kept)?)
            }
            #[cfg(feature = "optimizer")]
            Request::ShowScene { look } => json(&self.scene.show(&look, &mut self.kept)?),
            #[cfg(feature = "optimizer")]
            Request::SceneValues => json(&self.scene.values(&mut self.kept)?),
            #[cfg(feature = "optimizer")]
            Request::ExpectScene => json(&self.scene.judge()?),
            #[cfg(feature = "optimizer")]
            Request::RecordScene { time, pixel, limit } => {
                let (stepping, draw) = self.scene.record(time, pixel, limit)?;
                let addresses = keep(&mut self.kept, stepping.addresses());
                let recorded = stepping.recorded(addresses);
                self.stepping = Some(stepping);
                json(&crate::scene::SceneRecorded { draw, recorded })
            }
            #[cfg(feature = "optimizer")]
            Request::SceneCapture { time } => json(&self.scene.capture(time, &mut self.kept)?),
            Request::Page { code } => json(&r500::service::explain(&code)),
        }
    }

    fn document(&self) -> Result<&Document, String> {
        self.document.as_ref().ok_or_else(|| "there is no source".to_owned())
    }

    fn job(&self) -> Result<Job, String> {
        self.document()?.job()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::{Value, json};

    use super::*;

    const SOURCE: &str = "SIZE 8 4 ; UNIFORM \"time\" = const[0].r ;\n\
        OUT src0.rgb = const[0] : out[0].rgb = MAX src0.rgb src0.rgb, out[0].a = MAX src0.1 src0.1 ;";

    fn ask(session: &mut Session, request: &Value) -> Result<Value, String> {
        let answer = session.answer(format!("{request}\n").as_bytes())?;
        Ok(serde_json::from_str(&answer).unwrap())
    }

    #[test]
    fn a_program_is_drawn_and_stepped_through() {
        let mut session = Session::default();
        let loaded = ask(&mut session, &json!({ "do": "load", "text": SOURCE })).unwrap();
        assert_eq!((&loaded["size"], &loaded["moves"]), (&json!([8, 4]), &json!(true)));
        let drawing =
            json!({ "size": [8, 4], "time": 0.25, "bands": [[0, 2], [2, 2]], "limit": 100 });
        let mut draw = drawing.clone();
        draw["do"] = json!("draw");
        let drawn = ask(&mut session, &draw).unwrap();
        assert_eq!(drawn["bands"][1]["bytes"]["length"], 8 * 2 * 4);
        let values = ask(&mut session, &json!({ "do": "values", "target": 0 })).unwrap();
        assert_eq!(values[0]["bytes"]["length"], 8 * 2 * 16);

        let record = json!({ "do": "record", "drawing": drawing, "pixel": [7, 3] });
        let recorded = ask(&mut session, &record).unwrap();
        assert_eq!(recorded["length"], 1);
        let red = &recorded["shown"]["coming"]["result"][0];
        assert_eq!(red, 0.25f32.to_bits(), "the time is the drawing's");
        let end = ask(&mut session, &json!({ "do": "go", "how": "step" })).unwrap();
        assert_eq!((&end["address"], &end["position"]), (&Value::Null, &json!(1)));
        assert_eq!(end["outputs"][0][1], end["delivered"][0]);
    }

    #[test]
    fn an_expression_of_a_breakpoint_is_checked_before_there_is_a_run() {
        let mut session = Session::default();
        ask(&mut session, &json!({ "do": "load", "text": SOURCE })).unwrap();
        let mut check = |breakpoint: Value| {
            ask(&mut session, &json!({ "do": "checkBreakpoint", "breakpoint": breakpoint }))
        };
        assert_eq!(check(json!({ "condition": "time > 0.5" })), Ok(Value::Null));
        assert_eq!(check(json!({ "changes": "temp[1]" })), Ok(Value::Null));
        let log = json!({ "address": 0, "hits": "% 2", "message": "t {time}, r {temp[0].r}" });
        assert_eq!(check(log), Ok(Value::Null));
        let near = check(json!({ "condition": "tmie > 0.5" })).unwrap_err();
        assert!(near.contains("did you mean `time`?"), "{near}");
    }

    #[test]
    fn a_program_is_a_shader_whose_uniform_buffer_has_the_time() {
        let mut session = Session::default();
        ask(&mut session, &json!({ "do": "load", "text": SOURCE })).unwrap();
        let drawing = json!({ "size": [8, 4], "time": 0.125, "bands": [], "limit": 100 });
        let uniforms = json!({ "do": "uniforms", "exact": true, "drawing": drawing });
        assert!(ask(&mut session, &uniforms).is_err(), "no shader was asked for");
        for exact in [false, true] {
            let shader = ask(&mut session, &json!({ "do": "shader", "exact": exact })).unwrap();
            assert!(shader["code"].as_str().unwrap().contains("@fragment"), "{shader}");
            assert_eq!((&shader["colors"], &shader["instructions"]), (&json!([0]), &json!(1)));
        }
        ask(&mut session, &uniforms).unwrap();
        let floats: Vec<f32> =
            session.kept[0].chunks(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect();
        // The constant, whose red is the time and whose other channels are those that stand in for values that the source does not
        // give, and the numbers that the device must not know.
        assert_eq!(floats, [0.125, 0.5, 0.75, 1.0, 0.0, -0.0, 1.0, -1.0]);
    }

    #[test]
    fn a_program_that_no_gpu_draws_as_the_workers_is_refused_with_the_reason() {
        let mut session = Session::default();
        let text = "TEXTURE tex[0] = noise(4, 4, 1) linear border ;\n\
            TEX TEX_SEM_ACQUIRE temp[0].rgba = LD tex[0].rgba temp[0].rgrr ;\n\
            OUT LAST TEX_SEM_WAIT src0.rgb = temp[0] : out[0].rgb = MAX src0.rgb src0.rgb ;";
        ask(&mut session, &json!({ "do": "load", "text": text })).unwrap();
        let mut shader =
            |exact: bool| ask(&mut session, &json!({ "do": "shader", "exact": exact }));
        let refused = shader(false).unwrap_err();
        assert!(refused.contains("no address mode \"border\""), "{refused}");
        let exact = shader(true).unwrap();
        assert_eq!(exact["textures"][0]["sampler"], Value::Null);
        assert_eq!(exact["textures"][0]["levels"][0]["texels"]["length"], 4 * 4 * 16);
    }

    #[test]
    fn the_test_of_a_device_names_what_differs() {
        let mut session = Session::default();
        let test = ask(&mut session, &json!({ "do": "gpuTest" })).unwrap();
        let size: Vec<u64> =
            test["size"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect();
        let length = usize::try_from(size[0] * size[1] * 4).unwrap();
        let line = format!("{}\n", json!({ "do": "gpuFailures", "length": length }));
        let mut request = line.into_bytes();
        request.extend(vec![0; length]);
        let failures: Vec<String> =
            serde_json::from_str(&session.answer(&request).unwrap()).unwrap();
        assert!(failures.iter().any(|failure| failure.starts_with("a + b")), "{failures:?}");
    }

    /// Each query uses the picture that it contains, independently of earlier requests.
    #[test]
    fn an_area_query_is_answered_from_the_picture_it_names() {
        let mut session = Session::default();
        ask(&mut session, &json!({ "do": "load", "text": SOURCE })).unwrap();
        let mut count = |time: f32, condition: Value| {
            let drawing = json!({ "size": [8, 4], "time": time, "bands": [], "limit": 100 });
            let query = json!({
                "do": "area", "drawing": drawing, "areas": [[0, 0, 4, 4], [6, 2, 2, 2]], "condition": condition,
            });
            let answer = ask(&mut session, &query).unwrap();
            let length = answer["numbers"]["length"].as_u64().unwrap();
            let numbers: Vec<u8> = session.kept[0].clone();
            assert_eq!(numbers.len() as u64, length);
            let words = numbers.chunks(4).map(|b| u32::from_le_bytes(b.try_into().unwrap()));
            words.collect::<Vec<u32>>()
        };
        // One instruction, and no pixel waits, in two areas of 16 and 4 pixels.
        assert_eq!(count(0.0, Value::Null), [1, 0].repeat(20));
        let late = || json!("const[0].r > 0.5");
        assert_eq!(count(0.25, late()), [0].repeat(20));
        assert_eq!(count(0.75, late()), [1].repeat(20));
        assert_eq!(count(0.25, late()), [0].repeat(20));
    }

    #[test]
    fn invalid_requests_are_errors() {
        let mut session = Session::default();
        assert!(session.answer(b"").is_err());
        for request in [
            json!({ "do": "nothing" }),
            json!({ "do": "open", "name": "x", "length": 5 }),
            json!({ "do": "load", "text": "OUT" }),
            json!({ "do": "draw", "size": [1, 1], "time": 0, "bands": [], "limit": 1 }),
            json!({ "do": "encoding", "index": 0 }),
            json!({ "do": "go", "how": "step" }),
        ] {
            assert!(ask(&mut session, &request).is_err(), "{request}");
        }
        ask(&mut session, &json!({ "do": "load", "text": SOURCE })).unwrap();
        for breakpoint in [
            json!({ "condition": "tmp[0].r > 1" }),
            json!({ "condition": "temp[0].r" }),
            json!({ "changes": "" }),
            json!({ "address": 0, "hits": "often" }),
            json!({ "address": 0, "message": "{temp[0].r" }),
            json!({ "message": "no place" }),
        ] {
            let check = json!({ "do": "checkBreakpoint", "breakpoint": breakpoint });
            assert!(ask(&mut session, &check).is_err(), "{check}");
        }
        let drawing = json!({ "size": [8, 4], "time": 0, "bands": [[0, 5]], "limit": 100 });
        let mut draw = drawing.clone();
        draw["do"] = json!("draw");
        assert!(ask(&mut session, &draw).is_err(), "rows outside of the picture");
        let record = json!({ "do": "record", "drawing": drawing, "pixel": [8, 0] });
        assert!(ask(&mut session, &record).is_err(), "a pixel outside of the picture");
        for (area, condition) in [([0, 0, 4, 4], json!("temp[")), ([5, 0, 4, 4], json!(null))] {
            let query = json!({
                "do": "area", "drawing": drawing, "areas": [area], "condition": condition,
            });
            assert!(ask(&mut session, &query).is_err(), "{query}");
        }
    }
}
