#!/usr/bin/env bash
# Prepares what tests/buf_fixtures.rs reads: buf's public before/after fixtures as descriptor sets, and what buf's
# WIRE category reports on each.
#
#   usage: BUF_GIT_DIR=… [BUF=buf] tests/bench/buf_fixtures.sh DIR
#
#   BUF_GIT_DIR  git directory of a clone of bufbuild/buf
#   BUF          the buf executable (npm package @bufbuild/buf)
#   DIR          gets expected.json and fds/<fixture>.{previous,current}.binpb
set -euo pipefail
: "${BUF_GIT_DIR:?set BUF_GIT_DIR to the git directory of a clone of bufbuild/buf}"
DIR=${1:?usage: buf_fixtures.sh DIR}
BUF=$(realpath "$(command -v "${BUF:-buf}")")
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
mkdir -p "$DIR/fds"; DIR=$(realpath "$DIR")
data=private/bufpkg/bufcheck/testdata/breaking
git --git-dir="$BUF_GIT_DIR" archive HEAD $data | tar x -C "$work"

cd "$work/$data/current"
for name in *; do
  case=$work/case; rm -rf "$case"; mkdir "$case"
  for side in previous current; do
    cp -r "$work/$data/$side/$name" "$case/$side"
    # The fixtures choose other rules; only a moved root is kept, since it is part of the import paths.
    root=.
    if grep -qsE '^\s*-\s*root\b' "$case/$side/buf.yaml"; then root=root; fi
    rm -f "$case/$side"/buf.* ; printf '{"version":"v2","modules":[{"path":"%s"}],"breaking":{"use":["WIRE"]}}\n' $root > "$case/$side/buf.yaml"
    (cd "$case" && "$BUF" build $side --as-file-descriptor-set -o "$DIR/fds/$name.$side.binpb")
  done
  (cd "$case" && "$BUF" breaking current --against previous --error-format json || true) > "$work/$name.json"
done

python3 - "$work" "$DIR/expected.json" *  <<'PY'
import json, sys
work, out, *names = sys.argv[1:]
expected = {}
for name in names:
    found = []
    for line in open(f"{work}/{name}.json"):
        a = json.loads(line)
        path = (a.get("path") or "").split("/", 1)[-1].removeprefix("root/") or None
        found.append({"rule": a["type"], "path": path, "line": a.get("start_line"),
                      "end_line": a.get("end_line"), "message": a["message"]})
    expected[name] = {"WIRE": found}
json.dump(expected, open(out, "w"), indent=1)
print(len(names), "fixtures,", sum(len(e["WIRE"]) for e in expected.values()), "WIRE annotations")
PY
