#include "job/coordinator/set_sizes.h"

#include <fmt/format.h>

namespace forebay::job {
namespace {

bool is_far_below(const SetSizes::Size& set, const SetSizes::Size& before) {
  return set.files < before.files / 2 + before.files % 2 || set.bytes < before.bytes / 2;
}

}  // namespace

std::string SetSizes::judge(const Size& set) {
  const bool is_small = whole_.bytes > 0 && is_far_below(set, whole_);
  const bool is_second = small_.bytes > 0 && !is_far_below(set, small_);
  if (!is_small || is_second) {
    whole_ = set;
    small_ = {};
    return {};
  }
  small_ = set;
  return fmt::format("it has {} files of {} bytes, and the set before it had {} of {}", set.files, set.bytes,
                     whole_.files, whole_.bytes);
}

}  // namespace forebay::job
