//! What is set is set, as other tools see it, and put back to the byte.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "tests run programs, write files, read clocks and tell why they skip"
)]

mod support;

use std::path::Path;

use support::{Net, Scratch, can_run, left_changed, put, said, text, turned};

/// Each knob of an interface, its value, and the words by which another tool tells it.
const INTERFACE: &[(&str, &str, &str, &str)] = &[
    ("v0.mtu", "1400", "ip -d -o link show dev v0", "mtu 1400"),
    (
        "v0.txqueuelen",
        "77",
        "ip -d -o link show dev v0",
        "qlen 77",
    ),
    (
        "v0.gso_max_size",
        "20000",
        "ip -d -o link show dev v0",
        "gso_max_size 20000",
    ),
    (
        "v0.gso",
        "off",
        "ethtool -k v0",
        "generic-segmentation-offload: off",
    ),
    (
        "v0.tso",
        "off",
        "ethtool -k v0",
        "tcp-segmentation-offload: off",
    ),
    (
        "v0.gro",
        "on",
        "ethtool -k v0",
        "generic-receive-offload: on",
    ),
    (
        "v0.tx-udp-segmentation",
        "off",
        "ethtool -k v0",
        "tx-udp-segmentation: off",
    ),
    ("v0.tx_channels", "2", "ethtool -l v0", "TX: 2"),
    ("v0.rx_channels", "3", "ethtool -l v0", "RX: 3"),
    ("t0.rx_frames", "7", "ethtool -c t0", "rx-frames: 7"),
];

#[test]
fn interfaces_as_ip_and_ethtool_see_them() {
    if !can_run("interfaces", &["ip", "nsenter", "ethtool"]) {
        return;
    }
    let scratch = Scratch::new("interfaces");
    let net = Net::new("interfaces");
    net.inside("ip link del v0");
    net.inside("ip link add v0 numtxqueues 4 numrxqueues 4 type veth peer name v1");
    net.inside("ip tuntap add dev t0 mode tap");
    // Without a channel for each of its peer's, a veth refuses.
    net.inside("ethtool -L v1 rx 1 tx 1");
    // Words of tables, whatever the width of their columns.
    let seen = |line: &str| {
        net.inside(line)
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    };
    for (knob, value, line, told) in INTERFACE {
        let start = seen(line);
        // The first `TX:` of the channels is their maximum.
        let count = |text: &str| text.matches(told).count();
        assert_eq!(count(&start), 0, "{knob} is {value} already: {start}");
        println!("{knob} = {value}");
        let knobs = [format!("net:{knob}={value}")];
        left_changed(&scratch, Some(&net), &knobs, || count(&seen(line)) == 1);
        let restored = lab::recover(&scratch.state())
            .expect("a journal")
            .expect("some work");
        assert!(restored.is_whole(), "{}", restored.complaint());
        assert_eq!(seen(line), start, "{knob}");
    }
}

/// Harmless settings of the machine itself, for a moment.
#[test]
fn settings_of_the_machine() {
    if !can_run("settings of the machine", &[]) {
        return;
    }
    let scratch = Scratch::new("machine");
    let thp = Path::new("/sys/kernel/mm/transparent_hugepage");
    let scan = thp.join("khugepaged/scan_sleep_millisecs");
    let zswap = Path::new("/sys/module/zswap/parameters/max_pool_percent");
    let mut tried = 0;
    for (knob, file) in [
        (
            "thp:khugepaged/scan_sleep_millisecs=9999,11111",
            scan.as_path(),
        ),
        ("thp:defrag=madvise,defer", &thp.join("defrag")),
        ("module:zswap.max_pool_percent=19,21", zswap),
        (
            "sysctl:vm.page-cluster=2,4",
            Path::new("/proc/sys/vm/page-cluster"),
        ),
    ] {
        if !file.exists() {
            println!("{} is not here: not tried", file.display());
            continue;
        }
        let start = text(file);
        let out = turned(None, &scratch.state(), 9, &[knob.to_owned()]);
        assert!(out.status.success(), "{knob}: {}", said(&out));
        assert_eq!(text(file), start, "{knob}");
        tried += 1;
    }
    assert!(tried > 0, "nothing was tried");
}

#[test]
fn an_interrupt_that_may_be_moved() {
    if !can_run("interrupts", &[]) || text("/sys/devices/system/cpu/online") == "0" {
        return;
    }
    let scratch = Scratch::new("interrupt");
    let numbers = std::fs::read_dir("/proc/irq").expect("/proc/irq").flatten();
    for number in numbers.filter_map(|e| e.file_name().into_string().ok()) {
        let file = Path::new("/proc/irq")
            .join(&number)
            .join("smp_affinity_list");
        let start = text(&file);
        // Managed ones refuse even what they have.
        if start.is_empty() || std::fs::write(&file, &start).is_err() {
            continue;
        }
        let out = turned(None, &scratch.state(), 4, &[format!("irq:{number}=0,1")]);
        assert_eq!(text(&file), start, "irq {number}");
        assert!(out.status.success(), "{}", said(&out));
        return;
    }
    println!("no interrupt may be moved here: not tried");
}

/// A file is what it was to the byte, also without an end of its last line.
#[test]
fn files_to_the_byte() {
    let scratch = Scratch::new("files");
    let file = scratch.0.join("a file");
    for content in [
        "",
        "old",
        "old\n",
        "two\nlines\n\n",
        " x\t\n",
        "much longer than the new\n",
    ] {
        put(&file, content);
        let out = turned(
            None,
            &scratch.state(),
            5,
            &[format!("file:{}=new", file.display())],
        );
        assert!(out.status.success(), "{content:?}: {}", said(&out));
        assert_eq!(std::fs::read_to_string(&file).expect("text"), content);
    }
    for (content, told) in [
        (vec![0xff, 0xfe], "it is no text"),
        (vec![b'x'; 70_000], "64 KiB"),
    ] {
        std::fs::write(&file, &content).expect("room");
        let out = turned(
            None,
            &scratch.state(),
            5,
            &[format!("file:{}=new", file.display())],
        );
        assert_eq!(out.status.code(), Some(2));
        assert!(said(&out).contains(told), "{}", said(&out));
        assert_eq!(std::fs::read(&file).expect("bytes"), content);
    }
    // The advice for a person gives the same bytes.
    put(&file, "it's\nold");
    left_changed(
        &scratch,
        None,
        &[format!("file:{}=new", file.display())],
        || text(&file) == "new",
    );
    let journal: serde_json::Value = serde_json::from_str(&text(scratch.journal())).expect("JSON");
    let command = journal["entries"][0]["command"]
        .as_str()
        .expect("a command");
    let typed = std::process::Command::new("sh")
        .args(["-c", command])
        .status();
    assert!(typed.expect("a shell").success());
    assert_eq!(std::fs::read_to_string(&file).expect("text"), "it's\nold");
}
