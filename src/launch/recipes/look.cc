#include "launch/recipes/look.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "launch/rules/live_set.h"
#include "launch/rules/order.h"

namespace forebay::launch {
namespace {

using namespace rules;

struct Found {
  Look::Set set;
  LiveSet live;
};

// All directories that a path lies in.
std::vector<std::string_view> parents_of(std::string_view path) {
  std::vector<std::string_view> parents;
  for (size_t slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/', slash + 1))
    parents.push_back(path.substr(0, slash));
  return parents;
}

class Looker {
 public:
  Looker(const Rule& rule, std::span<const PresentFile> files) : rule_(rule), files_(files) {}

  Look run(int64_t now_ns) {
    for (const PresentFile& file : files_) take(file);
    for (const PresentFile* file : left_) leave(*file);
    order(now_ns);
    doubt(now_ns);
    return std::move(look_);
  }

 private:
  void take(const PresentFile& file) {
    const Role role = role_of(rule_, file.path);
    if (role.kind == Item::Kind::never) {
      left_.push_back(&file);
      return;
    }
    for (const std::string_view parent : parents_of(file.path)) shared_.emplace(parent);
    if (role.kind == Item::Kind::companion) {
      look_.companions.push_back({file.path, file.size, rule_.items[role.item].is_appended});
      return;
    }
    const SetKey key{role.series, role.label};
    Found& found = found_[key];
    found.set.id = {.series = role.series, .label = role.label};
    ++found.set.files;
    found.set.bytes += file.size;
    found.set.last_ns = std::max(found.set.last_ns, file.written_ns);
    found.set.members.push_back({file.path, file.size, role.rank});
    LiveSet::File member{.size = file.size,
                         .part = {role.item, role.rank},
                         .is_mandatory = role.kind == Item::Kind::member,
                         .is_renamed = true};
    if (rule_.done.last) {
      const auto last = match(*rule_.done.last, file.path);
      member.is_last = last && agrees(last->fields, key);
    }
    found.live.put(file.path, std::move(member), {});
  }

  // With the largest directory around it of which nothing is taken.
  void leave(const PresentFile& file) {
    std::string name = file.path;
    for (const std::string_view parent : parents_of(file.path)) {
      if (shared_.contains(parent)) continue;
      name = std::string(parent) + "/";
      break;
    }
    if (look_.left.empty() || look_.left.back().path != name) look_.left.push_back({.path = name});
    ++look_.left.back().files;
    look_.left.back().bytes += file.size;
  }

  void order(int64_t now_ns) {
    std::vector<DatedSet> dated;
    std::vector<Found*> sets;
    for (auto& [key, found] : found_) {
      if (found.live.parts.empty()) continue;  // optional files are no set
      dated.push_back({found.set.id, found.set.last_ns});
      sets.push_back(&found);
    }
    SetOrder made = order_of(rule_, dated, now_ns);
    look_.notes = std::move(made.notes);
    for (const size_t index : made.order) ordered_.push_back(sets[index]);
  }

  bool is_named(const SetId& id) const {
    for (const PresentFile& file : files_) {
      if (file.text.empty() || !match(rule_.done.says->file, file.path)) continue;
      for (size_t at = 0; at < file.text.size();) {
        const size_t end = std::min(file.text.find('\n', at), file.text.size());
        const auto line = match(rule_.done.says->line, std::string_view(file.text).substr(at, end - at), Subject::line);
        at = end + 1;
        if (!line) continue;
        const auto label = line->fields.find("set");
        if (id.label.empty() || (label != line->fields.end() && is_same_label(label->second, id.label))) return true;
      }
    }
    return false;
  }

  // `state`: what is known of the sets before it.
  std::string doubt_of(Found& found, SeriesState& state, bool is_said, int64_t now_ns) const {
    LiveSet& live = found.live;
    live.is_said = is_said;
    live.last = Time(found.set.last_ns);
    live.count_missing(state);
    const SeriesState before = state;
    const Lack lack = lack_of(rule_.done, live, false);
    if (lack == Lack::none && found.set.bytes < before.bytes / 2) return "less than half the bytes of the set before";
    if (lack == Lack::none) {
      state = {.is_first = false, .bytes = found.set.bytes};
      for (const auto& part : live.parts) state.needed.insert(part.first);
    }
    const bool is_due = now_ns <= found.set.last_ns || Time(now_ns) >= due_of(rule_.done, live, before);
    return lack == Lack::none && is_due ? std::string() : lack_text(rule_, live, before, lack);
  }

  void doubt(int64_t now_ns) {
    std::map<Words, SeriesState> last;
    for (Found* found : ordered_) {
      // A file that names the newest set alone says nothing of the others.
      const bool is_said = !rule_.done.says || found != ordered_.back() || is_named(found->set.id);
      found->set.doubt = doubt_of(*found, last[found->set.id.series], is_said, now_ns);
    }
    for (Found* found : ordered_) look_.sets.push_back(std::move(found->set));
  }

  const Rule& rule_;
  const std::span<const PresentFile> files_;
  std::map<SetKey, Found> found_;
  std::vector<Found*> ordered_;
  std::set<std::string, std::less<>> shared_;  // directories that something is taken of
  std::vector<const PresentFile*> left_;
  Look look_;
};

}  // namespace

Look look(const Rule& rule, std::span<const PresentFile> files, int64_t now_ns) {
  return Looker(rule, files).run(now_ns);
}

}  // namespace forebay::launch
