#!/usr/bin/env bash
# The page of `sonde view`: how large it is, and how long script and paint of a frame take while
# panning and zooming on cached answers (a heat map of 2,000 by 200 cells, areas and lines below),
# read from Chromium's trace. Needs Node 20, npm and chromium; no graphics card.

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need node npm chromium

cd "$root/web"
[ -d node_modules ] || npm ci --no-audit --no-fund --silent
npm run --silent build > "$out/page-build.txt"

bytes=0
for file in dist/index.html dist/assets/*; do
    bytes=$((bytes + $(gzip -9c "$file" | wc -c)))
done
result page.size "KB, compressed" "$(calc "$bytes / 1000")" "<= 250"

npm run --silent bench > "$out/page-frames.json"
field() { node -p "JSON.parse(require('fs').readFileSync(process.argv[1], 'utf8')).$1" "$out/page-frames.json"; }
result page.frame.p95 "ms of processor time of script and paint" "$(field frame_p95_ms)" "<= 16"
result page.frame.p50 "ms of processor time of tasks, median" "$(field tasks_ms.p50)"
