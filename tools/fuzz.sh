#!/usr/bin/env bash
# Runs each fuzz target under libFuzzer for some seconds, and prints how many inputs were tried.
# Usage: tools/fuzz.sh [SECONDS] [TARGET...]; FUZZ_SANITIZER=none is about twice as fast as the default, address.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:-600}
shift || true
if [ $# -gt 0 ]; then targets=("$@"); else targets=(jsonl text corpus evidence stored); fi

if ! cargo +nightly --version >/dev/null 2>&1; then
    echo "make fuzz: there is no nightly Rust: run 'rustup toolchain install nightly'" >&2
    exit 1
fi
if ! cargo +nightly fuzz --version >/dev/null 2>&1; then
    echo "make fuzz: there is no cargo-fuzz: run 'cargo install cargo-fuzz --locked'" >&2
    exit 1
fi

# What .cargo/config.toml sets, which the flags of cargo-fuzz would replace.
if [ "$(uname -m)" = x86_64 ]; then
    export RUSTFLAGS="${RUSTFLAGS:-} -C target-cpu=x86-64-v2"
fi
export RUST_BACKTRACE=0
flags=(--sanitizer "${FUZZ_SANITIZER:-address}" --target-dir target/fuzz)
mkdir -p target
echo "fuzz: building; the first time takes some minutes"
cargo +nightly fuzz build "${flags[@]}" 2>target/fuzz-build.log || { tail -n 40 target/fuzz-build.log >&2; exit 1; }

failed=()
for target in "${targets[@]}"; do
    inputs=target/fuzz/inputs/$target failures=target/fuzz/failures/$target log=target/fuzz/$target.log
    mkdir -p "$inputs" "$failures"
    if ! cargo +nightly fuzz run "${flags[@]}" "$target" "$inputs" "fuzz/corpus/$target" -- -max_len=512 \
        -max_total_time="$seconds" -artifact_prefix="$failures/" -print_final_stats=1 >"$log" 2>&1; then
        failed+=("$target")
        grep -m 3 -A 3 -E "panicked at|ERROR: |SUMMARY" "$log" >&2 || tail -n 20 "$log" >&2
    fi
    tried=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    echo "fuzz: $target: ${tried:-no} inputs tried, $(find "$inputs" -type f | wc -l) kept"
done
if [ ${#failed[@]} -gt 0 ]; then
    echo "fuzz: ${failed[*]} failed: the inputs are in target/fuzz/failures" >&2
    exit 1
fi
