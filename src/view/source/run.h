// A run: the steps of whatever can be opened. The one door to all of it, for the command, the libraries and the mount.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/error.h"
#include "engine/options.h"
#include "view/source/step.h"

namespace forebay::view {

struct RunOptions {
  engine::Resources resources;  // memory for indices, kept frames and reading together; threads that decode
  std::string series;           // of a store: the one to read. Empty: the only one
  std::string set;              // of a store: this set alone, "latest", or "step:40" by its label. Empty: all
  bool reads_once = false;      // all that is read is read once, in order
  bool raw = false;    // of a store: values as files have them, fill values among them (docs/reading.md, "Holes")
  std::string layout;  // text of a TOML that says where blocks lie (docs/reading.md, "Layouts"); empty: found out
};

// Thread-safe.
class Run {
 public:
  virtual ~Run() = default;

  // The steps that are there, damaged ones among them: a set of a store that cannot be read is a step, so that the
  // others keep their numbers. A step that was pruned meanwhile stays in the list; to open it is an error (changed).
  virtual std::vector<StepInfo> steps() const = 0;

  // Opens steps()[number]. Steps that were opened lately are kept, as the memory allows. invalid_argument if there is
  // no such step; changed; corrupt and unsupported, naming its set, if it is damaged, or stored by a newer version; io,
  // limit, permission.
  virtual Result<std::shared_ptr<const Step>> step(uint64_t number) const = 0;

  // The first of the steps that are known to have the same arrays as this one, in the same order: with equal names,
  // groups, types, forms, numbers of blocks, and shapes, but for those of local arrays. `number` itself if nothing is
  // known.
  virtual uint64_t first_alike(uint64_t number) const { return number; }

  // Looks for steps that were added, which come behind those that are there, and for damaged ones that can be read
  // again. How many came.
  virtual Result<uint64_t> refresh() = 0;

  // What messages call it.
  virtual const std::string& path() const = 0;
};

// `path` is a store, a file that grows (docs/format.md), or a BP file of ADIOS 1.9 to 1.13. not_found, permission, io,
// corrupt, unsupported, invalid_argument.
Result<std::unique_ptr<Run>> open_run(const std::string& path, const RunOptions& options);

}  // namespace forebay::view
