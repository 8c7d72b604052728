#include "job/cache/repair_task.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/catalogue.h"
#include "job/client/marker.h"
#include "job/client/stage_names.h"
#include "job/stage/stage_notes.h"
#include "store/files.h"
#include "store/safe_tree.h"

namespace forebay::job {
namespace {

using redundancy::Geometry;
using redundancy::MemberRecord;
using redundancy::Record;
using redundancy::RecordedFile;

store::Attributes attributes_of(const RecordedFile& file) {
  return {.mode = file.mode, .mtime_s = file.mtime_s, .mtime_ns = file.mtime_ns};
}

FileKind kind_of(const RecordedFile& file) { return static_cast<FileKind>(file.kind); }

Result<std::string> without_links(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> resolved(::realpath(path.c_str(), nullptr), std::free);
  if (!resolved) return fail_errno(errno, "realpath", path);
  return std::string(resolved.get());
}

// Writes again what was received aside, and gives the file its time back: it is the same file as before.
Result<void> set_time(int fd, const RecordedFile& file, const std::string& path) {
  const timespec times[2] = {{0, UTIME_OMIT}, {file.mtime_s, static_cast<long>(file.mtime_ns)}};
  return ::futimens(fd, times) == 0 ? Result<void>() : fail_errno(errno, "set the time of", path);
}

}  // namespace

struct PositionRepair::Impl {
  Impl(std::string its_stage, Record its_record, Geometry its_geometry)
      : stage(std::move(its_stage)),
        record(std::move(its_record)),
        key{record.id, record.group, record.position},
        encodings(stage),
        map(member().files),
        geometry(std::move(its_geometry)) {
    for (const RecordedFile& file : member().files)
      if (kind_of(file) == FileKind::regular) regular.push_back(&file);
  }
  const MemberRecord& member() const { return record.members[record.position]; }

  Result<void> make_files() {
    FOREBAY_CHECK(discard_lost(stage, record.set));
    FOREBAY_TRY(const auto begun, read_begin(stage, record.set));
    wire::SetPolicyT policy;
    policy.write = record.write;
    if (member().markers.empty())
      FOREBAY_CHECK(store::make_directory(stage + "/" + record.set));
    else if (!begun)
      FOREBAY_CHECK(note_begin(stage, record.set, record.step, &policy));
    FOREBAY_TRY(const std::string directory, without_links(stage + "/" + record.set));
    FOREBAY_TRY(target, store::TargetDir::open(directory, true));
    for (const RecordedFile* file : regular) {
      FOREBAY_TRY(auto made, target->create_file(file->name, file->size, true));
      files.push_back(std::move(made));
    }
    return {};
  }

  Result<void> write_file(const Geometry::Range& range, std::span<const std::byte> bytes) {
    if (range.is_parity) return store::write_all(parity.get(), range.offset, bytes, encodings.parity_path(key));
    std::vector<fabric::Piece> pieces;
    map.append(range.offset, range.length, pieces);
    for (const fabric::Piece& piece : pieces) {
      FOREBAY_CHECK(files[piece.file]->write_at(piece.offset, bytes.first(piece.length)));
      bytes = bytes.subspan(piece.length);
    }
    return {};
  }

  Result<void> put_aside(const Geometry::Range& range, std::span<const std::byte> bytes) {
    const std::lock_guard lock(mutex);
    FOREBAY_CHECK(store::write_all(patch.get(), patch_end, bytes, patch_path()));
    patches.emplace_back(range, patch_end);
    patch_end += bytes.size();
    return {};
  }
  std::string patch_path() const { return encodings.directory(key) + "/patch.tmp"; }

  Result<void> finish_whole(bool sync) {
    std::vector<store::TargetDir::Finished> finished;
    for (size_t i = 0; i < files.size(); ++i) finished.push_back({files[i].get(), attributes_of(*regular[i])});
    FOREBAY_CHECK(target->commit(finished));
    for (const RecordedFile& file : member().files) {
      if (kind_of(file) == FileKind::directory) FOREBAY_CHECK(target->make_directory(file.name, attributes_of(file)));
      if (kind_of(file) == FileKind::symlink)
        FOREBAY_CHECK(target->make_symlink(file.name, file.link_target, attributes_of(file), true));
    }
    FOREBAY_CHECK(target->finish());
    FOREBAY_CHECK(encodings.put_record(key, record, sync));
    const std::string notes = notes_path(stage, record.set);
    for (const auto& [rank, text] : member().markers) {
      const std::string path = marker_path(stage, record.set, rank);
      FOREBAY_CHECK(store::write_text(notes, path.substr(notes.size() + 1), text));
    }
    FOREBAY_CHECK(drop_void_markers());
    return sync ? store::sync_directory(notes) : Result<void>();
  }

  // Of ranks whose files somebody has removed here, which is how this node's own part was lost: they would keep the
  // part that takes its place from being complete.
  Result<void> drop_void_markers() const {
    FOREBAY_TRY(const auto ranks, marked_ranks(stage, record.set));
    for (const uint32_t rank : ranks) {
      const std::string path = marker_path(stage, record.set, rank);
      const auto text = store::read_text(path, kMaxMarkerBytes);
      if (!text && text.error().kind == ErrorKind::not_found) continue;
      const bool is_no_marker =
          !text && (text.error().kind == ErrorKind::corrupt || text.error().kind == ErrorKind::limit);
      if (!text && !is_no_marker) return std::unexpected(text.error());
      const auto marker = text ? decode_marker(*text, path) : std::unexpected(text.error());
      const auto is_there = [&](const MarkedFile& file) {
        return ::access(fmt::format("{}/{}/{}", stage, record.set, file.name).c_str(), F_OK) == 0;
      };
      // What cannot be read says of no files that they are complete.
      if (!marker || !std::ranges::all_of(marker->files, is_there)) remove_marker(stage, record.set, rank);
    }
    return {};
  }

  Result<void> apply(const Geometry::Range& range, std::span<const std::byte> bytes, bool sync) {
    if (range.is_parity) {
      const std::string path = encodings.parity_path(key);
      FOREBAY_TRY(const Fd file, store::open_at(AT_FDCWD, path, O_RDWR, path));
      FOREBAY_CHECK(store::write_all(file.get(), range.offset, bytes, path));
      return sync ? store::sync_file(file.get(), path) : Result<void>();
    }
    std::vector<fabric::Piece> pieces;
    map.append(range.offset, range.length, pieces);
    for (const fabric::Piece& piece : pieces) {
      const std::string path = fmt::format("{}/{}/{}", stage, record.set, regular[piece.file]->name);
      FOREBAY_TRY(const Fd file, store::open_at(AT_FDCWD, path, O_RDWR | O_NOFOLLOW, path));
      FOREBAY_CHECK(store::write_all(file.get(), piece.offset, bytes.first(piece.length), path));
      FOREBAY_CHECK(set_time(file.get(), *regular[piece.file], path));
      if (sync) FOREBAY_CHECK(store::sync_file(file.get(), path));
      bytes = bytes.subspan(piece.length);
    }
    return {};
  }

  Result<void> finish_pieces(bool sync) {
    FOREBAY_TRY(const auto source, FileSource::open(patch_path()));
    Buffer buffer(redundancy::kPieceBytes);
    for (const auto& [range, at] : patches) {
      FOREBAY_CHECK(source->read_at(at, buffer.span().first(range.length)));
      FOREBAY_CHECK(apply(range, buffer.span().first(range.length), sync));
    }
    ::unlink(patch_path().c_str());
    return {};
  }

  const std::string stage;
  const Record record;
  const EncodingKey key;
  const StoredEncodings encodings;
  const PartMap map;
  const Geometry geometry;
  std::vector<const RecordedFile*> regular;
  std::optional<store::TargetDir> target;  // all of it
  std::vector<std::unique_ptr<store::TargetFile>> files;
  Fd parity, patch;
  std::mutex mutex;  // of the next two
  std::vector<std::pair<Geometry::Range, uint64_t>> patches;
  uint64_t patch_end = 0;
};

PositionRepair::PositionRepair(std::shared_ptr<Impl> impl, std::shared_ptr<PieceSink> sink)
    : impl_(std::move(impl)), sink_(std::move(sink)) {}
PositionRepair::~PositionRepair() = default;
const EncodingKey& PositionRepair::key() const { return impl_->key; }
const Record& PositionRepair::record() const { return impl_->record; }

Result<std::unique_ptr<PositionRepair>> PositionRepair::whole(const std::string& stage, Record record) {
  FOREBAY_TRY(Geometry geometry, geometry_of(record));
  auto impl = std::make_shared<Impl>(stage, std::move(record), std::move(geometry));
  FOREBAY_TRY(impl->parity, impl->encodings.create(impl->key, impl->geometry.parity_bytes(), {}));
  FOREBAY_CHECK(impl->make_files());
  auto sink = std::make_shared<PieceSink>(impl->geometry, impl->key.position,
                                          [impl](const Geometry::Range& range, std::span<const std::byte> bytes) {
                                            return impl->write_file(range, bytes);
                                          });
  sink->want_all(impl->member());
  return std::unique_ptr<PositionRepair>(new PositionRepair(std::move(impl), std::move(sink)));
}

Result<std::unique_ptr<PositionRepair>> PositionRepair::pieces(const std::string& stage, Record record,
                                                               const std::vector<redundancy::Bad>& bad) {
  FOREBAY_TRY(Geometry geometry, geometry_of(record));
  auto impl = std::make_shared<Impl>(stage, std::move(record), std::move(geometry));
  FOREBAY_TRY(impl->patch,
              store::open_at(AT_FDCWD, impl->patch_path(), O_RDWR | O_CREAT | O_TRUNC, impl->patch_path(), 0600));
  auto sink = std::make_shared<PieceSink>(
      impl->geometry, impl->key.position,
      [impl](const Geometry::Range& range, std::span<const std::byte> bytes) { return impl->put_aside(range, bytes); });
  for (const redundancy::Bad& pieces : bad) {
    if (pieces.member != impl->key.position) continue;
    const uint64_t last =
        std::min(pieces.first + std::min(pieces.count, impl->geometry.pieces()), impl->geometry.pieces());
    for (uint64_t piece = pieces.first; piece < last; ++piece) {
      const auto index = redundancy::sum_index(impl->geometry, pieces.row, pieces.member, piece);
      if (!index) continue;
      const bool parity = impl->geometry.range(pieces.row, pieces.member, piece).is_parity;
      const MemberRecord& member = impl->member();
      sink->want(pieces.row, piece, (parity ? member.parity_sums : member.data_sums)[*index]);
    }
  }
  return std::unique_ptr<PositionRepair>(new PositionRepair(std::move(impl), std::move(sink)));
}

Result<void> PositionRepair::finish(bool sync) {
  FOREBAY_CHECK(sink_->check_complete());
  return impl_->target ? impl_->finish_whole(sync) : impl_->finish_pieces(sync);
}

GroupResult<uint64_t> lead_repair(const RepairLead& lead, const std::stop_token& stop) {
  const auto fault = [](Error error, std::optional<unsigned> position = {}) {
    return std::unexpected(GroupFault{std::move(error), position});
  };
  const auto geometry = geometry_of(lead.record);
  if (!geometry) return fault(geometry.error());
  const auto steps = redundancy::RepairSteps::make(*geometry, lead.bad, lead.leaders);
  if (!steps) return fault(steps.error());
  const auto seen = [&](unsigned member, unsigned row, uint64_t piece, uint64_t sum) -> Result<void> {
    const auto index = redundancy::sum_index(*geometry, row, member, piece);
    const MemberRecord& recorded = lead.record.members[member];
    const bool parity = geometry->place(row, member).is_parity;
    if (!index || (parity ? recorded.parity_sums : recorded.data_sums)[*index] == sum) return {};
    return fail(ErrorKind::corrupt, fmt::format("piece {} of row {} is not as it was recorded", piece, row));
  };
  const unsigned leader = lead.key.position;
  GroupIo io(lead.key, lead.members, lead.access, seen, stop);
  auto done = run_steps(steps->count(leader), [&](uint64_t i) { return steps->at(leader, i); }, io, stop);
  if (done) done = io.end(lead.receivers);
  if (!done) return fault(done.error(), io.fault());
  return io.moved_bytes();
}

}  // namespace forebay::job
