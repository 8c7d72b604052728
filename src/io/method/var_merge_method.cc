// The name under which ADIOS merges blocks before another method writes them. Blocks are stored as they are written
// here: a reader finds those of a box without reading others, and the method FOREBAY merges variables over ranks.
#include "io/method/methods.h"

namespace forebay::io {

MethodEntry var_merge_method() {
  return {.name = "VAR_MERGE",
          .aliases = {},
          .parameters = {"chunk_size", "io_method", "io_parameters"},
          .make = [](const Parameters& parameters) -> Outcome<std::unique_ptr<Method>> {
            const MethodChoice choice{.name = parameters.text("io_method", "MPI_AGGREGATE"),
                                      .parameters = parameters.text("io_parameters", ""),
                                      .base_path = ""};
            FOREBAY_TRY(const MethodEntry entry, MethodRegistry::instance().find(choice.name));
            if (entry.name == "VAR_MERGE")
              return refuse(Code::invalid_argument, "io_method of VAR_MERGE is VAR_MERGE",
                            "name the method that writes");
            FOREBAY_TRY(MadeMethod made, MethodRegistry::instance().make(choice));
            return std::move(made.method);
          }};
}

}  // namespace forebay::io
