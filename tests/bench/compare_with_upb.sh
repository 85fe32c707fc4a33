#!/usr/bin/env bash
# Reading artifacts beside Python protobuf (upb) on the same bytes, beside copying them, and record files beside
# crate `riegeli`: one run, interleaved, so that all see the same machine.
#
#   PYTHON            a Python with the package protobuf     default: python3
#   AOTGATE_GOLDENS   more artifacts than the committed ones
#   ROUNDS            default: 15
#
# upb reads no split protos: it gets the serialized executable, and so do we where the two are compared.
set -euo pipefail
cd "$(dirname "$0")/../.."
partner=$(cargo bench --locked --bench upb --no-run --message-format=json 2>/dev/null |
  sed -n 's/.*"executable":"\([^"]*\/upb-[^"]*\)".*/\1/p')
[ -n "$partner" ] || { echo "the benchmark does not build: cargo bench --bench upb --no-run" >&2; exit 2; }
exec "${PYTHON:-python3}" tests/bench/compare_with_upb.py "$partner" "${ROUNDS:-15}"
