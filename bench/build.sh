#!/usr/bin/env bash
# How long a clean release build takes on two processors. In a target directory of its own,
# so that nothing built is thrown away. Sources of dependencies are fetched before.
#
#   bench/build.sh

. "$(dirname "$0")/lib.sh"

need cargo taskset
target=$(mktemp -d "${TMPDIR:-/var/tmp}/sonde-build.XXXXXX")
trap 'rm -rf "$target"' EXIT
cd "$root"
cargo fetch --locked
from=$EPOCHREALTIME
CARGO_TARGET_DIR=$target taskset -c 0,1 cargo build --release --locked --offline
result build.clean s "$(calc "$EPOCHREALTIME - $from")" '<= 420'
