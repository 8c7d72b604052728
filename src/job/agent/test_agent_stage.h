// An agent as a process with a stage of its own, and what its ranks and its workers do, for the tests of agents.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "engine/restore/target.h"
#include "fabric/remote.h"
#include "job/agent/agent.h"
#include "job/agent/test_bed.h"
#include "job/client/client.h"
#include "job/delivery/delivery.h"
#include "job/test_job.h"

namespace forebay::job::testing_support {

inline constexpr Client::Timeout kForEver{-1};

class AgentTest : public TempTest {
 protected:
  explicit AgentTest(const char* completion = "api") : stage_(path("stage")), rendezvous_(path("rendezvous")) {
    ::setenv("FOREBAY_AGENT_TIMEOUT", "0", 1);  // nobody starts an agent again while a rank waits
    AgentOptions options;
    options.stage = stage_;
    options.rendezvous = rendezvous_;
    options.credentials = credentials();
    options.listen = {{fabric::Address::Kind::tcp, "127.0.0.1", 0, {}}};
    options.completion = parse_completion(completion).value();
    agent_.emplace(options);
    agent_->start();
  }

  std::unique_ptr<Client> rank(uint32_t number, uint32_t ranks) const {
    return value(Client::connect(stage_, number, ranks));
  }

  static std::string text_of(uint32_t rank, const std::string& set) {
    return std::string(10'000, static_cast<char>('a' + rank)) + set;
  }
  static void write(Client& client, uint32_t number, const std::string& set, int64_t step) {
    check(client.begin(set, step, std::chrono::seconds(5)));
    write_text(value(client.path(file_of(number))), text_of(number, set));
  }
  static void dump(Client& client, uint32_t number, const std::string& set, int64_t step) {
    write(client, number, set, step);
    check(client.complete());
  }
  static std::string file_of(uint32_t rank) { return "d/rank" + std::to_string(rank); }

  // What a worker would read of the offer, by messages.
  static std::vector<std::string> pull(ScriptedCoordinator& coordinator, const wire::OfferT& offer) {
    const auto addresses = fabric::parse_addresses(coordinator.hellos().back().addresses).value();
    auto transport = fabric::stream_transport(
        value(fabric::Link::open(addresses, credentials(), wire::kPurpose, std::chrono::seconds(5))),
        std::chrono::seconds(5));
    std::vector<std::string> texts;
    for (uint32_t i = 0; i < offer.files.size(); ++i) {
      Bytes bytes(offer.files[i]->size);
      const fabric::Piece piece{i, 0, bytes.size()};
      check(transport->begin(offer.exposure, {&piece, 1}, bytes));
      check(transport->finish());
      texts.emplace_back(as_text(bytes));
    }
    check(transport->check_unchanged(offer.exposure));
    return texts;
  }

  // As a worker would: the file of rank 0.
  void deliver(const std::string& stored) const {
    auto target = value(open_delivered(stage_, stored));
    FileRow row;
    row.name = file_of(0);
    row.size = 4;
    auto file = value(target->create_file(row));
    check(file->write_at(0, as_bytes("back")));
    check(file->commit());
    check(target->finish());
  }

  bool has_set(const std::string& set) const { return std::filesystem::exists(stage_ + "/" + set); }

  std::string stage_, rendezvous_;
  std::optional<AgentProcess> agent_;
};

}  // namespace forebay::job::testing_support
