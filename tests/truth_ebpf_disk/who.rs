//! Who made an I/O: processes and control groups that each do a known number of them.

use std::path::Path;

use crate::support::{Need, can_run, get, scratch, total};
use crate::truth::group::Own;
use crate::truth::{DiskLine, Totals, record_script_with, same};
use crate::{EVENTS, NEEDS, alone, quiet_device, undisturbed};

const BLOCK: f64 = 4096.0;

/// A `dd` in a group that says which process it is.
struct Reader<'a> {
    group: &'a Own,
    reads: f64,
    /// Where its number is written.
    told: &'a Path,
}

impl Reader<'_> {
    /// Its line of shell, not waited for.
    fn script(&self, device: &Path) -> String {
        let (told, device) = (self.told.display(), device.display());
        let (enter, reads) = (self.group.enter(), self.reads);
        format!(
            "sh -e -c '{enter}; echo $$ >{told}; \
             exec dd if={device} of=/dev/null bs=4k count={reads} iflag=direct' &"
        )
    }

    /// The beginning of its name in a run.
    fn named(&self) -> String {
        let pid = std::fs::read_to_string(self.told).expect("its number");
        format!("dd[{}@", pid.trim())
    }
}

/// The total of what has a name that begins so; every name that does.
fn of(run: &Path, expression: &str, beginning: &str) -> f64 {
    let answer = get(run, expression);
    let groups = answer["groups"].as_array().expect("groups").iter();
    let word = |g: &serde_json::Value| {
        let key = g["key"].as_object().expect("a key").values().next();
        key.and_then(|v| v.as_str()).expect("a word").to_owned()
    };
    let named = groups.filter(|g| word(g).starts_with(beginning));
    named.map(|g| g["total"].as_f64().expect("a total")).sum()
}

/// Two of them at once, each in a group of its own, and a third that begins and ends in the second.
#[test]
fn each_io_is_of_its_process_and_its_group() {
    let name = "each_io_is_of_its_process_and_its_group";
    if !can_run(name, &[NEEDS, &[Need::Program("dd")]].concat()) {
        return;
    }
    let _alone = alone();
    let Some([one, two]) = groups(name) else {
        return;
    };
    let (_lock, device) = quiet_device("who");
    let dir = scratch("who-told");
    let told = ["a", "b", "c"].map(|file| dir.join(file));
    let reader = |group, reads, told| Reader { group, reads, told };
    let readers = [
        reader(&one, 3000.0, &told[0]),
        reader(&two, 2000.0, &told[1]),
        reader(&two, 70.0, &told[2]),
    ];
    let record = || {
        let run = scratch("who").join("run");
        let lines = readers.iter().map(|r| r.script(&device.path));
        let lines: Vec<String> = lines.chain(["wait".to_owned()]).collect();
        let before = DiskLine::now(&device.name());
        record_script_with(&run, "100ms", EVENTS, &lines.join("\n"));
        let counted = DiskLine::now(&device.name()).since(&before);
        same("reads", counted.of(0)[0], 5070.0);
        (run, ())
    };
    undisturbed(record, |run, ()| {
        let part = format!("where device = {}", device.name());
        for (measure, each) in [("ios", 1.0), ("bytes", BLOCK)] {
            let by = |dimension: &str| format!("disk.{measure} by {dimension} {part}");
            for reader in &readers {
                let (name, expected) = (reader.named(), reader.reads * each);
                same(&name, of(run, &by("process"), &name), expected);
                // Nobody of that name is in another group.
                let group = reader.group.name();
                let within = format!("{} and cgroup = {group}", by("process"));
                same(&within, of(run, &within, &name), expected);
            }
            let groups = Totals::of(run, &by("cgroup"));
            same("the first group", groups.get(&one.name()), 3000.0 * each);
            same("the second", groups.get(&two.name()), 2070.0 * each);
            let commands = Totals::of(run, &by("command"));
            same("dd", commands.get("dd"), 5070.0 * each);
            for all in [&groups, &commands, &Totals::of(run, &by("process"))] {
                same("all", all.sum(), 5070.0 * each);
            }
            let both = format!(
                "disk.{measure} {part} and command = dd and cgroup = {}",
                two.name()
            );
            same(&both, total(run, &both), 2070.0 * each);
        }
    });
}

/// Two groups that I/O is charged to.
fn groups(test: &str) -> Option<[Own; 2]> {
    let both = Own::of_io("who-a").zip(Own::of_io("who-b"));
    if both.is_none() {
        can_run(
            test,
            &[Need::Path("a control group that I/O is charged to")],
        );
    }
    both.map(Into::into)
}
