#include "io/method/staged_file.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include <fmt/format.h>

#include "merge/plan.h"
#include "store/names.h"

namespace forebay::io {
namespace fs = std::filesystem;

std::string staged_set_name(const std::string& path, uint64_t time_index) {
  constexpr size_t kMost = 100;
  fs::path whole = fs::absolute(path).lexically_normal();
  if (!whole.has_filename()) whole = whole.parent_path();
  fs::path file = whole.filename();
  if (file.extension() == ".bp") file.replace_extension();
  std::string name = file.string().substr(0, kMost);
  for (char& c : name)
    if (!store::is_plain(c)) c = '_';
  if (name.empty() || name.front() == '.') name.insert(0, 1, '_');
  return fmt::format("{}-{:06}", name, time_index);
}

uint64_t last_time_index(std::span<const std::string> sets, const std::string& path) {
  const std::string any = staged_set_name(path, 0);
  const std::string_view stem(any.data(), any.rfind('-') + 1);
  uint64_t last = 0;
  for (const std::string_view set : sets) {
    if (!set.starts_with(stem)) continue;
    const char* const end = set.data() + set.size();
    uint64_t number = 0;
    const auto [rest, error] = std::from_chars(set.data() + stem.size(), end, number);
    if (error == std::errc{} && (rest == end || *rest == '+') && number < UINT32_MAX) last = std::max(last, number);
  }
  return last;
}

std::string staged_file_name(uint32_t rank) { return fmt::format("rank{:06}.pg", rank); }

Outcome<void> write_staged(const std::string& path, std::span<const ProcessGroup> groups) {
  FOREBAY_TRY(const auto file, open_staged(path));
  return finish_staged(*file, groups);
}

Outcome<std::unique_ptr<SharedFile>> open_staged(const std::string& path, ReusedFiles* memory) {
  FillSettings settings;
  if (memory != nullptr)
    if (auto file = memory->take(unfinished_name(path))) settings.memory = std::move(*file);
  settings.parts = {.most_frame_bytes = merge::kMaxFrameBytes, .are_transforms_done = false};
  return SharedFile::open(path, OpenMode::write, single_process(), settings);
}

Outcome<void> finish_staged(SharedFile& file, std::span<const ProcessGroup> groups) {
  Listing listing;
  FOREBAY_CHECK(file.fill(groups, listing));
  return file.commit(std::move(listing));
}

}  // namespace forebay::io
