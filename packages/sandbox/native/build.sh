#!/bin/sh
# Builds the program for both architectures, bit for bit the same wherever it runs, and writes down with what.
# Options: --check builds to a temporary directory, compares with what is committed, and analyses the sources. Other
# compilers give other bytes and findings: with those it only shows that the sources build.
set -eu
cd "$(dirname "$0")"
export LC_ALL=C SOURCE_DATE_EPOCH=0

sources='sys.h text.h status.h frames.h confine.h mount.h vet.h start.c confine.c helper.c commands.c supervise.c command.c privileges.c
  policy.c template.c namespaces.c mount-tree.c mount-parts.c pipes.c forward.c forward-process.c connect.c signals.c wait.c decode.c encode.c vet.c vet-object.c vet-metadata.c vet-connect.c vet-process.c vet-absent.c'
programs=$(for file in $sources; do case $file in *.c) printf '%s ' "$file" ;; esac; done)
# shellcheck disable=SC2086 # The list is a list.
hash=$(cat $sources | sha256sum | cut -d ' ' -f 1)
hash_bytes=$(printf '%s' "$hash" | sed 's/../0x&,/g; s/,$//')

flags='-O2 -std=gnu11 -ffreestanding -fno-builtin -fno-tree-loop-distribute-patterns -fno-stack-protector
  -fno-asynchronous-unwind-tables -fno-unwind-tables -fno-ident -fno-pie -no-pie -nostdlib -static
  -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Wvla -Wstack-usage=20480 -Werror -s
  -Wl,--build-id=none -Wl,-z,noseparate-code -Wl,-z,norelro -Wl,-z,noexecstack'

# Every path through every file; a finding fails.
analyse() {
  for file in $programs; do
    # shellcheck disable=SC2086
    gcc -fanalyzer ${flags%%-nostdlib*} -Wall -Wextra -Werror -DSOURCE_HASH=0 -c -o /dev/null "$file"
  done
}

output=../bin
[ "${1:-}" = --check ] && output=$(mktemp -d)
for target in x64:gcc:-fcf-protection=none arm64:aarch64-linux-gnu-gcc:-mno-outline-atomics; do
  architecture=${target%%:*} rest=${target#*:}
  compiler=${rest%%:*} extra=${rest#*:}
  mkdir -p "$output/linux-$architecture"
  # shellcheck disable=SC2086
  "$compiler" $flags "$extra" "-DSOURCE_HASH=$hash_bytes" -o "$output/linux-$architecture/confine" $programs
  chmod 755 "$output/linux-$architecture/confine"
done

compilers() {
  echo "x64 $(gcc --version | head -n 1)"
  echo "arm64 $(aarch64-linux-gnu-gcc --version | head -n 1)"
}

describe() {
  echo "sources $hash"
  compilers
  for architecture in x64 arm64; do
    echo "$architecture $(sha256sum "$1/linux-$architecture/confine" | cut -d ' ' -f 1)"
  done
  # shellcheck disable=SC2086
  echo flags $flags
}

# What Node checks before it starts one.
constants() {
  echo '// Written by native/build.sh.'
  echo
  echo '/** SHA-256 of the sources that the programs were built from. */'
  echo "export const confineSources = '$hash'"
  echo
  echo '/** SHA-256 of the programs, by the architecture as Node names it. */'
  echo 'export const confinePrograms: Readonly<Record<string, string>> = {'
  for architecture in x64 arm64; do
    echo "  $architecture: '$(sha256sum "$1/linux-$architecture/confine" | cut -d ' ' -f 1)',"
  done
  echo '}'
}

if [ "$output" = ../bin ]; then
  describe "$output" > BUILT-WITH
  constants "$output" > ../src/isolation/confine/built-programs.ts
  cat BUILT-WITH
  wc -c "$output"/linux-*/confine
elif ! compilers | grep -qvxFf BUILT-WITH; then
  analyse
  describe "$output" | diff - BUILT-WITH
  for architecture in x64 arm64; do
    cmp "$output/linux-$architecture/confine" "../bin/linux-$architecture/confine"
  done
  rm -r "$output"
  echo 'the committed programs are those that these sources give'
else
  rm -r "$output"
  echo 'not compared: the sources build, but BUILT-WITH names other compilers than these:'
  compilers
fi
