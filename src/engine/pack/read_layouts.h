// Layouts of files, as the format readers find them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/catalogue.h"
#include "engine/pack/tree.h"
#include "engine/set/sources.h"
#include "format/reader.h"

namespace forebay::engine {

// What a format reader had to say of a file.
struct LayoutRemark {
  uint32_t file = 0;  // index into Catalogue::files
  std::string text;

  bool operator==(const LayoutRemark&) const = default;
};

struct Layouts {
  Catalogue catalogue;                // of the files, in their order
  std::vector<LayoutRemark> remarks;  // in the order of the files, one for each at most
};

// The similarity keys of a layout's variables, in order. Called by several threads.
using KeysFn = std::function<std::vector<std::string>(const Layout&)>;

// Reads the layouts of all of `files`, several at a time. A regular file NAME is described by NAME.forebay.toml, if
// that is among `files` too (docs/raw-binary.md). limit if the catalogue takes more than half of `memory_bytes`; else
// errors as of the sources.
Result<Layouts> read_layouts(std::span<const SourceFile> files, Sources& sources, const format::FormatOptions& format,
                             const KeysFn& keys, uint64_t memory_bytes, unsigned threads);

// The error of variables that take `times` the memory that they may, with which `path` came; and that number, of such
// an error.
std::unexpected<Error> too_many_variables(double times, std::string path);
std::optional<double> times_too_many(const Error& error);

// The same from layouts that are known: `layout_of` tells that of each file, called by several threads.
using LayoutFn = std::function<Result<format::ReadLayout>(size_t index)>;
Result<Layouts> collect_layouts(std::span<const SourceFile> files, const LayoutFn& layout_of, const KeysFn& keys,
                                uint64_t memory_bytes, unsigned threads);

}  // namespace forebay::engine
