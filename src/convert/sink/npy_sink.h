// NumPy: a file NAME.npy for one array, a directory of them for several.
#pragma once

#include <memory>

#include "convert/sink/sink.h"
#include "convert/sink/sink_options.h"

namespace forebay::convert {

Result<std::unique_ptr<Sink>> make_npy_sink(const SinkOptions& options);
bool npy_holds(const view::ElementType& type);

}  // namespace forebay::convert
