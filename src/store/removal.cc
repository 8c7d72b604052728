// How sets are removed, so that no set is left without its parents:
//   1. look: read what the sets that are being written announce, and what has changed among the sets; refuse what one
//      of them refers to;
//   2. take a staging name;
//   3. rename sets/NAME to it: from here on the set is gone for readers, and its remains are a dead owner's if we die;
//   4. look again, and if somebody refers to the set now, rename it back and refuse. A writer announces and then looks;
//      a remover renames and then looks: one of them sees the other. A look reads what is announced before the sets
//      and after: a set that is committed or withdrawn meanwhile is seen as the one or the other;
//   5. fsync sets/; if that fails, rename all of them back;
//   6. delete the files and release the staging name.
// Many sets go through this together, some hundred at a time: steps 2 and 3 are done for each in the order that was
// asked for, those that refer to others first; what comes back in step 4 takes the sets that it refers to with it,
// these first. While a set is withdrawn its manifest lies where announced ones do, so that other removers leave its
// parents alone.
#include <algorithm>
#include <iterator>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>
#include <sys/resource.h>

#include "base/parallel_for.h"
#include "store/files.h"
#include "store/listing.h"
#include "store/may_replace.h"
#include "store/store.h"

namespace forebay::store {
namespace {

// Each set that is withdrawn holds a lock file open.
size_t batch_size() {
  constexpr rlim_t kMost = 256;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 64;
  return static_cast<size_t>(std::clamp<rlim_t>(limit.rlim_cur / 4, 1, kMost));
}

// Who refers to which set.
class Referrers {
 public:
  void add(const Manifest& manifest) {
    for (const ParentEntry& parent : manifest.parents)
      by_parent_[parent.name].push_back({manifest.name, parent.created_ns});
  }

  // The name of a set that refers to `set`, but for those in `without`; empty if there is none. Where the manifest of
  // `set` cannot be read, the name alone must do.
  std::string find(const SetInfo& set, const std::unordered_set<std::string_view>& without) const {
    const auto found = by_parent_.find(set.name);
    if (found == by_parent_.end()) return {};
    for (const auto& [name, created_ns] : found->second)
      if (!without.contains(name) && (!set.manifest || set.manifest->created_ns == created_ns)) return name;
    return {};
  }

 private:
  struct Referrer {
    std::string name;
    int64_t created_ns;
  };
  std::unordered_map<std::string, std::vector<Referrer>> by_parent_;
};

class Remover {
 public:
  Remover(const Store& store, std::vector<SetInfo> known) : store_(store), backend_(store.backend()) {
    for (SetInfo& set : known) {
      const std::string name = set.name;
      sets_.insert_or_assign(name, std::move(set));
    }
  }

  // The results are in the order of the names.
  void run(std::span<const std::string> names, std::vector<Result<Store::Removed>>& results) {
    results.assign(names.size(), Result<Store::Removed>());
    withdrawn_.clear();
    if (auto all = remove(names, results); !all)
      for (size_t i = 0; i < names.size(); ++i)
        if (results[i]) results[i] = std::unexpected(all.error());
  }

 private:
  struct Gone {
    size_t number = 0;  // of its name
    SetInfo set;
    std::unique_ptr<Withdrawn> withdrawn;
    std::string needed_by;  // if it must come back
  };

  Result<void> remove(std::span<const std::string> names, std::vector<Result<Store::Removed>>& results) {
    backend_->clean();  // what dead writers have announced needs nothing
    FOREBAY_TRY(Referrers referrers, look());
    withdraw(names, referrers, results);
    auto now = look();
    if (!now) {
      put_back(results, [](const Gone&) { return true; });
      (void)backend_->sync_sets();  // the first error is what counts
      return std::unexpected(now.error());
    }
    // In the order in which sets were withdrawn, each comes before its parents: so one pass finds all that come back.
    for (Gone& gone : withdrawn_) {
      gone.needed_by = now->find(gone.set, {});
      if (!gone.needed_by.empty() && gone.set.manifest) now->add(*gone.set.manifest);
    }
    put_back(results, [](const Gone& gone) { return !gone.needed_by.empty(); });
    if (auto synced = backend_->sync_sets(); !synced) {
      // A power cut could bring their names back, without their files.
      put_back(results, [](const Gone&) { return true; });
      return synced;
    }
    return parallel_for(withdrawn_.size(), kCallsAtOnce, [&](size_t i) -> Result<void> {
      // Readers see it no more: it is removed, whatever of its files is left.
      if (auto purged = withdrawn_[i].withdrawn->purge(); !purged)
        results[withdrawn_[i].number] = Store::Removed{std::move(purged).error()};
      withdrawn_[i].withdrawn.reset();
      return {};
    });
  }

  // What is announced is read before the sets, which may get it meanwhile, and after, for what others withdraw
  // meanwhile.
  Result<Referrers> look() {
    FOREBAY_TRY(auto announced, backend_->announced());
    FOREBAY_CHECK(refresh(backend_, sets_));
    FOREBAY_TRY(auto later, backend_->announced());
    std::ranges::move(later, std::back_inserter(announced));
    Referrers referrers;
    for (const auto& [id, text] : announced) {
      const bool is_own = std::ranges::any_of(withdrawn_, [&](const Gone& gone) { return gone.withdrawn->id() == id; });
      if (is_own) continue;
      if (const auto manifest = parse_manifest(text, id)) referrers.add(*manifest);
    }
    for (const auto& [name, set] : sets_)
      if (set.manifest) referrers.add(*set.manifest);
    return referrers;
  }

  Error needed(const std::string& by, const std::string& name) const {
    return {ErrorKind::invalid_argument,
            fmt::format("the set '{}' refers to frames of the set '{}'", by, name),
            store_.path(),
            {},
            "remove that one first, or see `forebay remove --rebase`"};
  }

  // That nothing is removed with the set, or in its place, which is not Forebay's.
  Result<void> check_own(const SetInfo& set) const {
    FOREBAY_TRY(const auto names, backend_->names_in(set.name));
    const auto is_own = [&](const std::string& name) { return is_name_of_set(name, set); };
    const auto foreign = std::ranges::find_if_not(names, is_own);
    if (!set.manifest && std::ranges::none_of(names, is_own))
      return fail(ErrorKind::exists, "this is no set, but something else in the place of one", set.files.path(), {},
                  "move it out of the store");
    return may_replace({.is = Thing::directory, .right = Right::own, .foreign = foreign == names.end() ? "" : *foreign},
                       set.files.path());
  }

  // Manifest and note are written under a hidden name first.
  static bool is_name_of_set(const std::string& name, const SetInfo& set) {
    if (name == "manifest" || name.starts_with(".manifest.") || name.starts_with(".set-aside") ||
        name.starts_with("..set-aside.") || name.ends_with(".fbc"))
      return true;
    if (!set.manifest) return false;
    const auto& containers = set.manifest->containers;
    return std::ranges::find(containers, name, &ContainerEntry::name) != containers.end();
  }

  void withdraw(std::span<const std::string> names, const Referrers& referrers,
                std::vector<Result<Store::Removed>>& results) {
    std::unordered_set<std::string_view> without;  // names that were withdrawn
    for (size_t i = 0; i < names.size(); ++i) {
      const auto known = sets_.find(names[i]);
      if (known == sets_.end()) {
        const auto found = store_.find(names[i]);
        results[i] = found ? fail(ErrorKind::changed, "the set has appeared only now", found->files.path())
                           : std::unexpected(found.error());
        continue;
      }
      if (const std::string by = referrers.find(known->second, without); !by.empty()) {
        results[i] = std::unexpected(needed(by, names[i]));
        continue;
      }
      if (auto own = check_own(known->second); !own) {
        results[i] = std::unexpected(own.error());
        continue;
      }
      auto withdrawn = backend_->withdraw(names[i]);
      if (!withdrawn) {
        results[i] = std::unexpected(withdrawn.error());
        continue;
      }
      withdrawn_.push_back({i, std::move(known->second), *std::move(withdrawn), {}});
      sets_.erase(known);
      without.insert(names[i]);
    }
  }

  // Parents first: no set is there without its own.
  void put_back(std::vector<Result<Store::Removed>>& results, bool (*must_come_back)(const Gone&)) {
    for (auto gone = withdrawn_.rbegin(); gone != withdrawn_.rend(); ++gone) {
      if (!must_come_back(*gone)) continue;
      if (auto back = gone->withdrawn->put_back(); !back) results[gone->number] = std::unexpected(back.error());
      if (results[gone->number] && !gone->needed_by.empty())
        results[gone->number] = std::unexpected(needed(gone->needed_by, gone->set.name));
    }
    std::erase_if(withdrawn_, must_come_back);
  }

  const Store& store_;
  const std::shared_ptr<const Backend> backend_;
  SetTable sets_;
  std::vector<Gone> withdrawn_;
};

}  // namespace

std::vector<Result<Store::Removed>> Store::remove(std::span<const std::string> names,
                                                  std::vector<SetInfo> known) const {
  Remover remover(*this, std::move(known));
  std::vector<Result<Store::Removed>> all, batch;
  for (const size_t size = batch_size(); !names.empty(); names = names.subspan(batch.size())) {
    remover.run(names.first(std::min(size, names.size())), batch);
    all.insert(all.end(), batch.begin(), batch.end());
  }
  return all;
}

Result<Store::Removed> Store::remove(const std::string& name) const { return remove({&name, 1}, {}).front(); }

}  // namespace forebay::store
