#include "launch/rules/text_seen.h"

#include <algorithm>

namespace forebay::launch::rules {

static constexpr size_t kTailBytes = 256;

size_t TextSeen::new_part(std::string_view text, uint64_t offset) const {
  const uint64_t end = offset + text.size();
  if (!is_known_ || end < end_ || end_ < offset || end_ - offset < tail_.size()) return 0;
  const auto seen = static_cast<size_t>(end_ - offset);
  if (text.substr(seen - tail_.size(), tail_.size()) != tail_) return 0;
  if (end > end_) {
    const bool goes_on = seen > 0 && text[seen - 1] != '\n' && text[seen] != '\n';
    return goes_on ? text.rfind('\n', seen - 1) + 1 : seen;  // npos + 1 is 0
  }
  const std::string_view lines = text.ends_with('\n') ? text.substr(0, text.size() - 1) : text;
  return lines.contains('\n') ? seen : 0;
}

std::vector<std::string_view> TextSeen::new_lines(std::string_view text, uint64_t offset, bool is_open) {
  size_t used = text.size();
  if (is_open) {
    const size_t last = text.rfind('\n');
    used = last == std::string_view::npos ? 0 : last + 1;
  }
  text = text.substr(0, used);
  std::vector<std::string_view> lines;
  for (size_t at = std::min(new_part(text, offset), text.size()); at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.empty()) lines.push_back(line);
    at = end + 1;
  }
  is_known_ = true;
  end_ = offset + text.size();
  tail_ = text.substr(text.size() - std::min(text.size(), kTailBytes));
  return lines;
}

}  // namespace forebay::launch::rules
