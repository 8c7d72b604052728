// The formats that can be converted to.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "convert/plan/converted.h"
#include "convert/plan/make_plan.h"
#include "convert/sink/sink.h"
#include "convert/sink/sink_options.h"

namespace forebay::convert {

struct Format {
  std::string_view name;     // as --format has it
  std::string_view ending;   // of targets that are meant for it
  std::string_view summary;  // for --help
  Abilities abilities;
  Result<std::unique_ptr<Sink>> (*make)(const SinkOptions& options) = nullptr;
  // Its files say what values mean as ours do, by attributes: they get what is stored.
  bool has_attributes = false;
  bool takes_several = false;  // its sinks take pieces from several threads at a time

  // Instead, for formats that keep what each rank wrote: all of the conversion.
  Result<Converted> (*convert_blocks)(const view::Run& run, const Wish& wish, const SinkOptions& options,
                                      uint64_t memory_bytes) = nullptr;
};

std::span<const Format> all_formats();

// By its name; of an empty one, by the ending of the target. invalid_argument, with the names that there are.
Result<const Format*> find_format(std::string_view name, std::string_view target);

}  // namespace forebay::convert
