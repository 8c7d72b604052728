#include "io/file/growing_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/byte_source.h"
#include "base/checksum.h"
#include "container/format.h"
#include "io/file/salvage.h"
#include "io/file/tail.h"
#include "store/files.h"

namespace forebay::io {
namespace {

// A list that takes in earlier ones is not made larger than this, so that the memory for an append stays bounded.
constexpr uint64_t kMostMergedBytes = 32 << 20;
constexpr uint64_t kMostListMemory = uint64_t{2} << 30;

Result<void> lock(int fd, const std::string& path) {
  if (::flock(fd, LOCK_EX | LOCK_NB) == 0) return {};
  // Some file systems have no such locks; the file is then the caller's to guard.
  if (errno != EWOULDBLOCK) return {};
  return fail(ErrorKind::exists, "another process is adding to this file", path, {}, "wait until it has closed it");
}

Result<std::array<std::byte, 16>> random_bytes(const std::string& path) {
  std::array<std::byte, 16> random;
  if (::getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size()))
    return fail_errno(errno, "getrandom", path);
  return random;
}

}  // namespace

struct GrowingFile::State {
  ~State() {
    if (fd >= 0) ::close(fd);
  }

  // The list that makes `added` visible, with what it takes in.
  struct NextList {
    ListMeta meta;
    Listing listing;
  };

  Result<NextList> next_list(Listing added) {
    NextList next;
    if (!last) {
      next.listing = std::move(added);
      return next;
    }
    next.meta.number = last->meta.number + 1;
    std::vector<FoundList> taken;
    uint64_t bytes = 0;
    std::optional<FoundList> before = last;
    FOREBAY_TRY(const auto source, FileSource::open(path));
    while (before && before->meta.covers <= next.meta.covers && bytes + before->place.bytes <= kMostMergedBytes) {
      bytes += before->place.bytes;
      next.meta.covers += before->meta.covers;
      taken.push_back(*before);
      const RecordPlace place = before->meta.previous;
      before.reset();
      if (!place.is_there()) break;
      FOREBAY_TRY(before, find_list(*source, place, container_id));
    }
    if (before) next.meta.previous = before->place;
    for (auto list = taken.rbegin(); list != taken.rend(); ++list) {
      FOREBAY_TRY(Listing listing, read_list(*source, *list, kMostListMemory));
      next.listing.merge(std::move(listing));
    }
    next.listing.merge(std::move(added));
    return next;
  }

  Result<void> commit(Listing added, uint64_t parts_end, bool durable) {
    uint64_t step = last ? last->meta.steps : 0;
    uint32_t time_index = last ? last->meta.last_time_index : 0;
    for (const ListedPart& part : added.parts) {
      if (part.step + 1 >= step) {
        step = part.step + 1;
        time_index = part.time_index;
      }
      if (last && part.step + 1 < last->meta.steps)
        return fail(ErrorKind::invalid_argument, "a process group is of a step that is over", path);
    }
    FOREBAY_TRY(NextList next, next_list(std::move(added)));
    next.meta.steps = step;
    next.meta.last_time_index = time_index;
    FOREBAY_TRY(const Bytes payload, encode(next.listing));
    const auto front = container::encode_front(container::RecordType::groups, container_id, encode(next.meta),
                                               payload.size(), hash64(payload));
    Bytes record = front.bytes;
    record.insert(record.end(), payload.begin(), payload.end());
    const RecordPlace place{std::max(end, parts_end), record.size(), front.hash};
    const auto trailer = container::encode(container::Trailer{.container_id = container_id,
                                                              .last = place,
                                                              .file_bytes = place.end() + container::kTrailerBytes,
                                                              .features = container::kGrows});
    FOREBAY_CHECK(store::write_all(fd, place.offset, record, path));
    if (durable && ::fdatasync(fd) != 0) return fail_errno(errno, "fdatasync", path);
    FOREBAY_CHECK(store::write_all(fd, place.end(), trailer, path));
    if (durable && ::fdatasync(fd) != 0) return fail_errno(errno, "fdatasync", path);
    last = FoundList{place, next.meta};
    end = place.end() + container::kTrailerBytes;
    // A copy saves readers a search if the next step is never finished; nothing depends on it.
    (void)store::write_all(fd, copies + container::kTrailerBytes * (next.meta.number % 2), trailer, path);
    return {};
  }

  // What lies behind the last step is not, or no longer, needed.
  Result<void> cut_off_behind_end() const {
    FOREBAY_TRY(const auto source, FileSource::open(path));
    if (end < source->size() && ::ftruncate(fd, static_cast<off_t>(end)) != 0)
      return fail_errno(errno, "truncate", path);
    return {};
  }

  // corrupt if a step was complete whose list can no longer be read, and which the file may still have.
  Result<void> check_steps_behind_end() const {
    FOREBAY_TRY(const auto source, FileSource::open(path));
    for (const TrailerCopy& copy : copies_behind(*source, {container_id, copies}, end))
      if (copy.file_bytes <= source->size())
        return fail(ErrorKind::corrupt, "the list of the last step is damaged", path, end,
                    "mend the file first: `forebay repair FILE` finds the process groups of this step");
    return {};
  }

  // Nobody shall look for steps that are gone where others will be.
  Result<void> forget_steps_behind_end() const {
    FOREBAY_TRY(const auto source, FileSource::open(path));
    for (const TrailerCopy& copy : copies_behind(*source, {container_id, copies}, end))
      FOREBAY_CHECK(store::write_all(fd, copy.offset, std::array<std::byte, container::kTrailerBytes>{}, path));
    const uint64_t behind = source->size() - container::kTrailerBytes;
    const auto trailer = container::read_trailer(*source, behind);
    if (behind < end || !trailer || trailer->container_id != container_id) return {};
    return store::write_all(fd, behind, std::array<std::byte, container::kTrailerBytes>{}, path);
  }

  // Writes the last trailer again if all that was left of it is a copy.
  Result<void> restore(const container::Trailer& trailer) const {
    FOREBAY_TRY(const auto source, FileSource::open(path));
    const uint64_t offset = trailer.file_bytes - container::kTrailerBytes;
    const auto there = container::read_trailer(*source, offset);
    if (there && there->fits(offset) && there->container_id == container_id) return {};
    return store::write_all(fd, offset, container::encode(trailer), path);
  }

  std::string path;
  int fd = -1;
  uint64_t container_id = 0, copies = 0, end = 0;
  std::optional<FoundList> last;
};

GrowingFile::GrowingFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
GrowingFile::~GrowingFile() = default;

Result<std::unique_ptr<GrowingFile>> GrowingFile::create(const std::string& path) {
  FOREBAY_TRY(const auto random, random_bytes(path));
  return create(path, random);
}

Result<std::unique_ptr<GrowingFile>> GrowingFile::create(const std::string& path,
                                                         std::span<const std::byte, 16> random) {
  Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!fd) return fail_errno(errno, "create", path);
  return begin(std::move(fd), path, random);
}

Result<std::unique_ptr<GrowingFile>> GrowingFile::begin_in(int fd, const std::string& path) {
  FOREBAY_TRY(const auto random, random_bytes(path));
  Fd own(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
  if (!own) return fail_errno(errno, "dup", path);
  return begin(std::move(own), path, random);
}

Result<std::unique_ptr<GrowingFile>> GrowingFile::begin(Fd fd, const std::string& path,
                                                        std::span<const std::byte, 16> random) {
  FOREBAY_TRY(const Beginning beginning, make_beginning(random));
  auto state = std::make_unique<State>();
  state->path = path;
  state->fd = fd.release();
  FOREBAY_CHECK(lock(state->fd, path));
  FOREBAY_CHECK(store::write_all(state->fd, 0, beginning.bytes, path));
  state->container_id = beginning.part.container_id;
  state->copies = beginning.part.end;
  state->end = beginning.bytes.size();
  return std::unique_ptr<GrowingFile>(new GrowingFile(std::move(state)));
}

// The state of a file as its last trailer has it; of one without a whole step, as it was made.
Result<std::unique_ptr<GrowingFile::State>> GrowingFile::open_locked(const std::string& path, FindTrailer find) {
  auto state = std::make_unique<State>();
  state->path = path;
  state->fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (state->fd < 0) return fail_errno(errno, "open", path);
  FOREBAY_CHECK(lock(state->fd, path));
  FOREBAY_TRY(const auto source, FileSource::open(path));
  FOREBAY_TRY(const FirstPart first, find_first_part(*source));
  state->container_id = first.container_id;
  state->copies = first.end;
  state->end = first.end + kCopiesBytes;
  const auto trailer = find(*source);
  if (!trailer && trailer.error().kind != ErrorKind::corrupt) return std::unexpected(trailer.error());
  if (!trailer) return state;
  FOREBAY_TRY(state->last, find_list(*source, trailer->last, trailer->container_id));
  state->end = trailer->file_bytes;
  FOREBAY_CHECK(state->restore(*trailer));
  return state;
}

Result<std::unique_ptr<GrowingFile>> GrowingFile::append(const std::string& path) {
  FOREBAY_TRY(auto state, open_locked(path, find_trailer));
  if (!state->last) return fail(ErrorKind::corrupt, "the file has no whole step", path);
  FOREBAY_CHECK(state->check_steps_behind_end());
  FOREBAY_CHECK(state->cut_off_behind_end());
  FOREBAY_CHECK(state->forget_steps_behind_end());
  return std::unique_ptr<GrowingFile>(new GrowingFile(std::move(state)));
}

Result<GrowingFile::Mended> GrowingFile::mend(const std::string& path, uint64_t max_bytes) {
  FOREBAY_TRY(const auto state, open_locked(path, find_trailer_of_whole_list));
  FOREBAY_TRY(const auto source, FileSource::open(path));
  FOREBAY_TRY(Salvage found, salvage(*source, state->container_id, state->end, max_bytes));
  Mended mended{.found = found.listing.parts.size(),
                .incomplete = found.incomplete,
                .steps = 0,
                .remarks = std::move(found.remarks)};
  if (mended.found != 0) {
    FOREBAY_CHECK(state->commit(std::move(found.listing), found.end, true));
    FOREBAY_CHECK(state->cut_off_behind_end());
  }
  FOREBAY_CHECK(state->forget_steps_behind_end());
  mended.steps = state->last ? state->last->meta.steps : 0;
  return mended;
}

uint64_t GrowingFile::container_id() const { return state_->container_id; }
uint64_t GrowingFile::steps() const { return state_->last ? state_->last->meta.steps : 0; }
uint32_t GrowingFile::last_time_index() const { return state_->last ? state_->last->meta.last_time_index : 0; }
uint64_t GrowingFile::end() const { return state_->end; }
int GrowingFile::fd() const { return state_->fd; }

Result<void> GrowingFile::commit(Listing added, uint64_t parts_end, bool durable) {
  return state_->commit(std::move(added), parts_end, durable);
}

}  // namespace forebay::io
