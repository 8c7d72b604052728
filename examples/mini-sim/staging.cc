#include "staging.h"

#include <array>
#include <stdexcept>

#include <forebay/forebay.h>

namespace mini_sim {
namespace {

constexpr int64_t kAnHour = 3'600'000;  // longer than anything should take that is waited for

[[noreturn]] void fail() { throw std::runtime_error(forebay_message()); }

}  // namespace

std::unique_ptr<Staging> Staging::connect(int rank, int ranks) {
  forebay_client* client = nullptr;
  const int code = forebay_connect(nullptr, rank, ranks, &client);
  if (code == FOREBAY_NO_JOB) return nullptr;
  if (code != FOREBAY_OK) fail();
  return std::unique_ptr<Staging>(new Staging(client));
}

Staging::~Staging() { forebay_disconnect(client_); }

std::filesystem::path Staging::newest(const std::string& file) {
  const int code = forebay_restart(client_, nullptr, 0, nullptr, kAnHour);
  if (code == FOREBAY_NONE) return {};
  std::array<char, 4096> path;
  if (code != FOREBAY_OK || forebay_restart_path(client_, file.c_str(), path.data(), path.size()) != FOREBAY_OK) fail();
  return path.data();
}

void Staging::loaded() {}

std::filesystem::path Staging::begin(const std::string& set, int step, const std::string& file) {
  std::array<char, 4096> path;
  if (forebay_begin(client_, set.c_str(), step, kAnHour) != FOREBAY_OK) fail();
  if (forebay_path(client_, file.c_str(), path.data(), path.size()) != FOREBAY_OK) fail();
  return path.data();
}

void Staging::complete() {
  const int code = forebay_complete(client_);
  // Without an agent the checkpoint waits for the next one.
  if (code != FOREBAY_OK && code != FOREBAY_NO_AGENT) fail();
}

void Staging::wait(const std::string& set) {
  const int code = forebay_wait(client_, set.c_str(), kAnHour);
  if (code != FOREBAY_OK && code != FOREBAY_SKIPPED && code != FOREBAY_CACHED) fail();
}

}  // namespace mini_sim
