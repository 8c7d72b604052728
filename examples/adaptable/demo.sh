#!/usr/bin/env bash
# The demonstration behind `make demo-adaptable`: one program writes through adios.h, six times, and only the XML file says
# how. Everything happens in a temporary directory. Exits with an error if a method kept other values than the first one.
# Usage: demo.sh DIRECTORY_OF_THE_PROGRAMS [CELLS_PER_SIDE STEPS EVERY]
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
PATH=$(cd "$1" && pwd):$PATH
size=("${@:2}")
if ((${#size[@]} == 0)); then size=(32 40 10); fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
ranks=4

fail() {
  echo "demo: $*" >&2
  exit 1
}
indent() { sed 's/^/   /'; }
# What a file keeps of each variable, in a form that does not depend on the method.
kept() { forebay info "$1" | awk '/^TYPE /{on = 1} /^$/{on = 0} on {print $2, $3, $4, $6, $7, $NF}'; }

fields=(Density MomentumX MomentumY MomentumZ TotalEnergy EjectaDensity AmbientDensity)
last=$((size[1] / size[2]))
bytes=$((8 * size[0] ** 3 * (last + 1)))  # of a field in all steps
# The values of a field in all steps, in a file or a store; in an HDF5 file, as its own tool has them.
values_of_steps() { forebay read "$1" "$2" --step : --to - 2>/dev/null | tail -c $bytes; }
values_of_hdf5() {
  local step place=
  for ((step = 0; step <= last; ++step)); do
    if ((step > 0)); then place=/step_$step; fi
    h5dump -d "$place/$2" -b LE -o values.bin "$1" >/dev/null
    cat values.bin
  done
}
compare_values() { # METHOD READER WHERE
  local field
  for field in "${fields[@]}"; do
    "$2" "$3" "$field" >"$field.values"
    [[ -f $field.expected ]] || values_of_steps MPI.bp "$field" >"$field.expected"
    [[ $(stat -c %s "$field.values") == "$bytes" ]] || fail "$1 did not keep all of $field"
    cmp -s "$field.values" "$field.expected" || fail "$1 kept other values of $field than MPI"
  done
  echo "all values of ${#fields[@]} fields in $((last + 1)) steps are those that MPI wrote" | indent
}

echo "-- One program, which declares nothing: its XML file does"
forebay config check "$here/gas.xml" | indent

for method in MPI POSIX MPI_AGGREGATE PHDF5 NC4 FOREBAY; do
  echo
  echo "-- <method group=\"gas\" method=\"$method\"/>"
  parameters=
  case $method in
    MPI_AGGREGATE) parameters="num_aggregators=2" ;;
    FOREBAY) parameters="store=$work/store" ;;
  esac
  sed "s|<method group=\"gas\" method=\"MPI\"/>|<method group=\"gas\" method=\"$method\">$parameters</method>|" \
    "$here/gas.xml" >"$method.xml"
  mpiexec.mpich -n $ranks forebay-mini-adios "$method.xml" "$method.bp" "${size[@]}" 2>&1 | indent
  case $method in
    FOREBAY)
      forebay ls "$work/store" | indent
      compare_values "$method" values_of_steps "$work/store"
      ;;
    PHDF5 | NC4)
      ls -s --block-size=K "$method.bp" | indent
      if command -v h5ls >/dev/null; then h5ls "$method.bp" | grep Density | indent; fi
      if command -v h5dump >/dev/null; then
        compare_values "$method" values_of_hdf5 "$method.bp"
      else
        echo "(without h5dump, of hdf5-tools, its values are not compared)" | indent
      fi
      ;;
    *)
      find . -path "./$method.bp*" -type f -printf '%8kK %p\n' | sort -k2 | indent
      [[ -n $(kept "$method.bp") ]] || fail "$method kept nothing"
      [[ $method == MPI || $(kept "$method.bp") == "$(kept MPI.bp)" ]] || fail "$method kept other values than MPI"
      [[ $method == MPI ]] || compare_values "$method" values_of_steps "$method.bp"
      ;;
  esac
done

echo
echo "-- What is in such a file is known without reading its values"
forebay info MPI.bp | grep -E 'content|TYPE|Density|Energy' | indent
