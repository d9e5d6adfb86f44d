#!/usr/bin/env bash
# Makes the files that are generated from tables in the code.
#
#   scripts/generate.sh SONDE [DIR]    into DIR, docs/reference if none is given
set -eu

sonde=${1:?usage: generate.sh PATH-OF-SONDE [DIR]}
into=${2:-docs/reference}
mkdir -p "$into"
"$sonde" catalog --markdown >"$into/catalog.md"
"$sonde" formats --markdown >"$into/formats.md"
"$sonde" knobs --markdown >"$into/knobs.md"
"$sonde" doctor --markdown >"$into/sources.md"
"$sonde" man >"$into/sonde.1"
for shell in bash zsh fish; do
    "$sonde" completion "$shell" >"$into/completion.$shell"
done
