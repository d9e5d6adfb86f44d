//! The logbook: written and read, mended, counted.

use super::super::{Kind, arms};
use super::*;

/// An experiment of two parameters, without trials.
pub(crate) fn example() -> Logbook {
    let factors = vec![Factor::parse(Kind::Parameter, "size=4k,64k").unwrap()];
    Logbook {
        format: FORMAT,
        sonde: "0".into(),
        id: "1-box".into(),
        host: "box".into(),
        started: "2026-11-21T20:04:02.000000000Z".into(),
        command: vec!["writer".into(), "{size}".into()],
        prepare: None,
        seed: 42,
        design: Design::Combinations,
        blocks: Blocks::Fixed(6),
        warmup: 0.0,
        settle: 0.0,
        keep_going: false,
        again: true,
        allow_file: false,
        record: vec![],
        arms: arms(&factors, Design::Combinations, true).unwrap(),
        factors,
        measures: vec![Measure {
            metric: "disk.bytes".into(),
            declared: true,
        }],
        search: None,
        scale: false,
        trials: vec![],
        ended: None,
        restored: None,
    }
}

fn trial(block: usize, arm: &str, state: State, value: f64) -> Trial {
    Trial {
        stage: Stage::Block,
        block,
        arm: arm.into(),
        run: PathBuf::from(format!("trials/{block:03}-{arm}")),
        state,
        why: None,
        started: String::new(),
        seconds: Some(1.0),
        values: BTreeMap::from([("disk.bytes".into(), Some(value))]),
    }
}

#[test]
fn it_comes_back_as_it_was_written() {
    let dir = std::env::temp_dir().join(format!("sonde-logbook-{}", std::process::id()));
    fs::create_dir_all(&dir).unwrap();
    let mut book = example();
    book.trials.push(trial(1, "baseline", State::Done, 1.5));
    book.save(&dir).unwrap();
    assert_eq!(Logbook::open(&dir).unwrap(), book);
    assert!(Logbook::is_in(&dir));
    for search in [
        Search::Range {
            low: 1.0,
            high: 9.5,
            found: Some(2.5),
        },
        Search::Among {
            candidates: 4,
            found: Some("mq-deadline".into()),
        },
    ] {
        book.search = Some(search);
        book.save(&dir).unwrap();
        assert_eq!(Logbook::open(&dir).unwrap(), book);
    }
    // A value that is not a number cannot be in it: JSON has none.
    book.trials[0].values.insert("cpu.time".into(), None);
    book.save(&dir).unwrap();
    assert_eq!(Logbook::open(&dir).unwrap(), book);
    run::write::write_durably(&dir.join(FILE), b"{\"format\": 9}").unwrap();
    assert!(matches!(Logbook::open(&dir), Err(OpenError::Newer(_, 9))));
    run::write::write_durably(&dir.join(FILE), b"{").unwrap();
    assert!(matches!(Logbook::open(&dir), Err(OpenError::Damaged(..))));
    fs::remove_dir_all(&dir).unwrap();
    assert!(matches!(Logbook::open(&dir), Err(OpenError::None(_))));
}

#[test]
fn a_block_that_was_cut_in_two_runs_anew() {
    let mut book = example();
    for arm in ["baseline", "baseline-again", "64k"] {
        book.trials.push(trial(1, arm, State::Done, 1.0));
    }
    book.trials.push(trial(2, "64k", State::Done, 2.0));
    book.trials.push(trial(2, "baseline", State::Running, 3.0));
    assert_eq!(book.whole_blocks(), 1);
    assert_eq!(book.mend(), Some(2));
    assert_eq!(book.trials[3].state, State::Aside);
    assert_eq!(book.trials[4].state, State::Interrupted);
    let place = book.place(Path::new("/nowhere"), Stage::Block, 2, "64k");
    assert_eq!(place, Path::new("trials/002-64k-again2"));
    let values = book.values("disk.bytes", 2);
    assert_eq!(values[2][0], 1.0);
    assert!(values[2][1].is_nan() && values[0][1].is_nan());
    assert_eq!(book.mend(), None);
}

#[test]
fn what_failed_does_not_count() {
    let mut book = example();
    book.trials.push(trial(1, "baseline", State::Failed, 9.0));
    book.trials
        .push(trial(1, "baseline-again", State::Done, 1.0));
    book.trials.push(trial(1, "64k", State::Done, f64::NAN));
    assert_eq!(book.whole_blocks(), 1);
    assert!(book.values("disk.bytes", 1)[0][0].is_nan());
    assert!(book.done(1, "baseline").is_none());
    assert!(book.values("net.bytes", 3)[0].iter().all(|v| v.is_nan()));
}
