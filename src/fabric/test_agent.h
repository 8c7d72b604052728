// Agents that offer files, as processes of their own, for the tests of this room.
#pragma once

#include "fabric/remote.h"
#include "fabric/test_hub.h"

namespace forebay::fabric::testing_support {

inline std::vector<ExposedFile> expose(const std::vector<std::string>& paths) {
  std::vector<ExposedFile> files;
  for (const std::string& path : paths) files.push_back({path, FileSource::open(path).value()->identity()});
  return files;
}

// A process of testing/peer.cc.
class PeerProcess {
 public:
  // `transport`: "stream", "encrypted" or "ucx".
  PeerProcess(const char* role, const Address& address, std::vector<std::string> args, const char* transport)
      : child_(execute(role, address, std::move(args), transport)) {}
  void signal(int number) const { child_.signal(number); }
  const std::string& said() const { return child_.said(); }

 private:
  std::function<void(const ChildServer::Announce&)> execute(const char* role, const Address& address,
                                                            std::vector<std::string> more, const char* transport) {
    const std::string secret_file = directory_ / "secret";
    EXPECT_TRUE(write_secret(secret_file, secret));
    std::vector<std::string> args{FOREBAY_TEST_PEER, role, transport, secret_file, kPurpose, to_string(address)};
    args.insert(args.end(), more.begin(), more.end());
    return [args](const ChildServer::Announce&) {
      std::vector<char*> pointers;
      for (const std::string& arg : args) pointers.push_back(const_cast<char*>(arg.c_str()));
      pointers.push_back(nullptr);
      ::execv(pointers[0], pointers.data());
    };
  }

  TemporaryDirectory directory_;
  ChildServer child_;
};

class AgentProcess {
 public:
  AgentProcess(const Address& listen, const std::vector<std::string>& paths, const char* transport)
      : process_("agent", listen, paths, transport),
        way_(std::string_view(transport) == "encrypted" ? Way::encrypted_tcp : Way::tcp) {
    exposure_ = std::stoull(process_.said());
    address_ = parse_address(process_.said().substr(process_.said().find(' ') + 1)).value();
  }
  uint64_t exposure() const { return exposure_; }
  const Address& address() const { return address_; }
  Link link() const { return open_link({address_}, 10s, way_).value(); }
  void signal(int number) const { process_.signal(number); }

 private:
  PeerProcess process_;
  const Way way_;
  uint64_t exposure_ = 0;
  Address address_;
};

}  // namespace forebay::fabric::testing_support
