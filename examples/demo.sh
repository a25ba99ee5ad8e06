#!/usr/bin/env bash
# The main job on the sample documents: find near-duplicates, then build and search an index. Run by `make demo`.
set -euo pipefail
cd "$(dirname "$0")/.."

documents=examples/data/documents.jsonl
output=demo-output
index=$output/documents.benzer

say() { printf '\n%s\n' "$1"; }
run() { printf '$ benzer'; printf ' %s' "$@"; printf '\n'; benzer "$@"; }

mkdir -p "$output"
rm -f "$index" "$index"-*

say "1. Find the near-duplicates among real documents ($documents)"
run dedupe "$documents" --output "$output/deduplicated" --replace

say "2. Compare two of them"
run compare --from "$documents" debian/nbd-client debian/nbd-server --full

say "3. Store the same documents in an index, one file"
run index "$index" "$documents"

say "4. Search the documents that are most similar to a page of Django's manual"
run search "$index" --id django/howto/static-files/deployment@3.2.25 --limit 5

say "The outputs:"
for path in "$output"/deduplicated/* "$index"; do
    printf '  %-50s %9s bytes\n' "$path" "$(stat -c %s "$path")"
done
