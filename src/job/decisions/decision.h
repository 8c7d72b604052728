// What a coordinator decides and the next one must know: the records of the job's log, and their form as text
// (docs/wire.md, "Log of decisions"). Each is in the log before anything follows from it. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.h"
#include "job/decisions/pace.h"

namespace forebay::job {

namespace decided {

// The log of this generation begins here, or goes on from here: what follows does not need what was before it.
struct Opened {
  uint64_t generation = 0;
  std::string run;  // Rendezvous::run(): a log of another run of the job says nothing of this one
  bool operator==(const Opened&) const = default;
};
// That generation has taken over. Nothing comes after this.
struct Closed {
  uint64_t by = 0;
  bool operator==(const Closed&) const = default;
};
// The job goes on without that node.
struct Excluded {
  std::string host;
  bool operator==(const Excluded&) const = default;
};
// All ranks have completed the set: its place in the series, and whether it is to be stored.
struct Whole {
  std::string set;
  uint64_t write = 0;    // of this writing of it; 0: not known
  uint64_t ordinal = 0;  // its place
  bool is_due = false;
  bool is_counted = false;          // towards every n-th set that is stored
  std::optional<Pace::Set> sample;  // of a set that was not complete before
  bool operator==(const Whole&) const = default;
};
enum class End : uint8_t { durable, skipped, failed, cached };
// What became of it. `stored_as`: durable, its name in the store; bytes: of a durable one, what was committed.
struct Ended {
  std::string set;
  End end = End::failed;
  std::string stored_as;
  uint64_t raw_bytes = 0, stored_bytes = 0;
  bool is_counted = true;   // false: it had ended so before
  bool owes_flush = false;  // it was due as every n-th set and is not stored: the next one is due
  bool operator==(const Ended&) const = default;
};
// A set that has ended is sealed in the caches: all members of that encoding have all that protects it.
struct Sealed {
  std::string set;
  uint64_t encoding = 0;
  bool operator==(const Sealed&) const = default;
};
// A restart was answered: of the set of that place in the series, which all agents have in its place, in that round of
// the coordinator of that generation; round and place 0: there was nothing to restart from.
struct Answered {
  uint64_t generation = 0, round = 0, place = 0;
  bool is_of(uint64_t of_generation, uint64_t of_round) const {
    return generation == of_generation && round == of_round;
  }
  bool operator==(const Answered&) const = default;
};
// Never to be restarted from again: what the caches have of that writing of the set, if that is known, and of that
// encoding, if it has one. Of neither, whatever they have of that name, until a set of that name is whole later.
struct Refused {
  std::string set, reason;
  uint64_t write = 0, encoding = 0;
  bool removes = false;  // agents are to remove it, and not to set it aside
  bool is_by_name() const { return write == 0 && encoding == 0; }
  bool operator==(const Refused&) const = default;
};
// Nor that set of the store, which the store is to set aside; is_done: it has.
struct PutAside {
  std::string stored_as, reason;
  bool is_done = false;
  bool operator==(const PutAside&) const = default;
};
// At the end of the job that set of the caches could not be stored; is_over: it is after all, or newer than it is what
// is, or the application has refused it.
struct NotStored {
  std::string set, reason;
  uint64_t ordinal = 0;
  bool is_over = false;
  bool operator==(const NotStored&) const = default;
};

struct Counts {
  uint64_t durable = 0, skipped = 0, failed = 0, cached = 0, restarts = 0, raw_bytes = 0, stored_bytes = 0;
  bool operator==(const Counts&) const = default;
};
// What records that are gone have added up to.
struct Sums {
  Counts counts;
  std::vector<std::string> latest;  // durable sets that were counted last, as the store calls them
  uint64_t unflushed = 0;           // sets that count towards every n-th one, since one was due
  bool owes_flush = false;          // the next one is due
  uint64_t newest_place = 0;        // in the series
  uint64_t durable_place = 0;       // of the newest durable set; 0: none, or one was refused since
  Pace pace;
  bool operator==(const Sums&) const = default;
};

}  // namespace decided

using Decision =
    std::variant<decided::Opened, decided::Closed, decided::Excluded, decided::Whole, decided::Ended, decided::Sealed,
                 decided::Answered, decided::Refused, decided::PutAside, decided::NotStored, decided::Sums>;

// As much of a text as a record has room for.
std::string text_of_record(std::string_view text);

// One file of the log, and back. `text` is hostile: corrupt unless it is what seal_decisions() makes, unsupported if a
// newer version has made it. `path` is for messages.
std::string seal_decisions(std::span<const Decision> decisions);
Result<std::vector<Decision>> parse_decisions(std::string_view text, const std::string& path);

}  // namespace forebay::job
