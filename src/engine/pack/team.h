// The processes that share one pack: alone, or the ranks of an MPI job.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"

namespace forebay::engine {

// All calls are collective: every process of the team makes the same ones in the same order.
class Team {
 public:
  virtual ~Team() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;

  // `text` of rank 0, everywhere.
  virtual std::string broadcast(std::string text) = 0;

  // The texts of all ranks, in rank order, on rank 0; empty elsewhere.
  virtual std::vector<std::string> gather(const std::string& text) = 0;
};

// One process.
class SoloTeam final : public Team {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  std::string broadcast(std::string text) override { return text; }
  std::vector<std::string> gather(const std::string& text) override { return {text}; }
};

// Success if no rank has an error; else, on every rank, the error of the lowest rank that has one.
Result<void> agree(Team& team, const Result<void>& mine);

}  // namespace forebay::engine
