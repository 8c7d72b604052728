// The options of the processes of a running job: those of agents and aggregators, which `run` and `watch` take, too.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/rate_limit.h"
#include "cli/daemon.h"
#include "cli/json.h"
#include "cli/packing.h"
#include "cli/syntax.h"
#include "job/agent/agent.h"
#include "job/aggregator.h"
#include "job/clocks/clocks.h"

namespace forebay::cli {

// What a job consists of, as far as its command lines say the same of it.
class JobOptions {
 public:
  using Words = std::vector<std::string>;

  // Each group once at most. What is given of --listen, of --encrypt and of the last three is also put into agent_words
  // and aggregator_words.
  void declare_stage(Syntax& syntax);                                 // --stage
  void declare_rendezvous(Syntax& syntax);                            // --rendezvous
  void declare_listen(Syntax& syntax, const std::string& otherwise);  // --listen, --ports; what it is by default
  void declare_encrypt(Syntax& syntax);                               // --encrypt
  void declare_agents(Syntax& syntax);                                // --agents
  void declare_series(Syntax& syntax, const std::string& otherwise);  // --series; what it is by default
  void declare_agent(Syntax& syntax);
  void declare_linger(Syntax& syntax);  // --linger
  void declare_place(Syntax& syntax);   // --node, --watch-ranks: of one agent
  void declare_aggregator(Syntax& syntax);
  void declare_shared(Syntax& syntax);  // by both

  // To be called after parsing: what is missing is invalid_argument.
  Result<void> complete_agent();
  Result<void> complete_aggregator();

  bool listens() const { return is_local_ || !listen_.empty(); }  // --listen was given
  bool has_ports() const { return !ports_.empty(); }              // --ports was given

  // `store`, `stage` and `rendezvous` are to be set.
  std::string store, stage, rendezvous, series;
  bool encrypt = false;  // --encrypt
  job::AgentOptions agent;
  job::AggregatorOptions aggregator;
  uint64_t pfs_limit = 0;  // 0: none
  Words agent_words, aggregator_words;

 private:
  Result<void> complete_shared();

  bool munge_ = false, has_priority_ = false, is_complete_ = false, is_local_ = false;
  std::vector<fabric::Address> listen_;
  std::string fabric_ = "auto", ports_;
  Compression compression_;
  Description description_;
  engine::Resources resources_;
  std::unique_ptr<RateLimit> limit_;
};

// Its option; `of` stands before what --help says.
void declare_clock(Syntax& syntax, const job::TimeBound& clock, std::chrono::milliseconds& to,
                   std::string_view of = "");

// The log of a daemon as those of the rooms want it.
std::function<void(fabric::Severity, const std::string&)> log_to(Daemon& daemon);

// "tcp:...,unix:...", for people and for fabric::parse_addresses().
std::string joined(const std::vector<fabric::Address>& addresses);
Json json_addresses(const std::vector<fabric::Address>& addresses);

// What the process may have of the processor, all threads that are started later included.
Result<void> set_priority(job::Priority priority);

}  // namespace forebay::cli
