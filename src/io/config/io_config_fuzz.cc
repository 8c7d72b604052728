// Whatever a file says: no crash, and what was understood can be evaluated and generated.
#include <cstdlib>

#include "base/bytes.h"
#include "io/config/config.h"
#include "io/config/includes.h"
#include "io/group/dimensions.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace forebay;
  const auto config = io::parse_config(as_text(std::as_bytes(std::span(data, size))), "fuzz.xml", uint64_t{1} << 30);
  if (!config) {
    if (config.error().code == io::Code::none || config.error().error.what.empty()) std::abort();
    return 0;
  }
  for (const io::GroupDefinition& group : config->groups) {
    const io::NameIndex names(group);
    io::ScalarValues scalars;
    for (const io::VariableDefinition& variable : group.variables) scalars[variable.full_name()] = 3;
    for (const io::VariableDefinition& variable : group.variables) {
      const auto extents = io::evaluate(group, names, variable, scalars);
      if (extents && !extents->global_shape.empty() && extents->global_shape.size() != extents->shape.size())
        std::abort();
    }
    if (io::writing_include(group).empty()) std::abort();
    (void)io::reading_include(group, io::ReadStyle::selections);
    (void)io::reading_include(group, io::ReadStyle::calls);
  }
  return 0;
}
