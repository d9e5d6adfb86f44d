//! The numbers of an experiment as numbers: a row an arm and a metric.

use analysis::compare::Metric;
use analysis::experiment::{Measured, level};
use analysis::stats::Interval;
use run::Unit;
use surfaces::report::figures::{Cell, Column, Figures, Graph, Quantity};

use crate::commands::experiment::{
    Experiment, aim, grows, role, stage, state, steps_and_costs, verdict_word,
};
use crate::output::one_line;

/// Numbers of an arm and a metric in the order of their columns: of the metric, then plain ones.
const OF_METRIC: [&str; 3] = ["middle", "low_95", "high_95"];
const OF_RATIO: [&str; 5] = ["ratio", "ratio_low_95", "ratio_high_95", "p", "p_adjusted"];

/// Every arm by every metric; numbers in base units, and the unit in a column, as it differs from
/// metric to metric.
pub(super) fn all(e: &Experiment<'_>) -> Figures {
    let mut columns = ["metric", "unit", "better", "declared"]
        .map(Column::of_text)
        .to_vec();
    columns.extend(columns_of(None));
    let mut rows = Vec::new();
    for (place, measured) in e.measured.iter().enumerate() {
        let declared = if measured.declared { "yes" } else { "no" };
        let head = [
            measured.metric.text.as_str(),
            unit_name(measured).unwrap_or(""),
            aim(measured.metric.aim).split(' ').next().unwrap_or(""),
            declared,
        ];
        for arm in 0..measured.values.len() {
            let head = head.map(|text| Cell::Text(one_line(text)));
            rows.push(head.into_iter().chain(row(e, place, arm)).collect());
        }
    }
    Figures {
        columns,
        rows,
        ..Figures::default()
    }
}

/// A sheet a declared metric, one for what was not declared, the steps of growth, the trials.
pub(super) fn sheets(e: &Experiment<'_>) -> Vec<Figures> {
    let mut sheets = Vec::new();
    for (place, measured) in e.measured.iter().enumerate().filter(|m| m.1.declared) {
        let columns = columns_of(Some(measured));
        let middle = columns.iter().position(|c| c.name == OF_METRIC[0]);
        sheets.push(Figures {
            name: sheet_name(sheets.len() + 1, &measured.metric.text),
            title: one_line(&measured.metric.text),
            note: format!(
                "{}; the ratio is to the baseline, intervals are of 95 %",
                aim(measured.metric.aim)
            ),
            columns,
            rows: (0..measured.values.len())
                .map(|arm| row(e, place, arm))
                .collect(),
            graph: middle.map(|middle| Graph::Bars(0, middle)),
        });
    }
    sheets.extend(steps(e));
    sheets.extend(beside(e));
    sheets.push(trials(e));
    sheets
}

/// A name that no other sheet has: `1 disk.ios`.
fn sheet_name(number: usize, text: &str) -> String {
    let kept = |c: &char| c.is_alphanumeric() || "._- ".contains(*c);
    let name: String = text.chars().filter(kept).take(24).collect();
    format!("{number} {}", name.trim())
}

fn quantity(measured: &Measured) -> Quantity {
    let (unit, rate) = measured.unit.unwrap_or((Unit::Count, false));
    Quantity {
        name: measured.metric.text.clone(),
        unit,
        rate,
    }
}

/// `B/s`; none where no trial told.
fn unit_name(measured: &Measured) -> Option<&'static str> {
    let (unit, rate) = measured.unit?;
    Some(if rate { unit.per_second() } else { unit.name() })
}

/// The columns of [`row`]; of one metric, its numbers have its unit.
fn columns_of(measured: Option<&Measured>) -> Vec<Column> {
    let of = measured.map_or_else(Quantity::count, quantity);
    let mut columns = ["arm", "role", "values"].map(Column::of_text).to_vec();
    columns.push(Column::of_number("trials", Quantity::count()));
    columns.extend(OF_METRIC.map(|name| Column::of_number(name, of.clone())));
    columns.extend(OF_RATIO.map(|name| Column::of_number(name, Quantity::count())));
    columns.push(Column::of_text("verdict"));
    columns
}

/// An arm by the metric at `place`.
fn row(e: &Experiment<'_>, place: usize, arm: usize) -> Vec<Cell> {
    let (level, one) = (level(&e.measured[place].values[arm]), &e.book.arms[arm]);
    let values: Vec<String> = one
        .values
        .iter()
        .map(|(n, v)| format!("{n} = {v}"))
        .collect();
    let contrast = e.contrast(place, arm).map(|c| &c.compared);
    let estimate = contrast.map(|c| &c.estimate);
    let [low, high] = ends(Some(level.interval));
    let [ratio_low, ratio_high] = ends(estimate.map(|e| e.interval));
    let mut cells = [
        one.name.clone(),
        role(one.role).to_owned(),
        values.join(", "),
    ]
    .map(|text| Cell::Text(one_line(&text)))
    .to_vec();
    let numbers = [
        level.trials as f64,
        level.value,
        low,
        high,
        estimate.map_or(f64::NAN, |e| e.ratio),
        ratio_low,
        ratio_high,
        estimate.map_or(f64::NAN, |e| e.chance),
        contrast.map_or(f64::NAN, |c| c.adjusted),
    ];
    cells.extend(numbers.map(Cell::Number));
    let verdict = contrast.map_or("", |c| verdict_word(&c.verdict));
    cells.push(Cell::Text(verdict.to_owned()));
    cells
}

/// Both ends, or none: half open says nothing.
fn ends(interval: Option<Interval>) -> [f64; 2] {
    let known = interval.filter(Interval::is_bounded);
    known.map_or([f64::NAN; 2], |i| [i.low, i.high])
}

/// How work grows.
fn steps(e: &Experiment<'_>) -> Option<Figures> {
    let measured = grows(e).filter(|_| e.book.scale)?;
    let work = quantity(measured);
    let plain = |name: &str| Column::of_number(name, Quantity::count());
    let rows = steps_and_costs(e, measured).into_iter().map(|(s, cost)| {
        let numbers = [s.workers, s.work, s.speed_up, s.efficiency, cost];
        numbers.map(Cell::Number).to_vec()
    });
    Some(Figures {
        name: "Growth".to_owned(),
        title: format!(
            "{} by what is done at once",
            one_line(&measured.metric.text)
        ),
        note: "cpu_seconds_per_unit: processor seconds for one unit of work".to_owned(),
        columns: vec![
            plain("at once"),
            Column::of_number("work", work),
            plain("speed-up"),
            plain("efficiency"),
            plain("cpu_seconds_per_unit"),
        ],
        rows: rows.collect(),
        graph: Some(Graph::Points(0, 1)),
    })
}

/// What was measured without having been declared.
fn beside(e: &Experiment<'_>) -> Option<Figures> {
    let all = all(e);
    let declared = all.columns.iter().position(|c| c.name == "declared")?;
    let no = Cell::Text("no".to_owned());
    let rows = all.rows.into_iter().filter(|row| row[declared] == no);
    let figures = Figures {
        name: "Beside".to_owned(),
        title: "Not declared, so nothing is concluded".to_owned(),
        note: "numbers are in the base unit that the column unit names".to_owned(),
        rows: rows.collect(),
        columns: all.columns,
        graph: None,
    };
    (!figures.rows.is_empty()).then_some(figures)
}

/// Every trial with all that was measured of it.
fn trials(e: &Experiment<'_>) -> Figures {
    let mut columns = ["run", "part"].map(Column::of_text).to_vec();
    columns.push(Column::of_number("number", Quantity::count()));
    columns.extend(["arm", "state"].map(Column::of_text));
    columns.push(Column::of_number(
        "took",
        Quantity {
            name: "took".to_owned(),
            unit: Unit::Seconds,
            rate: false,
        },
    ));
    let metric = |m: &Measured| Column::of_number(&one_line(&m.metric.text), quantity(m));
    columns.extend(e.measured.iter().map(metric));
    columns.push(Column::of_text("why"));
    let rows = e.book.trials.iter().map(|t| {
        let text = |text: &str| Cell::Text(one_line(text));
        let mut cells = vec![
            text(&t.run.display().to_string()),
            text(stage(t.stage)),
            Cell::Number(t.block as f64),
            text(&t.arm),
            text(state(t.state)),
            Cell::Number(t.seconds.unwrap_or(f64::NAN)),
        ];
        let measures = e.book.measures.iter();
        // What cannot be read has no column either.
        let read = measures.filter(|m| Metric::parse(&m.metric).is_ok());
        let values = read.map(|m| t.values.get(&m.metric));
        cells.extend(values.map(|v| Cell::Number(v.copied().flatten().unwrap_or(f64::NAN))));
        cells.push(text(t.why.as_deref().unwrap_or_default()));
        cells
    });
    Figures {
        name: "Trials".to_owned(),
        title: "Trials".to_owned(),
        note: "only blocks that are done count".to_owned(),
        rows: rows.collect(),
        columns,
        graph: None,
    }
}
