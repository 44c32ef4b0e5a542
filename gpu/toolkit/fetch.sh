#!/bin/sh
# fetch.sh LIST FOLDER: unpacks the wheels of a list, with its hashes and no
# others, into a folder. Nothing in them is run, and they are never committed.
set -eu
list=$1 folder=$2

python=
for p in "${PYTHON:-python3}" .venv/bin/python; do
	if "$p" -m pip --version >/dev/null 2>&1; then
		python=$p
		break
	fi
done
if [ -z "$python" ]; then
	"${PYTHON:-python3}" -m venv "$folder.venv" || {
		echo "$0: no Python with pip or venv: install one (on Debian: apt-get install python3-venv) or give PYTHON=/path/to/python" >&2
		exit 1
	}
	python=$folder.venv/bin/python
fi
rm -rf "$folder"
# In the environment, since a pip that is too old for it takes no notice there.
PIP_ROOT_USER_ACTION=ignore "$python" -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes \
	--only-binary :all: --no-compile --target "$folder" --requirement "$list"
