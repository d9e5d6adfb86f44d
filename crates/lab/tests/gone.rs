//! Things that vanish, or come back as others, while their settings are changed.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "tests run programs, write files, read clocks and tell why they skip"
)]

mod support;

use support::{
    Disk, Group, Net, Scratch, assert_same, can_run, edit, left_changed, said, text, turned,
};

/// The queue of a loop device outlives its file: so do its settings, and they are put back.
#[test]
fn a_detached_loop_device() {
    if !can_run("a detached device", &["losetup"]) {
        return;
    }
    let (scratch, disk) = (Scratch::new("detached"), Disk::new("detached"));
    let start = disk.settings();
    let name = &disk.name;
    let knobs = [
        format!("disk:{name}.read_ahead_kb=0,4096"),
        format!("disk:{name}.scheduler=kyber,bfq"),
    ];
    left_changed(&scratch, None, &knobs, || {
        disk.get("read_ahead_kb") != start[&format!("/sys/block/{name}/queue/read_ahead_kb")]
    });
    disk.reattach();
    let restored = lab::recover(&scratch.state())
        .expect("a journal")
        .expect("something to do");
    assert!(restored.is_whole(), "{}", restored.complaint());
    assert_same(&disk.settings(), &start, "after the recovery");
}

#[test]
fn another_device_of_the_same_name_is_not_written_to() {
    if !can_run("another device", &["losetup", "ip"]) {
        return;
    }
    let (scratch, disk) = (Scratch::new("other"), Disk::new("other"));
    let before = disk.get("read_ahead_kb");
    let knobs = [format!("disk:{}.read_ahead_kb=0,4096", disk.name)];
    left_changed(&scratch, None, &knobs, || {
        disk.get("read_ahead_kb") != before
    });
    edit(&scratch, |j| {
        j["entries"][0]["identity"]["node"] = "1".into();
    });
    let now = disk.get("read_ahead_kb");
    let restored = lab::recover(&scratch.state())
        .expect("a journal")
        .expect("something to do");
    assert_eq!(disk.get("read_ahead_kb"), now, "it was written to");
    let complaint = restored.complaint();
    assert!(
        complaint.contains("another one of the same name"),
        "{complaint}"
    );
    assert!(!scratch.journal().exists(), "told once");
    disk.set("read_ahead_kb", &before);

    // The same with an interface that was removed and made anew.
    let net = Net::new("other");
    let mtu = || net.inside("ip -o link show dev v0").contains("mtu 9000");
    left_changed(&scratch, Some(&net), &["net:v0.mtu=9000".into()], mtu);
    net.inside("ip link del v0");
    net.inside("ip link add v0 mtu 9000 type veth peer name v1");
    let restored = lab::recover(&scratch.state())
        .expect("a journal")
        .expect("something to do");
    assert!(
        restored.complaint().contains("index was"),
        "{}",
        restored.complaint()
    );
    assert!(mtu(), "the new interface was written to");
}

/// From outside the namespace, as the next command would be.
#[test]
fn a_network_namespace_is_entered() {
    if !can_run("namespaces", &["ip", "ethtool", "sysctl"]) {
        return;
    }
    let (scratch, net) = (Scratch::new("inside"), Net::new("inside"));
    let start = net.settings();
    let knobs = [
        "net:v0.mtu=1400,9000",
        "net:v0.gso=off",
        "sysctl:net.ipv4.tcp_rmem=4096 9000 90000",
    ];
    left_changed(&scratch, Some(&net), &knobs.map(str::to_owned), || {
        net.settings() != start
    });
    let own = text("/proc/sys/net/ipv4/tcp_rmem");
    let restored = lab::recover(&scratch.state())
        .expect("a journal")
        .expect("something to do");
    assert!(restored.is_whole(), "{}", restored.complaint());
    assert_same(&net.settings(), &start, "after the recovery");
    assert_eq!(
        text("/proc/sys/net/ipv4/tcp_rmem"),
        own,
        "the machine's own"
    );
}

#[test]
fn a_network_namespace_that_is_gone() {
    if !can_run("namespaces", &["ip"]) {
        return;
    }
    let (scratch, net) = (Scratch::new("gone"), Net::new("gone"));
    let mtu = || net.inside("ip -o link show dev v0").contains("mtu 9000");
    left_changed(&scratch, Some(&net), &["net:v0.mtu=9000".into()], mtu);
    drop(net);
    let restored = lab::recover(&scratch.state())
        .expect("a journal")
        .expect("something to do");
    assert!(
        restored.failed.iter().all(|f| f.gone),
        "{}",
        restored.complaint()
    );
    assert!(
        restored.complaint().contains("it was removed"),
        "{}",
        restored.complaint()
    );
    assert!(!scratch.journal().exists());
}

#[test]
fn a_group_that_is_gone_and_lines_that_come_and_go() {
    if !can_run("control groups", &["losetup"]) {
        return;
    }
    let Some(group) = Group::new("blkio", "lines") else {
        println!("no version 1 hierarchy of blkio: not tried");
        return;
    };
    let (scratch, disk) = (Scratch::new("lines"), Disk::new("lines"));
    let number = text(disk.queue().join("../dev"));
    let file = group.0.join("blkio.throttle.read_bps_device");
    let knobs = [format!(
        "{}={number} 1048576",
        group.knob("blkio.throttle.read_bps_device")
    )];
    let out = turned(None, &scratch.state(), 6, &knobs);
    assert!(out.status.success(), "{}", said(&out));
    assert_eq!(text(&file), "", "no line was there");
    left_changed(&scratch, None, &knobs, || !text(&file).is_empty());
    drop(group);
    let restored = lab::recover(&scratch.state())
        .expect("a journal")
        .expect("something to do");
    assert!(
        restored.failed.iter().all(|f| f.gone),
        "{}",
        restored.complaint()
    );
    assert!(!scratch.journal().exists());
}
