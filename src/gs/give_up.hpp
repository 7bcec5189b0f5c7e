/// @file
/// What is done with memory that messages may still be on their way into or from.
#pragma once

#include <type_traits>
#include <utility>

namespace nekbone_k {

/// Keeps what `owner` owns, a unique pointer or a view, to the end of the program: neither freed,
/// as a message may still read or write it, nor taken down, as that may wait for other ranks.
template <class Owner>
void give_up(Owner&& owner) {
  static_cast<void>(new std::remove_cvref_t<Owner>(std::forward<Owner>(owner)));
}

}  // namespace nekbone_k
