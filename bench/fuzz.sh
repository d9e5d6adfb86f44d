#!/usr/bin/env bash
# Feeds the parsers of crates/formats with inputs that libFuzzer makes up, for so many seconds:
#
#     bench/fuzz.sh SECONDS [JOBS]
#
# CI runs it for some seconds; by hand longer, before a release and after work on a parser. The
# first build takes 460 s of processor time, most of it for what `formats` depends on; after a
# change of a parser it takes seconds. The test `mutations` makes the same checks without it.
#
# Needs no nightly compiler: the coverage comes from LLVM's own pass, and the code has no
# `unsafe` that a sanitizer would have to watch. It starts with the formats' examples, fixtures,
# described tables (crates/formats/fuzz/own) and (SONDE_CAPTURES, or ../shared/fixtures) captures, and
# keeps what it finds useful (SONDE_CORPUS, or crates/formats/fuzz/corpus). An input that fails is kept
# in crates/formats/fuzz/artifacts; run the program that is named at the end with it again.

set -euo pipefail

seconds=${1:?bench/fuzz.sh SECONDS [JOBS]}
jobs=${2:-1}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
fuzz=$root/crates/formats/fuzz
target=$(rustc -vV | sed -n 's/^host: //p')
build=${CARGO_TARGET_DIR:-$fuzz/target}

command -v clang++ g++ c++ >/dev/null || { echo "fuzz: needs a C++ compiler" >&2; exit 2; }

export RUSTFLAGS="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=3 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
-Cllvm-args=-sanitizer-coverage-trace-compares"
cargo build --manifest-path "$fuzz/Cargo.toml" --target "$target" --target-dir "$build"
program=$build/$target/debug/import

# The program writes the seeds itself: it knows the number of each format.
corpus=${SONDE_CORPUS:-$fuzz/corpus/import}
mkdir -p "$corpus" "$fuzz/artifacts"
rm -f "$corpus"/seed-*
captures=${SONDE_CAPTURES:-$root/../shared/fixtures}

SONDE_SEEDS=$corpus SONDE_CAPTURES=$captures \
    "$program" "$corpus" -max_total_time="$seconds" -max_len=8192 -timeout=10 \
    -rss_limit_mb=1024 -jobs="$((jobs - 1))" -workers="$jobs" -print_final_stats=1 \
    -artifact_prefix="$fuzz/artifacts/"
echo "fuzz: nothing found; an input is tried again with $program FILE" >&2
