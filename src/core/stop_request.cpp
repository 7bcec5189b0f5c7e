// SPDX-License-Identifier: BSD-3-Clause
#include "core/stop_request.hpp"

#include <array>
#include <csignal>

namespace nekbone_k {
namespace {

constexpr std::array noted{SIGTERM, SIGUSR1};
std::array<struct sigaction, noted.size()> usual;
volatile std::sig_atomic_t came = 0;

void restore_all() {
  for (std::size_t s = 0; s < noted.size(); ++s) sigaction(noted[s], &usual[s], nullptr);
}

void note(int signal) {
  came = signal;
  restore_all();
}

}  // namespace

StopRequest::StopRequest() {
  came = 0;
  struct sigaction action {};
  action.sa_handler = note;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (std::size_t s = 0; s < noted.size(); ++s) {
    sigaction(noted[s], nullptr, &usual[s]);
    // A process that ignores a signal, e.g. under nohup, still ignores it.
    if (usual[s].sa_handler != SIG_IGN) sigaction(noted[s], &action, nullptr);
  }
}

StopRequest::~StopRequest() { restore_all(); }

int StopRequest::signal() { return came; }

std::string StopRequest::name(int signal) {
  return signal == SIGTERM ? "SIGTERM" : signal == SIGUSR1 ? "SIGUSR1" : "";
}

}  // namespace nekbone_k
