#include "fabric/hub.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fabric/hub_impl.h"
#include "fabric/munge.h"
#include "fabric/pipe_signal.h"

namespace forebay::fabric {
namespace {

constexpr int kEvents = 256;        // of one round
constexpr int kAcceptsAtOnce = 64;  // of one round: those that are there are heard in between
constexpr std::chrono::milliseconds kNoDescriptorsPause{100};
constexpr unsigned kLogLinesPerSecond = 20;
constexpr uint64_t kWakeupId = 0;

// Those who are known need descriptors, too.
Strangers::Limits stranger_limits() {
  rlimit files{};
  Strangers::Limits limits;
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0) limits.all = std::clamp<size_t>(files.rlim_cur / 4, 16, limits.all);
  limits.of_source = std::min(limits.of_source, limits.all / 2);
  return limits;
}

}  // namespace

Hub::Hub(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Hub::~Hub() = default;

Result<std::unique_ptr<Hub>> Hub::create(HubOptions options) {
  FOREBAY_TRY(Listening listening, Listening::open(options.listen, options.ports));
  auto impl = std::make_unique<Impl>(std::move(options), std::move(listening));
  FOREBAY_CHECK(impl->prepare());
  return std::unique_ptr<Hub>(new Hub(std::move(impl)));
}

const std::vector<Address>& Hub::addresses() const { return impl_->addresses; }

// Without memory nothing sensible can be promised: the peers see lost connections.
Result<void> Hub::run(HubHandler& handler) {
  const WithoutPipeSignal quiet;
  impl_->handler = &handler;
  try {
    auto result = impl_->serve();
    impl_->listening.reset();
    return result;
  } catch (const std::bad_alloc&) {
    impl_->end();
    return fail(ErrorKind::limit, "no memory left");
  }
}

void Hub::stop() {
  impl_->stopping.store(true);
  impl_->wake();
}

void Hub::post(std::function<void()> action) {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->posted.push_back(std::move(action));
  }
  impl_->wake();
}

void Hub::send(ConnectionId id, std::span<const std::byte> frames) {
  Impl::Connection* connection = impl_->find(id);
  if (connection == nullptr || connection->mute) return;
  connection->out.append(frames);
  impl_->send_later(*connection);
}

void Hub::send_file(ConnectionId id, std::span<const std::byte> before, std::shared_ptr<const FileSource> file,
                    uint64_t offset, uint64_t length) {
  Impl::Connection* connection = impl_->find(id);
  if (connection == nullptr || connection->mute) return;
  connection->out.append(before);
  connection->out.append(std::move(file), offset, length);
  impl_->send_later(*connection);
}

void Hub::close(ConnectionId id) {
  Impl::Connection* connection = impl_->find(id);
  if (connection == nullptr) return;
  connection->closing = true;
  impl_->closings.push_back(id);
}

ConnectionId Hub::adopt(Link link) {
  std::string peer = link.peer();
  return impl_->adopt(link.release(), std::move(peer));
}

Result<void> Hub::watch(int fd, std::function<void()> ready) {
  const uint64_t id = impl_->next_id++;
  FOREBAY_CHECK(impl_->add(fd, id));
  impl_->watches.emplace(id, Impl::Watch{fd, std::move(ready)});
  return {};
}

void Hub::forget(int fd) {
  if (std::erase_if(impl_->watches, [fd](const auto& one) { return one.second.fd == fd; }) == 0) return;
  ::epoll_ctl(impl_->epoll.get(), EPOLL_CTL_DEL, fd, nullptr);
}

Hub::Impl::Impl(HubOptions hub_options, Listening listening_sockets)
    : options(std::move(hub_options)),
      listening(std::move(listening_sockets)),
      addresses(listening->addresses()),
      epoll(::epoll_create1(EPOLL_CLOEXEC)),
      wakeup(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      voucher(munge_voucher()),
      next_id(listening->sockets().size() + 1),
      strangers(stranger_limits()),
      log_limit(kLogLinesPerSecond) {}

Result<void> Hub::Impl::prepare() {
  if (!epoll) return fail_errno(errno, "epoll_create1", {});
  if (!wakeup) return fail_errno(errno, "eventfd", {});
  FOREBAY_CHECK(add(wakeup.get(), kWakeupId));
  const auto& sockets = listening->sockets();
  for (size_t i = 0; i < sockets.size(); ++i) FOREBAY_CHECK(add(sockets[i].fd.get(), i + 1));
  return {};
}

Result<void> Hub::Impl::add(int fd, uint64_t id) {
  epoll_event event{.events = EPOLLIN, .data = {.u64 = id}};
  if (::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, fd, &event) != 0) return fail_errno(errno, "epoll_ctl", {});
  return {};
}

void Hub::Impl::wake() {
  const uint64_t one = 1;
  (void)!::write(wakeup.get(), &one, sizeof one);
}

void Hub::Impl::end() {
  listening.reset();
  connections.clear();
}

Result<void> Hub::Impl::serve() {
  epoll_event events[kEvents];
  while (!stopping.load()) {
    const int count = ::epoll_wait(epoll.get(), events, kEvents, timeout(std::chrono::steady_clock::now()));
    if (count < 0 && errno == EINTR) continue;  // also after SIGCONT, when there may be much to be heard
    if (count < 0) return fail_errno(errno, "epoll_wait", {});
    for (int i = 0; i < count; ++i) handle(events[i].data.u64);
    end_round(count < kEvents);
  }
  return {};
}

void Hub::Impl::handle(uint64_t id) {
  if (id == kWakeupId) {
    run_posted();
  } else if (listening && id <= listening->sockets().size()) {
    accept_from(listening->sockets()[id - 1]);
  } else if (Connection* connection = find(id); connection != nullptr) {
    if (connection->writing && !send_some(*connection)) return close(id, Ending::broken);
    read_from(*connection);
  } else if (const auto found = watches.find(id); found != watches.end()) {
    const auto ready = found->second.ready;  // which may forget itself
    ready();
  }
}

void Hub::Impl::run_posted() {
  uint64_t count = 0;
  (void)!::read(wakeup.get(), &count, sizeof count);
  std::vector<std::function<void()>> actions;
  {
    const std::lock_guard lock(mutex);
    actions.swap(posted);
  }
  for (const auto& action : actions) action();
}

// Deadlines are looked at when everything that has arrived was heard: who was stopped for a while must not take others
// for the ones that were silent.
void Hub::Impl::end_round(bool heard_all) {
  const auto now = std::chrono::steady_clock::now();
  if (heard_all && now >= handler->next_tick()) handler->tick(now);
  while (!unsent.empty() || !closings.empty()) {
    flush();
    close_those_asked_for();
  }
  close_late_strangers(now);
  if (now >= listen_again_at) listen_again(true);
}

int Hub::Impl::timeout(Time now) const {
  const Time next = std::min({handler->next_tick(), listen_again_at, strangers.next_deadline()});
  if (next == Time::max()) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - now).count();
  return static_cast<int>(std::clamp<int64_t>(left, 0, 60'000));
}

void Hub::Impl::accept_from(const Listener& listener) {
  for (int i = 0; i < kAcceptsAtOnce; ++i) {
    Fd fd(::accept4(listener.fd.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (fd) {
      admit(std::move(fd));
      continue;
    }
    if (errno == EINTR || errno == ECONNABORTED) continue;
    if (errno == EAGAIN || errno == EWOULDBLOCK) return;
    log(Severity::warning, fmt::format("no connection can be accepted for a while: {}", std::strerror(errno)));
    listen_again_at = std::chrono::steady_clock::now() + kNoDescriptorsPause;
    return listen_again(false);
  }
}

void Hub::Impl::listen_again(bool on) {
  if (on) listen_again_at = Time::max();
  if (on == accepting) return;
  accepting = on;
  const auto& sockets = listening->sockets();
  for (size_t i = 0; i < sockets.size(); ++i) {
    epoll_event event{.events = on ? uint32_t{EPOLLIN} : 0u, .data = {.u64 = i + 1}};
    ::epoll_ctl(epoll.get(), EPOLL_CTL_MOD, sockets[i].fd.get(), &event);
  }
}

void Hub::Impl::close_late_strangers(Time now) {
  while (const auto id = strangers.late(now)) {
    if (const Connection* stranger = find(*id))
      log(Severity::warning, fmt::format("refused {}: it did not prove who it is in time", stranger->peer));
    close(*id, Ending::broken);
    strangers.remove(*id);
  }
}

void Hub::Impl::log(Severity severity, const std::string& text) {
  if (options.log && log_limit.admits(std::chrono::steady_clock::now())) options.log(severity, text);
}

}  // namespace forebay::fabric
