// Restoring a set, as numbered steps:
//   1. open all containers; choose the files and the frames that hold their bytes
//   2. make the files, without names, and write each decoded frame's pieces into them
//   3. compare each file's CRC; then give all files their names, and directories and links their places
#include "engine/restore.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <unordered_set>

#include <fmt/format.h>

#include "engine/base_frames.h"
#include "engine/decoded_frames.h"
#include "engine/frame_facts.h"
#include "engine/frame_io.h"
#include "engine/pipeline.h"
#include "engine/set.h"
#include "engine/set_files.h"
#include "store/safe_tree.h"

namespace forebay::engine {
namespace {

using Clock = std::chrono::steady_clock;

store::Attributes attributes_of(const FileRow& file) { return {file.mode, file.mtime_s, file.mtime_ns}; }

// The part of one container that is restored.
struct Selection {
  const OpenContainer* container = nullptr;
  std::vector<bool> wanted;                                 // per file
  std::vector<uint32_t> frames;                             // that hold bytes of wanted files
  std::vector<std::unique_ptr<store::TargetFile>> targets;  // per file: regular wanted ones
};

Selection select(const OpenContainer& container, const std::vector<std::string>& only) {
  const Directory& directory = container.directory();
  Selection selection{.container = &container};
  for (const FileRow& file : directory.files) selection.wanted.push_back(matches_any(only, file.name));
  for (uint32_t number = 0; number < container.plan->frames().size(); ++number) {
    const auto is_wanted = [&](const merge::Slice& slice) { return selection.wanted[slice.stream.file]; };
    if (only.empty() || std::ranges::any_of(container.plan->slices(container.plan->frames()[number]), is_wanted))
      selection.frames.push_back(number);
  }
  selection.frames = near_references(container, std::move(selection.frames));
  return selection;
}

struct RestoreJob {
  StoredFrame stored;
  FrameFacts facts;
  uint64_t raw_bytes = 0;
};

class Restorer {
 public:
  Restorer(const RestoreOptions& options, const Resources& resources, RestoreReport& report)
      : options_(options), resources_(resources), report_(report) {}

  Result<void> run(const store::SetInfo& info) {
    FOREBAY_TRY(const OpenSet set, open(info));
    FOREBAY_CHECK(check_names(set));
    if (const auto& lost = set.manifest.lost_containers; !lost.empty() && options_.only.empty())
      return fail(ErrorKind::corrupt, "the container was lost before this set was repaired, and its files with it",
                  set.directory + "/" + lost.front(), {}, "--only restores files of the other containers");
    for (const std::string& lost : set.manifest.lost_containers)
      report_.unread.push_back(set.directory + "/" + lost + ": the container was lost before this set was repaired");
    frame_memory_bytes_ = resources_.memory_bytes;
    frame_memory_bytes_ -= std::min(frame_memory_bytes_, memory_of(set));
    for (const OpenContainer& container : set.containers) selections_.push_back(select(container, options_.only));
    if (!options_.only.empty() && std::ranges::none_of(selections_, [](const Selection& s) {
          return std::ranges::find(s.wanted, true) != s.wanted.end();
        }))
      return fail(ErrorKind::not_found, "no file of the set matches --only", info.name, {},
                  "`forebay ls STORE NAME` lists them");
    FOREBAY_TRY(auto target, store::TargetDir::open(options_.target));
    FOREBAY_CHECK(make_files(target));
    for (Selection& selection : selections_) FOREBAY_CHECK(fill_files(selection));
    FOREBAY_CHECK(name_files(target));
    return target.finish();
  }

 private:
  // All of the set or, for some files, what can be opened of it.
  Result<OpenSet> open(const store::SetInfo& info) {
    uint64_t memory_bytes = resources_.memory_bytes;
    if (options_.only.empty() || !info.manifest) return open_set(info, memory_bytes);
    OpenSet set{.manifest = *info.manifest, .directory = info.directory, .containers = {}, .bases = {}, .decoded = {}};
    set.bases = make_base_frames(info, memory_bytes);
    for (const store::ContainerEntry& entry : set.manifest.containers) {
      auto opened = open_listed(info.directory, entry, memory_bytes, set.bases);
      if (opened) {
        memory_bytes -= std::min(memory_bytes, memory_of(*opened));
        set.containers.push_back(*std::move(opened));
      } else if (is_damage(opened.error())) {
        report_.unread.push_back(opened.error().message());
      } else {
        return std::unexpected(std::move(opened).error());
      }
    }
    set.decoded = share_decoded_frames(set.containers, memory_bytes);
    return set;
  }

  // Two entries of one name, in different containers perhaps, would overwrite each other.
  static Result<void> check_names(const OpenSet& set) {
    std::unordered_set<std::string_view> names;
    for (const OpenContainer& container : set.containers)
      for (const FileRow& file : container.directory().files)
        if (!names.insert(file.name).second)
          return fail(ErrorKind::corrupt, "the set has two files of the name '" + file.name + "'", container.path);
    return {};
  }

  Result<void> make_files(store::TargetDir& target) {
    for (Selection& selection : selections_) {
      const Directory& directory = selection.container->directory();
      selection.targets.resize(directory.files.size());
      for (size_t i = 0; i < directory.files.size(); ++i) {
        const FileRow& file = directory.files[i];
        if (!selection.wanted[i]) continue;
        total_bytes_ += file.size;
        if (file.kind != FileKind::regular) continue;
        FOREBAY_TRY(selection.targets[i], target.create_file(file.name, file.size, options_.overwrite));
      }
    }
    return {};
  }

  Result<void> fill_files(Selection& selection) {
    const OpenContainer& container = *selection.container;
    RunningFacts facts(container.directory());
    const Pipeline<RestoreJob>::Stages stages{
        .cost = [&](size_t i) { return frame_memory(container, selection.frames[i]); },
        .fetch = [&](size_t i) -> Result<RestoreJob> {
          RestoreJob job;
          FOREBAY_TRY(job.stored, fetch_frame(container, selection.frames[i]));
          return job;
        },
        .work = [&](RestoreJob& job) { return deliver_frame(selection, job); },
        .deliver = [&](RestoreJob& job) -> Result<void> {
          facts.add(job.facts);
          done_bytes_ += job.raw_bytes;
          if (resources_.progress) resources_.progress({std::min(done_bytes_, total_bytes_), total_bytes_});
          return {};
        }};
    const PipelineThreads threads{.fetch = std::max(1u, resources_.threads / 2), .work = resources_.threads};
    FOREBAY_CHECK(Pipeline<RestoreJob>::run(selection.frames.size(), frame_memory_bytes_, threads, stages));
    return check_files(selection, facts);
  }

  static Result<void> deliver_frame(const Selection& selection, RestoreJob& job) {
    FOREBAY_TRY(const RawFrame frame, decode_frame(*selection.container, job.stored));
    job.stored = {};
    job.facts = crc_facts(*selection.container->plan, frame);
    job.raw_bytes = frame.raw.size();
    return for_each_piece(*selection.container->plan, frame,
                          [&](uint32_t file, uint64_t offset, std::span<const std::byte> bytes) -> Result<void> {
                            if (!selection.targets[file]) return {};
                            return selection.targets[file]->write_at(offset, bytes);
                          });
  }

  // Frames were verified one by one; this verifies that their pieces went to the right places.
  static Result<void> check_files(const Selection& selection, const RunningFacts& facts) {
    const std::vector<uint64_t>& expected = selection.container->index().file_crcs;
    const std::vector<uint64_t> actual = facts.file_crcs();
    for (uint32_t i = 0; i < actual.size(); ++i) {
      if (!selection.targets[i] || (!expected.empty() && actual[i] == expected[i] && facts.is_whole(i))) continue;
      if (expected.empty() && facts.is_whole(i)) continue;  // lost in a repair; the frames' checksums have held
      return fail(ErrorKind::corrupt,
                  "the file '" + selection.container->directory().files[i].name + "' does not match its checksum",
                  selection.container->path);
    }
    return {};
  }

  // Links come last: until all files are in place there is none that could lead a name astray.
  Result<void> name_files(store::TargetDir& target) {
    std::vector<std::pair<const FileRow*, store::TargetFile*>> regular;
    std::vector<const FileRow*> links;
    for (Selection& selection : selections_) {
      const Directory& directory = selection.container->directory();
      for (size_t i = 0; i < directory.files.size(); ++i) {
        const FileRow& file = directory.files[i];
        if (!selection.wanted[i]) continue;
        if (file.kind == FileKind::directory) FOREBAY_CHECK(target.make_directory(file.name, attributes_of(file)));
        if (file.kind == FileKind::regular) regular.emplace_back(&file, selection.targets[i].get());
        if (file.kind == FileKind::symlink) links.push_back(&file);
        report_.files += 1;
        report_.bytes += file.size;
      }
    }
    FOREBAY_CHECK(commit_files(regular));
    for (const FileRow* link : links)
      FOREBAY_CHECK(target.make_symlink(link->name, link->link_target, attributes_of(*link), options_.overwrite));
    return {};
  }

  // Each commit waits for the disk. Many at once share the waiting: file systems sync in batches.
  static Result<void> commit_files(const std::vector<std::pair<const FileRow*, store::TargetFile*>>& files) {
    constexpr unsigned kSyncsAtOnce = 16;
    const Pipeline<size_t>::Stages stages{
        .cost = [](size_t) { return 1; },
        .fetch = [](size_t number) -> Result<size_t> { return number; },
        .work = [&](size_t& number) { return files[number].second->commit(attributes_of(*files[number].first)); },
        .deliver = [](size_t&) -> Result<void> { return {}; }};
    return Pipeline<size_t>::run(files.size(), 4 * kSyncsAtOnce, {.fetch = 1, .work = kSyncsAtOnce}, stages);
  }

  const RestoreOptions& options_;
  const Resources& resources_;
  RestoreReport& report_;
  std::vector<Selection> selections_;
  uint64_t frame_memory_bytes_ = 0;  // what the open containers leave
  uint64_t done_bytes_ = 0, total_bytes_ = 0;
};

// Whether the set is why it could not be restored: its bytes are wrong, or cannot be read.
bool is_damaged(const store::SetInfo& info, const Error& error) {
  return error.kind == ErrorKind::corrupt || (error.kind == ErrorKind::io && error.path.starts_with(info.directory));
}

Result<RestoreReport> restore_newest(const store::Store& store, const RestoreOptions& options,
                                     const Resources& resources) {
  FOREBAY_TRY(auto sets, store.list());
  if (sets.empty()) return fail(ErrorKind::not_found, "the store has no sets", store.path());
  std::ranges::reverse(sets);
  std::vector<std::string> skipped;
  Error first_damage;
  for (auto info = sets.begin(); info != sets.end(); ++info) {
    RestoreReport report{.name = info->name};
    const Result<void> restored = Restorer(options, resources, report).run(*info);
    if (restored) {
      // A set without a readable manifest has no known age: it may be newer.
      for (++info; info != sets.end(); ++info)
        if (!info->manifest) skipped.push_back(info->name + ": " + info->manifest.error().message());
      report.skipped = std::move(skipped);
      return report;
    }
    if (!is_damaged(*info, restored.error())) return std::unexpected(restored.error());
    if (skipped.empty()) first_damage = restored.error();
    skipped.push_back(info->name + ": " + restored.error().message());
  }
  first_damage.hint =
      fmt::format("all {} sets of the store are damaged; `forebay repair` may save some files", sets.size());
  return std::unexpected(first_damage);
}

}  // namespace

Result<RestoreReport> restore(const RestoreOptions& options) {
  const auto start = Clock::now();
  Resources resources = options.resources.resolved();
  FOREBAY_TRY(resources.memory_bytes, buffer_bytes(resources.memory_bytes));
  FOREBAY_TRY(const auto store, store::Store::open(options.store));
  RestoreReport report;
  if (options.name == "latest") {
    FOREBAY_TRY(report, restore_newest(store, options, resources));
  } else {
    FOREBAY_TRY(const auto info, store.find(options.name));
    report.name = info.name;
    FOREBAY_CHECK(Restorer(options, resources, report).run(info));
  }
  report.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return report;
}

}  // namespace forebay::engine
