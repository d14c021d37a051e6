#!/bin/bash
# Shows probe and init refusing a real server that ignores the condition:
#
#     tests/s3/refuse_s3rver.sh build/dev/lakestream
#
# It installs s3rver 3.7.1 with npm into a temporary folder, so it is no part
# of the tests; those have a rude server of our own that does the same.
# Exits with 0 if both refuse it, and name the promise that it breaks.
set -eu -o pipefail

cli=$(realpath "${1:?names the lakestream program}")
folder=$(mktemp -d "${TMPDIR:-/tmp}/lakestream-s3rver.XXXXXX")
server=
finish() {
    if [[ -n $server ]]; then
        kill "$server" 2>/dev/null || true
        wait "$server" 2>/dev/null || true
    fi
    rm -rf "$folder"
}
trap finish EXIT

cd "$folder"
npm install --silent --no-audit --no-fund s3rver@3.7.1

port=$(python3 -c 'import socket
with socket.socket() as listener:
    listener.bind(("127.0.0.1", 0))
    print(listener.getsockname()[1])')
node_modules/.bin/s3rver -s -d "$folder/data" -a 127.0.0.1 -p "$port" \
    --configure-bucket dev >server.log 2>&1 &
server=$!
for _ in $(seq 100); do
    (: >"/dev/tcp/127.0.0.1/$port") 2>/dev/null && break
    sleep 0.1
done

export AWS_ACCESS_KEY_ID=S3RVER AWS_SECRET_ACCESS_KEY=S3RVER
export AWS_REGION=us-east-1 AWS_ENDPOINT_URL_S3=http://127.0.0.1:$port
# Some lists it answers with 500, however often they are asked for.
export LAKESTREAM_RETRY_TIMEOUT_MS=2000

refused='fails create-if-present: the condition is ignored'
for words in "probe s3://dev/run" "init s3://dev/run --dp 1 --cp 1"; do
    echo "\$ lakestream $words"
    code=0
    # shellcheck disable=SC2086
    "$cli" $words 2>&1 | tee said || code=$?
    [[ $code -eq 1 ]] || { echo "exit $code instead of 1"; exit 1; }
    grep -q "$refused" said || { echo "it does not say why"; exit 1; }
done
echo "refused, as it must be"
