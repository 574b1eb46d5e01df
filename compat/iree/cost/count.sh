#!/usr/bin/env bash
# count.sh PREFIX: the instructions of a zone from C, a begin and an end and the loop around them, with the
# libraries that install.sh has put below PREFIX. Needs gcc and valgrind. Settings of the environment, such as
# ZONECAST_PROVIDER, hold.
set -euo pipefail
if [ $# -ne 1 ]; then sed -n 2,4p "$0" >&2; exit 2; fi
prefix=$(cd "$1" && pwd)
cd "$(dirname "$0")"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

compile() {
    gcc -O3 -DIREE_TRACING_FEATURES_REQUESTED=0x8D -I"$prefix/include" pair.c "$@"
}
compile "$prefix/lib/libzonecast_iree.a" -lstdc++ -lpthread -ldl -lm -o "$folder/static"
compile -L"$prefix/lib" -lzonecast_iree -Wl,-rpath,"$prefix/lib" -o "$folder/shared"

collected() {
    TRACY_PORT=${TRACY_PORT:-18087} valgrind --tool=callgrind --toggle-collect=loop_pair \
        --callgrind-out-file="$folder/out" "$folder/$1" "$2" 2>&1 | sed -n 's/.*Collected : //p'
}
for kind in static shared; do
    few=$(collected "$kind" 10000)
    many=$(collected "$kind" 20000)
    echo "$kind library: $(((many - few) / 10000)) instructions"
done
