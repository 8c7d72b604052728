// A lock server for tests: lock_server SOCKET SECRET_FILE. Makes the secret, serves until it is killed or its standard
// input ends.
#include <cstdio>

#include <unistd.h>

#include "lock/server.h"

using namespace forebay;

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  lock::ServerOptions options;
  options.credentials.secret = fabric::new_secret();
  options.listen.push_back({.kind = fabric::Address::Kind::unix_socket, .path = argv[1]});
  const fabric::Secret secret = *options.credentials.secret;
  auto server = lock::Server::start(std::move(options));
  if (!server) {
    std::fprintf(stderr, "%s\n", server.error().message().c_str());
    return 1;
  }
  if (auto written = fabric::write_secret(argv[2], secret); !written) {
    std::fprintf(stderr, "%s\n", written.error().message().c_str());
    return 1;
  }
  std::puts("ready");
  std::fflush(stdout);
  for (char byte; ::read(0, &byte, 1) > 0;) continue;
  return 0;
}
