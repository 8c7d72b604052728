#!/usr/bin/env bash
# Installs what the build and the tests need on Debian 12: the packages of tools/packages.txt and those named as
# arguments. Does nothing when all are there; calls apt-get as root, with sudo otherwise.
set -euo pipefail
cd "$(dirname "$0")/.."

mapfile -t wanted < <(sed -e 's/#.*//' -e 's/[[:space:]]//g' -e '/^$/d' tools/packages.txt)
wanted+=("$@")

# dpkg-query fails for names that it has never heard of, and still answers for the others.
installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "${wanted[@]}" 2>/dev/null || true)
missing=()
for package in "${wanted[@]}"; do
  grep -qxF "$package installed" <<<"$installed" || missing+=("$package")
done

# The Python package's extension module is made with nanobind, which Debian 12 lacks. Without a network the build goes on
# without the package, and says so.
install_nanobind() {
  local into=build/python-packages wanted=nanobind==2.4.0
  [[ -d $into/nanobind-2.4.0.dist-info ]] && return
  echo "setup: installing $wanted into $into"
  /usr/bin/python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps --upgrade \
    --target "$into" "$wanted" </dev/null || echo "setup: it could not be installed: the Python package is not built" >&2
}

if ((${#missing[@]} == 0)); then
  install_nanobind
  exit 0
fi

if ! command -v apt-get >/dev/null; then
  echo "setup: this machine has no apt-get; please install: ${missing[*]}" >&2
  exit 1
fi
as_root=()
if ((EUID != 0)); then
  command -v sudo >/dev/null || { echo "setup: need root or sudo to install: ${missing[*]}" >&2; exit 1; }
  as_root=(sudo)
fi

# The environment is passed by env(1), because sudo drops it.
apt() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -q -y -o Dpkg::Use-Pty=0 -o Acquire::Retries=3 "$@" </dev/null
}

echo "setup: installing ${#missing[@]} packages: ${missing[*]}"
# A stale list of one foreign repository must not stop us: the install decides.
apt update >/dev/null || echo "setup: apt-get update failed; trying with the package lists at hand" >&2
apt install --no-install-recommends "${missing[@]}" >/dev/null
install_nanobind
