// A file that the HDF5 library writes through a file driver of ours, which the library never hears an error of.
//
// The library (1.10) does not stand a failing write: a file that cannot be flushed cannot be closed either, stays open,
// and ends the process by a signal when the library tidies up at exit. So the driver keeps the first error to itself,
// and all that is written from then on in memory, where the library finds it again. Everything can be closed then, and
// whoever makes the file asks here, before it gets its name, whether all went well.
#pragma once

#include <cstdint>
#include <memory>

#include "io/hdf5/held_bytes.h"
#include "io/hdf5/types.h"

namespace forebay::hdf5 {

enum class Writes : uint8_t {
  at_once,  // until the first error
  held,     // in memory from the beginning: the file stays as it is
};

// For one thread at a time. May end before the library has closed the file, which then reads and writes nothing.
class GuardedFile {
 public:
  // `fd` is open for reading and writing, and stays the caller's. It is to be valid as long as this lives.
  GuardedFile(int fd, Writes writes);
  ~GuardedFile();
  GuardedFile(const GuardedFile&) = delete;
  GuardedFile& operator=(const GuardedFile&) = delete;

  // Properties with which H5Fcreate() and H5Fopen() take this file, whatever name they are given; none if the library
  // cannot. To be made new, the file has to be empty. The library does not lock it.
  Id access() const;

  // The errno of the first write that failed, or 0.
  int failure() const;

  // Whether the library has closed the file.
  bool is_closed() const;

  // What is to be written yet, and how long the file is to be then.
  const HeldBytes& held() const;
  uint64_t size() const;

  struct State;

 private:
  const std::shared_ptr<State> state_;
};

// Writes all of `bytes`; false and errno if that fails.
bool write_fully(int fd, std::span<const std::byte> bytes, uint64_t offset);

// Reads as much as there is, and zeros after that; false and errno if that fails.
bool read_padded(int fd, std::span<std::byte> bytes, uint64_t offset);

// Closes a copy of the descriptor, since network file systems may tell of a full disk no earlier than at a close; false
// and errno if that fails.
bool close_copy(int fd);

}  // namespace forebay::hdf5
