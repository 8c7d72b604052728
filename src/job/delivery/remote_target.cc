// The worker's end of a delivery.
#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "job/delivery/delivery.h"
#include "job/wire/convert.h"
#include "job/wire/messages.h"

namespace forebay::job {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kCollect = 256 << 10;  // small writes are sent together, about so many bytes

// Answers and kTaken are small; a refusal carries a message.
constexpr size_t kMaxAnswer = 64 << 10;

// The conversation. Thread-safe.
class Conversation {
 public:
  Conversation(fabric::Link link, std::chrono::milliseconds patience) : link_(std::move(link)), patience_(patience) {}

  // Sends a message and waits for the answer to it.
  template <class Message>
  Result<void> ask(Message message) {
    const std::lock_guard lock(mutex_);
    return kept([&]() -> Result<void> {
      wire::encode(output_, std::move(message));
      FOREBAY_CHECK(flush());
      const auto deadline = Clock::now() + wire::kLongestAnswer;
      for (bool answered = false; !answered;) {
        FOREBAY_TRY(answered, receive());
        if (!answered && Clock::now() >= deadline)
          return fail(ErrorKind::timeout, "the agent does not come to an end with what it writes", link_.peer());
      }
      return {};
    });
  }

  Result<void> write(const WriteFrame& write) {
    const std::lock_guard lock(mutex_);
    return kept([&]() -> Result<void> {
      FOREBAY_CHECK(wait_for_room(body_bytes(write)));
      append_write(output_, write);
      sent_ += body_bytes(write);
      if (output_.size() < kCollect) return {};
      return flush();
    });
  }

 private:
  static uint64_t body_bytes(const WriteFrame& write) {
    return sizeof write.file + sizeof write.offset + write.bytes.size();
  }

  // After an error nothing more is tried.
  template <class Action>
  Result<void> kept(const Action& action) {
    if (failed_) return std::unexpected(*failed_);
    Result<void> done = action();
    if (!done) failed_ = done.error();
    return done;
  }

  Result<void> flush() {
    FOREBAY_CHECK(link_.send(output_, patience_));
    output_.clear();
    return {};
  }

  Result<void> wait_for_room(uint64_t bytes) {
    const auto deadline = Clock::now() + wire::kLongestAnswer;
    while (sent_ + bytes - taken_ > kWindow) {
      FOREBAY_CHECK(flush());
      FOREBAY_TRY(const bool answered, receive());
      if (answered) return fail(ErrorKind::corrupt, "an answer without a question", link_.peer());
      if (Clock::now() >= deadline)
        return fail(ErrorKind::timeout, "the agent does not come to an end with what it writes", link_.peer());
    }
    return {};
  }

  // The next frame; whether it is the answer to a message.
  Result<bool> receive() {
    FOREBAY_TRY(const fabric::Frame frame, link_.receive(kMaxAnswer, patience_));
    if (frame.type == kTaken) {
      FOREBAY_CHECK(take(frame.body));
      return false;
    }
    FOREBAY_TRY(const wire::MessageT message, wire::decode(frame));
    if (message.body.type == wire::Body::Ping) return false;
    if (message.body.type == wire::Body::TargetDone) return true;
    if (const auto* refused = message.body.AsRefused()) return std::unexpected(error_of(*refused));
    return fail(ErrorKind::corrupt, "an answer that was not asked for", link_.peer());
  }

  Result<void> take(std::span<const std::byte> body) {
    const uint64_t taken = body.size() == sizeof taken_ ? load_le<uint64_t>(body.data()) : 0;
    if (taken < taken_ || taken > sent_)
      return fail(ErrorKind::corrupt, "the agent has taken what was not sent", link_.peer());
    taken_ = taken;
    return {};
  }

  std::mutex mutex_;
  fabric::Link link_;
  const std::chrono::milliseconds patience_;
  Bytes output_;                   // frames to be sent
  uint64_t sent_ = 0, taken_ = 0;  // bytes of kWrite bodies; those in `output_` count as sent
  std::optional<Error> failed_;
};

class RemoteFile final : public engine::TargetFile {
 public:
  RemoteFile(Conversation& agent, uint32_t number, const FileRow& row)
      : agent_(agent), number_(number), mode_(row.mode), mtime_s_(row.mtime_s), mtime_ns_(row.mtime_ns) {}

  Result<void> write_at(uint64_t offset, std::span<const std::byte> bytes) override {
    constexpr size_t kMost = kMaxWriteBytes - sizeof(uint32_t) - sizeof(uint64_t);
    while (!bytes.empty()) {
      const size_t now = std::min(bytes.size(), kMost);
      FOREBAY_CHECK(agent_.write({number_, offset, bytes.first(now)}));
      bytes = bytes.subspan(now);
      offset += now;
    }
    return {};
  }

  Result<void> commit() override {
    wire::TargetCommitT message;
    message.number = number_;
    message.mode = mode_;
    message.mtime_s = mtime_s_;
    message.mtime_ns = mtime_ns_;
    return agent_.ask(std::move(message));
  }

 private:
  Conversation& agent_;
  const uint32_t number_, mode_;
  const int64_t mtime_s_;
  const uint32_t mtime_ns_;
};

class RemoteTarget final : public engine::Target {
 public:
  RemoteTarget(fabric::Link link, std::chrono::milliseconds patience) : agent_(std::move(link), patience) {}

  Result<void> open(const std::string& stored) {
    wire::TargetOpenT message;
    message.set = stored;
    return agent_.ask(std::move(message));
  }

  Result<std::unique_ptr<engine::TargetFile>> create_file(const FileRow& file) override {
    wire::TargetFileT message;
    message.number = next_++;
    message.name = file.name;
    message.size = file.size;
    auto made = std::make_unique<RemoteFile>(agent_, message.number, file);
    FOREBAY_CHECK(agent_.ask(std::move(message)));
    return made;
  }

  Result<void> make_directory(const FileRow& directory) override {
    wire::TargetDirectoryT message;
    message.name = directory.name;
    message.mode = directory.mode;
    message.mtime_s = directory.mtime_s;
    message.mtime_ns = directory.mtime_ns;
    return agent_.ask(std::move(message));
  }

  Result<void> make_symlink(const FileRow& link) override {
    wire::TargetSymlinkT message;
    message.name = link.name;
    message.target = link.link_target;
    message.mtime_s = link.mtime_s;
    message.mtime_ns = link.mtime_ns;
    return agent_.ask(std::move(message));
  }

  Result<void> finish() override { return agent_.ask(wire::TargetFinishT{}); }

 private:
  Conversation agent_;
  std::atomic<uint32_t> next_ = 0;
};

}  // namespace

Result<std::unique_ptr<engine::Target>> open_remote_target(fabric::Link link, const std::string& stored,
                                                           std::chrono::milliseconds patience) {
  auto target = std::make_unique<RemoteTarget>(std::move(link), patience);
  FOREBAY_CHECK(target->open(stored));
  return target;
}

}  // namespace forebay::job
