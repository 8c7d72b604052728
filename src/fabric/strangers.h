// The connections of a server that have not proved yet who they are. Nobody can keep others out by having many: they
// are bounded in number, the oldest of those who have too many make room, and each has its time. Pure.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

namespace forebay::fabric {

class Strangers {
 public:
  using Id = uint64_t;  // younger ones have greater ones
  using Time = std::chrono::steady_clock::time_point;
  struct Limits {
    size_t all = 1024;
    size_t of_source = 256;  // of one host, or one user
  };
  explicit Strangers(Limits limits) : limits_(limits) {}

  // Which one is to be closed before another one of this source is added: the oldest of the source, if there are as
  // many as one may have; else, if there are as many as there may be, the oldest of the source that has most.
  std::optional<Id> in_the_way_of(const std::string& source) const;

  // Deadlines do not go down from one to the next.
  void add(Id id, const std::string& source, Time deadline);
  void remove(Id id);  // it has proved who it is, or is gone; nothing happens with one that is not there

  std::optional<Id> late(Time now) const;  // one whose time is over
  Time next_deadline() const;              // Time::max() if there is none

  size_t size() const { return all_.size(); }

 private:
  struct Stranger {
    std::string source;
    Time deadline;
  };
  std::optional<Id> oldest_of(const std::string& source) const;

  const Limits limits_;
  std::map<Id, Stranger> all_;
  std::unordered_map<std::string, size_t> counts_;  // by source
};

}  // namespace forebay::fabric
