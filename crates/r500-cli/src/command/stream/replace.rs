//! `--replace`: a capture with other dwords in one submission.

use std::path::Path;

use r500_stream::capture::{Reader, ReplaceError, Writer, replace_submission};
use r500_stream::counted;
use r500_stream::kernel::check;

use super::Stream;
use super::source::{Content, Source};
use crate::command::capture_args::out_of_range;
use crate::command::exit::{Failure, Outcome, Status};
use crate::command::output_file::OutputFile;
use crate::command::terminal;

impl Stream {
    /// Writes the capture with the dwords of `with` as submission `number`.
    pub(super) fn replace(&self, source: &Source, number: u64, with: &Path) -> Outcome {
        let Content::Capture(bytes) = &source.content else {
            return Err(Failure::usage("--replace changes a capture; this is one stream"));
        };
        let Some(output) = &self.output else {
            return Err(Failure::usage("--replace writes a capture; give -o FILE"));
        };
        let Content::Words(changed) = Source::read(with, source.limits)?.content else {
            return Err(Failure::usage(format!(
                "{}: this is a capture; --with takes one submission, as `--submission {number}` prints it",
                with.display()
            )));
        };
        // Before the output is created. The relocations stay those of the capture.
        let (mut count, mut refused) = (0, None);
        let rights = source.rights()?;
        source.submissions(|at, submission| {
            count += 1;
            if at == number {
                let mut submission = submission.clone();
                submission.words.clone_from(&changed.words);
                refused = check(&submission, rights).err();
            }
            Ok(())
        })?;
        if number >= count {
            return Err(out_of_range("submission", number, count));
        }
        if let Some(rejection) = refused {
            terminal::warn(&format!("the kernel would refuse the submission: {rejection}"));
        }
        let file = OutputFile::create(output)?;
        let mut reader = Reader::new(&bytes[..]).map_err(Failure::input)?;
        let mut writer = Writer::new(file.writer())?;
        let done = replace_submission(&mut reader, &mut writer, number, &changed.words);
        let done = done.map_err(|error| match error {
            ReplaceError::Write(error) => Failure::from(error),
            error => Failure::input(error),
        })?;
        drop(writer);
        file.commit()?;
        let left_out = match done.hashes {
            0 => String::new(),
            hashes => format!(
                "; {} of what the old one drew {} left out",
                counted(hashes, "record"),
                if hashes == 1 { "is" } else { "are" }
            ),
        };
        terminal::note(&format!("wrote {}{left_out}", output.display()));
        Ok(Status::Fine)
    }
}
