#include "engine/inspect/verify.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "engine/pack/frame_facts.h"
#include "engine/pipeline.h"
#include "engine/restore/entries.h"
#include "engine/set/decoded_frames.h"
#include "engine/set/frame_io.h"
#include "engine/set/parent_frames.h"
#include "engine/set/set.h"
#include "engine/set/set_files.h"

namespace forebay::engine {
namespace {

using Clock = std::chrono::steady_clock;

struct VerifyJob {
  uint32_t number = 0;
  Result<StoredFrame> stored;
  FrameFacts facts;
  bool was_fetched = false;
};

// Checks one open container, and appends what is wrong with it to `damages`.
class ContainerCheck {
 public:
  ContainerCheck(const OpenContainer& container, std::vector<Damage>& damages)
      : container_(container), index_(container.index()), facts_(container.catalogue()), damages_(damages) {}

  Result<void> run(const Resources& resources, const std::function<void(uint64_t)>& delivered) {
    FOREBAY_CHECK(check_frames(resources, delivered));
    report_frames();
    report_files();
    return check_structure();
  }

 private:
  Result<void> check_frames(const Resources& resources, const std::function<void(uint64_t)>& delivered) {
    const uint64_t standing = memory_of(container_) + (container_.decoded ? container_.decoded->memory_bytes() : 0);
    if (standing > resources.memory_bytes)
      return fail(ErrorKind::limit, "the index alone takes more than the memory budget", container_.path);
    std::vector<uint32_t> numbers(index_.frames.size());
    std::iota(numbers.begin(), numbers.end(), 0u);
    numbers = near_references(container_, std::move(numbers));
    const Pipeline<VerifyJob>::Stages stages{
        .cost = [&](size_t i) { return frame_memory(container_, numbers[i]); },
        .fetch = [&](size_t i) -> Result<VerifyJob> {
          return VerifyJob{.number = numbers[i], .stored = fetch_frame(container_, numbers[i]), .facts = {}};
        },
        .work = [&](VerifyJob& job) -> Result<void> {
          if (!job.stored) return {};
          const auto frame = decode_frame(container_, *job.stored);
          if (frame) {
            job.facts = crc_facts(*container_.plan, *frame);
            job.stored->stored = {};
          } else {
            job.was_fetched = true;
            job.stored = std::unexpected(frame.error());
          }
          return {};
        },
        .put = [&](VerifyJob& job) -> Result<void> {
          if (!job.stored && !is_damage(job.stored.error())) return std::unexpected(std::move(job.stored).error());
          if (!job.stored) lost_.emplace(job.number, std::move(job.stored).error());
          if (job.was_fetched) fetched_.insert(job.number);
          facts_.add(job.facts);
          delivered(index_.frames[job.number].raw_bytes);
          return {};
        }};
    const PipelineThreads threads{.fetch = std::max(1u, resources.threads / 2), .work = resources.threads};
    return Pipeline<VerifyJob>::run(numbers.size(), resources.memory_bytes - standing, threads, stages);
  }

  // The files that have bytes in a frame.
  std::vector<std::string> files_of(uint32_t number) const {
    std::set<uint32_t> files;
    for (const merge::Slice& slice : container_.plan->slices(container_.plan->frames()[number]))
      files.insert(slice.stream.file);
    std::vector<std::string> names;
    for (const uint32_t file : files) names.push_back(container_.catalogue().files[file].name);
    return names;
  }

  void report_frames() {
    for (const auto& [number, error] : lost_) {
      const auto& references = index_.frames[number].references;
      const auto cause = std::ranges::find_if(references, [&](uint32_t other) { return lost_.contains(other); });
      damages_.push_back(
          {.container = container_.path,
           .frame = number,
           .offset = cause == references.end() ? error.offset : index_.frames[number].record_offset,
           .what = cause == references.end()
                       ? error.what
                       : fmt::format("frame {}: it was predicted from frame {}, which is damaged", number, *cause),
           .files = files_of(number),
           .is_derived = fetched_.contains(number) && (cause != references.end() || needs_parent(container_, number))});
    }
  }

  // Frames that are whole one by one can still be put together wrongly, by a faulty program rather than a faulty disk.
  void report_files() {
    if (index_.file_crcs.empty()) return;
    const std::vector<uint64_t> actual = facts_.file_crcs();
    for (uint32_t file = 0; file < actual.size(); ++file) {
      if (!facts_.is_whole(file) || actual[file] == index_.file_crcs[file]) continue;
      const std::string& name = container_.catalogue().files[file].name;
      damages_.push_back({.container = container_.path,
                          .what = fmt::format("the file '{}' does not match its checksum, though its frames do", name),
                          .files = {name}});
    }
  }

  // The walk over the records stops at the first damage, which may be a frame's that is known already.
  Result<void> check_structure() {
    const auto checked = container_.reader->verify_structure();
    if (checked) return {};
    const Error& error = checked.error();
    if (!is_damage(error)) return std::unexpected(error);
    if (!error.offset || !is_in_lost_frame(*error.offset))
      damages_.push_back({.container = container_.path, .offset = error.offset, .what = error.what, .files = {}});
    return {};
  }

  bool is_in_lost_frame(uint64_t offset) const {
    uint64_t last = 0;  // the record offset of the last frame that starts at `offset` or before
    for (const container::FrameEntry& frame : index_.frames)
      if (frame.record_offset <= offset) last = std::max(last, frame.record_offset);
    return std::ranges::any_of(
        lost_, [&](const auto& frame) { return last != 0 && index_.frames[frame.first].record_offset == last; });
  }

  const OpenContainer& container_;
  const container::Index& index_;
  RunningFacts facts_;
  std::vector<Damage>& damages_;
  std::map<uint32_t, Error> lost_;
  std::set<uint32_t> fetched_;  // those of them that could be read, but not decoded
};

class Verifier {
 public:
  Verifier(const store::SetInfo& set, const Resources& resources) : set_(set), resources_(resources) {}

  Result<VerifyReport> run() {
    const auto start = Clock::now();
    FOREBAY_TRY(resources_.memory_bytes, buffer_bytes(resources_.memory_bytes));
    report_.name = set_.name;
    parents_ = make_parent_frames(set_, resources_.memory_bytes);
    if (set_.manifest) {
      progress_.total_bytes = set_.manifest->raw_bytes();
      for (const store::ContainerEntry& entry : set_.manifest->containers)
        FOREBAY_CHECK(
            take(set_.files.path_of(entry.name), open_listed(set_.files, entry, resources_.memory_bytes, parents_)));
      for (const std::string& name : set_.manifest->lost_containers)
        report_.damages.push_back({.container = set_.files.path_of(name),
                                   .what = "the container was lost before this set was repaired",
                                   .files = {},
                                   .all_files = true});
    } else {
      FOREBAY_CHECK(verify_without_manifest());
    }
    report_misfits();
    report_.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    return std::move(report_);
  }

 private:
  Result<void> verify_without_manifest() {
    const Error& error = set_.manifest.error();
    if (!is_damage(error)) return std::unexpected(error);
    report_.damages.push_back({.container = error.path.empty() ? set_.files.path_of("manifest") : error.path,
                               .offset = error.offset,
                               .what = error.what,
                               .files = {}});
    FOREBAY_TRY(const auto names, container_names(set_));
    for (const std::string& name : names) {
      const std::string path = set_.files.path_of(name);
      auto opened = open_container(set_.files, name, resources_.memory_bytes);
      if (opened) opened->parents = parents_;
      FOREBAY_CHECK(take(path, std::move(opened)));
    }
    for (const std::string& name : missing_containers(names))
      report_.damages.push_back({.container = set_.files.path_of(name),
                                 .what = "a container of the set is missing",
                                 .files = {},
                                 .all_files = true});
    return {};
  }

  // What find_misfits() needs of a container, which does not stay open.
  struct Seen {
    std::string path;
    std::vector<FileRow> files;  // with name, kind and target alone
  };

  Result<void> remember_entries(const OpenContainer& container) {
    Seen& seen = seen_.emplace_back(container.path);
    uint64_t bytes = 0;
    for (const FileRow& file : container.catalogue().files) {
      seen.files.push_back({.name = file.name, .kind = file.kind, .link_target = file.link_target, .format = {}});
      bytes += sizeof(FileRow) + sizeof(Entry) + file.name.size() + file.link_target.size();
    }
    if (bytes > resources_.memory_bytes)
      return fail(ErrorKind::limit, "the names of the set's files take more than the memory budget", container.path, {},
                  "raise --memory");
    resources_.memory_bytes -= bytes;
    return {};
  }

  void report_misfits() {
    std::vector<Entry> entries;
    for (size_t i = 0; i < seen_.size(); ++i)
      for (const FileRow& file : seen_[i].files) entries.push_back({file.name, file.link_target, file.kind, i});
    for (const Misfit& misfit : find_misfits(std::move(entries)))
      report_.damages.push_back({.container = seen_[misfit.entry.container].path,
                                 .what = misfit.what,
                                 .files = {std::string(misfit.entry.name)},
                                 .is_misfit = true});
  }

  Result<void> take(const std::string& path, Result<OpenContainer> container) {
    if (!container) {
      const Error& error = container.error();
      if (!is_damage(error)) return std::unexpected(error);
      report_.damages.push_back(
          {.container = path, .offset = error.offset, .what = error.what, .files = {}, .all_files = true});
      return {};
    }
    FOREBAY_CHECK(remember_entries(*container));
    share_decoded_frames({&*container, 1}, resources_.memory_bytes);
    report_.stored_bytes += container->reader->source().size();
    report_.frames += container->index().frames.size();
    report_.files += container->catalogue().files.size();
    for (const FileRow& file : container->catalogue().files) report_.raw_bytes += file.size;
    return ContainerCheck(*container, report_.damages).run(resources_, [&](uint64_t raw_bytes) {
      progress_.done_bytes += raw_bytes;
      progress_.total_bytes = std::max(progress_.total_bytes, progress_.done_bytes);
      if (resources_.progress) resources_.progress(progress_);
    });
  }

  const store::SetInfo& set_;
  Resources resources_;
  std::shared_ptr<ParentFrames> parents_;
  Progress progress_;
  std::vector<Seen> seen_;
  VerifyReport report_;
};

}  // namespace

Result<VerifyReport> verify(const store::SetInfo& set, const Resources& resources) {
  return Verifier(set, resources.resolved()).run();
}

}  // namespace forebay::engine
