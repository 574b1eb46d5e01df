#!/usr/bin/env bash
# count.sh PREFIX [STATIC SHARED]: the instructions of a zone from C, a begin and an end and the loop around them,
# with the libraries that install.sh has put below PREFIX. Fails if they are more than STATIC and SHARED. Needs gcc
# and valgrind. Settings of the environment, such as ZONECAST_PROVIDER, hold.
set -euo pipefail
if [ $# -ne 1 ] && [ $# -ne 3 ]; then sed -n 2,4p "$0" >&2; exit 2; fi
declare -A most=([static]=${2:-} [shared]=${3:-})
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
outcome=0
for kind in static shared; do
    few=$(collected "$kind" 10000)
    many=$(collected "$kind" 20000)
    counted=$(((many - few) / 10000))
    verdict=
    if [ -n "${most[$kind]}" ]; then
        verdict="  at most ${most[$kind]}: ok"
        # Nothing counted is a program that did not run.
        if [ "$counted" -gt "${most[$kind]}" ] || [ "$counted" -le 0 ]; then
            verdict="  at most ${most[$kind]}: PAST ITS GATE"
            outcome=1
        fi
    fi
    echo "$kind library: $counted instructions$verdict"
done
exit $outcome
