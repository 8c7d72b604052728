// The functions of forebay.h that speak with an agent.
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "api/last_failure.h"
#include "forebay/forebay.h"
#include "job/client/client.h"

struct forebay_client {
  std::unique_ptr<forebay::job::Client> client;
};

namespace {

using namespace forebay;
using job::Client;

using api::failed, api::guarded;

int client_failed(const Error& error) {
  switch (error.kind) {
    case ErrorKind::timeout:
      return failed(FOREBAY_TIMEOUT, error);
    case ErrorKind::disconnected:
      return failed(FOREBAY_NO_AGENT, error);
    case ErrorKind::invalid_argument:
    case ErrorKind::not_found:
      return failed(FOREBAY_ARGUMENT, error);
    default:
      return failed(FOREBAY_FAILED, error);
  }
}

Client::Timeout timeout_of(int64_t timeout_ms) { return Client::Timeout(api::bounded(timeout_ms).value_or(-1)); }

int copy(const std::string& text, char* to, size_t size) {
  if (text.size() >= size) return failed(FOREBAY_ARGUMENT, "the text does not fit into the space that was given");
  std::memcpy(to, text.c_str(), text.size() + 1);
  return FOREBAY_OK;
}

int missing() { return failed(FOREBAY_ARGUMENT, "an argument is missing"); }

// What a state means to forebay_wait().
int code_of(const Client::News& news) {
  switch (news.state) {
    case job::wire::SetState::durable:
      return FOREBAY_OK;
    case job::wire::SetState::cached:
      return failed(FOREBAY_CACHED, news.message.empty() ? "the set stays in the caches" : news.message.c_str());
    case job::wire::SetState::skipped:
      return failed(FOREBAY_SKIPPED, news.message.empty() ? "a newer set is drained instead" : news.message.c_str());
    case job::wire::SetState::failed:
      return failed(FOREBAY_SET_FAILED, news.message.empty() ? "the set failed" : news.message.c_str());
    default:
      return failed(FOREBAY_TIMEOUT, "the set is not durable yet");
  }
}

int restart(forebay_client* client, char* set, size_t size, int64_t* step, int* set_ranks, int64_t timeout_ms,
            bool any_ranks) {
  return guarded([&] {
    if (client == nullptr) return missing();
    const auto answer = client->client->restart(timeout_of(timeout_ms), any_ranks);
    if (!answer) return client_failed(answer.error());
    if (answer->other_ranks != 0) return failed(FOREBAY_OTHER_RANKS, answer->message.c_str());
    if (!answer->found)
      return failed(FOREBAY_NONE,
                    answer->message.empty() ? "there is no set to restart from" : answer->message.c_str());
    if (step != nullptr) *step = answer->found->step.value_or(-1);
    if (set_ranks != nullptr) *set_ranks = static_cast<int>(answer->found->ranks);
    return set == nullptr ? int{FOREBAY_OK} : copy(answer->found->set, set, size);
  });
}

}  // namespace

int forebay_connect(const char* agent, int rank, int ranks, forebay_client** client) {
  return guarded([&] {
    if (client == nullptr) return missing();
    *client = nullptr;
    if (rank < 0 || rank >= ranks) return failed(FOREBAY_ARGUMENT, "there is no such rank");
    const char* stage = agent != nullptr ? agent : std::getenv("FOREBAY_STAGE");
    if (stage == nullptr || *stage == '\0')
      return failed(FOREBAY_NO_JOB, "no stage is given, neither as an argument nor as FOREBAY_STAGE");
    auto place = std::make_unique<forebay_client>();
    auto made = Client::connect(stage, static_cast<uint32_t>(rank), static_cast<uint32_t>(ranks));
    if (!made) return client_failed(made.error());
    place->client = std::move(*made);
    *client = place.release();
    return int{FOREBAY_OK};
  });
}

void forebay_disconnect(forebay_client* client) { delete client; }

int forebay_begin(forebay_client* client, const char* set, int64_t step, int64_t timeout_ms) {
  return guarded([&] {
    if (client == nullptr || set == nullptr) return missing();
    const auto begun = client->client->begin(set, step, timeout_of(timeout_ms));
    return begun ? int{FOREBAY_OK} : client_failed(begun.error());
  });
}

int forebay_path(forebay_client* client, const char* file, char* path, size_t size) {
  return guarded([&] {
    if (client == nullptr || file == nullptr || path == nullptr) return missing();
    const auto found = client->client->path(file);
    return found ? copy(*found, path, size) : client_failed(found.error());
  });
}

int forebay_complete(forebay_client* client) {
  return guarded([&] {
    if (client == nullptr) return missing();
    const auto completed = client->client->complete();
    return completed ? int{FOREBAY_OK} : client_failed(completed.error());
  });
}

int forebay_wait(forebay_client* client, const char* set, int64_t timeout_ms) {
  return guarded([&] {
    if (client == nullptr || set == nullptr) return missing();
    const auto news = client->client->wait(set, timeout_of(timeout_ms));
    return news ? code_of(*news) : client_failed(news.error());
  });
}

int forebay_restart(forebay_client* client, char* set, size_t size, int64_t* step, int64_t timeout_ms) {
  return restart(client, set, size, step, nullptr, timeout_ms, false);
}

int forebay_restart_any(forebay_client* client, char* set, size_t size, int64_t* step, int* set_ranks,
                        int64_t timeout_ms) {
  return restart(client, set, size, step, set_ranks, timeout_ms, true);
}

int forebay_restart_path(forebay_client* client, const char* file, char* path, size_t size) {
  return guarded([&] {
    if (client == nullptr || file == nullptr || path == nullptr) return missing();
    const auto found = client->client->restart_path(file);
    return found ? copy(*found, path, size) : client_failed(found.error());
  });
}
