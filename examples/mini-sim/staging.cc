#include "staging.h"

#include <array>
#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <thread>

namespace mini_sim {
namespace {

constexpr int64_t kAnHour = 3'600'000;  // longer than anything should take that is waited for

[[noreturn]] void fail() { throw std::runtime_error(forebay_message()); }

// An agent that died is soon started again: what it did not answer is asked again for a while.
template <class Call>
int patiently(const Call& call) {
  using namespace std::chrono_literals;
  const auto end = std::chrono::steady_clock::now() + 60s;
  int code;
  while ((code = call()) == FOREBAY_NO_AGENT && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(200ms);
  return code;
}

}  // namespace

std::unique_ptr<Staging> Staging::connect(int rank, int ranks) {
  if (std::getenv("FOREBAY_STAGE") == nullptr) return nullptr;
  forebay_client* client = nullptr;
  if (patiently([&] { return forebay_connect(nullptr, rank, ranks, &client); }) != FOREBAY_OK) fail();
  return std::unique_ptr<Staging>(new Staging(client));
}

std::filesystem::path Staging::newest(const std::string& file) {
  const int code = patiently([&] { return forebay_restart(client_, nullptr, 0, nullptr, kAnHour); });
  if (code == FOREBAY_NONE) return {};
  std::array<char, 4096> path;
  if (code != FOREBAY_OK || forebay_restart_path(client_, file.c_str(), path.data(), path.size()) != FOREBAY_OK) fail();
  return path.data();
}

std::filesystem::path Staging::begin(const std::string& set, int step, const std::string& file) {
  std::array<char, 4096> path;
  if (patiently([&] { return forebay_begin(client_, set.c_str(), step, kAnHour); }) != FOREBAY_OK) fail();
  if (forebay_path(client_, file.c_str(), path.data(), path.size()) != FOREBAY_OK) fail();
  return path.data();
}

void Staging::complete() {
  const int code = forebay_complete(client_);
  // Without an agent the checkpoint waits for the next one.
  if (code != FOREBAY_OK && code != FOREBAY_NO_AGENT) fail();
}

void Staging::wait(const std::string& set) {
  const int code = patiently([&] { return forebay_wait(client_, set.c_str(), kAnHour); });
  if (code != FOREBAY_OK && code != FOREBAY_SKIPPED) fail();
}

}  // namespace mini_sim
