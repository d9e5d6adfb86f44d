//! Sources whose programs run in the kernel, in a build that has none: each says what it would need.
#![cfg(not(feature = "ebpf"))]

use sources::{Availability, Detail, Host, Look, SOURCES};

#[test]
fn a_build_without_ebpf_says_so() {
    let subjects = || ["disk", "net", "tcp", "file"].map(str::to_owned).to_vec();
    let host = Host {
        look: Look {
            detail: Detail::Events,
            events: subjects(),
            with: subjects(),
            ..Look::default()
        },
        ..Host::default()
    };
    let mut names = Vec::new();
    for entry in SOURCES.iter().filter(|e| e.detail > Detail::Samples) {
        assert!(entry.wanted(&host.look), "{}", entry.name);
        match (entry.open)(&host) {
            Err(Availability::Unsupported { needs }) => {
                assert_eq!(needs, "a build with the cargo feature `ebpf`");
            }
            Err(other) => panic!("{}: {other}", entry.name),
            Ok(_) => panic!("{} opens", entry.name),
        }
        names.push(entry.name);
    }
    let all = [
        "bpf-disk",
        "bpf-net",
        "bpf-tcp",
        "bpf-cpu",
        "bpf-nfs",
        "bpf-nfs-client",
        "bpf-file",
    ];
    assert_eq!(names, all);
}
