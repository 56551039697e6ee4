#!/bin/sh
# Writes the assembly of package kernel into the given folder, by default the folder of the package.
set -eu
cd "$(dirname "$0")"
out=$(cd "${1:-..}" && pwd)
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
GOWORK=off go build -o "$bin/gen" . # the generator is a module of its own
for set in avx512 avx2; do
	(cd "$out" && "$bin/gen" -set "$set" -pkg kernel -out "${set}_amd64.s" -stubs "${set}_amd64.go")
done
