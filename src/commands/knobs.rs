//! `sonde knobs`: settings of this machine that an experiment may change.

use std::fmt::Write;
use std::process::ExitCode;

use clap::{Arg, ArgMatches, Command};
use lab::{Allow, Family, KNOBS, Knob, KnobError, Values};
use serde_json::{Value, json};
use surfaces::table::wrapped;

use super::{Entry, flag};
use crate::failure::Failure;
use crate::output;

/// The command.
pub(crate) const ENTRY: Entry = Entry {
    name: "knobs",
    about: "Settings that an experiment may change, with their present values",
    arguments,
    run,
};

fn arguments(command: Command) -> Command {
    command
        .arg(
            Arg::new("name")
                .value_name("NAME")
                .num_args(0..)
                .help("A knob, or the front of its name: disk:vda.scheduler, net:eth0, sysctl:vm"),
        )
        .arg(flag("json", "As JSON"))
        .arg(flag("allow-file", "Let file:PATH be a knob"))
        .arg(flag("markdown", "The reference page of all families"))
        .after_help(
            "Without NAME: those of this machine that are worth a look. Control groups and\n\
             modules are many; they are listed by name: sonde knobs cgroup:/PATH module:zfs",
        )
}

fn run(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    if matches.get_flag("markdown") {
        output::data(&markdown());
        return Ok(ExitCode::SUCCESS);
    }
    let allow = Allow {
        files: matches.get_flag("allow-file"),
    };
    let asked: Vec<&String> = matches.get_many("name").into_iter().flatten().collect();
    let (mut shown, mut wrong) = (Vec::new(), Vec::new());
    if asked.is_empty() {
        shown.extend(
            lab::knobs::names("")
                .iter()
                .filter_map(|n| Shown::of(n, allow).ok()),
        );
    }
    for name in &asked {
        match of(name, allow) {
            Ok(knobs) => shown.extend(knobs),
            Err(e) => wrong.push(e.to_string()),
        }
    }
    if matches.get_flag("json") {
        let list: Vec<Value> = shown.iter().map(Shown::json).collect();
        output::data(&format!("{}\n", json!(list)));
    } else {
        output::data(&text(&shown, asked.is_empty()));
    }
    for problem in &wrong {
        output::message(problem);
    }
    Ok(ExitCode::from(if wrong.is_empty() { 0 } else { 2 }))
}

/// A knob as it is now.
struct Shown {
    knob: Knob,
    value: String,
    values: Values,
}

impl Shown {
    fn of(name: &str, allow: Allow) -> Result<Shown, KnobError> {
        let knob = Knob::parse(name, allow)?;
        Ok(Shown {
            value: knob.read()?,
            values: knob.values(),
            knob,
        })
    }

    fn json(&self) -> Value {
        let refused = self.knob.check(&self.value).err();
        json!({
            "name": self.knob.name(),
            "value": self.value,
            "allowed": self.knob.allowed(),
            "takes": self.values.described(),
            "about": self.knob.about(),
            "reset_by": self.knob.reset_by(),
            "settable": refused.is_none(),
            "refused": refused.map(|e| e.to_string()),
        })
    }

    fn text(&self, width: usize) -> String {
        let value = output::one_line(&self.value.trim_end().replace('\n', "; "));
        let value = if value.is_empty() {
            "(nothing)".to_owned()
        } else {
            value
        };
        let mut text = format!("{} = {value}\n", self.knob.name());
        if text.chars().count() > width {
            text = format!("{} =\n", self.knob.name());
            text += &wrapped("        ", &value, width);
        }
        text += &wrapped("    ", &format!("{}.", self.knob.about()), width);
        text += &wrapped("    takes ", &self.values.described(), width);
        if let Some(by) = self.knob.reset_by() {
            text += &wrapped("    reset by ", by, width);
        }
        text
    }
}

/// The knob of that name, or those whose names begin with it.
fn of(name: &str, allow: Allow) -> Result<Vec<Shown>, KnobError> {
    let exact = Shown::of(name, allow);
    // `thp` and `cpufreq` are knobs and families.
    if exact.is_ok() && name.contains(':') {
        return exact.map(|one| vec![one]);
    }
    let names = lab::knobs::names(name);
    let found: Vec<Shown> = names
        .iter()
        .filter_map(|n| Shown::of(n, allow).ok())
        .collect();
    match (exact, found.is_empty()) {
        (Ok(one), true) => Ok(vec![one]),
        (Err(e), true) => match KNOBS
            .iter()
            .find(|f| f.prefix == name.trim_end_matches(':'))
        {
            Some(family) => Err(KnobError::Unknown {
                name: name.to_owned(),
                why: "the family is too large to list, or this machine has none of it".into(),
                hint: format!("names are {}", family.form),
            }),
            None => Err(e),
        },
        (_, false) => Ok(found),
    }
}

fn text(shown: &[Shown], all: bool) -> String {
    let width = output::terminal_size()
        .map_or(80, |s| usize::from(s.0))
        .clamp(60, 100);
    let mut text = String::new();
    let mut family = "";
    for one in shown {
        if one.knob.family().prefix != family {
            family = one.knob.family().prefix;
            let gap = if text.is_empty() { "" } else { "\n" };
            text += &wrapped(
                gap,
                &format!("{}: {}", family.to_uppercase(), one.knob.family().about),
                width,
            );
        }
        text += &one.text(width);
    }
    if all {
        text += "\nMore by name:\n";
        for family in KNOBS
            .iter()
            .filter(|f| !shown.iter().any(|s| s.knob.family().prefix == f.prefix))
        {
            text += &wrapped(&format!("  {:<34}", family.form), family.about, width);
        }
    }
    text
}

/// `docs/reference/knobs.md`.
fn markdown() -> String {
    let mut text = String::from(
        "# Knobs\n\nMade by `sonde knobs --markdown` from `KNOBS` in `crates/lab/src/knobs/mod.rs`; \
         do not edit.\n`sonde knobs` shows those of this machine with their values. How they are \
         put back: [undo](../concepts/undo.md).\n",
    );
    for family in KNOBS {
        text += &of_family(family);
    }
    text
}

fn of_family(family: &Family) -> String {
    let mut text = String::new();
    let _ = write!(
        text,
        "\n## {}\n\n`{}`: {}. [The kernel's page]({}).\n\n| name | does | reset by |\n| --- | --- | --- |\n",
        family.prefix, family.form, family.about, family.link
    );
    for field in family.fields {
        let name = if field.name == "*" {
            "any other"
        } else {
            &format!("`{}`", field.name)
        };
        let _ = writeln!(
            text,
            "| {name} | {} | {} |",
            field.about.replace('|', "\\|"),
            field.reset_by
        );
    }
    text
}
