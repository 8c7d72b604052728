#!/usr/bin/env bash
# Installs a build into a temporary prefix, moves it, and builds and runs a C project against it: by its CMake package
# and by pkg-config.
# Usage: dummy.sh BUILD_DIR VERSION [MPI...]
set -euo pipefail

build=$1
version=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/first" >"$work/install.log" || { cat "$work/install.log" >&2; exit 1; }
mv "$work/first" "$work/prefix"
prefix=$work/prefix

expect_version() {
  local answer
  answer=$("$@")
  [[ $answer == "$version"$'\n'"forebay $version, "* ]] || { echo "$*: unexpected answer: $answer" >&2; exit 1; }
}

cmake -S "$here/dummy" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$prefix" -DFOREBAY_WANTED="$version" >/dev/null
cmake --build "$work/cmake" >/dev/null
expect_version "$work/cmake/dummy"
"$work/cmake/reader"

PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name forebay.pc)")
export PKG_CONFIG_PATH
[[ $(pkg-config --modversion forebay) == "$version" ]]
read -ra flags <<<"$(pkg-config --cflags --libs forebay)"
cc -Wall -Wextra -Werror -std=c99 "$here/dummy/main.c" -o "$work/dummy" "${flags[@]}"
LD_LIBRARY_PATH=$(pkg-config --variable=libdir forebay) expect_version "$work/dummy"
read -ra reading <<<"$(pkg-config --cflags --libs forebay-read)"
cc -Wall -Wextra -Werror -std=c99 "$here/dummy/reader.c" -o "$work/reader" "${reading[@]}"
LD_LIBRARY_PATH=$(pkg-config --variable=libdir forebay-read) "$work/reader"

read -ra coding <<<"$(pkg-config --cflags --libs forebay-codec)"
sed -n 's|^ \*     ||p; s|^ \*$||p' "$(find "$prefix" -name forebay_codec.h)" >"$work/coder.c"  # the example at its head
cc -Wall -Wextra -Werror -std=c99 "$work/coder.c" -o "$work/coder" "${coding[@]}"
LD_LIBRARY_PATH=$(pkg-config --variable=libdir forebay-codec) "$work/coder" >/dev/null

# The Fortran modules are installed as source.
if command -v gfortran >/dev/null; then
  gfortran -std=f2008 -Wall -Wextra -Werror -J "$work" "$(find "$prefix" -name forebay.f90)" "$here/dummy/main.f90" \
    -o "$work/fortran" "${flags[@]}"
  for module in forebay_lock forebay_read; do
    gfortran -std=f2018 -Wall -Wextra -Werror -I "$work" -J "$work" -c "$(find "$prefix" -name $module.f90)" -o "$work/$module.o"
  done
  [[ $(LD_LIBRARY_PATH=$(pkg-config --variable=libdir forebay) "$work/fortran") == " no agent" ]]
fi

# Nothing but the documented functions is exported: what is exported once has to be kept.
for name in libforebay libforebay_codec libforebay_read; do
  library=$(find "$prefix" -name "$name.so")
  foreign=$(nm --dynamic --defined-only --format=posix "$library" | awk '$1 !~ /^forebay_/ {print $1}')
  [[ -z $foreign ]] || { echo "$name exports: $foreign" >&2; exit 1; }
done

# The command runs from where it was installed, and what belongs to it is there.
"$prefix/bin/forebay" --version >/dev/null
missing=$("$prefix/bin/forebay" --help | grep 'not installed') && { echo "$missing" >&2; exit 1; }
[[ $("$prefix/bin/forebay" read --help) == 'Usage: forebay read '* ]]
# Without its extensions it names them, with the packages, and runs the others.
mv "$prefix/libexec" "$work/libexec"
[[ $("$prefix/bin/forebay" --help | grep -c 'not installed') == 9 ]]
"$prefix/bin/forebay" pack --help >/dev/null
said=$("$prefix/bin/forebay" read --help 2>&1) && { echo "an extension was found elsewhere: $said" >&2; exit 1; }
[[ $said == *'forebay-arrays'* ]]
mv "$work/libexec" "$prefix/libexec"
for file in man/man1/forebay.1 bash-completion/completions/forebay zsh/site-functions/_forebay; do
  [[ -s $prefix/share/$file ]] || { echo "not installed: share/$file" >&2; exit 1; }
done
"$here/adios.sh" "$prefix" "$work/adios" "${@:3}"
echo "the installed package works"
