#!/bin/sh
# Builds the libraries of this folder (x86-64; gcc 12 gave the files that are kept here).
set -eu
cd "$(dirname "$0")"
build() {
    name=$1
    shift
    cc -shared -fPIC -O1 -nostdlib -fvisibility=hidden -fno-asynchronous-unwind-tables \
        -Wall -Wextra -Wl,-z,noseparate-code -Wl,--build-id=none -s "$@" -o "$name.so" kernels.c
}
build kernels
build required-import -DREQUIRED_IMPORT
build undefined-symbol -DUNDEFINED
build other-version -DANSWERS_TO=5
