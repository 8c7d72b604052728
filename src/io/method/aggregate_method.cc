// N ranks write M files: each file is shared by ranks that follow each other.
#include <algorithm>

#include "io/method/container_method.h"
#include "io/method/lustre_layout.h"
#include "io/method/methods.h"

namespace forebay::io {

MethodEntry aggregate_method() {
  return {.name = "MPI_AGGREGATE",
          .aliases = {"MPI_AMR"},
          .parameters = container_parameters(),
          .make = [](const Parameters& parameters) -> Outcome<std::unique_ptr<Method>> {
            ContainerLayout layout{.overflow = Overflow::fails_at_close, .can_read = false};
            FOREBAY_TRY(const uint64_t targets, parameters.number("num_ost", 0));
            FOREBAY_TRY(const uint64_t files, parameters.number("num_aggregators", targets));
            layout.subfiles = [files](uint32_t ranks) {
              return files == 0 ? ranks : static_cast<uint32_t>(std::min<uint64_t>(files, ranks));
            };
            if (parameters.has("color")) {
              FOREBAY_TRY(const uint64_t colour, parameters.number("color", 0));
              layout.colour = static_cast<uint32_t>(colour);
            } else if (files == 0) {
              layout.targets = lustre_stripe_count;
            }
            FOREBAY_TRY(layout.fill, fill_settings(parameters));
            FOREBAY_TRY(layout.has_top_file, parameters.flag("have_metadata_file", true));
            return container_method(std::move(layout));
          }};
}

}  // namespace forebay::io
