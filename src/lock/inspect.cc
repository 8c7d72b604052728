#include "lock/inspect.h"

#include <algorithm>
#include <iterator>

#include "lock/connection.h"

namespace forebay::lock {

static constexpr std::chrono::seconds kPatience{10};

Result<Inspector> Inspector::connect(const std::vector<fabric::Address>& server,
                                     const fabric::Credentials& credentials) {
  Inspector inspector;
  FOREBAY_TRY(inspector.connection_, Connection::open(server, credentials, "forebay locks", Clock::now() + kPatience));
  return inspector;
}

Result<Overview> Inspector::ask() {
  FOREBAY_TRY(auto parts, connection_->query(Clock::now() + kPatience));
  Overview overview;
  for (wire::Status& part : parts) {
    std::ranges::move(part.clients, std::back_inserter(overview.clients));
    std::ranges::move(part.requests, std::back_inserter(overview.requests));
    std::ranges::move(part.counters, std::back_inserter(overview.counters));
    overview.truncated = overview.truncated || part.truncated;
  }
  std::ranges::stable_sort(overview.requests, {}, &wire::StatusRequest::file);
  std::ranges::sort(overview.clients, {}, &wire::StatusClient::session);
  std::ranges::sort(overview.counters, {}, &wire::StatusCounter::name);
  return overview;
}

}  // namespace forebay::lock
