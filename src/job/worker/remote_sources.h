// The files of a task, on the nodes where they are staged, as sources of a pack.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "base/error.h"
#include "engine/pack/headers.h"
#include "engine/pack/tree.h"
#include "engine/set/sources.h"
#include "format/reader.h"
#include "job/wire/messages.h"
#include "job/worker/agent_access.h"
#include "job/worker/transport_pool.h"
#include "merge/similarity.h"

namespace forebay::job {

// How the layouts are put together.
struct LayoutOptions {
  const merge::Similarity& similarity;
  const format::FormatOptions& format;  // for files of this node; agents have their own
  unsigned threads = 1;
  std::function<void()>
      moved;  // called by any thread: more was read of a file, or an agent has answered or come further
  std::stop_token stop;
};

class RemoteSources final : public engine::Sources {
 public:
  // The files of a task that packs. An agent of this node whose files open here, with the size and times that they were
  // offered with, is not asked for anything any more. invalid_argument if the task makes no sense. `access` outlives
  // the sources.
  static Result<std::unique_ptr<RemoteSources>> open(const AgentAccess& access, const wire::TaskT& task);

  // By rank, then name as scan_tree() has them.
  std::span<const engine::SourceFile> files() const { return files_; }

  // The group's catalogue: each agent of another node is asked for its headers, all at once, while those of this node
  // are read here. An agent that is at it for long sends Pings. limit if it does not fit into `memory_bytes`; else
  // errors as of the sources and of merge_headers().
  Result<engine::GroupCatalogue> catalogue(const LayoutOptions& options, uint64_t memory_bytes);

  Result<std::shared_ptr<ByteSource>> get(size_t index) override;
  Result<void> read(std::span<const engine::SourcePiece> pieces, std::span<std::byte> out) override;
  Result<void> check_unchanged() override;

  // The peer that an error of the sources came from.
  std::optional<uint32_t> failed_peer(const Error& error) const { return faults_.find(error); }

 private:
  struct Place {
    uint32_t peer = 0;
    uint32_t number = 0;   // by which its transport knows the file
    int64_t ctime_ns = 0;  // as it was offered
  };
  struct Peer {
    std::unique_ptr<TransportPool> transports;
    std::vector<uint32_t> files;  // indices into files_, regular ones
  };
  // The headers that have come, and whose they are.
  struct Gathered {
    uint64_t bytes_left;  // for more of them
    std::vector<engine::Headers> headers = {};
    std::vector<uint32_t> senders = {};

    void add(uint32_t peer, engine::Headers more);
  };
  class Reading;

  explicit RemoteSources(const AgentAccess& access) : access_(access) {}

  Result<void> add_files(const wire::TaskT& task);
  void add_peer(const wire::PeerT& peer, const std::string& set, std::vector<uint32_t> files);
  std::vector<fabric::ExposedFile> find_here(const std::string& directory, std::span<const uint32_t> files) const;

  std::vector<engine::SourceFile> files_of(const Peer& peer) const;
  Result<fabric::Link> ask_for_headers(const Peer& peer) const;
  Result<engine::Headers> headers_here(const Peer& peer, const LayoutOptions& options, uint64_t memory_bytes) const;
  Result<engine::GroupCatalogue> merge(const Gathered& gathered, const LayoutOptions& options, uint64_t memory_bytes);
  Result<engine::Headers> receive_headers(fabric::Link& link, const LayoutOptions& options,
                                          uint64_t memory_bytes) const;

  const AgentAccess& access_;
  std::vector<engine::SourceFile> files_;
  std::vector<Place> places_;  // of each file
  std::vector<Peer> peers_;
  PeerFaults faults_;
};

}  // namespace forebay::job
