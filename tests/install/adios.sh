#!/usr/bin/env bash
# Programs written for ADIOS 1.x find what is installed: by adios_config, by pkg-config and by find_package(ADIOS), in C and
# in Fortran, with each MPI and without.
# Usage: adios.sh PREFIX WORK_DIR [MPI...]
set -euo pipefail

prefix=$1
work=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)/adios
config=$prefix/bin/adios_config
mkdir -p "$work"
cd "$work"
cp "$here/fields.xml" .
fail() { echo "adios.sh: $*" >&2; exit 1; }

[[ $("$config" -v) == 1.13.1 ]] || fail "adios_config -v"
[[ $("$config" -d) == "$(realpath "$prefix")" ]] || fail "adios_config -d"
[[ $("$config" -cl | wc -l) == 2 && $("$config" | sed 's/=.*//' | tr '\n' ' ') == "DIR CFLAGS LDFLAGS " ]] || fail "adios_config"
"$config" -m | grep -qx MPI || fail "adios_config -m"
! ADIOS_MPI=nothing "$config" -l 2>/dev/null || fail "adios_config with an unknown MPI"

# wrote NAME [READER]: the program wrote its file, which has the variable; the reader finds its values.
wrote() {
  "$prefix/bin/forebay" info "$1.bp" | grep -q temperature || fail "$1.bp"
  (($# == 1)) || "$2" "$1.bp" || fail "$2 $1.bp"
  rm -r "$1.bp"
}

for header in "$here"/../../../include/adios/*.h; do
  [[ -s $prefix/include/adios/$(basename "$header") ]] || fail "not installed: $(basename "$header")"
done

# One process.
read -ra flags <<<"$("$config" -s -c) $("$config" -s -l)"
cc -Wall -Wextra -Werror "$here/write.c" -o seq "${flags[@]}"
read -ra flags <<<"$("$config" -s -r -c) $("$config" -s -r -l)"
cc -Wall -Wextra -Werror "$here/read.c" -o seq_read "${flags[@]}"
./seq seq.bp && wrote seq ./seq_read
# The names of ADIOS's other libraries, which makefiles have that do not ask adios_config.
cc "$here/read.c" -o seq_read "${flags[@]/#-ladios_nompi/-ladiosread_nompi}"
./seq seq.bp && wrote seq ./seq_read
if [[ -e $(find "$prefix" -name adios_write_mod.mod) ]]; then
  read -ra flags <<<"$("$config" -s -f -c) $("$config" -s -f -l)"
  gfortran -cpp -Wall -Werror "$here/write.f90" -o fseq "${flags[@]}"
  ./fseq fseq.bp && wrote fseq
  for name in adiosf_nompi_v1 adiosreadf_nompi adiosreadf_nompi_v1; do
    gfortran -cpp "$here/write.f90" -o fseq "${flags[@]/#-ladiosf_nompi/-l$name}"
    ./fseq fseq.bp && wrote fseq
  done
fi

# Each MPI.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
for mpi in "$@"; do
  export ADIOS_MPI=$mpi
  read -ra flags <<<"$("$config" -c) $("$config" -l)"
  "mpicc.$mpi" -Wall "$here/write.c" -o "c_$mpi" "${flags[@]}"
  read -ra flags <<<"$("$config" -r -c) $("$config" -r -l)"
  "mpicc.$mpi" -Wall "$here/read.c" -o "read_$mpi" "${flags[@]}"
  "./c_$mpi" "c_$mpi.bp" && wrote "c_$mpi" "./read_$mpi"
  "mpicc.$mpi" "$here/read.c" -o "read_$mpi" "${flags[@]/%-ladios/-ladiosread}"
  "./c_$mpi" "c_$mpi.bp" && wrote "c_$mpi" "./read_$mpi"
  read -ra flags <<<"$(PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name "adios-$mpi.pc")") pkg-config --cflags --libs "adios-$mpi")"
  "mpicc.$mpi" -Wall "$here/write.c" -o "pc_$mpi" "${flags[@]}"
  "./pc_$mpi" "pc_$mpi.bp" && wrote "pc_$mpi"
  if [[ -e $(find "$prefix" -name adios_write_mod.mod) ]]; then
    read -ra flags <<<"$("$config" -f -c) $("$config" -f -l)"
    "mpifort.$mpi" -cpp -DWITH_MPI "$here/write.f90" -o "f_$mpi" "${flags[@]}"
    "./f_$mpi" "f_$mpi.bp" && wrote "f_$mpi"
    for name in adiosf_v1 adiosreadf adiosreadf_v1; do
      "mpifort.$mpi" -cpp -DWITH_MPI "$here/write.f90" -o "f_$mpi" "${flags[@]/%-ladiosf/-l$name}"
      "./f_$mpi" "f_$mpi.bp" && wrote "f_$mpi"
    done
  fi
done

# CMake.
cmake -S "$here" -B cmake -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
cmake --build cmake >/dev/null
./cmake/write cmake.bp && wrote cmake
./cmake/write_by_variables variables.bp && wrote variables
echo "programs for ADIOS find what is installed"
