//! Wrong input and missing rights around eBPF: what is told, and that recording goes on.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "tests run programs"
)]

mod support;

use serde_json::Value;
use support::{Need, can_run, output, scratch, sonde, succeed};

/// `record` with these options must end with 2 and say this.
fn refused(options: &[&str], says: &[&str]) {
    let dir = scratch("refused");
    let run = dir.join("run");
    let out = output(
        sonde()
            .args(["record", "-q", "-o"])
            .arg(&run)
            .args(options)
            .args(["--", "true"]),
    );
    let message = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!(out.status.code(), Some(2), "{options:?}: {message}");
    for text in says {
        assert!(message.contains(text), "{options:?}: {message}");
    }
    assert!(!run.exists(), "{options:?} left a run behind");
}

#[test]
fn what_cannot_be_meant_is_refused_before_anything_starts() {
    refused(&["--events", "dsik"], &["dsik", "disk"]);
    refused(&["--events", "disk,cpu"], &["cpu", "file"]);
    refused(&["--detail", "deep"], &["samples", "distributions"]);
    refused(&["--with", "files"], &["files", "file"]);
    for budget in ["0%", "much", "%", "NaN", "1e9%"] {
        refused(&["--event-budget", budget], &["event-budget", "2%"]);
    }
    // Of a number that may be a share or percent nobody guesses which.
    for budget in ["2", "200", "1.5", "0.5"] {
        let meant = format!("hint: percent have their sign: --event-budget {budget}%?");
        refused(&["--event-budget", budget], &["event-budget", &meant]);
    }
    for rate in ["0", "fast", "NaN"] {
        refused(&["--event-rate", rate], &["event-rate", "10000"]);
    }
}

#[test]
fn options_that_would_do_nothing_together_are_refused() {
    refused(&["--events", "file"], &["file", "hint: add --with file"]);
    refused(&["--events", "disk,file"], &["disk,file", "--with file"]);
    for detail in ["samples", "distributions"] {
        let options = ["--detail", detail, "--events", "disk"];
        refused(&options, &[detail, "hint: use --detail events"]);
    }
    refused(
        &["--with", "file", "--detail", "samples"],
        &["--with file", "hint: use --detail distributions"],
    );
    // Sources without the one that would tell the events.
    for (sources, events, source) in [
        ("cpu,disk", "disk,net", "bpf-disk"),
        ("cpu,bpf-disk", "disk,net", "bpf-net"),
        ("bpf-disk", "tcp", "bpf-tcp"),
    ] {
        let hint = format!("hint: use --sources {sources},{source}");
        refused(
            &["--sources", sources, "--events", events],
            &[source, &hint],
        );
    }
    let without = ["--sources", "cpu", "--with", "file"];
    refused(&without, &["--with file", "--sources cpu,bpf-file"]);
}

/// What goes together is taken: `all` means all that are observed.
#[test]
fn all_events_need_no_subject_that_is_not_observed() {
    let all = ["--events", "all"];
    let lower = ["--detail", "distributions"];
    let file = ["--with", "file", "--detail", "distributions"];
    let file_events = ["--with", "file", "--events", "file"];
    let options: [&[&str]; 4] = [&all, &lower, &file, &file_events];
    for (place, options) in options.into_iter().enumerate() {
        let is_with = options.contains(&"--with");
        let sources = if is_with { "cpu,bpf-file" } else { "cpu" };
        let run = scratch(&format!("together-{place}")).join("run");
        succeed(
            sonde()
                .args(["record", "-q", "--sources", sources, "-o"])
                .arg(&run)
                .args(options)
                .args(["--", "true"]),
        );
    }
}

fn manifest(run: &std::path::Path) -> Value {
    let text = std::fs::read_to_string(run.join("run.json")).expect("run.json is there");
    serde_json::from_str(&text).expect("run.json is JSON")
}

fn state(manifest: &Value, source: &str) -> (String, String) {
    let sources = manifest["sources"].as_array().expect("sources");
    let found = sources.iter().find(|s| s["name"] == source);
    let text = |field: &str| {
        let value = found.map(|s| &s[field]);
        value.and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    (text("state"), text("detail"))
}

/// A kernel that lacks a tracepoint: only what depends on it is missing.
#[test]
fn a_missing_hook_costs_only_its_part() {
    if !can_run("a_missing_hook_costs_only_its_part", &[Need::Root]) {
        return;
    }
    let dir = scratch("hooks");
    let record = |name: &str, without: &str| {
        let run = dir.join(name);
        succeed(
            sonde()
                .env("SONDE_WITHOUT_HOOKS", without)
                .args(["record", "-q", "-o"])
                .arg(&run)
                .args(["--sources", "cpu,bpf-disk", "--", "true"]),
        );
        manifest(&run)
    };
    let needed = record("needed", "block_rq_issue");
    let (state_of, detail) = state(&needed, "bpf-disk");
    assert_eq!(state_of, "unsupported");
    assert!(detail.contains("block_rq_issue"), "{detail}");
    assert_eq!(state(&needed, "cpu").0, "available");

    let useful = record("useful", "block_rq_insert");
    assert_eq!(state(&useful, "bpf-disk").0, "available");
    let programs = useful["programs"].as_array().expect("programs");
    for program in programs {
        let wanted = if program["hook"] == "block_rq_insert" {
            "unsupported"
        } else {
            "attached"
        };
        assert_eq!(program["state"], wanted, "{program}");
    }
    assert!(programs.len() > 3, "{programs:?}");
}

/// A question that needs what was not recorded names the option that would have.
#[test]
fn a_run_without_distributions_says_how_to_get_them() {
    let dir = scratch("without");
    let run = dir.join("run");
    succeed(
        sonde()
            .args(["record", "-q", "--detail", "samples", "-o"])
            .arg(&run)
            .args(["--sources", "disk,cpu", "--", "true"]),
    );
    for (expression, says) in [
        ("disk.ios by latency", "--detail"),
        ("disk.ios by process, latency", "--events disk"),
        ("net.segments by size", "--detail"),
        ("file.ops by file", "--with file"),
    ] {
        let out = output(sonde().arg("get").arg(&run).arg(expression));
        let message = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(2), "{expression}: {message}");
        assert!(message.contains(says), "{expression}: {message}");
    }
}

/// Without root the recording goes on, and says what root would add.
#[test]
fn without_root_the_rest_is_recorded() {
    let needs = [Need::Root, Need::Program("setpriv")];
    if !can_run("without_root_the_rest_is_recorded", &needs) {
        return;
    }
    let dir = scratch("unprivileged");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    std::fs::set_permissions(&dir, mode).expect("the scratch directory is ours");
    // The build directory may be in a home that others cannot enter.
    let binary = dir.join("sonde");
    std::fs::copy(env!("CARGO_BIN_EXE_sonde"), &binary).expect("the binary can be copied");
    let record = |name: &str, options: &[&str]| {
        let run = dir.join(name);
        let out = output(
            std::process::Command::new("setpriv")
                .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
                .arg(&binary)
                .args(["record", "-o"])
                .arg(&run)
                .args(options)
                .args(["--", "true"]),
        );
        let told = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(out.status.success(), "{options:?}: {told}");
        // It is told in lines of a terminal.
        let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
        (run, told)
    };
    let (_, told) = record("told", &[]);
    assert_eq!(told.matches("not observed: ").count(), 1, "{told}");
    let wanted = "bpf-disk, bpf-net, bpf-tcp, bpf-cpu (denied; allowed with: sudo sonde, or the \
                  capabilities CAP_BPF, CAP_PERFMON and CAP_SYS_RESOURCE)";
    assert!(told.contains(wanted), "{told}");
    assert!(!told.contains("nothing of"), "{told}");
    let (_, told) = record("named", &["--with", "file", "--events", "disk,file"]);
    let wanted = "There will be nothing of --events disk, --with file, --events file";
    assert!(told.contains(wanted), "{told}");
    let (_, told) = record("samples", &["--detail", "samples"]);
    assert!(!told.contains("not observed"), "{told}");
    let (run, told) = record("quiet", &["-q"]);
    assert_eq!(told, "");
    let manifest = manifest(&run);
    assert_eq!(manifest["state"], "complete");
    let (state_of, detail) = state(&manifest, "bpf-disk");
    assert_eq!(state_of, "denied", "{detail}");
    assert!(detail.contains("CAP_BPF"), "{detail}");
    assert_eq!(state(&manifest, "cpu").0, "available");
}

/// A kernel that does not describe its types: for these processes alone, nothing is where it would.
#[test]
fn without_types_of_the_kernel_the_rest_is_recorded() {
    let needs = [Need::Root, Need::Program("unshare"), Need::Program("mount")];
    if !can_run("without_types_of_the_kernel_the_rest_is_recorded", &needs) {
        return;
    }
    let run = scratch("without-types").join("run");
    let on_such = |then: &str, arguments: &[&str]| {
        let mut unshare = std::process::Command::new("unshare");
        unshare.args(["--mount", "sh", "-ec"]);
        let mount = "mount -t tmpfs sonde-test /sys/kernel/btf";
        unshare.arg(format!("{mount}; {then}; exec \"$@\""));
        unshare.arg("sh").arg(env!("CARGO_BIN_EXE_sonde"));
        output(unshare.args(arguments).env_remove("SONDE_RUN"))
    };
    let path = run.display().to_string();
    let record = |then: &str, options: &[&str]| {
        let _ = std::fs::remove_dir_all(&run);
        let begin = ["record", "-o", &path];
        let arguments = [&begin[..], options, &["--", "true"]].concat();
        let out = on_such(then, &arguments);
        let told = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(out.status.success(), "{told}");
        // It is told in lines of a terminal.
        told.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let wanted = "a kernel that describes its types, CONFIG_DEBUG_INFO_BTF";
    // One that describes them in a way that nobody knows.
    let told = record("head -c 4096 /dev/zero >/sys/kernel/btf/vmlinux", &[]);
    let other = format!("bpf-cpu (needs {wanted} (of another format))");
    assert!(told.contains(&other), "{told}");
    let told = record("true", &[]);
    let missing = format!("not observed: bpf-disk, bpf-net, bpf-tcp, bpf-cpu (needs {wanted}");
    assert!(told.contains(&missing), "{told}");
    let told = record("true", &["--with", "file", "--events", "all"]);
    assert!(
        told.contains("There will be nothing of --with file"),
        "{told}"
    );
    let doctor = on_such("true", &["doctor", "--json"]);
    assert!(doctor.status.success(), "{doctor:?}");
    let doctor: Value = serde_json::from_slice(&doctor.stdout).expect("JSON");
    let manifest = manifest(&run);
    for source in ["bpf-disk", "bpf-net", "bpf-tcp", "bpf-cpu", "bpf-file"] {
        let (state_of, detail) = state(&manifest, source);
        assert_eq!(state_of, "unsupported", "{source}: {detail}");
        assert!(detail.contains(wanted), "{source}: {detail}");
        let mut lines = doctor.as_array().expect("a list").iter();
        let line = lines.find(|s| s["source"] == source).expect("a line");
        assert_eq!(line["state"], "unsupported", "{line}");
        let detail = line["detail"].as_str().expect("what it needs");
        assert!(detail.contains(wanted), "{line}");
    }
    assert_eq!(state(&manifest, "cpu").0, "available");
    assert_eq!(manifest["state"], "complete");
}
