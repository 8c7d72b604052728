#include "launch/rules/evaluator.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "launch/rules/live_set.h"
#include "launch/rules/text_seen.h"

namespace forebay::launch::rules {
namespace {

using Key = SetKey;

struct CompanionFile {
  size_t item = 0;
  Words fields;
  uint64_t size = 0;
};

}  // namespace

struct Evaluator::Impl {
  Rule rule;
  std::map<Key, LiveSet> live;
  std::map<Key, uint64_t> versions;
  std::map<Words, SeriesState> series;
  std::map<std::string, CompanionFile, std::less<>> companions;
  std::map<std::string, TextSeen, std::less<>> texts;
  std::set<std::string, std::less<>> open;
  std::set<std::pair<Time, Key>> schedule;
  std::vector<Verdict> verdicts;
  Time newest_verdict = Time::min();

  // What was due before `at`, or at it, is complete.
  void settle(Time at, bool inclusive) {
    while (!schedule.empty()) {
      const auto [due, key] = *schedule.begin();
      if (inclusive ? due > at : due >= at) return;
      finish(key, std::max(due, newest_verdict), Verdict::State::complete, {});
    }
  }

  void reschedule(const Key& key, LiveSet& set) {
    if (set.due) schedule.erase({*set.due, key});
    set.due.reset();
    if (lack_of(rule.done, set, false) != Lack::none) return;
    set.due = due_of(rule.done, set, series[key.first]);
    if (rule.done.quiet || rule.done.still) set.due = std::max(*set.due, set.least_due);
    schedule.emplace(*set.due, key);
  }

  void doubt(Time until) {
    for (auto& [key, set] : live) {
      set.least_due = std::max(set.least_due, until);
      reschedule(key, set);
    }
  }

  void forget(const Key& key) {
    const auto found = live.find(key);
    if (found->second.due) schedule.erase({*found->second.due, key});
    live.erase(found);
  }

  LiveSet& live_set(const Key& key) {
    const auto [found, is_new] = live.try_emplace(key);
    if (is_new) {
      const auto version = versions.find(key);
      found->second.version = version == versions.end() ? 1 : version->second + 1;
      found->second.count_missing(series[key.first]);
    }
    return found->second;
  }

  void put_member(const Role& role, const std::string& path, uint64_t size, bool is_renamed, Time at) {
    const Key key{role.series, role.label};
    LiveSet& set = live_set(key);
    LiveSet::File file{.size = size,
                       .part = {role.item, role.rank},
                       .is_mandatory = role.kind == Item::Kind::member,
                       .is_open = open.contains(path),
                       .is_renamed = is_renamed};
    if (rule.done.last) {
      const auto last = match(*rule.done.last, path);
      file.is_last = last && agrees(last->fields, key);
    }
    set.put(path, std::move(file), series[key.first]);
    set.last = at;
    set.lengths.clear();
    reschedule(key, set);
  }

  // `is_renamed`: nothing if it stays as it was.
  void happened(std::string_view path, uint64_t size, std::optional<bool> is_renamed, Time at) {
    const Role role = role_of(rule, path);
    const std::string name(path);
    if (role.kind == Item::Kind::companion) return grow(name, role, size);
    if (!role.is_member()) return;
    put_member(role, name, size, is_renamed.value_or(was_renamed({role.series, role.label}, name)), at);
  }

  bool was_renamed(const Key& key, const std::string& path) const {
    const auto set = live.find(key);
    if (set == live.end()) return false;
    const auto file = set->second.files.find(path);
    return file != set->second.files.end() && file->second.is_renamed;
  }

  void grow(const std::string& path, const Role& role, uint64_t size) {
    CompanionFile& companion = companions[path];
    const uint64_t before = companion.size;
    companion = {.item = role.item, .fields = role.captures.fields, .size = size};
    if (!rule.items[role.item].is_appended || before == size) return;
    for (auto& [key, set] : live)
      if (agrees(companion.fields, key)) set.lengths.try_emplace(path, before);
  }

  void lose(std::string_view path, Time at) {
    const std::string name(path);
    companions.erase(name);
    const Role role = role_of(rule, path);
    if (!role.is_member()) return;
    const Key key{role.series, role.label};
    const auto set = live.find(key);
    if (set == live.end() || !set->second.files.contains(name)) return;
    set->second.drop(name, series[key.first]);
    if (set->second.files.empty()) return forget(key);
    set->second.last = at;
    reschedule(key, set->second);
  }

  void move(const Move& move, Time at) {
    lose(move.from, at);
    texts.erase(move.from);
    texts.erase(move.to);
    open.erase(move.to);
    if (open.erase(move.from) > 0) open.insert(move.to);
    happened(move.to, move.size, true, at);
  }

  void says(const Words& of_file, const Words& of_line, Time at) {
    for (auto& [key, set] : live) {
      if (!agrees(of_file, key) || !agrees(of_line, key)) continue;
      set.is_said = true;
      set.last = at;
      reschedule(key, set);
    }
  }

  Verdict verdict_of(const Key& key, const LiveSet& set) const {
    Verdict verdict{.id = {key.first, key.second, set.version}};
    for (const auto& [path, file] : set.files) verdict.members.push_back({path, file.size, file.part.second});
    for (const auto& [path, companion] : companions) {
      if (!agrees(companion.fields, key)) continue;
      const auto before = set.lengths.find(path);
      const uint64_t length = before == set.lengths.end() ? companion.size : std::min(before->second, companion.size);
      verdict.companions.push_back({path, length, rule.items[companion.item].is_appended});
    }
    return verdict;
  }

  void finish(const Key& key, Time at, Verdict::State state, std::string reason) {
    const LiveSet& set = live.at(key);
    Verdict verdict = verdict_of(key, set);
    verdict.at = at;
    if (state == Verdict::State::complete) reason = smallness(set.bytes, series[key.first]);
    if (!reason.empty() && state == Verdict::State::complete) state = Verdict::State::suspect;
    verdict.state = state;
    verdict.reason = std::move(reason);
    if (state != Verdict::State::unfinished) versions[key] = set.version;
    std::set<Part> parts;
    for (const auto& each : set.parts) parts.insert(each.first);
    const uint64_t bytes = set.bytes;
    const Time last = set.last;
    verdicts.push_back(std::move(verdict));
    newest_verdict = std::max(newest_verdict, at);
    forget(key);
    if (state == Verdict::State::complete) begin_after(key.first, std::move(parts), bytes, last);
  }

  // Why a set of so many bytes is not what the one before was; empty: it is. A second one in a row that is like the
  // first is no accident.
  static std::string smallness(uint64_t bytes, SeriesState& state) {
    if (bytes >= state.bytes / 2 + state.bytes % 2) return {};
    const bool is_again = state.small_bytes > 0 && bytes >= state.small_bytes / 2 && bytes / 2 <= state.small_bytes;
    if (is_again) return {};
    state.small_bytes = bytes;
    return fmt::format("it has {} bytes, and the set before it had {}", bytes, state.bytes);
  }

  void begin_after(const Words& words, std::set<Part> parts, uint64_t bytes, Time last) {
    SeriesState& state = series[words];
    state = {.is_first = false, .needed = std::move(parts), .bytes = bytes, .newest = last};
    for (auto each = live.lower_bound({words, {}}); each != live.end() && each->first.first == words; ++each) {
      each->second.count_missing(state);
      reschedule(each->first, each->second);
    }
  }

  void over(Time at, bool is_killed) {
    settle(at, true);
    open.clear();
    std::vector<Key> keys;
    for (const auto& each : live) keys.push_back(each.first);
    std::ranges::stable_sort(keys, {}, [&](const Key& key) { return live.at(key).last; });
    for (const Key& key : keys) finish_at_end(key, at, is_killed);
    for (auto& [words, state] : series) state = {.bytes = state.bytes};
  }

  void finish_at_end(const Key& key, Time at, bool is_killed) {
    const LiveSet& set = live.at(key);
    const Lack lack = lack_of(rule.done, set, true);
    if (lack != Lack::none) {
      const SeriesState& state = series[key.first];
      const bool was_set = is_loss(rule.done, set, state, lack);
      finish(key, at, Verdict::State::unfinished, lack_text(rule, set, state, lack));
      verdicts.back().is_loss = was_set;
      return;
    }
    if (!is_killed) return finish(key, at, Verdict::State::complete, {});
    finish(key, at, Verdict::State::suspect, "the code was killed before the set was left alone for long enough");
  }
};

const char* to_string(Verdict::State state) {
  switch (state) {
    case Verdict::State::complete:
      return "complete";
    case Verdict::State::suspect:
      return "suspect";
    case Verdict::State::unfinished:
      return "unfinished";
  }
  return "unfinished";
}

Evaluator::Evaluator(Rule rule) : impl_(std::make_unique<Impl>()) { impl_->rule = std::move(rule); }
Evaluator::Evaluator(Evaluator&&) noexcept = default;
Evaluator& Evaluator::operator=(Evaluator&&) noexcept = default;
Evaluator::~Evaluator() = default;

const Rule& Evaluator::rule() const { return impl_->rule; }

void Evaluator::there(std::string_view path, uint64_t size) {
  const Role role = role_of(impl_->rule, path);
  if (role.kind == Item::Kind::companion) impl_->grow(std::string(path), role, size);
}

void Evaluator::known(const SetId& id) {
  uint64_t& version = impl_->versions[{id.series, id.label}];
  version = std::max(version, id.version);
}

void Evaluator::written(std::string_view path, uint64_t size, Time at) {
  impl_->settle(at, false);
  impl_->open.emplace(path);
  impl_->happened(path, size, false, at);
  impl_->settle(at, true);
}

void Evaluator::closed(std::string_view path, uint64_t size, Time at) {
  impl_->settle(at, false);
  impl_->open.erase(std::string(path));
  impl_->happened(path, size, std::nullopt, at);
  impl_->settle(at, true);
}

void Evaluator::renamed(std::span<const Move> moves, Time at) {
  impl_->settle(at, false);
  for (const Move& move : moves) impl_->move(move, at);
  impl_->settle(at, true);
}

void Evaluator::removed(std::string_view path, Time at) {
  impl_->settle(at, false);
  impl_->open.erase(std::string(path));
  impl_->texts.erase(std::string(path));
  impl_->lose(path, at);
  impl_->settle(at, true);
}

bool Evaluator::wants_text(std::string_view path) const {
  return impl_->rule.done.says && match(impl_->rule.done.says->file, path);
}

void Evaluator::text(std::string_view path, std::string_view text, uint64_t offset, Time at) {
  if (!impl_->rule.done.says) return;
  const auto file = match(impl_->rule.done.says->file, path);
  if (!file) return;
  impl_->settle(at, false);
  for (const std::string_view line :
       impl_->texts[std::string(path)].new_lines(text, offset, impl_->open.contains(path)))
    if (const auto found = match(impl_->rule.done.says->line, line, Subject::line))
      impl_->says(file->fields, found->fields, at);
  impl_->settle(at, true);
}

void Evaluator::passed(Time at) { impl_->settle(at, true); }
void Evaluator::doubted(Time until) { impl_->doubt(until); }
void Evaluator::ended(Time at) { impl_->over(at, false); }
void Evaluator::killed(Time at) { impl_->over(at, true); }

std::vector<Verdict> Evaluator::take_verdicts() { return std::exchange(impl_->verdicts, {}); }

std::optional<Time> Evaluator::again() const {
  if (impl_->schedule.empty()) return {};
  return impl_->schedule.begin()->first;
}

std::vector<Waiting> Evaluator::waiting() const {
  std::vector<Waiting> found;
  for (const auto& [key, set] : impl_->live) {
    const auto state = impl_->series.find(key.first);
    const Lack lack = lack_of(impl_->rule.done, set, false);
    found.push_back({.id = {key.first, key.second, set.version},
                     .files = set.files.size(),
                     .since = set.last,
                     .reason = lack_text(impl_->rule, set, state->second, lack)});
  }
  return found;
}

}  // namespace forebay::launch::rules
