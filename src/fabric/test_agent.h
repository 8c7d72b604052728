// Agents that offer files, for the tests of this room: in this process, and in a child.
#pragma once

#include "fabric/remote.h"
#include "fabric/test_hub.h"

namespace forebay::fabric::testing_support {

inline std::vector<ExposedFile> expose(const std::vector<std::string>& paths) {
  std::vector<ExposedFile> files;
  for (const std::string& path : paths) files.push_back({path, FileSource::open(path).value()->identity()});
  return files;
}

// Passes on what belongs to roads, as an agent does.
class AgentHandler : public HubHandler {
 public:
  AgentHandler(Exposures& exposures, Hub& hub, bool ucx) : server_(exposures, hub, ucx) {}
  void connected(ConnectionId, const std::string&) override {}
  Result<void> received(ConnectionId id, const Frame& frame) override {
    if (RoadServer::handles(frame.type)) return server_.received(id, frame);
    return fail(ErrorKind::corrupt, "not for roads");
  }
  void disconnected(ConnectionId id, Ending) override { server_.disconnected(id); }
  void tick(Time) override {}
  Time next_tick() const override { return Time::max(); }

 private:
  RoadServer server_;
};

// In a process of its own.
class AgentProcess {
 public:
  AgentProcess(const Address& listen, const std::vector<std::string>& paths, bool ucx)
      : child_([&](const ChildServer::Announce& announce) {
          Exposures exposures;
          const uint64_t exposure = exposures.add(expose(paths));
          auto hub = Hub::create(hub_options(listen)).value();
          AgentHandler handler(exposures, *hub, ucx);
          announce(std::to_string(exposure) + " " + to_string(hub->addresses().front()));
          (void)hub->run(handler);
        }) {
    exposure_ = std::stoull(child_.said());
    address_ = parse_address(child_.said().substr(child_.said().find(' ') + 1)).value();
  }
  uint64_t exposure() const { return exposure_; }
  Link link() const { return open_link({address_}).value(); }
  void signal(int number) const { child_.signal(number); }

 private:
  ChildServer child_;
  uint64_t exposure_ = 0;
  Address address_;
};

}  // namespace forebay::fabric::testing_support
