// All ranks share one file.
#include "io/method/container_method.h"
#include "io/method/methods.h"

namespace forebay::io {

// Stripes are set on directories with the tools of the file system: here their size is heeded, and their number is not.
MethodEntry mpi_method(std::string name) {
  return {.name = std::move(name),
          .aliases = {},
          .parameters = container_parameters(),
          .make = [](const Parameters& parameters) -> Outcome<std::unique_ptr<Method>> {
            ContainerLayout layout;
            FOREBAY_TRY(layout.fill, fill_settings(parameters));
            return container_method(std::move(layout));
          }};
}

}  // namespace forebay::io
