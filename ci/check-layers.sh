#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Checks that the includes under src/ follow the layers, so that e.g. gs works without a mesh:
#   core <- mesh;  core <- machine <- reduce <- gs <- tuning;  mesh, gs <- operators <- solver;
#   solver <- multigrid <- flow <- output <- input <- report <- doctor, selection <- flow_run <- app;
#   each from multigrid on may include all below it; tuning <- library <- gslib; gslib includes only
#   the C header of library
# Also checks that bench/ includes nothing of src/app, and that only src/core/standard_streams.cpp
# writes to stdout and stderr. Other writers would end or hang a run if a stream cannot be written,
# or print characters that a terminal cannot show. Excepted is src/gslib/messages.cpp, which is no part of the program.
# Prints each line that breaks these rules. Exits with 1 if there is one.
#   ci/check-layers.sh [SOURCE_DIRECTORY]
set -euo pipefail
cd "${1:-$(dirname "${BASH_SOURCE[0]}")/..}"

declare -A allowed=(
  [core]="core"
  [mesh]="mesh core"
  [machine]="machine core"
  [reduce]="reduce machine core"
  [gs]="gs reduce machine core"
  [tuning]="tuning gs reduce machine core"
  [library]="library tuning gs reduce machine core"
  [gslib]="gslib library"
  [operators]="operators mesh gs reduce machine core"
  [solver]="solver operators mesh reduce core"
)
below="core mesh machine reduce gs tuning operators solver"
for layer in multigrid flow output input report doctor selection flow_run app; do
  below+=" $layer"
  allowed[$layer]=$below
done
for layer in selection flow_run; do allowed[$layer]=${allowed[$layer]/ doctor/}; done
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
while IFS= read -r line; do
  echo "$line: bench must not include from app"
  violations=$((violations + 1))
done < <(grep -rnE '^ *# *include +"app/' bench --include='*.cpp' --include='*.hpp' | cut -d: -f1,2)
while IFS= read -r line; do
  echo "$line: print by core/standard_streams.hpp"
  violations=$((violations + 1))
done < <(grep -rnE 'std::(cout|cerr|clog) *<<|\<(stdout|stderr)\> *[,)]|\<(fmt::print|fmt::println|printf|puts|perror) *\(' \
  src --include='*.cpp' --include='*.hpp' --include='*.in' | grep -vE '^src/(core/standard_streams|gslib/messages).cpp:|^[^:]*:[0-9]+: *//' | cut -d: -f1,2)
[[ $violations -eq 0 ]]
