//! An experiment as text of 80 columns.

use analysis::compare::Compared;
use analysis::experiment::{Advice, Contrast, Measured, advise, least, level};
use analysis::stats::{Aim, Interval, Test, Verdict};
use lab::experiment::{Blocks, Logbook, Stage, State};
use run::Unit;
use run::unit::{amount, digits};
use surfaces::table::{Align, Table, wrapped};

use super::{Experiment, scaling, searched};
use crate::output::{counted, one_line};

/// Columns of the text.
const WIDTH: usize = 80;

/// Trials that failed and are named.
const NAMED: usize = 4;

/// The whole text, with the picture in it.
pub(super) fn text(e: &Experiment<'_>, picture: &str) -> String {
    let mut out = head(e);
    out += &searched::table(e);
    if e.book.arms.is_empty() && e.book.search.is_some() {
        out.push('\n');
        return out + &conclusion(e);
    }
    for (place, measured) in e.measured.iter().enumerate() {
        if measured.declared {
            out.push('\n');
            out += &metric(e, place, measured);
        }
    }
    out += &beside(e);
    if e.book.scale {
        out.push('\n');
        out += &scaling::text(e);
    }
    if !picture.is_empty() {
        out.push('\n');
        out += picture;
    }
    out.push('\n');
    out += &conclusion(e);
    out
}

/// What ran.
fn head(e: &Experiment<'_>) -> String {
    let book = e.book;
    let mut out = wrapped("experiment  ", &one_line(&book.command.join(" ")), WIDTH);
    let blocks = match book.blocks {
        Blocks::Fixed(blocks) => format!("{} of {blocks} blocks", book.whole_blocks()),
        Blocks::Auto => counted(book.whole_blocks() as u64, "block"),
    };
    let text = format!(
        "{}, {blocks}, {} that count; seed {}",
        counted(book.arms.len() as u64, "arm"),
        counted(e.in_state(State::Done) as u64, "trial"),
        book.seed
    );
    let indent = " ".repeat(12);
    out += &wrapped(&indent, &text, WIDTH);
    for factor in &book.factors {
        let text = format!("baseline: {} = {}", factor.name, factor.base);
        out += &wrapped(&indent, &one_line(&text), WIDTH);
    }
    for line in searched::line(book).into_iter().chain(failures(book)) {
        out += &wrapped(&indent, &one_line(&line), WIDTH);
    }
    if let Some(ended) = &book.ended {
        out += &wrapped(&indent, &one_line(ended), WIDTH);
    }
    out
}

/// What does not count.
fn failures(book: &Logbook) -> Vec<String> {
    let failed: Vec<_> = book
        .trials
        .iter()
        .filter(|t| t.stage == Stage::Block && t.state == State::Failed)
        .collect();
    let named = failed.iter().take(NAMED).map(|t| {
        format!(
            "failed, kept and not counted: {}: {}",
            t.run.display(),
            t.why
                .as_deref()
                .unwrap_or_default()
                .lines()
                .next()
                .unwrap_or_default()
        )
    });
    let mut lines: Vec<String> = named.collect();
    if failed.len() > NAMED {
        lines.push(format!("and {} more failed", failed.len() - NAMED));
    }
    lines
}

/// A metric by arm.
fn metric(e: &Experiment<'_>, place: usize, measured: &Measured) -> String {
    let better = match measured.metric.aim {
        Aim::Higher => "more is better",
        Aim::Lower => "less is better",
    };
    let mut out = wrapped(
        "",
        &format!("{} ({better})", one_line(&measured.metric.text)),
        WIDTH,
    );
    let mut table = Table::new();
    for (name, align) in [
        ("  arm", Align::Left),
        ("trials", Align::Right),
        ("middle", Align::Right),
        ("ratio", Align::Right),
        ("95 %", Align::Right),
        ("p", Align::Right),
        ("", Align::Words),
    ] {
        table.column(name, align);
    }
    for (arm, values) in measured.values.iter().enumerate() {
        let level = level(values);
        let all = e.outcome.declared.iter().chain(&e.outcome.again);
        let contrast = all.filter(|c| c.metric == place).find(|c| c.arm == arm);
        let mut row = vec![
            format!("  {}", e.book.arms[arm].name),
            level.trials.to_string(),
            value_text(level.value, measured.unit),
        ];
        row.extend(contrast.map_or_else(Vec::new, |c| told(e, c)));
        table.row(row);
    }
    out += &table.render(WIDTH);
    out += &by_means(e, place);
    if let Some(missing) = &measured.missing {
        out += &wrapped("  ", missing, WIDTH);
    }
    out
}

/// Arms that were judged otherwise than the rest, and why.
fn by_means(e: &Experiment<'_>, metric: usize) -> String {
    let of = |c: &&Contrast| c.metric == metric && c.test == Test::SignedMeans;
    let arms: Vec<usize> = e
        .outcome
        .declared
        .iter()
        .filter(of)
        .map(|c| c.arm)
        .collect();
    if arms.is_empty() {
        return String::new();
    }
    let text = format!(
        "spread more than the baseline, so judged by signed ranks, which need more: {}",
        names(e, &arms)
    );
    wrapped("  ", &text, WIDTH)
}

/// Ratio, interval, chance and verdict.
fn told(e: &Experiment<'_>, c: &Contrast) -> Vec<String> {
    let estimate = &c.compared.estimate;
    let verdict = match (&c.compared.verdict, e.places.again == Some(c.arm)) {
        (Verdict::Better | Verdict::Worse, true) => "DIFFERS".to_owned(),
        (_, true) => "A/A".to_owned(),
        (Verdict::Undecided(Some(blocks)), _) => format!("undecided ({blocks})"),
        (verdict, _) => word(verdict).to_owned(),
    };
    let chance = match c.compared.adjusted {
        p if p.is_nan() => String::new(),
        p if p < 0.001 => "<0.001".to_owned(),
        p => format!("{p:.3}"),
    };
    vec![
        ratio_text(estimate.ratio),
        interval_text(estimate.interval),
        chance,
        verdict,
    ]
}

/// A verdict in one word.
pub(super) fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Better => "better",
        Verdict::Worse => "worse",
        Verdict::Equivalent => "equivalent",
        Verdict::Undecided(_) => "undecided",
        Verdict::Descriptive => "described",
    }
}

pub(super) fn ratio_text(ratio: f64) -> String {
    match ratio {
        r if r.is_nan() => "-".to_owned(),
        r if r < 10.0 => format!("{r:.3}"),
        r => format!("{r:.1}"),
    }
}

pub(super) fn interval_text(interval: Interval) -> String {
    if interval.is_bounded() {
        format!(
            "{} to {}",
            ratio_text(interval.low),
            ratio_text(interval.high)
        )
    } else {
        String::new()
    }
}

/// A number in its unit.
pub(super) fn value_text(value: f64, unit: Option<(Unit, bool)>) -> String {
    match unit {
        _ if value.is_nan() => "-".into(),
        Some((unit, per_second)) => amount(value, unit, per_second),
        None => digits(value),
    }
}

/// Metrics of which no verdict was asked.
fn beside(e: &Experiment<'_>) -> String {
    let told: Vec<&Contrast> = e
        .outcome
        .exploratory
        .iter()
        .filter(|c| !c.compared.estimate.ratio.is_nan())
        .collect();
    if told.is_empty() {
        return String::new();
    }
    let mut table = Table::new();
    for (name, align) in [
        ("", Align::Left),
        ("arm", Align::Left),
        ("ratio", Align::Right),
        ("95 %", Align::Right),
    ] {
        table.column(name, align);
    }
    let mut before = usize::MAX;
    for c in told {
        let name = if c.metric == before {
            String::new()
        } else {
            c.compared.metric.text.clone()
        };
        before = c.metric;
        table.row(vec![
            format!("  {}", one_line(&name)),
            e.book.arms[c.arm].name.clone(),
            ratio_text(c.compared.estimate.ratio),
            interval_text(c.compared.estimate.interval),
        ]);
    }
    let head = "  beside: not declared, so nothing is concluded";
    format!("\n{head}\n{}", table.render(WIDTH))
}

/// What to do, how sure that is, and at what cost.
fn conclusion(e: &Experiment<'_>) -> String {
    let advice = advise(&e.outcome, &e.measured, e.places);
    let text = match &advice {
        Advice::Take { arm, close } => taken(e, *arm, close),
        Advice::Keep => kept(e),
        Advice::Choice(front) => format!(
            "A choice, not an improvement: what is better by one metric is worse by another. \
             No other arm beats these by all metrics: {}.",
            names(e, front)
        ),
        Advice::Undecided(blocks) => undecided(e, *blocks),
        Advice::Unsound => {
            let metrics: Vec<&str> = e
                .outcome
                .unsound()
                .map(|c| c.compared.metric.text.as_str())
                .collect();
            format!(
                "NOTHING MAY BE CLAIMED: the baseline differs from itself by {}. Something other \
                 than the arms changes between trials.",
                one_line(&metrics.join(", "))
            )
        }
        Advice::TooFew if e.book.arms.is_empty() => searched::nothing(e.book),
        Advice::TooFew => "Too few trials to conclude anything.".to_owned(),
    };
    wrapped("", &text, WIDTH)
}

fn names(e: &Experiment<'_>, arms: &[usize]) -> String {
    let names: Vec<&str> = arms.iter().map(|a| e.book.arms[*a].name.as_str()).collect();
    names.join(", ")
}

fn taken(e: &Experiment<'_>, arm: usize, close: &[usize]) -> String {
    let setting: Vec<String> = e.book.arms[arm]
        .values
        .iter()
        .map(|(name, value)| format!("{name} = {value}"))
        .collect();
    let mut text = format!(
        "Recommended: {} ({}).",
        e.book.arms[arm].name,
        one_line(&setting.join(", "))
    );
    for c in e.outcome.of(arm) {
        text += &format!(" {}.", one_line(&against(&c.compared)));
    }
    text += &sure(e, arm);
    let dearer: Vec<String> = e
        .outcome
        .exploratory
        .iter()
        .filter(|c| c.arm == arm && is_dearer(&c.compared))
        .map(|c| against(&c.compared))
        .collect();
    if !dearer.is_empty() {
        text += &format!(
            " It may cost (not tested): {}.",
            one_line(&dearer.join("; "))
        );
    }
    if !close.is_empty() {
        text += &format!(" As good, as far as can be told: {}.", names(e, close));
    }
    text
}

/// How sure it is.
fn sure(e: &Experiment<'_>, arm: usize) -> String {
    let largest = e
        .outcome
        .of(arm)
        .filter(|c| c.compared.verdict == Verdict::Better)
        .map(|c| c.compared.adjusted)
        .fold(f64::NAN, f64::max);
    let asked = e.outcome.declared.len();
    let mut text = if largest.is_nan() {
        " Sure at 5 % over all planned looks".to_owned()
    } else {
        let chance = if largest < 0.001 {
            "below 0.001".to_owned()
        } else {
            format!("{largest:.3}")
        };
        format!(" Chance of such a difference if there were none: {chance}")
    };
    if asked > 1 {
        text += &format!(", for {asked} questions asked at once");
    }
    text += if e.places.again.is_some() {
        "; the baseline did not differ from itself."
    } else {
        "; without an A/A arm nobody knows whether the baseline would differ from itself."
    };
    text
}

fn against(c: &Compared) -> String {
    let interval = interval_text(c.estimate.interval);
    let interval = if interval.is_empty() {
        String::new()
    } else {
        format!(" ({interval})")
    };
    format!(
        "{} is {} times the baseline{interval}",
        c.metric.text,
        ratio_text(c.estimate.ratio)
    )
}

/// Whether it points beyond the margin to the bad side.
fn is_dearer(c: &Compared) -> bool {
    let margin = 1.0 + c.metric.margin.0;
    match c.metric.aim {
        Aim::Higher => c.estimate.ratio < 1.0 / margin,
        Aim::Lower => c.estimate.ratio > margin,
    }
}

fn kept(e: &Experiment<'_>) -> String {
    let worse: Vec<usize> = e
        .outcome
        .arms()
        .into_iter()
        .filter(|a| e.outcome.joint(*a) == analysis::compare::Joint::Worse)
        .collect();
    let margins: Vec<String> = e
        .measured
        .iter()
        .filter(|m| m.declared)
        .map(|m| format!("{:.0} % of {}", m.metric.margin.0 * 100.0, m.metric.text))
        .collect();
    let mut text = if worse.len() == e.outcome.arms().len() {
        "Keep what there is: every change is worse.".to_owned()
    } else {
        format!(
            "Keep what there is: no difference worth having (within {}).",
            one_line(&margins.join(", "))
        )
    };
    if !worse.is_empty() && worse.len() < e.outcome.arms().len() {
        text += &format!(" Worse: {}.", names(e, &worse));
    }
    text
}

fn undecided(e: &Experiment<'_>, blocks: Option<usize>) -> String {
    let least = least(e.outcome.declared.len(), e.places);
    let whole = e.book.whole_blocks();
    if e.book.blocks != Blocks::Auto && whole < least {
        return format!(
            "Undecided: {} can never decide {} at 5 %; {least} are the least.",
            counted(whole as u64, "block"),
            counted(e.outcome.declared.len() as u64, "question")
        );
    }
    match blocks {
        Some(blocks) => format!("Undecided: about {blocks} blocks would likely decide."),
        None => "Undecided: the blocks tell too little to say how many would decide.".to_owned(),
    }
}
