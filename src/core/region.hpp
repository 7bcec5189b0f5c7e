// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Regions for tracing tools.
#pragma once

#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <optional>
#include <string>

namespace nekbone_k {

/// A region of Kokkos Tools, from its construction to the end of its scope. docs/tracing.md lists
/// the names.
class [[nodiscard]] Region {
 public:
  explicit Region(const char* name) {
    if (has_tool()) m_region.emplace(name);
  }
  explicit Region(const std::string& name) : Region(name.c_str()) {}

 private:
  /// Kokkos loads tools when it starts. Without one, a region costs neither calls nor an allocation
  /// for its name, as an exchange may take only a microsecond.
  static bool has_tool() {
    static const bool is_loaded = Kokkos::Profiling::profileLibraryLoaded();
    return is_loaded;
  }

  std::optional<Kokkos::Profiling::ScopedRegion> m_region;
};

}  // namespace nekbone_k
