#include "store/rescue.h"

#include <algorithm>
#include <utility>

namespace forebay::store {

bool Rescue::is_needed(const Manifest& manifest) const {
  return std::ranges::any_of(*parents_, [&](const ParentEntry& parent) {
    return parent.name == manifest.name && parent.created_ns == manifest.created_ns;
  });
}

Result<void> Rescue::look() {
  parents_.emplace();
  const auto take = [&](const Manifest& manifest) {
    parents_->insert(parents_->end(), manifest.parents.begin(), manifest.parents.end());
  };
  FOREBAY_TRY(const auto names, backend_.set_names());
  for (const std::string& name : names) {
    const auto text = is_set_name(name) ? backend_.manifest(name) : fail(ErrorKind::not_found, "this is no set");
    const auto manifest = text ? parse_manifest(text->text, name) : std::unexpected(text.error());
    if (manifest) take(*manifest);
  }
  FOREBAY_TRY(const auto announced, backend_.announced());
  std::vector<Manifest> hidden;
  for (const auto& [id, text] : announced)
    if (auto manifest = parse_manifest(text, id)) hidden.push_back(*std::move(manifest));
  // Each that comes back brings its own parents.
  for (auto end = hidden.end();;) {
    const auto back = std::partition(hidden.begin(), end, [&](const Manifest& one) { return !is_needed(one); });
    if (back == end) return {};
    std::for_each(back, end, take);
    end = back;
  }
}

Result<std::optional<std::string>> Rescue::needed(const std::string& manifest) {
  const auto set = parse_manifest(manifest, "manifest");
  if (!set || set->containers.empty()) return std::nullopt;  // never was a set
  if (!parents_) {
    if (auto looked = look(); !looked) {
      parents_.reset();
      return std::unexpected(looked.error());
    }
  }
  return is_needed(*set) ? std::optional(set->name) : std::nullopt;
}

}  // namespace forebay::store
