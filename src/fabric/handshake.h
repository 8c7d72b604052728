// Who is there? Client and server each prove that they know the job's secret, or that MUNGE vouches for their user,
// before anything else is said (docs/wire.md, "Handshake"):
//
//   1. client: hello      what it can prove, what it wants to speak, a nonce
//   2. server: challenge  the method, a nonce
//   3. client: proof      over both nonces, method, purpose, version and role
//   4. server: accepted   its own proof over the same, with its own role; or refused
//
// Both nonces are in both proofs, so none can be replayed; the role is, so none can be sent back. Where the job
// encrypts, the nonces are the public keys of an exchange (X25519), and the keys of the connection are made of the
// secret and of what the two sides share by it: nobody who learns the secret later has them. Pure but for what is
// passed in: bytes of frames in, bytes of frames out.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "base/bytes.h"
#include "base/error.h"
#include "fabric/credentials.h"
#include "fabric/framing.h"
#include "fabric/records.h"

namespace forebay::fabric {

inline constexpr size_t kMaxHandshakeBody = 2048;
inline constexpr size_t kMaxPurposeBytes = 32;
inline constexpr size_t kNonceBytes = 32;
inline constexpr size_t kStatementBytes = 32;
using Nonce = std::array<std::byte, kNonceBytes>;
using Statement = std::array<std::byte, kStatementBytes>;

// What a side makes its nonce of, fresh for each connection: the nonce itself, or the private key to it.
using NonceKey = std::array<std::byte, kNonceBytes>;
NonceKey new_nonce_key();

// How a site vouches for users; munge.h has the real one.
struct Voucher {
  // A credential of this process's user over the statement.
  std::function<Result<Bytes>(const Statement&)> make;
  // permission unless the credential is genuine, fresh, over this statement, and of this process's user or root.
  std::function<Result<void>(const Statement&, std::span<const std::byte>)> check;
};

// One side of a connection.
struct Party {
  Credentials credentials;
  std::string purpose;            // what is spoken afterwards; both sides must mean the same
  std::optional<uid_t> peer_uid;  // on a Unix socket, as the kernel tells
  uid_t own_uid = 0;
  Voucher voucher;                            // used if credentials.munge
  std::string own_name = {}, peer_name = {};  // of a server, for refusals: addresses
};

// What one step brings: bytes to send, and whether the other side is known now. With `keys` everything is encrypted
// from then on, and nothing may have come after the other side's frame.
struct Step {
  Bytes send;
  bool done = false;
  std::optional<RecordKeys> keys;
};

class ClientHandshake {
 public:
  ClientHandshake(Party party, const NonceKey& key);

  // The hello. permission if the kernel says that the server belongs to a stranger, or if there is nothing to show.
  Result<Step> begin();

  // permission if either side refuses the other; corrupt if the other does not follow the protocol.
  Result<Step> receive(const Frame& frame);

 private:
  Result<Step> prove(const Frame& frame);
  Party party_;
  NonceKey key_;
  Nonce nonce_, peer_nonce_{};
  Statement expected_{};
  uint8_t methods_ = 0, method_ = 0;
  enum class Wait : uint8_t { challenge, accepted, nothing } wait_ = Wait::challenge;
};

class ServerHandshake {
 public:
  ServerHandshake(Party party, const NonceKey& key);

  // Errors as ClientHandshake::receive. After one, refusal() may be sent before the connection is closed.
  Result<Step> receive(const Frame& frame);

 private:
  Result<Step> challenge(const Frame& frame);
  Result<Step> check(const Frame& frame);
  Party party_;
  NonceKey key_;
  Nonce nonce_, peer_nonce_{};
  uint8_t method_ = 0;
  enum class Wait : uint8_t { hello, proof, nothing } wait_ = Wait::hello;
};

// A frame that tells the client why it is not let in; `reason` is cut to 200 bytes.
Bytes refusal(std::string_view reason);

}  // namespace forebay::fabric
