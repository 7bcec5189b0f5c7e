// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Initial guesses from earlier solutions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/communicator.hpp"
#include "flow/flow_archive.hpp"
#include "reduce/product_sums.hpp"

namespace nekbone_k {

/// A space of A-orthonormal vectors in which the solution of A x = b is approximated (Fischer,
/// Comput. Methods Appl. Mech. Eng. 163, 1998). Vectors are in device memory, and have the shape of
/// `range`.
class ProjectionSpace {
 public:
  /// Vectors that one kernel handles, and whose products one all-reduce sums.
  static constexpr int at_once = 8;

  /// A space of at most `most` vectors, none with 0. For `reproducible_terms` see
  /// ProductSums. Collective, and so is destruction.
  ProjectionSpace(const Communicator& comm, const std::string& label, VectorRange range, int most,
                  const AllReduceStrategy& all_reduce, std::optional<double> reproducible_terms);

  int size() const { return m_size; }
  int most() const { return m_most; }
  bool is_full() const { return m_size == m_most; }
  /// Forgets the vectors, e.g. because A changed. Not collective.
  void clear() { m_size = 0; }

  /// x = the member of the space nearest to the solution for b in the norm of A. Collective.
  void project(const DeviceVector<double>& b, const DeviceVector<double>& x) const;
  /// Allocates the vector that add() writes next, if it was not used before. Not collective.
  void prepare_to_add();
  /// Adds a vector x, given A x, made A-orthonormal to the others, unless it depends on them.
  /// Overwrites x. The space must not be full. Collective.
  void add(const DeviceVector<double>& x, const DeviceVector<double>& ax);

  /// Doubles per entry that project() and add() read and write at least, with the vectors of now.
  int traffic_of_project() const;
  int traffic_of_add() const;

  /// Saves or restores the vectors as fields NAME/0, NAME/1, … Restores none if the saved space has
  /// more vectors than this one can hold. Collective.
  void archive(const std::string& name, FlowArchive& archive);

 private:
  /// Vector i, which is i at most one more than there are.
  const DeviceVector<double>& vector(int i);
  /// The products of `v` with all vectors, and with `last`.
  std::vector<double> products(const DeviceVector<double>& v,
                               const DeviceVector<double>& last) const;
  /// x = keep x + Σ factors[i] vector i.
  void combine(double keep, const std::vector<double>& factors,
               const DeviceVector<double>& x) const;

  VectorRange m_range;
  int m_most, m_size = 0;
  std::string m_label;
  std::vector<DeviceVector<double>> m_vectors;  // made at first use
  // Products with a few vectors each, so that the host waits for all at once.
  std::vector<ProductSums<at_once>> m_products;
};

}  // namespace nekbone_k
