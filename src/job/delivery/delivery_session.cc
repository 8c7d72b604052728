#include "job/delivery/delivery_session.h"

#include <exception>
#include <functional>

#include <fmt/format.h>

#include "job/delivery/delivered_stage.h"

namespace forebay::job {
namespace {

constexpr size_t kMaxOpenFiles = 1'000'000;  // that one container can hold for one node, and more

store::Attributes attributes(uint32_t mode, int64_t mtime_s, uint32_t mtime_ns) {
  constexpr uint32_t kPermissions = 07777, kSecond = 1'000'000'000;
  return {.mode = mode & kPermissions, .mtime_s = mtime_s, .mtime_ns = mtime_ns % kSecond};
}

// An exception would end the agent.
Result<void> guarded(const std::function<Result<void>()>& action) {
  try {
    return action();
  } catch (const std::exception& error) {
    return fail(ErrorKind::limit, std::string("a delivery came to an end: ") + error.what());
  }
}

}  // namespace

Result<void> DeliverySession::handle(const wire::BodyUnion& message) {
  if (!failed_) {
    auto done = guarded([&] { return dispatch(message); });
    if (done) return {};
    failed_ = std::move(done).error();
  }
  files_.clear();
  return std::unexpected(*failed_);
}

Result<void> DeliverySession::dispatch(const wire::BodyUnion& message) {
  if (const auto* asked = message.AsTargetOpen()) return open(*asked);
  if (!directory_) return fail(ErrorKind::invalid_argument, "a delivery without a target");
  if (const auto* asked = message.AsTargetFile()) return create(*asked);
  if (const auto* asked = message.AsTargetCommit()) return commit(*asked);
  if (const auto* asked = message.AsTargetDirectory())
    return directory_->make_directory(asked->name,
                                      attributes(asked->mode | kOwnerMayAll, asked->mtime_s, asked->mtime_ns));
  if (const auto* asked = message.AsTargetSymlink())
    return directory_->make_symlink(asked->name, asked->target, attributes(0, asked->mtime_s, asked->mtime_ns), true);
  return finish();
}

Result<void> DeliverySession::open(const wire::TargetOpenT& message) {
  if (directory_) return fail(ErrorKind::invalid_argument, "a second target in one delivery");
  FOREBAY_TRY(const std::string path, make_way_for_delivery(stage_, message.set));
  FOREBAY_TRY(directory_, store::TargetDir::open(path));
  return {};
}

Result<void> DeliverySession::create(const wire::TargetFileT& message) {
  if (files_.contains(message.number))
    return fail(ErrorKind::invalid_argument, fmt::format("two files of number {}", message.number), message.name);
  if (files_.size() >= kMaxOpenFiles) return fail(ErrorKind::limit, "too many files in one delivery", message.name);
  FOREBAY_TRY(files_[message.number], directory_->create_file(message.name, message.size, true));
  return {};
}

Result<void> DeliverySession::commit(const wire::TargetCommitT& message) {
  FOREBAY_TRY(store::TargetFile* const file, find(message.number));
  FOREBAY_CHECK(file->commit(attributes(message.mode, message.mtime_s, message.mtime_ns)));
  files_.erase(message.number);
  return {};
}

// With the directory what it works with goes, too: the set may be published as soon as this was answered.
Result<void> DeliverySession::finish() {
  FOREBAY_CHECK(directory_->finish());
  files_.clear();
  directory_.reset();
  return {};
}

void DeliverySession::write(const WriteFrame& write) {
  if (failed_) return;
  const auto written = guarded([&]() -> Result<void> {
    FOREBAY_TRY(store::TargetFile* const file, find(write.file));
    return file->write_at(write.offset, write.bytes);
  });
  if (!written) failed_ = written.error();
}

Result<store::TargetFile*> DeliverySession::find(uint32_t number) {
  const auto found = files_.find(number);
  if (found == files_.end())
    return fail(ErrorKind::invalid_argument, fmt::format("there is no file of number {}", number));
  return found->second.get();
}

}  // namespace forebay::job
