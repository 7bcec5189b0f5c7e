// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// All keys of the input file. Only the table in input_keys.cpp lists them. The reader, the report,
/// its JSON schema, `--help KEY`, docs/input.md and inputs/tgv64.yaml follow it. Nothing here is
/// collective.
#pragma once

#include <span>

#include "input/key.hpp"

namespace nekbone_k {

/// All sections and keys, in the order of the documentation. A section comes before its keys, and a
/// key after the keys that its rule depends on.
std::span<const Key> input_keys();

/// Reads all keys from the top level of an input, with their places, and checks each on its own.
/// Throws InputError.
void read_keys(YamlReader& top_level, Case& run);

/// `run` as an input: saved as a file, this object gives the same run.
Json as_input(const Case& run);

}  // namespace nekbone_k
