#!/usr/bin/env bash
# Installs what tests alone need and Debian 12 lacks, into build/: Zarr 3, apart from other modules, since it brings another
# NumPy than Debian's packages were built with. Without a network the test is skipped.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly into=build/zarr-packages wanted=zarr==3.1.6
[[ -d $into/zarr-3.1.6.dist-info ]] && exit 0
echo "test-packages: installing $wanted into $into"
/usr/bin/python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --upgrade --target "$into" \
  "$wanted" </dev/null || echo "test-packages: it could not be installed: the codec of Zarr is not tried" >&2
