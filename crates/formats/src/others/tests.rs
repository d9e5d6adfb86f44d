//! Lines of several tools, told apart.

use std::path::{Path, PathBuf};

use super::*;
use crate::list::FORMATS;
use crate::recognise::{named, recognise};

fn texts(dir: &Path, found: &mut Vec<(String, Vec<u8>)>) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            texts(&path, found);
        } else if let Ok(text) = std::fs::read(&path) {
            found.push((path.display().to_string(), text));
        }
    }
}

#[test]
fn what_a_tool_prints_is_not_taken_for_anothers() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let told = std::env::var_os("SONDE_CAPTURES").map(PathBuf::from);
    let captures = told.unwrap_or_else(|| here.join("../../../shared/fixtures"));
    let mut all: Vec<_> = FORMATS
        .iter()
        .map(|f| (f.name.to_owned(), f.example_bytes()))
        .collect();
    for dir in [here.join("fixtures"), captures] {
        texts(&dir, &mut all);
    }
    let has_others = |(name, text): &(String, Vec<u8>)| {
        let head = Head::named(text, name);
        recognise(&head).is_ok_and(|format| Others::among(format, &head).is_some())
    };
    let found = all.iter().filter(|t| has_others(t)).map(|(name, _)| name);
    let wrong: Vec<_> = found.filter(|name| !name.contains("/others-")).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn lines_are_told_apart_where_headings_tell() {
    let vmstat = named("vmstat-linux").expect("a format");
    let text = "\
procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st
 0  0      0 500000   2000 300000    0    0     0     0  100  200  1  1 98  0  0
Thu Nov 26 19:14:42 UTC 2026
              total        used        free      shared  buff/cache   available
Mem:        8000000     1000000     5000000        8000     2000000     6500000
Swap:             0           0           0

procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st
 0  0      0 500000   2000 300000    0    0     0     0  100  200  1  1 98  0  0
";
    let head = Head::new(text.as_bytes());
    let mut others = Others::among(vmstat, &head).expect("lines of others");
    let mut told = String::new();
    let mut take = |others: &mut Others, is_last| {
        while let Some((_, owner)) = others.next(is_last, &Options::default()) {
            told.push(match owner {
                Owner::Own => '.',
                Owner::Another => 'x',
                Owner::Elsewhere => '-',
            });
        }
    };
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.as_bytes().to_vec();
        others.hold(Held {
            number,
            line,
            came: None,
            logged: None,
            overlong: false,
        });
        take(&mut others, false);
    }
    take(&mut others, true);
    assert_eq!(told, "....xxx....");
    let said: Vec<String> = others.notes().collect();
    assert!(
        said[0].starts_with("3 lines are of free, from line 5 on"),
        "{said:?}"
    );
    let own: Vec<&str> = text.lines().take(3).collect();
    let own = Head::new(own.join("\n").as_bytes());
    assert!(Others::among(vmstat, &own).is_none());
}
