// What the user asks of the layer, by environment and by hints (docs/mpiio.md). Pure.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace forebay::lock::mpiio {

enum class Atomic : uint8_t {
  asked,   // files that the application sets atomic
  always,  // every file
  never,
};

enum class Nonatomic : uint8_t {
  native,  // the MPI library does what it would do without the layer
  safe,    // the layer's engine, which sieves under locks only
};

enum class Locking : uint8_t {
  list,      // exactly the bytes of an access, compressed
  expanded,  // the same, one term a segment
  range,     // from the first byte to the last
  file,
  none,  // no locks at all: to compare with
};

enum class Sieving : uint8_t { automatic, always, never };

enum class Collective : uint8_t {
  automatic,    // two phases under one lock where that pays (docs/decisions/0016)
  independent,  // every process for itself
};

enum class Keeping : uint8_t {
  automatic,  // locks are kept until somebody else asks (docs/decisions/0069)
  never,
};

// Trivially copyable: the processes that open a file together take those of the first.
struct Settings {
  Atomic atomic = Atomic::asked;
  Nonatomic nonatomic = Nonatomic::native;
  Locking lock = Locking::list;
  Sieving sieve = Sieving::automatic;
  Collective collective = Collective::automatic;
  Keeping keep = Keeping::automatic;  // of the process: there is no hint
  uint16_t aggregators = 0;           // 0: as many as seem right

  // Whether a file with these settings can ever be anything else than the MPI library's.
  bool may_act() const { return atomic != Atomic::never || nonatomic == Nonatomic::safe; }
};

using Lookup = std::function<std::optional<std::string>(std::string_view)>;

// Of FOREBAY_MPIIO_ATOMIC, _NONATOMIC, _LOCK, _SIEVE, _COLLECTIVE and _KEEP as `environment` gives them.
// invalid_argument, with the variable and what it may be, for any other value.
Result<Settings> settings_from(const Lookup& environment);

// `settings` with what the hints forebay_atomic, forebay_nonatomic, forebay_lock, forebay_sieve, forebay_collective and
// cb_nodes (the number of aggregators, a hint of MPI's own) say in place of it. A value that is not known is passed
// over, as MPI demands of hints.
Settings with_hints(Settings settings, const Lookup& hints);

// The settings as hints of the layer's own, to be shown.
struct Hint {
  const char* key;
  const char* value;
};
std::array<Hint, 5> hints_of(const Settings& settings);

}  // namespace forebay::lock::mpiio
