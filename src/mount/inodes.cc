#include "mount/inodes.h"

namespace forebay::mount {

uint64_t Inodes::look_up(const std::shared_ptr<const MountedSet>& set, uint32_t node, uint64_t parent,
                         std::string_view name) {
  const std::lock_guard lock(mutex_);
  const auto [place, is_new] = numbers_.try_emplace({set->name(), set->created_ns(), set->content(), node}, last_ + 1);
  if (is_new) {
    auto& known = sets_[{set->name(), set->created_ns(), set->content()}];
    std::shared_ptr<SetIdentity> identity = known.lock();
    if (!identity)
      known = identity = std::make_shared<SetIdentity>(set->name(), set->created_ns(), set->content(), set);
    ++last_;
    known_.emplace(last_, Known{.inode = {.set = std::move(identity), .node = node, .parent = 0, .name = {}}});
  }
  Known& known = known_.at(place->second);
  ++known.times;
  known.inode.set->open = set;
  known.inode.parent = parent;
  known.inode.name = name;
  return place->second;
}

std::optional<Inode> Inodes::find(uint64_t number) const {
  if (number == kRoot || number == kLatest) return Inode{};
  const std::lock_guard lock(mutex_);
  const auto found = known_.find(number);
  if (found == known_.end()) return {};
  Inode inode = found->second.inode;
  inode.open = inode.set->open.lock();
  return inode;
}

void Inodes::forget(uint64_t number, uint64_t times) {
  const std::lock_guard lock(mutex_);
  const auto found = known_.find(number);
  if (found == known_.end()) return;
  found->second.times -= std::min(times, found->second.times);
  if (found->second.times > 0) return;
  const Inode& inode = found->second.inode;
  numbers_.erase({inode.set->name, inode.set->created_ns, inode.set->content, inode.node});
  known_.erase(found);
}

std::string Inodes::path_of(uint64_t number) const {
  const std::lock_guard lock(mutex_);
  std::string path;
  constexpr int kMostParts = 4096;
  for (int i = 0; i < kMostParts; ++i) {
    const auto found = known_.find(number);
    if (found == known_.end()) break;
    path = "/" + found->second.inode.name + path;
    number = found->second.inode.parent;
  }
  return path.empty() ? "/" : path;
}

}  // namespace forebay::mount
