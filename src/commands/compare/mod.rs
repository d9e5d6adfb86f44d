//! `sonde compare A... --vs B...`: did it change?

mod comparable;
mod doubts;
mod json;
mod shown;
mod told;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use analysis::compare::{
    Compared, Drawing, MACHINE, Metric, Shift, WORKLOAD, compare, compare_in_blocks, shifts,
};
use analysis::stats::bootstrap::DRAWS;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use run::Run;

use super::{Entry, experiment, flag, picture};
use crate::failure::Failure;
use crate::output;

/// The command.
pub(crate) const ENTRY: Entry = Entry {
    name: "compare",
    about: "Compare runs with runs: what changed, by how much, and how sure that is",
    arguments,
    run,
};

fn arguments(command: Command) -> Command {
    let runs = |name: &'static str, help: &'static str| {
        Arg::new(name)
            .required(true)
            .num_args(1..)
            .value_parser(value_parser!(PathBuf))
            .value_hint(clap::ValueHint::DirPath)
            .help(help)
    };
    command
        .arg(runs("a", "Runs before the change; of an experiment its baseline, or DIR:ARM").value_name("A"))
        .arg(runs("b", "Runs after it").value_name("B").long("vs"))
        .arg(
            Arg::new("metric")
                .long("metric")
                .short('m')
                .value_name("[pN ]EXPR[:higher|:lower]")
                .action(ArgAction::Append)
                .help("What to compare, and which way is better; may be given again [default: the workload's own throughput and latency, else disks, networks and processors]"),
        )
        .arg(
            flag("with-failed", "Count runs whose command failed, too")
                .id("with_failed"),
        )
        .arg(flag("json", "As JSON"))
        .arg(picture::file_argument(
            "Also draw all ratios with their intervals, as FILE.png or FILE.svg",
        ))
        .arg(picture::size_argument(
            "Pixels of the picture [default: 1200 wide, as high as needed]",
        ))
        .after_help(
            "A run is one number: what is measured inside it is correlated, and more\n\
             seconds are not more runs. Four runs a side are the least that can decide one\n\
             metric at 5 %; with several metrics more are needed. Examples:\n  \
             sonde compare old-* --vs new-*\n  \
             sonde compare a1 a2 a3 a4 --vs b1 b2 b3 b4 -m disk.bytes \\\n    \
             -m 'p99 disk.ios by latency where op = read'\n  \
             sonde compare DIR --vs DIR:mq-deadline   (arms of an experiment)\n  \
             sonde compare old --vs new -m 'cpu.utilisation where phase = steady:lower'",
        )
}

/// Where chance decides, it decides the same each time.
const SEED: u64 = 1;

/// The runs of one side.
pub(super) struct Side {
    pub(super) name: &'static str,
    /// Those that count.
    pub(super) runs: Vec<Run>,
    /// Those that do not, since their command failed.
    pub(super) failed: Vec<Run>,
    /// The experiment whose arm they are, and the block of each.
    blocks: Option<(PathBuf, Vec<usize>)>,
}

impl Side {
    fn open(name: &'static str, matches: &ArgMatches, argument: &str) -> Result<Side, Failure> {
        let paths = matches.get_many::<PathBuf>(argument).into_iter().flatten();
        let open = |path: &PathBuf| -> Result<Run, Failure> {
            let run = Run::open(path)?;
            if let Some(text) = run.damage() {
                output::message(&text);
            }
            Ok(run)
        };
        let mut all: Vec<Run> = Vec::new();
        let mut blocks = None;
        for path in paths {
            let given = experiment::given(path)?;
            blocks = given.blocks.filter(|_| all.is_empty());
            for path in &given.runs {
                all.push(open(path)?);
            }
        }
        // What a crash left unfinished is no number of the setting.
        let counts =
            |run: &Run| matches.get_flag("with_failed") || comparable::failure(run).is_none();
        let (runs, failed): (Vec<Run>, Vec<Run>) = all.into_iter().partition(counts);
        if runs.is_empty() {
            return Err(Failure::input(format!(
                "the commands of all runs of {name} failed, so none counts\n\
                 hint: --with-failed counts them"
            )));
        }
        let blocks = blocks.filter(|_| failed.is_empty());
        Ok(Side {
            name,
            runs,
            failed,
            blocks,
        })
    }

    /// Keeps the runs of those blocks.
    fn keep(&mut self, wanted: &[usize]) {
        if let Some((_, blocks)) = &self.blocks {
            let runs = std::mem::take(&mut self.runs).into_iter().zip(blocks);
            let kept = runs.filter(|(_, block)| wanted.contains(block));
            self.runs = kept.map(|(run, _)| run).collect();
        }
    }
}

fn run(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    let file = picture::File::of(matches)?;
    let mut a = Side::open("A", matches, "a")?;
    let mut b = Side::open("B", matches, "b")?;
    if let Some(path) = twice(&a, &b) {
        return Err(Failure::input(format!(
            "{} is given twice: a run counts once",
            path.display()
        )));
    }
    let blocks = in_blocks(&mut a, &mut b);
    let metrics = metrics(matches, &a, &b)?;
    let all = if blocks {
        compare_in_blocks(&a.runs, &b.runs, &metrics)
    } else {
        compare(&a.runs, &b.runs, &metrics)
    };
    let all = known(all, matches.contains_id("metric"), a.runs.first())?;
    let told = Comparison::of(a, b, all, blocks);
    if let Some(file) = file {
        file.write(&shown::all(&told))?;
    }
    output::data(&if matches.get_flag("json") {
        json::json(&told)
    } else {
        told::text(&told, picture::colour_here())
    });
    Ok(ExitCode::SUCCESS)
}

/// All there is to tell.
struct Comparison {
    a: Side,
    b: Side,
    all: Vec<Compared>,
    /// Run i of A and run i of B ran in one block.
    blocks: bool,
    shifts: Vec<Shift>,
    doubts: doubts::Doubts,
    notes: Vec<String>,
    /// Path in the inventory, value in A, value in B.
    differences: Vec<[String; 3]>,
}

impl Comparison {
    fn of(a: Side, b: Side, all: Vec<Compared>, blocks: bool) -> Comparison {
        let metrics: Vec<Metric> = all.iter().map(|c| c.metric.clone()).collect();
        let drawing = Drawing {
            seed: SEED,
            draws: DRAWS,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
        };
        let doubts = doubts::Doubts::of(&a, &b, &all);
        let mut notes = comparable::notes(&a, &b);
        notes.extend(doubts.notes(&a, &b, &all));
        if blocks {
            notes.push("two arms of one experiment: compared block by block".to_owned());
        }
        Comparison {
            shifts: shifts(&a.runs, &b.runs, blocks, &metrics, drawing),
            differences: comparable::differences(&a, &b),
            doubts,
            notes,
            a,
            b,
            all,
            blocks,
        }
    }
}

/// Whether both are arms of one experiment; then only blocks that both ran are kept.
fn in_blocks(a: &mut Side, b: &mut Side) -> bool {
    let (Some((dir, one)), Some((other_dir, other))) = (&a.blocks, &b.blocks) else {
        return false;
    };
    if dir != other_dir {
        return false;
    }
    let both: Vec<usize> = one.iter().copied().filter(|n| other.contains(n)).collect();
    a.keep(&both);
    b.keep(&both);
    true
}

fn twice<'s>(a: &'s Side, b: &'s Side) -> Option<&'s Path> {
    let mut seen = std::collections::HashSet::new();
    let sides = [a, b].into_iter();
    let paths = sides
        .flat_map(|s| s.runs.iter().chain(&s.failed))
        .map(Run::path);
    let mut paths =
        paths.filter(|p| !seen.insert(p.canonicalize().unwrap_or_else(|_| p.to_path_buf())));
    paths.next()
}

fn metrics(matches: &ArgMatches, a: &Side, b: &Side) -> Result<Vec<Metric>, Failure> {
    let Some(given) = matches.get_many::<String>("metric") else {
        let both = || a.runs.iter().chain(&b.runs);
        let has = |run: &Run| run.tables().iter().any(|t| t.starts_with("workload"));
        let names: &[&str] = if both().all(has) { &WORKLOAD } else { &MACHINE };
        return Ok(names.iter().filter_map(|m| Metric::parse(m).ok()).collect());
    };
    let parse = |text: &String| {
        Metric::parse(text).map_err(|why| Failure::input(format!("--metric {text}: {why}")))
    };
    let mut metrics: Vec<Metric> = Vec::new();
    for metric in given.map(parse) {
        let metric = metric?;
        // What cannot be asked of any run is told with the place of the fault.
        metric.check()?;
        if !metrics.contains(&metric) {
            metrics.push(metric);
        }
    }
    Ok(metrics)
}

/// Metrics that a run could tell. One that was asked for and none can tell is an error; of
/// those that are compared by default only what there is is told.
fn known(all: Vec<Compared>, asked: bool, first: Option<&Run>) -> Result<Vec<Compared>, Failure> {
    let told = |c: &Compared| c.a.iter().chain(&c.b).any(|v| !v.is_nan() && *v != 0.0);
    if asked {
        let silent = all
            .iter()
            .find(|c| c.a.iter().chain(&c.b).all(|v| v.is_nan()));
        if let Some(c) = silent
            && let Some(Err(why)) = first.map(|run| c.metric.of(run))
        {
            return Err(why.into());
        }
        return match silent {
            Some(c) => Err(Failure::input(format!(
                "{}: no run can tell: {}",
                c.metric.text,
                c.missing
                    .as_deref()
                    .unwrap_or("there are too few events for that quantile")
            ))),
            None => Ok(all),
        };
    }
    let kept: Vec<Compared> = all.into_iter().filter(told).collect();
    if kept.is_empty() {
        return Err(Failure::input(
            "these runs have nothing in common to compare\nhint: name it, as --metric disk.bytes",
        ));
    }
    Ok(kept)
}
