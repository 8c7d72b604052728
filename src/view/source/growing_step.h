// A step of a file that grows.
#pragma once

#include <memory>
#include <mutex>

#include "base/lru.h"
#include "io/file/file_reader.h"
#include "view/source/growing_arrays.h"
#include "view/source/step.h"

namespace forebay::view {

// A file as it was at some time, with the indices of process groups that were read lately. Thread-safe.
class GrowingFileState {
 public:
  // Keeps indices of up to `part_bytes` of memory, roughly.
  GrowingFileState(std::unique_ptr<io::FileReader> reader, std::string path, uint64_t part_bytes, unsigned threads)
      : reader_(std::move(reader)),
        path_(std::move(path)),
        part_bytes_(part_bytes),
        threads_(threads),
        writes_(reader_->listing()) {}

  const io::FileReader& reader() const { return *reader_; }
  const io::Listing& listing() const { return reader_->listing(); }
  const PatternWrites& writes() const { return writes_; }
  const std::string& path() const { return path_; }
  unsigned threads() const { return threads_; }

  Result<io::StoredPart> part(size_t number) const;

 private:
  const std::unique_ptr<io::FileReader> reader_;
  const std::string path_;
  const uint64_t part_bytes_;
  const unsigned threads_;
  const PatternWrites writes_;
  mutable std::mutex mutex_;
  mutable Lru<size_t, io::StoredPart> kept_;  // by their numbers, and the memory of their indices
};

// The step, and its arrays for others. `like` are those of a step that is_alike(), or null; then they are only looked
// up. corrupt, io, limit.
struct OpenedGrowingStep {
  std::shared_ptr<const Step> step;
  std::shared_ptr<const GrowingArrays> arrays;
};
Result<OpenedGrowingStep> open_growing_step(std::shared_ptr<const GrowingFileState> file, StepInfo info,
                                            std::shared_ptr<const GrowingArrays> like);

}  // namespace forebay::view
