#include "job/coordinator/drain_set.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/catalogue.h"
#include "base/checksum.h"
#include "engine/pack/tree.h"

namespace forebay::job {
namespace {

constexpr auto kRegular = static_cast<uint8_t>(FileKind::regular);

void append(std::string& to, uint64_t number) {
  for (int shift = 0; shift < 64; shift += 8) to += static_cast<char>(number >> shift & 0xff);
}

// Times of directories change when files are added beside; modes do not tell that the content is another one.
uint64_t hash_of(const std::vector<OfferedFile>& files) {
  std::string text;
  for (const OfferedFile& one : files) {
    const wire::FileT& file = *one.file;
    append(text, file.name.size());
    text += file.name;
    append(text, file.kind);
    append(text, file.link_target.size());
    text += file.link_target;
    if (file.kind != kRegular) continue;
    append(text, file.size);
    append(text, static_cast<uint64_t>(file.mtime_s));
    append(text, file.mtime_ns);
  }
  return hash64(as_bytes(text));
}

std::unexpected<Error> bad(std::string what, const std::string& path = {}) {
  return fail(ErrorKind::invalid_argument, std::move(what), path);
}

Result<void> check_file(const wire::FileT& file, uint32_t ranks, const std::string& previous) {
  const int64_t most = ranks == 0 ? kMaxRanks : ranks;
  if (file.rank >= most)
    return bad(fmt::format("a file of rank {} where there are {} ranks", file.rank, most), file.name);
  if (file.name == previous) return bad("a file is offered twice", file.name);
  return {};
}

// The number of ranks that all parts agree on; 0: unknown to all.
Result<uint32_t> agreed_ranks(const Parts& parts) {
  uint32_t ranks = 0;
  for (const auto& [agent, part] : parts) {
    if (ranks != 0 && part.ranks != 0 && part.ranks != ranks)
      return bad(fmt::format("one node says that the job has {} ranks, and another one {}", ranks, part.ranks));
    ranks = std::max(ranks, part.ranks);
  }
  return ranks;
}

void assign_by_names(Parts& parts) {
  std::vector<wire::FileT*> files;
  for (auto& [agent, part] : parts)
    for (OfferedFile& one : part.files)
      if (one.file->kind == kRegular) files.push_back(one.file.get());
  std::ranges::sort(files, {}, &wire::FileT::name);
  std::vector<std::string> names;
  names.reserve(files.size());
  for (const wire::FileT* file : files)
    if (names.empty() || names.back() != file->name) names.push_back(file->name);
  const std::vector<uint32_t> ranks = engine::assign_ranks(names).of_name;
  for (size_t i = 0, name = 0; i < files.size(); ++i) {
    if (files[i]->name != names[name]) ++name;
    files[i]->rank = static_cast<int32_t>(ranks[name]);
  }
}

void assign_ranks(Parts& parts) {
  const bool none_known = std::ranges::all_of(parts, [](const auto& one) { return one.second.covered.empty(); });
  if (none_known) assign_by_names(parts);
  for (auto& [agent, part] : parts) {
    const int32_t lowest = part.covered.empty() ? 0 : static_cast<int32_t>(part.covered.front());
    for (OfferedFile& one : part.files)
      if (one.file->rank < 0) one.file->rank = lowest;
  }
}

struct Entry {
  int32_t rank;
  Part* part;
  uint32_t file;
  const wire::FileT& row() const { return *part->files[file].file; }
};

// Whether `entry` is to be stored: not if another node has the same directory, link or marker of the application's.
Result<bool> is_new(std::unordered_map<std::string_view, const Entry*>& seen, const Entry& entry) {
  const wire::FileT& file = entry.row();
  const auto [place, inserted] = seen.try_emplace(file.name, &entry);
  if (inserted) return true;
  const wire::FileT& other = place->second->row();
  if (file.kind != kRegular && file.kind == other.kind && file.link_target == other.link_target) return false;
  const bool are_markers = file.marker != 0 && other.marker != 0;
  if (are_markers && file.marker == other.marker && file.size == other.size) return false;
  if (are_markers)
    return bad(fmt::format("the marker of {} is not that of {}: all nodes need the same bytes in it",
                           place->second->part->host, entry.part->host),
               file.name);
  return bad(fmt::format("{} and {} both have it, and it can be stored only once", place->second->part->host,
                         entry.part->host),
             file.name);
}

std::vector<Entry> sorted_entries(Parts& parts) {
  std::vector<Entry> entries;
  for (auto& [agent, part] : parts)
    for (uint32_t i = 0; i < part.files.size(); ++i) entries.push_back({part.files[i].file->rank, &part, i});
  std::ranges::stable_sort(entries, [](const Entry& a, const Entry& b) {
    return a.rank != b.rank ? a.rank < b.rank : a.row().name < b.row().name;
  });
  return entries;
}

void finish(RankGroup& group) {
  std::map<Part*, uint64_t> bytes;
  for (const GroupFile& one : group.files) bytes[one.part] += one.part->files[one.file].file->size;
  std::map<std::string_view, uint64_t> by_node;
  for (const auto& [part, of_part] : bytes) {
    group.parts.push_back(part);
    group.bytes += of_part;
    by_node[part->node] += of_part;
  }
  if (by_node.empty()) return;
  group.home = std::ranges::max_element(by_node, {}, [](const auto& one) { return one.second; })->first;
}

}  // namespace

std::string hash_text(uint64_t hash) { return fmt::format("{:016x}", hash); }

Result<Part> make_part(wire::OfferT& offer) {
  Part part{.exposure = offer.exposure, .ranks = offer.ranks};
  if (offer.ranks > kMaxRanks) return bad(fmt::format("{} ranks are more than can be served", offer.ranks));
  part.files.reserve(offer.files.size());
  for (uint32_t i = 0; i < offer.files.size(); ++i) part.files.push_back({std::move(offer.files[i]), i});
  std::ranges::sort(part.files, {}, [](const OfferedFile& one) -> const std::string& { return one.file->name; });
  part.covered = std::move(offer.complete);
  std::string previous;
  for (const OfferedFile& one : part.files) {
    FOREBAY_CHECK(check_file(*one.file, part.ranks, previous));
    previous = one.file->name;
    if (one.file->rank >= 0) part.covered.push_back(static_cast<uint32_t>(one.file->rank));
    part.bytes += one.file->size;
  }
  std::ranges::sort(part.covered);
  const auto same = std::ranges::unique(part.covered);
  part.covered.erase(same.begin(), same.end());
  if (!part.covered.empty() && part.covered.back() >= (part.ranks == 0 ? kMaxRanks : part.ranks))
    return bad(fmt::format("rank {} is said to be complete where there are {} ranks", part.covered.back(), part.ranks));
  part.hash = hash_of(part.files);
  return part;
}

bool is_same(const Part& part, const Part& again) {
  return part.hash == again.hash &&
         std::ranges::equal(
             part.files, again.files, {}, [](const OfferedFile& one) { return one.file->ctime_ns; },
             [](const OfferedFile& one) { return one.file->ctime_ns; });
}

void renew(Part& part, Part&& again) {
  part.session = again.session;
  part.node = std::move(again.node);
  part.host = std::move(again.host);
  part.addresses = std::move(again.addresses);
  part.stage = std::move(again.stage);
  part.exposure = again.exposure;
  for (size_t i = 0; i < part.files.size(); ++i) part.files[i].index = again.files[i].index;
}

void Coverage::add(const std::vector<uint32_t>& ranks) {
  for (const uint32_t rank : ranks) ++counts_[rank];
}

void Coverage::remove(const std::vector<uint32_t>& ranks) {
  for (const uint32_t rank : ranks) {
    const auto found = counts_.find(rank);
    if (found != counts_.end() && --found->second == 0) counts_.erase(found);
  }
}

std::string Coverage::missing(uint32_t total) const {
  constexpr int kMost = 10;
  std::string text;
  int ranges = 0;
  for (uint32_t rank = 0; rank < total; ++rank) {
    if (counts_.contains(rank)) continue;
    if (ranges++ == kMost) return text + ", ...";
    const uint32_t first = rank;
    while (rank + 1 < total && !counts_.contains(rank + 1)) ++rank;
    text += text.empty() ? "" : ", ";
    text += first == rank ? fmt::format("{}", first) : fmt::format("{}-{}", first, rank);
  }
  return text;
}

Result<Groups> cut_groups(Parts& parts, uint64_t group_size) {
  Groups cut{.group_size = group_size};
  FOREBAY_TRY(cut.ranks, agreed_ranks(parts));
  assign_ranks(parts);
  const std::vector<Entry> entries = sorted_entries(parts);
  if (entries.empty()) return bad("the set holds no files");
  if (cut.ranks == 0) cut.ranks = static_cast<uint32_t>(entries.back().rank) + 1;
  cut.groups.resize((cut.ranks + group_size - 1) / group_size);
  for (size_t i = 0; i < cut.groups.size(); ++i) cut.groups[i].first_rank = static_cast<uint32_t>(i * group_size);
  std::unordered_map<std::string_view, const Entry*> seen;
  seen.reserve(entries.size());
  for (const Entry& entry : entries) {
    FOREBAY_TRY(const bool stored, is_new(seen, entry));
    if (!stored) continue;
    cut.groups[static_cast<uint64_t>(entry.rank) / group_size].files.push_back({entry.part, entry.file});
    ++cut.files;
  }
  for (RankGroup& group : cut.groups) {
    finish(group);
    cut.bytes += group.bytes;
  }
  return cut;
}

wire::TaskT make_task(const RankGroup& group) {
  wire::TaskT task;
  task.kind = wire::TaskKind::pack;
  task.first_rank = group.first_rank;
  std::unordered_map<const Part*, uint32_t> peers;
  for (const Part* part : group.parts) {
    peers.emplace(part, static_cast<uint32_t>(peers.size()));
    auto& peer = *task.peers.emplace_back(std::make_unique<wire::PeerT>());
    peer.node = part->node;
    peer.host = part->host;
    peer.addresses = part->addresses;
    peer.stage = part->stage;
    peer.exposure = part->exposure;
  }
  task.files.reserve(group.files.size());
  for (const GroupFile& one : group.files) {
    const OfferedFile& offered = one.part->files[one.file];
    auto& file = *task.files.emplace_back(std::make_unique<wire::TaskFileT>());
    file.file = std::make_unique<wire::FileT>(*offered.file);
    file.peer = peers.at(one.part);
    file.index = offered.index;
  }
  return task;
}

}  // namespace forebay::job
