#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Prints the files that changed since a commit, uncommitted ones first, then the last to change.
#   ci/changed-files.sh PATTERN COMMIT      PATTERN is one of awk, such as ^src/.*[.]hpp$
# Exits with 77 if this clone has no history that tells.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
since=$2
if ! git rev-parse --verify --quiet "$since^{commit}" >/dev/null; then
  if [[ $(git rev-parse --is-shallow-repository) == true ]]; then
    echo "not checked: the clone lacks $since; run git fetch --unshallow" >&2
    exit 77
  fi
  since=$(git rev-list --max-parents=0 HEAD | tail -n 1) # a young repository
fi
{
  git ls-files --others --exclude-standard
  git diff --name-only HEAD
  git log --name-only --format= "$since..HEAD"
} | awk -v pattern="$1" '$0 ~ pattern && !seen[$0]++' |
  while read -r file; do if [[ -f $file ]]; then echo "$file"; fi; done
