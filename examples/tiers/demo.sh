#!/usr/bin/env bash
# The demonstration behind `make demo-tiers`: a small MPI simulation that was written for SCR runs on four nodes, which protect each
# other's checkpoints in memory. Under each scheme nodes are lost with all that they have; spares take their place, and the
# simulation ends as if nothing had happened. A node is a directory of its own and the processes that were started there.
# Usage: demo.sh DIRECTORY_OF_THE_PROGRAMS [SCHEME...]
set -euo pipefail

bin=$(cd "$1" && pwd)
shift
command -v mpiexec.mpich >/dev/null || { echo "demo: skipped: there is no mpiexec.mpich"; exit 77; }
isolate="unshare --mount"
if ! $isolate true 2>/dev/null; then
  if unshare --map-root-user --mount true 2>/dev/null; then exec unshare --map-root-user --mount "$0" "$bin" "$@"; fi
  echo "demo: skipped: this user cannot have a view of the file system of its own (unshare)"
  exit 77
fi

work=$(mktemp -d)
if [[ -w /dev/shm ]]; then memory=$(mktemp -d /dev/shm/forebay-demo-XXXXXX); else memory=$(mktemp -d); fi
run=
leave() {
  if [[ -n $run ]] && kill -0 "$run" 2>/dev/null; then kill -TERM "$run" && wait "$run" || true; fi
  rm -rf "$work" "$memory"
}
trap leave EXIT
cd "$work"
mkdir bin cache
for name in scr_run scr_index; do ln -s "$bin/forebay" bin/$name; done
PATH=$work/bin:$bin:$PATH

headline() { printf '\n%s\n' "-- $*"; }
fail() {
  echo "demo: $*" >&2
  exit 1
}

# As ssh: launcher [OPTIONS] NODE COMMAND. Each node sees its own directory as the cache.
cat >launcher <<END
#!/bin/bash
while [[ \${1:-} == -* ]]; do shift; done
node=\$1; shift
[[ -d $memory/\$node ]] || exit 255
echo \$\$ >>$work/\$node.pids
exec $isolate sh -c "mount --bind $memory/\$node $work/cache && exec \$*"
END
chmod +x launcher

descendants() {
  local child
  for child in $(pgrep -P "$1"); do descendants "$child"; echo "$child"; done
}
# The node is gone: its processes, and all that it had.
lose() {
  mv "$memory/$1" "$memory/$1.lost"  # nothing is started there any more
  local pids pid
  pids=$(while read -r pid; do descendants "$pid"; echo "$pid"; done <"$1.pids")
  for pid in $pids; do kill -9 "$pid" 2>/dev/null || true; done
  rm -rf "${memory:?}/$1.lost"
}
wait_for() { # TEXT LOG
  local end=$((SECONDS + 30))
  until grep -qs "$1" "$2"; do
    ((SECONDS < end)) && kill -0 "$run" || fail "'$1' was not said: $(tail -n 20 "$2")"
    sleep 0.05
  done
}

simulation=(--sedov --cells 24 --steps 42 --every 6 --particles 2000)
last=dump_0007
launch=(mpiexec.mpich -f "{nodes}" -launcher ssh -launcher-exec "$work/launcher" -localhost 127.0.0.1 -n 8)
common=(--nodes-file="$work/hosts" --launcher="$work/launcher" --grace=1 --peer-timeout=1 --node-timeout=1)
export UCX_TLS=posix,self SCR_CACHE_BYPASS=0 SCR_CACHE_SIZE=2 SCR_FLUSH=100 SCR_RUNS=3 SCR_MIN_NODES=4 SCR_CACHE_BASE=$work/cache

headline "A blast wave on 8 MPI ranks, undisturbed"
mpiexec.mpich -n 8 forebay-mini-sim "${simulation[@]}" --out undisturbed | tail -n 1 | sed 's/^/   /'

# run_and_lose NAME NODES COMMAND...: below $NAME, with these nodes lost when the fourth checkpoint is protected.
run_and_lose() {
  local name=$1 lost=$2 node
  shift 2
  mkdir "$name"
  for node in n1 n2 n3 n4 n5 n6; do
    mkdir "$memory/$node"
    : >$node.pids
    echo "$node:2"
  done >hosts
  local log=$work/$name.log
  env -C "$name" "$@" >"$log" 2>&1 &
  run=$!
  wait_for 'dump 3' "$log"
  for node in $lost; do lose "$node"; done
  wait "$run" || fail "the run has failed: $(tail -n 20 "$log")"
  run=
  grep -E 'resumes|takes its place' "$log" | sed 's/^/   /'
  grep -q 'resumes' "$log" || fail "the simulation began from the start"
  for node in n1 n2 n3 n4 n5 n6; do rm -rf "${memory:?}/$node"; done
}
check() { # NAME STORE [DIRECTORY of the files in the set]
  forebay restore "$last" --store "$2" --to "$1/restored" >/dev/null || fail "$last cannot be restored"
  diff -r "undisturbed/$last" "$1/restored/${3:-}" || fail "the final state differs from the undisturbed run's"
  echo "   $last is that of the undisturbed run, bit for bit"
}
scr() { # NAME NODES VARIABLE=VALUE...
  local name=$1 lost=$2
  shift 2
  sed 's/\(.*\):2/GROUPS=\1 NODE=\1/' <<<$'n1:2\nn2:2\nn3:2\nn4:2\nn5:2\nn6:2' >"$name.conf"
  run_and_lose "$name" "$lost" env FOREBAY_SCR_WAIT=1 SCR_CONF_FILE="$work/$name.conf" SCR_PREFIX="$work/$name" "$@" \
    scr_run "${common[@]}" "${launch[@]}" forebay-mini-scr "${simulation[@]}" --work 0.05
  check "$name" "$name/.scr/store" "$last"
}

for scheme in "${@:-single partner xor rs native}"; do
  for one in $scheme; do
    case $one in
      single)
        headline "TYPE=SINGLE, every second checkpoint is stored; node n2 is lost"
        scr single n2 SCR_COPY_TYPE=SINGLE SCR_FLUSH=2
        ;;
      partner)
        headline "TYPE=PARTNER, nothing is stored before the end; node n2 is lost"
        scr partner n2 SCR_COPY_TYPE=PARTNER
        ;;
      xor)
        headline "TYPE=XOR, nothing is stored before the end; node n3 is lost"
        scr xor n3 SCR_COPY_TYPE=XOR
        ;;
      rs)
        headline "TYPE=RS, which survives two losses; nodes n1 and n4 are lost at once"
        scr rs "n1 n4" SCR_COPY_TYPE=RS SCR_SET_FAILURES=2
        ;;
      native)
        headline "forebay.h and forebay run --redundancy xor; node n2 is lost"
        sed 's/\(.*\):2/\1 node=\1/' <<<$'n1:2\nn2:2\nn3:2\nn4:2\nn5:2\nn6:2' >groups
        run_and_lose native n2 forebay run --store store --stage "$work/cache/stage" "${common[@]}" --failure-groups ../groups --spares 2 \
          --relaunch 2 --redundancy xor --flush-every 0 --keep 2 -- "${launch[@]}" forebay-mini-sim "${simulation[@]}" --work 0.05 --durable
        check native native/store
        ;;
      *) fail "there is no scheme $one" ;;
    esac
  done
done
