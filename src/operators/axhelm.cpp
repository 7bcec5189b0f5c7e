#include "operators/axhelm.hpp"

#include <optional>
#include <utility>

#include "core/config.hpp"
#include "operators/axhelm_kernel.hpp"

namespace nekbone_k {
namespace {

template <int... orders>
bool contains(int order, std::integer_sequence<int, orders...>) {
  return ((order == orders) || ...);
}

template <int... orders>
std::optional<double> run_compiled(const AxhelmArguments& arguments,
                                   std::integer_sequence<int, orders...>) {
  std::optional<double> u_dot_au;
  const int order = arguments.layout.nq - 1;
  ((order == orders && (u_dot_au = axhelm_compiled<orders>(arguments), true)) || ...);
  return u_dot_au;
}

}  // namespace

bool is_compiled_order(int order) { return contains(order, CompiledOrders{}); }

double axhelm(const AxhelmArguments& arguments) {
  if (const auto u_dot_au = run_compiled(arguments, CompiledOrders{})) return *u_dot_au;
  return AxhelmKernel(arguments, DynamicNq{arguments.layout.nq})
      .run("nekbone_k: axhelm (run-time order)");
}

}  // namespace nekbone_k
