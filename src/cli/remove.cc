// forebay remove: single sets out of a store, and none that another one needs.
#include <algorithm>
#include <functional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/common.h"
#include "cli/json.h"
#include "cli/progress.h"
#include "cli/text.h"
#include "cli/units.h"
#include "cli/verb.h"
#include "engine/inspect/rebase.h"
#include "engine/inspect/referrers.h"

namespace forebay::cli {
namespace {

constexpr size_t kMostNames = size_t{1} << 20;

constexpr VerbText kRemoveText = {
    .name = "remove",
    .summary = "remove single sets",
    .usage = "STORE NAME... [--rebase] [--dry-run]",
    .description =
        "Removes the sets that are named, damaged ones as well. A set that holds frames of\n"
        "others stays, unless these are removed with it: they are named, and nothing is\n"
        "removed. With --rebase, what they have there is put into themselves first: each is\n"
        "stored once more, under its name and with its time, and takes its own place in one\n"
        "instant when all of it is durable. Only then the sets that were named go. To remove\n"
        "old sets by a rule, see 'forebay prune'.\n",
    .examples =
        "  forebay remove /scratch/store DD0008\n"
        "  forebay remove /scratch/store DD0007 DD0008 --dry-run\n"
        "  forebay remove /scratch/store DD0001 --rebase\n",
    .is_interruptible = true,
};

using Names = std::vector<std::string>;

class Remove final : public Verb {
 public:
  const VerbText& text() const override { return kRemoveText; }

  void declare(Syntax& syntax) override {
    syntax.operands(operands_);
    declare_store(syntax, store_);
    syntax.flag("--rebase", rebase_, "Store sets that have frames in the removed ones again, with these frames.");
    syntax.flag("-n,--dry-run", dry_run_, "Print what would be removed and stored again, and do nothing.");
    declare_memory(syntax, resources_);
  }

  Result<ExitCode> run(const Console& console) override {
    FOREBAY_TRY(Operands operands, split_operands(operands_, store_, {1, kMostNames, {"NAME"}}));
    FOREBAY_TRY(const auto store, store::Store::open(operands.store));
    FOREBAY_TRY(auto sets, store.list());
    FOREBAY_CHECK(take(store, sets, operands.own));
    FOREBAY_CHECK(check_hidden_referrers(store, sets));
    const Names referrers = referrers_among(sets);
    if (!referrers.empty() && !rebase_) return needed(store, referrers);
    if (!dry_run_) {
      FOREBAY_CHECK(rebase(store, referrers));
      if (!referrers.empty()) {
        FOREBAY_TRY(sets, store.list());
      }
      remove(store, std::move(sets));
    }
    print(console, dry_run_ ? ordered_ : removed_, referrers);
    if (!refused_.empty()) return exit_code_of(refused_.front().error.kind);
    return left_.empty() ? ExitCode::ok : exit_code_of(left_.front().error.kind);
  }

 private:
  // The sets that are meant, each before its parents.
  Result<void> take(const store::Store& store, const std::vector<store::SetInfo>& sets, const Names& names) {
    for (const std::string& name : names) {
      const auto known = std::ranges::find(sets, name, &store::SetInfo::name);
      if (known == sets.end()) {
        const auto found = store.find(name);
        return found ? fail(ErrorKind::changed, "the set has appeared only now", found->files.path(), {}, "try again")
                     : std::unexpected(found.error());
      }
      named_.insert(name);
    }
    std::set<std::string> placed;
    const std::function<void(const std::string&)> place = [&](const std::string& name) {
      if (!placed.insert(name).second) return;
      for (const store::SetInfo& set : sets)
        if (named_.contains(set.name) && refers(set, *std::ranges::find(sets, name, &store::SetInfo::name)))
          place(set.name);
      ordered_.push_back(name);
    };
    for (const std::string& name : named_) place(name);
    return {};
  }

  // Where the manifest of `to` cannot be read, the name alone must do.
  static bool refers(const store::SetInfo& set, const store::SetInfo& to) {
    return set.manifest && std::ranges::any_of(set.manifest->parents, [&](const store::ParentEntry& parent) {
             return parent.name == to.name && (!to.manifest || to.manifest->created_ns == parent.created_ns);
           });
  }

  Names referrers_among(const std::vector<store::SetInfo>& sets) const {
    Names names;
    for (const store::SetInfo& set : sets) {
      const auto is_needed = [&](const store::SetInfo& to) { return named_.contains(to.name) && refers(set, to); };
      if (!named_.contains(set.name) && std::ranges::any_of(sets, is_needed)) names.push_back(set.name);
    }
    return names;
  }

  // Sets that cannot be stored again: they are being written, or are damaged.
  Result<void> check_hidden_referrers(const store::Store& store, const std::vector<store::SetInfo>& sets) const {
    FOREBAY_TRY(const uint64_t memory, engine::buffer_bytes(resources_.resolved().memory_bytes));
    FOREBAY_TRY(const engine::OtherReferrers others, engine::other_referrers(store, sets, memory));
    for (const engine::SetProblem& problem : others.problems)
      if (!others.all_known && !named_.contains(problem.name) && !problem.error.hint.empty())
        return std::unexpected(problem.error);
    for (const store::Manifest& other : others.known) {
      if (named_.contains(other.name)) continue;
      for (const store::ParentEntry& parent : other.parents)
        if (named_.contains(parent.name))
          return fail(
              ErrorKind::invalid_argument,
              fmt::format("the set '{}', which is being written or is damaged, refers to frames of the set '{}'",
                          other.name, parent.name),
              store.path(), {}, "wait until it is written, or remove it as well");
    }
    return {};
  }

  std::unexpected<Error> needed(const store::Store& store, const Names& referrers) const {
    return fail(ErrorKind::invalid_argument,
                fmt::format("{} to frames of what is to be removed: {}",
                            referrers.size() == 1 ? "a set refers" : fmt::format("{} sets refer", referrers.size()),
                            fmt::join(referrers, ", ")),
                store.path(), {}, "remove them as well, or let --rebase store what they need in themselves");
  }

  Result<void> rebase(const store::Store& store, const Names& referrers) {
    if (referrers.empty()) return {};
    ProgressLine progress("storing again");
    for (const std::string& name : referrers) {
      FOREBAY_TRY(const engine::RebaseReport report, engine::rebase(store, name, named_, resources_));
      rebased_.push_back({name, report});
    }
    return {};
  }

  void remove(const store::Store& store, std::vector<store::SetInfo> sets) {
    const auto results = store.remove(ordered_, std::move(sets));
    for (size_t i = 0; i < results.size(); ++i) {
      if (results[i]) removed_.push_back(ordered_[i]);
      if (!results[i]) refused_.push_back({ordered_[i], results[i].error()});
      if (results[i] && results[i]->left) left_.push_back({ordered_[i], *results[i]->left});
    }
  }

  static Json json_problems(const std::vector<engine::SetProblem>& problems) {
    Json list = Json::array();
    for (const engine::SetProblem& problem : problems) {
      Json json = {{"set", json_text(problem.name)}};
      json.update(json_error(problem.error));
      list.push_back(std::move(json));
    }
    return list;
  }

  void print(const Console& console, const Names& removed, const Names& referrers) const {
    if (console.json) {
      Json rebased = Json::array();
      for (const auto& [name, report] : rebased_)
        rebased.push_back({{"set", json_text(name)},
                           {"frame_count", report.frames},
                           {"raw_bytes", report.raw_bytes},
                           {"stored_bytes", report.stored_bytes}});
      print_json({{"dry_run", dry_run_},
                  {"removed", json_texts(removed)},
                  {"referrers", json_texts(referrers)},
                  {"rebased", std::move(rebased)},
                  {"problems", json_problems(refused_)},
                  {"left", json_problems(left_)}});
      return;
    }
    for (const engine::SetProblem& one : refused_) warn(one.name + " stays: " + one.error.message());
    for (const engine::SetProblem& one : left_)
      warn(
          fmt::format("{} is removed, but some of its files could not be deleted; the next one that writes into the "
                      "store tries again: {}",
                      one.name, one.error.message()));
    if (dry_run_)
      for (const std::string& name : referrers) fmt::print("would store {} again\n", printable(name));
    for (const auto& [name, report] : rebased_)
      fmt::print("stored {} again: {} in {} are its own now, {} in all\n", printable(name),
                 format_bytes(report.raw_bytes), plural(report.frames, "frame"), format_bytes(report.stored_bytes));
    for (const std::string& name : removed)
      fmt::print("{} {}\n", dry_run_ ? "would remove" : "removed", printable(name));
  }

  std::vector<std::string> operands_;
  std::string store_;
  bool rebase_ = false, dry_run_ = false;
  engine::Resources resources_;

  std::set<std::string> named_;
  Names ordered_, removed_;
  std::vector<std::pair<std::string, engine::RebaseReport>> rebased_;
  std::vector<engine::SetProblem> refused_;  // that were to go, and have stayed
  std::vector<engine::SetProblem> left_;     // that are removed, with files that could not be deleted
};

}  // namespace

std::unique_ptr<Verb> make_remove() { return std::make_unique<Remove>(); }

}  // namespace forebay::cli
