#!/bin/bash
# Makes the virtual environment that the Python tests run in: install.sh FOLDER
#
# It is done as a user does it, by `pip install ./python`. PyTorch and numpy are
# the distribution's; what it lacks comes from pip, without what that would
# like to have along.

set -euo pipefail

root=$(realpath "$(dirname "$0")/../..")
folder=$1
python=${PYTHON:-/usr/bin/python3}

if [[ ! -x $folder/bin/pip ]]; then
    "$python" -m venv --system-site-packages "$folder"
fi
if [[ ! -e $folder/has-tools ]]; then
    "$folder/bin/pip" install --quiet --no-deps --disable-pip-version-check \
        pytest iniconfig pluggy packaging pygments safetensors
    touch "$folder/has-tools"
fi

# The build folder is kept, so that only what changed is compiled again.
"$folder/bin/pip" install --quiet --disable-pip-version-check \
    --force-reinstall --no-deps \
    --config-settings=build-dir="$folder/build" "$root/python"
cd "$folder"
"$folder/bin/python" -c 'import lakestream; print(lakestream.__version__)'
