// Time and the order of things in the model: events at virtual times, processes that can be paused and killed, and
// connections between them. Everything follows from a seed; nothing here looks at a clock, a socket or a thread.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "job/wire/messages.h"

namespace forebay::job::model {

using namespace std::chrono_literals;
using Time = std::chrono::steady_clock::time_point;
using Duration = Time::duration;

// A number that looks random, and is always the same for the same two.
uint64_t mix(uint64_t a, uint64_t b);

// What a kill ends. Events of a dead process do not happen, those of a paused one happen when it wakes up.
struct Process {
  std::string name;
  bool is_alive = true, is_paused = false;
  std::deque<std::function<void()>> deferred;
};
using ProcessRef = std::shared_ptr<Process>;

class Loop {
 public:
  Time now{1000h};

  void at(Time when, ProcessRef process, std::function<void()> what);
  void after(Duration time, ProcessRef process, std::function<void()> what) {
    at(now + time, std::move(process), std::move(what));
  }
  // The next event, if there is one until then; else time passes. False: that time has come.
  bool step(Time until);
  // The event that happens takes this long.
  void spend(Duration time) { now += time; }
  void pause(const ProcessRef& process) { process->is_paused = true; }
  void resume(const ProcessRef& process);
  uint64_t steps() const { return steps_; }

 private:
  struct Event {
    Time when;
    uint64_t number;
    ProcessRef process;
    std::function<void()> what;
    bool operator<(const Event& other) const { return std::pair(when, number) > std::pair(other.when, other.number); }
  };
  std::priority_queue<Event> events_;
  uint64_t next_ = 0, steps_ = 0;
};

using LinkId = uint64_t;

// Connections. What is sent arrives in order, after a time that the seed tells, or not at all.
class Net {
 public:
  struct End {
    ProcessRef process;
    std::string node;
    std::function<void(wire::MessageT)> received;
    std::function<void()> closed;  // not called for who closes it
  };
  using Observer = std::function<void(const std::string& from, const std::string& to, const wire::MessageT&)>;

  Net(Loop& loop, uint64_t seed, Observer sent) : loop_(loop), seed_(seed), sent_(std::move(sent)) {}

  LinkId open(End from, End to);
  void send(LinkId link, const ProcessRef& from, const wire::MessageT& message);
  template <class Table>
  void send(LinkId link, const ProcessRef& from, Table body) {
    wire::MessageT message;
    message.body.Set(std::move(body));
    send(link, from, message);
  }
  void close(LinkId link, const ProcessRef& from);
  // The process is gone, and the others hear it.
  void crashed(const ProcessRef& process);
  // Nothing reaches the node or comes from it any more, and nobody hears why.
  void cut(const std::string& node);
  // How long something takes that is not on the wire.
  Duration delay(uint64_t salt);
  // Whether something happens that may happen or not: half of the time, never with seed 0.
  bool happens(uint64_t salt) const { return seed_ != 0 && mix(seed_, salt) % 2 != 0; }

 private:
  struct Link {
    std::array<End, 2> ends;
    std::array<bool, 2> open{true, true};
    std::array<Time, 2> last{};  // arrivals at that end
    uint64_t salt = 0, count = 0;
    bool is_cut = false;
  };
  static int side_of(const Link& link, const ProcessRef& process) { return link.ends[0].process == process ? 0 : 1; }
  Time arrival(Link& link, int to);
  void tell_closed(const std::shared_ptr<Link>& link, LinkId id, int to);

  Loop& loop_;
  const uint64_t seed_;
  const Observer sent_;
  std::map<LinkId, std::shared_ptr<Link>> links_;
  std::map<ProcessRef, std::set<LinkId>> links_of_;
  std::map<std::pair<std::string, std::string>, uint64_t> opened_;  // how many there were between two
  LinkId next_ = 1;
};

}  // namespace forebay::job::model
