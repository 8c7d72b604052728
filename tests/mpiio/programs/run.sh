#!/bin/bash
# Compiles the programs of list.cmake with one MPI and runs them, each with a time limit, and says which fail.
#
#   run.sh --mpi mpich|openmpi [--preload LIBRARY] [--env NAME=VALUE]... [--all] [--delay] [--timeout SECONDS]
#          [NAME]...
#
# Without --preload only the programs run that the MPI alone should pass; --all runs the others too. Names are those of
# source files, with or without their ending. --delay preloads delay_shim.c, too. The build and the files are in ${TMPDIR:-/tmp}/mpiio-programs-<mpi>.
set -u

here=$(cd "$(dirname "$0")" && pwd)
mpi=mpich
preload=
all=0
delay=0
limit=120
variables=()
names=()
while [ $# -gt 0 ]; do
  case $1 in
    --mpi) mpi=$2; shift ;;
    --preload) preload=$(realpath "$2"); shift ;;
    --env) variables+=("$2"); shift ;;
    --timeout) limit=$2; shift ;;
    --all) all=1 ;;
    --delay) delay=1 ;;
    -*) sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
    *) names+=("${1%.*}") ;;
  esac
  shift
done

work=${TMPDIR:-/tmp}/mpiio-programs-$mpi
mkdir -p "$work"
files=$(mktemp -d "$work/files.XXXXXX")
trap 'rm -rf "$files"' EXIT

if [ $delay -eq 1 ]; then
  gcc -std=gnu11 -O2 -shared -fPIC -o "$work/delay_shim.so" "$here/delay_shim.c" -ldl || exit 1
  ranks_preload=${preload:+$preload:}$work/delay_shim.so
else
  ranks_preload=$preload
fi

compile() {  # source -> program
  local program=$work/${1%.*}
  local newest
  newest=$(ls -t "$here/$1" "$here"/*.h "$program" 2>/dev/null | head -1)
  [ "$newest" = "$program" ] && return 0
  case $1 in
    *.c) "mpicc.$mpi" -std=gnu11 -Wall -Wextra -O1 -g -pthread -o "$program" "$here/$1" ;;
    *) "mpifort.$mpi" -Wall -O1 -g -o "$program" "$here/$1" ;;
  esac
}

start() {  # ranks program arguments... ; variables hold for the ranks, not for the launcher
  local ranks=$1 pairs=() item
  shift
  for item in "${variables[@]}" ${entry_variables:-} ${ranks_preload:+"LD_PRELOAD=$ranks_preload"}; do
    if [ "$mpi" = mpich ]; then
      pairs+=(-env "${item%%=*}" "${item#*=}")
    else
      pairs+=(-x "$item")
    fi
  done
  if [ "$mpi" = mpich ]; then
    timeout -k 5 "$limit" mpiexec.mpich "${pairs[@]}" -n "$ranks" "$@"
  else
    timeout -k 5 "$limit" mpiexec.openmpi --allow-run-as-root --oversubscribe "${pairs[@]}" -n "$ranks" "$@"
  fi
}

wanted() {  # program
  [ ${#names[@]} -eq 0 ] && return 0
  local name
  for name in "${names[@]}"; do [ "$name" = "$1" ] && return 0; done
  return 1
}

passed=0
failed=()
while IFS='|' read -r source ranks arguments mpis plain entry_variables; do
  program=${source%.*}
  wanted "$program" || continue
  [[ ,$mpis, == *,$mpi,* ]] || continue
  [ -z "$preload" ] && [ $all -eq 0 ] && [[ ,$plain, != *,$mpi,* ]] && continue
  label="$source${arguments:+ $arguments}"
  [ -z "$preload" ] && entry_variables=
  if ! compile "$source"; then
    failed+=("$label (does not compile)")
    continue
  fi
  began=$(date +%s.%N)
  start "$ranks" "$work/$program" "$files/$program.file" $arguments >"$files/output" 2>&1 </dev/null
  code=$?
  seconds=$(printf '%.1f' "$(echo "$(date +%s.%N) - $began" | bc)")
  if [ $code -eq 0 ] && grep -q '^ No Errors' "$files/output"; then
    passed=$((passed + 1))
    echo "passed $label ($seconds s)"
  else
    failed+=("$label")
    echo "FAILED $label (exit code $code, $seconds s)"
    head -${LINES_SHOWN:-15} "$files/output" | cut -c1-300 | sed 's/^/    /'
  fi
done < <(sed -n 's/^ *"\(.*|.*\)"$/\1/p' "${LIST:-$here/list.cmake}")

echo "$passed passed, ${#failed[@]} failed"
for label in "${failed[@]}"; do echo "  $label"; done
[ ${#failed[@]} -eq 0 ]
