// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// Keeps memory that messages may still use.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace nekbone_k {

/// Keeps what `owner` owns, such as a view, until the program ends. The memory is not
/// freed, because a message may still read or write it. Destructors do not run, because they may
/// wait for other ranks.
template <class Owner>
void give_up(Owner&& owner) {
  static_cast<void>(new std::remove_cvref_t<Owner>(std::forward<Owner>(owner)));
}
/// The same for a unique pointer, also if there is no memory left.
template <class T>
void give_up(std::unique_ptr<T>&& owner) noexcept {
  const T* const kept = owner.release();
  static_cast<void>(kept);
}

}  // namespace nekbone_k
