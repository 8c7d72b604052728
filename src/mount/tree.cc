#include "mount/tree.h"

namespace forebay::mount {
namespace {

// The first component of a path, which is cut off.
std::string_view next_component(std::string_view& path) {
  const size_t slash = path.find('/');
  const std::string_view first = path.substr(0, slash);
  path.remove_prefix(slash == path.npos ? path.size() : slash + 1);
  return first;
}

}  // namespace

Tree::Tree(std::span<const Catalogue* const> catalogues, int64_t made_s) : nodes_(1) {
  nodes_[0].mtime_s = made_s;
  for (size_t c = 0; c < catalogues.size(); ++c)
    for (uint32_t f = 0; f < catalogues[c]->files.size(); ++f) {
      const FileRow& row = catalogues[c]->files[f];
      const size_t slash = row.name.rfind('/');
      const auto parent =
          make_directories(std::string_view(row.name).substr(0, slash == row.name.npos ? 0 : slash), made_s);
      if (!parent) continue;
      const std::string name = row.name.substr(slash == row.name.npos ? 0 : slash + 1);
      const auto [at, is_new] = nodes_[*parent].children.try_emplace(name, static_cast<uint32_t>(nodes_.size()));
      if (is_new) nodes_.emplace_back();
      Node& node = nodes_[at->second];
      // A directory may have been made for what lies in it before its own row came.
      if (!is_new && (node.kind != FileKind::directory || row.kind != FileKind::directory)) continue;
      node.kind = row.kind;
      node.mode = row.mode;
      node.mtime_s = row.mtime_s;
      node.mtime_ns = row.mtime_ns;
      node.size = row.size;
      node.link_target = row.link_target;
      node.container = c;
      node.file = f;
      memory_bytes_ += 2 * sizeof(Node) + 2 * name.size() + row.link_target.size();
    }
}

std::optional<uint32_t> Tree::make_directories(std::string_view path, int64_t made_s) {
  uint32_t at = 0;
  while (!path.empty()) {
    const std::string name(next_component(path));
    const auto [child, is_new] = nodes_[at].children.try_emplace(name, static_cast<uint32_t>(nodes_.size()));
    const uint32_t next = child->second;
    if (is_new) {
      nodes_.emplace_back();
      nodes_.back().mtime_s = made_s;
      memory_bytes_ += 2 * sizeof(Node) + name.size();
    } else if (nodes_[next].kind != FileKind::directory) {
      return {};
    }
    at = next;
  }
  return at;
}

const Tree::Node* Tree::find(std::string_view path) const {
  const Node* node = &nodes_[0];
  while (!path.empty()) {
    const auto child = node->children.find(next_component(path));
    if (child == node->children.end()) return nullptr;
    node = &nodes_[child->second];
  }
  return node;
}

}  // namespace forebay::mount
