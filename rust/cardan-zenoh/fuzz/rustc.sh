#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# RUSTC_WORKSPACE_WRAPPER of scripts/fuzz.sh: the compiler with what libFuzzer needs, and checks. Not for build scripts.
case " $* " in *" --crate-name build_script_"*) exec "$@" ;; esac
exec "$@" -Cdebug-assertions=on -Coverflow-checks=on -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
  -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
  -Cllvm-args=-sanitizer-coverage-trace-compares -Clinker=clang++-19 -Clink-arg=-fsanitize=fuzzer
