#!/usr/bin/env bash
# The demonstration behind `make demo-looking-in`: what a run stored is looked into without restoring it. Its store is mounted, and a
# plane is drawn from files in the mount; a BP file that ADIOS 1.13 wrote becomes sets of a store, is asked a question, and comes back
# as BP; a page tells the story of the run. Exits with an error if anything differs.
# Usage: demo.sh DIRECTORY_OF_THE_PROGRAMS [RESULTS]
# RESULTS, a directory, gets the picture, the page and the BP file; without it nothing is kept.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
PATH=$(cd "$1" && pwd):$PATH
if command -v /usr/bin/python3 >/dev/null; then python=/usr/bin/python3; else python=python3; fi  # where h5py is installed
if command -v mpiexec.mpich >/dev/null; then mpiexec=mpiexec.mpich; else mpiexec=mpiexec; fi
if [[ ! -w /dev/fuse ]] || ! command -v fusermount3 >/dev/null; then
  echo "demo: /dev/fuse or fusermount3 is not there, so nothing can be mounted: a machine or container with FUSE is needed" >&2
  exit 77
fi
if ! "$python" -c 'import h5py' 2>/dev/null; then
  echo "demo: $python has no h5py, by which the files are opened: install python3-h5py" >&2
  exit 77
fi
results=
if (($# > 1)); then
  mkdir -p "$2"
  results=$(cd "$2" && pwd)
fi
work=$(mktemp -d)
leave() {
  if mountpoint -q "$work/mnt"; then fusermount3 -u -z "$work/mnt"; fi
  rm -rf "$work"
}
trap leave EXIT
cd "$work"
mkdir mnt
kept=${results:-$work}

headline() { printf '\n%s\n' "-- $*"; }
indent() { sed 's/^/   /'; }
show() {
  printf '   $ %s\n' "$*"
  "$@" 2>&1 | indent
}
fail() {
  echo "demo: $*" >&2
  exit 1
}

headline "A blast wave on 8 MPI ranks leaves a checkpoint every 20 steps, which are packed into a store"
"$mpiexec" -n 8 forebay-mini-sim --sedov --cells 48 --steps 120 --every 20 --particles 0 --out dumps | tail -n 1 | indent
for dump in dumps/dump_*; do forebay pack "$dump" --store store --profile max >/dev/null; done
show forebay ls store

headline "The store is mounted: the original files, which are decoded as they are read"
show forebay mount store mnt --background --log mount.log
show ls mnt mnt/latest
last=$(readlink mnt/latest)
diff -r "dumps/$last" mnt/latest || fail "a file in the mount differs from the original"
echo "   the files of $last are the original ones, byte for byte; nothing was restored"

headline "A program that knows nothing of Forebay draws a plane from the files in the mount"
show "$python" "$here/plot.py" mnt/latest Density "$kept/density.png"
fusermount3 -u mnt

headline "A BP file that ADIOS 1.13 wrote becomes sets of a store"
cp "$here/globaltime.bp" heat.bp
show forebay convert heat.bp --format store --to heat --profile max
forebay ls heat | sed -n '1,3p' | indent

headline "When does the temperature exceed 1300 for the first time, and where?"
show forebay query heat 'temperature > 1300' --first --values --limit 3

headline "The sets come back as a BP file, and say the same"
show forebay convert heat --to "$kept/back.bp" --overwrite
for file in heat.bp "$kept/back.bp"; do forebay read "$file" | tail -n +2 >"$(basename "$file").listed"; done
diff heat.bp.listed back.bp.listed || fail "the BP file that came back has another listing"
forebay convert heat.bp --format npy --to before >/dev/null
forebay convert "$kept/back.bp" --format npy --to after >/dev/null
diff -r before after || fail "the BP file that came back has other values"
if command -v bpls >/dev/null; then show bpls -la "$kept/back.bp"; else show forebay read "$kept/back.bp"; fi

headline "A page tells the story of the run"
cp "$here/layout.toml" .
show forebay report store --layout layout.toml --to "$kept/report"
[[ $(grep -c 'dump_0006' "$kept/report/index.html") -gt 0 ]] || fail "the page does not tell of the last checkpoint"
if [[ -n $results ]]; then echo "   open $results/report/index.html in a browser"; fi
