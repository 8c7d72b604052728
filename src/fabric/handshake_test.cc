#include "fabric/handshake.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace forebay::fabric {
namespace {

constexpr uid_t kUser = 1000;

Party party(std::optional<Secret> secret, std::optional<uid_t> peer = {}) {
  return {{secret, false}, "lock", peer, kUser, {}};
}

// A voucher whose credentials are the statement and a user.
Party vouched(std::byte user, std::optional<Secret> secret = {}) {
  Party result{{secret, true}, "lock", {}, kUser, {}};
  result.voucher.make = [user](const Statement& over) -> Result<Bytes> {
    Bytes credential(over.begin(), over.end());
    credential.push_back(user);
    return credential;
  };
  result.voucher.check = [user](const Statement& over, std::span<const std::byte> credential) -> Result<void> {
    if (credential.size() != over.size() + 1 || !std::ranges::equal(credential.first(over.size()), over) ||
        credential.back() != user)
      return fail(ErrorKind::permission, "not vouched for");
    return {};
  };
  return result;
}

// The one frame that `bytes` is.
struct Parsed {
  explicit Parsed(const Bytes& bytes) : parser(kMaxHandshakeBody) {
    std::ranges::copy(bytes, parser.room(bytes.size()).begin());
    parser.commit(bytes.size());
    frame = parser.next().value().value();
  }
  FrameParser parser;
  Frame frame;
};

struct Outcome {
  std::optional<Error> client, server;
  bool both() const { return !client && !server; }
};

Outcome shake(const Party& client_party, const Party& server_party) {
  ClientHandshake client(client_party, new_nonce());
  ServerHandshake server(server_party, new_nonce());
  auto to_server = client.begin();
  while (to_server && !to_server->done) {
    const auto to_client = server.receive(Parsed(to_server->send).frame);
    if (!to_client) return {{}, to_client.error()};
    to_server = client.receive(Parsed(to_client->send).frame);
    EXPECT_TRUE(!to_server || !to_server->done || to_client->done);
  }
  if (!to_server) return {to_server.error(), {}};
  return {};
}

TEST(Handshake, LetsInWhoKnowsTheSecret) {
  const Secret secret = new_secret();
  EXPECT_TRUE(shake(party(secret), party(secret)).both());
}

TEST(Handshake, KeepsOutWhoKnowsAnother) {
  const auto outcome = shake(party(new_secret()), party(new_secret()));
  ASSERT_TRUE(outcome.server);
  EXPECT_EQ(outcome.server->kind, ErrorKind::permission);
}

TEST(Handshake, NeedsAWayThatBothHave) {
  EXPECT_EQ(shake(party(new_secret()), vouched(std::byte{1})).server->kind, ErrorKind::permission);
  EXPECT_EQ(shake(party({}), party(new_secret())).client->kind, ErrorKind::permission);
  EXPECT_EQ(shake(party(new_secret()), party({})).server->kind, ErrorKind::permission);
}

TEST(Handshake, OnAUnixSocketNeedsTheSameUserOrRoot) {
  const Secret secret = new_secret();
  EXPECT_TRUE(shake(party({}, kUser), party({}, kUser)).both());
  EXPECT_TRUE(shake(party({}, 0), party({}, kUser)).both());
  EXPECT_EQ(shake(party({}, kUser), party({}, 1001)).server->kind, ErrorKind::permission);
  EXPECT_EQ(shake(party({}, 1001), party({}, kUser)).client->kind, ErrorKind::permission);
  // The secret does not help another user there.
  EXPECT_EQ(shake(party(secret, kUser), party(secret, 1001)).server->kind, ErrorKind::permission);
}

TEST(Handshake, DoesNotFallBackToTheUserWhereThereIsASecret) {
  EXPECT_FALSE(shake(party({}, kUser), party(new_secret(), kUser)).both());
  EXPECT_FALSE(shake(party(new_secret(), kUser), party({}, kUser)).both());
}

TEST(Handshake, LetsMungeVouch) {
  EXPECT_TRUE(shake(vouched(std::byte{1}), vouched(std::byte{1})).both());
  EXPECT_TRUE(shake(vouched(std::byte{1}, new_secret()), vouched(std::byte{1}, new_secret())).both());
  EXPECT_EQ(shake(vouched(std::byte{1}), vouched(std::byte{2})).server->kind, ErrorKind::permission);
}

TEST(Handshake, MeansTheSamePurpose) {
  const Secret secret = new_secret();
  Party other = party(secret);
  other.purpose = "fetch";
  EXPECT_FALSE(shake(other, party(secret)).both());
}

TEST(Handshake, CannotBeReplayed) {
  const Secret secret = new_secret();
  const Nonce client_nonce = new_nonce();
  ClientHandshake client(party(secret), client_nonce);
  ServerHandshake first(party(secret), new_nonce());
  const Bytes hello = client.begin()->send;
  const Bytes proof = client.receive(Parsed(first.receive(Parsed(hello).frame)->send).frame)->send;
  ServerHandshake second(party(secret), new_nonce());
  ASSERT_TRUE(second.receive(Parsed(hello).frame));
  EXPECT_EQ(second.receive(Parsed(proof).frame).error().kind, ErrorKind::permission);
}

TEST(Handshake, CannotBeReflected) {
  // The stranger answers with what it was sent itself.
  const Secret secret = new_secret();
  ClientHandshake client(party(secret), new_nonce());
  ServerHandshake oracle(party(secret), new_nonce());
  const Bytes challenge = oracle.receive(Parsed(client.begin()->send).frame)->send;
  Bytes proof = client.receive(Parsed(challenge).frame)->send;
  proof[5] = std::byte{4};  // the type of `accepted`
  EXPECT_EQ(client.receive(Parsed(proof).frame).error().kind, ErrorKind::permission);
}

TEST(Handshake, RefusesEveryFlippedBit) {
  const Secret secret = new_secret();
  for (size_t message = 0; message < 4; ++message) {
    for (size_t bit = 0;; ++bit) {
      ClientHandshake client(party(secret), new_nonce());
      ServerHandshake server(party(secret), new_nonce());
      Result<Step> step = client.begin();
      bool flipped = false, past_the_end = false;
      for (size_t i = 0; i < 4 && step; ++i) {
        Bytes bytes = step->send;
        if (i == message) {
          past_the_end = bit >= 8 * (bytes.size() - kFrameHeaderBytes);
          if (past_the_end) break;
          bytes[kFrameHeaderBytes + bit / 8] ^= static_cast<std::byte>(1 << (bit % 8));
          flipped = true;
        }
        const Parsed parsed(bytes);
        step = i % 2 == 0 ? server.receive(parsed.frame) : client.receive(parsed.frame);
      }
      if (past_the_end) break;
      // Other methods that a hello offers besides change nothing: the server has but one.
      const bool offers_more = message == 0 && bit < 8 && bit != 1;
      EXPECT_EQ(flipped && step.has_value(), offers_more) << "message " << message << ", bit " << bit;
    }
  }
}

TEST(Handshake, RefusesMessagesOutOfOrder) {
  const Secret secret = new_secret();
  ClientHandshake client(party(secret), new_nonce());
  ServerHandshake server(party(secret), new_nonce());
  const Bytes hello = client.begin()->send;
  EXPECT_EQ(client.receive(Parsed(hello).frame).error().kind, ErrorKind::corrupt);
  ASSERT_TRUE(server.receive(Parsed(hello).frame));
  EXPECT_EQ(server.receive(Parsed(hello).frame).error().kind, ErrorKind::corrupt);
}

TEST(Handshake, TellsTheClientWhyItIsRefused) {
  ClientHandshake client(party(new_secret()), new_nonce());
  ASSERT_TRUE(client.begin());
  const auto answer = client.receive(Parsed(refusal("because")).frame);
  EXPECT_EQ(answer.error().kind, ErrorKind::permission);
  EXPECT_NE(answer.error().what.find("because"), std::string::npos);
  EXPECT_LE(refusal(std::string(5000, 'x')).size(), 300u);
  const auto hostile = client.receive(Parsed(refusal("\033[2J\x9b\n")).frame);
  EXPECT_NE(hostile.error().what.find("?[2J??"), std::string::npos) << "nothing for a terminal";
}

}  // namespace
}  // namespace forebay::fabric
