// What lies on a node: the stage of its agent, with the notes in it and what protects other nodes' parts. It survives
// the agent, and goes with the node.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "job/client/marker.h"
#include "job/stage/stage_notes.h"

namespace forebay::job::model {

// What a rank wrote: there are no bytes, only whose they are.
struct Body {
  std::string set;
  uint32_t rank = 0;
  uint64_t write = 0;  // which writing of the set
  int64_t written_ns = 0;
  int64_t damaged_ns = 0;  // virtual: since when its bytes are others; 0: they are not
};

struct StagedSet {
  bool has_directory = false;
  std::optional<Begin> begun;
  std::map<std::string, Body> files;
  std::map<uint32_t, Marker> markers;
  std::optional<Outcome> outcome;
  std::optional<NotedPlace> place;
};

// A position of an encoding that is here: parity and record, beside the set's files.
struct HeldPart {
  struct Member {
    std::string host, node;
    uint64_t bytes = 0;
    std::vector<uint32_t> ranks;
    std::map<std::string, Body> files;  // what was encoded; what a repair makes again
    std::map<uint32_t, Marker> markers;
  };
  std::string set;
  uint64_t write = 0;
  std::optional<int64_t> step;
  uint32_t groups = 1, losses = 0;
  uint64_t chunk = 0;
  std::vector<Member> members;
  bool is_sealed = false;
};
using PartKey = std::tuple<uint64_t, uint32_t, uint32_t>;  // encoding, group, position

struct Disk {
  std::map<std::string, StagedSet> sets;
  std::map<PartKey, HeldPart> held;
  std::map<std::string, std::map<std::string, Body>> delivered;  // by name in the store
  std::map<std::string, std::string> aside;                      // why these sets are not restarted from
  bool is_full = false;
};

inline std::string file_of(uint32_t rank) { return "rank" + std::to_string(rank); }
inline uint64_t size_of(const Body& body) { return 100 + body.rank; }

}  // namespace forebay::job::model
