// The ranks that write together, without MPI.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"

namespace forebay::io {

enum class Reduction : uint8_t { min, max, sum };

// A sum over all lower ranks that comes together while the ranks do other things. May be destroyed before it is there.
class PendingScan {
 public:
  virtual ~PendingScan() = default;

  // The sum, or nothing if it is not there within `patience`; it may take until wait().
  virtual Result<std::optional<uint64_t>> wait_for(std::chrono::microseconds patience) = 0;

  // Collective: the sum.
  virtual Result<uint64_t> wait() = 0;
};

// A group of processes (or of threads in a test), numbered from 0. What is marked collective must be called by all of
// them, in the same order; whoever calls waits as long as the operation needs him to. One thread of a process uses it
// at a time. disconnected if another rank is known to be gone; which ranks learn that depends on the implementation
// (MPI usually ends the whole job instead). After an error the communicator is of no further use.
class Communicator {
 public:
  virtual ~Communicator() = default;
  Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  virtual uint32_t rank() const = 0;
  virtual uint32_t size() const = 0;

  // One message, of any size, to or from another rank. Messages between two ranks arrive in the order of sending. A
  // sender may wait until its message is received.
  virtual Result<void> send(std::span<const std::byte> message, uint32_t to) = 0;
  virtual Result<Bytes> receive(uint32_t from) = 0;

  // Collective: `bytes` of rank `root` become those of all.
  virtual Result<void> broadcast(Bytes& bytes, uint32_t root);

  // Collective: at rank `root` the bytes of all ranks in their order, which may differ in length; elsewhere nothing.
  virtual Result<std::vector<Bytes>> gather(std::span<const std::byte> mine, uint32_t root);

  // Collective: the sum of the values of all lower ranks.
  virtual Result<uint64_t> exclusive_scan(uint64_t mine);

  // The same, of which the first half is not collective: a rank may begin it whenever it likes, with other operations
  // between this and wait(). One at a time. The communicator must outlive what is returned.
  virtual Result<std::unique_ptr<PendingScan>> begin_exclusive_scan(uint64_t mine);

  // Collective: the value of all ranks together, at all ranks. Values must be below 2^63: MPICH takes larger ones for
  // negative.
  virtual Result<uint64_t> all_reduce(uint64_t mine, Reduction reduction);

  // Collective: returns when all have called it.
  virtual Result<void> barrier();

  // Collective: those with the same colour become a communicator of their own, in the order of their keys, then of
  // ranks.
  virtual Result<std::unique_ptr<Communicator>> split(uint32_t colour, uint32_t key) = 0;

  // Collective: the same ranks, whose messages do not mix with those of this one.
  virtual Result<std::unique_ptr<Communicator>> duplicate() { return split(0, rank()); }
};

// One process by itself.
std::unique_ptr<Communicator> single_process();

// `size` ranks of one process, to be used by a thread each. A rank whose communicator is destroyed is gone: others that
// wait for its messages, then or later, get disconnected.
std::vector<std::unique_ptr<Communicator>> thread_ranks(uint32_t size);

}  // namespace forebay::io
