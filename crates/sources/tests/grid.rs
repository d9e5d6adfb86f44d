//! The histogram grid that the programs in the kernel use (`kernel.h`) is that of the rest
//! (`run::grid`): the same C, compiled for this machine, finds the same cells.
#![cfg(feature = "ebpf")]
#![allow(
    clippy::disallowed_methods,
    reason = "runs the compiler that the programs are built with, and what it makes"
)]

use std::io::Write;
use std::process::{Command, Stdio};

/// Reads values, writes the cell of each.
const MAIN: &str = "\n\
    int scanf(const char *, ...);\n\
    int printf(const char *, ...);\n\
    int main(void)\n\
    {\n\
        u64 value;\n\
        while (scanf(\"%llu\", &value) == 1)\n\
            printf(\"%u\\n\", grid(value));\n\
        return 0;\n\
    }\n";

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
    let dir = std::env::temp_dir().join(format!("sonde-grid-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let (source, program) = (dir.join("grid.c"), dir.join("grid"));
    let header = concat!(env!("CARGO_MANIFEST_DIR"), "/src/bpf/kernel.h");
    std::fs::write(&source, format!("#include \"{header}\"{MAIN}")).unwrap();
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
    let values = values();
    let text: String = values.iter().map(|v| format!("{v}\n")).collect();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || stdin.write_all(text.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    std::fs::remove_dir_all(&dir).unwrap();

    let cells = String::from_utf8(output.stdout).unwrap();
    let cells: Vec<u32> = cells.lines().map(|l| l.parse().unwrap()).collect();
    assert_eq!(cells.len(), values.len());
    for (value, cell) in values.into_iter().zip(cells) {
        let expected = if value < END {
            run::grid::index(value)
        } else {
            LAST_CELL
        };
        assert_eq!(cell, expected, "{value}");
    }
}
