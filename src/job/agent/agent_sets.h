// What an agent knows about the sets of its stage, and what it makes of what it sees and hears. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "job/stage/stage.h"
#include "job/stage/stage_notes.h"
#include "job/wire/messages.h"

namespace forebay::job {

class AgentSets {
 public:
  struct Entry {
    wire::SetState state = wire::SetState::incomplete;
    std::string stored_as, message;  // as the coordinator has told them
    uint64_t exposure = 0;           // under which it is offered; 0: it is not
    std::string fingerprint;         // of what is offered, or of what has ended
    std::set<uint32_t> complete;     // ranks whose files are offered
    std::set<uint32_t> begun{};      // ranks that have begun it here, since it was offered last
    std::optional<int64_t> step;
    uint64_t ordinal = 0;     // the set's place in its series, as a coordinator says; 0: none has
    bool is_begun = false;    // by forebay_begin(), since it was offered last
    bool has_files = false;   // in the stage, for all we know
    int64_t ended_ns = 0;     // final: when
    int64_t restored_ns = 0;  // when a restart had brought it from the store; 0: it did not
    int64_t written_ns = 0;   // Content::written_ns of what is offered, or has ended
    uint64_t write = 0;       // of which writing of the set it is (SetPolicy); 0: not told
    bool is_encoded = false;  // other nodes protect it
    bool was_cached = false;  // the coordinator counts on it in the caches
    bool is_void = false;     // given up, and the application goes on from another set
    bool is_rebuilt = false;  // files of it were made again here; it is to be offered anew, and its state stays
    std::string level{};      // the cache level on which its files lie; empty: the stage
    uint64_t bytes = 0;       // of its files, when it was offered last; 0: not known

    bool is_offered() const { return exposure != 0; }
    bool is_final() const { return job::is_final(state); }
    // A part of the caches: it is offered as long as it is in the stage.
    bool is_in_cache() const {
      return state == wire::SetState::cached || (state == wire::SetState::durable && (is_encoded || was_cached));
    }
  };

  // What is to be done after a change.
  struct Decision {
    uint64_t withdraw = 0;  // this exposure is over, and the coordinator is to be told, unless there is another offer
    std::string reason;     // why
    bool offer = false;     // what was seen is to be exposed and offered: offered() follows
    bool is_lost = false;   // nobody will get what waited for it: the entry says why
  };

  // The stage was looked at: the set is complete with this content, or it is not.
  Decision observed(const std::string& set, const std::optional<Content>& content, const std::string& reason);
  void offered(const std::string& set, const Content& content, uint64_t exposure, uint64_t bytes = 0);

  // Whether a set is offered whose files were changed after this moment.
  bool has_newer_on_its_way(int64_t since_ns) const;

  // As an agent before this one has noted: the set has this place if its content is that.
  void had_place(const std::string& set, NotedPlace place) { noted_[set] = std::move(place); }

  bool has_noted_place(const std::string& set) const { return noted_.contains(set); }

  // It was complete, and has this place: true, if this is news of what is offered.
  bool placed(const wire::PlacedT& placed);

  // The coordinator says so: true if this is how the set has ended, and that is new. News of another exposure are old.
  bool heard(const wire::SetNewsT& news, int64_t now_ns);

  // Whether `rank` would begin its part of what others of the node have begun, too.
  // `write`: of the part that it would begin; parts of two writings are never mixed.
  bool is_open_for(std::string_view set, uint32_t rank, uint64_t write = 0) const;

  // forebay_begin(). is_new: what is there of the set is of another time, and is to be removed.
  struct Begun {
    bool is_new = false;
    Decision decision;
  };
  Begun begin(const std::string& set, uint32_t rank, uint64_t write = 0, const std::string& level = {});
  // The application was started again, and has these ranks here: what others have begun they will not complete.
  void started_again(const std::set<uint32_t>& ranks);
  // The ranks whose markers make this node's part of the set complete: those that have begun it here, and those that
  // are `connected` and may begin it yet. Not who was here before: it may be on another node now.
  std::set<uint32_t> awaited(std::string_view set, std::set<uint32_t> connected) const;
  // A rank will not complete what it has begun. True: nor will any other here, and there is nothing of the set.
  bool given_up(const std::string& set, uint32_t rank);
  // It was begun, as the notes say.
  void resume(const std::string& set, uint64_t write = 0, const std::string& level = {});
  // It could not be placed on the level on which it was begun.
  void lies_in_stage(const std::string& set);
  // Whether a set that is begun now on a level would have to wait: it holds more than `keep` sets, and one of them is
  // not sealed, so that no older one may go.
  // `itself`: what there is of the set that is begun, which goes.
  bool must_wait(unsigned keep, std::string_view level = {}, std::string_view itself = {}) const;

  // What is to leave a level of `capacity` bytes before the next set comes, which is taken to be as large as the
  // largest one that is known: final sets, the oldest ones first, but neither the newest one of all levels that can be
  // restarted from nor what the last restart has brought.
  struct Room {
    std::vector<std::string> leaving;
    bool fits = true;       // without these
    bool may_come = false;  // it does not fit, and a set on the level is not final yet
  };
  Room room(std::string_view level, uint64_t capacity, std::string_view itself = {}) const;
  // So many bytes more lie where the set does: what protects it, or what an agent before this one had there.
  void takes(const std::string& set, uint64_t bytes);

  void encoded(const std::string& set, bool is_encoded);
  // Files of these ranks, or pieces of files, were made again here. `ordinal`: as Entry has it.
  void rebuilt(const std::string& set, const std::vector<uint32_t>& ranks, uint64_t ordinal = 0);
  // It is not offered any more; its state stays.
  void unexposed(const std::string& set);

  // From the notes of an agent before this one, or from a restart.
  void ended(const std::string& set, const Outcome& outcome, bool has_files, const std::string& level = {});
  static Outcome outcome_of(const Entry& entry);

  // How many sets stay: in the stage, and on the levels that say so.
  struct Keep {
    unsigned stage = 1;
    std::map<std::string, unsigned, std::less<>> levels{};
    unsigned on(std::string_view level) const;
  };

  // Final sets whose files are to leave the stage: of the durable and cached ones those that are not among the newest
  // on their level, as many as `keep` says; the newest one of all stays if it is cached, whatever `keep` says. A
  // skipped one leaves when one is durable that was completed after it, and not merely brought by a restart. What the
  // last restart has brought stays until a set is durable that was written after it: the application may not have read
  // it, whatever an earlier run's sets become meanwhile.
  std::vector<std::string> removable(const Keep& keep) const;
  std::vector<std::string> removable(unsigned keep) const { return removable(Keep{.stage = keep}); }
  void files_removed(const std::string& set);

  // Final sets without files, but the `most` that ended last: nobody will ask for them any more.
  std::vector<std::string> forgettable(size_t most) const;
  void forget(const std::string& set) { entries_.erase(set); }

  // The sets that are complete and not final.
  size_t undrained() const;
  // Whether one of these is still to be drained or protected.
  bool has_work() const;
  // Sets that were begun and never offered since.
  std::vector<std::string> unfinished() const;

  const Entry* find(std::string_view set) const;
  const std::map<std::string, Entry, std::less<>>& entries() const { return entries_; }

 private:
  using Item = std::pair<const std::string, Entry>;
  std::vector<const Item*> newest_first(std::string_view without = {}) const;
  static std::optional<int64_t> pinned(const std::vector<const Item*>& sets);

  std::map<std::string, Entry, std::less<>> entries_;
  std::map<std::string, NotedPlace> noted_;
};

}  // namespace forebay::job
