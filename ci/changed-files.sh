#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Prints the files that changed since a commit, uncommitted ones first, then the last to change.
#   ci/changed-files.sh PATTERN COMMIT      PATTERN is one of awk, such as ^src/.*[.]hpp$
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
since=$2
if ! git rev-parse --verify --quiet "$since^{commit}" >/dev/null; then
  since=$(git rev-list --max-parents=0 HEAD | tail -n 1) # a young or shallow repository
fi
{
  git ls-files --others --exclude-standard
  git diff --name-only HEAD
  git log --name-only --format= "$since..HEAD"
} | awk -v pattern="$1" '$0 ~ pattern && !seen[$0]++' |
  while read -r file; do if [[ -f $file ]]; then echo "$file"; fi; done
