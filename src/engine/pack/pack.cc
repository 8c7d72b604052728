// Packing a set, as numbered steps:
//   1. the first process scans the sources, stages the set, and chooses and announces its parent
//   2. each process packs its share of the rank groups, one container each, and makes them durable
//   3. the first process gathers what was written, writes the manifest and commits: the set becomes visible
#include "engine/pack/pack.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <unordered_set>

#include <fmt/format.h>

#include "engine/pack/choose_parent.h"
#include "engine/pack/group_report.h"
#include "engine/pack/pack_group.h"
#include "engine/pack/parent_matcher.h"
#include "engine/pack/set_before.h"
#include "engine/pack/source_pool.h"
#include "engine/pack/tree.h"
#include "engine/set/set_files.h"
#include "forebay/version.h"
#include "store/names.h"
#include "store/series.h"
#include "store/store.h"

namespace forebay::engine {

Result<SchemeChoice> SchemeChoice::parse(std::string_view name) {
  SchemeChoice choice;
  choice.automatic = name == "auto";
  for (const Scheme scheme : {Scheme::agnostic, Scheme::agnostic_block, Scheme::aware, Scheme::aware_block}) {
    choice.scheme = scheme;
    if (choice.automatic || name == to_string(scheme)) return choice;
  }
  return fail(ErrorKind::invalid_argument, "'" + std::string(name) + "' is not a merge scheme", {}, {},
              "use auto, agnostic, agnostic-block, aware or aware-block");
}

const char* SchemeChoice::name() const { return automatic ? "auto" : to_string(scheme); }

namespace {

using Clock = std::chrono::steady_clock;

// The last component of a source's path: of ".", too.
std::string default_name(const std::string& source) {
  std::error_code error;
  return std::filesystem::canonical(source, error).filename().string();
}

// A store inside its own source would hold itself from the second pack on.
Result<void> check_store_outside(const PackOptions& options) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path store = fs::weakly_canonical(fs::absolute(options.store, error), error);
  for (const std::string& source : options.sources) {
    const fs::path root = fs::canonical(source, error);
    if (error) continue;  // the scan will tell
    if (std::mismatch(root.begin(), root.end(), store.begin(), store.end()).first == root.end())
      return fail(ErrorKind::invalid_argument, "the store lies inside the source '" + source + "'", options.store, {},
                  "give a store elsewhere, or pack a directory further down");
  }
  return {};
}

Result<void> check_lossy(const PackOptions& options) {
  if (options.lossy.empty()) return {};
  if (!codec::can_encode_lossy())
    return fail(ErrorKind::unsupported, "this build lacks zfp, which stores with loss", {}, {},
                "build Forebay with FOREBAY_ZFP");
  const bool aware = options.scheme.automatic || options.scheme.scheme == Scheme::aware ||
                     options.scheme.scheme == Scheme::aware_block;
  if (!aware)
    return fail(ErrorKind::invalid_argument, "under the agnostic schemes no variable can be stored with loss", {}, {},
                "use --scheme aware, aware-block or auto");
  return {};
}

Result<void> check(const PackOptions& options) {
  if (options.sources.empty()) return fail(ErrorKind::invalid_argument, "nothing to pack");
  if (options.full_every == 0)
    return fail(ErrorKind::invalid_argument, "of no sets in a row none can be full", {}, {},
                "--full-every 1 makes every set a full one");
  return check_lossy(options);
}

// What must stay as it is of a file while it is packed.
std::string description(const SourceFile& file) {
  const FileRow& row = file.row;
  return fmt::format("{}\n{} {} {} {} {} {}\n", row.name, static_cast<int>(row.kind), row.mode, row.size, row.mtime_s,
                     row.mtime_ns, row.link_target);
}

// The path of a file that one of two trees has and the other has not, or not like this. Empty if there is none.
std::string difference(const SourceTree& before, const SourceTree& now) {
  std::unordered_set<std::string> known;
  for (const SourceFile& file : now.files) known.insert(description(file));
  for (const SourceFile& file : before.files)
    if (known.erase(description(file)) == 0) return file.path;
  for (const SourceFile& file : now.files)
    if (known.contains(description(file))) return file.path;
  return {};
}

class Packer {
 public:
  Packer(const PackOptions& options, Team& team)
      : options_(options),
        team_(team),
        resources_(options.resources.resolved()),
        name_(options.name.empty() && !options.sources.empty() ? default_name(options.sources.front()) : options.name) {
  }

  Result<PackReport> run() {
    FOREBAY_CHECK(agree(team_, prepare()));
    const std::string staged = team_.broadcast(staged_ ? staged_->id() : "");
    share_tree();
    if (const std::string parent = team_.broadcast(parent_ ? engine::to_text(*parent_) : ""); !parent.empty())
      parent_ = parent_from_text(parent);
    before_.name = team_.broadcast(before_.name);
    FOREBAY_CHECK(agree(team_, pack_share(staged)));
    const std::vector<std::string> shares = team_.gather(engine::to_text(reports_));
    FOREBAY_CHECK(agree(team_, team_.rank() == 0 ? commit(shares) : Result<void>()));
    PackReport report = make_report();
    report.seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    return report;
  }

 private:
  Result<void> prepare() {
    FOREBAY_CHECK(check(options_));
    FOREBAY_CHECK(check_store_outside(options_));
    FOREBAY_TRY(resources_.memory_bytes, buffer_bytes(resources_.memory_bytes));
    if (team_.rank() != 0) return {};
    FOREBAY_TRY(tree_, scan_tree(options_.sources, options_.scan));
    if (tree_.files.empty())
      return fail(ErrorKind::invalid_argument, "there are no files to pack", options_.sources.front());
    group_size_ = group_size();
    FOREBAY_TRY(store_, store::Store::open_for_writing(options_.store));
    if (options_.name.empty() && !store::is_set_name(name_))
      return fail(ErrorKind::invalid_argument, "the name of the directory cannot be that of a set",
                  options_.sources.front(), {},
                  "give the set a name with --name: at most 200 bytes that can be shown, without a dot in front");
    FOREBAY_TRY(staged_, store_->stage(name_));
    FOREBAY_TRY(parent_, choose_parent(*store_, options_, resources_.memory_bytes, remarks_));
    if (parent_) FOREBAY_CHECK(staged_->announce(candidates(parent_->manifest)));
    FOREBAY_TRY(const auto sets, store_->outline());
    if (const store::SetInfo* newest = store::newest_of(sets, options_.origin.series))
      looks_older_ = store::why_older(name_, step(), *newest->manifest);
    if (!options_.profile.remembers()) return {};
    before_ = find_set_before(store::of_series(sets, options_.origin.series), options_.profile.name(), tree_.ranks,
                              group_size_);
    return {};
  }

  // One process scans, and tells the others what it saw.
  void share_tree() {
    if (team_.size() == 1) return;
    const std::string text = team_.broadcast(team_.rank() == 0 ? engine::to_text(tree_) : "");
    if (team_.rank() != 0) tree_ = tree_from_text(text);
    group_size_ = group_size();
  }

  std::optional<int64_t> step() const { return options_.step ? options_.step : store::step_of(name_); }

  uint64_t group_size() const { return options_.group_size != 0 ? options_.group_size : default_group_size(tree_); }

  Remembered remembered(const std::string& container) const {
    constexpr uint64_t kShare = 8;
    if (before_.name.empty()) return {};
    return remember(store_->files_of(before_.name), container, resources_.memory_bytes / kShare);
  }

  Result<void> pack_share(const std::string& staged) {
    if (!store_) {
      FOREBAY_TRY(store_, store::Store::open(options_.store));
    }
    FOREBAY_TRY(const auto containers, store_->join(staged));
    std::optional<ParentMatcher> matcher;
    if (parent_)
      matcher.emplace(*parent_, store_->files_of(parent_->manifest.name), parent_share(resources_.memory_bytes));
    const std::vector<FileRange> groups = rank_groups(tree_, group_size_);
    Progress progress{.done_bytes = 0, .total_bytes = tree_.bytes};
    const auto delivered = [&](uint64_t raw_bytes, uint64_t) {
      progress.done_bytes += raw_bytes;
      if (resources_.progress) resources_.progress(progress);
    };
    for (size_t number = team_.rank(); number < groups.size(); number += team_.size()) {
      const auto files = std::span<const SourceFile>(tree_.files)
                             .subspan(groups[number].first, groups[number].last - groups[number].first);
      if (team_.rank() != 0) FOREBAY_CHECK(check_shared(files));
      const std::string name = container_name(number, groups.size());
      SourcePool sources(files);
      FOREBAY_TRY(reports_[number],
                  pack_group({.files = files, .sources = sources}, {.set = *containers, .name = name}, options_,
                             resources_, matcher ? &*matcher : nullptr, remembered(name), {.delivered = delivered}));
    }
    return {};
  }

  // Files may have come, gone or been touched since the scan; those that were read were checked one by one.
  Result<void> check_tree_unchanged() const {
    FOREBAY_TRY(const SourceTree now, scan_tree(options_.sources, options_.scan));
    const std::string changed = difference(tree_, now);
    if (changed.empty()) return {};
    return fail(ErrorKind::changed, "files were added, removed or changed while the set was packed", changed, {},
                "let the writers finish, then run again");
  }

  Result<void> commit(const std::vector<std::string>& shares) {
    for (const std::string& share : shares) {
      FOREBAY_TRY(auto reports, parse_group_reports(share));
      reports_.merge(reports);
    }
    FOREBAY_CHECK(check_tree_unchanged());
    lossy_ = sum_outcomes(reports_, options_.lossy.size());
    FOREBAY_CHECK(check_rules_used());
    SetFacts set{.name = name_,
                 .application_name = name_,
                 .step = step(),
                 .profile = options_.profile.name(),
                 .scheme = options_.scheme.name(),
                 .ranks = tree_.ranks,
                 .group_size = group_size_,
                 .since_chosen = before_.since_chosen,
                 .parent = parent_ ? &parent_->manifest : nullptr,
                 .stages = {{"pack", static_cast<uint64_t>(std::chrono::nanoseconds(Clock::now() - start_).count())}},
                 .origin = options_.origin};
    for (const LossyRule& rule : options_.lossy) set.lossy.push_back(rule.text);
    FOREBAY_TRY(manifest_, make_manifest(set, reports_));
    return staged_->commit(manifest_);
  }

  Result<void> check_rules_used() const {
    for (size_t i = 0; i < lossy_.size(); ++i)
      if (lossy_[i].matches == 0)
        return fail(ErrorKind::not_found,
                    fmt::format("no variable of f4 or f8 numbers falls under '{}'", options_.lossy[i].text), {}, {},
                    "GLOB must match whole paths, as /Grid*/Temperature; the first rule that matches wins");
    return {};
  }

  PackReport make_report() const {
    PackReport report{.name = name_,
                      .step = manifest_.step,
                      .ranks = tree_.ranks,
                      .files = tree_.files.size(),
                      .containers = reports_.size(),
                      .raw_bytes = tree_.bytes,
                      .parent = parent_ ? parent_->manifest.name : "",
                      .parents = manifest_.parents,
                      .lossy = lossy_,
                      .remarks = remarks_,
                      .skipped = tree_.skipped,
                      .looks_older = looks_older_};
    uint64_t payload_bytes = 0;
    for (const auto& [number, group] : reports_) {
      report.variables += group.variables;
      report.frames += group.frames;
      report.stored_bytes += group.entry.bytes;
      report.cpu_seconds.add(group.cpu_seconds);
      payload_bytes += group.payload_bytes;
      report.remarks.insert(report.remarks.end(), group.remarks.begin(), group.remarks.end());
    }
    report.index_bytes = report.stored_bytes - payload_bytes;
    return report;
  }

  const PackOptions& options_;
  Team& team_;
  Resources resources_;
  const std::string name_;
  const Clock::time_point start_ = Clock::now();
  SourceTree tree_;
  uint64_t group_size_ = 0;  // ranks
  std::optional<store::Store> store_;
  std::unique_ptr<store::StagedSet> staged_;  // on the first process
  std::optional<Parent> parent_;
  SetBefore before_;  // whose chains and relations are remembered
  std::vector<LossyOutcome> lossy_;
  std::vector<std::string> remarks_;
  std::string looks_older_;
  GroupReports reports_;  // of the groups that this process has packed; on the first, of all in the end
  store::Manifest manifest_;
};

}  // namespace

Result<PackReport> pack(const PackOptions& options, Team& team) { return Packer(options, team).run(); }

}  // namespace forebay::engine
