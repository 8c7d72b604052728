// A protection group in memory, whose steps are done as agents do them. Of the tests and benchmarks only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include "base/bytes.h"
#include "redundancy/coding.h"
#include "redundancy/steps.h"

namespace forebay::redundancy {

// One of 0 .. n-1.
inline unsigned below(std::mt19937_64& random, unsigned n) { return static_cast<unsigned>(random() % n); }

class TestGroup {
 public:
  TestGroup(Geometry geometry, std::mt19937_64& random) : geometry_(std::move(geometry)) {
    for (unsigned i = 0; i < geometry_.members(); ++i) {
      parts_.emplace_back(geometry_.size(i));
      for (std::byte& byte : parts_.back()) byte = static_cast<std::byte>(random());
      parities_.emplace_back(geometry_.parity_bytes());
    }
  }

  const Geometry& geometry() const { return geometry_; }
  Bytes& part(unsigned member) { return parts_[member]; }
  Bytes& parity(unsigned member) { return parities_[member]; }
  uint64_t sent() const { return sent_; }
  bool operator==(const TestGroup& other) const { return parts_ == other.parts_ && parities_ == other.parities_; }

  std::span<std::byte> bytes(const StepEnd& end) {
    Bytes& all = end.range.is_parity ? parities_[end.member] : parts_[end.member];
    return std::span(all).subspan(end.range.offset, end.range.length);
  }

  void encode() {
    for (unsigned leader = 0; leader < geometry_.members(); ++leader) {
      const EncodeSteps steps(geometry_, leader);
      for (uint64_t i = 0; i < steps.count(); ++i) run(steps.at(i), leader);
    }
  }

  // False if there is no repair.
  bool repair(const std::vector<Bad>& bad, const std::vector<unsigned>& leaders) {
    const auto steps = RepairSteps::make(geometry_, bad, leaders);
    if (!steps) return false;
    for (const unsigned leader : leaders)
      for (uint64_t i = 0; i < steps->count(leader); ++i) run(steps->at(leader, i), leader);
    return true;
  }

  void run(const Step& step, unsigned leader) {
    std::vector<std::span<const std::byte>> in;
    std::vector<std::span<std::byte>> out;
    for (const StepEnd& end : step.in) {
      in.emplace_back(bytes(end));
      if (end.member != leader) sent_ += end.range.length;
    }
    for (const StepEnd& end : step.out) {
      out.push_back(bytes(end));
      if (end.member != leader) sent_ += end.range.length;
    }
    combine(step.coefficients, in, out);
  }

  // What is bad has other bytes now.
  void spoil(const Bad& bad) {
    for (uint64_t piece = bad.first; piece < geometry_.pieces() && piece - bad.first < bad.count; ++piece)
      for (std::byte& byte : bytes({.member = bad.member, .range = geometry_.range(bad.row, bad.member, piece)}))
        byte ^= std::byte{0x5a};
  }

 private:
  Geometry geometry_;
  std::vector<Bytes> parts_, parities_;
  uint64_t sent_ = 0;
};

}  // namespace forebay::redundancy
