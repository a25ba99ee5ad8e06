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

unzip -l "$wheel" | grep -q 'storage/redis/lua/find.lua' || { echo "benzer: $wheel lacks the scripts for Redis" >&2; exit 1; }

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
.venv/bin/python -m venv "$scratch/venv"
"$scratch/venv/bin/pip" install --quiet --disable-pip-version-check "$wheel"
cp examples/data/documents.jsonl "$scratch"
cd "$scratch"
venv/bin/benzer --version
venv/bin/benzer dedupe documents.jsonl --output clean
echo "benzer: $wheel works"
