//! What the programs in the kernel calculate is what the rest of the project calculates, or what the
//! plain definition says: the same C, compiled for this machine.
#![cfg(feature = "ebpf")]
#![allow(
    clippy::disallowed_methods,
    reason = "runs the compiler that the programs are built with, and what it makes"
)]

use std::io::Write;
use std::process::{Command, Stdio};

/// What a program says that has `main` as the body of its main function and uses `header`.
fn said(header: &str, main: &str, input: String) -> Vec<i64> {
    let dir = std::env::temp_dir().join(format!("sonde-{header}-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let (source, program) = (dir.join("program.c"), dir.join("program"));
    let path = format!("{}/src/bpf/{header}", env!("CARGO_MANIFEST_DIR"));
    let text = format!(
        "#include \"{path}\"\nint scanf(const char *, ...);\nint printf(const char *, ...);\n\
         int main(void)\n{{\n{main}\nreturn 0;\n}}\n"
    );
    std::fs::write(&source, text).unwrap();
    let clang = std::env::var("CLANG").unwrap_or_else(|_| "clang".into());
    let compiler = Command::new(clang)
        .args(["-O2", "-w", "-o"])
        .args([&program, &source])
        .status();
    assert!(compiler.unwrap().success());

    let mut child = Command::new(&program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    std::fs::remove_dir_all(&dir).unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|l| l.parse().unwrap()).collect()
}

/// What lies in the last cell and beyond.
const END: u64 = 1 << 37;
const LAST_CELL: u32 = 2047;

/// Both ends of every cell, and what is beside them.
fn values() -> Vec<u64> {
    let mut values: Vec<u64> = (0..1 << 12).collect();
    for cell in 128..=LAST_CELL {
        let first = run::grid::lower(cell);
        values.extend([first - 1, first, first + 1]);
    }
    for power in 12..64 {
        let first = 1_u64 << power;
        values.extend([first - 1, first, first + 1, first | (first - 1)]);
    }
    values
}

#[test]
fn the_programs_find_the_cells_of_the_grid() {
    let main = "u64 value;\n\
        while (scanf(\"%llu\", &value) == 1)\n\
            printf(\"%u\\n\", grid(value));";
    let values = values();
    let cells = said(
        "kernel.h",
        main,
        values.iter().map(|v| format!("{v}\n")).collect(),
    );
    assert_eq!(cells.len(), values.len());
    for (value, cell) in values.into_iter().zip(cells) {
        let expected = if value < END {
            run::grid::index(value)
        } else {
            LAST_CELL
        };
        assert_eq!(cell, i64::from(expected), "{value}");
    }
}

/// Places near each other, far from each other, the same and as far as disks go.
#[test]
fn the_nearest_end_is_the_nearest() {
    const PLACES: usize = 18;
    const NO_END: u64 = 1 << 62;
    let mut state = 1_u64;
    let mut next = |below: u64| {
        // Knuth's linear congruential generator.
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 8) % below
    };
    let mut cases: Vec<[u64; PLACES]> = vec![[0; PLACES]];
    for power in 1..56 {
        for _ in 0..200 {
            cases.push(std::array::from_fn(|_| {
                let smaller = next(power) + 1;
                next(1 << smaller)
            }));
        }
        // Some where nothing has ended yet, as disks begin.
        for _ in 0..20 {
            let mut places = std::array::from_fn(|_| next(1 << power));
            places[2 + next(16) as usize..].fill(NO_END);
            cases.push(places);
        }
    }
    let main = "u64 at, end, ends[ENDS];\n\
        while (scanf(\"%llu %llu\", &at, &end) == 2) {\n\
            for (int i = 0; i < ENDS; i++)\n\
                scanf(\"%llu\", &ends[i]);\n\
            for (int i = 0; i < ENDS; i++)\n\
                ends[i] = -ends[i];\n\
            printf(\"%lld\\n\", nearest(at, end, ends));\n\
        }";
    let words = cases.iter().flatten().map(|v| format!("{v}\n")).collect();
    let found = said("disk_nearest.h", main, words);
    assert_eq!(found.len(), cases.len());
    for ([at, ends @ ..], found) in cases.iter().zip(found) {
        let known = ends.iter().filter(|end| **end != NO_END);
        let mut distances = known.map(|end| *at as i64 - *end as i64);
        assert!(
            distances.clone().any(|d| d == found),
            "{at} {ends:?}: {found}"
        );
        assert!(
            distances.all(|d| d.unsigned_abs() >= found.unsigned_abs()),
            "{at} {ends:?}: {found}"
        );
    }
}
