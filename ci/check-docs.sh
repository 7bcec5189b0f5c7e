#!/usr/bin/env bash
# Every file that a Markdown page links to, or names as `folder/file` of this tree, is there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
status=0
complain() {
  echo "$1: no such file: $2" >&2
  status=1
}
while IFS= read -r page; do
  while IFS= read -r link; do
    case $link in http*) continue ;; esac
    if [[ ! -e $(dirname "$page")/$link ]]; then complain "$page" "$link"; fi
  done < <(grep -oP '\]\(\K[^)# ]+' "$page" || true)
  while IFS= read -r path; do
    if [[ ! -e $path && ! -e $(dirname "$page")/$path ]]; then complain "$page" "$path"; fi
  done < <(grep -oP '`\K(src|ci|cmake|docs|inputs|bench|tests)/[A-Za-z0-9_./-]*(?=`)' "$page" || true)
done < <(git ls-files '*.md')
exit "$status"
