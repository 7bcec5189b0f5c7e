#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs Debian packages. Asks no questions. Fails, and prints the reason, if it cannot.
#   ci/apt.sh PACKAGE...
set -euo pipefail
as_root=()
if ! command -v apt-get >/dev/null 2>&1; then
  echo "ci/apt.sh: missing, and there is no apt to install it: $*" >&2
  exit 1
fi
if [[ $(id -u) -ne 0 ]]; then
  if ! command -v sudo >/dev/null 2>&1; then
    echo "ci/apt.sh: not root and no sudo; somebody must run: apt-get install $*" >&2
    exit 1
  fi
  as_root=(sudo)
fi
echo "ci/apt.sh: installing $*" >&2
install() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}
# Without a list of packages, or with an old one, the first attempt fails.
install "$@" 2>/dev/null || { "${as_root[@]}" apt-get update -qq && install "$@"; }
