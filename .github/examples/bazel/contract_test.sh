#!/bin/sh
# Usage: contract_test.sh AOTGATE BASE_LEDGER
# Exit status: that of aotgate (0 passed, 1 blocked, 2 could not judge).
set -eu

aotgate=$PWD/$1
base=$2

# Runfiles are links, and aotgate follows none inside the tree that it judges.
tree=$TEST_TMPDIR/tree
mkdir -p "$tree"
cp -RL "$TEST_SRCDIR/$TEST_WORKSPACE/." "$tree"
cd "$tree"

# The windows count from the ledger's dates to today: with a fixed day the test's result can be cached for good.
today=${AOTGATE_TODAY:+--today=$AOTGATE_TODAY}

"$aotgate" ledger --verify ./ $today
exec "$aotgate" check --base "$base" --head ./ --goldens none $today
