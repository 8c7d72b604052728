// A file for each rank.
#include "io/method/container_method.h"
#include "io/method/methods.h"

namespace forebay::io {

MethodEntry posix_method() {
  return {.name = "POSIX",
          .aliases = {"POSIX1", "FB"},
          .parameters = container_parameters(),
          .make = [](const Parameters& parameters) -> Outcome<std::unique_ptr<Method>> {
            ContainerLayout layout{.subfiles = [](uint32_t ranks) { return ranks; }, .overflow = Overflow::spills};
            FOREBAY_TRY(layout.fill, fill_settings(parameters));
            FOREBAY_TRY(layout.has_top_file, parameters.flag("have_metadata_file", true));
            return container_method(std::move(layout));
          }};
}

}  // namespace forebay::io
