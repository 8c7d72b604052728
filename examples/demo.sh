#!/usr/bin/env bash
# The demonstration behind `make demo`: a small MPI simulation runs, is killed, is started again, resumes from what was
# drained into the store, and ends as if nothing had happened. Everything happens in temporary directories. Exits with an
# error if anything differs.
# Usage: demo.sh DIRECTORY_OF_THE_PROGRAMS
set -euo pipefail

bin=$(cd "$1" && pwd)
PATH=$bin:$PATH
ranks=8
work=$(mktemp -d)
if [[ -w /dev/shm ]]; then stage=$(mktemp -d /dev/shm/forebay-demo-XXXXXX); else stage=$(mktemp -d); fi
run=
leave() {
  if [[ -n $run ]] && kill -0 "$run" 2>/dev/null; then kill -TERM "$run" && wait "$run" || true; fi
  rm -rf "$work" "$stage"
}
trap leave EXIT
cd "$work"

if command -v mpiexec.mpich >/dev/null; then mpiexec=mpiexec.mpich; else mpiexec=mpiexec; fi

headline() { printf '\n%s\n' "-- $*"; }
indent() { sed 's/^/   /'; }
# Shows a command as the user would type it, and runs it.
show() {
  printf '   $ %s\n' "$*"
  "$@" 2>&1 | indent
}
count_files() { find "$1" -type f | wc -l; }
count_bytes() { find "$1" -type f -printf '%s\n' | awk '{sum += $1} END {printf "%d", sum}'; }
megabytes() { awk -v bytes="$1" 'BEGIN {printf "%.1f MB", bytes / 1e6}'; }
fail() {
  echo "demo: $*" >&2
  exit 1
}

# The processes of ranks below the process $1.
ranks_below() {
  local child
  for child in $(pgrep -P "$1"); do
    if [[ $(ps -o comm= -p "$child") == forebay-mini-si* ]]; then echo "$child"; else ranks_below "$child"; fi
  done
}
# Waits until "$@" succeeds, a minute at most.
wait_until() {
  local end=$((SECONDS + 60))
  until "$@"; do
    ((SECONDS < end)) || fail "not within a minute: $*"
    sleep 0.1
  done
}

simulation=(forebay-mini-sim --sedov --cells 48 --steps 300 --every 30 --particles 20000)
last=dump_0010

headline "A blast wave on $ranks MPI ranks, undisturbed: one HDF5 file per rank and checkpoint"
show "$mpiexec" -n "$ranks" "${simulation[@]}" --out undisturbed
echo "   $(count_files undisturbed) files, $(megabytes "$(count_bytes undisturbed)")"

headline "The same under forebay run. When two checkpoints are in the store, a rank is killed with kill -9"
command=(forebay run --store store --stage "$stage" --relaunch 3 --aggregators 2 -- "$mpiexec" -n "$ranks" "${simulation[@]}")
printf '   $ %s\n' "${command[*]}"
"${command[@]}" >run.log 2>&1 &
run=$!
two_sets_stored() { (($(find store/sets -mindepth 2 -maxdepth 2 -name manifest 2>/dev/null | wc -l) >= 2)); }
wait_until two_sets_stored
read -r victim < <(ranks_below "$run") || fail "no rank is running any more"
kill -9 "$victim"
wait "$run" || fail "the run failed: $(tail -n 20 run.log)"
indent <run.log
grep -q 'resum' run.log || fail "the simulation has not resumed"

headline "What is in the store"
show forebay ls store
show forebay verify store

headline "The final state is that of the undisturbed run, bit for bit"
show forebay restore latest --store store --to restored
diff -r "undisturbed/$last" restored || fail "the final state differs from the undisturbed run's"
echo "   $(count_files restored) files of $last are identical"

headline "One bit of a copy of the store is flipped"
cp -r store damaged
victim=$(find damaged -type f -printf '%s %p\n' | sort -n | tail -n 1 | cut -d ' ' -f 2-)
middle=$(($(stat -c %s "$victim") / 2))
byte=$(od -An -tu1 -j "$middle" -N 1 "$victim")
printf "\\x$(printf %x $((byte ^ 16)))" | dd of="$victim" bs=1 seek="$middle" conv=notrunc status=none
if show forebay verify damaged; then fail "the damage went unnoticed"; fi

headline "What was saved"
mapfile -t sets < <(find store/sets -mindepth 1 -maxdepth 1 -printf '%f\n' | sort)
files_before=$((${#sets[@]} * ranks)) bytes_before=0 bytes_gzip=0
for set in "${sets[@]}"; do  # a set that was written again after the restart has the same size
  bytes_before=$((bytes_before + $(count_bytes "undisturbed/${set%%+*}")))
  bytes_gzip=$((bytes_gzip + $(tar -C "undisturbed/${set%%+*}" -cf - . | gzip -6 | wc -c)))
done
files_after=$(find store/sets -type f | wc -l) bytes_after=$(count_bytes store/sets)
printf '   %-12s %8s %12s\n' '' files size
printf '   %-12s %8d %12s\n' checkpoints "$files_before" "$(megabytes "$bytes_before")"
printf '   %-12s %8d %12s\n' 'tar, gzip -6' "${#sets[@]}" "$(megabytes "$bytes_gzip")"
printf '   %-12s %8d %12s\n' store "$files_after" "$(megabytes "$bytes_after")"
awk -v a="$bytes_before" -v b="$bytes_after" 'BEGIN {printf "   %.2f times smaller, and every byte came back\n", a / b}'
