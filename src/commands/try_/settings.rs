//! The knobs of an experiment: read, checked, set for each arm, put back.

use std::collections::BTreeMap;

use lab::experiment::{Arm, Factor, Kind};
use lab::{Allow, Knob, Restored};

use crate::failure::Failure;

/// The knobs, and the journal that puts them back.
pub(super) struct Settings {
    knobs: Vec<Knob>,
    journal: Option<lab::Experiment>,
}

impl Settings {
    /// The knobs of those factors that are settings. Their present values become the factors'
    /// baselines; every value is checked.
    pub(super) fn of(factors: &mut [Factor], allow: Allow) -> Result<Settings, Failure> {
        let mut knobs = Vec::new();
        for factor in factors.iter_mut().filter(|f| f.kind == Kind::Setting) {
            let knob = Knob::parse(&factor.name, allow).map_err(Failure::input)?;
            factor.base = knob.read().map_err(Failure::input)?;
            for value in &mut factor.values {
                knob.check(value).map_err(Failure::input)?;
                if knob.same(value, &factor.base) {
                    // `4k` and 4096 are one arm.
                    value.clone_from(&factor.base);
                }
            }
            knobs.push(knob);
        }
        Ok(Settings {
            knobs,
            journal: None,
        })
    }

    /// Opens the journal, and makes the machine each arm once: what the kernel refuses or keeps
    /// differently is told before the first trial.
    pub(super) fn begin(&mut self, what: &str, arms: &[Arm]) -> Result<(), Failure> {
        if self.knobs.is_empty() {
            return Ok(());
        }
        let begun = lab::Experiment::begin(&lab::state_dir(), what, &self.knobs);
        let journal = self.journal.insert(begun.map_err(Failure::input)?);
        let all: Vec<_> = arms
            .iter()
            .map(|a| changes(&self.knobs, &a.values))
            .collect();
        journal.rehearse(&all).map_err(Failure::input)
    }

    /// What the kernel keeps of a value of that factor; the value itself where it is no setting.
    pub(super) fn keeps(&mut self, factor: &Factor, value: &str) -> Result<String, Failure> {
        let knob = self.knobs.iter().find(|k| k.name() == factor.name);
        match (knob, &mut self.journal) {
            (Some(knob), Some(journal)) => journal.keeps(knob, value).map_err(Failure::work),
            _ => Ok(value.to_owned()),
        }
    }

    /// Makes the machine an arm: everything as at the start, and then what the arm changes.
    pub(super) fn apply(&mut self, values: &BTreeMap<String, String>) -> Result<(), Failure> {
        let Some(journal) = &mut self.journal else {
            return Ok(());
        };
        told(&journal.put_back())?;
        let changes = changes(&self.knobs, values);
        journal.set_all(&changes).map_err(Failure::work)
    }

    /// The first knob that is not as the arm has it.
    pub(super) fn changed(&self, values: &BTreeMap<String, String>) -> Option<String> {
        self.knobs.iter().find_map(|knob| {
            let wanted = values.get(knob.name())?;
            match knob.read() {
                Ok(is) if knob.same(&is, wanted) => None,
                Ok(is) => Some(format!("{} is {is}, not {wanted}", knob.name())),
                Err(why) => Some(why.to_string()),
            }
        })
    }

    /// Puts everything back and closes the journal.
    pub(super) fn end(&mut self) -> Result<(), Failure> {
        match self.journal.take() {
            Some(journal) => told(&journal.end()),
            None => Ok(()),
        }
    }
}

/// The knobs that those values set.
fn changes(knobs: &[Knob], values: &BTreeMap<String, String>) -> Vec<(Knob, String)> {
    let of = |knob: &Knob| Some((knob.clone(), values.get(knob.name())?.clone()));
    knobs.iter().filter_map(of).collect()
}

fn told(restored: &Restored) -> Result<(), Failure> {
    if restored.is_whole() {
        return Ok(());
    }
    Err(Failure {
        text: restored.complaint(),
        code: crate::recovery::NOT_PUT_BACK,
    })
}
