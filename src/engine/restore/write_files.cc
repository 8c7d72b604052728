#include "engine/restore/write_files.h"

#include <algorithm>
#include <utility>

#include "base/parallel_for.h"
#include "engine/pack/frame_facts.h"
#include "engine/pipeline.h"
#include "engine/restore/entries.h"
#include "engine/set/decoded_frames.h"
#include "engine/set/frame_io.h"
#include "engine/set/parent_frames.h"

namespace forebay::engine {

bool Selection::is_empty() const { return std::ranges::find(wanted, true) == wanted.end(); }

Selection select(const OpenContainer& container, const std::function<bool(const FileRow&)>& is_wanted) {
  Selection selection{.container = &container, .wanted = {}, .frames = {}};
  for (const FileRow& file : container.catalogue().files) selection.wanted.push_back(is_wanted(file));
  if (selection.is_empty()) return selection;
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

struct WriteJob {
  StoredFrame stored;
  FrameFacts facts;
  uint64_t raw_bytes = 0;
};

// Two entries of one name would overwrite each other.
Result<void> check_fit(std::vector<Entry> entries, const std::function<std::string(const Entry&)>& container_of) {
  const auto misfits = find_misfits(std::move(entries));
  if (misfits.empty()) return {};
  return fail(ErrorKind::corrupt, misfits[0].what, container_of(misfits[0].entry));
}

Result<void> check_selected(const Selection& selection) {
  std::vector<Entry> entries;
  const auto& files = selection.container->catalogue().files;
  for (size_t i = 0; i < files.size(); ++i)
    if (selection.wanted[i]) entries.push_back({files[i].name, files[i].link_target, files[i].kind, 0});
  return check_fit(std::move(entries), [&](const Entry&) { return selection.container->path; });
}

using TargetFiles = std::span<const std::unique_ptr<TargetFile>>;

Result<void> write_frame(const OpenContainer& container, TargetFiles files, WriteJob& job) {
  const merge::Plan& plan = *container.plan;
  FOREBAY_TRY(const RawFrame frame, decode_frame(container, job.stored));
  job.stored = {};
  job.facts = crc_facts(plan, frame);
  job.raw_bytes = frame.raw.size();
  return for_each_piece(plan, frame,
                        [&](uint32_t file, uint64_t offset, std::span<const std::byte> bytes) -> Result<void> {
                          if (!files[file]) return {};
                          return files[file]->write_at(offset, bytes);
                        });
}

// Frames were verified one by one; this verifies that their pieces went to the right places. Links and directories,
// which have no bytes, have checksums as well: verify() looks at the same.
Result<void> check_files(const Selection& selection, const RunningFacts& facts) {
  const OpenContainer& container = *selection.container;
  const std::vector<uint64_t>& expected = container.index().file_crcs;
  const std::vector<uint64_t> actual = facts.file_crcs();
  for (uint32_t i = 0; i < actual.size(); ++i) {
    if (!selection.wanted[i]) continue;
    if (container.catalogue().files[i].kind != FileKind::regular && !facts.is_whole(i)) continue;
    if ((!expected.empty() && actual[i] == expected[i] && facts.is_whole(i))) continue;
    if (expected.empty() && facts.is_whole(i)) continue;  // lost in a repair; the frames' checksums have held
    return fail(ErrorKind::corrupt,
                "the file '" + container.catalogue().files[i].name + "' does not match its checksum", container.path);
  }
  return {};
}

}  // namespace

Result<void> Target::commit(std::span<TargetFile* const> files) {
  constexpr size_t kMost = 16;
  return parallel_for(files.size(), kMost, [&](size_t i) { return files[i]->commit(); });
}

FileWriter::FileWriter(Target& target, const Resources& resources, uint64_t total_bytes, std::stop_token stop)
    : target_(target), resources_(resources), stop_(std::move(stop)), total_bytes_(total_bytes) {}

Result<uint64_t> FileWriter::write(const Selection& selection, uint64_t memory_bytes) {
  FOREBAY_CHECK(check_selected(selection));
  FOREBAY_TRY(OpenFiles files, make_files(selection));
  FOREBAY_CHECK(fill(selection, files, memory_bytes));
  return keep(selection, std::move(files));
}

Result<void> FileWriter::check_stop() const {
  if (!stop_.stop_requested()) return {};
  return fail(ErrorKind::cancelled, "writing the files was cancelled");
}

Result<FileWriter::OpenFiles> FileWriter::make_files(const Selection& selection) {
  const auto& rows = selection.container->catalogue().files;
  OpenFiles files(rows.size());
  for (size_t i = 0; i < rows.size(); ++i)
    if (selection.wanted[i]) FOREBAY_CHECK(target_.check(rows[i]));
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!selection.wanted[i]) continue;
    wanted_bytes_ += rows[i].size;
    if (rows[i].kind != FileKind::regular) continue;
    FOREBAY_TRY(files[i], target_.create_file(rows[i]));
  }
  total_bytes_ = std::max(total_bytes_, wanted_bytes_);
  return files;
}

Result<void> FileWriter::fill(const Selection& selection, const OpenFiles& files, uint64_t memory_bytes) {
  const OpenContainer& container = *selection.container;
  const std::vector<uint32_t>& frames = selection.frames;
  RunningFacts facts(container.catalogue());
  const Pipeline<WriteJob>::Stages stages{.cost = [&](size_t i) { return frame_memory(container, frames[i]); },
                                          .fetch = [&](size_t i) -> Result<WriteJob> {
                                            FOREBAY_CHECK(check_stop());
                                            WriteJob job;
                                            FOREBAY_TRY(job.stored, fetch_frame(container, frames[i]));
                                            return job;
                                          },
                                          .work = [&](WriteJob& job) { return write_frame(container, files, job); },
                                          .put = [&](WriteJob& job) -> Result<void> {
                                            facts.add(job.facts);
                                            done_bytes_ += job.raw_bytes;
                                            if (resources_.progress)
                                              resources_.progress({std::min(done_bytes_, total_bytes_), total_bytes_});
                                            return {};
                                          }};
  const PipelineThreads threads{.fetch = std::max(1u, resources_.threads / 2), .work = resources_.threads};
  FOREBAY_CHECK(Pipeline<WriteJob>::run(frames.size(), memory_bytes, threads, stages));
  return check_files(selection, facts);
}

uint64_t FileWriter::keep(const Selection& selection, OpenFiles files) {
  constexpr uint64_t kTargetFile = 512;  // what a target has of a file, roughly, beside its name in two paths
  const auto& rows = selection.container->catalogue().files;
  uint64_t bytes = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!selection.wanted[i]) continue;
    FileRow row = rows[i];
    row.format.clear();
    bytes += sizeof(Written) + sizeof(Entry) + kTargetFile + 3 * row.name.size() + row.link_target.size();
    written_.push_back({std::move(row), std::move(files[i]), containers_.size()});
  }
  containers_.push_back(selection.container->path);
  return bytes;
}

// Each container's own entries were checked before they were written.
Result<void> FileWriter::check_entries() const {
  if (containers_.size() < 2) return {};
  std::vector<Entry> entries;
  for (const Written& one : written_)
    entries.push_back({one.row.name, one.row.link_target, one.row.kind, one.container});
  return check_fit(std::move(entries), [&](const Entry& entry) { return containers_[entry.container]; });
}

// Links come last: until all files are in place there is none that could lead a name astray.
Result<WrittenFiles> FileWriter::name_files() {
  FOREBAY_CHECK(check_entries());
  FOREBAY_CHECK(check_stop());
  WrittenFiles total;
  std::vector<TargetFile*> regular;
  for (const Written& one : written_) {
    if (one.row.kind == FileKind::directory) FOREBAY_CHECK(target_.make_directory(one.row));
    if (one.row.kind == FileKind::regular) regular.push_back(one.file.get());
    total.files += 1;
    total.bytes += one.row.size;
  }
  FOREBAY_CHECK(target_.commit(regular));
  for (const Written& one : written_)
    if (one.row.kind == FileKind::symlink) FOREBAY_CHECK(target_.make_symlink(one.row));
  return total;
}

Result<WrittenFiles> write_container_files(const store::SetInfo& set, const store::ContainerEntry& entry,
                                           const std::set<uint32_t>& ranks, Target& target, const Resources& resources,
                                           std::stop_token stop) {
  uint64_t memory_bytes = resources.memory_bytes;
  auto parents = make_parent_frames(set, memory_bytes);
  FOREBAY_TRY(OpenContainer opened, open_listed(set.files, entry, memory_bytes, std::move(parents)));
  memory_bytes -= std::min(memory_bytes, memory_of(opened));
  if (const auto decoded = share_decoded_frames({&opened, 1}, memory_bytes)) memory_bytes -= decoded->memory_bytes();
  const Selection selection = select(opened, [&](const FileRow& file) { return ranks.contains(file.rank); });
  if (selection.is_empty()) return WrittenFiles{};
  FileWriter writer(target, resources, 0, std::move(stop));
  FOREBAY_CHECK(writer.write(selection, memory_bytes));
  return writer.name_files();
}

}  // namespace forebay::engine
