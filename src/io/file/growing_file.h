// A container that many ranks fill, as the one rank sees it that begins it and makes steps visible
// (docs/format.md, "A file that grows"). The other ranks write their parts at offsets of their own, from end() on.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/byte_source.h"
#include "base/error.h"
#include "base/fd.h"
#include "container/format.h"
#include "io/file/listing.h"

namespace forebay::io {

class GrowingFile {
 public:
  // Creates `path`, which must not exist. It is no readable container before the first commit(). exists, no_space,
  // permission, io.
  static Result<std::unique_ptr<GrowingFile>> create(const std::string& path);

  // The same with a given number in the place of a random one, by which containers are told apart.
  static Result<std::unique_ptr<GrowingFile>> create(const std::string& path, std::span<const std::byte, 16> random);

  // The same in a file that is there, `path` for messages, whose bytes mean nothing: commit() may leave some of them
  // behind its end.
  static Result<std::unique_ptr<GrowingFile>> begin_in(int fd, const std::string& path);

  // Opens `path` to add to it. What an unfinished append left behind the last step is cut off; a step that was complete
  // never is, and its trailer is written again if only the copy is left. not_found, permission, io; corrupt if it is
  // none, or damaged, also if the list of the last step is: mend() comes first then; unsupported for a container that
  // does not grow; exists if another process is adding to it.
  static Result<std::unique_ptr<GrowingFile>> append(const std::string& path);

  // Finds the whole process groups of a step that was never finished, in `path` only, and makes them visible as far as
  // they are there; what is left of others is cut off. The same for the last steps, if their lists are damaged. If
  // there is none, nothing is changed but trailers and their copies, which then say what the file has. Errors as
  // append(); also corrupt if nothing at all can be read, and limit, with nothing changed, if the list of the last step
  // is damaged and no step is found in the gibibyte in front of it.
  struct Mended {
    uint64_t found = 0, incomplete = 0;  // process groups
    uint64_t steps = 0;                  // that the file has now
    std::vector<std::string> remarks;    // what was damaged
  };
  static Result<Mended> mend(const std::string& path, uint64_t max_bytes);

  ~GrowingFile();
  GrowingFile(const GrowingFile&) = delete;
  GrowingFile& operator=(const GrowingFile&) = delete;

  uint64_t container_id() const;

  uint64_t steps() const;            // that the file has
  uint32_t last_time_index() const;  // of the last step, or 0
  uint64_t end() const;              // from here on parts may be written
  int fd() const;                    // stays this object's

  // Makes the process groups of `added` visible, which must have been written, between end() and `parts_end`, by
  // whomever (those in other files: there), and be of the last step or later ones: writes the list of process groups
  // behind them, and a trailer. A list that covers earlier ones takes in these, so the memory for it grows with the
  // logarithm of the steps, up to a bound. If it fails, the file still has what it had. With `durable` all of the file
  // is on the disk when this returns; what lies in other files is the caller's matter. Can be called again.
  Result<void> commit(Listing added, uint64_t parts_end, bool durable);

 private:
  struct State;
  static Result<std::unique_ptr<GrowingFile>> begin(Fd fd, const std::string& path,
                                                    std::span<const std::byte, 16> random);
  using FindTrailer = Result<container::Trailer>(const ByteSource& source);
  static Result<std::unique_ptr<State>> open_locked(const std::string& path, FindTrailer find);
  explicit GrowingFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace forebay::io
