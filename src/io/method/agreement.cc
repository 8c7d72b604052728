#include "io/method/agreement.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/checksum.h"

namespace forebay::io {
namespace {

// Code, kind, then the texts, each with its length in front.
Bytes encode_failure(const Failure& failure) {
  Bytes bytes(3);
  store_le(bytes.data(), static_cast<int16_t>(failure.code));
  bytes[2] = static_cast<std::byte>(failure.error.kind);
  for (const std::string* text : {&failure.error.what, &failure.error.path, &failure.error.hint}) {
    std::array<std::byte, 4> length;
    store_le(length.data(), static_cast<uint32_t>(text->size()));
    bytes.insert(bytes.end(), length.begin(), length.end());
    const auto content = as_bytes(*text);
    bytes.insert(bytes.end(), content.begin(), content.end());
  }
  return bytes;
}

Failure decode_failure(std::span<const std::byte> bytes) {
  Failure failure(Code::unspecified,
                  Error{ErrorKind::internal, "a rank tells of a failure that cannot be understood", {}, {}, {}});
  if (bytes.size() < 3) return failure;
  failure.code = static_cast<Code>(load_le<int16_t>(bytes.data()));
  failure.error.kind = static_cast<ErrorKind>(bytes[2]);
  bytes = bytes.subspan(3);
  for (std::string* text : {&failure.error.what, &failure.error.path, &failure.error.hint}) {
    if (bytes.size() < 4) break;
    const uint32_t length = load_le<uint32_t>(bytes.data());
    bytes = bytes.subspan(4);
    if (length > bytes.size()) break;
    *text = as_text(bytes.first(length));
    bytes = bytes.subspan(length);
  }
  return failure;
}

Failure heard_from(uint32_t root, const Communicator& communicator, std::span<const std::byte> message) {
  Failure failure = decode_failure(message);
  failure.told_ranks = communicator.size();
  failure.is_heard = communicator.rank() != root;
  return failure;
}

}  // namespace

// A byte that says which it is, then the bytes or the failure.
Outcome<Bytes> tell(Communicator& communicator, const Outcome<Bytes>& of_root, uint32_t root) {
  Bytes message;
  if (communicator.rank() == root) {
    const Bytes& content = of_root ? *of_root : encode_failure(of_root.error());
    message.push_back(std::byte{of_root.has_value()});
    message.insert(message.end(), content.begin(), content.end());
  }
  FOREBAY_CHECK(communicator.broadcast(message, root));
  const bool is_failure = message.empty() || message[0] == std::byte{0};
  if (!message.empty()) message.erase(message.begin());
  if (is_failure) return std::unexpected(heard_from(root, communicator, message));
  return message;
}

Outcome<void> tell_failure(Communicator& communicator, const Outcome<void>& of_root, uint32_t root) {
  Bytes message;
  if (communicator.rank() == root && !of_root) message = encode_failure(of_root.error());
  FOREBAY_CHECK(communicator.broadcast(message, root));
  if (message.empty()) return {};
  return std::unexpected(heard_from(root, communicator, message));
}

Outcome<void> agree(Communicator& communicator, const Outcome<void>& mine) {
  if (communicator.size() == 1) return mine;
  const uint32_t nobody = communicator.size();
  FOREBAY_TRY(const uint64_t first, communicator.all_reduce(mine ? nobody : communicator.rank(), Reduction::min));
  if (first == nobody) return {};
  Outcome<void> told = mine;
  if (communicator.rank() == first) told.error().error.what += " [rank " + std::to_string(first) + "]";
  return tell_failure(communicator, told, static_cast<uint32_t>(first));
}

Failure of_all(const Communicator& communicator, Failure failure) {
  if (failure.told_ranks != 0 || failure.error.kind == ErrorKind::disconnected) return failure;
  failure.told_ranks = communicator.size();
  failure.is_heard = communicator.rank() != 0;
  return failure;
}

// One round of messages where all is well: the sum is as many times the number as there are ranks. Others can add up to
// the same with the probability of an equal hash.
uint64_t number_of(const std::string& what, const Outcome<void>& mine) {
  const uint64_t number = hash64(as_bytes(what));
  return mine ? number : ~number;
}

Outcome<void> agree_on(Communicator& communicator, const std::string& what, const Outcome<void>& mine,
                       std::optional<uint64_t> sum) {
  if (communicator.size() == 1) return mine;
  const uint64_t number = number_of(what, mine);
  if (!sum) {
    FOREBAY_TRY(sum, communicator.all_reduce(number, Reduction::sum));
  }
  if (mine && *sum == number * communicator.size()) return {};
  const auto bytes = as_bytes(what);
  Bytes of_first(bytes.begin(), bytes.end());
  FOREBAY_CHECK(communicator.broadcast(of_first, 0));
  Outcome<void> outcome = mine;
  if (outcome && as_text(of_first) != what)
    outcome = refuse(Code::invalid_argument, "this rank " + what + ", and rank 0 " + std::string(as_text(of_first)),
                     "do the same at all ranks of the communicator, or use MPI_COMM_SELF");
  return agree(communicator, outcome);
}

}  // namespace forebay::io
