#include "engine/restore/write_files.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "engine/pack/frame_facts.h"
#include "engine/pipeline.h"
#include "engine/restore/entries.h"
#include "engine/set/decoded_frames.h"
#include "engine/set/frame_io.h"

namespace forebay::engine {

bool Selection::is_empty() const { return std::ranges::find(wanted, true) == wanted.end(); }

Selection select(const OpenContainer& container, const std::function<bool(const FileRow&)>& is_wanted) {
  Selection selection{.container = &container, .wanted = {}, .frames = {}};
  for (const FileRow& file : container.catalogue().files) selection.wanted.push_back(is_wanted(file));
  const bool all = std::ranges::find(selection.wanted, false) == selection.wanted.end();
  for (uint32_t number = 0; number < container.plan->frames().size(); ++number) {
    const auto holds_wanted = [&](const merge::Slice& slice) { return selection.wanted[slice.stream.file]; };
    if (all || std::ranges::any_of(container.plan->slices(container.plan->frames()[number]), holds_wanted))
      selection.frames.push_back(number);
  }
  selection.frames = near_references(container, std::move(selection.frames));
  return selection;
}

namespace {

// The files that are being written, and their places in one container.
struct OpenFiles {
  const Selection* selection = nullptr;
  std::vector<std::unique_ptr<TargetFile>> targets;  // per file of the container: regular wanted ones

  const OpenContainer& container() const { return *selection->container; }
  const Catalogue& catalogue() const { return selection->container->catalogue(); }
};

struct WriteJob {
  StoredFrame stored;
  FrameFacts facts;
  uint64_t raw_bytes = 0;
};

class Deliverer {
 public:
  Deliverer(std::span<const Selection> selections, Target& target, const Resources& resources, std::stop_token stop)
      : selections_(selections), target_(target), resources_(resources), stop_(std::move(stop)) {}

  Result<WrittenFiles> run() {
    FOREBAY_CHECK(check_entries());
    FOREBAY_CHECK(make_files());
    for (const OpenFiles& files : files_) FOREBAY_CHECK(fill(files));
    FOREBAY_CHECK(check_stop());
    FOREBAY_CHECK(name_files());
    return written_;
  }

 private:
  Result<void> check_stop() const {
    if (!stop_.stop_requested()) return {};
    return fail(ErrorKind::cancelled, "delivering the files was cancelled");
  }

  // Before anything is written: two entries of one name, in different containers perhaps, would overwrite each other.
  Result<void> check_entries() const {
    std::vector<Entry> entries;
    for (size_t i = 0; i < selections_.size(); ++i) {
      const auto& files = selections_[i].container->catalogue().files;
      for (size_t f = 0; f < files.size(); ++f)
        if (selections_[i].wanted[f]) entries.push_back({files[f].name, files[f].link_target, files[f].kind, i});
    }
    const auto misfits = find_misfits(std::move(entries));
    if (misfits.empty()) return {};
    return fail(ErrorKind::corrupt, misfits[0].what, selections_[misfits[0].entry.container].container->path);
  }

  Result<void> make_files() {
    for (const Selection& selection : selections_) {
      OpenFiles& files = files_.emplace_back(&selection);
      const auto& rows = files.catalogue().files;
      files.targets.resize(rows.size());
      for (size_t i = 0; i < rows.size(); ++i) {
        if (!selection.wanted[i]) continue;
        total_bytes_ += rows[i].size;
        if (rows[i].kind != FileKind::regular) continue;
        FOREBAY_TRY(files.targets[i], target_.create_file(rows[i]));
      }
    }
    return {};
  }

  Result<void> fill(const OpenFiles& files) {
    const OpenContainer& container = files.container();
    const std::vector<uint32_t>& frames = files.selection->frames;
    RunningFacts facts(container.catalogue());
    const Pipeline<WriteJob>::Stages stages{
        .cost = [&](size_t i) { return frame_memory(container, frames[i]); },
        .fetch = [&](size_t i) -> Result<WriteJob> {
          FOREBAY_CHECK(check_stop());
          WriteJob job;
          FOREBAY_TRY(job.stored, fetch_frame(container, frames[i]));
          return job;
        },
        .work = [&](WriteJob& job) { return write_frame(files, job); },
        .put = [&](WriteJob& job) -> Result<void> {
          facts.add(job.facts);
          done_bytes_ += job.raw_bytes;
          if (resources_.progress) resources_.progress({std::min(done_bytes_, total_bytes_), total_bytes_});
          return {};
        }};
    const PipelineThreads threads{.fetch = std::max(1u, resources_.threads / 2), .work = resources_.threads};
    FOREBAY_CHECK(Pipeline<WriteJob>::run(frames.size(), resources_.memory_bytes, threads, stages));
    return check_files(files, facts);
  }

  static Result<void> write_frame(const OpenFiles& files, WriteJob& job) {
    const merge::Plan& plan = *files.container().plan;
    FOREBAY_TRY(const RawFrame frame, decode_frame(files.container(), job.stored));
    job.stored = {};
    job.facts = crc_facts(plan, frame);
    job.raw_bytes = frame.raw.size();
    return for_each_piece(plan, frame,
                          [&](uint32_t file, uint64_t offset, std::span<const std::byte> bytes) -> Result<void> {
                            if (!files.targets[file]) return {};
                            return files.targets[file]->write_at(offset, bytes);
                          });
  }

  // Frames were verified one by one; this verifies that their pieces went to the right places.
  static Result<void> check_files(const OpenFiles& files, const RunningFacts& facts) {
    const std::vector<uint64_t>& expected = files.container().index().file_crcs;
    const std::vector<uint64_t> actual = facts.file_crcs();
    for (uint32_t i = 0; i < actual.size(); ++i) {
      if (!files.targets[i] || (!expected.empty() && actual[i] == expected[i] && facts.is_whole(i))) continue;
      if (expected.empty() && facts.is_whole(i)) continue;  // lost in a repair; the frames' checksums have held
      return fail(ErrorKind::corrupt, "the file '" + files.catalogue().files[i].name + "' does not match its checksum",
                  files.container().path);
    }
    return {};
  }

  // Links come last: until all files are in place there is none that could lead a name astray.
  Result<void> name_files() {
    std::vector<TargetFile*> regular;
    std::vector<const FileRow*> links;
    for (const OpenFiles& files : files_) {
      for (size_t i = 0; i < files.catalogue().files.size(); ++i) {
        const FileRow& file = files.catalogue().files[i];
        if (!files.selection->wanted[i]) continue;
        if (file.kind == FileKind::directory) FOREBAY_CHECK(target_.make_directory(file));
        if (file.kind == FileKind::regular) regular.push_back(files.targets[i].get());
        if (file.kind == FileKind::symlink) links.push_back(&file);
        written_.files += 1;
        written_.bytes += file.size;
      }
    }
    FOREBAY_CHECK(commit_files(regular));
    for (const FileRow* link : links) FOREBAY_CHECK(target_.make_symlink(*link));
    return {};
  }

  // Each commit waits for the disk. Many at once share the waiting: file systems sync in batches.
  static Result<void> commit_files(std::span<TargetFile* const> files) {
    constexpr unsigned kSyncsParallelFor = 16;
    const Pipeline<size_t>::Stages stages{.cost = [](size_t) { return 1; },
                                          .fetch = [](size_t number) -> Result<size_t> { return number; },
                                          .work = [&](size_t& number) { return files[number]->commit(); },
                                          .put = [](size_t&) -> Result<void> { return {}; }};
    return Pipeline<size_t>::run(files.size(), 4 * kSyncsParallelFor, {.fetch = 1, .work = kSyncsParallelFor}, stages);
  }

  const std::span<const Selection> selections_;
  Target& target_;
  const Resources& resources_;
  const std::stop_token stop_;
  std::vector<OpenFiles> files_;  // one per selection
  uint64_t done_bytes_ = 0, total_bytes_ = 0;
  WrittenFiles written_;
};

}  // namespace

Result<WrittenFiles> write_files(std::span<const Selection> selections, Target& target, const Resources& resources,
                                 std::stop_token stop) {
  return Deliverer(selections, target, resources, std::move(stop)).run();
}

Result<WrittenFiles> write_container_files(const store::SetInfo& set, const store::ContainerEntry& entry,
                                           const std::set<uint32_t>& ranks, Target& target, const Resources& resources,
                                           std::stop_token stop) {
  FOREBAY_TRY(const OpenSet opened, open_containers(set, {&entry, 1}, resources.memory_bytes));
  const Selection selection =
      select(opened.containers.front(), [&](const FileRow& file) { return ranks.contains(file.rank); });
  if (selection.is_empty()) return WrittenFiles{};
  Resources for_frames = resources;
  for_frames.memory_bytes -= std::min(for_frames.memory_bytes, memory_of(opened));
  return write_files({&selection, 1}, target, for_frames, std::move(stop));
}

}  // namespace forebay::engine
