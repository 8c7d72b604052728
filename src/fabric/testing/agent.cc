// An agent for the tests of roads, as a program: what a forked child inherits of UCX is of no use to it.
// Usage: fabric_test_agent SECRET-FILE PURPOSE ADDRESS stream|ucx FILE...
// Prints the number of its exposure and its address, and serves until it is killed.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>

#include "fabric/hub.h"
#include "fabric/remote.h"

using namespace forebay;
using namespace forebay::fabric;

namespace {

class Handler final : public HubHandler {
 public:
  Handler(Exposures& exposures, Hub& hub, bool ucx) : server_(exposures, hub, ucx) {}
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

Result<void> serve(std::span<char*> args) {
  Exposures exposures;
  std::vector<ExposedFile> files;
  for (const char* path : args.subspan(5)) {
    FOREBAY_TRY(const auto file, FileSource::open(path));
    files.push_back({path, file->identity()});
  }
  const uint64_t exposure = exposures.add(std::move(files));
  HubOptions options;
  FOREBAY_TRY(options.credentials.secret, read_secret(args[1]));
  options.purpose = args[2];
  FOREBAY_TRY(options.listen, parse_addresses(args[3]));
  FOREBAY_TRY(const auto hub, Hub::create(std::move(options)));
  Handler handler(exposures, *hub, std::string_view(args[4]) == "ucx");
  fmt::print("{} {}", exposure, to_string(hub->addresses().front()));
  std::fclose(stdout);
  return hub->run(handler);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  ::alarm(120);
  const auto served = serve({argv, static_cast<size_t>(argc)});
  if (!served) fmt::print(stderr, "{}\n", served.error().message());
  return served ? 0 : 1;
}
