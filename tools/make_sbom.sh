#!/usr/bin/env bash
# Writes two lists of components (CycloneDX JSON) beside the wheel in dist/: the crates compiled into it, as maturin
# has noted them in the wheel, and the Python packages of requirements/service.txt, with the wheel installed.
set -euo pipefail
cd "$(dirname "$0")/.."

wheel=$(ls dist/*.whl)
name=${wheel%%-cp*}
unzip -p "$wheel" '*.dist-info/sboms/benzer-python.cyclonedx.json' >"$name-rust.cdx.json"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
install() {
    local environment=$1
    shift
    .venv/bin/python -m pip --python "$scratch/$environment/bin/python" install --quiet "$@"
}

.venv/bin/python -m venv --without-pip "$scratch/tool"
install tool --require-hashes --requirement requirements/sbom.txt
.venv/bin/python -m venv --without-pip "$scratch/service"
install service --require-hashes --only-binary :all: --requirement requirements/service.txt
install service --no-index --no-deps --find-links dist benzer
"$scratch/tool/bin/cyclonedx-py" environment --output-reproducible --output-file "$name-python.cdx.json" \
    "$scratch/service/bin/python"
ls dist/*.cdx.json
