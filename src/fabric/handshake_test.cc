#include "fabric/handshake.h"

#include <algorithm>

#include <fmt/format.h>
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
  std::optional<RecordKeys> client_keys, server_keys;
  bool both() const { return !client && !server; }
};

Outcome shake(const Party& client_party, const Party& server_party) {
  ClientHandshake client(client_party, new_nonce_key());
  ServerHandshake server(server_party, new_nonce_key());
  auto to_server = client.begin();
  while (to_server && !to_server->done) {
    const auto to_client = server.receive(Parsed(to_server->send).frame);
    if (!to_client) return {{}, to_client.error(), {}, {}};
    to_server = client.receive(Parsed(to_client->send).frame);
    EXPECT_TRUE(!to_server || !to_server->done || to_client->done);
    if (to_server && to_server->done) return {{}, {}, to_server->keys, to_client->keys};
  }
  if (!to_server) return {to_server.error(), {}, {}, {}};
  return {};
}

Party encrypting(std::optional<Secret> secret, std::optional<uid_t> peer = {}) {
  Party result = party(secret, peer);
  result.credentials.encrypt = true;
  return result;
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

TEST(Handshake, GivesKeysForEachDirectionOfEachConnection) {
  const Secret secret = new_secret();
  std::vector<RecordKey> all;
  for (int i = 0; i < 2; ++i) {
    const Outcome outcome = shake(encrypting(secret), encrypting(secret));
    ASSERT_TRUE(outcome.client_keys && outcome.server_keys);
    EXPECT_EQ(outcome.client_keys->out, outcome.server_keys->in);
    EXPECT_EQ(outcome.client_keys->in, outcome.server_keys->out);
    all.insert(all.end(), {outcome.client_keys->out, outcome.client_keys->in});
  }
  std::ranges::sort(all);
  EXPECT_EQ(std::ranges::adjacent_find(all), all.end());
}

// The example of docs/wire.md, "Encryption".
TEST(Handshake, MakesTheKeysOfTheExample) {
  Secret secret;
  NonceKey client_key, server_key;
  secret.fill(std::byte{1});
  client_key.fill(std::byte{2});
  server_key.fill(std::byte{3});
  Party side = encrypting(secret);
  side.purpose = "job";
  ClientHandshake client(side, client_key);
  ServerHandshake server(side, server_key);
  const Bytes challenge = server.receive(Parsed(client.begin()->send).frame)->send;
  const Step done = server.receive(Parsed(client.receive(Parsed(challenge).frame)->send).frame).value();
  const auto digits = [](const RecordKey& key) {
    std::string text;
    for (const std::byte byte : key) text += fmt::format("{:02x}", static_cast<unsigned>(byte));
    return text;
  };
  EXPECT_EQ(digits(done.keys->in), "40cf0da19008a7b74b5cab4fe10a70d6e12ca2e3906e59ac0effad205d5fc007");
  EXPECT_EQ(digits(done.keys->out), "3d34fb6f307e1364b4a18e3c5d6a225c28cc92a12cf1598872e4862162f88570");
}

TEST(Handshake, EncryptsWithBothSidesOrNotAtAll) {
  const Secret secret = new_secret();
  EXPECT_FALSE(shake(party(secret), party(secret)).client_keys);
  Party server = encrypting(secret);
  server.own_name = "tcp:n1:1";
  server.peer_name = "tcp:n2:2";
  EXPECT_EQ(shake(party(secret), server).server->what,
            "client tcp:n2:2 does not encrypt, server tcp:n1:1 encrypts: start all of the job with --encrypt, or none");
  EXPECT_EQ(shake(encrypting(secret), party(secret)).server->kind, ErrorKind::permission);
  EXPECT_EQ(shake(vouched(std::byte{1}, secret), encrypting(secret)).server->kind, ErrorKind::permission);
  EXPECT_EQ(shake(encrypting({}), encrypting(secret)).client->kind, ErrorKind::permission);
  EXPECT_EQ(shake(encrypting(secret), encrypting(new_secret())).server->kind, ErrorKind::permission);
}

// What somebody has who recorded the handshake and learns the secret later: of two connections with the same secret and
// the same bytes of one side, the keys differ by what the other side's private key alone gives.
TEST(Handshake, MakesKeysThatTheSecretAloneDoesNotGive) {
  const Secret secret = new_secret();
  const NonceKey key = new_nonce_key();
  std::vector<RecordKey> keys;
  for (int i = 0; i < 2; ++i) {
    ClientHandshake client(encrypting(secret), new_nonce_key());
    ServerHandshake server(encrypting(secret), key);
    const Bytes hello = client.begin()->send;
    EXPECT_EQ(std::ranges::search(hello, key).size(), 0u);
    const Bytes challenge = server.receive(Parsed(hello).frame)->send;
    EXPECT_EQ(std::ranges::search(challenge, key).size(), 0u) << "a private key is sent";
    const Step done = server.receive(Parsed(client.receive(Parsed(challenge).frame)->send).frame).value();
    keys.push_back(done.keys->in);
    EXPECT_NE(done.keys->in, done.keys->out);
  }
  EXPECT_NE(keys[0], keys[1]);
}

TEST(Handshake, EncryptsNothingWithinAHost) {
  const Secret secret = new_secret();
  const Outcome outcome = shake(party(secret, kUser), encrypting(secret, kUser));
  EXPECT_TRUE(outcome.both());
  EXPECT_FALSE(outcome.server_keys);
}

// With addresses of the greatest length, too.
TEST(Handshake, NamesBothSidesWithinTheBoundOfARefusal) {
  const std::string address = "tcp:[ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255]:65535";
  Party server = encrypting(new_secret());
  server.own_name = server.peer_name = address.substr(0, 51);
  const Outcome outcome = shake(party(new_secret()), server);
  EXPECT_LE(outcome.server->what.size(), 200u);
}

TEST(Handshake, CannotBeReplayed) {
  const Secret secret = new_secret();
  ClientHandshake client(party(secret), new_nonce_key());
  ServerHandshake first(party(secret), new_nonce_key());
  const Bytes hello = client.begin()->send;
  const Bytes proof = client.receive(Parsed(first.receive(Parsed(hello).frame)->send).frame)->send;
  ServerHandshake second(party(secret), new_nonce_key());
  ASSERT_TRUE(second.receive(Parsed(hello).frame));
  EXPECT_EQ(second.receive(Parsed(proof).frame).error().kind, ErrorKind::permission);
}

TEST(Handshake, CannotBeReflected) {
  // The stranger answers with what it was sent itself.
  const Secret secret = new_secret();
  ClientHandshake client(party(secret), new_nonce_key());
  ServerHandshake oracle(party(secret), new_nonce_key());
  const Bytes challenge = oracle.receive(Parsed(client.begin()->send).frame)->send;
  Bytes proof = client.receive(Parsed(challenge).frame)->send;
  proof[5] = std::byte{4};  // the type of `accepted`
  EXPECT_EQ(client.receive(Parsed(proof).frame).error().kind, ErrorKind::permission);
}

TEST(Handshake, RefusesEveryFlippedBit) {
  const Secret secret = new_secret();
  for (size_t message = 0; message < 4; ++message) {
    for (size_t bit = 0;; ++bit) {
      ClientHandshake client(party(secret), new_nonce_key());
      ServerHandshake server(party(secret), new_nonce_key());
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
  ClientHandshake client(party(secret), new_nonce_key());
  ServerHandshake server(party(secret), new_nonce_key());
  const Bytes hello = client.begin()->send;
  EXPECT_EQ(client.receive(Parsed(hello).frame).error().kind, ErrorKind::corrupt);
  ASSERT_TRUE(server.receive(Parsed(hello).frame));
  EXPECT_EQ(server.receive(Parsed(hello).frame).error().kind, ErrorKind::corrupt);
}

TEST(Handshake, TellsTheClientWhyItIsRefused) {
  ClientHandshake client(party(new_secret()), new_nonce_key());
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
