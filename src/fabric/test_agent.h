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

class AgentProcess {
 public:
  AgentProcess(const Address& listen, const std::vector<std::string>& paths, bool ucx)
      : child_(execute(listen, paths, ucx)) {
    exposure_ = std::stoull(child_.said());
    address_ = parse_address(child_.said().substr(child_.said().find(' ') + 1)).value();
  }
  uint64_t exposure() const { return exposure_; }
  Link link() const { return open_link({address_}).value(); }
  void signal(int number) const { child_.signal(number); }

 private:
  std::function<void(const ChildServer::Announce&)> execute(const Address& listen,
                                                            const std::vector<std::string>& paths, bool ucx) {
    const std::string secret_file = directory_ / "secret";
    EXPECT_TRUE(write_secret(secret_file, secret));
    std::vector<std::string> args{FOREBAY_TEST_AGENT, secret_file, kPurpose, to_string(listen), ucx ? "ucx" : "stream"};
    args.insert(args.end(), paths.begin(), paths.end());
    return [args](const ChildServer::Announce&) {
      std::vector<char*> pointers;
      for (const std::string& arg : args) pointers.push_back(const_cast<char*>(arg.c_str()));
      pointers.push_back(nullptr);
      ::execv(pointers[0], pointers.data());
    };
  }

  TemporaryDirectory directory_;
  ChildServer child_;
  uint64_t exposure_ = 0;
  Address address_;
};

}  // namespace forebay::fabric::testing_support
