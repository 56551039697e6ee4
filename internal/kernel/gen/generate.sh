#!/bin/sh
# Writes the assembly of package kernel into the folder given, by default the package's own.
set -eu
cd "$(dirname "$0")"
out=$(cd "${1:-..}" && pwd)
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
GOWORK=off go build -o "$bin/gen" . # its modules are not those of the project
for set in avx512 avx2; do
	(cd "$out" && "$bin/gen" -set "$set" -pkg kernel -out "${set}_amd64.s" -stubs "${set}_amd64.go")
done
