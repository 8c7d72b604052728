#!/usr/bin/env bash
# Builds the site of docs/ in build/site, with MkDocs, which it installs into build/site-packages (tools/site/packages.txt) when it
# is not there. Fails on a link or anchor that leads nowhere, and on a page that is in no navigation.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly into=build/site-packages wanted=tools/site/packages.txt
if ! cmp -s "$wanted" "$into/packages.txt"; then
  echo "docs: installing MkDocs into $into"
  rm -rf "$into"
  /usr/bin/python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps \
    --target "$into" --requirement "$wanted" </dev/null
  cp "$wanted" "$into/packages.txt"
fi
NO_MKDOCS_2_WARNING=1 PYTHONPATH=$into /usr/bin/python3 -m mkdocs build --strict 2>&1 | { grep -vE "^(INFO|$)" || true; }
echo "docs: build/site; for the search, serve it: python3 -m http.server --bind 127.0.0.1 --directory build/site"
