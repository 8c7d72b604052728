#include "io/method/communicator.h"

#include <algorithm>
#include <array>
#include <utility>

namespace forebay::io {
namespace {

std::array<std::byte, 8> packed(uint64_t value) {
  std::array<std::byte, 8> bytes;
  store_le(bytes.data(), value);
  return bytes;
}

Result<uint64_t> unpacked(const Bytes& bytes) {
  if (bytes.size() != 8) return fail(ErrorKind::internal, "ranks do not do the same operation: a number was expected");
  return load_le<uint64_t>(bytes.data());
}

uint64_t reduced(uint64_t a, uint64_t b, Reduction reduction) {
  switch (reduction) {
    case Reduction::min:
      return std::min(a, b);
    case Reduction::max:
      return std::max(a, b);
    case Reduction::sum:
      break;
  }
  return a + b;
}

// All of the work is done when it is waited for.
class LateScan final : public PendingScan {
 public:
  LateScan(Communicator& ranks, uint64_t mine) : ranks_(ranks), mine_(mine) {}
  Result<std::optional<uint64_t>> wait_for(std::chrono::microseconds) override { return std::nullopt; }
  Result<uint64_t> wait() override { return ranks_.exclusive_scan(mine_); }

 private:
  Communicator& ranks_;
  const uint64_t mine_;
};

class SingleProcess final : public Communicator {
 public:
  uint32_t rank() const override { return 0; }
  uint32_t size() const override { return 1; }
  Result<void> send(std::span<const std::byte>, uint32_t) override { return nobody(); }
  Result<Bytes> receive(uint32_t) override { return nobody(); }
  Result<std::unique_ptr<Communicator>> split(uint32_t, uint32_t) override { return single_process(); }

 private:
  static std::unexpected<Error> nobody() { return fail(ErrorKind::internal, "one process has nobody to talk to"); }
};

}  // namespace

// From the root down a binomial tree: whoever has the bytes gives them on in ever smaller steps.
Result<void> Communicator::broadcast(Bytes& bytes, uint32_t root) {
  const uint32_t place = (rank() + size() - root) % size();
  uint32_t step = 1;
  for (; step < size() && !(place & step); step *= 2) {
  }
  if (place != 0) {
    FOREBAY_TRY(bytes, receive((place - step + root) % size()));
  }
  for (step /= 2; step > 0; step /= 2)
    if (place + step < size()) FOREBAY_CHECK(send(bytes, (place + step + root) % size()));
  return {};
}

Result<std::vector<Bytes>> Communicator::gather(std::span<const std::byte> mine, uint32_t root) {
  std::vector<Bytes> all;
  if (rank() != root) {
    FOREBAY_CHECK(send(mine, root));
    return all;
  }
  all.resize(size());
  for (uint32_t from = 0; from < size(); ++from) {
    if (from == root) {
      all[from].assign(mine.begin(), mine.end());
    } else {
      FOREBAY_TRY(all[from], receive(from));
    }
  }
  return all;
}

Result<uint64_t> Communicator::exclusive_scan(uint64_t mine) {
  uint64_t before = 0;
  if (rank() > 0) {
    FOREBAY_TRY(const Bytes bytes, receive(rank() - 1));
    FOREBAY_TRY(before, unpacked(bytes));
  }
  if (rank() + 1 < size()) FOREBAY_CHECK(send(packed(before + mine), rank() + 1));
  return before;
}

Result<std::unique_ptr<PendingScan>> Communicator::begin_exclusive_scan(uint64_t mine) {
  return std::make_unique<LateScan>(*this, mine);
}

Result<uint64_t> Communicator::all_reduce(uint64_t mine, Reduction reduction) {
  FOREBAY_TRY(const std::vector<Bytes> all, gather(packed(mine), 0));
  uint64_t value = mine;
  for (size_t from = 1; from < all.size(); ++from) {
    FOREBAY_TRY(const uint64_t other, unpacked(all[from]));
    value = reduced(value, other, reduction);
  }
  const auto bytes = packed(value);
  Bytes message(bytes.begin(), bytes.end());
  FOREBAY_CHECK(broadcast(message, 0));
  return unpacked(message);
}

Result<void> Communicator::barrier() {
  FOREBAY_CHECK(all_reduce(0, Reduction::sum));
  return {};
}

std::unique_ptr<Communicator> single_process() { return std::make_unique<SingleProcess>(); }

}  // namespace forebay::io
