#include "fabric/output.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <sys/sendfile.h>
#include <sys/socket.h>

namespace forebay::fabric {
namespace {

constexpr size_t kKeptHead = 256u << 10;  // a buffer that was larger is given back
constexpr uint64_t kTurn = 4u << 20;      // bytes of files in one call of send()

bool is_full(int error) { return error == EAGAIN || error == EWOULDBLOCK; }

// sendfile() has one number for both its ends. These are the socket's.
bool is_of_socket(int error) {
  return error == EPIPE || error == ECONNRESET || error == ETIMEDOUT || error == ENOTCONN || error == EHOSTUNREACH ||
         error == ENETUNREACH;
}

}  // namespace

// The system tells of a reset once, here or to whoever reads.
std::unexpected<Error> Output::cannot_send(int error) {
  path_lost_ = error != EPIPE;
  return fail(ErrorKind::disconnected, std::strerror(error));
}

void Output::append(std::span<const std::byte> bytes) {
  Bytes& to = sections_.empty() ? head_ : sections_.back().after;
  to.insert(to.end(), bytes.begin(), bytes.end());
  memory_ += bytes.size();
}

void Output::append(std::shared_ptr<const FileSource> file, uint64_t offset, uint64_t length) {
  if (length == 0) return;
  sections_.push_back({std::move(file), offset, length, {}});
  memory_ += sizeof(Section);
}

void Output::clear() {
  head_.clear();
  head_is_sent();
  records_.clear();
  records_sent_ = 0;
  sections_.clear();
  memory_ = 0;
}

void Output::encrypt(RecordWriter records) {
  records_.assign(head_.begin() + static_cast<std::ptrdiff_t>(sent_), head_.end());
  head_is_sent();
  writer_.emplace(std::move(records));
}

Result<void> Output::send(int socket) { return writer_ ? send_encrypted(socket) : send_plain(socket); }

Result<void> Output::send_plain(int socket) {
  uint64_t turn = kTurn;
  for (;;) {
    FOREBAY_TRY(const Progress head, send_head(socket));
    if (head == Progress::full || sections_.empty()) return {};
    Section& section = sections_.front();
    FOREBAY_TRY(const Progress file, send_file(socket, section, turn));
    if (file == Progress::full) return {};
    head_ = std::move(section.after);
    sections_.pop_front();
    memory_ -= sizeof(Section);
  }
}

Result<Output::Progress> Output::send_head(int socket) {
  const int flags = MSG_NOSIGNAL | (sections_.empty() ? 0 : MSG_MORE);
  while (sent_ < head_.size()) {
    const ssize_t sent = ::send(socket, head_.data() + sent_, head_.size() - sent_, flags);
    if (sent >= 0) {
      sent_ += static_cast<size_t>(sent);
      memory_ -= static_cast<size_t>(sent);
    } else if (is_full(errno)) {
      return Progress::full;
    } else if (errno != EINTR) {
      return cannot_send(errno);
    }
  }
  head_is_sent();
  return Progress::done;
}

void Output::head_is_sent() {
  if (head_.capacity() > kKeptHead) Bytes().swap(head_);
  head_.clear();
  sent_ = 0;
}

// Records are made when they can be sent, one after another: a file's bytes are in memory for no longer.
Result<void> Output::send_encrypted(int socket) {
  for (uint64_t turn = kTurn;;) {
    FOREBAY_TRY(const Progress progress, send_records(socket));
    if (progress == Progress::full || empty() || turn == 0) return {};
    FOREBAY_CHECK(encrypt_some(turn));
  }
}

Result<Output::Progress> Output::send_records(int socket) {
  while (records_sent_ < records_.size()) {
    const ssize_t sent = ::send(socket, records_.data() + records_sent_, records_.size() - records_sent_, MSG_NOSIGNAL);
    if (sent >= 0) {
      records_sent_ += static_cast<size_t>(sent);
      memory_ -= static_cast<size_t>(sent);
    } else if (is_full(errno)) {
      return Progress::full;
    } else if (errno != EINTR) {
      return cannot_send(errno);
    }
  }
  records_.clear();
  records_sent_ = 0;
  return Progress::done;
}

// What fits into a few records: bytes that wait, else the next ones of the file.
Result<void> Output::encrypt_some(uint64_t& turn) {
  if (sent_ < head_.size()) {
    const auto some = std::span(head_).subspan(sent_, std::min(head_.size() - sent_, kEncryptedAtOnce));
    writer_->write(some, records_);
    sent_ += some.size();
    memory_ -= some.size();
  } else {
    Section& section = sections_.front();
    thread_local Bytes buffer(kEncryptedAtOnce);
    const std::span<std::byte> some = std::span(buffer).first(std::min({section.left, turn, buffer.size()}));
    FOREBAY_CHECK(section.file->read_at(section.offset, some));
    writer_->write(some, records_);
    section.offset += some.size();
    section.left -= some.size();
    turn -= some.size();
  }
  memory_ += records_.size();
  if (sent_ == head_.size()) head_is_sent();
  if (head_.empty() && !sections_.empty() && sections_.front().left == 0) {
    head_ = std::move(sections_.front().after);
    sections_.pop_front();
    memory_ -= sizeof(Section);
  }
  return {};
}

Result<Output::Progress> Output::send_file(int socket, Section& section, uint64_t& turn) {
  while (section.left > 0) {
    if (turn == 0) return Progress::full;
    auto offset = static_cast<off_t>(section.offset);
    const ssize_t sent = ::sendfile(socket, section.file->fd(), &offset, std::min(section.left, turn));
    if (sent > 0) {
      section.offset += static_cast<uint64_t>(sent);
      section.left -= static_cast<uint64_t>(sent);
      turn -= static_cast<uint64_t>(sent);
    } else if (sent == 0) {
      return fail(ErrorKind::changed, "the file became shorter while it was sent", section.file->name(),
                  section.offset);
    } else if (is_full(errno)) {
      return Progress::full;
    } else if (is_of_socket(errno)) {
      return cannot_send(errno);
    } else if (errno != EINTR) {
      return fail_errno(errno, "sendfile", section.file->name());
    }
  }
  return Progress::done;
}

}  // namespace forebay::fabric
