#!/usr/bin/env bash
# The demonstration behind `make demo`: checkpoints of a small MPI simulation go into a store and come back byte for byte.
# Everything happens in a temporary directory. Exits with an error if anything differs.
# Usage: demo.sh DIRECTORY_OF_THE_PROGRAMS
set -euo pipefail

bin=$(cd "$1" && pwd)
PATH=$bin:$PATH
ranks=8
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
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
# Content, names, modes and modification times of all files below a directory.
fingerprint() { (cd "$1" && find . -type f -printf '%P %m %T@\n' | sort && find . -type f -print0 | sort -z | xargs -0 sha256sum); }

headline "A blast wave on $ranks MPI ranks writes one HDF5 file per rank and checkpoint"
show "$mpiexec" -n "$ranks" forebay-mini-sim --cells 64 --steps 120 --every 40 --out run
echo "   $(count_files run) files, $(megabytes "$(count_bytes run)")"

headline "Each checkpoint set is packed into a store"
for set in run/dump_*; do
  name=$(basename "$set")
  show forebay pack "$set" --store store --name "$name" --step $((10#${name#dump_}))
done
show forebay ls store

headline "Everything in the store is read back and checked"
show forebay verify store

headline "The sets are restored and compared with the originals"
mkdir restored
for set in run/dump_*; do
  name=$(basename "$set")
  show forebay restore "$name" --store store --to "restored/$name"
  diff -r "$set" "restored/$name" || fail "$name differs from the original"
  diff <(fingerprint "$set") <(fingerprint "restored/$name") || fail "modes or times of $name differ"
done
echo "   $(count_files restored) files are identical: content, mode and modification time"

headline "One bit of a copy of the store is flipped"
cp -r store damaged
victim=$(find damaged -type f -printf '%s %p\n' | sort -n | tail -n 1 | cut -d ' ' -f 2-)
middle=$(($(stat -c %s "$victim") / 2))
byte=$(od -An -tu1 -j "$middle" -N 1 "$victim")
printf "\\x$(printf %x $((byte ^ 16)))" | dd of="$victim" bs=1 seek="$middle" conv=notrunc status=none
if show forebay verify damaged; then fail "the damage went unnoticed"; fi

headline "What was saved"
files_before=$(count_files run) files_after=$(count_files store)
bytes_before=$(count_bytes run) bytes_after=$(count_bytes store)
bytes_gzip=$(for set in run/dump_*; do tar -C "$set" -cf - . | gzip -6; done | wc -c)
printf '   %-12s %8s %12s\n' '' files size
printf '   %-12s %8d %12s\n' checkpoints "$files_before" "$(megabytes "$bytes_before")"
printf '   %-12s %8d %12s\n' 'tar, gzip -6' "$(find run/dump_* -maxdepth 0 | wc -l)" "$(megabytes "$bytes_gzip")"
printf '   %-12s %8d %12s\n' store "$files_after" "$(megabytes "$bytes_after")"
awk -v a="$bytes_before" -v b="$bytes_after" 'BEGIN {printf "   %.2f times smaller, and every byte came back\n", a / b}'
