#!/bin/sh
# Builds the package, installs it into a new virtual environment, and runs its checks there. It prints a message for
# each part that it skips. If one of the installed Pythons has torch, the tests include graphs of PyTorch Geometric and
# DGL.
set -eu
cd "$(dirname "$0")"
venv=$(mktemp -d)
trap 'rm -rf "$venv"' EXIT
trap 'exit 1' HUP INT TERM

python=python3 site= geometric=
for p in python3 /usr/bin/python3; do
  if "$p" -c 'import torch' 2>/dev/null; then
    python=$p site=--system-site-packages geometric=torch_geometric==2.8.1
    break
  fi
done
if ! "$python" -m venv $site "$venv" >/dev/null 2>&1; then
  echo "left out: $python makes no virtual environments (Debian: python3-venv)"
  exit 0
fi
if ! "$venv/bin/pip" install -q --retries 1 -r tests/requirements.txt $geometric; then
  echo "left out: pip does not get what tests/requirements.txt lists"
  exit 0
fi
if [ -n "$geometric" ]; then
  "$venv/bin/pip" install -q --retries 1 dgl==1.1.3 || echo "left out: pip does not get dgl 1.1.3"
fi
"$venv/bin/pip" wheel -q --no-deps -w "$venv/wheel" .
"$venv/bin/twine" check --strict "$venv"/wheel/*.whl
"$venv/bin/pip" install -q "$venv"/wheel/*.whl
"$venv/bin/mypy" --cache-dir "$venv/mypy"
"$venv/bin/ruff" check --no-cache .
"$venv/bin/ruff" format --no-cache --check .
"$venv/bin/python" reference.py --check
export DGLBACKEND=pytorch # otherwise DGL writes a file into the home folder
cd tests # outside the package sources, so that the installed package is tested
"$venv/bin/pytest" -q -rs -p no:cacheprovider .
