//! TCP connections on either side, of either version of IP, against what the test sent, what the
//! kernel counted, and what `ss` says of them; in network namespaces of the test's own.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "tests run programs, write files, read clocks and wait"
)]

#[path = "truth_tcp/accepted.rs"]
mod accepted;
#[path = "truth_tcp/round_trips.rs"]
mod round_trips;
#[path = "truth_tcp/sent_again.rs"]
mod sent_again;
#[path = "support/space.rs"]
mod space;
mod support;
mod truth;
#[path = "truth_tcp/version_6.rs"]
mod version_6;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use space::Space;
use support::{ALL_EVENTS, Need, get};

const NEEDS: &[Need] = &[Need::Root, Need::Program("ip"), Need::Program("ss")];
const HISTOGRAMS: &[&str] = &["--detail", "distributions"];
const EVENTS: &[&str] = &["--events", "tcp", ALL_EVENTS];

/// While one recorder attaches its programs the kernel may leave those of another out.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The last acknowledgements are on their way.
fn settle() {
    std::thread::sleep(Duration::from_millis(300));
}

/// Totals by the words of some dimensions, joined.
fn totals(run: &Path, expression: &str) -> BTreeMap<String, f64> {
    let answer = get(run, expression);
    let word = |v: &Value| v.as_str().expect("a word").to_owned();
    let groups = answer["groups"].as_array().expect("groups").iter();
    groups
        .map(|g| {
            let key = g["key"].as_object().expect("a key");
            let words: Vec<String> = key.values().map(word).collect();
            (words.join(" "), g["total"].as_f64().expect("a total"))
        })
        .collect()
}

/// Whether that is what a run calls this process.
fn is_this_process(name: &str) -> bool {
    name.starts_with("truth_tcp") && name.contains(&format!("[{}@", std::process::id()))
}

/// A connection as `ss` tells it.
#[derive(Debug)]
struct Told {
    /// Address and port of the other side.
    peer: String,
    /// Words such as `rtt:0.05/0.02`, without those that it leaves out because they are none.
    fields: BTreeMap<String, String>,
}

impl Told {
    /// The connections inside that `filter` names, such as `sport = :80`.
    fn all(space: &Space, filter: &str) -> Vec<Told> {
        let text = space.run(&format!(
            "ss --tcp --info --numeric --oneline --no-header '{filter}'"
        ));
        text.lines().map(Told::parse).collect()
    }

    /// The only such connection.
    fn of(space: &Space, filter: &str) -> Told {
        let mut all = Told::all(space, filter);
        assert_eq!(all.len(), 1, "{filter}: {all:?}");
        all.remove(0)
    }

    /// State, two queues, own address, the other's, and what more there is.
    fn parse(line: &str) -> Told {
        let mut words = line.split_whitespace();
        let peer = words.nth(4).expect("an address").to_owned();
        let fields = words.filter_map(|w| w.split_once(':'));
        Told {
            peer,
            fields: fields.map(|(n, v)| (n.to_owned(), v.to_owned())).collect(),
        }
    }

    /// A number, before the `/` if there are two; 0 if it is left out.
    fn number(&self, field: &str) -> f64 {
        let text = self.fields.get(field).map_or("0", String::as_str);
        let text = text.split('/').next().expect("a part");
        text.parse().expect("a number")
    }

    /// Segments received, and sent for the first time.
    fn segments(&self) -> [f64; 2] {
        let again = self.fields.get("retrans");
        let again = again.map_or("0", |w| w.rsplit('/').next().expect("a part"));
        let again: f64 = again.parse().expect("a number");
        [self.number("segs_in"), self.number("segs_out") - again]
    }
}
