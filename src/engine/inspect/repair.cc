// Repairing a set, as numbered steps:
//   1. stage the new set; verify the old one, all of it
//   2. per container: link an undamaged one into the new set; of a damaged one, write what its records still hold
//   3. write a manifest for what there is now, and commit
#include "engine/inspect/repair.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>

#include <fcntl.h>
#include <fmt/format.h>

#include "codec/lossy/lossy.h"
#include "engine/inspect/verify.h"
#include "engine/set/frame_io.h"
#include "engine/set/parent_frames.h"
#include "engine/set/planned_sizes.h"
#include "engine/set/set.h"
#include "engine/set/set_files.h"
#include "store/files.h"

namespace forebay::engine {
namespace {

class Repairer {
 public:
  Repairer(const store::SetInfo& set, std::string new_name, const Resources& resources)
      : set_(set), new_name_(std::move(new_name)), resources_(resources) {}

  Result<RepairReport> run(const store::Store& store) {
    FOREBAY_TRY(buffer_bytes_, buffer_bytes(resources_.memory_bytes));
    parent_frames_ = make_parent_frames(set_, buffer_bytes_);
    FOREBAY_TRY(const auto staged, store.stage(new_name_));
    FOREBAY_TRY(const VerifyReport verified, verify(set_, resources_));
    for (const Damage& damage : verified.damages) {
      if (!damage.is_misfit) damages_[damage.container].push_back(&damage);
      if (damage.is_misfit) report_.lost_files.push_back(fmt::format("{}: {}", damage.files.front(), damage.what));
    }
    FOREBAY_TRY(const auto names, container_names(set_));
    for (const std::string& name : names) FOREBAY_CHECK(take(name, staged->containers()));
    if (!set_.manifest)
      for (const std::string& name : missing_containers(names)) lose(name, "it is missing");
    if (names.empty() || kept_.empty())
      return fail(ErrorKind::corrupt, "no container of the set can be read", set_.files.path());
    if (set_.manifest && kept_.size() == names.size() && report_.containers_rewritten == 0) return std::move(report_);
    const store::Manifest manifest = new_manifest(store);
    // The parents that are gone already are none to wait for; the references to them stay, for they may come back.
    std::vector<store::ParentEntry> present;
    for (const store::ParentEntry& parent : manifest.parents)
      if (const auto there = store.find(parent.name);
          there && there->manifest && there->manifest->created_ns == parent.created_ns)
        present.push_back(parent);
    FOREBAY_CHECK(staged->announce(present));
    // What is saved has the place of what it was saved from, as far as that is known.
    FOREBAY_CHECK(staged->commit(manifest, set_.manifest ? store::Place::as_said : store::Place::next));
    report_.name = new_name_;
    return std::move(report_);
  }

 private:
  // What is known of a container of the new set.
  struct Kept {
    store::ContainerEntry entry;
    uint64_t ranks = 0;      // in it
    uint64_t ranks_end = 0;  // the highest rank, plus one
  };

  Result<void> take(const std::string& name, store::StagedContainers& staged) {
    const auto known = damages_.find(set_.files.path_of(name));
    const bool is_kept = known == damages_.end() || is_past_repair(name, known->second);
    if (is_kept) {
      FOREBAY_CHECK(staged.copy_from(set_.name, name));
    } else {
      FOREBAY_TRY(const bool written, rewrite(name, staged));
      if (!written) return {};
    }
    FOREBAY_TRY(auto made, staged.open(name));
    FOREBAY_TRY(OpenContainer opened, open_container(std::move(made), buffer_bytes_));
    opened.parents = parent_frames_;
    FOREBAY_CHECK(list_files(name, opened));
    add_parents_of(opened, parents_);
    return keep(name, opened);
  }

  // Whether nothing here can be made better: what is damaged was lost in an earlier repair, or is only referred to.
  bool is_past_repair(const std::string& name, const std::vector<const Damage*>& damages) const {
    const auto opened = open_container(set_.files, name, buffer_bytes_);
    return opened && std::ranges::all_of(damages, [&](const Damage* damage) {
             return damage->frame && (damage->is_derived || opened->index().frames[*damage->frame].is_lost());
           });
  }

  // False, with a remark, if nothing of the container can be saved.
  Result<bool> rewrite(const std::string& name, store::StagedContainers& staged) {
    const auto give_up = [&](const Error& error) -> Result<bool> {
      if (!is_damage(error)) return std::unexpected(error);
      lose(name, error.what);
      return false;
    };
    if (const Error* foreign = is_another_one(name)) return give_up(*foreign);
    const auto source = set_.files.open(name);
    if (!source) return give_up(source.error());
    const auto recovered =
        container::recover(**source, {buffer_bytes_ / 2, planned_sizes((*source)->size()), codec::lossy_note});
    if (!recovered) return give_up(recovered.error());
    FOREBAY_TRY(auto sink, staged.create(name));
    FOREBAY_CHECK(container::rewrite(**source, *recovered, std::move(sink)));
    ++report_.containers_rewritten;
    for (const std::string& remark : recovered->remarks) report_.remarks.push_back(name + ": " + remark);
    return true;
  }

  void lose(const std::string& name, const std::string& why) {
    report_.remarks.push_back(fmt::format("{} is lost{}: {}", name, count_of_files(name), why));
    lost_.push_back(name);
    report_.containers_lost += 1;
  }

  std::string count_of_files(const std::string& name) const {
    const store::ContainerEntry* entry = entry_of(name);
    return entry ? fmt::format(" with its {} files", entry->files) : "";
  }

  const store::ContainerEntry* entry_of(const std::string& name) const {
    if (!set_.manifest) return nullptr;
    return &*std::ranges::find(set_.manifest->containers, name, &store::ContainerEntry::name);
  }

  // The error if a container is whole, but not the one that the manifest lists: its files belong to another set.
  const Error* is_another_one(const std::string& name) {
    const store::ContainerEntry* entry = entry_of(name);
    if (!entry || !open_container(set_.files, name, buffer_bytes_)) return nullptr;
    const auto listed = open_listed(set_.files, *entry, buffer_bytes_);
    if (listed) return nullptr;
    foreign_ = listed.error();
    return &foreign_;
  }

  // The frames that may be unreadable though they are not lost, and what is wrong with them as far as that is known.
  std::map<uint32_t, std::string> doubtful_frames(const std::string& name, const OpenContainer& opened) {
    const auto& entries = opened.index().frames;
    std::map<uint32_t, std::string> frames;
    bool is_unknown = false;  // what is wrong with single frames
    for (const Damage* damage : damages_[set_.files.path_of(name)]) {
      if (damage->frame) frames.emplace(*damage->frame, damage->what);
      is_unknown = is_unknown || damage->all_files;
    }
    if (is_unknown)
      for (uint32_t number = 0; number < entries.size(); ++number)
        if (needs_parent(opened, number)) frames.emplace(number, "");
    std::erase_if(frames,
                  [&](const auto& frame) { return frame.first >= entries.size() || entries[frame.first].is_lost(); });
    return frames;
  }

  Result<void> list_files(const std::string& name, const OpenContainer& opened) {
    const auto& files = opened.catalogue().files;
    std::vector<std::string> why(files.size());  // per file: what it lacks first, or empty
    const auto lack = [&](uint32_t number, const std::string& what) {
      for (const merge::Slice& slice : opened.plan->slices(opened.plan->frames()[number]))
        if (std::string& first = why[slice.stream.file]; first.empty()) first = what;
    };
    for (uint32_t number = 0; number < opened.index().frames.size(); ++number) {
      if (!opened.index().frames[number].is_lost()) continue;
      ++report_.frames_lost;
      lack(number, fmt::format("frame {} of {} is lost", number, name));
    }
    for (const auto& [number, what] : doubtful_frames(name, opened)) {
      const auto frame = read_frame(opened, number);
      if (!frame && !is_damage(frame.error())) return std::unexpected(frame.error());
      if (!frame) lack(number, what.empty() ? frame.error().what : what);
    }
    for (size_t i = 0; i < files.size(); ++i) {
      if (!why[i].empty()) {
        report_.lost_files.push_back(fmt::format("{}: {}", files[i].name, why[i]));
      } else {
        report_.whole_files.push_back(files[i].name);
      }
    }
    return {};
  }

  Result<void> keep(const std::string& name, const OpenContainer& opened) {
    Kept kept{
        .entry = {.name = name, .bytes = opened.reader->source().size(), .files = opened.catalogue().files.size()}};
    FOREBAY_TRY(kept.entry.tail_hash, store::tail_hash(opened.reader->source()));
    uint64_t lowest = UINT64_MAX;
    for (const FileRow& file : opened.catalogue().files) {
      kept.entry.raw_bytes += file.size;
      kept.ranks_end = std::max<uint64_t>(kept.ranks_end, uint64_t{file.rank} + 1);
      lowest = std::min<uint64_t>(lowest, file.rank);
    }
    kept.ranks = kept.ranks_end > lowest ? kept.ranks_end - lowest : 0;
    kept_.push_back(std::move(kept));
    return {};
  }

  // Tells the parents that are in use by when they were made, as far as anybody knows.
  void identify_parents(const store::Store& store) {
    for (store::ParentEntry& parent : parents_) {
      const auto now = store.find(parent.name);
      if (now && now->manifest) parent.created_ns = now->manifest->created_ns;
      if (!set_.manifest) continue;
      const auto& listed = set_.manifest->parents;
      const auto known = std::ranges::find(listed, parent.name, &store::ParentEntry::name);
      if (known != listed.end()) parent.created_ns = known->created_ns;
    }
  }

  store::Manifest new_manifest(const store::Store& store) {
    store::Manifest manifest;
    if (set_.manifest) {
      manifest = *set_.manifest;
    } else {
      report_.remarks.push_back(
          "the manifest was rebuilt from the containers: the step is unknown, and so is which sets are newer; it "
          "counts "
          "as the newest");
      manifest.created_ns =
          std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
              .count();
      manifest.software = manifest.profile = manifest.scheme = "unknown";
      for (const Kept& kept : kept_) {
        manifest.ranks = std::max(manifest.ranks, kept.ranks_end);
        manifest.group_size = std::max(manifest.group_size, kept.ranks);
      }
    }
    manifest.name = new_name_;
    manifest.repaired_from = set_.name;
    manifest.damaged_files = report_.lost_files.size();
    identify_parents(store);
    manifest.parents = parents_;
    manifest.since_full = parents_.empty() ? 0 : std::max<uint64_t>(manifest.since_full, 1);
    manifest.containers.clear();
    for (const Kept& kept : kept_) manifest.containers.push_back(kept.entry);
    manifest.lost_containers.insert(manifest.lost_containers.end(), lost_.begin(), lost_.end());
    return manifest;
  }

  const store::SetInfo& set_;
  const std::string new_name_;
  const Resources& resources_;
  uint64_t buffer_bytes_ = 0;
  std::shared_ptr<ParentFrames> parent_frames_;
  std::map<std::string, std::vector<const Damage*>> damages_;  // by path of the container
  std::vector<Kept> kept_;
  std::vector<std::string> lost_;  // containers of which nothing is left
  std::vector<store::ParentEntry> parents_;
  Error foreign_;
  RepairReport report_;
};

}  // namespace

Result<RepairReport> repair(const store::Store& store, const std::string& name, const std::string& new_name,
                            const Resources& resources) {
  FOREBAY_TRY(const store::SetInfo set, store.find(name));
  const Resources resolved = resources.resolved();
  return Repairer(set, new_name, resolved).run(store);
}

}  // namespace forebay::engine
