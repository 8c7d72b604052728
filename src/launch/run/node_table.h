// Which nodes of a job run the application, which are spare, and which are lost. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "launch/run/nodes_file.h"

namespace forebay::launch {

class NodeTable {
 public:
  NodeTable() = default;
  // The last `spares` of the nodes are spare. invalid_argument if that leaves none for the application.
  static Result<NodeTable> create(const Nodes& all, size_t spares);

  // Those that the application is to run on. A spare has the place, and the slots, of the node that it replaced, so
  // that all ranks stay where they were but for those of that node.
  const Nodes& in_use() const { return in_use_; }
  const std::vector<std::string>& lost() const { return lost_; }
  size_t spares_left() const { return spares_.size(); }

  // Whether a spare has as many slots as this node, which is in use.
  bool can_replace(const std::string& host) const;
  // How many of these, which are in use, spares can replace together.
  size_t replaceable(const std::vector<std::string>& hosts) const;
  // The node, which is in use, is lost for good. The spare that has its place now; nothing if none has as many slots.
  std::optional<std::string> replace(const std::string& host);

 private:
  struct Spare {
    std::string host;
    uint32_t slots = 0;
    SlotStyle style = SlotStyle::lines;
  };
  std::vector<Spare>::const_iterator find_spare(const std::string& host) const;
  uint32_t slots_of(const std::string& host) const;

  Nodes in_use_;
  std::vector<Spare> spares_;
  std::vector<std::string> lost_;
};

}  // namespace forebay::launch
