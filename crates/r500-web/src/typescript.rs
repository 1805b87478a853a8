//! The TypeScript declarations of requests and answers: `web/src/machine/requests.ts`, generated from the types of this
//! crate.

#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;
use std::path::Path;

use ts_rs::{Config, TS};

use crate::{
    analysis, area, compare, document, encoding, expect, gpu, language, look, message, open,
    optimize, picture, request, scene, shader, step,
};

/// Declares types, each with its documentation, and the answer type of each request.
macro_rules! typescript {
    (types { $($ty:ty),* $(,)? } answers { $($request:ident => $answer:ty),* $(,)? }) => {{
        let config = Config::default().with_large_int("number");
        let mut text = String::from("// Generated from crates/r500-web by `BLESS=1 cargo test -p r500-web`; do not edit.\n");
        $({
            text.push('\n');
            if let Some(docs) = <$ty as TS>::docs() {
                text.push_str(docs.trim_end());
                text.push('\n');
            }
            let _ = writeln!(text, "export {}", <$ty as TS>::decl(&config));
        })*
        text.push_str("\n/** The answer to each request, by its name. */\nexport interface Answers {\n");
        $({ let _ = writeln!(text, "  {}: {};", stringify!($request), <$answer as TS>::name(&config)); })*
        text.push_str("}\n");
        text.lines().map(|line| format!("{}\n", line.trim_end())).collect::<String>()
    }};
}

fn generated() -> String {
    typescript! {
        types {
            document::Range, document::TextEdit,
            analysis::Analysis, analysis::Diagnostic, analysis::Fix, analysis::Instruction, analysis::Constant,
            analysis::IntConstant, analysis::Uniform, analysis::Texture, analysis::Number, analysis::DrawProgram,
            open::Opened,
            encoding::Encoding, encoding::Word, encoding::Field, encoding::Value,
            crate::bytes::Bytes, look::Look, picture::Mouse, picture::Drawing, picture::Loaded, picture::Drawn, picture::Band, picture::LiveTexels, picture::LiveUnit,
            gpu::GpuShader, gpu::GpuTexture, gpu::GpuLevel, gpu::GpuSampler, gpu::GpuTest,
            expect::Judged, compare::CompareOptions, compare::Compared, compare::DivergenceView,
            language::Hover, language::Completion, language::Renamable,
            optimize::Optimized, optimize::Cost, optimize::Change,
            shader::CompiledShader, shader::LineCost, shader::Limit, shader::Setting,
            step::Going, step::How, step::Breakpoint, step::Recorded, step::Shown, step::LaneShown, step::LoopShown,
            crate::operands::HalfShown, crate::operands::OperandShown, step::Did, step::What, step::Written,
            area::AreaQuery, area::AreaResult,
            scene::SceneDrawn, scene::SceneRecorded,
            message::Source, message::FileLength, request::Request,
        }
        answers {
            open => open::Opened,
            analyse => analysis::Analysis,
            load => picture::Loaded,
            draw => picture::Drawn,
            show => Vec<picture::Band>,
            values => Vec<picture::Band>,
            shader => gpu::GpuShader,
            uniforms => crate::bytes::Bytes,
            gpuTest => gpu::GpuTest,
            gpuFailures => Vec<String>,
            shown => crate::bytes::Bytes,
            expect => Vec<expect::Judged>,
            compare => compare::Compared,
            gif => crate::bytes::Bytes,
            encoding => encoding::Encoding,
            editField => Vec<document::TextEdit>,
            editConstant => Vec<document::TextEdit>,
            editInt => Vec<document::TextEdit>,
            editTexture => Vec<document::TextEdit>,
            flow => String,
            write => crate::bytes::Bytes,
            hover => Option<language::Hover>,
            complete => Vec<language::Completion>,
            tokens => Vec<(usize, usize, &'static str)>,
            definition => Option<document::Range>,
            references => Vec<document::Range>,
            renamable => Option<language::Renamable>,
            rename => Vec<document::TextEdit>,
            format => Vec<document::TextEdit>,
            fixAll => Vec<document::TextEdit>,
            optimize => optimize::Optimized,
            compile => shader::CompiledShader,
            editShader => Vec<document::TextEdit>,
            record => step::Recorded,
            go => step::Shown,
            checkBreakpoint => (),
            area => area::AreaResult,
            page => Option<String>,
            analyseScene => analysis::Analysis,
            loadScene => picture::Loaded,
            drawScene => scene::SceneDrawn,
            showScene => crate::bytes::Bytes,
            sceneValues => crate::bytes::Bytes,
            expectScene => Vec<expect::Judged>,
            recordScene => scene::SceneRecorded,
            sceneCapture => crate::bytes::Bytes,
        }
    }
}

#[test]
fn the_types_of_the_page_are_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/src/machine/requests.ts");
    let wanted = generated();
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &wanted).unwrap();
    }
    let checked_in = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        checked_in == wanted,
        "{} is out of date: BLESS=1 cargo test -p r500-web",
        path.display()
    );
}
