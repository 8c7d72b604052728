// Transports by UCX whose other side does not play by the rules.
#ifdef FOREBAY_WITH_UCX

#include <csignal>

#include "fabric/data_wire.h"
#include "fabric/test_agent.h"
#include "fabric/ucx_worker.h"

// Read by the sanitizers. An endpoint that is kept for ever keeps UCX's own thread, too: UCX itself does not find all
// of their memory again, and takes down its locks at the end of the process while the thread still uses them.
extern "C" const char* __lsan_default_suppressions() { return "leak:libucs.so\n"; }
extern "C" const char* __tsan_default_suppressions() { return "race:libucs.so\n"; }

namespace forebay::fabric {
namespace {

using namespace testing_support;
using data_wire::Type;

// Answers a transport's ucx_open with the transport's own address.
Result<void> mirror(Hub& hub, ConnectionId id, const Frame& frame) {
  hub.send(id, frame_of(static_cast<uint8_t>(Type::ucx_opened), frame.body));
  return {};
}

TEST(UcxTransport, IsRefusedByAnAgentThatHasNone) {
  const TemporaryDirectory directory;
  write_file(directory / "file", random_bytes(1000));
  const AgentProcess agent(unix_address(), {directory / "file"}, "stream");
  const auto transport = ucx_transport(agent.link(), 5s);
  ASSERT_FALSE(transport);
  EXPECT_EQ(transport.error().kind, ErrorKind::unsupported) << transport.error().message();
}

// An endpoint that nothing has come through must not be closed: UCX would end the process.
TEST(UcxTransport, TimesOutWhenNobodyGreets) {
  const HubThread server(hub_options(unix_address()), mirror);
  const auto transport = ucx_transport(open_link(server.addresses()).value(), 200ms);
  ASSERT_FALSE(transport);
  EXPECT_EQ(transport.error().kind, ErrorKind::timeout) << transport.error().message();
}

TEST(UcxServer, LivesOnWhenAWorkerNeverAnswers) {
  const TemporaryDirectory directory;
  write_file(directory / "file", random_bytes(1000));
  const AgentProcess agent(unix_address(), {directory / "file"}, "ucx");
  {
    const auto worker = UcxWorker::create().value();
    Bytes open;
    data_wire::encode(open, Type::ucx_open, worker->address().value());
    for (int i = 0; i < 5; ++i) {
      Link link = agent.link();
      ASSERT_TRUE(link.send(open, 5s));
      EXPECT_EQ(link.receive(5000, 5s)->type, static_cast<uint8_t>(Type::ucx_opened));
    }
  }
  const auto transport = ucx_transport(agent.link(), 5s);
  ASSERT_TRUE(transport) << transport.error().message();
  EXPECT_TRUE((*transport)->check_unchanged(agent.exposure()));
}

// UCX would end the agent.
TEST(UcxServer, RefusesAnotherVersion) {
  const TemporaryDirectory directory;
  write_file(directory / "file", random_bytes(1000));
  const AgentProcess agent(unix_address(), {directory / "file"}, "ucx");
  Link link = agent.link();
  Bytes open;
  data_wire::encode(open, Type::ucx_open, {ucx().value()->version + 1, random_bytes(100)});
  ASSERT_TRUE(link.send(open, 5s));
  const auto answer = link.receive(5000, 5s);
  ASSERT_TRUE(answer);
  EXPECT_EQ(data_wire::decode_failed(answer->body)->error.kind, ErrorKind::unsupported);
  EXPECT_TRUE(ucx_transport(agent.link(), 5s));
}

TEST(UcxServer, RefusesRequestsWithoutATransport) {
  const TemporaryDirectory directory;
  write_file(directory / "file", random_bytes(1000));
  const AgentProcess agent(unix_address(), {directory / "file"}, "ucx");
  Link link = agent.link();
  Bytes request;
  data_wire::encode(request, {1, agent.exposure(), {{0, 0, 10}}}, data_wire::Token{});
  ASSERT_TRUE(link.send(request, 5s));
  EXPECT_FALSE(link.receive(5000, 5s));
  EXPECT_TRUE(ucx_transport(agent.link(), 5s));
}

// libucs would handle them from the moment it is loaded.
TEST(Ucx, LeavesSignalsAlone) {
  struct sigaction before[32], after[32];
  for (int i = 1; i < 32; ++i) ::sigaction(i, nullptr, &before[i]);
  ASSERT_TRUE(ucx());
  for (int i = 1; i < 32; ++i) {
    ::sigaction(i, nullptr, &after[i]);
    EXPECT_EQ(before[i].sa_handler, after[i].sa_handler) << i;
  }
}

}  // namespace
}  // namespace forebay::fabric

#endif
