#!/usr/bin/env bash
# Run the tests of the native core under AddressSanitizer and Miri: tools/sanitize.sh [asan|miri]...
set -euo pipefail
cd "$(dirname "$0")/.."

host=$(rustc -vV | sed -n 's/^host: //p')
if ! cargo +nightly miri --version >/dev/null 2>&1; then
    echo "sanitize: Miri is missing: run 'rustup toolchain install nightly --component miri,rust-src'" >&2
    exit 1
fi
export RUST_BACKTRACE=0

# Release code is fast enough for the statistical tests; assertions and overflow checks are those of a debug build.
asan() {
    local flags="-Zsanitizer=address"
    [ "$(uname -m)" != x86_64 ] || flags+=" -C target-cpu=x86-64-v2" # as in .cargo/config.toml
    RUSTFLAGS="$flags" CARGO_PROFILE_RELEASE_LTO=off \
        CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS=true CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS=true \
        cargo +nightly test --locked --quiet --release --target "$host" --target-dir target/asan \
        --package benzer-core --package benzer-fuzz --lib --tests
}

# Miri interprets the code, thousands of times slower: it runs each fuzz target on its seeds, without mutations. It knows
# no vector instructions, so it runs the portable kernels.
miri() {
    BENZER_FUZZ_MUTATIONS=0 MIRIFLAGS="-Zmiri-disable-isolation -Zmiri-ignore-leaks" \
        cargo +nightly miri test --locked --quiet --target-dir target/miri --package benzer-fuzz --test seeds
}

[ $# -gt 0 ] || set -- asan miri
for part in "$@"; do
    case $part in
    asan | miri) echo "sanitize: $part" && "$part" ;;
    *) echo "sanitize: no part '$part': choose asan or miri" >&2 && exit 2 ;;
    esac
done
