#include "job/wire/check.h"

#include <string_view>

#include "base/catalogue.h"
#include "job/wire/check_parts.h"
#include "job/wire/messages.h"

namespace forebay::job::wire {
namespace {

Result<void> check_one(const File& file, Budget& budget) {
  FOREBAY_CHECK(budget.take(kEntryBytes + view(file.name()).size() + view(file.link_target()).size()));
  FOREBAY_CHECK(check_name(file.name()));
  FOREBAY_CHECK(check_attributes(file.mode(), file.mtime_ns()));
  FOREBAY_CHECK(check_enum(static_cast<FileKind>(file.kind()), FileKind::symlink));
  const auto kind = static_cast<FileKind>(file.kind());
  if (kind != FileKind::regular && file.size() != 0) return broken("a message with a directory that has a size");
  if (kind == FileKind::symlink) return check_target(file.link_target());
  if (!view(file.link_target()).empty()) return broken("a message with a link that is none");
  return {};
}

Result<void> check_ordinal(uint64_t ordinal) {
  constexpr uint64_t kMost = uint64_t{1} << 62;  // sets come behind it
  return ordinal <= kMost ? Result<void>() : broken("a message with an impossible place of a set");
}

Result<void> check_one(const Offer& offer, size_t size) {
  FOREBAY_CHECK(check_set(offer.set()));
  Budget budget(size);
  for (const File* file : *offer.files()) {
    FOREBAY_CHECK(check_one(*file, budget));
    if (file->rank() < -1) return broken("a message with a rank below zero");
  }
  FOREBAY_CHECK(check_ordinal(offer.ordinal()));
  FOREBAY_CHECK(check_policy(offer.policy()));
  FOREBAY_CHECK(check_enum(offer.state(), SetState::cached));
  FOREBAY_CHECK(check_optional(offer.stored_as()));
  FOREBAY_CHECK(check_level(offer.level()));
  FOREBAY_CHECK(check_encodings(offer.encodings(), budget));
  return {};
}

Result<void> check_peers(const Task& task, Budget& budget) {
  if (task.peers() == nullptr) return {};
  for (const Peer* peer : *task.peers())
    FOREBAY_CHECK(budget.take(kEntryBytes + view(peer->node()).size() + view(peer->host()).size() +
                              view(peer->addresses()).size() + view(peer->stage()).size()));
  return {};
}

Result<void> check_one(const Task& task, size_t size) {
  FOREBAY_CHECK(check_enum(task.kind(), TaskKind::deliver));
  FOREBAY_CHECK(check_set(task.set()));
  FOREBAY_CHECK(check_set(task.container()));
  Budget budget(size);
  FOREBAY_CHECK(check_peers(task, budget));
  const size_t peers = task.peers() == nullptr ? 0 : task.peers()->size();
  if (task.files() != nullptr)
    for (const TaskFile* one : *task.files()) {
      FOREBAY_CHECK(check_one(*one->file(), budget));
      if (one->peer() >= peers || one->file()->rank() < 0) return broken("a task with a file that is nobody's");
    }
  if (task.peer_of_rank() != nullptr)
    for (const uint32_t peer : *task.peer_of_rank())
      if (peer >= peers && peer != kNobody) return broken("a task for a rank that nobody has");
  return {};
}

Result<void> check_one(const SetNews& news) {
  FOREBAY_CHECK(check_set(news.set()));
  FOREBAY_CHECK(check_optional(news.stored_as()));
  FOREBAY_CHECK(check_ordinal(news.ordinal()));
  return check_enum(news.state(), SetState::cached);
}

Result<void> check_one(const RestartReady& ready) {
  FOREBAY_CHECK(check_optional(ready.set()));
  FOREBAY_CHECK(check_optional(ready.stored_as()));
  FOREBAY_CHECK(check_ordinal(ready.ordinal()));
  if (!ready.found()) return {};
  if (view(ready.set()).empty() || view(ready.stored_as()).empty())
    return broken("a restart from a set without a name");
  return check_round(ready.round());
}

Result<void> check_rows(const flatbuffers::Vector<flatbuffers::Offset<Left>>* rows, size_t size) {
  if (rows == nullptr) return {};
  if (rows->size() > kMostLeft) return broken("a message that names too much");
  Budget budget(size);
  for (const Left* left : *rows)
    FOREBAY_CHECK(budget.take(kEntryBytes + view(left->name()).size() + view(left->reason()).size() +
                              view(left->place()).size()));
  return {};
}

Result<void> check_one(const Ping& ping, size_t size) { return check_rows(ping.begun(), size); }

Result<void> check_one(const Settled& settled, size_t size) {
  FOREBAY_CHECK(check_round(settled.number()));
  return check_rows(settled.left(), size);
}

Result<void> check_one(const Exclude& exclude) {
  constexpr size_t kMost = 1024;  // it is logged
  const size_t bytes = view(exclude.host()).size();
  return bytes > 0 && bytes <= kMost ? Result<void>()
                                     : broken("a message that excludes a node without a possible name");
}

Result<void> check_streams(uint32_t streams) {
  constexpr uint32_t kMost = 1024;
  return streams >= 1 && streams <= kMost ? Result<void>()
                                          : broken("a message of a worker with an impossible number of streams");
}

Result<void> check_one(const TaskDone& done) {
  FOREBAY_CHECK(check_error_kind(done.error_kind()));
  return check_enum(done.side(), FaultSide::other);
}

Result<void> check_one(const TargetDirectory& directory) {
  FOREBAY_CHECK(check_name(directory.name()));
  return check_attributes(directory.mode(), directory.mtime_ns());
}

Result<void> check_one(const TargetSymlink& link) {
  FOREBAY_CHECK(check_name(link.name()));
  FOREBAY_CHECK(check_attributes(0, link.mtime_ns()));
  return check_target(link.target());
}

}  // namespace

Result<void> check(const Message& message, size_t size) {
  if (message.body() == nullptr) return broken("a message without a body");
  switch (message.body_type()) {
    case Body::Offer:
      return check_one(*message.body_as_Offer(), size);
    case Body::Task:
      return check_one(*message.body_as_Task(), size);
    case Body::Withdrawn:
      return check_set(message.body_as_Withdrawn()->set());
    case Body::Placed:
      FOREBAY_CHECK(check_ordinal(message.body_as_Placed()->ordinal()));
      return check_set(message.body_as_Placed()->set());
    case Body::SetNews:
      return check_one(*message.body_as_SetNews());
    case Body::RestartReady:
      return check_one(*message.body_as_RestartReady());
    case Body::RestartPublished:
      return check_round(message.body_as_RestartPublished()->round());
    case Body::RestartDone:
      return check_round(message.body_as_RestartDone()->round());
    case Body::Settle:
      return check_round(message.body_as_Settle()->number());
    case Body::Ping:
      return check_one(*message.body_as_Ping(), size);
    case Body::Settled:
      return check_one(*message.body_as_Settled(), size);
    case Body::WorkerHello:
      return check_streams(message.body_as_WorkerHello()->streams());
    case Body::WorkerStreams:
      return check_streams(message.body_as_WorkerStreams()->streams());
    case Body::TaskDone:
      return check_one(*message.body_as_TaskDone());
    case Body::TargetOpen:
      return check_set(message.body_as_TargetOpen()->set());
    case Body::TargetFile:
      return check_name(message.body_as_TargetFile()->name());
    case Body::TargetCommit:
      return check_attributes(message.body_as_TargetCommit()->mode(), message.body_as_TargetCommit()->mtime_ns());
    case Body::TargetDirectory:
      return check_one(*message.body_as_TargetDirectory());
    case Body::TargetSymlink:
      return check_one(*message.body_as_TargetSymlink());
    case Body::Begin:
      FOREBAY_CHECK(check_policy(message.body_as_Begin()->policy()));
      return check_set(message.body_as_Begin()->set());
    case Body::Restart:
      return check_optional(message.body_as_Restart()->newest());
    case Body::RestartRequest:
      return check_optional(message.body_as_RestartRequest()->newest());
    case Body::Completed:
      return check_set(message.body_as_Completed()->set());
    case Body::Wait:
      return check_set(message.body_as_Wait()->set());
    case Body::Restarted:
      FOREBAY_CHECK(check_optional(message.body_as_Restarted()->set()));
      return check_optional(message.body_as_Restarted()->stored_as());
    case Body::Exclude:
      return check_one(*message.body_as_Exclude());
    case Body::Refused:
      return check_error_kind(message.body_as_Refused()->error_kind());
    case Body::NONE:
      return broken("a message without a body");
    default:
      FOREBAY_CHECK(check_cache_message(message, size));
      return check_enum(message.body_type(), Body::MAX);
  }
}

}  // namespace forebay::job::wire
