// Random access to the bytes of an open set, by any number of threads, through a cache that several sets share.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "base/lru.h"
#include "engine/set/box_plan.h"
#include "engine/set/frame_cache.h"
#include "engine/set/set.h"
#include "engine/set/stream_frames.h"

namespace forebay::engine {

// What reading cost.
struct FrameCost {
  uint64_t read_bytes = 0;     // of containers
  uint64_t decoded_bytes = 0;  // raw
  uint64_t frames = 0;         // of which anything was decoded
  uint64_t cached = 0;         // of which all that was needed was there

  void add(const FrameCost& other);  // costs of several reads together
};

// Thread-safe.
class SharedReader {
 public:
  // What becomes of a frame of which a call has taken all bytes.
  enum class UsedUp : uint8_t { is_kept, is_let_go };

  // Decodes with up to `threads` threads at a time in each call.
  SharedReader(std::shared_ptr<const OpenSet> set, std::shared_ptr<FrameCache> cache, unsigned threads,
               UsedUp used_up = UsedUp::is_kept);
  SharedReader(OpenSet set, std::shared_ptr<FrameCache> cache, unsigned threads)
      : SharedReader(std::make_shared<const OpenSet>(std::move(set)), std::move(cache), threads) {}
  ~SharedReader();
  SharedReader(const SharedReader&) = delete;
  SharedReader& operator=(const SharedReader&) = delete;

  const OpenSet& set() const { return *set_; }
  const StreamFrames& frames(size_t container) const { return *frames_[container]; }

  // A box of a variable of a container, and what takes its bytes: put(at, bytes), where `at` counts bytes in the packed
  // box. It is called from several threads, for parts that do not overlap.
  struct BoxRead {
    size_t container = 0;
    BoxPlan plan;
    std::function<void(uint64_t at, std::span<const std::byte> bytes)> put;
  };

  // Reads boxes: each frame that any of them needs once, in the order of their places in the containers. `failed` is
  // called, by one thread at a time, for each box and frame of which a part that it needs cannot be read.
  FrameCost read(std::span<const BoxRead> boxes, const std::function<void(size_t box, const Error&)>& failed) const;

  // Fills `out` with the bytes of a file from `begin` on, which it has. corrupt, naming container and frame; limit.
  Result<FrameCost> read_file(size_t container, uint32_t file, uint64_t begin, std::span<std::byte> out) const;

  // Likewise with the stored bytes of a variable: its extents, one after another.
  Result<FrameCost> read_variable(size_t container, uint32_t file, uint32_t variable, uint64_t begin,
                                  std::span<std::byte> out) const;

  // A file, with zeros in the place of what belongs to variables, which is not read.
  Result<FrameCost> read_skeleton(size_t container, uint32_t file, uint64_t begin, std::span<std::byte> out) const;

  // Has so many bytes of a file, which it has, decoded for somebody who will read them: as far as that can be, and the
  // cache can keep them.
  void fetch_file(size_t container, uint32_t file, uint64_t begin, uint64_t bytes) const;

 private:
  // A range of a frame, and where it goes for whom.
  struct Piece {
    size_t user = 0;
    uint64_t from = 0, to = 0, length = 0;
  };
  using Visit = std::function<void(const Piece&)>;
  using Pieces = std::function<void(std::span<const merge::Slice> slices, const Visit&)>;  // calls it for each

  // Where the bytes of a file are. Of files that were read lately they are kept.
  std::shared_ptr<const FileParts> parts_of(size_t container, uint32_t file) const;

  // Gives the bytes of parts of a file to put(piece, bytes), where Piece::to is as the parts' targets. Each frame is
  // read once.
  Result<FrameCost> visit(size_t container, std::vector<StreamPart> parts,
                          const std::function<void(const Piece&, std::span<const std::byte>)>& put) const;

  // visit() into `out`, all of which the parts must fill.
  Result<FrameCost> fill(size_t container, std::vector<StreamPart> parts, std::span<std::byte> out) const;

  // Gives the bytes of the pieces of a frame to put(piece, bytes): each part that any is in is decoded once.
  // `failed` is called for pieces whose part cannot be had.
  Result<void> read_frame(size_t container, uint32_t number, const Pieces& pieces,
                          const std::function<void(const Piece&, std::span<const std::byte>)>& put,
                          const std::function<void(const Piece&, const Error&)>& failed, FrameCost& cost) const;

  const std::shared_ptr<const OpenSet> set_;
  const std::shared_ptr<FrameCache> cache_;
  const unsigned threads_;
  const UsedUp used_up_;
  std::vector<uint64_t> sources_;                      // of each container, in the cache
  std::vector<std::unique_ptr<StreamFrames>> frames_;  // of each container

  using FilePlace = std::pair<size_t, uint32_t>;  // container and file
  mutable std::mutex files_mutex_;
  mutable Lru<FilePlace, std::shared_ptr<const FileParts>> files_;  // by the memory that they take
};

// The bytes of one file of a set. `reader` must outlive it.
class SetFileSource : public ByteSource {
 public:
  SetFileSource(const SharedReader& reader, size_t container, uint32_t file);

  const std::string& name() const override { return name_; }
  uint64_t size() const override { return size_; }
  Result<void> read_at(uint64_t offset, std::span<std::byte> out) const override;

 protected:
  Result<void> check(uint64_t offset, uint64_t bytes) const;

  const SharedReader& reader_;
  size_t container_;
  uint32_t file_;
  std::string name_;
  uint64_t size_;
};

// Likewise, with zeros in the place of variables: for those who look for what a file says of itself.
class SkeletonSource final : public SetFileSource {
 public:
  using SetFileSource::SetFileSource;
  Result<void> read_at(uint64_t offset, std::span<std::byte> out) const override;
};

}  // namespace forebay::engine
