// How a worker reads the files of an agent (decision 0019, "Bytes by three transports").
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/byte_source.h"
#include "base/bytes.h"
#include "base/error.h"
#include "fabric/link.h"

namespace forebay::fabric {

// A part of a file of an exposure.
struct Piece {
  uint32_t file = 0;
  uint64_t offset = 0, length = 0;  // bytes
  bool operator==(const Piece&) const = default;
};

struct ExposedFile {
  std::string path;
  FileSource::Identity identity;  // as it was when it was offered: what differs is another state of the file
};

// What an agent lets others read. Thread-safe.
class Exposures {
 public:
  uint64_t add(std::vector<ExposedFile> files);  // a number that was never used before, not even by other processes
  void remove(uint64_t exposure);
  // The number stands for these files from now on.
  void replace(uint64_t exposure, std::vector<ExposedFile> files);

  // The file, open. not_found if there is no such exposure or file number; changed if it is not what was exposed. Keeps
  // a bounded number of files open.
  Result<std::shared_ptr<FileSource>> open(uint64_t exposure, uint32_t file);

  // changed, naming the first one, if any of the exposure's files is not what was exposed.
  Result<void> check_unchanged(uint64_t exposure);

  Exposures();
  ~Exposures();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// A worker's transport to one agent. Used by one thread at a time. After an error other than changed and not_found, it
// is of no use any more. Every wait ends when the agent was silent for the `patience` that the transport was made with
// (timeout).
class Transport {
 public:
  virtual ~Transport() = default;
  virtual const char* name() const = 0;  // "node", "stream", "ucx"

  // Asks for the bytes of `pieces`, one after another, to be put into `out`, which must live until finish(). Several
  // may be under way at once; finish() waits for all.
  virtual Result<void> begin(uint64_t exposure, std::span<const Piece> pieces, std::span<std::byte> out) = 0;
  virtual Result<void> finish() = 0;

  // Errors as Exposures::check_unchanged().
  virtual Result<void> check_unchanged(uint64_t exposure) = 0;
};

// Files of this node, whose paths the agent has told: `files` gives them by exposure.
std::unique_ptr<Transport> node_transport(std::function<Result<std::vector<ExposedFile>>(uint64_t exposure)> files);

// Requests over `link`, bytes back over the same.
std::unique_ptr<Transport> stream_transport(Link link, Link::Patience patience);

// Requests over `link`, bytes by UCX active messages with rendezvous. unsupported in a build without UCX, or if the
// agent has none.
Result<std::unique_ptr<Transport>> ucx_transport(Link link, Link::Patience patience);

class Hub;

// The agent's end of stream_transport() and ucx_transport(). Used by the hub's thread, from its handler.
class TransportServer {
 public:
  // Without `ucx`, or in a build without it, transports by UCX are refused.
  TransportServer(Exposures& exposures, Hub& hub, bool ucx);
  ~TransportServer();

  // Whether frames of this type are this class's (fabric/data_wire.h).
  static bool handles(uint8_t type);
  Result<void> received(uint64_t connection, const Frame& frame);
  void disconnected(uint64_t connection);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Tells this node, as far as a transport within it goes, from all others: boot, network namespace and mount namespace.
Result<std::string> node_identity();

}  // namespace forebay::fabric
