// Random histories of clients that follow the rules of leases, over connections that delay, break and close, on hosts
// that stop for a while: at no time do two clients have the right to touch the same bytes, unless both only read.
#include <deque>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "lock/overlap.h"
#include "lock/service.h"

namespace forebay::lock {
namespace {

using namespace std::chrono_literals;
using Time = Service::Time;

constexpr auto kHistoryLease = 100ms, kHistoryGrace = 20ms;

struct HeldLock {
  Region region;
  Access access;
  Time sent;
  bool granted = false;
};

// One incarnation of a client: what it knows, and what is under way.
struct Peer {
  SessionId session = 0;
  Time valid_until{};
  Time stopped_until{};
  uint64_t next_request = 1;
  std::map<uint64_t, HeldLock> held;
  std::map<uint64_t, Time> renewals;
  std::deque<std::pair<Time, wire::ClientMessage>> to_server;
  std::deque<std::pair<Time, wire::ServerMessage>> to_client;
  enum class Link : uint8_t { up, down } link = Link::up;  // down: lost, and the server has not noticed
};

class World {
 public:
  explicit World(uint32_t seed) : random_(seed), service_({.lease = kHistoryLease, .grace = kHistoryGrace}, now_) {
    for (int i = 0; i < 5; ++i) peers_.push_back(join());
  }

  void run(int milliseconds) {
    for (int i = 0; i < milliseconds && !testing::Test::HasFailure(); ++i) {
      now_ += 1ms;
      for (Peer& peer : peers_) deliver_to_server(peer);
      service_.tick(now_, out_);
      route();
      for (Peer& peer : peers_)
        if (now_ >= peer.stopped_until) act(peer);
      check();
    }
  }

  uint64_t grants() const { return grants_; }
  uint64_t expiries() const { return expiries_; }

 private:
  uint32_t draw(uint32_t below) { return static_cast<uint32_t>(random_() % below); }

  Peer join() {
    Peer peer;
    peer.session = ++sessions_;
    service_.connected(peer.session, "peer", now_);
    send(peer, wire::Hello{});
    send(peer, wire::File{0, "f"});
    return peer;
  }

  void send(Peer& peer, wire::ClientMessage message) {
    const Time earliest = peer.to_server.empty() ? now_ : std::max(now_, peer.to_server.back().first);
    peer.to_server.emplace_back(earliest + std::chrono::milliseconds(draw(8) == 0 ? draw(150) : draw(4)),
                                std::move(message));
  }

  void deliver_to_server(Peer& peer) {
    while (peer.link == Peer::Link::up && !peer.to_server.empty() && peer.to_server.front().first <= now_) {
      ASSERT_TRUE(service_.receive(peer.session, {std::move(peer.to_server.front().second)}, now_, out_));
      peer.to_server.pop_front();
      route();
    }
  }

  void route() {
    for (Outgoing& one : out_)
      for (Peer& peer : peers_)
        if (peer.session == one.session && peer.link == Peer::Link::up) {
          const Time earliest = peer.to_client.empty() ? now_ : std::max(now_, peer.to_client.back().first);
          peer.to_client.emplace_back(earliest + std::chrono::milliseconds(draw(8) == 0 ? draw(150) : draw(4)),
                                      std::move(one.message));
        }
    out_.clear();
  }

  void act(Peer& peer) {
    while (!peer.to_client.empty() && peer.to_client.front().first <= now_) {
      const wire::ServerMessage message = std::move(peer.to_client.front().second);
      peer.to_client.pop_front();
      if (!understand(peer, message)) return;
    }
    switch (draw(40)) {
      case 0:
      case 1:
      case 2:
        return lock(peer);
      case 3:
      case 4:
        return release(peer);
      case 5:
      case 6:
      case 7:
        peer.renewals.emplace(peer.next_request, now_);
        return send(peer, wire::Renew{peer.next_request++});
      case 8:
        if (draw(20) == 0) peer.stopped_until = now_ + std::chrono::milliseconds(draw(300));
        return;
      case 9:
        if (draw(20) == 0) lose(peer);
        return;
      default:
        return;
    }
  }

  bool understand(Peer& peer, const wire::ServerMessage& message) {
    if (const auto* granted = std::get_if<wire::Granted>(&message)) {
      const auto found = peer.held.find(granted->request);
      if (found == peer.held.end()) return true;  // it was withdrawn
      found->second.granted = true;
      peer.valid_until = std::max(peer.valid_until, found->second.sent + kHistoryLease);
      ++grants_;
    } else if (const auto* renewed = std::get_if<wire::Renewed>(&message)) {
      peer.valid_until = std::max(peer.valid_until, peer.renewals.at(renewed->number) + kHistoryLease);
    } else if (std::holds_alternative<wire::Expired>(message)) {
      ++expiries_;
      EXPECT_LT(peer.valid_until, now_);
      service_.disconnected(peer.session, Service::Ending::orderly, now_, out_);
      peer = join();
      return false;
    }
    return true;
  }

  void lock(Peer& peer) {
    Region region;
    std::vector<Level> levels;
    if (draw(2) == 0) levels.push_back({1 + draw(4), 20 + draw(40)});
    ASSERT_TRUE(region.add(draw(200), 1 + draw(30), levels));
    const Access access = draw(2) == 0 ? Access::shared : Access::exclusive;
    peer.held.emplace(peer.next_request, HeldLock{region, access, now_});
    send(peer, wire::LockRequest{peer.next_request++, 0, access, draw(5) == 0, std::move(region)});
  }

  void release(Peer& peer) {
    if (peer.held.empty()) return;
    const auto one = std::next(peer.held.begin(), draw(static_cast<uint32_t>(peer.held.size())));
    send(peer, wire::Release{one->first});
    peer.held.erase(one);
  }

  // The path breaks: the server notices now, or never; or the client closes in good order. Then it comes anew.
  void lose(Peer& peer) {
    const uint32_t how = draw(3);
    if (how == 0) {
      service_.disconnected(peer.session, Service::Ending::orderly, now_, out_);
    } else {
      if (how == 1) service_.disconnected(peer.session, Service::Ending::broken, now_, out_);
      peer.link = Peer::Link::down;
      ghosts_.push_back(peer);  // its I/O may go on for as long as it has the right to
    }
    peer = join();
  }

  void check() {
    std::vector<const Peer*> all;
    for (const Peer& peer : peers_) all.push_back(&peer);
    std::erase_if(ghosts_, [this](const Peer& ghost) { return ghost.valid_until <= now_; });
    for (const Peer& peer : ghosts_) all.push_back(&peer);
    for (const Peer* a : all)
      for (const Peer* b : all)
        if (a != b && now_ < a->valid_until && now_ < b->valid_until) check(*a, *b);
  }

  static void check(const Peer& a, const Peer& b) {
    for (const auto& [i, one] : a.held)
      for (const auto& [j, other] : b.held)
        if (one.granted && other.granted && (one.access == Access::exclusive || other.access == Access::exclusive)) {
          ASSERT_FALSE(overlap(one.region, other.region));
        }
  }

  std::mt19937 random_;
  Time now_{1h};
  Service service_;
  std::vector<Outgoing> out_;
  std::vector<Peer> peers_, ghosts_;
  SessionId sessions_ = 0;
  uint64_t grants_ = 0, expiries_ = 0;
};

TEST(ServiceHistory, NeverGivesTheSameBytesToTwo) {
  uint64_t grants = 0, expiries = 0;
  for (uint32_t seed = 0; seed < 300; ++seed) {
    World world(seed);
    world.run(2000);
    grants += world.grants();
    expiries += world.expiries();
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
  EXPECT_GT(grants, 3000u);
  EXPECT_GT(expiries, 100u);
}

}  // namespace
}  // namespace forebay::lock
