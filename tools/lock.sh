#!/usr/bin/env bash
# Writes the lock files in requirements/ from pyproject.toml and the *.in files beside them.
# Versions that still fit are kept. `make lock LOCK=--upgrade` takes the newest ones.
set -euo pipefail
cd "$(dirname "$0")/.."

command -v uv >/dev/null || { echo "benzer: needs uv, found none: pip install uv" >&2; exit 1; }

lock() {
    local name=$1
    shift
    echo "benzer: locking requirements/$name.txt"
    uv pip compile --quiet --universal --python-version 3.10 --generate-hashes --no-annotate \
        --custom-compile-command 'make lock' --output-file "requirements/$name.txt" "$@" >/dev/null
}

# dev.txt has everything. The others take their versions from it, so that they can be installed in one environment.
lock dev pyproject.toml requirements/build.in --all-extras "$@"
lock build requirements/build.in --constraint requirements/dev.txt
lock run pyproject.toml --constraint requirements/dev.txt
lock service pyproject.toml --constraint requirements/dev.txt \
    --extra service --extra images --extra redis --extra parquet
lock sbom requirements/sbom.in "$@"
