#include "launch/rules/restore_plan.h"

#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>

namespace forebay::launch::rules {
namespace {

Result<std::string> checked_path(std::string path) {
  bool is_safe =
      !path.empty() && path.size() <= kMostMatchedBytes && !path.contains('\0') && !path.starts_with(".forebay");
  for (size_t begin = 0; is_safe && begin <= path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view name = std::string_view(path).substr(begin, end - begin);
    is_safe = !name.empty() && name != "." && name != "..";
    begin = end + 1;
  }
  if (!is_safe)
    return fail(ErrorKind::invalid_argument, fmt::format("'{}' is no path below the directory of the restart", path));
  return path;
}

// The directory of the set that a member lies in: up to the component that has its label. Empty: there is none.
std::string set_directory(const Role& role, std::string_view path) {
  if (!role.is_member() || role.captures.set_end == 0) return {};
  const size_t slash = path.find('/', role.captures.set_end);
  return slash == std::string_view::npos ? std::string() : std::string(path.substr(0, slash));
}

// The directory that holds all members and no other set's, the only file, or empty.
std::string own_place(const Rule& rule, const StoredSet& set) {
  if (set.members.size() == 1 && set_directory(role_of(rule, set.members[0].path), set.members[0].path).empty())
    return set.members[0].path;
  std::string place;
  for (const Verdict::File& file : set.members) {
    const std::string directory = set_directory(role_of(rule, file.path), file.path);
    if (directory.empty() || (!place.empty() && place != directory)) return {};
    place = directory;
  }
  return place;
}

Filling filling_of(const Rule& rule, const std::string& root, const StoredSet& set) {
  Filling filling{.words = set.id.series, .stars = {}, .root = root, .files = {}};
  filling.words["set"] = set.id.label;
  filling.words["step"] = step_text(set.id.label);
  filling.words["dir"] = root;
  const std::string place = own_place(rule, set);
  filling.words["path"] = place.empty() ? root : fmt::format("{}/{}", root, place);
  for (const Verdict::File& file : set.members) filling.files.push_back(file.path);
  return filling;
}

class Planner {
 public:
  Planner(const Rule& rule, const Resume& resume, const RestoreInput& input)
      : rule_(rule), resume_(resume), input_(input), chosen_(input.sets.back()) {
    for (const PresentFile& file : input.files) present_.emplace(file.path, &file);
  }

  Result<RestorePlan> run() {
    FOREBAY_CHECK(put_members());
    FOREBAY_CHECK(put_companions());
    FOREBAY_CHECK(put_names());
    FOREBAY_CHECK(make_links());
    FOREBAY_CHECK(make_texts());
    put_newer_aside();
    for (std::string& path : whole_directories()) plan_.aside.push_back(std::move(path));
    std::ranges::sort(plan_.aside);
    return std::move(plan_);
  }

 private:
  const PresentFile* present(const std::string& path) const {
    const auto found = present_.find(path);
    return found == present_.end() ? nullptr : found->second;
  }

  bool is_unwanted(const std::string& path) const {
    return std::ranges::any_of(resume_.aside, [&](const Pattern& pattern) { return match(pattern, path).has_value(); });
  }

  // What is there of that path makes room.
  void replace(const std::string& path) {
    if (present(path)) aside_.insert(path);
  }

  Result<void> put(size_t set, const std::string& stored, std::string to) {
    FOREBAY_TRY(to, checked_path(std::move(to)));
    replace(to);
    targets_.insert(to);
    plan_.put.push_back({set, stored, std::move(to)});
    return {};
  }

  Result<void> put_members() {
    for (size_t i = 0; i < input_.sets.size(); ++i)
      for (const Verdict::File& file : input_.sets[i].members) {
        const PresentFile* there = present(file.path);
        if (there && there->is_same)
          targets_.insert(file.path);
        else
          FOREBAY_CHECK(put(i, file.path, file.path));
      }
    return {};
  }

  Result<void> put_companions() {
    const size_t last = input_.sets.size() - 1;
    for (const StoredSet::Companion& companion : chosen_.companions) {
      const PresentFile* there = present(companion.path);
      if (is_unwanted(companion.path) || (there && there->is_same)) continue;
      if (companion.is_appended && there && there->size >= companion.length) {
        if (there->size > companion.length) plan_.cut.push_back({companion.path, companion.length});
        continue;
      }
      if (!companion.is_stored) return refuse(companion, there);
      FOREBAY_CHECK(put(last, companion.path, companion.path));
      if (companion.is_appended) plan_.cut.push_back({companion.path, companion.length});
    }
    return {};
  }

  static std::unexpected<Error> refuse(const StoredSet::Companion& companion, const PresentFile* there) {
    return fail(
        ErrorKind::not_found,
        there ? fmt::format("the file has {} bytes, and had {} when the set was complete; the store does not have it",
                            there->size, companion.length)
              : "the file was there when the set was complete, is gone, and the store does not have it",
        companion.path, {}, "bring it back, or restart with a command that begins new files (GROMACS: -noappend)");
  }

  Result<void> put_names() {
    for (const Resume::As& as : resume_.as)
      for (size_t i = 0; i < input_.sets.size(); ++i)
        for (const Verdict::File& file : input_.sets[i].members) FOREBAY_CHECK(put_name(as, i, file.path));
    return {};
  }

  Result<void> put_name(const Resume::As& as, size_t set, const std::string& path) {
    const auto captures = match(as.from, path);
    if (!captures) return {};
    Filling filling = filling_of(rule_, input_.root, input_.sets[set]);
    for (const auto& [name, value] : captures->fields) filling.words[name] = value;
    filling.stars = captures->stars;
    FOREBAY_TRY(std::string to, fill(as.to, filling));
    return put(set, path, std::move(to));
  }

  Result<void> make_links() {
    std::set<std::string> made;
    for (const Resume::Link& link : resume_.links)
      for (const Verdict::File& file : chosen_.members) {
        Filling filling = filling_of(rule_, input_.root, chosen_);
        if (!file.rank.empty()) filling.words["rank"] = file.rank;
        FOREBAY_TRY(std::string path, fill(link.file, filling));
        FOREBAY_TRY(path, checked_path(std::move(path)));
        if (!made.insert(path).second) continue;
        FOREBAY_TRY(std::string target, fill(link.target, filling));
        FOREBAY_TRY(target, checked_path(std::move(target)));
        replace(path);
        plan_.links.push_back({std::move(path), std::move(target)});
      }
    return {};
  }

  Result<void> make_texts() {
    const Filling filling = filling_of(rule_, input_.root, chosen_);
    for (const Resume::Point& point : resume_.points) {
      FOREBAY_TRY(std::string path, fill(point.file, filling));
      FOREBAY_TRY(path, checked_path(std::move(path)));
      FOREBAY_TRY(const std::string line, fill(point.text, filling));
      const PresentFile* there = present(path);
      const std::string before = there ? there->text : "";
      std::string text = point.is_cut ? cut_behind(before, line) : line + "\n";
      if (there && text == before) continue;
      replace(path);
      targets_.insert(path);
      plan_.texts.push_back({std::move(path), std::move(text)});
    }
    return {};
  }

  // The lines up to the last one that is `line`, or all, and that line.
  static std::string cut_behind(const std::string& text, const std::string& line) {
    std::string kept, until;
    bool is_found = false;
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find('\n', at), text.size());
      const std::string each = text.substr(at, end - at);
      kept += each + "\n";
      if (each == line) {
        until = kept;
        is_found = true;
      }
      at = end + 1;
    }
    return is_found ? until : kept + line + "\n";
  }

  // Whether a set of the chosen one's series, of another label, came after it.
  bool is_newer(const std::string& label, int64_t written_ns) const {
    const auto place = [&](std::string_view wanted) -> std::optional<size_t> {
      for (size_t i = input_.known.size(); i-- > 0;)
        if (input_.known[i].series == chosen_.id.series && input_.known[i].label == wanted) return i;
      return {};
    };
    std::optional<size_t> chosen;
    for (size_t i = 0; i < input_.known.size(); ++i)
      if (input_.known[i] == chosen_.id) chosen = i;
    if (const auto other = place(label); other && chosen) return *other > *chosen;
    const auto order = compare_labels(label, chosen_.id.label);
    if (order != std::partial_ordering::unordered) return order == std::partial_ordering::greater;
    return written_ns > 0 && chosen_.complete_ns > 0 && written_ns > chosen_.complete_ns;
  }

  bool is_given(const std::string& label) const {
    return std::ranges::any_of(input_.sets, [&](const StoredSet& set) { return set.id.label == label; });
  }

  bool must_go(const Role& role, int64_t written_ns) const {
    if (!role.is_member() || role.series != chosen_.id.series) return false;
    // What a set has not, but its label, is of another version.
    return is_given(role.label) || is_newer(role.label, written_ns);
  }

  void put_newer_aside() {
    for (const PresentFile& file : input_.files) {
      const Role role = role_of(rule_, file.path);
      if (is_unwanted(file.path) || (!targets_.contains(file.path) && must_go(role, file.written_ns)))
        aside_.insert(file.path);
    }
  }

  // Of sets that go whole, the directory goes: several codes look at nothing else. What stays in `aside_` are single
  // files.
  std::vector<std::string> whole_directories() {
    std::map<std::string, std::set<std::string>> leaving;
    for (const std::string& path : aside_)
      if (const std::string directory = set_directory(role_of(rule_, path), path); !directory.empty())
        leaving[directory].insert(path);
    std::vector<std::string> whole;
    for (const auto& [directory, paths] : leaving) {
      if (files_below(directory) != paths.size()) continue;
      whole.push_back(directory);
      for (const std::string& path : paths) aside_.erase(path);
    }
    for (const std::string& directory : input_.directories)
      if (files_below(directory) == 0 && is_empty_set(directory)) whole.push_back(directory);
    whole.insert(whole.end(), aside_.begin(), aside_.end());
    return whole;
  }

  size_t files_below(const std::string& directory) const {
    size_t count = 0;
    const std::string prefix = directory + "/";
    for (auto file = present_.lower_bound(prefix); file != present_.end() && file->first.starts_with(prefix); ++file)
      ++count;
    return count;
  }

  bool is_empty_set(const std::string& directory) const {
    const std::string inside = directory + "/x";
    const Role role = role_of(rule_, inside);
    return set_directory(role, inside) == directory && !is_given(role.label) && must_go(role, 0);
  }

  const Rule& rule_;
  const Resume& resume_;
  const RestoreInput& input_;
  const StoredSet& chosen_;
  std::map<std::string, const PresentFile*> present_;
  std::set<std::string> aside_, targets_;
  RestorePlan plan_;
};

}  // namespace

Result<RestorePlan> plan_restore(const Rule& rule, const Resume& resume, const RestoreInput& input) {
  if (input.sets.empty()) return fail(ErrorKind::invalid_argument, "no set was chosen");
  return Planner(rule, resume, input).run();
}

Result<ResumedCommand> resumed_command(const Rule& rule, const Resume& resume, const std::string& root,
                                       const StoredSet& set) {
  const Filling filling = filling_of(rule, root, set);
  ResumedCommand made;
  const auto fill_all = [&](const std::vector<Template>& from, std::vector<std::string>& to) -> Result<void> {
    for (const Template& each : from) {
      FOREBAY_TRY(to.emplace_back(), fill(each, filling));
    }
    return {};
  };
  FOREBAY_CHECK(fill_all(resume.command, made.command));
  FOREBAY_CHECK(fill_all(resume.args, made.args));
  for (const auto& [name, value] : resume.env) {
    FOREBAY_TRY(made.env[name], fill(value, filling));
  }
  return made;
}

}  // namespace forebay::launch::rules
