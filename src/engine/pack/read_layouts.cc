#include "engine/pack/read_layouts.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <unordered_map>

#include <fmt/format.h>

#include "engine/pack/process_group_reader.h"
#include "engine/pipeline.h"

namespace forebay::engine {
namespace {

constexpr std::string_view kTooMany = "the variables of one rank group take ",
                           kTimes = " times the memory that is for them";
constexpr std::string_view kDescriptionSuffix = ".forebay.toml";

// What reading one layout may take: pages of metadata, and some ten thousand variables.
constexpr uint64_t kLayoutMemory = 4 << 20;

class LayoutReader {
 public:
  LayoutReader(std::span<const SourceFile> files, Sources& sources, const format::FormatOptions& format)
      : files_(files), sources_(sources), format_(format) {
    static const ProcessGroupReader process_groups;
    static const std::array<const format::FormatReader*, 1> readers = {&process_groups};
    format_.more = readers;
    for (size_t i = 0; i < files.size(); ++i)
      if (files[i].row.name.ends_with(kDescriptionSuffix)) descriptions_[files[i].row.name] = i;
  }

  Result<format::ReadLayout> read(size_t index) const {
    if (files_[index].row.kind != FileKind::regular) return format::ReadLayout{};
    FOREBAY_TRY(const std::string description, own_description(files_[index].row.name));
    FOREBAY_TRY(const auto source, sources_.get(index));
    return format::read_layout(*source, files_[index].row.name, format_, description);
  }

 private:
  Result<std::string> own_description(const std::string& name) const {
    constexpr uint64_t kMaxDescriptionBytes = 1 << 20;
    const auto found = descriptions_.find(name + std::string(kDescriptionSuffix));
    if (found == descriptions_.end() || format_.opaque) return std::string();
    FOREBAY_TRY(const auto source, sources_.get(found->second));
    if (source->size() > kMaxDescriptionBytes)
      return fail(ErrorKind::limit, "the description is larger than 1 MiB", source->name());
    std::string text(source->size(), '\0');
    FOREBAY_CHECK(source->read_at(0, std::as_writable_bytes(std::span(text))));
    return text;
  }

  std::span<const SourceFile> files_;
  Sources& sources_;
  format::FormatOptions format_;
  std::unordered_map<std::string, size_t> descriptions_;
};

struct LayoutJob {
  size_t index = 0;
  format::ReadLayout read;
  std::vector<std::string> keys;
};

}  // namespace

std::unexpected<Error> too_many_variables(double times, std::string path) {
  return fail(ErrorKind::limit, fmt::format("{}{:.1f}{}", kTooMany, std::ceil(std::max(times, 1.0) * 10) / 10, kTimes),
              std::move(path), {}, "raise --memory as much, or make --group-size smaller");
}

std::optional<double> times_too_many(const Error& error) {
  const size_t at = error.what.find(kTooMany);
  double times = 0;
  if (error.kind != ErrorKind::limit || at == std::string::npos) return {};
  const char* const number = error.what.data() + at + kTooMany.size();
  if (std::from_chars(number, error.what.data() + error.what.size(), times).ec != std::errc{}) return {};
  return times;
}

Result<Layouts> collect_layouts(std::span<const SourceFile> files, const LayoutFn& layout_of, const KeysFn& keys,
                                uint64_t memory_bytes, unsigned threads) {
  Layouts layouts;
  layouts.catalogue.are_meanings_known = true;  // readers look for them
  const Pipeline<LayoutJob>::Stages stages{
      .cost = [](size_t) { return kLayoutMemory; },
      .fetch = [](size_t index) -> Result<LayoutJob> { return LayoutJob{.index = index}; },
      .work = [&](LayoutJob& job) -> Result<void> {
        FOREBAY_TRY(job.read, layout_of(job.index));
        job.keys = keys(job.read.layout);
        return {};
      },
      .put = [&](LayoutJob& job) -> Result<void> {
        const SourceFile& file = files[job.index];
        layouts.catalogue.add(file.row, job.read.layout, job.keys);
        if (!job.read.remark.empty())
          layouts.remarks.push_back({static_cast<uint32_t>(job.index), std::move(job.read.remark)});
        const uint64_t bytes = layouts.catalogue.memory_bytes();
        if (bytes <= memory_bytes / 2) return {};
        // The files that were not read yet will have as many.
        const double all =
            static_cast<double>(bytes) * static_cast<double>(files.size()) / static_cast<double>(job.index + 1);
        return too_many_variables(all / (static_cast<double>(memory_bytes) / 2), file.path);
      }};
  FOREBAY_CHECK(Pipeline<LayoutJob>::run(files.size(), memory_bytes / 2, {.fetch = 1, .work = threads}, stages));
  return layouts;
}

Result<Layouts> read_layouts(std::span<const SourceFile> files, Sources& sources, const format::FormatOptions& format,
                             const KeysFn& keys, uint64_t memory_bytes, unsigned threads) {
  const LayoutReader reader(files, sources, format);
  const LayoutFn read = [&](size_t index) { return reader.read(index); };
  return collect_layouts(files, read, keys, memory_bytes, threads);
}

}  // namespace forebay::engine
