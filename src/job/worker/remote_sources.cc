#include "job/worker/remote_sources.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "job/wire/convert.h"
#include "job/worker/transport_source.h"

namespace forebay::job {
namespace {

// Whether a name comes before another where directories are walked through, each followed by what is in it.
bool walks_before(const std::string& a, const std::string& b) {
  const auto [x, y] = std::ranges::mismatch(a, b);
  if (x == a.end() || y == b.end()) return x == a.end() && y != b.end();
  if (*x == '/' || *y == '/') return *x == '/';
  return static_cast<unsigned char>(*x) < static_cast<unsigned char>(*y);
}

bool belongs_before(const wire::TaskFileT* a, const wire::TaskFileT* b) {
  const int32_t rank_of_a = std::max(a->file->rank, 0), rank_of_b = std::max(b->file->rank, 0);
  return rank_of_a != rank_of_b ? rank_of_a < rank_of_b : walks_before(a->file->name, b->file->name);
}

}  // namespace

Result<std::unique_ptr<RemoteSources>> RemoteSources::open(const AgentAccess& access, const wire::TaskT& task) {
  std::unique_ptr<RemoteSources> sources(new RemoteSources(access));
  FOREBAY_CHECK(sources->add_files(task));
  return sources;
}

Result<void> RemoteSources::add_files(const wire::TaskT& task) {
  std::vector<const wire::TaskFileT*> files;
  for (const auto& file : task.files) files.push_back(file.get());
  std::ranges::sort(files, belongs_before);
  std::vector<std::vector<uint32_t>> of_peers(task.peers.size());
  for (const wire::TaskFileT* const file : files) {
    if (file->peer >= task.peers.size())
      return fail(ErrorKind::invalid_argument, "a file of a task is nobody's", file->file->name);
    const wire::PeerT& peer = *task.peers[file->peer];
    if (file->file->kind == static_cast<uint8_t>(FileKind::regular))
      of_peers[file->peer].push_back(static_cast<uint32_t>(files_.size()));
    files_.push_back(
        {fmt::format("{}:{}/{}/{}", peer.host, peer.stage, task.set, file->file->name), wire::row_of(*file->file)});
    places_.push_back({file->peer, file->index, file->file->ctime_ns});
  }
  for (size_t i = 0; i < of_peers.size(); ++i) add_peer(*task.peers[i], task.set, std::move(of_peers[i]));
  return {};
}

void RemoteSources::add_peer(const wire::PeerT& peer, const std::string& set, std::vector<uint32_t> files) {
  std::vector<fabric::ExposedFile> here;
  if (access_.may_be_here(peer)) here = find_here(peer.stage + "/" + set, files);
  for (uint32_t i = 0; i < here.size(); ++i) {
    files_[files[i]].path = here[i].path;
    places_[files[i]].number = i;
  }
  peers_.push_back({std::make_unique<TransportPool>(access_, peer, std::move(here)), std::move(files)});
}

// The files as they are in `directory`: nothing if any of them is not what was offered, be it because this is another
// directory than the agent's or because the file was changed, which the agent will tell.
std::vector<fabric::ExposedFile> RemoteSources::find_here(const std::string& directory,
                                                          std::span<const uint32_t> files) const {
  std::vector<fabric::ExposedFile> here;
  for (const uint32_t index : files) {
    const FileRow& row = files_[index].row;
    const auto source = FileSource::open(directory + "/" + row.name);
    if (!source) return {};
    const FileSource::Identity& found = (*source)->identity();
    if (std::tie(found.size, found.mtime_s, found.mtime_ns, found.ctime_ns) !=
        std::tie(row.size, row.mtime_s, row.mtime_ns, places_[index].ctime_ns))
      return {};
    here.push_back({(*source)->name(), found});
  }
  return here;
}

Result<std::shared_ptr<ByteSource>> RemoteSources::get(size_t index) {
  const Place& place = places_[index];
  const TransportPool& transports = *peers_[place.peer].transports;
  if (!transports.is_here())
    return std::make_shared<TransportSource>(*this, static_cast<uint32_t>(index), files_[index]);
  const auto open = [&]() -> Result<std::shared_ptr<ByteSource>> {
    const fabric::ExposedFile& file = transports.here()[place.number];
    FOREBAY_TRY(std::shared_ptr<FileSource> source, FileSource::open(file.path));
    if (source->identity() != file.identity)
      return fail(ErrorKind::changed, "the file changed since it was offered", file.path);
    return source;
  };
  return faults_.of(place.peer, open());
}

// One read: a transport to each peer that has pieces of it.
class RemoteSources::Reading {
 public:
  explicit Reading(RemoteSources& sources) : sources_(sources), transports_(sources.peers_.size()) {}

  // Asks for pieces that lie with one peer and come together in `out`.
  Result<void> begin(uint32_t peer, std::span<const fabric::Piece> pieces, std::span<std::byte> out) {
    TransportPool& pool = *sources_.peers_[peer].transports;
    if (!transports_[peer]) {
      FOREBAY_TRY(transports_[peer], sources_.faults_.of(peer, pool.take()));
    }
    return sources_.faults_.of(peer, transports_[peer]->begin(pool.peer().exposure, pieces, out));
  }

  Result<void> finish() {
    for (uint32_t peer = 0; peer < transports_.size(); ++peer) {
      if (!transports_[peer]) continue;
      FOREBAY_CHECK(sources_.faults_.of(peer, transports_[peer]->finish()));
      sources_.peers_[peer].transports->give_back(std::move(transports_[peer]));
    }
    return {};
  }

 private:
  RemoteSources& sources_;
  std::vector<std::unique_ptr<fabric::Transport>> transports_;  // by peer; those of a read that failed end with it
};

Result<void> RemoteSources::read(std::span<const engine::SourcePiece> pieces, std::span<std::byte> out) {
  Reading reading(*this);
  std::vector<fabric::Piece> together;
  for (size_t at = 0; at < pieces.size();) {
    const uint32_t peer = places_[pieces[at].file].peer;
    uint64_t bytes = 0;
    together.clear();
    for (; at < pieces.size() && places_[pieces[at].file].peer == peer; ++at) {
      together.push_back({places_[pieces[at].file].number, pieces[at].offset, pieces[at].length});
      bytes += pieces[at].length;
    }
    FOREBAY_CHECK(reading.begin(peer, together, out.first(bytes)));
    out = out.subspan(bytes);
  }
  return reading.finish();
}

Result<void> RemoteSources::check_unchanged() {
  for (uint32_t number = 0; number < peers_.size(); ++number) {
    Peer& peer = peers_[number];
    if (peer.files.empty()) continue;
    FOREBAY_TRY(auto transport, faults_.of(number, peer.transports->take()));
    FOREBAY_CHECK(faults_.of(number, transport->check_unchanged(peer.transports->peer().exposure)));
    peer.transports->give_back(std::move(transport));
  }
  return {};
}

}  // namespace forebay::job
