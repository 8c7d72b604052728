#!/usr/bin/env bash
# Proves that `make demo` and `make check-all` need nothing but Debian 12 and make, and that the demonstration takes less than
# three minutes once the packages are installed: makes a bare Debian root with debootstrap, clones the last commit into
# it, with ../shared where that exists, and runs the commands there. Tells the time and the processor time of each; one
# that is given as "COMMAND <= SECONDS" must not take longer.
#
# Needs root and the package debootstrap. Packages come from the mirror that this machine uses. All mounts are made in a
# mount namespace of its own, and the root is removed at the end; about 4 GB below TMPDIR (default /tmp) are needed.
# Usage: bare-debian.sh [COMMAND...]    (default: "make setup" "make demo <= 180" "make check-all")
set -euo pipefail

repository=$(cd "$(dirname "$0")/../.." && pwd)
commands=("$@")
((${#commands[@]})) || commands=("make setup" "make demo <= 180" "make check-all")
readonly suite=bookworm

die() {
  echo "bare-debian: $*" >&2
  exit 1
}
((EUID == 0)) || die "needs root"
command -v debootstrap >/dev/null || die "needs the package debootstrap"

# Again in namespaces of our own: mounts and left-over processes vanish with them.
if [[ -z ${FOREBAY_BARE_INSIDE:-} ]]; then
  root=$(mktemp -d "${TMPDIR:-/tmp}/forebay-bare.XXXXXX")
  chmod 755 "$root"  # as a root is: apt downloads as a user of its own
  trap 'rm -rf --one-file-system "$root"' EXIT
  status=0
  FOREBAY_BARE_INSIDE=$root unshare --mount --propagation private --pid --fork --kill-child "$0" "${commands[@]}" ||
    status=$?
  exit "$status"
fi
root=$FOREBAY_BARE_INSIDE

# The first address that an apt source of this machine gives for the suite, in either format of such files.
mirror() {
  local files=(/etc/apt/sources.list /etc/apt/sources.list.d/*.list)
  sed -nE "s/^deb[[:space:]]+(\[[^]]*\][[:space:]]+)?([^[:space:]]+)[[:space:]]+$suite[[:space:]].*/\2/p" "${files[@]}" 2>/dev/null
  awk -v suite="$suite" '
    FNR == 1 || /^[[:space:]]*$/ { uri = "" }
    /^URIs:/ { uri = $2 }
    /^Suites:/ { for (i = 2; i <= NF; ++i) if ($i == suite && uri != "") print uri }
  ' /etc/apt/sources.list.d/*.sources 2>/dev/null
}
from=$( (mirror || true) | head -n 1)
[[ -n $from ]] || die "no apt source of this machine names $suite"

stage() { printf '\n==== %s (%d s)\n' "$1" "$SECONDS"; }

stage "debootstrap"
debootstrap --variant=minbase --include=make "$suite" "$root" "$from" >"$root/bare.log" 2>&1 ||
  { tail -n 20 "$root/bare.log" >&2; die "debootstrap failed"; }
cp /etc/resolv.conf /etc/hosts "$root/etc/"
apt-config dump | grep -iE '^Acquire::[a-z]+::Proxy ' >"$root/etc/apt/apt.conf.d/80proxy" || true

mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount --rbind /dev "$root/dev"
mkdir "$root/work"
git -c safe.directory='*' clone -q --no-hardlinks "$repository" "$root/work/forebay"
if [[ -d $repository/../shared ]]; then
  mkdir "$root/work/shared"
  mount --bind "$repository/../shared" "$root/work/shared"
  mount -o remount,bind,ro "$root/work/shared"
fi

# A compiler cache that is filled by one command must not speed up the next.
in_root() {
  env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 CCACHE_DISABLE=1 \
    ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
    chroot "$root" bash -c "cd /work/forebay && $1" </dev/null
}

for command in "${commands[@]}"; do
  limit=
  if [[ $command =~ ^(.*)\ \<=\ ([0-9]+)$ ]]; then command=${BASH_REMATCH[1]} limit=${BASH_REMATCH[2]}; fi
  stage "$command"
  began=$SECONDS
  TIMEFORMAT='%1U s of user and %1S s of system time'
  time in_root "$command"
  took=$((SECONDS - began))
  echo "==== $command: $took s on $(nproc) cores"
  [[ -z $limit || $took -le $limit ]] || die "$command took $took s, more than $limit s"
done
stage "all done, in a bare Debian $(<"$root/etc/debian_version")"
