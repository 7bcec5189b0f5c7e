#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs missing tools and libraries for building and testing. Installs nothing if a site provides
# compilers, MPI and libraries through modules or Spack. Asks no questions.
#   ci/setup.sh            probe, then install missing packages through apt
#   ci/setup.sh --check    only list missing packages; exit code 1 if there are any
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# After a complete set-up, later runs only compare the checksum of these files.
stamp=build/.setup-done
checksum=$(cat ci/setup.sh ci/probe/CMakeLists.txt | cksum)
if [[ ${1:-} != --check && -f $stamp && $(<"$stamp") == "$checksum" ]]; then
  exit 0
fi

have() { command -v "$1" >/dev/null 2>&1; }

# Prints the apt packages of missing tools. Without them the script cannot probe for libraries.
missing_tools() {
  { [[ -n ${CXX:-} ]] || have c++ || have g++; } || echo g++
  have cmake || echo cmake
  have ninja || echo ninja-build
  have git || echo git
  { have mpicxx && { have mpirun || have mpiexec; }; } || printf '%s\n' libopenmpi-dev openmpi-bin
  have python3 || echo python3
  python3 -m pip --version >/dev/null 2>&1 || echo python3-pip # fetches Kokkos from package mirrors
  { python3 -c 'import jsonschema' || /usr/bin/python3 -c 'import jsonschema'; } >/dev/null 2>&1 ||
    echo python3-jsonschema
  [[ -e /etc/ssl/certs/ca-certificates.crt || -e /etc/ssl/cert.pem || -d /etc/pki ]] ||
    echo ca-certificates
}

# Prints the apt packages of libraries that CMake does not find; probes as the build does.
missing_libraries() {
  local probe status=0
  probe=$(mktemp -d)
  cmake -S ci/probe -B "$probe" -G Ninja >"$probe/log" 2>&1 || status=$?
  if [[ $status -eq 0 ]]; then sed -n 's/^-- missing: //p' "$probe/log"; else cat "$probe/log" >&2; fi
  rm -rf "$probe"
  return "$status"
}

tools=$(missing_tools)
if [[ ${1:-} == --check ]]; then
  libraries=
  if have cmake && have ninja; then libraries=$(missing_libraries); fi
  if [[ -z $tools$libraries ]]; then exit 0; fi
  printf '%s\n' $tools $libraries
  exit 1
fi
# shellcheck disable=SC2086 # list of words
if [[ -n $tools ]]; then ci/apt.sh $tools; fi

version=$(cmake --version | sed -n '1s/.* //p')
if [[ $(printf '%s\n' 3.25 "$version" | sort -V | head -n 1) != 3.25 ]]; then
  echo "ci/setup.sh: CMake $version is too old, 3.25 is needed (python3 -m pip install cmake)" >&2
  exit 1
fi

libraries=$(missing_libraries)
# shellcheck disable=SC2086
if [[ -n $libraries ]]; then ci/apt.sh $libraries; fi
mkdir -p build
echo "$checksum" >"$stamp"
