// Encodings on disk (docs/wire.md, "Encodings"): STAGE/.forebay/cache/ID-GROUP-POSITION/, the id in 16 hexadecimal
// digits, for each position that this stage holds, with
//   parity   the parity file; a symbolic link where the set lies on another cache level
//   record   redundancy/record.h: by rename, when data and parity are there and all other members' records were seen
//   sealed   by rename, when the coordinator has said so
// What has no record is void: an agent that starts removes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/fd.h"
#include "job/cache/piece_wire.h"
#include "redundancy/record.h"

namespace forebay::job {

class StoredEncodings {
 public:
  explicit StoredEncodings(std::string stage) : stage_(std::move(stage)) {}

  std::string directory(const EncodingKey& key) const;
  std::string parity_path(const EncodingKey& key) const { return directory(key) + "/parity"; }

  // What has a record, after what has none was taken away.
  Result<std::vector<EncodingKey>> list() const;

  // A new, empty directory for it: what was there goes. The parity file is made with its size, without a record;
  // `level`: the directory of a cache level that it is to lie in (job/stage/levels.h); empty: the stage. no_space where
  // it does not fit for certain.
  Result<Fd> create(const EncodingKey& key, uint64_t parity_bytes, const std::string& level) const;

  // `sync`: the parity and all names are made durable before the record gets its name.
  Result<void> put_record(const EncodingKey& key, const redundancy::Record& record, bool sync) const;
  // corrupt also if it is not of this key.
  Result<redundancy::Record> read_record(const EncodingKey& key) const;

  Result<void> seal(const EncodingKey& key, bool sync) const;
  bool is_sealed(const EncodingKey& key) const;

  // Out of sight, in an instant; empty_bin() removes it.
  Result<void> discard(const EncodingKey& key) const;

 private:
  std::string root() const;
  std::string stage_;
};

}  // namespace forebay::job
