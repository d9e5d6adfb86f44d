//! The programs of disks, run outside the kernel: what needs several processors at one moment, or a
//! disk that this machine does not have. The checks are in `disk_programs.c`.
#![cfg(feature = "ebpf")]
#![allow(
    clippy::disallowed_methods,
    reason = "a test runs the compiler, as the build does, and what it made"
)]

mod outside;

fn check(name: &str) {
    outside::check("disk_programs", name);
}

#[test]
fn the_depth_at_issue_is_right_where_all_are_faster() {
    check("depth");
}

#[test]
fn a_bio_that_is_handed_on_itself_completes_where_it_was_queued() {
    check("remapped");
}

#[test]
fn nothing_has_ended_before_the_first() {
    check("ends");
}

#[test]
fn a_device_keeps_its_place_when_another_goes() {
    check("places");
}

#[test]
fn room_that_is_given_back_is_used_again() {
    check("room");
}

#[test]
fn what_the_kernel_leaves_out_is_counted() {
    check("left_out");
}

#[test]
fn an_io_that_is_handed_back_is_one_with_all_of_its_bytes() {
    check("requeued");
}

#[test]
fn what_failed_is_counted_of_its_operation() {
    check("errors");
}

#[test]
fn who_asked_is_known_by_the_bio_where_nothing_tells_of_the_request() {
    check("by_bio");
}
