// Finding the frames of a new set in the set before it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/memory_budget.h"
#include "engine/set/parent_frames.h"
#include "merge/plan.h"
#include "store/store.h"

namespace forebay::engine {

// The set whose frames a new set may refer to, the same for all processes of a pack.
struct Parent {
  struct Container {
    std::string set, name;
    uint64_t id = 0;
  };
  // A frame of the parent. It lies in one of its containers or, if the parent only refers to it, where the parent
  // refers to.
  struct Frame {
    uint64_t raw_hash = 0, raw_bytes = 0;
    uint32_t container = 0;  // index into `containers`
    uint32_t number = 0;
    auto operator<=>(const Frame&) const = default;
  };

  // Where the bytes of a frame at some place lie, or of the frame that it was predicted from.
  struct Placed {
    uint64_t place = 0;  // place_of()
    uint64_t raw_bytes = 0;
    uint32_t container = 0;  // as of Frame
    uint32_t number = 0;
    auto operator<=>(const Placed&) const = default;
  };

  store::Manifest manifest;
  std::vector<Container> containers;
  std::vector<Frame> frames;   // in order; each hash and size once
  std::vector<Placed> places;  // in order

  const Frame* find(uint64_t raw_hash, uint64_t raw_bytes) const;
  const Placed* at(uint64_t place, uint64_t raw_bytes) const;
};

// What stands for the place of frame `number` in the container called `container`: its variable group and its place in
// that. The same in the next set, if that has the same variables. Nothing for frames without a similarity key.
std::optional<uint64_t> place_of(const merge::Plan& plan, uint32_t number, const std::string& container);

// Reads the indices of a set's containers, one after the other. What is damaged is passed over with a remark.
Result<Parent> read_parent(const store::SetInfo& set, uint64_t memory_bytes, std::vector<std::string>& remarks);

// As bytes, for the other processes; and back.
std::string to_text(const Parent& parent);
Parent parent_from_text(const std::string& text);

// The sets that a set with this parent may refer to: the parent, and its own parents.
std::vector<store::ParentEntry> candidates(const store::Manifest& parent);

// Looks up frames. Thread-safe.
class ParentMatcher {
 public:
  // `parent` must outlive this; `files` are its. `memory_bytes` pays for it, too.
  ParentMatcher(const Parent& parent, const store::SetFiles& files, uint64_t memory_bytes);

  struct Answer {
    std::optional<ParentFrame> found;
    std::string remark;  // why a frame that should have been found was not
  };

  // Looks for a frame of these bytes. What is found has been read back and compared.
  Answer find(uint64_t raw_hash, std::span<const std::byte> raw);

  struct Before {
    ParentFrame frame;
    Buffer raw;
  };
  struct BeforeAnswer {
    std::optional<Before> found;
    std::string remark;  // why the frame that is there cannot be had
  };
  // The frame at that place, of as many bytes, read back. From then on its memory is the caller's to account for.
  BeforeAnswer before(uint64_t place, uint64_t raw_bytes);

  uint64_t memory_bytes() const { return memory_bytes_; }

 private:
  ParentFrame named(uint32_t container, uint32_t number) const;
  struct Held {
    Lease lease;  // of the memory of the frame, while it is here
    RawFrame frame;
  };
  Result<Held> read(const ParentFrame& at);

  const Parent& parent_;
  const uint64_t memory_bytes_;
  ParentFrames containers_;
  MemoryBudget budget_;  // for the frames that are read back
};

}  // namespace forebay::engine
