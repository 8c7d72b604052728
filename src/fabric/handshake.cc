#include "fabric/handshake.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>
#include <sodium.h>

#include "fabric/protocol.h"

namespace forebay::fabric {
namespace {

enum HandshakeFrame : uint8_t { kHello = 1, kChallenge = 2, kProof = 3, kAccepted = 4, kRefused = 5 };
enum Method : uint8_t { kSameUser = 1, kSecret = 2, kMunge = 4, kEncrypted = 8 };
enum class Role : uint8_t { client = 1, server = 2 };

constexpr size_t kMaxReasonBytes = 200;
constexpr std::string_view kProofContext = "forebay handshake";
constexpr std::string_view kKeyContext = "forebay encryption";

std::unexpected<Error> stranger(std::string what) { return fail(ErrorKind::permission, std::move(what)); }
std::unexpected<Error> broken(std::string what) { return fail(ErrorKind::corrupt, std::move(what)); }

// Whoever sent it has not proved who it is, and errors end up on terminals.
std::string harmless(std::string_view reason) {
  std::string text(reason.substr(0, kMaxReasonBytes));
  std::ranges::replace_if(text, [](char c) { return c < ' ' || c > '~'; }, '?');
  return text;
}

void append(Bytes& to, std::span<const std::byte> bytes) { to.insert(to.end(), bytes.begin(), bytes.end()); }

Bytes frame(uint8_t type, std::span<const std::byte> body) {
  Bytes bytes;
  const size_t begin = begin_frame(bytes, type);
  append(bytes, body);
  end_frame(bytes, begin);
  return bytes;
}

// What a side says of a handshake, as a hash.
Statement statement(std::string_view context, Role role, uint8_t method, const std::string& purpose,
                    const Nonce& client, const Nonce& server) {
  Bytes text;
  append(text, as_bytes(context));
  for (const uint8_t byte :
       {kProtocolVersion, static_cast<uint8_t>(role), method, static_cast<uint8_t>(purpose.size())})
    text.push_back(std::byte{byte});
  append(text, as_bytes(purpose));
  append(text, client);
  append(text, server);
  Statement hash;
  crypto_generichash(reinterpret_cast<unsigned char*>(hash.data()), hash.size(),
                     reinterpret_cast<const unsigned char*>(text.data()), text.size(), nullptr, 0);
  return hash;
}

std::array<std::byte, 32> authentication_code(const Secret& secret, std::span<const std::byte> over) {
  std::array<std::byte, 32> code;
  crypto_generichash(reinterpret_cast<unsigned char*>(code.data()), code.size(),
                     reinterpret_cast<const unsigned char*>(over.data()), over.size(),
                     reinterpret_cast<const unsigned char*>(secret.data()), secret.size());
  return code;
}

// What a proof is made over.
Statement proof_statement(Role role, uint8_t method, const std::string& purpose, const Nonce& client,
                          const Nonce& server) {
  return statement(kProofContext, role, method, purpose, client, server);
}

// Within a host there is nobody on the way.
bool encrypts(const Party& party) { return party.credentials.encrypt && !party.peer_uid; }

Nonce nonce_of(const Party& party, const NonceKey& key) {
  if (!encrypts(party)) return key;
  Nonce nonce;
  crypto_scalarmult_base(reinterpret_cast<unsigned char*>(nonce.data()),
                         reinterpret_cast<const unsigned char*>(key.data()));
  return nonce;
}

// The keys of the connection, as `own` has them; none unless it is to be encrypted. The role in them tells the
// directions apart, and what the sides share tells this connection from all others. `key` is gone afterwards.
Result<std::optional<RecordKeys>> keys_of(Role own, const Party& party, uint8_t method, NonceKey& key,
                                          const Nonce& client, const Nonce& server) {
  if (method != kEncrypted) return std::nullopt;
  std::array<std::byte, crypto_scalarmult_BYTES> shared;
  const Nonce& theirs = own == Role::client ? server : client;
  const int refused = crypto_scalarmult(reinterpret_cast<unsigned char*>(shared.data()),
                                        reinterpret_cast<const unsigned char*>(key.data()),
                                        reinterpret_cast<const unsigned char*>(theirs.data()));
  sodium_memzero(key.data(), key.size());
  if (refused != 0) return broken("a nonce that is no key");
  const auto key_of = [&](Role sender) {
    Bytes text;
    append(text, statement(kKeyContext, sender, method, party.purpose, client, server));
    append(text, shared);
    const RecordKey made = authentication_code(*party.credentials.secret, text);
    sodium_memzero(text.data(), text.size());
    return made;
  };
  const Role other = own == Role::client ? Role::server : Role::client;
  RecordKeys keys{.out = key_of(own), .in = key_of(other)};
  sodium_memzero(shared.data(), shared.size());
  return keys;
}

Result<Bytes> make_proof(const Party& party, uint8_t method, const Statement& over) {
  if (method == kMunge) return party.voucher.make(over);
  if (method == kSameUser) return Bytes{};
  const auto code = authentication_code(*party.credentials.secret, over);
  return Bytes(code.begin(), code.end());
}

Result<void> check_proof(const Party& party, uint8_t method, const Statement& over, std::span<const std::byte> proof) {
  if (method == kMunge) return party.voucher.check(over, proof);
  if (method == kSameUser) return proof.empty() ? Result<void>{} : broken("a proof that was not asked for");
  const auto code = authentication_code(*party.credentials.secret, over);
  if (proof.size() != code.size() || sodium_memcmp(proof.data(), code.data(), code.size()) != 0)
    return stranger("the other side has another secret: both need the same rendezvous directory, or file of it");
  return {};
}

// A Unix socket tells whose process the peer is: it must be the same user's, or root's.
Result<void> check_user(const Party& party) {
  if (party.peer_uid && *party.peer_uid != party.own_uid && *party.peer_uid != 0)
    return stranger(fmt::format("the other side belongs to user {}", *party.peer_uid));
  return {};
}

// What this side can prove. The user alone counts only where nothing better is configured.
uint8_t methods_of(const Party& party) {
  if (encrypts(party)) return party.credentials.secret ? uint8_t{kEncrypted} : uint8_t{0};
  uint8_t methods = 0;
  if (party.credentials.munge) methods |= kMunge;
  if (party.credentials.secret) methods |= kSecret;
  if (methods == 0 && party.peer_uid) methods = kSameUser;
  return methods;
}

std::unexpected<Error> no_common_method(const Party& party, uint8_t offered) {
  const bool own = encrypts(party), other = (offered & kEncrypted) != 0;
  if (own == other) return stranger("no common way to prove who is there (a secret, or MUNGE)");
  const auto does = [](bool encrypts) { return encrypts ? "encrypts" : "does not encrypt"; };
  return stranger(fmt::format("client {} {}, server {} {}: start all of the job with --encrypt, or none",
                              party.peer_name, does(other), party.own_name, does(own)));
}

}  // namespace

NonceKey new_nonce_key() {
  NonceKey key;
  randombytes_buf(key.data(), key.size());
  return key;
}

Bytes refusal(std::string_view reason) { return frame(kRefused, as_bytes(reason.substr(0, kMaxReasonBytes))); }

ClientHandshake::ClientHandshake(Party party, const NonceKey& key)
    : party_(std::move(party)), key_(key), nonce_(nonce_of(party_, key)) {}

ServerHandshake::ServerHandshake(Party party, const NonceKey& key)
    : party_(std::move(party)), key_(key), nonce_(nonce_of(party_, key)) {}

Result<Step> ClientHandshake::begin() {
  FOREBAY_CHECK(check_user(party_));
  methods_ = methods_of(party_);
  if (methods_ == 0)
    return fail(ErrorKind::permission, "a connection over TCP needs a secret or MUNGE", {}, {},
                "FOREBAY_LOCK_SECRET names the file of the secret");
  Bytes body{std::byte{methods_}, static_cast<std::byte>(party_.purpose.size())};
  append(body, as_bytes(party_.purpose));
  append(body, nonce_);
  return Step{frame(kHello, body), false, {}};
}

Result<Step> ClientHandshake::receive(const Frame& received) {
  if (received.type == kRefused) return stranger("the server refuses: " + harmless(as_text(received.body)));
  if (wait_ == Wait::challenge && received.type == kChallenge) return prove(received);
  if (wait_ != Wait::accepted || received.type != kAccepted) return broken("a handshake out of order");
  wait_ = Wait::nothing;
  FOREBAY_CHECK(check_proof(party_, method_, expected_, received.body));
  FOREBAY_TRY(const auto keys, keys_of(Role::client, party_, method_, key_, nonce_, peer_nonce_));
  return Step{{}, true, keys};
}

Result<Step> ClientHandshake::prove(const Frame& received) {
  if (received.body.size() != 1 + kNonceBytes) return broken("a challenge of a wrong length");
  method_ = std::to_integer<uint8_t>(received.body[0]);
  if (!std::has_single_bit(method_) || (method_ & methods_) == 0) return broken("a method that was not offered");
  std::ranges::copy(received.body.subspan(1), peer_nonce_.begin());
  expected_ = proof_statement(Role::server, method_, party_.purpose, nonce_, peer_nonce_);
  FOREBAY_TRY(const Bytes proof,
              make_proof(party_, method_, proof_statement(Role::client, method_, party_.purpose, nonce_, peer_nonce_)));
  wait_ = Wait::accepted;
  return Step{frame(kProof, proof), false, {}};
}

Result<Step> ServerHandshake::receive(const Frame& received) {
  if (wait_ == Wait::hello && received.type == kHello) return challenge(received);
  if (wait_ == Wait::proof && received.type == kProof) return check(received);
  return broken("a handshake out of order");
}

Result<Step> ServerHandshake::challenge(const Frame& received) {
  wait_ = Wait::nothing;
  FOREBAY_CHECK(check_user(party_));
  const auto body = received.body;
  if (body.size() < 2) return broken("a hello of a wrong length");
  const size_t purpose_bytes = std::to_integer<size_t>(body[1]);
  if (purpose_bytes > kMaxPurposeBytes || body.size() != 2 + purpose_bytes + kNonceBytes)
    return broken("a hello of a wrong length");
  if (as_text(body.subspan(2, purpose_bytes)) != party_.purpose) return broken("a hello for something else");
  const uint8_t common = methods_of(party_) & std::to_integer<uint8_t>(body[0]);
  if (common == 0) return no_common_method(party_, std::to_integer<uint8_t>(body[0]));
  method_ = std::bit_floor(common);
  std::ranges::copy(body.subspan(2 + purpose_bytes), peer_nonce_.begin());
  Bytes answer{std::byte{method_}};
  append(answer, nonce_);
  wait_ = Wait::proof;
  return Step{frame(kChallenge, answer), false, {}};
}

Result<Step> ServerHandshake::check(const Frame& received) {
  wait_ = Wait::nothing;
  FOREBAY_CHECK(check_proof(
      party_, method_, proof_statement(Role::client, method_, party_.purpose, peer_nonce_, nonce_), received.body));
  FOREBAY_TRY(const Bytes proof,
              make_proof(party_, method_, proof_statement(Role::server, method_, party_.purpose, peer_nonce_, nonce_)));
  FOREBAY_TRY(const auto keys, keys_of(Role::server, party_, method_, key_, peer_nonce_, nonce_));
  return Step{frame(kAccepted, proof), true, keys};
}

}  // namespace forebay::fabric
