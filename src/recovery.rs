//! Settings that a killed experiment left changed: put back by whatever command comes next.

use std::path::Path;
use std::process::ExitCode;

use lab::{RecoverError, Restored};

use crate::failure::Failure;
use crate::output;

/// The exit status for settings that could not be put back.
pub(crate) const NOT_PUT_BACK: u8 = 3;

/// At the start of any command: one look at where a journal would be. What is found is put
/// back and told on stderr; the command goes on whatever comes of it.
pub(crate) fn at_start() {
    let own = lab::state_dir();
    for state in lab::stale(&own) {
        match lab::recover(&state) {
            // An experiment at work needs no help.
            Err(RecoverError::Live { .. }) | Ok(None) => {}
            Ok(Some(restored)) => tell(&restored),
            Err(e) => output::message(&e.to_string()),
        }
    }
}

/// `sonde try --recover`: does only that.
pub(crate) fn recover() -> Result<ExitCode, Failure> {
    let own = lab::state_dir();
    let mut status = ExitCode::SUCCESS;
    let stale = lab::stale(&own);
    if stale.is_empty() {
        output::message(&format!(
            "no experiment has left anything changed (looked in {})",
            own.display()
        ));
    }
    for state in stale {
        match recovered(&state)? {
            Some(restored) if !restored.is_whole() => status = ExitCode::from(NOT_PUT_BACK),
            _ => {}
        }
    }
    Ok(status)
}

fn recovered(state: &Path) -> Result<Option<Restored>, Failure> {
    let restored = lab::recover(state).map_err(|e| match e {
        RecoverError::Live { .. } => Failure::input(e),
        RecoverError::Journal { .. } => Failure {
            text: e.to_string(),
            code: NOT_PUT_BACK,
        },
    })?;
    match &restored {
        Some(restored) => tell(restored),
        None => output::message("everything was put back already"),
    }
    Ok(restored)
}

/// The guardian's life. What it put back it tells on the terminal of who was killed.
pub(crate) fn guard(arguments: &[std::ffi::OsString]) -> ExitCode {
    match lab::guard(arguments) {
        Ok(None) => ExitCode::SUCCESS,
        Ok(Some(restored)) => {
            tell(&restored);
            ExitCode::from(if restored.is_whole() { 0 } else { NOT_PUT_BACK })
        }
        Err(e) => {
            output::message(&format!("the guardian of an experiment: {e}"));
            ExitCode::from(NOT_PUT_BACK)
        }
    }
}

/// What became of the settings of an experiment that did not end by itself.
fn tell(restored: &Restored) {
    for line in lines(restored) {
        output::message(&line);
    }
}

fn lines(restored: &Restored) -> Vec<String> {
    let mut lines = Vec::new();
    let counted = |n: usize| output::counted(n as u64, "setting");
    if !restored.volatile.is_empty() {
        lines.push(format!(
            "the machine was restarted during an experiment: {} began anew with it",
            counted(restored.volatile.len())
        ));
    }
    let written: Vec<String> = restored
        .done
        .iter()
        .filter(|d| d.written)
        .map(|d| format!("{} = {}", d.knob, d.value.replace('\n', "; ")))
        .collect();
    if !written.is_empty() {
        lines.push(format!(
            "an experiment was killed; put back {}: {}",
            counted(written.len()),
            written.join(", ")
        ));
    } else if restored.is_whole() && restored.volatile.is_empty() {
        lines.push("an experiment was killed; its settings are as they were".into());
    }
    lines.extend(restored.complaint().lines().map(str::to_owned));
    if restored.failed.iter().any(|f| !f.gone) {
        lines.push("then: sonde try --recover".into());
    }
    lines
}
