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

namespace forebay::io {

struct FillSettings {
  uint64_t alignment = 1;   // of what each rank writes, in bytes
  uint32_t openers = 64;    // ranks that open the file at once
  bool is_durable = false;  // bytes are on the disk when a step is visible
  PartOptions parts;
};

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

  // Not collective; of a file with one rank. Writes a process group at once, which the next commit() makes visible.
  Outcome<void> spill(const ProcessGroup& group);

  // Collective. Writes the process groups of this rank where no other writes. At rank 0 `listing` becomes that of all
  // process groups that were written, in the order of ranks. The outcome is this rank's own: others may have succeeded.
  Outcome<void> fill(std::span<const ProcessGroup> groups, Listing& listing);

  // At rank 0: makes them visible, and, if the file is new, gives it its name. If it is not whole, since a rank could
  // not write what it had, it does not take the place of a file that is there: then it stays where it was written,
  // complete with what the others wrote.
  Outcome<void> commit(Listing listing, bool is_whole = true);

 private:
  SharedFile() = default;
  Result<void> begin(OpenMode mode);
  Result<void> open_here();
  Outcome<std::vector<EncodedPart>> encode(std::span<const ProcessGroup> groups, uint64_t& bytes);
  Outcome<void> write(std::span<EncodedPart> parts, uint64_t offset);

  std::shared_ptr<Communicator> communicator_;
  FillSettings settings_;
  std::string path_, working_path_;       // the latter until the first step is complete
  std::unique_ptr<GrowingFile> growing_;  // at rank 0
  Fd own_;                                // elsewhere
  int fd_ = -1;
  Result<void> opened_;
  uint64_t container_id_ = 0, end_ = 0, salt_ = 0;
  Standing standing_;
  Listing spilled_;
};

// Collective: at rank 0 `listing` becomes that of all ranks together, in their order, merged on the way up a tree;
// elsewhere it is used up. The outcome is this rank's own; what does not arrive whole is left out.
Outcome<void> collect(Communicator& communicator, Listing& listing);

}  // namespace forebay::io
