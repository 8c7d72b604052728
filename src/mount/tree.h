// The files of a set as a tree of directories. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/catalogue.h"

namespace forebay::mount {

// Thread-safe after construction.
class Tree {
 public:
  struct Node {
    FileKind kind = FileKind::directory;
    uint32_t mode = 0755;
    int64_t mtime_s = 0;
    uint32_t mtime_ns = 0;
    uint64_t size = 0;
    std::string link_target;
    size_t container = 0;  // of a regular file: where it lies
    uint32_t file = 0;
    std::map<std::string, uint32_t, std::less<>> children;  // of a directory, places in nodes()
  };

  // Directories that no catalogue has get the time `made_s`. Of several files of one name the first counts; a name
  // below one that is no directory is left out.
  Tree(std::span<const Catalogue* const> catalogues, int64_t made_s);

  // The root is the first one.
  std::span<const Node> nodes() const { return nodes_; }

  // Of a path without a leading '/'; "" is the root. Null if there is none.
  const Node* find(std::string_view path) const;

  uint64_t memory_bytes() const { return memory_bytes_; }  // roughly

 private:
  std::optional<uint32_t> make_directories(std::string_view path, int64_t made_s);

  std::vector<Node> nodes_;
  uint64_t memory_bytes_ = 0;
};

}  // namespace forebay::mount
