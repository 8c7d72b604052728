// Agents and workers for the tests of transports, as a program: what a forked child inherits of UCX is of no use to it.
// Usage: fabric_test_peer agent stream|encrypted|ucx SECRET-FILE PURPOSE ADDRESS FILE...
//        fabric_test_peer worker stream|encrypted|ucx SECRET-FILE PURPOSE ADDRESS EXPOSURE
// An agent prints the number of its exposure and its address, and serves. A worker reads 10 MB of the first file again
// and again, and prints a line when it has them for the first time. Both until they are killed.
#include <cstdio>
#include <span>
#include <string>
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
    if (TransportServer::handles(frame.type)) return server_.received(id, frame);
    return fail(ErrorKind::corrupt, "not for transports");
  }
  void disconnected(ConnectionId id, Ending) override { server_.disconnected(id); }
  void tick(Time) override {}
  Time next_tick() const override { return Time::max(); }

 private:
  TransportServer server_;
};

struct Common {
  bool ucx = false;
  Credentials credentials;
  std::string purpose;
  std::vector<Address> addresses;
};

Result<Common> parse(std::span<char*> args) {
  Common common;
  common.ucx = std::string_view(args[0]) == "ucx";
  common.credentials.encrypt = std::string_view(args[0]) == "encrypted";
  FOREBAY_TRY(common.credentials.secret, read_secret(args[1]));
  common.purpose = args[2];
  FOREBAY_TRY(common.addresses, parse_addresses(args[3]));
  return common;
}

void say(const std::string& text) {
  fmt::print("{}", text);
  std::fclose(stdout);
}

Result<void> serve(const Common& common, std::span<char*> paths) {
  Exposures exposures;
  std::vector<ExposedFile> files;
  for (const char* path : paths) {
    FOREBAY_TRY(const auto file, FileSource::open(path));
    files.push_back({path, file->identity()});
  }
  const uint64_t exposure = exposures.add(std::move(files));
  HubOptions options;
  options.credentials = common.credentials;
  options.purpose = common.purpose;
  options.listen = common.addresses;
  FOREBAY_TRY(const auto hub, Hub::create(std::move(options)));
  Handler handler(exposures, *hub, common.ucx);
  say(fmt::format("{} {}", exposure, to_string(hub->addresses().front())));
  return hub->run(handler);
}

Result<void> read_for_ever(const Common& common, uint64_t exposure) {
  constexpr std::chrono::seconds kPatience{10};
  FOREBAY_TRY(Link link, Link::open(common.addresses, common.credentials, common.purpose, kPatience));
  std::unique_ptr<Transport> transport;
  if (common.ucx) {
    FOREBAY_TRY(transport, ucx_transport(std::move(link), kPatience));
  } else {
    transport = stream_transport(std::move(link), kPatience);
  }
  Bytes out(10'000'000);
  const Piece pieces[] = {{0, 0, out.size()}};
  for (bool first = true;; first = false) {
    FOREBAY_CHECK(transport->begin(exposure, pieces, out));
    FOREBAY_CHECK(transport->finish());
    if (first) say("reading");
  }
}

Result<void> play(std::string_view role, std::span<char*> args) {
  FOREBAY_TRY(const Common common, parse(args));
  if (role == "agent") return serve(common, args.subspan(4));
  return read_for_ever(common, std::stoull(args[4]));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 7) return 2;
  ::alarm(120);
  const auto played = play(argv[1], {argv + 2, static_cast<size_t>(argc) - 2});
  if (!played) fmt::print(stderr, "{}\n", played.error().message());
  return played ? 0 : 1;
}
