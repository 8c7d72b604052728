// One file of another node, for whoever reads a little here and a little there.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <string>

#include "base/byte_source.h"
#include "base/bytes.h"
#include "base/error.h"
#include "engine/pack/tree.h"
#include "engine/set/sources.h"

namespace forebay::job {

// Reads some more than is asked for, and keeps it. `sources`, in which the file has the number `index`, and `file`
// outlive it.
class TransportSource final : public ByteSource {
 public:
  TransportSource(engine::Sources& sources, uint32_t index, const engine::SourceFile& file)
      : sources_(sources), index_(index), file_(file) {}

  const std::string& name() const override { return file_.path; }
  uint64_t size() const override { return file_.row.size; }
  Result<void> read_at(uint64_t offset, std::span<std::byte> out) const override;

 private:
  Result<void> fetch(uint64_t offset, std::span<std::byte> out) const;

  engine::Sources& sources_;
  const uint32_t index_;
  const engine::SourceFile& file_;
  mutable std::mutex mutex_;
  mutable uint64_t kept_at_ = 0;
  mutable Bytes kept_;
};

}  // namespace forebay::job
