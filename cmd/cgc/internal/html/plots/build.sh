#!/bin/sh
# Usage: sh build.sh [--check]. Builds plots.min.js.gz. With --check, it writes nothing and fails if a committed file
# differs. If npm or its registry is not available, --check prints a message and passes.
set -eu
cd "$(dirname "$0")"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp package.json package-lock.json plots.js "$folder"
if ! command -v npm >/dev/null || ! (cd "$folder" && npm ci --no-audit --no-fund --loglevel=error >log 2>&1); then
	echo "left out: the plots of reports are not built again without npm and its registry"
	[ "${1:-}" = --check ] && exit 0
	exit 1
fi
(cd "$folder" && node_modules/.bin/esbuild plots.js --bundle --minify --format=iife --target=es2019 \
	--legal-comments=none --log-level=warning --outfile=plots.min.js)
# licences FOLDER collects the licences of the code in the bundle.
licences() {
	mkdir -p "$1"
	cp "$folder/node_modules/echarts/LICENSE" "$1/echarts.txt"
	cp "$folder/node_modules/echarts/NOTICE" "$1/echarts-notice.txt"
	cp "$folder/node_modules/echarts/licenses/LICENSE-d3" "$1/d3.txt"
	cp "$folder/node_modules/zrender/LICENSE" "$1/zrender.txt"
	cp "$folder/node_modules/tslib/LICENSE.txt" "$1/tslib.txt"
}
if [ "${1:-}" = --check ]; then
	gzip -dc plots.min.js.gz | cmp - "$folder/plots.min.js"
	licences "$folder/licences"
	diff -r "$folder/licences" licences
	echo "the plots of reports are up to date"
	exit 0
fi
gzip -9n <"$folder/plots.min.js" >plots.min.js.gz
rm -rf licences
licences licences
ls -l plots.min.js.gz
