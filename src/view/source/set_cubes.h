// The cubes of a set's variables, for those who look for values.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "base/lru.h"
#include "engine/set/set.h"
#include "view/place/arrays.h"
#include "view/source/step.h"

namespace forebay::view {

// Reads them when somebody asks, and keeps some. Thread-safe.
class SetCubes {
 public:
  // `set` stays where it is. Cubes take a small part of what `index_bytes` are for.
  SetCubes(const engine::OpenSet& set, uint64_t index_bytes) : set_(set), index_bytes_(index_bytes) {}

  // As Step::cubes(), of a block of the stored array.
  std::shared_ptr<const StoredCubes> find(const Block& block, const StoredArray& stored) const;

 private:
  using OfKey = std::map<uint32_t, StoredCubes>;  // by variable
  using Place = std::pair<size_t, uint32_t>;      // container and key

  std::shared_ptr<const OfKey> of_key(Place place) const;
  OfKey read(Place place) const;
  static uint64_t bytes_of(const OfKey& cubes);

  const engine::OpenSet& set_;
  const uint64_t index_bytes_;
  mutable std::mutex mutex_;
  mutable Lru<Place, std::shared_ptr<const OfKey>> kept_;  // by their bytes
};

// The cubes of what is stored, without holes, as those of what it means.
StoredCubes meant_cubes(const StoredCubes& stored, const Meaning& meaning, const DataType& to);

}  // namespace forebay::view
