#include "io/method/own_part.h"

#include <algorithm>
#include <ranges>
#include <utility>

#include "base/nearest.h"

namespace forebay::io {

Outcome<OwnPart> OwnPart::open(const std::string& path, uint32_t rank) {
  constexpr uint64_t kMostBytes = uint64_t{4} << 30;
  OwnPart own;
  own.path_ = path;
  FOREBAY_TRY(own.reader_, FileReader::open(path, kMostBytes));
  const std::vector<ListedPart>& parts = own.reader_->listing().parts;
  uint64_t last = 0;
  bool is_there = false;
  for (const ListedPart& part : parts) {
    own.standing_.last_time_index = std::max(own.standing_.last_time_index, part.time_index);
    if (part.rank != rank) continue;
    is_there = true;
    last = std::max(last, part.step);
  }
  own.standing_.steps = own.reader_->steps();
  if (!is_there)
    return refuse(Code::invalid_data, "rank " + std::to_string(rank) + " wrote nothing into this file",
                  "read it by as many ranks as wrote it, or by the reading interface", path);
  for (size_t at = 0; at < parts.size(); ++at) {
    if (parts[at].rank != rank || parts[at].step != last) continue;
    FOREBAY_TRY(StoredPart part, own.reader_->open_part(at));
    own.parts_.push_back(std::move(part));
  }
  return own;
}

Outcome<void> OwnPart::read(std::string_view variable, std::span<std::byte> into) const {
  std::vector<std::string> names;
  for (const StoredPart& part : parts_ | std::views::reverse) {
    const std::vector<Block>& blocks = part.group().blocks;
    for (size_t at = blocks.size(); at-- > 0;) {
      names.push_back(blocks[at].name);
      if (blocks[at].name != variable) continue;
      const uint64_t bytes = part.bytes(at);
      if (bytes > into.size())
        return refuse(Code::read_size_mismatch, "variable \"" + std::string(variable) + "\" has " +
                                                    std::to_string(bytes) + " bytes, and there is room for " +
                                                    std::to_string(into.size()));
      FOREBAY_CHECK(part.read(at, into.first(bytes)));
      return {};
    }
  }
  return refuse(Code::invalid_name, "this rank wrote no variable \"" + std::string(variable) + "\"",
                nearest_hint(variable, names, "the full name is its path, '/' and its name"), path_);
}

}  // namespace forebay::io
