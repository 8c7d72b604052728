// What is true of a job, whatever its parts believe, and what must hold (docs/scenarios/README.md,
// "Invariants").
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "disk.h"
#include "store.h"

namespace forebay::job::model {

// A node as it is: what lies on it, and since when nothing has happened to it.
struct NodeView {
  std::string name;
  const Disk* disk = nullptr;
  bool is_up = true;
  int64_t steady_since = 0;  // virtual nanoseconds; agent alive, connected, not paused
  int64_t lost_at = 0;       // !is_up
};

class Truth {
 public:
  explicit Truth(uint32_t ranks) : ranks_(ranks) {}

  // What went wrong first; empty: nothing.
  const std::string& fault() const { return fault_; }
  void wrong(const std::string& what) {
    if (fault_.empty()) fault_ = what;
  }

  // A rank has completed its part.
  void wrote(const std::string& set, uint64_t write, uint32_t rank);
  // The log says that it is sealed: what nodes lose from now on breaks no promise of those who hear of it later.
  void sealed(const std::string& set, const std::vector<NodeView>& nodes, const Store& store, int64_t now);
  // An agent was told that the set is safe: of this writing, in the caches (stored_as is empty) or the store.
  void promised(const std::string& set, uint64_t write, const std::string& stored_as, bool is_protected,
                const std::vector<NodeView>& nodes, const Store& store, int64_t now);
  // The application refuses it, and has heard that this is certain.
  void refuses(const std::string& set);
  void refused(const std::string& set);

  // A start of the application asks for a restart.
  void asks(uint64_t attempt, int64_t now);
  // What a rank of it was answered. `files`: that it has there; null: there is nothing to restart from.
  void answered(uint64_t attempt, uint32_t rank, const std::string& set, const std::string& stored_as,
                const std::map<std::string, Body>* files, const std::vector<NodeView>& nodes, const Store& store);

  // Around everything that removes something from a stage.
  void removing(const std::vector<NodeView>& nodes, const Store& store);
  void removed(const std::string& node, const std::string& set, const std::vector<NodeView>& nodes, const Store& store);

  // The job has ended with this code.
  void ended(int code, int64_t now, const std::vector<NodeView>& nodes, const Store& store);

  struct Writing {
    std::string set;
    uint64_t write = 0;
    std::set<uint32_t> complete;
    uint64_t ordinal = 0;  // in the order of completion; 0: not complete
    bool is_promised = false, is_protected = false, is_refused = false, is_void = false;
    bool is_refused_for_good = false;
    bool was_sealed = false;
    std::string stored_as;
  };
  const std::vector<Writing>& writings() const { return writings_; }
  // Rot counts as well where nobody could know of it.
  enum class Rot : uint8_t { counts, is_unseen };
  bool is_restorable(const Writing& writing, const std::vector<NodeView>& nodes, const Store& store,
                     int64_t steady_since, int64_t ghosts_since, Rot rot = Rot::counts) const;

 private:
  Writing& writing(const std::string& set, uint64_t write);
  Writing* newest_promised(const std::vector<NodeView>& nodes, const Store& store, Rot rot);
  bool is_in_caches(const Writing& writing, const std::vector<NodeView>& nodes, int64_t steady_since,
                    int64_t ghosts_since, Rot rot = Rot::counts) const;
  bool is_in_store(const Writing& writing, const Store& store) const;

  struct Answer {
    std::string set, stored_as;
    uint64_t write = 0;
    bool found = false;
    uint32_t ranks = 0;
  };
  const uint32_t ranks_;
  std::string fault_;
  std::vector<Writing> writings_;
  uint64_t next_ordinal_ = 1;
  std::map<uint64_t, Answer> answers_;  // by attempt
  std::map<uint64_t, int64_t> asked_;
  uint64_t before_ = 0;  // of removing()
};

}  // namespace forebay::job::model
