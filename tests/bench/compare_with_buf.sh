#!/usr/bin/env bash
# aotgate and buf side by side on two revisions of the real XLA repository: wall time and peak memory, a fresh
# process per run, warm page cache, runs interleaved so that both see the same machine.
#
#   XLA_GIT_DIR  a clone of the public repository (its git directory)      required
#   BUF          the buf executable (npm package @bufbuild/buf)            default: buf
#   AOTGATE      the aotgate executable                                    default: target/release/aotgate
#   XLA_BASE, XLA_HEAD   revisions                                         default: 34db469cbf^ and 756478bb8b
#   RUNS         runs per case                                             default: 15
#   GIT_RUNS     runs of buf's git input                                   default: 3, 0 leaves it out
#
# buf gets the easiest input it has, two extracted directories; and for comparison only the files of the closure.
# For its git input it needs a repository that it can check out whole; files that the clone lacks are left out.
set -euo pipefail
: "${XLA_GIT_DIR:?set XLA_GIT_DIR to the git directory of an XLA clone}"
cd "$(dirname "$0")/../.."
BUF=$(command -v "${BUF:-buf}") || { echo "buf not found: set BUF" >&2; exit 2; }
AOTGATE=$(realpath "${AOTGATE:-target/release/aotgate}")
BASE=${XLA_BASE:-34db469cbf^} HEAD=${XLA_HEAD:-756478bb8b} RUNS=${RUNS:-15} GIT_RUNS=${GIT_RUNS:-3}
WORK=$(mktemp -d); trap 'rm -rf "$WORK"' EXIT
export GIT_DIR=$XLA_GIT_DIR

extract() { # revision directory: every .proto file, third_party/tsl laid at the top as the include root it is
  mkdir -p "$2"
  git ls-tree -r --name-only "$1" | grep '\.proto$' | xargs git archive "$1" -- 2>/dev/null | tar x -C "$2"
  cp -r "$2/third_party/tsl/." "$2/" 2>/dev/null && rm -rf "$2/third_party/tsl"
  find "$2" -type d -empty -delete
  printf 'version: v2\nbreaking:\n  use:\n    - WIRE\n' > "$2/buf.yaml"
}
closure() { # all-directory closure-directory
  mkdir -p "$2"
  local queue=(xla/service/gpu/gpu_executable.proto) file
  while [ ${#queue[@]} -gt 0 ]; do
    file=${queue[0]}; queue=("${queue[@]:1}")
    { [ -f "$2/$file" ] || [ ! -f "$1/$file" ]; } && continue
    mkdir -p "$2/$(dirname "$file")"; cp "$1/$file" "$2/$file"
    mapfile -t -O "${#queue[@]}" queue < <(sed -nE 's/^import[^"]*"([^"]+)".*/\1/p' "$1/$file")
  done
  cp "$1/buf.yaml" "$2/"
}
for side in base head; do
  [ $side = base ] && rev=$BASE || rev=$HEAD
  extract "$rev" "$WORK/all_$side"; closure "$WORK/all_$side" "$WORK/closure_$side"
done
if [ "$GIT_RUNS" -gt 0 ]; then # one commit per side, everything the clone has of it
  git init -q --bare "$WORK/git"; mkdir -p "$WORK/git/objects/info"
  echo "$(realpath "$XLA_GIT_DIR")/objects" > "$WORK/git/objects/info/alternates"
  for side in base head; do
    [ $side = base ] && rev=$BASE || rev=$HEAD
    module=$(printf 'version: v2\nmodules:\n  - path: .\n    excludes: [third_party/tsl]\n  - path: third_party/tsl\nbreaking:\n  use: [WIRE]\n' | git --git-dir="$WORK/git" hash-object -w --stdin)
    git ls-tree -r "$rev" | awk '{print $3" "$0}' > "$WORK/list"
    cut -d' ' -f1 "$WORK/list" | git cat-file --batch-check='%(objectname) %(objecttype)' > "$WORK/have"
    awk 'NR==FNR{if($2=="blob")have[$1]=1;next} ($1 in have){sub(/^[^ ]+ /,"");print}' "$WORK/have" "$WORK/list" > "$WORK/kept"
    printf '100644 blob %s\tbuf.yaml\n' "$module" >> "$WORK/kept"
    GIT_DIR=$WORK/git GIT_INDEX_FILE=$WORK/index.$side git update-index --index-info < "$WORK/kept"
    tree=$(GIT_DIR=$WORK/git GIT_INDEX_FILE=$WORK/index.$side git write-tree)
    commit=$(GIT_DIR=$WORK/git git -c user.name=bench -c user.email=bench@invalid commit-tree -m "$side" "$tree")
    GIT_DIR=$WORK/git git update-ref "refs/heads/$side" "$commit"
  done
fi
unset GIT_DIR

measure() { # name command...: appends microseconds and kilobytes
  local name=$1 status=0 start end; shift
  start=$(date +%s%N); "$@" > "$WORK/out" 2>&1 || status=$?; end=$(date +%s%N)
  # Findings end with 1 (aotgate) or 100 (buf); anything else did not judge, and its time says nothing.
  case $status in
    0|1|100) ;;
    *) echo "$name ended with status $status:" >&2; head -5 "$WORK/out" >&2; exit 1 ;;
  esac
  if grep -q '^Failure:' "$WORK/out"; then echo "$name failed:" >&2; head -5 "$WORK/out" >&2; exit 1; fi
  /usr/bin/time -f '%M' -o "$WORK/t" "$@" > /dev/null 2>&1 || true
  echo "$(( (end - start) / 1000 )) $(tail -n1 "$WORK/t")" >> "$WORK/$name.times"
}
cd "$WORK"
ours=("$AOTGATE" check --repo "$XLA_GIT_DIR" --base "$BASE" --head "$HEAD" --goldens none --format json)
for _ in $(seq "$RUNS"); do
  measure aotgate "${ours[@]}"
  measure buf_closure "$BUF" breaking closure_head --against closure_base
  measure buf_all "$BUF" breaking all_head --against all_base
done
for _ in $(seq "$GIT_RUNS"); do
  measure buf_git "$BUF" breaking git#format=git,branch=head --against git#format=git,branch=base
done
printf '%-12s %10s %10s %10s %12s\n' case median_ms min_ms peak_MiB times_aotgate
median() { sort -n | awk '{v[NR]=$1} END{print v[int((NR+1)/2)]}'; }
own=$(cut -d' ' -f1 aotgate.times | median)
for name in aotgate buf_closure buf_all buf_git; do
  [ -f $name.times ] || continue
  awk -v name=$name -v own="$own" -v median="$(cut -d' ' -f1 $name.times | median)" '
    {if (min=="" || $1<min) min=$1; if ($2>peak) peak=$2}
    END{printf "%-12s %10.1f %10.1f %10.1f %12.1f\n", name, median/1000, min/1000, peak/1024, median/own}' $name.times
done
