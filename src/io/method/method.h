// How a group is written: one interface, a file for each method. Methods are found by name (registry.h).
//
// A method is made once for each group that chose it, and lives until finalize. It opens files; each open file takes
// process groups until it is closed. What is open, buffers and their limit, and the values of dimensions are the
// session's part (io/session); a method sees finished blocks.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "io/group/definition.h"
#include "io/group/failure.h"
#include "io/group/process_group.h"
#include "io/method/communicator.h"

namespace forebay::io {

enum class OpenMode : uint8_t {
  write,   // a new file, in the place of one that there may be
  append,  // one more step; a new file if there is none
  update,  // more of the last step; not_found if there is no file
  read,    // what this rank wrote last, by ranks of the same number
};

struct OpenRequest {
  std::string path;  // base path and name
  OpenMode mode = OpenMode::write;
  const GroupDefinition* group = nullptr;      // lives until the file is closed
  std::shared_ptr<Communicator> communicator;  // of the ranks that opened the file
  bool is_alone = false;                       // one process for itself, which expects one plain file
};

// Where a file stands when it is opened: the same at all ranks.
struct Standing {
  uint64_t steps = 0;            // that it has; the first is 0
  uint32_t last_time_index = 0;  // of the last of them, or 0
};

// What happens to a write that does not fit into what the session may still buffer.
enum class Overflow : uint8_t {
  spills,          // what is buffered goes out by OpenFile::spill(), and the write begins anew
  fails,           // the write is refused with buffer_overflow, which the close does not repeat
  fails_at_close,  // and the close is, too, though what was accepted is written
};

struct Traits {
  Overflow overflow = Overflow::fails;
  // Blocks are given to OpenFile::write() while the program's memory holds them, and are not buffered for this method;
  // OpenFile::close() gets process groups without bytes.
  bool wants_early = false;
  bool can_read = false;  // OpenMode::read
  // OpenFile::close() holds all encoded values of blocks with transforms in memory at once.
  bool encodes_at_close = false;
  // Characteristics are not used: whoever works on what is written computes them later.
  bool characterises_later = false;
  // Nothing of what is written is looked at: neither checksums nor characteristics nor bytes are prepared.
  bool discards = false;
};

// One file between open and close. Used by one thread at a time.
class OpenFile {
 public:
  virtual ~OpenFile() =
      default;  // without close(): what this rank wrote may be lost, what was in the file before is not

  virtual const Standing& standing() const = 0;

  // Of methods that want blocks early: one block of the group that close() will be given, in order. Not collective. The
  // bytes are the program's and may change as soon as this returns.
  virtual Outcome<void> write(const ProcessGroup& head, const Block& block);

  // Not collective. What this rank is about to write before the close, in bytes of the file, roughly: room for it may
  // be set aside. Of several announcements the first counts.
  virtual void announce(uint64_t bytes);

  // How many bytes of the file spill() may take now. Not collective, but may wait a moment for what other ranks
  // announce.
  virtual uint64_t room();

  // Of methods that have room: a process group that is one of several of this rank in this step, of whose blocks hashes
  // and characteristics may be missing. Not collective. It is found again after a close only.
  virtual Outcome<void> spill(const ProcessGroup& group);

  // Of methods that can read: the bytes of the last write of a variable by this rank in the last step. Not collective.
  // invalid_name if there is none; read_size_mismatch if `into` is smaller than what there is.
  virtual Outcome<void> read(std::string_view variable, std::span<std::byte> into);

  // Called before close(), if at all; not collective. So many bytes may be held at this rank during the close beside
  // the blocks that it is given. Without this call, and without a limit of the program, as many as there are.
  virtual void leave(uint64_t bytes);

  // Collective; called once and last. Writes what this rank has, one group or several of ascending steps (of time
  // aggregation) or none, and makes all of it visible. An error of one rank is told to all, and does not keep the data
  // of the others from being written and found. Joined dimensions are joined here: their offsets and global sizes are
  // still 0.
  virtual Outcome<void> close(std::span<ProcessGroup> groups) = 0;
};

class Method {
 public:
  virtual ~Method() = default;

  virtual Traits traits() const = 0;

  // Of a method that hands on what it gets: what there is to say about the parameters of the other one.
  virtual std::vector<std::string> warnings() const { return {}; }

  // Collective over the ranks of the request. If it fails at all, it fails at all ranks.
  virtual Outcome<std::unique_ptr<OpenFile>> open(const OpenRequest& request) = 0;

  // Hints of the program: it computes from now on, and no communication of its own suffers from transfers; it no longer
  // does; one iteration of its main loop is over. Not collective, and any thread may call.
  virtual void begin_calculation() {}
  virtual void end_calculation() {}
  virtual void end_iteration() {}

  // Waits until everything that was closed is where it belongs, and tells what was not. Collective over all ranks that
  // initialised, which `communicator` has; no open may follow.
  virtual Outcome<void> finalize([[maybe_unused]] Communicator& communicator) { return {}; }
};

}  // namespace forebay::io
