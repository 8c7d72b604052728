// Agents as far as caches go, several in one process: each a hub in a thread, with a stage of its own.
#pragma once

#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/catalogue.h"
#include "job/cache/cache.h"
#include "job/cache/stored_encodings.h"
#include "job/client/marker.h"
#include "job/client/stage_names.h"
#include "job/stage/stage_notes.h"
#include "job/test_agent.h"
#include "store/files.h"

namespace forebay::job::testing_support {

inline constexpr const char* kSet = "ckpt_7";

class CacheNode {
 public:
  CacheNode(std::string name, std::string stage, std::chrono::milliseconds patience = 5s)
      : name_(std::move(name)),
        stage_(std::move(stage)),
        cache_({.stage = stage_, .access = {.credentials = credentials(), .patience = patience}, .log = {}}, hub_.hub(),
               exposures_),
        transports_(exposures_, hub_.hub(), false) {
    EXPECT_TRUE(prepare_stage(stage_));
    EXPECT_TRUE(cache_.begin());
    hub_.serve([this](fabric::ConnectionId id, const fabric::Frame& frame) { return received(id, frame); },
               [this](fabric::ConnectionId id) {
                 cache_.disconnected(id);
                 transports_.disconnected(id);
               },
               [this] { cache_.ping(); });
  }
  ~CacheNode() { hub_.stop(); }
  CacheNode(const CacheNode&) = delete;
  CacheNode& operator=(const CacheNode&) = delete;

  const std::string& name() const { return name_; }
  const std::string& stage() const { return stage_; }
  std::string addresses() const { return hub_.addresses(); }
  fabric::Link link() const { return value(hub_.connect()); }
  std::string path(const std::string& file) const { return stage_ + "/" + kSet + "/" + file; }

  // Does it in the hub's thread, as an agent would.
  template <class Work>
  auto here(Work work) {
    std::packaged_task<std::invoke_result_t<Work>()> task(std::move(work));
    auto result = task.get_future();
    hub_.hub().post([shared = std::make_shared<decltype(task)>(std::move(task))] { (*shared)(); });
    return result.get();
  }
  // Calls `begin` there with what is to be called with the answer.
  template <class Answer, class Begin>
  std::future<Answer> ask(Begin begin) {
    auto promise = std::make_shared<std::promise<Answer>>();
    hub_.hub().post([promise, begin = std::move(begin)] {
      begin([promise](auto answer, const auto&...) { promise->set_value(std::move(answer)); });
    });
    return promise->get_future();
  }

  // A part of the set with files of these sizes, as its rank would leave it.
  void write_set(uint32_t rank, const std::vector<uint64_t>& sizes) {
    check(note_begin(stage_, kSet, 7));
    Marker marker{.rank = rank, .ranks = 64, .pid = 1, .step = 7, .files = {}};
    for (size_t i = 0; i < sizes.size(); ++i) {
      const std::string file = "d" + std::to_string(rank) + "/file" + std::to_string(i);
      std::string bytes(sizes[i], '\0');
      std::mt19937_64 random(rank * 1000 + i);
      for (char& byte : bytes) byte = static_cast<char>(random());
      write_text(path(file), bytes);
      ::chmod(path(file).c_str(), 0640);
      struct stat info{};
      EXPECT_EQ(::stat(path(file).c_str(), &info), 0);
      marker.files.push_back({file, sizes[i], info.st_mtim.tv_sec, static_cast<uint32_t>(info.st_mtim.tv_nsec)});
      files_.push_back(marker.files.back());
    }
    check(store::write_text(notes_path(stage_, kSet),
                            "rank-" + std::string(8 - std::to_string(rank).size(), '0') + std::to_string(rank),
                            encode_marker(marker)));
    rank_ = rank;
    std::vector<fabric::ExposedFile> exposed;
    for (const MarkedFile& file : files_) {
      struct stat info{};
      EXPECT_EQ(::stat(path(file.name).c_str(), &info), 0);
      exposed.push_back({path(file.name), FileSource::identity_of(info)});
      bytes_ += file.size;
    }
    exposure_ = exposures_.add(std::move(exposed));
  }
  uint64_t bytes() const { return bytes_; }
  uint64_t exposure() const { return exposure_; }
  uint32_t rank() const { return rank_; }

  Cache::Part part() const {
    Cache::Part part;
    part.exposure = exposure_;
    part.record.set = kSet;
    part.record.step = 7;
    part.record.ranks = 64;
    redundancy::MemberRecord own{.host = name_, .node = name_, .ranks = {rank_}};
    for (const MarkedFile& file : files_)
      own.files.push_back({.name = file.name,
                           .size = file.size,
                           .mode = 0640,
                           .mtime_ns = file.mtime_ns,
                           .mtime_s = file.mtime_s,
                           .rank = rank_,
                           .link_target = {}});
    own.markers.emplace_back(rank_, read_text(marker_path(stage_, kSet, rank_)));
    part.record.members.push_back(std::move(own));
    return part;
  }

  std::future<wire::ProtectedT> protect(wire::ProtectT order) {
    return ask<wire::ProtectedT>([this, order = std::move(order)](auto done) { cache_.protect(order, part(), done); });
  }
  std::future<wire::SealedT> seal(uint64_t id) {
    return ask<wire::SealedT>([this, id](auto done) { cache_.seal(id, false, done); });
  }
  wire::CachedCheckedT check_cached(uint64_t id) {
    wire::CheckCachedT order;
    order.number = 1;
    order.id = id;
    order.set = kSet;
    return ask<wire::CachedCheckedT>([this, order](auto done) { cache_.check(order, done); }).get();
  }
  std::future<wire::RepairedT> repair(wire::RepairT order) {
    return ask<wire::RepairedT>([this, order = std::move(order)](auto done) { cache_.repair(order, false, done); });
  }
  std::vector<std::unique_ptr<wire::EncodingT>> offer() {
    return here([this] { return cache_.offer(kSet, 0); });
  }
  void cancel(uint64_t id) {
    here([this, id] { cache_.cancel(id); });
  }
  void cancel_repair(uint64_t number) {
    here([this, number] { cache_.cancel_repair(number); });
  }
  std::vector<std::string> left() const {
    std::vector<std::string> names;
    const std::string root = stage_ + "/.forebay/cache";
    if (std::filesystem::exists(root))
      for (const auto& entry : std::filesystem::directory_iterator(root)) names.push_back(entry.path().filename());
    return names;
  }

 private:
  Result<void> received(fabric::ConnectionId id, const fabric::Frame& frame) {
    if (fabric::TransportServer::handles(frame.type)) return transports_.received(id, frame);
    if (Cache::handles(frame.type)) return cache_.received(id, frame);
    FOREBAY_TRY(auto message, wire::decode(frame));
    if (message.body.type == wire::Body::Ping) return {};
    if (!Cache::handles(message.body.type)) return fail(ErrorKind::corrupt, "not about caches");
    return cache_.received(id, message);
  }

  const std::string name_, stage_;
  std::vector<MarkedFile> files_;
  uint64_t bytes_ = 0, exposure_ = 0;
  uint32_t rank_ = 0;
  HubThread hub_;
  fabric::Exposures exposures_;
  Cache cache_;
  fabric::TransportServer transports_;
};

// What a coordinator would tell a group.
struct TestGroup {
  uint64_t id = 0;
  unsigned losses = 1;
  std::vector<CacheNode*> nodes;
  std::vector<uint64_t> sizes = {};

  uint64_t chunk() const { return value(redundancy::Geometry::make(sizes, losses)).chunk(); }
  std::vector<std::unique_ptr<wire::MemberT>> members() const {
    std::vector<std::unique_ptr<wire::MemberT>> all;
    for (size_t i = 0; i < nodes.size(); ++i) {
      auto member = std::make_unique<wire::MemberT>();
      member->host = member->node = nodes[i] != nullptr ? nodes[i]->name() : "nobody";
      if (nodes[i] != nullptr) member->addresses = nodes[i]->addresses();
      if (nodes[i] != nullptr) member->data = nodes[i]->exposure();
      member->bytes = sizes[i];
      all.push_back(std::move(member));
    }
    return all;
  }
  wire::ProtectT protect(unsigned position) const {
    wire::ProtectT order;
    order.id = id;
    order.set = kSet;
    order.scheme = losses > 1 ? wire::Scheme::rs : wire::Scheme::xor_;
    order.groups = 1;
    order.position = position;
    order.losses = losses;
    order.chunk = chunk();
    order.members = members();
    return order;
  }
  // `holders`: who has or receives each position now.
  wire::RepairT repair(const std::vector<CacheNode*>& holders, CacheNode* self, const std::vector<uint32_t>& lost,
                       const std::vector<wire::BadPiecesT>& bad = {}) const {
    wire::RepairT order;
    order.number = id + 1;
    order.id = id;
    order.set = kSet;
    order.groups = 1;
    order.losses = losses;
    order.chunk = chunk();
    order.members = members();
    order.lost = lost;
    for (const auto& pieces : bad) order.bad.push_back(std::make_unique<wire::BadPiecesT>(pieces));
    for (uint32_t i = 0; i < holders.size(); ++i) {
      wire::MemberT& member = *order.members[i];
      member.addresses = holders[i]->addresses();
      if (holders[i] == self) order.self.push_back(i);
      for (const auto& encoding : holders[i]->offer()) {
        if (encoding->id != id || encoding->position != i) continue;
        member.data = encoding->members[i]->data;
        member.parity = encoding->members[i]->parity;
      }
    }
    return order;
  }
};

}  // namespace forebay::job::testing_support
