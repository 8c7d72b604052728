// One file that grows, as the ranks of a communicator fill it together.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/fd.h"
#include "io/file/growing_file.h"
#include "io/file/listing.h"
#include "io/file/part.h"
#include "io/method/communicator.h"
#include "io/method/method.h"
#include "io/staging/reused_files.h"

namespace forebay::io {

struct FillSettings {
  uint64_t alignment = kPartAlignment;  // of what each rank writes, in bytes
  uint32_t openers = 64;                // ranks that open the file at once
  bool is_durable = false;              // bytes are on the disk when a step is visible
  bool is_subfile = false;              // its name is of Forebay's making: nothing is replaced there but a container
  PartOptions parts;
  std::shared_ptr<ReusedFile>
      memory;  // of one rank: a new file is written into this one, which has its unfinished_name()
};

// What a new file at `path` is called until its first step is complete.
std::string unfinished_name(const std::string& path);

// Rank 0 begins the file and makes steps visible; each rank writes at places of its own. A new file lies at `path` with
// ".part" behind it until its first step is complete, so that one that it replaces stays as it is until then.
class SharedFile {
 public:
  // Collective. Fails at all ranks if the file cannot be begun; a rank that cannot open it says so when it writes.
  static Outcome<std::unique_ptr<SharedFile>> open(const std::string& path, OpenMode mode,
                                                   std::shared_ptr<Communicator> communicator,
                                                   const FillSettings& settings);
  ~SharedFile();

  const Standing& standing() const { return standing_; }
  const std::string& path() const { return path_; }

  // Not collective. Sets so many bytes aside for this rank, behind those of the ranks before it: its slot. Only the
  // first call counts; without any the slot is what fill() needs.
  void announce(uint64_t bytes);

  // Not collective. How much spill() may still write: of a file with one rank all there is, else what is left of the
  // slot. The first call waits a moment for ranks that have not announced theirs; until they have, there is none.
  uint64_t room();

  // Not collective. Writes a process group at once, which the next commit() makes visible. The part must fit into the
  // room.
  Outcome<void> spill(const ProcessGroup& group);

  // Collective. Writes the process groups of this rank into its slot, and all of them or none: they are left if they do
  // not fit. `listing` becomes that of what this rank has written since the file was opened. The outcome is this rank's
  // own: others may have succeeded.
  Outcome<void> fill(std::span<const ProcessGroup> groups, Listing& listing);

  // Whether process groups are left. Their bytes are needed still.
  bool has_left() const { return !left_.empty(); }

  // Collective, to be called if any rank has. Writes them behind all slots; `listing` becomes theirs.
  Outcome<void> fill_behind_slots(Listing& listing);

  // At rank 0: makes them visible, and, if the file is new, gives it its name. If it is not whole, since a rank could
  // not write what it had, it does not get it, and stays where it was written, with what the others wrote. changed if
  // somebody has put another file in the place of one that is added to.
  Outcome<void> commit(Listing listing, bool is_whole = true);

 private:
  SharedFile() = default;
  Result<void> begin(OpenMode mode);
  Result<void> check_place() const;
  Bytes beginning() const;
  Result<void> open_here(uint64_t inode);
  Outcome<std::vector<EncodedPart>> encode(std::span<const ProcessGroup> groups, uint64_t& bytes);
  void take_slot(uint64_t before);
  Result<void> write_at(std::span<const std::span<const std::byte>> pieces, uint64_t offset);
  Outcome<void> write(std::span<EncodedPart> parts);
  Outcome<void> fill_own(std::span<const ProcessGroup> groups, Listing& listing);
  Outcome<void> write_and_list(std::span<EncodedPart> parts, Listing& listing);
  Outcome<void> sync() const;

  std::shared_ptr<Communicator> communicator_;
  FillSettings settings_;
  std::string path_, working_path_;       // the latter until the first step is complete
  std::unique_ptr<GrowingFile> growing_;  // at rank 0
  Fd replaced_;                           // there, too: what a new file is to replace, locked
  Fd own_;                                // elsewhere
  int fd_ = -1;
  Result<void> opened_;
  uint64_t container_id_ = 0, salt_ = 0;
  uint64_t end_ = 0;                    // of the file when it was opened: here the slots begin
  Result<void> announced_;              // why slots cannot be found, if they cannot
  std::unique_ptr<PendingScan> slots_;  // of what the ranks before this one announced
  uint64_t slot_bytes_ = 0;
  uint64_t next_ = 0, slot_end_ = 0;  // where this rank writes next, and up to where: nowhere before it has its slot
  bool has_waited_ = false;
  Standing standing_;
  Listing spilled_;
  std::vector<EncodedPart> left_;
};

// What ranks tell beside what they have written.
struct Reports {
  bool has_failed = false;
  bool has_left = false;  // process groups that did not fit into their slot
};

// Collective: at rank 0 `listing` becomes that of all ranks together, in their order, merged on the way up a tree, and
// `reports` what any of them reports; elsewhere the listing is used up. The outcome is this rank's own; what does not
// arrive whole is left out, and a failure.
Outcome<void> collect(Communicator& communicator, Listing& listing, Reports& reports);

}  // namespace forebay::io
