//! The programs of the NFS server, run outside the kernel: few machines that build this have one. The
//! checks are in `nfs_programs.c`.
#![cfg(feature = "ebpf")]
#![allow(
    clippy::disallowed_methods,
    reason = "a test runs the compiler, as the build does, and what it made"
)]

mod outside;

fn check(name: &str) {
    outside::check("nfs_programs", name);
}

#[test]
fn a_request_of_version_3_is_an_operation() {
    check("version_3");
}

#[test]
fn each_operation_of_a_compound_has_its_own_time() {
    check("compound");
}

#[test]
fn what_is_no_operation_of_nfs_is_not_counted() {
    check("others");
}

#[test]
fn operations_of_version_4_are_known_by_name() {
    check("names");
}

#[test]
fn clients_without_a_place_are_others() {
    check("many_clients");
}

#[test]
fn what_finds_no_room_is_counted() {
    check("no_room");
}

#[test]
fn a_file_without_a_name_is_not_the_root() {
    check("nameless");
}
