#!/usr/bin/env bash
# Makes the virtual environment .venv, after one look at what the build needs.
# Whatever is missing is said in one line, with its cure.
set -euo pipefail
cd "$(dirname "$0")/.."

least_rust=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)

fail() { printf 'benzer: %s\n' "$1" >&2; exit 1; }

at_least() { [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1)" = "$1" ]; }

find_python() {
    local name
    for name in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11 python3.10}; do
        if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
            "$name" -c 'import sys; print(sys.executable)'
            return
        fi
    done
    fail "needs Python 3.10 or later, found $(python3 --version 2>/dev/null || echo none): apt-get install python3 python3-venv, or name one with PYTHON=/path/to/python3"
}

check_rust() {
    local found
    found=$(rustc --version 2>/dev/null | cut -d ' ' -f 2 || true)
    [ -n "$found" ] && command -v cargo >/dev/null ||
        fail "needs a Rust toolchain (cargo, rustc) of $least_rust or later, found none: install it as https://rustup.rs says"
    at_least "$least_rust" "${found%%-*}" ||
        fail "needs Rust $least_rust or later, found $found: run 'rustup update stable', or install it as https://rustup.rs says"
}

check_compiler() {
    echo 'int main(void) { return 0; }' | "${CC:-cc}" -x c - -o /dev/null 2>/dev/null ||
        fail "needs a C compiler that links (${CC:-cc}), found none that works: apt-get install gcc libc6-dev"
}

make_environment() {
    local python=$1
    if "$python" -c 'import ensurepip, venv' 2>/dev/null; then
        "$python" -m venv --clear .venv
    elif command -v uv >/dev/null; then
        uv venv --quiet --clear --seed --python "$python" .venv
    else
        fail "Python's venv module is incomplete: apt-get install python$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')-venv"
    fi
}

python=$(find_python)
check_rust
check_compiler
make_environment "$python"
echo "benzer: made .venv with $("$python" --version)"
.venv/bin/python -m pip install --quiet --require-hashes --requirement requirements/build.txt
