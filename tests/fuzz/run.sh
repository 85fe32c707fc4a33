#!/usr/bin/env bash
# Every target, or those named, one after the other; ends with what each did.
#
#   SECONDS_EACH   default: 600
#   LOGS           folder for what libFuzzer prints    default: a new one
set -euo pipefail
cd "$(dirname "$0")"
LOGS=${LOGS:-$(mktemp -d)}
targets=("$@"); [ $# -gt 0 ] || mapfile -t targets < <(cargo +nightly fuzz list --fuzz-dir .)
status=0
for target in "${targets[@]}"; do
  cargo +nightly fuzz run --fuzz-dir . "$target" -- \
    -max_total_time="${SECONDS_EACH:-600}" -rss_limit_mb=2048 -timeout=10 -max_len=65536 -print_final_stats=1 \
    > "$LOGS/$target.log" 2>&1 || { status=1; echo "$target: found something, see $LOGS/$target.log" >&2; }
done
for target in "${targets[@]}"; do
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$LOGS/$target.log")
  rate=$(sed -n 's/^stat::average_exec_per_sec: *//p' "$LOGS/$target.log")
  rss=$(sed -n 's/^stat::peak_rss_mb: *//p' "$LOGS/$target.log")
  cover=$(grep -o 'cov: [0-9]* ft: [0-9]* corp: [0-9]*' "$LOGS/$target.log" | tail -n1)
  echo "$target: ${runs:-?} runs, ${rate:-?}/s, $cover, peak ${rss:-?} MB"
done
exit $status
