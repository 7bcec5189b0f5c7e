// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Keeps memory that messages may still use.
#pragma once

#include <type_traits>
#include <utility>

namespace nekbone_k {

/// Keeps what `owner` owns, a unique pointer or a view, until the program ends. The memory is not
/// freed, because a message may still read or write it. Destructors do not run, because they may
/// wait for other ranks.
template <class Owner>
void give_up(Owner&& owner) {
  static_cast<void>(new std::remove_cvref_t<Owner>(std::forward<Owner>(owner)));
}

}  // namespace nekbone_k
