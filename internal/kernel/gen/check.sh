#!/bin/sh
# Fails if the committed assembly differs from the output of the generator.
set -eu
cd "$(dirname "$0")"
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
./generate.sh "$fresh"
for set in avx512 avx2; do
	diff -u "../${set}_amd64.s" "$fresh/${set}_amd64.s"
	diff -u "../${set}_amd64.go" "$fresh/${set}_amd64.go"
done
echo "the assembly is up to date"
