// What a connection borrows (docs/decisions/0069-locks-that-are-kept.md): the thread that answers recalls, and requests
// that are served from loans.
#include <algorithm>
#include <cerrno>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lock/connection.h"
#include "lock/connection_waiter.h"
#include "lock/quiet_thread.h"

namespace forebay::lock {
namespace {

constexpr size_t kBellBytes = 4096;

}  // namespace

bool Connection::lost(uint64_t request) const {
  if (!any_lost_.load()) return false;
  const std::lock_guard lock(mutex_);
  return loans_.lost(request);
}

// What is served from loans is to be of use for a while: with less than half of the lease left it is renewed before.
Result<Loans::Served> Connection::serve(Waiter& waiter, bool only_try, Clock::time_point deadline) {
  const Waiter::Wants& wants = waiter.wants;
  std::unique_lock lock(mutex_);
  if (!failure_ && loans_.any() && valid_until() - now() < lease_ / 2) {
    lock.unlock();
    if (auto renewed = renew(deadline); !renewed) {
      if (Clock::now() < deadline) return std::unexpected(std::move(renewed).error());
      return fail(ErrorKind::timeout, "the lock was not granted in time", name_);
    }
    lock.lock();
  }
  if (failure_) return std::unexpected(*failure_);
  const Loans::Served served = loans_.serve(wants.file, waiter.number, *wants.region, wants.access, only_try);
  if (served == Loans::Served::waits) {
    waiter.served_here = true;
    waiter.sent = now();
    waiters_.emplace(waiter.number, &waiter);
  } else if (served == Loans::Served::too_many) {
    const wire::Recall loan{*loans_.loan_of(wants.file, *wants.region, wants.access), {}};
    lock.unlock();
    give_back(std::span(&loan, 1));
  } else if (served == Loans::Served::no) {
    waiter.may_lend = borrows_.load() && loans_.may_ask();
    if (waiter.may_lend) waiter.ahead = foresight_.ask(wants.file, *wants.region, wants.access).value_or(Ahead{});
  }
  return served;
}

// The whole file, or as many elements at most as were asked ahead, with the request itself.
bool Connection::may_be_lent(const Waiter& waiter, uint64_t count) {
  return waiter.wants.region != nullptr && waiter.may_lend && (count == 0 || count - 1 <= waiter.ahead.count);
}

// An answer to a request that was given up finds nobody; its release is on its way.
void Connection::lent(const wire::Lent& message) {
  const auto found = waiters_.find(message.request);
  if (found == waiters_.end()) return;
  const Waiter::Wants& wants = found->second->wants;
  if (!may_be_lent(*found->second, message.count))
    return fail_locked({ErrorKind::corrupt, "the lock server lends what was not asked for", name_, {}, {}});
  if (!loans_.any()) wake_recall_thread();
  if (message.count == 0) {
    loans_.lend(wants.file, message.request, *wants.region, wants.access);
  } else {
    loans_.lend(wants.file, message.request, *wants.region, wants.access, found->second->ahead.stride, message.count);
    foresight_.lent(wants.file, *wants.region, wants.access, message.count);
  }
  const auto early = early_recalls_.extract(message.request);
  if (early || !borrows_.load()) recalled_.push_back({message.request, early ? early.mapped() : Elements{}});
  for (const uint64_t other : loans_.to_make_room()) recalled_.push_back({other, {}});
  answered(message.request, [](Waiter&) {});
}

// Comes twice.
void Connection::recalled(const wire::Recall& message) {
  if (loans_.has(message.loan))
    recalled_.push_back(message);
  else if (waiters_.contains(message.loan))
    early_recalls_.insert_or_assign(message.loan, message.wanted);
}

void Connection::taken(uint64_t loan) {
  for (const uint64_t number : loans_.taken(loan))
    finish(number, [](Waiter& waiter) { waiter.refused = wire::Reason::gone; });
  any_lost_.store(loans_.any_lost());
}

void Connection::answer_recalls() {
  std::vector<wire::Recall> loans;
  {
    const std::lock_guard lock(mutex_);
    loans.swap(recalled_);
  }
  if (!loans.empty()) give_back(loans);
}

// Nobody sends anything between: what a thread says of a request that was returned comes after the return.
void Connection::give_back(std::span<const wire::Recall> loans) {
  const std::lock_guard sending(send_mutex_);
  out_.clear();
  for (const wire::Recall& one : loans) {
    const std::lock_guard lock(mutex_);
    if (failure_) return;
    if (!one.wanted.empty()) foresight_.recalled(loans_.file_of(one.loan));
    const auto message = loans_.give_back(one.loan, one.wanted, [this] { return next_number_.fetch_add(1); });
    if (!message) continue;
    wire::encode(out_, *message);
    for (const wire::Return::Part& part : message->parts) {
      const auto waiter = waiters_.find(part.request);
      if (waiter == waiters_.end()) continue;
      waiter->second->served_here = false;
      waiter->second->changed.notify_one();
    }
  }
  if (out_.empty()) return;
  if (auto sent = send(out_); !sent) fail_with(std::move(sent).error());
}

void Connection::wake_recall_thread() {
  const uint64_t one = 1;
  (void)!::write(wake_.get(), &one, sizeof one);
}

void Connection::start_recall_thread() {
  wake_ = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake_) return;
  borrows_.store(true);  // before the thread may find that it must not
  auto thread = quiet_thread("forebay-recalls", [this] { listen(); });
  if (thread)
    recall_thread_ = std::make_unique<std::thread>(std::move(*thread));
  else
    borrows_.store(false);
}

// It may wait for an answer of the server, which nobody wants any more.
void Connection::end_recall_thread() {
  if (!recall_thread_) return;
  ending_.store(true);
  wake_recall_thread();
  ::shutdown(fd_.get(), SHUT_RD);
  recall_thread_->join();
}

void Connection::listen() {
  auto look = Clock::now() + lease_ / 3;
  while (!ending_.load() && !failed()) {
    bool any = false;
    {
      const std::lock_guard lock(mutex_);
      any = loans_.any();
    }
    const auto now = Clock::now();
    if (!any) look = now + lease_ / 3;
    if (now >= look) {
      look_after_loans();
      look = Clock::now() + lease_ / 3;
      continue;
    }
    const auto left = std::min<Clock::duration>(look - now, std::chrono::hours(1));
    const auto patience = static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(left).count());
    pollfd both[] = {{bell_->fd_.get(), POLLIN, 0}, {wake_.get(), POLLIN, 0}};
    if (::poll(both, 2, any ? patience : -1) < 0 && errno != EINTR) break;
    uint64_t count = 0;
    if (both[1].revents != 0) (void)!::read(wake_.get(), &count, sizeof count);
    if (both[0].revents != 0 && !hear()) break;
    answer_recalls();
  }
  if (!ending_.load()) stop_borrowing();
}

Result<void> Connection::hear() {
  fabric::FrameParser& in = bell_->in_;
  const auto room = in.room(kBellBytes);
  const ssize_t got = ::recv(bell_->fd_.get(), room.data(), room.size(), MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return {};
  if (got <= 0) return fail(ErrorKind::disconnected, "the lock server has closed the bell", name_);
  in.commit(static_cast<size_t>(got));
  for (;;) {
    FOREBAY_TRY(const auto frame, in.next());
    if (!frame) return {};
    FOREBAY_TRY(const auto message, wire::decode_server(*frame));
    const auto* recall = std::get_if<wire::Recall>(&message);
    if (recall == nullptr) continue;
    const std::lock_guard lock(mutex_);
    recalled(*recall);
  }
}

// A renewal that fails is an end that others find, too.
void Connection::look_after_loans() {
  std::vector<wire::Recall> idle;
  {
    const std::lock_guard lock(mutex_);
    for (const uint64_t loan : loans_.idle()) idle.push_back({loan, {}});
  }
  if (!idle.empty()) give_back(idle);
  {
    const std::lock_guard lock(mutex_);
    if (!loans_.any()) return;
  }
  (void)renew(Clock::now() + lease_);
}

// Where recalls are not heard any more.
void Connection::stop_borrowing() {
  borrows_.store(false);
  probe();
  {
    const std::lock_guard lock(mutex_);
    for (const uint64_t loan : loans_.all()) recalled_.push_back({loan, {}});
  }
  answer_recalls();
}

}  // namespace forebay::lock
