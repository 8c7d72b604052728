#include "job/coordinator/rank_groups.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/checksum.h"
#include "engine/pack/tree.h"

namespace forebay::job {
namespace {

constexpr auto kRegularFile = static_cast<uint8_t>(FileKind::regular);
constexpr uint64_t kShardFiles = 4096;  // files whose names are looked at together, on the average

std::unexpected<Error> bad_set(std::string what, const std::string& path = {}) {
  return fail(ErrorKind::invalid_argument, std::move(what), path);
}

// The number of ranks that all parts agree on; 0: unknown to all.
Result<uint32_t> agreed_ranks(const Parts& parts) {
  uint32_t ranks = 0;
  for (const auto& [agent, part] : parts) {
    if (ranks != 0 && part.ranks != 0 && part.ranks != ranks)
      return bad_set(fmt::format("one node says that the job has {} ranks, and another one {}", ranks, part.ranks));
    ranks = std::max(ranks, part.ranks);
  }
  return ranks;
}

void assign_by_names(Parts& parts) {
  std::vector<wire::FileT*> files;
  for (auto& [agent, part] : parts)
    for (OfferedFile& one : part.files)
      if (one.file->kind == kRegularFile) files.push_back(one.file.get());
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

// Whether a file of one writing of the set was made again on a second node, and the first came back.
bool is_copy(const Part& part, const wire::FileT& file, const Part& others, const wire::FileT& other) {
  return part.write != 0 && part.write == others.write && file.rank == other.rank && file.kind == other.kind &&
         file.size == other.size && file.mtime_s == other.mtime_s && file.mtime_ns == other.mtime_ns;
}

// Whether both are stored as one: a directory, link or marker of the application's that several nodes have.
Result<bool> is_same_thing(const wire::FileT& file, const std::string& host, const wire::FileT& other,
                           const std::string& other_host) {
  if (file.kind != kRegularFile && file.kind == other.kind && file.link_target == other.link_target) return true;
  const bool are_markers = file.marker != 0 && other.marker != 0;
  if (are_markers && file.marker == other.marker && file.size == other.size) return true;
  if (are_markers)
    return bad_set(
        fmt::format("the marker of {} is not that of {}: all nodes need the same bytes in it", other_host, host),
        file.name);
  return bad_set(fmt::format("{} and {} both have it, and it can be stored only once", other_host, host), file.name);
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

uint64_t group_size_for_streams(uint64_t most, uint32_t ranks, uint64_t set_bytes, uint64_t streams) {
  constexpr uint64_t kLeastBytes = uint64_t{16} << 20;  // of a container: below it the costs of a file would show
  constexpr uint64_t kMost = 64;                        // a set of more containers than that needs no more of them
  constexpr uint64_t kOfStream = 2;                     // so that those of servers that have more even out
  const uint64_t wanted = streams < 2 ? 0 : std::min({kOfStream * streams, set_bytes / kLeastBytes, kMost});
  if (wanted < 2 || ranks == 0) return most;
  return std::min<uint64_t>(most, (ranks + wanted - 1) / wanted);
}

Result<bool> GroupCutter::work(size_t files) {
  if (stage_ == Stage::begin) {
    FOREBAY_CHECK(begin());
    stage_ = Stage::spread;
  }
  for (size_t done = 0; done < files;) {
    switch (stage_) {
      case Stage::spread:
        if (part_ != parts_->end()) done += spread(files - done);
        if (part_ != parts_->end()) break;
        if (by_group_.empty()) return bad_set("the set holds no files");
        if (cut_.ranks == 0) cut_.ranks = static_cast<uint32_t>(highest_) + 1;
        cut_.groups.resize((cut_.ranks + group_size_ - 1) / group_size_);
        by_group_.resize(cut_.groups.size());
        stage_ = Stage::find_repeated;
        break;
      case Stage::find_repeated: {
        FOREBAY_TRY(const size_t looked_at, find_repeated());
        done += looked_at;
        if (next_ == by_name_.size()) {
          by_name_.clear();
          next_ = 0;
          stage_ = Stage::cut;
        }
        break;
      }
      default:
        done += cut();
        if (next_ == by_group_.size()) return true;
    }
  }
  return false;
}

Result<void> GroupCutter::begin() {
  cut_.group_size = group_size_;
  FOREBAY_TRY(cut_.ranks, agreed_ranks(*parts_));
  const bool none_known = std::ranges::all_of(*parts_, [](const auto& one) { return one.second.covered.empty(); });
  if (none_known) assign_by_names(*parts_);
  uint64_t files = 0;
  for (const auto& [agent, part] : *parts_) files += part.files.size();
  by_name_.resize(files / kShardFiles + 1);
  part_ = parts_->begin();
  return {};
}

// Gives the files of one part, or some of them, to their groups.
size_t GroupCutter::spread(size_t files) {
  Part& part = part_->second;
  const int32_t lowest = part.covered.empty() ? 0 : static_cast<int32_t>(part.covered.front());
  const auto end = static_cast<uint32_t>(std::min<size_t>(part.files.size(), file_ + files));
  const size_t done = end - file_ + 1;
  for (; file_ < end; ++file_) {
    wire::FileT& file = *part.files[file_].file;
    if (file.rank < 0) file.rank = lowest;
    const Entry entry{file.rank, &part, file_};
    const size_t group = static_cast<uint64_t>(file.rank) / group_size_;
    if (group >= by_group_.size()) by_group_.resize(group + 1);
    by_group_[group].push_back(entry);
    const uint64_t hash = hash64(as_bytes(file.name));
    by_name_[hash % by_name_.size()].push_back({hash, place_, entry});
    highest_ = std::max(highest_, file.rank);
  }
  if (file_ == part.files.size()) {
    ++part_;
    ++place_;
    file_ = 0;
  }
  return done;
}

// Of a shard: what several nodes have under one name is stored once, that of the lowest rank, or it cannot be stored.
Result<size_t> GroupCutter::find_repeated() {
  std::vector<Named> names = std::exchange(by_name_[next_++], {});
  std::ranges::sort(names, {}, &Named::hash);
  for (auto first = names.begin(); first != names.end();) {
    const auto last = std::find_if(first, names.end(), [&](const Named& one) { return one.hash != first->hash; });
    if (last - first > 1) FOREBAY_CHECK(check_same_hash(first, last));
    first = last;
  }
  return names.size() + 1;
}

Result<void> GroupCutter::check_same_hash(std::vector<Named>::iterator first, std::vector<Named>::iterator last) {
  const auto name = [](const Named& one) -> const std::string& { return one.entry.row().name; };
  std::sort(first, last, [&](const Named& a, const Named& b) {
    return std::tie(name(a), a.entry.rank, a.place) < std::tie(name(b), b.entry.rank, b.place);
  });
  for (auto one = first, stored = first; one != last; ++one) {
    if (one == stored) continue;
    if (name(*one) != name(*stored)) {
      stored = one;
      continue;
    }
    if (!is_copy(*one->entry.part, one->entry.row(), *stored->entry.part, stored->entry.row()))
      FOREBAY_CHECK(
          is_same_thing(one->entry.row(), one->entry.part->host, stored->entry.row(), stored->entry.part->host));
    repeated_.insert(&one->entry.row());
  }
  return {};
}

// The next group.
size_t GroupCutter::cut() {
  std::vector<Entry> entries = std::exchange(by_group_[next_], {});
  RankGroup& group = cut_.groups[next_];
  group.first_rank = static_cast<uint32_t>(next_ * group_size_);
  ++next_;
  const size_t looked_at = entries.size() + 1;
  if (!repeated_.empty()) std::erase_if(entries, [&](const Entry& entry) { return repeated_.contains(&entry.row()); });
  std::ranges::sort(entries, [](const Entry& a, const Entry& b) {
    return a.rank != b.rank ? a.rank < b.rank : a.row().name < b.row().name;
  });
  group.files.reserve(entries.size());
  for (const Entry& entry : entries) group.files.push_back({entry.part, entry.file});
  finish(group);
  cut_.files += group.files.size();
  cut_.bytes += group.bytes;
  return looked_at;
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
