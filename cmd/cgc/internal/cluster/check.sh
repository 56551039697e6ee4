#!/bin/sh
# Tests cgc.spark on two executors in separate processes, in a virtual environment with pyspark. If Java, Python or the
# network is missing, it prints a message and passes.
set -eu
cd "$(dirname "$0")/../../../.."
venv=$(mktemp -d)
trap 'rm -rf "$venv"' EXIT
trap 'exit 1' HUP INT TERM

left_out() {
  echo "left out: $1"
  exit 0
}
java -version >/dev/null 2>&1 || left_out "no Java here (Debian: openjdk-17-jre-headless)"
python3 -m venv "$venv" >/dev/null 2>&1 || left_out "python3 makes no virtual environments (Debian: python3-venv)"
"$venv/bin/pip" install -q --no-compile --retries 1 -r cmd/cgc/internal/cluster/tests/requirements.txt || left_out "pip does not get pyspark"
"$venv/bin/pip" install -q ./python
PYSPARK_PYTHON="$venv/bin/python"
export PYSPARK_PYTHON
cd cmd/cgc/internal/cluster/tests # outside the package sources, so that the installed package is tested
timeout 900 "$venv/bin/pytest" -q -rs -p no:cacheprovider .
