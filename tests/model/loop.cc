#include "loop.h"

#include "base/checksum.h"
#include "fabric/framing.h"

namespace forebay::job::model {
namespace {

// Most messages take a millisecond or two, some longer, and few very long. Seed 0: all the same.
Duration latency(uint64_t seed, uint64_t salt) {
  if (seed == 0) return 1ms;
  const uint64_t random = mix(seed, salt);
  const uint64_t kind = random % 100, amount = random / 100;
  if (kind < 70) return std::chrono::microseconds(200 + amount % 2'000);
  if (kind < 95) return std::chrono::microseconds(2'000 + amount % 20'000);
  return std::chrono::microseconds(20'000 + amount % 400'000);
}

}  // namespace

uint64_t mix(uint64_t a, uint64_t b) {
  uint64_t x = a + 0x9e3779b97f4a7c15u * (b + 1);
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

void Loop::at(Time when, ProcessRef process, std::function<void()> what) {
  events_.push({std::max(when, now), next_++, std::move(process), std::move(what)});
}

bool Loop::step(Time until) {
  if (events_.empty() || events_.top().when > until) {
    now = std::max(now, until);
    return false;
  }
  Event event = std::move(const_cast<Event&>(events_.top()));
  events_.pop();
  now = std::max(now, event.when);
  ++steps_;
  if (event.process && !event.process->is_alive) return true;
  if (event.process && event.process->is_paused)
    event.process->deferred.push_back(std::move(event.what));
  else
    event.what();
  return true;
}

void Loop::resume(const ProcessRef& process) {
  process->is_paused = false;
  for (auto& what : std::exchange(process->deferred, {})) at(now, process, std::move(what));
}

LinkId Net::open(End from, End to) {
  const LinkId id = next_++;
  auto link = std::make_shared<Link>();
  const auto names = std::pair(from.process->name, to.process->name);
  link->salt = mix(hash64(as_bytes(names.first)) ^ (hash64(as_bytes(names.second)) << 1), opened_[names]++);
  link->ends = {std::move(from), std::move(to)};
  for (const End& end : link->ends) links_of_[end.process].insert(id);
  links_[id] = std::move(link);
  return id;
}

Duration Net::delay(uint64_t salt) { return latency(seed_, salt); }

Time Net::arrival(Link& link, int to) {
  Time& last = link.last[static_cast<size_t>(to)];
  last = std::max(last, loop_.now + latency(seed_, mix(link.salt, link.count++)));
  return last;
}

void Net::send(LinkId id, const ProcessRef& from, const wire::MessageT& message) {
  const auto found = links_.find(id);
  if (found == links_.end()) return;
  const auto link = found->second;
  const int side = side_of(*link, from), other = 1 - side;
  if (!link->open[static_cast<size_t>(side)] || !link->open[static_cast<size_t>(other)]) return;
  const End& to = link->ends[static_cast<size_t>(other)];
  sent_(from->name, to.process->name, message);
  auto frame = std::make_shared<Bytes>();
  wire::encode(*frame, message);
  loop_.at(arrival(*link, other), to.process, [this, id, link, other, frame] {
    if (link->is_cut || !link->open[static_cast<size_t>(other)]) return;
    const std::span<const std::byte> all(*frame);
    auto decoded = wire::decode(
        {static_cast<uint8_t>(all[fabric::kFrameHeaderBytes - 1]), all.subspan(fabric::kFrameHeaderBytes)});
    if (!decoded) throw std::runtime_error("a message that nobody takes: " + decoded.error().message());
    link->ends[static_cast<size_t>(other)].received(*std::move(decoded));
  });
}

void Net::tell_closed(const std::shared_ptr<Link>& link, LinkId id, int to) {
  const End& end = link->ends[static_cast<size_t>(to)];
  loop_.at(arrival(*link, to), end.process, [this, link, id, to] {
    if (link->is_cut || !std::exchange(link->open[static_cast<size_t>(to)], false)) return;
    links_.erase(id);
    for (const End& one : link->ends) links_of_[one.process].erase(id);
    link->ends[static_cast<size_t>(to)].closed();
  });
}

void Net::close(LinkId id, const ProcessRef& from) {
  const auto found = links_.find(id);
  if (found == links_.end()) return;
  const auto link = found->second;
  const int side = side_of(*link, from);
  if (!std::exchange(link->open[static_cast<size_t>(side)], false)) return;
  if (link->open[static_cast<size_t>(1 - side)]) tell_closed(link, id, 1 - side);
}

void Net::crashed(const ProcessRef& process) {
  const auto theirs = links_of_.find(process);
  if (theirs == links_of_.end()) return;
  for (const LinkId id : std::set(theirs->second)) close(id, process);
}

void Net::cut(const std::string& node) {
  for (auto& [id, link] : links_)
    if (link->ends[0].node == node || link->ends[1].node == node) link->is_cut = true;
}

}  // namespace forebay::job::model
