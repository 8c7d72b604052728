// What waits to be sent over one socket: bytes, and parts of files. These never pass through this process, unless they
// are encrypted.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>

#include "base/byte_source.h"
#include "base/bytes.h"
#include "base/error.h"
#include "fabric/records.h"

namespace forebay::fabric {

class Output {
 public:
  void append(std::span<const std::byte> bytes);
  void append(std::shared_ptr<const FileSource> file, uint64_t offset, uint64_t length);

  // From now on all is sent in records. What was appended before goes as it is.
  void encrypt(RecordWriter records);

  bool empty() const { return sent_ == head_.size() && sections_.empty() && records_sent_ == records_.size(); }
  size_t memory() const { return memory_; }  // bytes that are held, about
  void clear();

  // Whether the socket could not be written to for another reason than that the peer had closed it in good order: then
  // an end of stream that is read afterwards is none.
  bool path_lost() const { return path_lost_; }

  // Sends until nothing is left, `socket` takes no more, or others have waited long enough for their turn. disconnected
  // if the socket cannot be written to, changed or io if a file cannot be read as announced. The caller's thread must
  // block SIGPIPE.
  Result<void> send(int socket);

 private:
  // A part of a file, and the bytes that follow it.
  struct Section {
    std::shared_ptr<const FileSource> file;
    uint64_t offset = 0, left = 0;
    Bytes after;
  };
  enum class Progress : uint8_t { done, full };
  Result<void> send_plain(int socket);
  Result<void> send_encrypted(int socket);
  Result<Progress> send_records(int socket);
  Result<void> encrypt_some(uint64_t& turn);
  Result<Progress> send_head(int socket);
  Result<Progress> send_file(int socket, Section& section, uint64_t& turn);
  void head_is_sent();
  std::unexpected<Error> cannot_send(int error);

  Bytes head_;
  size_t sent_ = 0;  // of head_
  std::deque<Section> sections_;
  std::optional<RecordWriter> writer_;  // if all that follows is encrypted
  Bytes records_;
  size_t records_sent_ = 0;  // bytes of records_
  size_t memory_ = 0;
  bool path_lost_ = false;
};

}  // namespace forebay::fabric
