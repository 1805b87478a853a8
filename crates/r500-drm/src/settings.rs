//! Settings of the virtual card, passed from `r500 card` to the library in environment variables.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use r500_stream::Chip;

/// Settings of the card: the chip, and the handling of submissions and frames.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The chip.
    pub chip: Chip,
    /// Whether to execute submissions. Otherwise buffers keep the program's contents.
    pub draw: bool,
    /// Whether to execute a submission before its request returns, instead of on a background thread.
    pub sync: bool,
    /// Whether to refuse submissions that the kernel's driver would refuse.
    pub check: bool,
    /// Whether to print counts when the program ends.
    pub stats: bool,
    /// The capture file. If it exists when a process starts, as for the second process of a program, the next free of
    /// `NAME.1.r5cs`, `NAME.2.r5cs`… is used.
    pub capture: Option<PathBuf>,
    /// The directory for PNG files of the displayed frames.
    pub frames: Option<PathBuf>,
    /// Name of the [`FrameListener`](crate::FrameListener) for the displayed frames.
    pub window: Option<String>,
    /// Name of the [`InputListener`](crate::InputListener) for keyboard and mouse; `None` for a card without them.
    pub input: Option<String>,
    /// Whether frames that are shown or written have the numbers of the frame drawn over them.
    pub overlay: bool,
    /// The trace of submissions, draws and waits. Files of later processes are numbered as captures are.
    pub profile: Option<PathBuf>,
    /// Width and height of the screen in pixels.
    pub mode: [u16; 2],
    /// The name of the engine for fragment programs, for the machine; `None` for its usual one. All engines give the same bits.
    pub engine: Option<String>,
    /// Readings as NAME=VALUE, for the machine.
    pub readings: Vec<String>,
    /// The time that a submission may take, for the machine; zero for any time.
    pub limit_time: Duration,
    /// A process without which its children on the card must not continue: they are killed when it ends.
    pub parent: Option<u32>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            chip: Chip::default(),
            draw: true,
            sync: false,
            check: true,
            stats: false,
            capture: None,
            frames: None,
            window: None,
            input: None,
            overlay: false,
            profile: None,
            mode: [1024, 768],
            engine: None,
            readings: Vec::new(),
            limit_time: Self::LIMIT_TIME,
            parent: None,
        }
    }
}

const CHIP: &str = "R500_CARD_CHIP";
const DRAW: &str = "R500_CARD_DRAW";
const SYNC: &str = "R500_CARD_SYNC";
const CHECK: &str = "R500_CARD_CHECK";
const STATS: &str = "R500_CARD_STATS";
const CAPTURE: &str = "R500_CARD_CAPTURE";
const FRAMES: &str = "R500_CARD_FRAMES";
const WINDOW: &str = "R500_CARD_WINDOW";
const INPUT: &str = "R500_CARD_INPUT";
const OVERLAY: &str = "R500_CARD_OVERLAY";
const PROFILE: &str = "R500_CARD_PROFILE";
const MODE: &str = "R500_CARD_MODE";
const ENGINE: &str = "R500_CARD_ENGINE";
const READINGS: &str = "R500_CARD_READINGS";
const LIMIT_TIME: &str = "R500_CARD_LIMIT_TIME";
const PARENT: &str = "R500_CARD_PARENT";

/// A variable with an invalid value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name}={value:?}: {expected}")]
pub struct SettingsError {
    /// The variable.
    pub name: &'static str,
    /// Its value.
    pub value: String,
    /// Its valid values.
    pub expected: String,
}

impl Settings {
    /// The usual [`limit_time`](Self::limit_time).
    pub const LIMIT_TIME: Duration = Duration::from_secs(120);

    /// Returns whether the times of submissions and draws are measured.
    pub fn measures(&self) -> bool {
        self.overlay || self.profile.is_some()
    }

    /// Returns the environment variables of these settings: all of them, `None` for those that must not be set.
    pub fn variables(&self) -> Vec<(&'static str, Option<OsString>)> {
        let switch = |on: bool| Some(OsString::from(if on { "1" } else { "0" }));
        let path = |path: &Option<PathBuf>| path.clone().map(PathBuf::into_os_string);
        vec![
            (CHIP, Some(self.chip.name().into())),
            (DRAW, switch(self.draw)),
            (SYNC, switch(self.sync)),
            (CHECK, switch(self.check)),
            (STATS, switch(self.stats)),
            (CAPTURE, path(&self.capture)),
            (FRAMES, path(&self.frames)),
            (WINDOW, self.window.clone().map(OsString::from)),
            (INPUT, self.input.clone().map(OsString::from)),
            (OVERLAY, switch(self.overlay)),
            (PROFILE, path(&self.profile)),
            (MODE, Some(format!("{}x{}", self.mode[0], self.mode[1]).into())),
            (ENGINE, self.engine.clone().map(OsString::from)),
            (READINGS, Some(self.readings.join(",").into())),
            (LIMIT_TIME, Some(self.limit_time.as_secs_f64().to_string().into())),
            (PARENT, self.parent.map(|process| process.to_string().into())),
        ]
    }

    /// Reads the settings from environment variables; missing ones have the default.
    pub fn from_variables(get: impl Fn(&str) -> Option<OsString>) -> Result<Self, SettingsError> {
        let mut settings = Self::default();
        let text = |name| get(name).map(|value| value.to_string_lossy().into_owned());
        if let Some(value) = text(CHIP) {
            settings.chip = value.parse().map_err(|e: r500_stream::UnknownChip| SettingsError {
                name: CHIP,
                value,
                expected: e.to_string(),
            })?;
        }
        for (name, on) in [
            (DRAW, &mut settings.draw),
            (SYNC, &mut settings.sync),
            (CHECK, &mut settings.check),
            (STATS, &mut settings.stats),
            (OVERLAY, &mut settings.overlay),
        ] {
            match text(name).as_deref() {
                None => {}
                Some("0" | "") => *on = false,
                Some("1") => *on = true,
                Some(value) => return Err(wrong(name, value, "0 or 1")),
            }
        }
        settings.capture = get(CAPTURE).map(PathBuf::from);
        settings.frames = get(FRAMES).map(PathBuf::from);
        settings.window = text(WINDOW);
        settings.input = text(INPUT);
        settings.profile = get(PROFILE).map(PathBuf::from);
        settings.engine = text(ENGINE);
        if let Some(value) = text(READINGS) {
            let readings = value.split(',').filter(|reading| !reading.is_empty());
            settings.readings = readings.map(str::to_owned).collect();
        }
        if let Some(value) = text(LIMIT_TIME) {
            let seconds = value.parse().ok().map(Duration::try_from_secs_f64);
            settings.limit_time = seconds
                .and_then(Result::ok)
                .ok_or_else(|| wrong(LIMIT_TIME, &value, "a number of seconds"))?;
        }
        if let Some(value) = text(PARENT) {
            let process = value.parse().map_err(|_| wrong(PARENT, &value, "a process number"))?;
            settings.parent = Some(process);
        }
        if let Some(value) = text(MODE) {
            let size =
                value.split_once('x').and_then(|(w, h)| Some([w.parse().ok()?, h.parse().ok()?]));
            let fits = size.filter(|size| size.iter().all(|side| (1..=4096).contains(side)));
            settings.mode =
                fits.ok_or_else(|| wrong(MODE, &value, "WIDTHxHEIGHT, 1 to 4096 each"))?;
        }
        Ok(settings)
    }
}

fn wrong(name: &'static str, value: &str, expected: &str) -> SettingsError {
    SettingsError { name, value: value.to_owned(), expected: expected.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn through_variables(settings: &Settings) -> Result<Settings, SettingsError> {
        let variables = settings.variables();
        Settings::from_variables(|name| {
            let found = variables.iter().find(|(n, _)| *n == name);
            found.and_then(|(_, value)| value.clone())
        })
    }

    #[test]
    fn settings_pass_through_variables() {
        let other = Settings {
            chip: Chip::R580,
            draw: false,
            sync: true,
            check: false,
            stats: true,
            capture: Some("a b.r5cs".into()),
            frames: Some("/frames".into()),
            window: Some("screen".into()),
            input: Some("keys".into()),
            overlay: true,
            profile: Some("out.json".into()),
            mode: [640, 480],
            engine: Some("jit".into()),
            readings: vec!["subpixel=256".into(), "guard-band=wide".into()],
            limit_time: Duration::from_millis(1500),
            parent: Some(1234),
        };
        for settings in [Settings::default(), other] {
            assert_eq!(through_variables(&settings), Ok(settings));
        }
        assert_eq!(Settings::from_variables(|_| None), Ok(Settings::default()));
    }

    #[test]
    fn wrong_values_are_named() {
        for (name, value) in [
            (CHIP, "r600"),
            (SYNC, "yes"),
            (MODE, "0x5"),
            (MODE, "800"),
            (LIMIT_TIME, "-1"),
            (PARENT, "x"),
        ] {
            let get = |n: &str| (n == name).then(|| value.into());
            assert_eq!(Settings::from_variables(get).map_err(|e| e.name), Err(name));
        }
    }
}
