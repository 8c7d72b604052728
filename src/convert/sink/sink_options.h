// What sinks are made with.
#pragma once

#include <cstdint>
#include <string>

#include "bp/observer.h"
#include "codec/choice/chooser.h"
#include "store/store.h"

namespace forebay::convert {

struct SinkOptions {
  std::string target;
  bool overwrite = false;

  // Of blocks in BP files.
  bp::Depth statistics = bp::Depth::minmax;

  // Of sets of a store.
  std::string series{store::kDefaultSeries};
  codec::Profile profile;
  unsigned threads = 1;
  uint64_t memory_bytes = 0;  // of all that is done
};

}  // namespace forebay::convert
