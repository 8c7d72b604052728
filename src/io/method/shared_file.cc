#include "io/method/shared_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/byte_source.h"
#include "io/file/tail.h"
#include "io/method/agreement.h"
#include "io/method/subfiles.h"
#include "io/method/write_pieces.h"
#include "store/files.h"
#include "store/may_replace.h"

namespace forebay::io {
namespace {

// Ranks announce what they write at about the same time, or else they had better not wait for each other.
constexpr std::chrono::milliseconds kPatience{50};

uint64_t aligned(uint64_t bytes, uint64_t alignment) { return (bytes + alignment - 1) / alignment * alignment; }

std::unexpected<Error> being_written(const std::string& path) {
  return fail(ErrorKind::exists, "another program is writing this file", path, {},
              "let it end, or write to another name");
}

bool is_named(int fd, const std::string& path) {
  struct stat opened{}, named{};
  return fstat(fd, &opened) == 0 && stat(path.c_str(), &named) == 0 && opened.st_ino == named.st_ino &&
         opened.st_dev == named.st_dev;
}

// Keeps others from adding to the file that is to be replaced, as long as what is returned lives. Nothing if there is
// none, or where it cannot be locked. exists if a program is writing it; io if it is a directory.
Result<Fd> lock_replaced(const std::string& path) {
  Fd old(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
  if (!old && errno == EISDIR) return fail_errno(errno, "open", path);
  if (!old) return Fd();
  if (flock(old.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return being_written(path);
  return old;
}

// Removes what a writer that died left behind. exists if it is alive.
Result<void> remove_unfinished(const std::string& path) {
  const Fd left(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!left) return errno == ENOENT ? Result<void>{} : fail_errno(errno, "open", path);
  if (flock(left.get(), LOCK_EX | LOCK_NB) != 0) return being_written(path);
  FOREBAY_CHECK(check_own_file(path));
  // Another program may have put a new one there since it was opened.
  if (!is_named(left.get(), path)) return being_written(path);
  if (unlink(path.c_str()) != 0 && errno != ENOENT) return fail_errno(errno, "unlink", path);
  return {};
}

// What rank 0 tells the others of a file.
struct FileStart {
  uint64_t container_id, end, steps, last_time_index;
  uint64_t inode;  // by which ranks know that they opened the same file: devices have other numbers on other nodes
};

uint64_t inode_of(int fd) {
  struct stat status{};
  return fstat(fd, &status) == 0 ? status.st_ino : 0;
}

// Whether `fd` is the container. Where files have other numbers at each node, which some file systems do, their
// beginning tells.
bool is_container(int fd, uint64_t inode, uint64_t container_id) {
  if (inode_of(fd) == inode) return true;
  const auto source = FileSource::open("/proc/self/fd/" + std::to_string(fd));
  if (!source) return false;
  const auto first = find_first_part(**source);
  return first && first->container_id == container_id;
}

}  // namespace

std::string unfinished_name(const std::string& path) { return path + ".part"; }

// A new file that nobody has written into is of no use. Any other one that has no name yet stays, for whoever mends it.
SharedFile::~SharedFile() {
  if (settings_.memory) settings_.memory->give_up();
  struct stat status{};
  if (growing_ && !settings_.memory && working_path_ != path_ && fstat(growing_->fd(), &status) == 0 &&
      static_cast<uint64_t>(status.st_size) <= end_ && is_named(growing_->fd(), working_path_))
    unlink(working_path_.c_str());
}

Outcome<std::unique_ptr<SharedFile>> SharedFile::open(const std::string& path, OpenMode mode,
                                                      std::shared_ptr<Communicator> communicator,
                                                      const FillSettings& settings) {
  std::unique_ptr<SharedFile> file(new SharedFile);
  file->communicator_ = std::move(communicator);
  file->settings_ = settings;
  file->path_ = path;
  Communicator& ranks = *file->communicator_;
  Outcome<Bytes> begun;
  if (ranks.rank() == 0) {
    if (const Result<void> result = file->begin(mode); !result) {
      begun = std::unexpected(Failure(result.error()));
      if (result.error().kind == ErrorKind::not_found && mode == OpenMode::update)
        begun.error().code = Code::file_not_found;
    } else {
      begun = file->beginning();
    }
  }
  FOREBAY_TRY(const Bytes message, tell(ranks, begun, 0));
  FileStart beginning;
  if (message.size() < sizeof beginning) return refuse(Code::unspecified, "rank 0 did not say how the file begins");
  std::memcpy(&beginning, message.data(), sizeof beginning);
  file->container_id_ = beginning.container_id;
  file->end_ = beginning.end;
  file->salt_ = beginning.end;
  file->standing_ = {beginning.steps, static_cast<uint32_t>(beginning.last_time_index)};
  file->working_path_ = as_text(std::span(message).subspan(sizeof beginning));
  if (ranks.size() == 1) {  // all of the file is its slot
    file->slot_bytes_ = UINT64_MAX;
    file->take_slot(0);
  }
  file->opened_ = file->open_here(beginning.inode);
  return file;
}

Bytes SharedFile::beginning() const {
  const FileStart beginning{.container_id = growing_->container_id(),
                            .end = growing_->end(),
                            .steps = growing_->steps(),
                            .last_time_index = growing_->last_time_index(),
                            .inode = inode_of(growing_->fd())};
  const auto bytes = std::as_bytes(std::span(&beginning, 1));
  Bytes message(bytes.begin(), bytes.end());
  const auto name = as_bytes(working_path_);
  message.insert(message.end(), name.begin(), name.end());
  return message;
}

Result<void> SharedFile::begin(OpenMode mode) {
  if (mode != OpenMode::write) {
    auto growing = GrowingFile::append(path_);
    // Another program may just have replaced the file that was opened.
    if (growing && !is_named((*growing)->fd(), path_)) return being_written(path_);
    if (growing) {
      growing_ = std::move(*growing);
      working_path_ = path_;
      return {};
    }
    if (mode != OpenMode::append || growing.error().kind != ErrorKind::not_found)
      return std::unexpected(std::move(growing).error());
  }
  working_path_ = unfinished_name(path_);
  if (settings_.memory) {
    FOREBAY_TRY(growing_, GrowingFile::begin_in(settings_.memory->fd(), working_path_));
    return {};
  }
  FOREBAY_CHECK(check_place());
  FOREBAY_TRY(replaced_, lock_replaced(path_));
  FOREBAY_CHECK(remove_unfinished(working_path_));
  FOREBAY_TRY(growing_, GrowingFile::create(working_path_));
  return {};
}

// What the program named may be written over; what has a name of Forebay's making only if it is Forebay's.
Result<void> SharedFile::check_place() const {
  if (settings_.is_subfile) return check_own_file(path_);
  return store::may_replace(path_, {.becomes = store::Thing::file, .right = store::Right::named});
}

// A few ranks at a time, so that the one server that parallel file systems have for names is not asked by all at once.
Result<void> SharedFile::open_here(uint64_t inode) {
  const uint32_t rank = communicator_->rank(), size = communicator_->size();
  const uint32_t wave = std::max(settings_.openers, 1u);
  Result<void> result;
  if (rank >= wave) FOREBAY_CHECK(communicator_->receive(rank - wave));
  if (rank == 0) {
    fd_ = growing_->fd();
  } else {
    // A node may still know the name by what it stood for a moment ago.
    constexpr int kAttempts = 3;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      own_ = Fd(::open(working_path_.c_str(), O_RDWR | O_CLOEXEC));
      result = own_ ? Result<void>{} : fail_errno(errno, "open", working_path_);
      if (own_ && is_container(own_.get(), inode, container_id_)) break;
      if (own_)
        result = fail(ErrorKind::changed, "another file was put in its place while it was opened", working_path_, {},
                      "let one program at a time write to a name");
      own_ = Fd();
    }
    fd_ = own_.get();
  }
  if (wave < size && rank < size - wave) FOREBAY_CHECK(communicator_->send({}, rank + wave));
  return result;
}

Outcome<std::vector<EncodedPart>> SharedFile::encode(std::span<const ProcessGroup> groups, uint64_t& bytes) {
  std::vector<EncodedPart> parts;
  for (const ProcessGroup& group : groups) {
    FOREBAY_TRY(EncodedPart part, EncodedPart::make(group, {container_id_, salt_++}, settings_.parts));
    bytes += part.bytes() + kPartAlignment;  // with the gap in front of it
    parts.push_back(std::move(part));
  }
  return parts;
}

void SharedFile::announce(uint64_t bytes) {
  if (communicator_->size() == 1 || slots_ || !announced_) return;
  slot_bytes_ = aligned(bytes, settings_.alignment);
  auto begun = communicator_->begin_exclusive_scan(slot_bytes_);
  if (begun)
    slots_ = std::move(*begun);
  else
    announced_ = std::unexpected(begun.error());
}

void SharedFile::take_slot(uint64_t before) {
  next_ = aligned(end_, settings_.alignment) + before;
  slot_end_ = slot_bytes_ > UINT64_MAX - next_ ? UINT64_MAX : next_ + slot_bytes_;
}

uint64_t SharedFile::room() {
  if (slot_end_ == 0 && slots_) {
    const auto before = slots_->wait_for(std::exchange(has_waited_, true) ? std::chrono::milliseconds(0) : kPatience);
    if (before && *before) take_slot(**before);
  }
  const uint64_t begin = aligned(next_, kPartAlignment);
  return slot_end_ - std::min(slot_end_, begin);
}

Result<void> SharedFile::write_at(std::span<const std::span<const std::byte>> pieces, uint64_t offset) {
  if (settings_.memory) return settings_.memory->write(pieces, offset, working_path_);
  return write_pieces(fd_, pieces, offset, working_path_);
}

Outcome<void> SharedFile::write(std::span<EncodedPart> parts) {
  if (parts.empty()) return {};
  FOREBAY_CHECK(opened_);
  static constexpr std::array<std::byte, kPartAlignment> kGap{};
  next_ = aligned(next_, kPartAlignment);
  uint64_t end = next_;
  std::vector<std::span<const std::byte>> pieces;
  for (EncodedPart& part : parts) {
    pieces.push_back(std::span(kGap).first(aligned(end, kPartAlignment) - end));
    pieces.insert(pieces.end(), part.pieces().begin(), part.pieces().end());
    part.listing().shift(aligned(end, kPartAlignment));
    end = aligned(end, kPartAlignment) + part.bytes();
  }
  FOREBAY_CHECK(write_at(pieces, next_));
  next_ = end;
  return {};
}

Outcome<void> SharedFile::sync() const {
  if (!settings_.is_durable || !opened_ || fdatasync(fd_) == 0) return {};
  return std::unexpected(Failure(fail_errno(errno, "fsync", working_path_).error()));
}

Outcome<void> SharedFile::spill(const ProcessGroup& group) {
  FOREBAY_CHECK(opened_);
  const uint64_t most = room(), begin = aligned(next_, kPartAlignment);
  const auto sink = [&](std::span<const std::span<const std::byte>> pieces, uint64_t offset) -> Result<void> {
    uint64_t end = offset;
    for (const auto& piece : pieces) end += piece.size();
    if (end > most)
      return fail(ErrorKind::internal, "a process group does not fit into what is left of its slot", working_path_);
    return write_at(pieces, begin + offset);
  };
  FOREBAY_TRY(EncodedPart part, EncodedPart::write(group, {container_id_, salt_++}, settings_.parts, sink));
  part.listing().shift(begin);
  next_ = begin + part.bytes();
  spilled_.merge(std::move(part.listing()));
  return {};
}

Outcome<void> SharedFile::write_and_list(std::span<EncodedPart> parts, Listing& listing) {
  FOREBAY_CHECK(write(parts));
  FOREBAY_CHECK(sync());
  for (EncodedPart& part : parts) listing.merge(std::move(part.listing()));
  return {};
}

// Every rank takes part in everything that is collective, whatever failed at it before.
Outcome<void> SharedFile::fill(std::span<const ProcessGroup> groups, Listing& listing) {
  if (communicator_->size() == 1) return fill_own(groups, listing);
  uint64_t bytes = 0;
  Outcome<void> own;
  Outcome<std::vector<EncodedPart>> parts = encode(groups, bytes);
  if (!parts) own = std::unexpected(parts.error());
  announce(own ? bytes : 0);
  FOREBAY_CHECK(announced_);
  FOREBAY_TRY(const uint64_t before, slots_->wait());
  if (slot_end_ == 0) take_slot(before);
  listing = std::exchange(spilled_, {});
  if (own && bytes > slot_end_ - next_)
    left_ = std::move(*parts);
  else if (own)
    own = write_and_list(*parts, listing);
  return own;
}

// All of the file is this rank's: nothing has to be known before it is written.
Outcome<void> SharedFile::fill_own(std::span<const ProcessGroup> groups, Listing& listing) {
  Outcome<void> own;
  for (const ProcessGroup& group : groups)
    if (own) own = spill(group);
  listing = std::exchange(spilled_, {});
  return own ? sync() : own;
}

// Where ranks did not fill their slots, nothing is kept free behind the last byte that was written.
Outcome<void> SharedFile::fill_behind_slots(Listing& listing) {
  uint64_t bytes = 0;
  for (const EncodedPart& part : left_) bytes += part.bytes() + kPartAlignment;
  FOREBAY_TRY(const uint64_t end, communicator_->all_reduce(next_, Reduction::max));
  FOREBAY_TRY(const uint64_t before, communicator_->exclusive_scan(aligned(bytes, settings_.alignment)));
  next_ = aligned(end, settings_.alignment) + before;
  std::vector<EncodedPart> parts = std::exchange(left_, {});
  return write_and_list(parts, listing);
}

Outcome<void> SharedFile::commit(Listing listing, bool is_whole) {
  uint64_t end = growing_->end();
  for (const ListedPart& part : listing.parts)
    if (listing.files[part.file].name.empty()) end = std::max(end, part.offset + part.bytes);
  FOREBAY_CHECK(growing_->commit(std::move(listing), end, settings_.is_durable));
  if (settings_.memory) FOREBAY_CHECK(settings_.memory->finish(growing_->end(), working_path_));
  if (working_path_ == path_ && !is_named(growing_->fd(), path_))
    return refuse(Code::write, "another file was put in its place; what was written is in no file that has a name",
                  "let one program at a time write to a name", path_, ErrorKind::changed);
  if (working_path_ == path_ || !is_whole) return {};
  FOREBAY_CHECK(check_place());
  if (rename(working_path_.c_str(), path_.c_str()) != 0)
    return std::unexpected(Failure(fail_errno(errno, "rename", path_).error()));
  working_path_ = path_;
  if (!settings_.is_durable) return {};
  // The directory of a file that lies beside others in NAME.dir may be new as well.
  const std::filesystem::path directory = std::filesystem::absolute(path_).parent_path();
  FOREBAY_CHECK(store::sync_directory(directory.string()));
  FOREBAY_CHECK(store::sync_directory(directory.parent_path().string()));
  return {};
}

// Rank r takes what r+1, r+2, r+4, ... bring, each of which has what came behind it, and gives it on. Behind each
// listing, which has to lie at its alignment, there is a byte of reports.
Outcome<void> collect(Communicator& communicator, Listing& listing, Reports& reports) {
  constexpr auto kFailed = std::byte{1}, kLeft = std::byte{2};
  constexpr uint64_t kMostBytes = uint64_t{4} << 30;
  const uint32_t rank = communicator.rank();
  Outcome<void> outcome;
  for (uint32_t step = 1; step < communicator.size(); step *= 2) {
    if (rank & step) {
      const Result<Bytes> bytes = encode(std::exchange(listing, {}));
      if (!bytes && outcome) outcome = std::unexpected(Failure(bytes.error()));
      Bytes message = bytes ? *bytes : Bytes();
      message.push_back((reports.has_failed || !bytes ? kFailed : std::byte{}) |
                        (reports.has_left ? kLeft : std::byte{}));
      FOREBAY_CHECK(communicator.send(message, rank - step));
      break;
    }
    if (rank + step >= communicator.size()) continue;
    FOREBAY_TRY(const Bytes message, communicator.receive(rank + step));
    if (message.empty() || (message.back() & kFailed) != std::byte{}) reports.has_failed = true;
    if (!message.empty() && (message.back() & kLeft) != std::byte{}) reports.has_left = true;
    if (message.size() <= 1) continue;  // whoever could not say what it has says why itself
    Result<Listing> other = decode_listing(std::span(message).first(message.size() - 1), kMostBytes);
    if (other) listing.merge(std::move(*other));
    if (other) continue;
    reports.has_failed = true;
    if (outcome) outcome = std::unexpected(Failure(other.error()));
  }
  return outcome;
}

}  // namespace forebay::io
