// What all caches hold together (decision 0037): the parts of sets that agents offer as cached, or as durable and still
// in the stage, and what protects them; which of these sets a restart can be from, and which were refused. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "job/coordinator/session.h"
#include "job/wire/messages.h"

namespace forebay::job {

// Of one position of an encoding, at the agent that has it.
struct HeldPosition {
  uint64_t id = 0;  // of the encoding
  uint32_t group = 0, position = 0;
  bool is_encoded = false, is_sealed = false;
  uint64_t data = 0, parity = 0;  // exposures
};

// What one agent has of a set.
struct CachedPart {
  SessionId session = 0;
  std::string host, node, addresses, stage;
  uint64_t exposure = 0;
  uint64_t write = 0;           // of this writing of the set; 0: not told
  uint32_t total = 0;           // ranks of the whole job
  std::vector<uint32_t> ranks;  // that have completed the set here, in order
  int64_t written_ns = 0;       // the newest of the files, since 1970
  uint64_t ordinal = 0;         // the set's place in its series; 0: not told
  std::optional<int64_t> step;
  uint64_t bytes = 0;
  wire::SetState state = wire::SetState::incomplete;
  std::string stored_as;
  std::string level;  // the cache level on which its files lie; empty: they lie in the stage
  wire::FlushWish flush = wire::FlushWish::job;
  std::vector<HeldPosition> held;
};

// A protection group of an encoding: what its members have said when it was made, and who has their positions now.
struct CachedGroup {
  uint32_t losses = 0;
  uint64_t chunk = 0;
  struct Member {
    std::string host;
    uint64_t bytes = 0;
    std::vector<uint32_t> ranks;
    std::string holder;  // key of the agent that has this position, encoded; empty: it is lost
    bool is_sealed = false;
    uint64_t data = 0, parity = 0;  // exposures of the holder
  };
  std::vector<Member> members;
};

// A set of the caches: one writing of it, and one encoding, if it has any.
struct CachedSet {
  std::string name;
  uint64_t write = 0;
  uint64_t encoding = 0;  // 0: none, all ranks have it
  std::optional<int64_t> step;
  uint64_t ordinal = 0;  // its place in the series; 0: nobody was told
  int64_t time_ns = 0;   // the newest of its files, since 1970
  uint32_t ranks = 0;    // that wrote it
  uint64_t bytes = 0;
  std::string stored_as;         // not empty: the store has it, too, under this name
  std::set<std::string> levels;  // cache levels on which parts of it lie; empty: all lie in the stages
  bool is_sealed = false;        // somebody says so; without an encoding: all know that it is complete
  bool is_for_store = true;      // its policy does not say that it is never to be stored
  size_t lost = 0;               // positions that nobody has
  bool is_refused = false;       // it is set aside
  std::string wrong;             // why it cannot be brought whole; empty: it can
};

class CachedSets {
 public:
  // An agent's part: it takes the place of the one before of the same agent (`key`) and set. What encodings say is as
  // wire/check.h wants it; those that contradict what others say of the same number are passed over.
  void offered(const std::string& key, const std::string& set, CachedPart part,
               const std::vector<std::unique_ptr<wire::EncodingT>>& encodings);
  // The set has this place now; of another exposure that was not said.
  void placed(const std::string& key, const std::string& set, uint64_t exposure, uint64_t ordinal);
  void withdrawn(const std::string& key, const std::string& set, uint64_t exposure);
  void left(const std::string& key);
  // What the agent has of that encoding, or of a set without one (0), proved to be worthless: until it is offered
  // again, it has nothing of it.
  void distrust(const std::string& key, const std::string& set, uint64_t encoding);
  // The agent is asked for a new encoding of the set, and drops earlier ones that are not sealed.
  void encodes_anew(const std::string& key, const std::string& set);
  // It is in the store now.
  void stored(const std::string& set, uint64_t write, const std::string& stored_as);

  // Never to be restarted from again: this writing of it, if that is known, and that encoding, if it has one.
  struct Quarantined {
    std::string set, reason;
    uint64_t write = 0, encoding = 0;
    bool removes = false;     // agents are to remove it, and not to set it aside
    bool is_by_name = false;  // whatever they have of that name, until release()
  };
  void quarantine(Quarantined refused);
  // A newer set of that name is there.
  void release(const std::string& set);
  // Null if it is not.
  const Quarantined* quarantined(const std::string& set, const CachedPart& part) const;
  const std::vector<Quarantined>& all_quarantined() const { return quarantined_; }

  // All sets, oldest first (store/set_order.h). Of several encodings of one writing the one with the fewest losses.
  // Those of which nothing can be said but that parts are there come with `wrong`.
  std::vector<CachedSet> sets() const;
  // As things are now; nothing if there is nothing of it left.
  std::optional<CachedSet> find(const std::string& set, uint64_t write, uint64_t encoding) const;
  // That writing of it, if an encoding of it is sealed: all ranks had completed it, and were told so.
  std::optional<CachedSet> sealed(const std::string& set, uint64_t write) const;
  // The same, if an encoding of it can be made whole from what is there, sealed or not.
  std::optional<CachedSet> encoded(const std::string& set, uint64_t write) const;
  // The groups of an encoding; empty if it is not known.
  std::vector<CachedGroup> groups(const std::string& set, uint64_t encoding) const;
  // The agent's part; null: it has none.
  const CachedPart* part(const std::string& key, const std::string& set) const;
  // Whether an agent knows of that writing that it is safe.
  bool is_told(const std::string& set, uint64_t write) const;
  // By key, of that writing.
  std::map<std::string, const CachedPart*> parts(const std::string& set, uint64_t write) const;

 private:
  static constexpr uint32_t kMostGroups = 1 << 20;
  struct Encoding {
    uint32_t groups = 0;
    std::map<uint32_t, CachedGroup> known;  // by group, without holders
  };
  struct Entry {
    std::map<std::string, CachedPart> parts;  // by key
    std::map<uint64_t, Encoding> encodings;
  };
  static std::vector<CachedGroup> groups(const Entry& entry, uint64_t encoding);
  static CachedSet summary(const std::string& name, const Entry& entry, uint64_t write);
  static CachedSet without_encoding(const std::string& name, const Entry& entry, uint64_t write);
  static CachedSet with_encoding(const std::string& name, const Entry& entry, uint64_t write, uint64_t encoding);
  static CachedSet best(const std::string& name, const Entry& entry, uint64_t write);
  CachedSet with_refusal(CachedSet set, const Entry& entry) const;
  void drop(const std::string& key, std::map<std::string, Entry>::iterator entry);

  std::map<std::string, Entry> sets_;                  // by name
  std::map<std::string, std::set<std::string>> keys_;  // agents, and of which sets they have parts
  std::vector<Quarantined> quarantined_;
};

}  // namespace forebay::job
