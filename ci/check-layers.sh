#!/usr/bin/env bash
# Checks that the includes under src/ follow the layers, so that for example gs works without a mesh:
#   core <- mesh;  core <- gs;  mesh, gs <- operators;  gs <- solver;  all of them <- app
# Prints each include that points the wrong way and exits with 1 if there is one.
#   ci/check-layers.sh [SOURCE_DIRECTORY]
set -euo pipefail
cd "${1:-$(dirname "${BASH_SOURCE[0]}")/..}"

declare -A allowed=(
  [core]="core"
  [mesh]="mesh core"
  [gs]="gs core"
  [operators]="operators mesh gs core"
  [solver]="solver gs core"
  [app]="app solver operators gs mesh core"
)
violations=0
for folder in src/*/; do
  layer=$(basename "$folder")
  if [[ -z ${allowed[$layer]:-} ]]; then
    echo "src/$layer: not a known layer; add it to ci/check-layers.sh"
    violations=$((violations + 1))
    continue
  fi
  while IFS=: read -r file line include; do
    target=$(sed -E 's/^[^"<]*["<](\.\.\/)*([^/]*)\/.*/\2/' <<<"$include")
    if [[ -d src/$target && " ${allowed[$layer]} " != *" $target "* ]]; then
      echo "$file:$line: $layer must not include from $target"
      violations=$((violations + 1))
    fi
  done < <(grep -rnE '^ *# *include +["<][^">]*/' "$folder")
done
[[ $violations -eq 0 ]]
