#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Compiles headers alone, and twice, with the flags of a built preset: those that changed since a
# commit, and those that include them directly. Also checks uncommitted changes.
#   ci/check-headers.sh [COMMIT]      (default: the tenth commit before this one)
# PRESET names the preset (default dev). MOST limits the number of headers (default 60, changed ones
# first), because each takes some 3 s.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=build/${PRESET:-dev}
if [[ ! -f $build/compile_commands.json ]]; then
  echo "ci/check-headers.sh: $build is not configured; run ci/build.sh ${PRESET:-dev}" >&2
  exit 1
fi

# Definitions, folders, standard and target of the sources of src/app; warnings are errors.
mapfile -t flags < <(python3 - "$build/compile_commands.json" <<'EOF'
import json, shlex, sys
for entry in json.load(open(sys.argv[1])):
    if "nk_app.dir" in entry["command"] and "cmake_pch" not in entry["file"]:
        words = shlex.split(entry["command"])
        break
print(words[0])
for before, word in zip(words, words[1:]):
    if word.startswith(("-D", "-I", "-std", "-m", "-W")) and not word.startswith("-Winvalid-pch"):
        print(word)
    elif before == "-isystem":
        print(before)
        print(word)
EOF
)
headers=$(ci/changed-files.sh '^src/.*[.]hpp$' "${1:-HEAD~10}") || exit $?
if [[ -z $headers ]]; then exit 0; fi
mapfile -t changed < <(sed 's|^src/||' <<<"$headers")
mapfile -t including < <(
  cd src
  printf '#include "%s"\n' "${changed[@]}" | grep -rlF --include='*.hpp' -f - . | sed 's|^\./||' | sort
)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

printf '%s\n' "${changed[@]}" "${including[@]}" |
  awk -v most="${MOST:-60}" -v folder="$folder" '!seen[$0]++ && ++n <= most {
    include = "#include \"" $0 "\""
    print include "\n" include " // include guard" >folder "/" n ".cpp"
  }'
find "$folder" -name '*.cpp' -print0 | xargs -0 -P "$(nproc)" -n 1 "${flags[@]}" -Werror -fsyntax-only
