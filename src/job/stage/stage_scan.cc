#include "job/stage/stage_scan.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <memory>
#include <utility>

#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/checksum.h"
#include "base/posix/ownership.h"
#include "job/client/stage_names.h"
#include "job/stage/levels.h"
#include "job/stage/stage_notes.h"
#include "store/files.h"
#include "store/names.h"

namespace forebay::job {
namespace {

bool has_vanished(int error) { return error == ENOENT || error == ENOTDIR; }

class Scanner {
 public:
  Scanner(std::string root, Listing& listing) : root_(std::move(root)), listing_(listing) {}

  // What is in root/name, and below; `name` is empty for the root.
  Result<void> add_children(const std::string& name) {
    const std::string path = name.empty() ? root_ : root_ + "/" + name;
    auto children = store::names_in(path);
    if (!children && children.error().kind == ErrorKind::not_found) return {};
    if (!children) return std::unexpected(std::move(children).error());
    for (const std::string& child : *children) FOREBAY_CHECK(add(name.empty() ? child : name + "/" + child));
    return {};
  }

 private:
  Result<void> add(const std::string& name) {
    const std::string path = root_ + "/" + name;
    struct stat info{};
    if (::lstat(path.c_str(), &info) != 0) {
      if (has_vanished(errno)) return {};
      return fail_errno(errno, "stat", path);
    }
    if (!is_safe_name(name)) return fail(ErrorKind::unsupported, "its name is too long", path);
    if (!is_trusted_owner(info.st_uid) && listing_.anothers.empty()) listing_.anothers = name;
    StagedFile file;
    file.row.name = name;
    file.row.mode = info.st_mode & 07777u;
    file.row.mtime_s = info.st_mtim.tv_sec;
    file.row.mtime_ns = static_cast<uint32_t>(info.st_mtim.tv_nsec);
    if (S_ISREG(info.st_mode)) {
      file.row.size = static_cast<uint64_t>(info.st_size);
      file.identity = FileSource::identity_of(info);
    } else if (S_ISDIR(info.st_mode)) {
      file.row.kind = FileKind::directory;
    } else if (S_ISLNK(info.st_mode)) {
      file.row.kind = FileKind::symlink;
      char target[PATH_MAX];
      const ssize_t size = ::readlink(path.c_str(), target, sizeof target);
      if (size < 0) return {};
      file.row.link_target.assign(target, static_cast<size_t>(size));
    } else {
      if (listing_.foreign.empty()) listing_.foreign = name;
      return {};
    }
    listing_.files.push_back(std::move(file));
    return S_ISDIR(info.st_mode) ? add_children(name) : Result<void>();
  }

  std::string root_;
  Listing& listing_;
};

Result<void> read_markers(const std::string& stage, const std::string& set, std::span<const uint32_t> ranks,
                          Listing& listing) {
  for (const uint32_t rank : ranks) {
    const std::string path = marker_path(stage, set, rank);
    const auto text = store::read_text(path, kMaxMarkerBytes);
    if (!text && text.error().kind == ErrorKind::not_found) continue;
    if (!text) return std::unexpected(text.error());
    FOREBAY_TRY(Marker marker, decode_marker(*text, path));
    if (marker.rank != rank) return fail(ErrorKind::corrupt, "is the marker of another rank", path);
    listing.markers.push_back(std::move(marker));
  }
  return {};
}

bool is_anothers_link(const std::string& stage, const std::string& set) {
  struct stat info{};
  return ::lstat((stage + "/" + set).c_str(), &info) == 0 && S_ISLNK(info.st_mode) && !place_of(stage, set);
}

// Whether there is need to look any further.
Result<bool> scan_notes(const std::string& stage, const std::string& set, const std::set<uint32_t>& wanted,
                        Listing& listing) {
  FOREBAY_TRY(const auto begun, read_begin(stage, set));
  listing.is_begun = begun.has_value();
  if (!begun) return true;
  listing.step = begun->step;
  listing.policy = begun->policy;
  FOREBAY_TRY(const auto ranks, marked_ranks(stage, set));
  if (ranks.empty() || !std::ranges::includes(ranks, wanted)) {
    for (const uint32_t rank : ranks)
      listing.markers.push_back({.rank = rank, .ranks = rank + 1, .step = {}, .files = {}});
    return false;
  }
  FOREBAY_CHECK(read_markers(stage, set, ranks, listing));
  return true;
}

// Each node of a job has the same marker, and the set one file of that name: the bytes tell that it is the same.
void hash_marker(const std::string& stage, const std::string& set, const Completion& completion, Listing& listing) {
  const std::string path = marker_of(set, completion);
  for (StagedFile& file : listing.files) {
    if (file.row.kind != FileKind::regular || path != set + "/" + file.row.name) continue;
    const auto text = store::read_text(stage + "/" + path, kMostMarkerBytes);
    if (text && text->size() == file.row.size) file.marker = std::max<uint64_t>(hash64(as_bytes(*text)), 1);
  }
}

}  // namespace

Result<std::vector<std::string>> sets_in(const std::string& stage) {
  FOREBAY_TRY(auto sets, store::names_in(stage));
  std::erase_if(sets, [&](const std::string& name) {
    struct stat info{};
    return !store::is_job_name(name) || ::lstat((stage + "/" + name).c_str(), &info) != 0 || !S_ISDIR(info.st_mode);
  });
  FOREBAY_TRY(auto noted, noted_sets(stage));
  std::ranges::move(noted, std::back_inserter(sets));
  std::ranges::sort(sets);
  const auto repeated = std::ranges::unique(sets);
  sets.erase(repeated.begin(), repeated.end());
  return sets;
}

Result<Listing> scan_set(const std::string& stage, const std::string& set, const std::set<uint32_t>& ranks,
                         const Completion& completion) {
  Listing listing;
  if (is_anothers(stage, set)) {
    listing.anothers = set;
    return listing;
  }
  FOREBAY_TRY(const bool further, scan_notes(stage, set, ranks, listing));
  if (!further || (!listing.is_begun && completion.kind == Completion::Kind::api)) return listing;
  if (completion.kind == Completion::Kind::marker && !listing.is_begun) {
    struct stat info{};
    // Before the files: what is written while they are listed is newer than it.
    if (::lstat((stage + "/" + marker_of(set, completion)).c_str(), &info) == 0 && S_ISREG(info.st_mode))
      listing.own_marker =
          WallTime(std::chrono::seconds(info.st_mtim.tv_sec) + std::chrono::nanoseconds(info.st_mtim.tv_nsec));
    if (!listing.own_marker) return listing;
  }
  if (is_anothers_link(stage, set)) return listing;
  FOREBAY_CHECK(Scanner(stage + "/" + set, listing).add_children(""));
  std::ranges::sort(listing.files, {}, [](const StagedFile& file) -> const std::string& { return file.row.name; });
  if (listing.own_marker) hash_marker(stage, set, completion, listing);
  return listing;
}

Result<bool> holds_files(const std::string& stage, const std::string& set) {
  Listing listing;
  if (is_anothers_link(stage, set)) return false;
  FOREBAY_CHECK(Scanner(stage + "/" + set, listing).add_children(""));
  const auto is_file = [](const StagedFile& file) { return file.row.kind != FileKind::directory; };
  return !listing.foreign.empty() || std::ranges::any_of(listing.files, is_file);
}

Result<int64_t> last_change_of(const std::string& stage, const std::string& name) {
  struct stat info{};
  const std::string path = stage + "/" + name;
  if (::lstat(path.c_str(), &info) != 0) return fail_errno(errno, "stat", path);
  if (!S_ISDIR(info.st_mode)) return FileSource::identity_of(info).ctime_ns;
  Listing listing;
  FOREBAY_CHECK(Scanner(path, listing).add_children(""));
  int64_t newest = 0;
  for (const StagedFile& file : listing.files) newest = std::max(newest, file.identity.ctime_ns);
  return newest;
}

bool is_anothers(const std::string& stage, const std::string& name) {
  struct stat info{};
  return ::lstat((stage + "/" + name).c_str(), &info) == 0 && !is_trusted_owner(info.st_uid);
}

std::optional<int64_t> newest_time(const std::string& stage, const std::string& set) {
  constexpr int64_t kSecond = 1'000'000'000, kMostSeconds = INT64_MAX / kSecond - 1;
  Listing listing;
  if (is_anothers_link(stage, set) || !Scanner(stage + "/" + set, listing).add_children("")) return std::nullopt;
  std::optional<int64_t> newest;
  for (const StagedFile& file : listing.files) {
    if (file.row.kind != FileKind::regular) continue;
    const int64_t time = std::clamp(file.row.mtime_s, -kMostSeconds, kMostSeconds) * kSecond + file.row.mtime_ns;
    newest = std::max(newest.value_or(time), time);
  }
  return newest;
}

Result<void> check_formats(const std::string& directory, const Listing& listing, const format::FormatOptions& options) {
  for (const StagedFile& file : listing.files) {
    if (file.row.kind != FileKind::regular) continue;
    FOREBAY_TRY(const auto source, FileSource::open(directory + "/" + file.row.name));
    if (source->identity() != file.identity) return fail(ErrorKind::changed, "it was written to", source->name());
    FOREBAY_TRY(const auto read, format::read_layout(*source, file.row.name, options));
    if (read.layout.format == "opaque" && !read.remark.empty())
      return fail(ErrorKind::corrupt, read.remark, source->name());
  }
  return {};
}

}  // namespace forebay::job
