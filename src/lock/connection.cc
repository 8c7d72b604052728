#include "lock/connection.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lock/connection_waiter.h"

namespace forebay::lock {
namespace {

constexpr size_t kReadBytes = 4096;

Error closed(const std::string& server) {
  return {ErrorKind::disconnected, "the lock server has closed the connection", server, {}, {}};
}

}  // namespace

Connection::~Connection() {
  if (!own()) {
    (void)recall_thread_.release();  // the parent's
    return;
  }
  end_recall_thread();
  // With unread bytes the system would reset the connection, and the server could not tell this from a lost host.
  std::byte rest[kReadBytes];
  while (::recv(fd_.get(), rest, sizeof rest, MSG_DONTWAIT) > 0) {
  }
}

Error Connection::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_ ? *failure_ : closed(name_);
}

void Connection::fail_with(Error error) {
  const std::lock_guard lock(mutex_);
  fail_locked(std::move(error));
}

void Connection::fail_locked(Error error) {
  if (failure_) return;
  failure_ = std::move(error);
  failed_.store(true);
  for (const auto& [number, waiter] : waiters_) waiter->changed.notify_one();
}

std::unexpected<Error> Connection::silent() {
  silent_.store(true);
  return fail(ErrorKind::disconnected, "the lock server does not answer", name_);
}

Result<void> Connection::send(const Bytes& bytes) {
  const auto deadline = Clock::now() + lease_;
  for (size_t sent = 0; sent < bytes.size();) {
    const ssize_t count = ::send(fd_.get(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count >= 0) {
      sent += static_cast<size_t>(count);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      const auto room = fabric::wait_for(fd_.get(), POLLOUT, deadline);
      if (!room || !*room) return silent();
    } else if (errno != EINTR) {
      return std::unexpected(closed(name_));
    }
  }
  return {};
}

// Registers the waiter before the answer can come. Its time is that before anything is sent: the lease counts from it.
template <class Encode>
Result<void> Connection::send_request(Waiter& waiter, const Encode& encode) {
  const std::lock_guard sending(send_mutex_);
  out_.clear();
  encode(out_);
  if (out_.size() > wire::kMaxBody) {
    files_.clear();  // the name, if there was one, is not sent either
    return fail(ErrorKind::limit, "the list of a lock request is too long");
  }
  waiter.sent = now();
  {
    const std::lock_guard lock(mutex_);
    if (failure_) return std::unexpected(*failure_);
    waiters_.emplace(waiter.number, &waiter);
  }
  auto sent = send(out_);
  if (out_.capacity() > (1u << 20)) Bytes().swap(out_);
  if (sent) return {};
  fail_with(sent.error());
  forget(waiter.number);
  return sent;
}

// The server learns a name once. When all numbers are used up, they are given anew: requests keep their file.
uint32_t Connection::file_number(std::string_view file) {
  if (const auto found = files_.find(file); found != files_.end()) return found->second;
  if (files_.size() == wire::kMaxFiles) files_.clear();
  const auto number = static_cast<uint32_t>(files_.size());
  files_.emplace(file, number);
  wire::encode(out_, number, file);
  return number;
}

Result<std::optional<uint64_t>> Connection::lock(std::string_view file, const Region& region, Access access,
                                                 bool only_try, Clock::time_point deadline) {
  if (region.terms().size() > max_terms_)
    return fail(ErrorKind::limit,
                fmt::format("a list of {} terms, where the lock server takes {}", region.terms().size(), max_terms_));
  for (;;) {
    Waiter waiter(next_number_.fetch_add(1));
    waiter.wants = {file, &region, access};
    FOREBAY_TRY(const Loans::Served served, serve(waiter, only_try, deadline));
    if (served == Loans::Served::held) return waiter.number;
    if (served == Loans::Served::busy) return std::nullopt;
    if (served != Loans::Served::waits) {
      FOREBAY_CHECK(send_request(waiter, [&](Bytes& to) {
        const uint32_t number = file_number(file);
        wire::encode(to, waiter.number, number, access, {only_try, waiter.may_lend, waiter.ahead}, region);
      }));
    }
    if (auto waited = wait(waiter, deadline); !waited) {
      if (waited.error().kind == ErrorKind::timeout) release(file, waiter.number);
      return std::unexpected(std::move(waited).error());
    }
    if (!waiter.refused) return waiter.number;
    switch (*waiter.refused) {
      case wire::Reason::gone:
        continue;  // it waited for a loan that has ended
      case wire::Reason::busy:
        return std::nullopt;
      case wire::Reason::terms:
        return fail(ErrorKind::limit, "the lock server refuses the list as too long", name_);
      case wire::Reason::memory:
        return fail(ErrorKind::limit, "the lock server has no more memory for this process", name_);
      default:
        return fail(ErrorKind::internal, "the lock server does not know the file", name_);
    }
  }
}

void Connection::release(std::string_view file, uint64_t request) {
  if (!own() || failed()) return;
  {
    const std::lock_guard lock(mutex_);
    if (const auto granted = loans_.release(file, request)) {
      for (const uint64_t number : *granted) finish(number, [](Waiter&) {});
      return;
    }
    loans_.forget(request);
  }
  const std::lock_guard sending(send_mutex_);
  out_.clear();
  wire::encode(out_, wire::Release{request});
  if (auto sent = send(out_); !sent) fail_with(std::move(sent).error());
}

Result<void> Connection::renew(Clock::time_point deadline) {
  Waiter waiter(next_number_.fetch_add(1));
  FOREBAY_CHECK(send_request(waiter, [&](Bytes& to) { wire::encode(to, wire::Renew{waiter.number}); }));
  auto waited = wait(waiter, deadline);
  if (!waited && waited.error().kind == ErrorKind::timeout)
    return fail(ErrorKind::disconnected, "the lock server is too slow to renew the lease", name_);
  return waited;
}

Result<int64_t> Connection::count(wire::CounterAction action, std::string_view counter, int64_t operand) {
  Waiter waiter(next_number_.fetch_add(1));
  FOREBAY_CHECK(send_request(waiter, [&](Bytes& to) {
    wire::encode(to, wire::Counter{waiter.number, action, operand, std::string(counter)});
  }));
  FOREBAY_CHECK(wait(waiter, Clock::time_point::max()));
  if (waiter.refused) return fail(ErrorKind::limit, "the lock server has no more memory for this process", name_);
  return waiter.value;
}

Result<std::vector<wire::Status>> Connection::query(Clock::time_point deadline) {
  Waiter waiter(next_number_.fetch_add(1));
  FOREBAY_CHECK(send_request(waiter, [&](Bytes& to) { wire::encode(to, wire::Query{waiter.number}); }));
  FOREBAY_CHECK(wait(waiter, deadline));
  return std::move(waiter.status);
}

void Connection::forget(uint64_t number) {
  const std::lock_guard lock(mutex_);
  waiters_.erase(number);
}

Result<void> Connection::wait(Waiter& waiter, Clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  while (!waiter.done && !failure_) {
    if (Clock::now() >= deadline) break;
    if (!leading_ && !waiter.served_here)
      lead(lock, waiter, deadline);
    else if (deadline == Clock::time_point::max())
      waiter.changed.wait(lock);
    else
      waiter.changed.wait_until(lock, deadline);
  }
  if (waiter.done) return {};
  waiters_.erase(waiter.number);
  early_recalls_.erase(waiter.number);
  // This thread may have been called to lead: another one is, in its place.
  if (!leading_) pass_on();
  if (failure_) return std::unexpected(*failure_);
  return fail(ErrorKind::timeout, "the lock was not granted in time", name_);
}

void Connection::lead(std::unique_lock<std::mutex>& lock, const Waiter& waiter, Clock::time_point deadline) {
  leading_ = true;
  while (!waiter.done && !failure_) {
    const auto now = this->now();
    // A server that acknowledges nothing for as long as a lease lasts is lost.
    const auto end = std::max(valid_until(), waiter.sent + lease_);
    const auto due = end - lease_ * 2 / 3;
    if (now >= end) fail_locked(silent().error());
    const auto left = deadline - Clock::now();
    if (failure_ || left <= Clock::duration::zero()) break;
    if (now >= due && !heartbeat_) renew_while_waiting(lock);
    read(std::min(left, (now >= due ? end : due) - now), lock);
  }
  leading_ = false;
  pass_on();
}

// Those that wait for another thread of this process read nothing.
void Connection::pass_on() {
  for (const auto& [number, waiter] : waiters_)
    if (!waiter->served_here) return waiter->changed.notify_one();
}

void Connection::renew_while_waiting(std::unique_lock<std::mutex>& lock) {
  const uint64_t number = next_number_.fetch_add(1);
  heartbeat_ = {number, now()};
  lock.unlock();
  {
    const std::lock_guard sending(send_mutex_);
    out_.clear();
    wire::encode(out_, wire::Renew{number});
    if (auto sent = send(out_); !sent) fail_with(std::move(sent).error());
  }
  lock.lock();
}

void Connection::read(Clock::duration patience, std::unique_lock<std::mutex>& lock) {
  lock.unlock();
  const auto ready = fabric::wait_for(fd_.get(), POLLIN, Clock::now() + patience);
  ssize_t got = -1;
  int error = EAGAIN;
  if (ready && *ready) {
    const auto room = in_.room(kReadBytes);
    got = ::recv(fd_.get(), room.data(), room.size(), MSG_DONTWAIT);
    error = errno;
  }
  lock.lock();
  if (got > 0) {
    in_.commit(static_cast<size_t>(got));
    understand();
    if (!recalled_.empty()) {
      lock.unlock();
      answer_recalls();
      lock.lock();
    }
  } else if (got == 0 || (error != EAGAIN && error != EINTR)) {
    fail_locked(closed(name_));
  }
}

void Connection::understand() {
  while (!failure_) {
    auto frame = in_.next();
    if (!frame) return fail_locked(std::move(frame).error());
    if (!*frame) return;
    auto message = wire::decode_server(**frame);
    if (!message) return fail_locked(std::move(message).error());
    hand_out(std::move(*message));
  }
}

// Answers to requests that were given up find nobody.
void Connection::hand_out(wire::ServerMessage message) {
  if (const auto* granted = std::get_if<wire::Granted>(&message)) {
    answered(granted->request, [](Waiter&) {});
  } else if (const auto* refused = std::get_if<wire::Refused>(&message)) {
    answered(refused->request, [&](Waiter& waiter) { waiter.refused = refused->reason; });
  } else if (const auto* value = std::get_if<wire::Value>(&message)) {
    answered(value->request, [&](Waiter& waiter) { waiter.value = value->value; });
  } else if (const auto* renewed = std::get_if<wire::Renewed>(&message)) {
    if (heartbeat_ && heartbeat_->first == renewed->number) {
      acknowledged(heartbeat_->second);
      heartbeat_.reset();
    }
    answered(renewed->number, [](Waiter&) {});
  } else if (auto* status = std::get_if<wire::Status>(&message)) {
    const auto found = waiters_.find(status->request);
    if (found == waiters_.end()) return;
    const bool last = status->last;
    found->second->status.push_back(std::move(*status));
    if (last) answered(found->first, [](Waiter&) {});
  } else if (const auto* loan = std::get_if<wire::Lent>(&message)) {
    lent(*loan);
  } else if (const auto* wanted = std::get_if<wire::Recall>(&message)) {
    recalled(*wanted);
  } else if (const auto* over = std::get_if<wire::Taken>(&message)) {
    taken(over->loan);
  } else if (std::holds_alternative<wire::Expired>(message)) {
    fail_locked({ErrorKind::disconnected,
                 "the lease has ended: the lock server did not hear of this process in time",
                 name_,
                 {},
                 {}});
  }
}

void Connection::answered(uint64_t number, const std::function<void(Waiter&)>& fill) {
  finish(number, [&](Waiter& waiter) {
    acknowledged(waiter.sent);
    fill(waiter);
  });
}

void Connection::finish(uint64_t number, const std::function<void(Waiter&)>& fill) {
  const auto found = waiters_.find(number);
  if (found == waiters_.end()) return;
  Waiter& waiter = *found->second;
  waiters_.erase(found);
  fill(waiter);
  waiter.done = true;
  waiter.changed.notify_one();
}

void Connection::acknowledged(Clock::time_point sent) {
  const auto until = (sent + lease_).time_since_epoch().count();
  if (until > valid_until_.load()) valid_until_.store(until);
}

void Connection::probe() {
  std::unique_lock lock(mutex_);
  if (leading_ || failure_) return;
  std::byte byte;
  const ssize_t got = ::recv(fd_.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) fail_locked(closed(name_));
}

}  // namespace forebay::lock
