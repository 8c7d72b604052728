// How RemoteSources come to the directory of their group.
#include <utility>

#include "engine/source_pool.h"
#include "job/remote_sources.h"

namespace forebay::job {

Result<engine::GroupDirectory> RemoteSources::directory(const LayoutOptions& options, uint64_t memory_bytes) {
  std::vector<std::pair<uint32_t, fabric::Link>> asked;
  for (uint32_t number = 0; number < peers_.size(); ++number) {
    if (peers_[number].files.empty() || peers_[number].roads->is_here()) continue;
    FOREBAY_TRY(auto link, faults_.of(number, ask_for_headers(peers_[number])));
    asked.emplace_back(number, std::move(link));
  }

  std::vector<engine::Headers> headers;
  uint64_t left = memory_bytes / 2;
  const auto add = [&](engine::Headers more) {
    left -= std::min(left, more.directory.memory_bytes());
    headers.push_back(std::move(more));
    options.moved();
  };
  for (uint32_t number = 0; number < peers_.size(); ++number) {
    if (!peers_[number].roads->is_here()) continue;
    FOREBAY_TRY(auto own, faults_.of(number, headers_here(peers_[number], options, left)));
    add(std::move(own));
  }
  for (auto& [number, link] : asked) {
    if (options.stop.stop_requested()) return fail(ErrorKind::cancelled, "packing the rank group was cancelled");
    FOREBAY_TRY(auto received, faults_.of(number, receive_headers(link, left)));
    add(std::move(received));
    FOREBAY_CHECK(faults_.of(number, peers_[number].roads->add(std::move(link))));
  }
  return engine::merge_headers(headers, files_, options.similarity, memory_bytes - memory_bytes / 2, options.threads);
}

Result<fabric::Link> RemoteSources::ask_for_headers(const Peer& peer) const {
  FOREBAY_TRY(fabric::Link link, access_.connect(peer.roads->peer()));
  wire::LayoutRequestT request;
  request.exposure = peer.roads->peer().exposure;
  for (const uint32_t file : peer.files) request.files.push_back(places_[file].number);
  Bytes frame;
  wire::encode(frame, std::move(request));
  FOREBAY_CHECK(link.send(frame, access_.patience));
  return link;
}

Result<engine::Headers> RemoteSources::headers_here(const Peer& peer, const LayoutOptions& options,
                                                    uint64_t memory_bytes) const {
  std::vector<engine::SourceFile> files;
  for (const uint32_t file : peer.files) files.push_back(files_[file]);
  engine::SourcePool pool(files);
  return engine::read_headers(files, pool, options.format, memory_bytes, options.threads);
}

Result<engine::Headers> RemoteSources::receive_headers(fabric::Link& link, uint64_t memory_bytes) const {
  const auto deadline = std::chrono::steady_clock::now() + kLongestAnswer;
  while (std::chrono::steady_clock::now() < deadline) {
    FOREBAY_TRY(const fabric::Link::Header header, link.next(wire::kMaxBody, access_.patience));
    // The message is there twice for a moment: as it came, and decoded.
    if (header.body_bytes > memory_bytes / 2)
      return fail(ErrorKind::limit, "the variables of one rank group take too much of the memory budget", link.peer(),
                  {}, "raise --memory or make --group-size smaller");
    Bytes body(header.body_bytes);
    FOREBAY_CHECK(link.read(body, access_.patience));
    FOREBAY_TRY(const wire::MessageT message, wire::decode({header.type, body}));
    body = {};
    if (const auto* refused = message.body.AsRefused()) return std::unexpected(error_of(*refused));
    if (const auto* layouts = message.body.AsLayouts())
      return engine::decode_headers(std::as_bytes(std::span(layouts->headers)), memory_bytes - layouts->headers.size());
    if (message.body.type != wire::Body::Ping)
      return fail(ErrorKind::corrupt, "an answer that was not asked for", link.peer());
  }
  return fail(ErrorKind::timeout, "the agent does not come to an end with the layouts of its files", link.peer());
}

}  // namespace forebay::job
