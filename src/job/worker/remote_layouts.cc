// How RemoteSources come to the catalogue of their group.
#include <algorithm>
#include <utility>

#include "engine/pack/source_pool.h"
#include "job/stage/counted_sources.h"
#include "job/wire/convert.h"
#include "job/worker/remote_sources.h"

namespace forebay::job {

Result<engine::GroupCatalogue> RemoteSources::catalogue(const LayoutOptions& options, uint64_t memory_bytes) {
  std::vector<std::pair<uint32_t, fabric::Link>> asked;
  for (uint32_t number = 0; number < peers_.size(); ++number) {
    if (peers_[number].files.empty() || peers_[number].transports->is_here()) continue;
    FOREBAY_TRY(auto link, faults_.of(number, ask_for_headers(peers_[number])));
    asked.emplace_back(number, std::move(link));
  }
  Gathered gathered{.bytes_left = memory_bytes / 2};
  for (uint32_t number = 0; number < peers_.size(); ++number) {
    if (!peers_[number].transports->is_here()) continue;
    FOREBAY_TRY(auto own, faults_.of(number, headers_here(peers_[number], options, gathered.bytes_left)));
    gathered.add(number, std::move(own));
  }
  for (auto& [number, link] : asked) {
    FOREBAY_TRY(auto received, faults_.of(number, receive_headers(link, options, gathered.bytes_left)));
    gathered.add(number, std::move(received));
    FOREBAY_CHECK(faults_.of(number, peers_[number].transports->add(std::move(link))));
    options.moved();
  }
  return merge(gathered, options, memory_bytes - memory_bytes / 2);
}

void RemoteSources::Gathered::add(uint32_t peer, engine::Headers more) {
  bytes_left -= std::min(bytes_left, more.catalogue.memory_bytes());
  headers.push_back(std::move(more));
  senders.push_back(peer);
}

Result<engine::GroupCatalogue> RemoteSources::merge(const Gathered& gathered, const LayoutOptions& options,
                                                    uint64_t memory_bytes) {
  const auto merged = [&](std::span<const engine::Headers> headers, std::span<const engine::SourceFile> files) {
    return engine::merge_headers(headers, files, options.similarity, memory_bytes, options.threads);
  };
  auto all = merged(gathered.headers, files_);
  // Whose headers cannot be merged even alone is at fault.
  for (size_t i = 0; !all && i < gathered.headers.size(); ++i) {
    const uint32_t sender = gathered.senders[i];
    static_cast<void>(faults_.of(sender, merged({&gathered.headers[i], 1}, files_of(peers_[sender]))));
  }
  return all;
}

std::vector<engine::SourceFile> RemoteSources::files_of(const Peer& peer) const {
  std::vector<engine::SourceFile> files;
  for (const uint32_t file : peer.files) files.push_back(files_[file]);
  return files;
}

Result<fabric::Link> RemoteSources::ask_for_headers(const Peer& peer) const {
  FOREBAY_TRY(fabric::Link link, access_.connect(peer.transports->peer()));
  wire::LayoutRequestT request;
  request.exposure = peer.transports->peer().exposure;
  for (const uint32_t file : peer.files) request.files.push_back(places_[file].number);
  Bytes frame;
  wire::encode(frame, std::move(request));
  FOREBAY_CHECK(link.send(frame, access_.patience));
  return link;
}

Result<engine::Headers> RemoteSources::headers_here(const Peer& peer, const LayoutOptions& options,
                                                    uint64_t memory_bytes) const {
  const std::vector<engine::SourceFile> files = files_of(peer);
  engine::SourcePool pool(files);
  CountedSources counted(pool, options.moved);
  return engine::read_headers(files, counted, options.format, memory_bytes, options.threads);
}

Result<engine::Headers> RemoteSources::receive_headers(fabric::Link& link, const LayoutOptions& options,
                                                       uint64_t memory_bytes) const {
  auto deadline = std::chrono::steady_clock::now() + wire::kLongestAnswer;
  uint64_t moves = 0;
  while (std::chrono::steady_clock::now() < deadline) {
    // An agent that is at it for long says now and then that it is alive, and how far it is.
    if (options.stop.stop_requested()) return fail(ErrorKind::cancelled, "packing the rank group was cancelled");
    FOREBAY_TRY(const fabric::Link::Header header, link.next(wire::kMaxBody, access_.patience));
    // The message is there twice for a moment: as it came, and decoded.
    if (header.body_bytes > memory_bytes / 2)
      return engine::too_many_variables(
          static_cast<double>(header.body_bytes) / (static_cast<double>(memory_bytes) / 2), link.peer());
    Bytes body(header.body_bytes);
    FOREBAY_CHECK(link.read(body, access_.patience));
    FOREBAY_TRY(const wire::MessageT message, wire::decode({header.type, body}));
    body = {};
    if (const auto* refused = message.body.AsRefused()) return std::unexpected(error_of(*refused));
    if (const auto* layouts = message.body.AsLayouts())
      return engine::decode_headers(std::as_bytes(std::span(layouts->headers)), memory_bytes - layouts->headers.size());
    const auto* ping = message.body.AsPing();
    if (ping == nullptr) return fail(ErrorKind::corrupt, "an answer that was not asked for", link.peer());
    if (ping->moves <= moves) continue;
    moves = ping->moves;
    deadline = std::chrono::steady_clock::now() + wire::kLongestAnswer;
    options.moved();
  }
  return fail(ErrorKind::timeout, "the agent does not get on with the layouts of its files", link.peer());
}

}  // namespace forebay::job
