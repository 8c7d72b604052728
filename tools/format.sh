#!/usr/bin/env bash
# Formats the C and C++ sources with clang-format-19 (scrf.h is Fortran); with --check, says what is not formatted and changes nothing (exit
# code 77, "skipped", where there is no clang-format-19).
set -euo pipefail
cd "$(dirname "$0")/.."

mode=(-i)
if [[ ${1:-} == --check ]]; then
  mode=(--dry-run -Werror)
  command -v clang-format-19 >/dev/null || { echo "no clang-format-19 here"; exit 77; }
fi
mapfile -d '' -t sources < <(find src include examples tests bench \( -name '*.cc' -o -name '*.[ch]' \) ! -name scrf.h -print0)
clang-format-19 "${mode[@]}" "${sources[@]}"
