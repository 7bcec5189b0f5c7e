#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs the tests of tools/ with those of figures, which CTest skips without matplotlib. apt installs
# it if it is missing.
#   ci/check-tools.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
for python in python3 /usr/bin/python3; do
  if "$python" -c 'import matplotlib' >/dev/null 2>&1; then exec "$python" tools/test_tools.py; fi
done
if ! ci/apt.sh python3-matplotlib; then
  echo "not checked: there is no matplotlib"
  exit 77
fi
exec /usr/bin/python3 tools/test_tools.py
