#!/usr/bin/env bash
# Builds the web page of `sonde view` into web/dist, if it is not there or older than its source.
# Where Node is missing or too old, says so: all else is built without the page.
set -eu

# Vite 8 needs it.
least_node=20

cd "$(dirname "$0")/.."
[ -f web/package.json ] || exit 0

node_is_new_enough() {
    command -v npm >/dev/null 2>&1 && command -v node >/dev/null 2>&1 || return 1
    local have
    have=$(node --version | tr -d v | cut -d. -f1)
    [ "$have" -ge "$least_node" ]
}

is_fresh() {
    [ -e web/dist/index.html ] || return 1
    local newer
    newer=$(find web -path web/node_modules -prune -o -path web/dist -prune -o \
        -type f -newer web/dist/index.html -print -quit)
    [ -z "$newer" ]
}

if is_fresh; then
    exit 0
elif node_is_new_enough; then
    cd web
    npm ci --no-audit --no-fund --silent
    npm run --silent build
else
    echo "no Node $least_node or newer (https://nodejs.org): the web page is left out;" >&2
    echo "all else is built, and sonde view says what is missing" >&2
fi
