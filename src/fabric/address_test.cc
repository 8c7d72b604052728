#include "fabric/address.h"

#include <gtest/gtest.h>

namespace forebay::fabric {
namespace {

TEST(Address, ReadsWhatItWrites) {
  for (const char* text : {"tcp:node7:4040", "tcp:*:0", "tcp:10.0.0.1:65535", "tcp:[fe80::1]:80", "unix:/run/x y.sock",
                           "unix:@forebay-17"}) {
    const auto address = parse_address(text);
    ASSERT_TRUE(address) << text;
    EXPECT_EQ(to_string(*address), text);
  }
}

TEST(Address, TakesTheHostOutOfBrackets) {
  EXPECT_EQ(*parse_address("tcp:[::1]:9"), (Address{Address::Kind::tcp, "::1", 9, {}}));
}

TEST(Address, RefusesWhatIsNone) {
  for (const std::string text :
       {"", "node7:4040", "tcp:", "tcp:node7", "tcp::1", "tcp:h:", "tcp:h:65536", "tcp:h:-1", "tcp:h:1x", "tcp:::1:2",
        "tcp:[::1:2", "tcp:[]:2", "tcp:a b:2", "unix:", "unix:@", "unix:a,b", "unix:a;b", "unix:a\nb", "udp:h:1"}) {
    const auto address = parse_address(text);
    ASSERT_FALSE(address) << text;
    EXPECT_EQ(address.error().kind, ErrorKind::invalid_argument);
  }
}

TEST(Address, BoundsThePath) {
  EXPECT_TRUE(parse_address("unix:" + std::string(107, 'p')));
  EXPECT_FALSE(parse_address("unix:" + std::string(108, 'p')));
  EXPECT_FALSE(parse_address("tcp:" + std::string(256, 'h') + ":1"));
}

TEST(Ports, AreARangeOrOne) {
  EXPECT_EQ(*parse_ports("40000-40099"), (PortRange{40000, 40099}));
  EXPECT_EQ(*parse_ports("7"), (PortRange{7, 7}));
  EXPECT_TRUE(parse_ports("")->is_any());
  for (const std::string text : {"0", "0-5", "9-8", "1-", "-1", "1-65536", "a", "1-2-3", " 1"}) {
    const auto ports = parse_ports(text);
    ASSERT_FALSE(ports) << text;
    EXPECT_EQ(ports.error().kind, ErrorKind::invalid_argument);
  }
}

TEST(Addresses, AreSeparatedByCommas) {
  const auto addresses = parse_addresses("unix:@a,tcp:h:1");
  ASSERT_TRUE(addresses);
  ASSERT_EQ(addresses->size(), 2u);
  EXPECT_EQ(to_string(addresses->at(1)), "tcp:h:1");
  EXPECT_FALSE(parse_addresses(""));
  EXPECT_FALSE(parse_addresses("tcp:h:1,"));
}

}  // namespace
}  // namespace forebay::fabric
