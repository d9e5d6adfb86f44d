//! The program of the NFS client, run outside the kernel: few machines that build this have one. The
//! checks are in `nfs_client_programs.c`.
#![cfg(feature = "ebpf")]
#![allow(
    clippy::disallowed_methods,
    reason = "a test runs the compiler, as the build does, and what it made"
)]

mod outside;

fn check(name: &str) {
    outside::check("nfs_client_programs", name);
}

#[test]
fn a_read_is_of_its_file_and_server() {
    check("read");
}

#[test]
fn only_what_moves_data_has_a_file() {
    check("files");
}

#[test]
fn a_commit_has_a_file_and_no_bytes() {
    check("commits");
}

#[test]
fn what_failed_moved_nothing() {
    check("failures");
}

#[test]
fn other_programs_are_not_counted() {
    check("others");
}

#[test]
fn an_operation_without_a_name_is_null() {
    check("nameless");
}

#[test]
fn no_time_is_less_than_nothing() {
    check("times");
}
