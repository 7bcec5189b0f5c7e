#!/usr/bin/env bash
# Installs what building and testing need, and only that which is missing: a site that provides
# compilers, MPI and libraries through modules or Spack installs nothing. Asks no questions.
#   ci/setup.sh            probe, and install through apt where something is missing
#   ci/setup.sh --check    only say what is missing; exit code 1 if anything is
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Once all was found, later runs only compare these files' checksums.
stamp=build/.setup-done
checksum=$(cat ci/setup.sh ci/probe/CMakeLists.txt | cksum)
if [[ ${1:-} != --check && -f $stamp && $(<"$stamp") == "$checksum" ]]; then
  exit 0
fi

have() { command -v "$1" >/dev/null 2>&1; }

# Prints the apt packages of the missing tools. Without these the libraries cannot be looked for.
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

# Prints the apt packages of the libraries that CMake does not find, asked as the build will ask.
missing_libraries() {
  local probe status=0
  probe=$(mktemp -d)
  cmake -S ci/probe -B "$probe" -G Ninja >"$probe/log" 2>&1 || status=$?
  if [[ $status -eq 0 ]]; then sed -n 's/^-- missing: //p' "$probe/log"; else cat "$probe/log" >&2; fi
  rm -rf "$probe"
  return "$status"
}

updated=false
# Installs the given packages, or says why it cannot.
install() {
  local as_root=()
  if ! have apt-get; then
    echo "ci/setup.sh: missing, and there is no apt to install it: $*" >&2
    exit 1
  fi
  if [[ $(id -u) -ne 0 ]]; then
    if ! have sudo; then
      echo "ci/setup.sh: not root and no sudo; somebody must run: apt-get install $*" >&2
      exit 1
    fi
    as_root=(sudo)
  fi
  echo "ci/setup.sh: installing $*" >&2
  if [[ $updated == false ]]; then
    "${as_root[@]}" apt-get update -qq
    updated=true
  fi
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

tools=$(missing_tools)
if [[ ${1:-} == --check ]]; then
  libraries=
  if have cmake && have ninja; then libraries=$(missing_libraries); fi
  if [[ -z $tools$libraries ]]; then exit 0; fi
  printf '%s\n' $tools $libraries
  exit 1
fi
# shellcheck disable=SC2086 # lists of words
if [[ -n $tools ]]; then install $tools; fi

version=$(cmake --version | sed -n '1s/.* //p')
if [[ $(printf '%s\n' 3.25 "$version" | sort -V | head -n 1) != 3.25 ]]; then
  echo "ci/setup.sh: CMake $version is too old, 3.25 is needed (python3 -m pip install cmake)" >&2
  exit 1
fi

libraries=$(missing_libraries)
# shellcheck disable=SC2086
if [[ -n $libraries ]]; then install $libraries; fi
mkdir -p build
echo "$checksum" >"$stamp"
