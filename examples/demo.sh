#!/usr/bin/env bash
# The main job on the sample documents: near-duplicates out, an index built and asked. Run by `make demo`.
set -euo pipefail
cd "$(dirname "$0")/.."

documents=examples/data/documents.jsonl
output=demo-output
index=$output/documents.benzer

say() { printf '\n%s\n' "$1"; }
run() { printf '$ benzer'; printf ' %s' "$@"; printf '\n'; benzer "$@"; }

mkdir -p "$output"
rm -f "$index" "$index"-*

say "1. Which of these real documents are near-duplicates? ($documents)"
run dedupe "$documents" --output "$output/deduplicated" --replace

say "2. Two of them, side by side"
run compare --from "$documents" debian/nbd-client debian/nbd-server --full

say "3. The same documents as an index, one file"
run index "$index" "$documents"

say "4. What is most like this page of Django's manual?"
run search "$index" --id django/howto/static-files/deployment@3.2.25 --limit 5

say "The outputs:"
for path in "$output"/deduplicated/* "$index"; do
    printf '  %-50s %9s bytes\n' "$path" "$(stat -c %s "$path")"
done
