#!/usr/bin/env bash
# Builds the wheel as it would be published, and uses it where the source tree is out of sight.
set -euo pipefail
cd "$(dirname "$0")/.."

rm -rf dist
.venv/bin/maturin build --release --locked --quiet --out dist
wheel=$(ls dist/*.whl)
case $wheel in
    *-cp310-abi3-*) ;;
    *) echo "benzer: $wheel is not an abi3 wheel for Python 3.10 and later" >&2; exit 1 ;;
esac

unzip -l "$wheel" | grep -q 'storage/redis/lua/reads.lua' || { echo "benzer: $wheel lacks the scripts for Redis" >&2; exit 1; }

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# The list of components that maturin puts into the wheel must name every crate that is compiled into it.
cargo tree --locked --package benzer-python --edges normal,build --target all --prefix none --format '{p}' |
    sed -n 's/^\([^ ]*\) v\([^ ]*\).*/\1 \2/p' | sort -u >"$scratch/crates"
unzip -p "$wheel" '*.dist-info/sboms/benzer-python.cyclonedx.json' | .venv/bin/python -c '
import json, sys
sbom = json.load(sys.stdin)
for crate in [sbom["metadata"]["component"], *sbom["components"]]:
    print(crate["name"], crate["version"])' | sort -u >"$scratch/listed"
cmp --silent "$scratch/crates" "$scratch/listed" || {
    echo "benzer: the list of components in $wheel differs from the crates in it:" >&2
    diff "$scratch/crates" "$scratch/listed" >&2 || true
    exit 1
}

.venv/bin/python -m venv "$scratch/venv"
"$scratch/venv/bin/pip" install --quiet --disable-pip-version-check "$wheel[service]"
cp examples/data/documents.jsonl "$scratch"
cd "$scratch"
venv/bin/benzer --version
venv/bin/benzer dedupe documents.jsonl --output clean

# The pages and the sample documents of the service must be in it.
venv/bin/benzer serve --port 0 2>served &
server=$!
trap 'kill "$server" 2>/dev/null; wait "$server" 2>/dev/null || true; rm -rf "$scratch"' EXIT
for _ in $(seq 60); do
    address=$(grep -o 'http://[0-9.:]*' served | head -n 1) || true
    [ -n "$address" ] && break
    sleep 0.5
done
[ -n "$address" ] || { cat served >&2; exit 1; }
fetch() { python3 -c 'import sys, urllib.request; sys.stdout.write(urllib.request.urlopen(sys.argv[1]).read().decode())' "$address$1"; }
for page in / /duplicates /tune /indexes /docs /v1/indexes/demo; do
    fetch "$page" >answer || { echo "benzer: $wheel does not serve $page" >&2; exit 1; }
done
grep -q '"documents":1764' answer || { echo "benzer: $wheel lacks the sample documents" >&2; exit 1; }
echo "benzer: $wheel works"
