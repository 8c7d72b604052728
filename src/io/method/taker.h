// Where ranks leave what they staged of a set, and who takes it from there to the store: the agent of the job that the
// program runs in, or a thread of the first rank.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "io/group/failure.h"
#include "io/group/process_group.h"
#include "io/method/communicator.h"
#include "io/method/shared_file.h"
#include "io/staging/packer.h"
#include "io/staging/reused_files.h"
#include "io/staging/stage_place.h"

namespace forebay::io {

struct StoreSettings {
  PackSettings packing;
  std::string stage;      // below which sets wait; empty: where memory is
  uint64_t backlog = 2;   // sets that may wait when a file is opened
  bool may_skip = false;  // whether the job may leave out a set for the sake of a newer one
};

// A set of which this rank stages its part.
struct Staging {
  WaitingSet set;                    // that a thread of the first rank is to pack
  std::unique_ptr<SharedFile> file;  // once something is in it
};

// Where ranks leave what they wrote, and who takes it from there.
class Taker {
 public:
  virtual ~Taker() = default;
  // Collective, before a file is open.
  virtual Outcome<void> make_room(Communicator& communicator) = 0;
  // Collective.
  virtual Outcome<Staging> begin(Communicator& communicator) = 0;
  // Not collective: whether place_of() would be answered now.
  virtual bool has_place_for([[maybe_unused]] const Staging& staging) const { return true; }
  // Not collective, once for each set: where this rank's file of a set of this name lies.
  virtual Outcome<std::string> place_of(const Staging& staging, const std::string& name, const ProcessGroup& group) = 0;
  // Collective, once for each set, after what this rank had is written, or could not be.
  virtual Outcome<void> take(Communicator& communicator, Staging& staging, const std::string& name,
                             const ProcessGroup& group, Outcome<void> written) = 0;
  // Not collective: the set is given up. Sets that were taken are left alone.
  virtual void drop(Staging& staging) = 0;
  // Collective.
  virtual Outcome<void> finish(Communicator& communicator) = 0;
  virtual Pacing* pacing() { return nullptr; }
  // Files that this rank stages in, if it uses them again. They are let go when nothing waits any more: a set is not
  // packed while the names of its files change.
  virtual ReusedFiles* memory() { return nullptr; }
  virtual void drop_memory() {}
  // At the first rank: the names of sets that are on their way to the store.
  virtual std::vector<std::string> waiting() const { return {}; }
};

// The agent of the node whose stage this is, which has the set drained also when the program has ended. Collective.
Outcome<std::shared_ptr<Taker>> agent_taker(Communicator& communicator, const std::string& stage, bool may_skip);

// A thread of the first rank, which reads what all ranks left in a directory that all of them see.
std::shared_ptr<Taker> thread_taker(StoreSettings settings);

}  // namespace forebay::io
