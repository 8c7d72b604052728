#include "job/wire/check.h"

#include <string>
#include <string_view>

#include "base/catalogue.h"
#include "base/layout.h"
#include "job/wire/messages.h"

namespace forebay::job::wire {
namespace {

constexpr size_t kMaxComponent = 255;
constexpr uint32_t kMaxMode = 07777;
constexpr uint32_t kNobody = 0xffffffff;
// What an entry of a list takes in a body at least: its offset, its table, and the lengths of its texts. Who lets many
// entries share one text could make a small body large otherwise.
constexpr size_t kEntryBytes = 16;

using Text = flatbuffers::String;

std::unexpected<Error> broken(std::string what) { return fail(ErrorKind::corrupt, std::move(what)); }

std::string_view view(const Text* text) { return text == nullptr ? std::string_view() : text->string_view(); }

bool is_component(std::string_view name) {
  return name.size() <= kMaxComponent && is_safe_name(name) && name.find('/') == std::string_view::npos;
}

Result<void> check_set(const Text* name) {
  if (!is_component(view(name))) return broken("a message with a set's name that is no name");
  return {};
}

// Where a message may have none.
Result<void> check_optional(const Text* name) { return view(name).empty() ? Result<void>() : check_set(name); }

Result<void> check_name(const Text* name) {
  if (!is_safe_name(view(name))) return broken("a message with a file's name that leads elsewhere");
  return {};
}

Result<void> check_target(const Text* target) {
  if (view(target).empty() || view(target).size() > kMaxPathBytes || view(target).find('\0') != std::string_view::npos)
    return broken("a message with a link to nothing");
  return {};
}

Result<void> check_attributes(uint32_t mode, uint32_t mtime_ns) {
  if (mode > kMaxMode || mtime_ns >= 1'000'000'000) return broken("a message with impossible attributes of a file");
  return {};
}

template <class Enum>
Result<void> check_enum(Enum value, Enum most) {
  if (value > most) return broken("a message with a value that nobody knows");
  return {};
}

Result<void> check_error_kind(uint8_t kind) { return check_enum(static_cast<ErrorKind>(kind), ErrorKind::internal); }

// Takes what lists hold from what the body can hold.
class Budget {
 public:
  explicit Budget(size_t size) : left_(size) {}
  Result<void> take(size_t bytes) {
    if (bytes > left_) return broken("a message in which entries of a list share their texts");
    left_ -= bytes;
    return {};
  }

 private:
  size_t left_;
};

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

Result<void> check_one(const Offer& offer, size_t size) {
  FOREBAY_CHECK(check_set(offer.set()));
  Budget budget(size);
  for (const File* file : *offer.files()) {
    FOREBAY_CHECK(check_one(*file, budget));
    if (file->rank() < -1) return broken("a message with a rank below zero");
  }
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

Result<void> check_tally(const Tally* tally) {
  constexpr size_t kMostNames = 64;
  if (tally == nullptr || tally->latest() == nullptr) return {};
  if (tally->latest()->size() > kMostNames) return broken("a tally with too many names");
  for (const Text* name : *tally->latest()) FOREBAY_CHECK(check_set(name));
  return {};
}

Result<void> check_one(const SetNews& news) {
  FOREBAY_CHECK(check_set(news.set()));
  FOREBAY_CHECK(check_optional(news.stored_as()));
  FOREBAY_CHECK(check_tally(news.tally()));
  return check_enum(news.state(), SetState::failed);
}

Result<void> check_round(uint64_t round) {
  if (round == 0) return broken("a message about a restart, or a rest, that is of no round");
  return {};
}

Result<void> check_one(const RestartReady& ready) {
  FOREBAY_CHECK(check_optional(ready.set()));
  FOREBAY_CHECK(check_optional(ready.stored_as()));
  if (!ready.found()) return {};
  if (view(ready.set()).empty() || view(ready.stored_as()).empty())
    return broken("a restart from a set without a name");
  return check_round(ready.round());
}

Result<void> check_one(const Settled& settled, size_t size) {
  FOREBAY_CHECK(check_round(settled.number()));
  if (settled.left() == nullptr) return {};
  if (settled.left()->size() > kMostLeft) return broken("a message that names too much");
  Budget budget(size);
  for (const Left* left : *settled.left())
    FOREBAY_CHECK(budget.take(kEntryBytes + view(left->name()).size() + view(left->reason()).size()));
  return {};
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
    case Body::AgentHello:
      return check_tally(message.body_as_AgentHello()->tally());
    case Body::Offer:
      return check_one(*message.body_as_Offer(), size);
    case Body::Task:
      return check_one(*message.body_as_Task(), size);
    case Body::Withdrawn:
      return check_set(message.body_as_Withdrawn()->set());
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
    case Body::Settled:
      return check_one(*message.body_as_Settled(), size);
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
      return check_set(message.body_as_Begin()->set());
    case Body::Completed:
      return check_set(message.body_as_Completed()->set());
    case Body::Wait:
      return check_set(message.body_as_Wait()->set());
    case Body::Restarted:
      return check_optional(message.body_as_Restarted()->set());
    case Body::Refused:
      return check_error_kind(message.body_as_Refused()->error_kind());
    case Body::NONE:
      return broken("a message without a body");
    default:
      return check_enum(message.body_type(), Body::MAX);
  }
}

}  // namespace forebay::job::wire
