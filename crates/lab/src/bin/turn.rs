//! Turns knobs until it is killed: what the tests of undoing kill.
//!
//! `turn STATE SEED TIMES KNOB=V1,V2...`: begins an experiment, says `begun`, and sets random
//! values of random knobs, putting everything back now and then. After TIMES sets (0: never)
//! it ends by itself, or at SIGTERM if TIMES is negative. Exit status 3: not all is back.
#![allow(
    clippy::disallowed_macros,
    reason = "a program of the tests, which speaks to them alone"
)]

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use lab::{Allow, Experiment, GUARDIAN, Knob};

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    if arguments.first().is_some_and(|a| a == GUARDIAN) {
        return match lab::guard(&arguments[1..]) {
            Ok(restored) => {
                let whole = restored.is_none_or(|r| r.is_whole());
                ExitCode::from(if whole { 0 } else { 3 })
            }
            Err(_) => ExitCode::from(3),
        };
    }
    match turned(&std::env::args().skip(1).collect::<Vec<_>>()) {
        Ok(complaint) if complaint.is_empty() => ExitCode::SUCCESS,
        Ok(complaint) => {
            eprintln!("{complaint}");
            ExitCode::from(3)
        }
        Err(text) => {
            eprintln!("turn: {text}");
            ExitCode::from(2)
        }
    }
}

/// A knob and the values it is set to.
type Choice = (Knob, Vec<String>);

/// Turns them; what is not back at the end.
fn turned(arguments: &[String]) -> Result<String, String> {
    let [state, seed, times, knobs @ ..] = arguments else {
        return Err("STATE SEED TIMES KNOB=V1,V2...".into());
    };
    let mut random: u64 = seed.parse().map_err(|_| "the seed is a number")?;
    let times: i64 = times.parse().map_err(|_| "the times are a number")?;
    let mut choices: Vec<Choice> = Vec::new();
    for text in knobs {
        let (name, values) = text.split_once('=').ok_or("a knob has values")?;
        let knob = Knob::parse(name, Allow { files: true }).map_err(|e| e.to_string())?;
        choices.push((knob, values.split(',').map(str::to_owned).collect()));
    }
    let stop = Arc::new(AtomicBool::new(false));
    if times < 0 {
        for signal in [signal_hook::consts::SIGTERM, signal_hook::consts::SIGINT] {
            let caught = signal_hook::flag::register(signal, Arc::clone(&stop));
            caught.map_err(|e| e.to_string())?;
        }
    }
    let names: Vec<Knob> = choices.iter().map(|(knob, _)| knob.clone()).collect();
    let begun = Experiment::begin(Path::new(state), "a test that turns knobs", &names);
    let mut experiment = begun.map_err(|e| e.to_string())?;
    println!("begun");
    let mut done = 0;
    while (times <= 0 || done < times) && !stop.load(Ordering::Relaxed) {
        done += 1;
        turn(&mut experiment, &choices, &mut random)?;
    }
    Ok(experiment.end().complaint())
}

/// Sets one value, or puts all back.
fn turn(experiment: &mut Experiment, choices: &[Choice], random: &mut u64) -> Result<(), String> {
    let mut below = |n: usize| {
        // Steele and Vigna 2021, table 6: good enough to choose by its upper bits.
        *random = random.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(1);
        (*random >> 33) as usize % n.max(1)
    };
    if below(8) == 0 || choices.is_empty() {
        let complaint = experiment.put_back().complaint();
        return if complaint.is_empty() {
            Ok(())
        } else {
            Err(complaint)
        };
    }
    let (knob, values) = &choices[below(choices.len())];
    let value = &values[below(values.len())];
    let set = experiment.set(knob, value);
    set.map_err(|e| e.to_string())?;
    // Values stay for longer than it takes to change them.
    std::thread::sleep(std::time::Duration::from_millis(below(3) as u64));
    Ok(())
}
