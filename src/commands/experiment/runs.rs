//! The runs that a path stands for: a run itself, or an arm of an experiment.

use std::path::{Path, PathBuf};

use lab::experiment::{Logbook, Role, Stage, State};

use crate::failure::Failure;

/// Runs by a path that was given.
pub(crate) struct Given {
    /// The runs.
    pub(crate) runs: Vec<PathBuf>,
    /// The experiment and the block of each, if they are an arm of one.
    pub(crate) blocks: Option<(PathBuf, Vec<usize>)>,
}

/// A run, an experiment (its baseline), or `DIR:ARM`: the trials of an arm that count.
pub(crate) fn given(path: &Path) -> Result<Given, Failure> {
    if Logbook::is_in(path) {
        return arm(path, None);
    }
    let text = path.to_string_lossy();
    if !path.exists()
        && let Some((dir, name)) = text.rsplit_once(':')
        && Logbook::is_in(Path::new(dir))
    {
        return arm(Path::new(dir), Some(name));
    }
    Ok(Given {
        runs: vec![path.to_path_buf()],
        blocks: None,
    })
}

/// What to say of an experiment where a run is wanted; `None` if there is none in `path`.
pub(crate) fn an_experiment(path: &Path) -> Option<Failure> {
    if path.join("run.json").exists() || !Logbook::is_in(path) {
        return None;
    }
    let book = Logbook::open(path).ok();
    let trial = book.as_ref().and_then(|book| {
        let done = |t: &&lab::experiment::Trial| t.state == State::Done;
        book.trials.iter().rev().find(done)
    });
    let example = trial.map_or_else(String::new, |t| {
        format!(", for example {}", path.join(&t.run).display())
    });
    Some(Failure::input(format!(
        "{} is an experiment, not a run\nhint: `sonde show`, `report` and `compare` understand it; \
         its trials are runs{example}",
        path.display()
    )))
}

fn arm(dir: &Path, name: Option<&str>) -> Result<Given, Failure> {
    let book = Logbook::open(dir).map_err(Failure::input)?;
    let arm = book.arms.iter().find(|a| match name {
        Some(name) => a.name == name,
        None => a.role == Role::Baseline,
    });
    let Some(arm) = arm else {
        let names = book.arms.iter().map(|a| a.name.as_str());
        return Err(Failure::input(format!(
            "{} has no arm `{}`\nhint: {}",
            dir.display(),
            name.unwrap_or("baseline"),
            analysis::error::near_or_all(name.unwrap_or_default(), names)
        )));
    };
    let mut counts: Vec<_> = book
        .trials
        .iter()
        .filter(|t| t.stage == Stage::Block && t.state == State::Done && t.arm == arm.name)
        .collect();
    counts.sort_by_key(|t| t.block);
    if counts.is_empty() {
        return Err(Failure::input(format!(
            "{}: no trial of {} is complete",
            dir.display(),
            arm.name
        )));
    }
    let place = dir.canonicalize().unwrap_or_else(|_| dir.to_path_buf());
    Ok(Given {
        runs: counts.iter().map(|t| dir.join(&t.run)).collect(),
        blocks: Some((place, counts.iter().map(|t| t.block).collect())),
    })
}
