// Tasks for workers: a set of files in the stages of two agents.
#pragma once

#include <algorithm>
#include <filesystem>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "engine/inspect/extract.h"
#include "engine/pack/group_report.h"
#include "format/npy.h"
#include "job/worker/test_worker.h"

namespace forebay::job::testing_support {

namespace fs = std::filesystem;

inline constexpr const char* kSet = "dump_0040";

inline std::string npy_file(const std::vector<double>& values) {
  std::string text(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double));
  return format::npy_header("<f8", {values.size()}) + text;
}

// A set of one file per rank, whole in tree() and in parts, which are the same files, in the stages of two agents.
class WorkerTest : public TempTest {
 protected:
  WorkerTest() {
    options_.credentials = credentials();
    options_.node = "here";
    options_.patience = 3s;
    options_.pack.profile = value(codec::Profile::parse("fast"));
    options_.resources = {.memory_bytes = 256 << 20, .threads = 2, .progress = {}};
    options_.streams = 1;  // with all of the memory, as pack
    options_.store = path("out");
    staged_ = value(value(store::Store::open_for_writing(path("out"))).stage(kSet));
  }

  std::string tree() const { return path("tree"); }
  std::string out() const { return staged_->containers().path_of("") + "/"; }  // where containers come to lie
  std::string stage(int peer) const { return path("stage") + std::to_string(peer); }

  void write_ranks(int ranks, size_t values) {
    std::mt19937_64 random(1);
    for (int rank = 0; rank < ranks; ++rank) {
      std::vector<double> all(values);
      for (size_t i = 0; i < values; ++i)
        all[i] =
            static_cast<double>(rank) + 0.25 * static_cast<double>(i * i % 1009) + static_cast<double>(random() % 64);
      write_text(tree() + "/rank" + std::to_string(100 + rank) + "/state.npy", npy_file(all));
    }
    write_text(tree() + "/notes.txt", "a file of no particular rank\n");
    write_text(tree() + "/notes/more.txt", "whose directory's name begins as that file's\n");
    fs::create_symlink("notes.txt", tree() + "/link");
  }

  // The first half of the ranks is with agent 0, the second with agent 1.
  void stage_ranks() {
    const std::vector<std::string> roots{tree()};
    scanned_ = value(engine::scan_tree(roots));
    for (int peer = 0; peer < 2; ++peer) make_stage(stage(peer));
    for (const engine::SourceFile& file : scanned_.files) {
      const fs::path to = stage(peer_of(file.row.rank)) + "/" + kSet + "/" + file.row.name;
      fs::create_directories(to.parent_path());
      if (file.row.kind == FileKind::regular) fs::create_hard_link(file.path, to);
    }
  }
  int peer_of(uint32_t rank) const { return rank < (scanned_.ranks + 1) / 2 ? 0 : 1; }

  wire::TaskT pack_task(uint64_t id = 1) const {
    wire::TaskT task;
    task.id = id;
    task.kind = wire::TaskKind::pack;
    task.set = kSet;
    task.staged = staged_->id();
    task.container = "task-" + std::to_string(id);
    uint32_t offered[2] = {0, 0};
    for (const engine::SourceFile& file : scanned_.files) {
      auto entry = std::make_unique<wire::TaskFileT>();
      entry->peer = static_cast<uint32_t>(peer_of(file.row.rank));
      if (file.row.kind == FileKind::regular) entry->index = offered[entry->peer]++;
      entry->file = std::make_unique<wire::FileT>();
      entry->file->name = file.row.name;
      entry->file->kind = static_cast<uint8_t>(file.row.kind);
      entry->file->mode = file.row.mode;
      entry->file->mtime_s = file.row.mtime_s;
      entry->file->mtime_ns = file.row.mtime_ns;
      entry->file->size = file.row.size;
      if (file.row.kind == FileKind::regular)
        entry->file->ctime_ns = value(FileSource::open(file.path))->identity().ctime_ns;
      entry->file->link_target = file.row.link_target;
      entry->file->rank = static_cast<int32_t>(file.row.rank);
      task.files.push_back(std::move(entry));
    }
    return task;
  }

  void add_peer(wire::TaskT& task, const std::string& node, const std::string& addresses, uint64_t exposure) const {
    auto peer = std::make_unique<wire::PeerT>();
    peer->node = node;
    peer->host = "host" + std::to_string(task.peers.size());
    peer->addresses = addresses;
    peer->stage = stage(static_cast<int>(task.peers.size()));
    peer->exposure = exposure;
    task.peers.push_back(std::move(peer));
  }

  // Both agents in threads of this process, with the nodes that they say they are on.
  void start_agents(const std::string& node0, const std::string& node1) {
    nodes_ = {node0, node1};
    for (int peer = 0; peer < 2; ++peer) {
      agents_.push_back(std::make_unique<TestAgent>(stage(peer)));
      exposures_.push_back(fs::exists(stage(peer) + "/" + kSet) ? agents_.back()->expose(kSet) : 0);
      agents_.back()->serve();
    }
  }
  void add_agents(wire::TaskT& task) const {
    for (size_t i = 0; i < agents_.size(); ++i) add_peer(task, nodes_[i], agents_[i]->addresses(), exposures_[i]);
  }

  // Both agents in a process of their own, and what it tells of them as peers.
  void tell_agents(const Child::Announce& tell) {
    start_agents("elsewhere", "elsewhere");
    std::string said;
    for (size_t i = 0; i < 2; ++i) said += agents_[i]->addresses() + " " + std::to_string(exposures_[i]) + " ";
    tell(said);
    ::pause();
  }
  void add_told(wire::TaskT& task, const std::string& told) const {
    std::istringstream said(told);
    std::string addresses;
    for (uint64_t exposure = 0; said >> addresses >> exposure;) add_peer(task, "elsewhere", addresses, exposure);
  }

  // What `forebay pack` makes of the tree.
  std::string reference() const {
    engine::PackOptions pack = options_.pack;
    pack.sources = {tree()};
    pack.store = path("store");
    pack.name = kSet;
    pack.group_size = 1000;
    pack.resources = options_.resources;
    engine::SoloTeam team;
    value(engine::pack(pack, team));
    return path("store/sets/") + kSet + "/" + container_;
  }

  void expect_same_as_packed(const wire::TaskDoneT& done, const wire::TaskT& task) {
    ASSERT_FALSE(done.failed) << done.error;
    const auto report = engine::parse_group_report(done.report);
    ASSERT_TRUE(report);
    const std::string made = read_text(out() + task.container);
    EXPECT_EQ(report->entry.bytes, made.size());
    EXPECT_TRUE(made == read_text(reference()));
  }

  void expect_source_failed(const wire::TaskDoneT& done, ErrorKind kind, uint32_t peer) const {
    ASSERT_TRUE(done.failed);
    EXPECT_EQ(done.error_kind, static_cast<uint8_t>(kind)) << done.error;
    EXPECT_EQ(done.side, wire::FaultSide::source) << done.error;
    EXPECT_EQ(done.peer, peer) << done.error;
    EXPECT_TRUE(fs::is_empty(out()));
  }

  // For one line between processes.
  static std::string outcome(const wire::TaskDoneT& done) {
    if (!done.failed) return "packed";
    return std::string(to_string(static_cast<ErrorKind>(done.error_kind))) + " " + wire::EnumNameFaultSide(done.side) +
           " " + std::to_string(done.peer);
  }

  static constexpr const char* container_ = "00000-of-00001.fbc";
  WorkerOptions options_;
  std::unique_ptr<store::StagedSet> staged_;
  engine::SourceTree scanned_;
  std::vector<std::string> nodes_;
  std::vector<std::unique_ptr<TestAgent>> agents_;
  std::vector<uint64_t> exposures_;
};

}  // namespace forebay::job::testing_support
