// One process of a pack scans the sources and tells the others: to_text() and its inverse, and check_shared().
#include <cstring>

#include <sys/stat.h>

#include "engine/pack/tree.h"

namespace forebay::engine {
namespace {

// Both ends are one program on machines of one kind.
template <class Number>
void put(std::string& text, const Number& number) {
  text.append(reinterpret_cast<const char*>(&number), sizeof number);
}

void put(std::string& text, const std::string& value) {
  put(text, value.size());
  text += value;
}

class Taker {
 public:
  explicit Taker(const std::string& text) : text_(text) {}

  template <class Number>
  void take(Number& number) {
    std::memcpy(&number, text_.data() + at_, sizeof number);
    at_ += sizeof number;
  }

  void take(std::string& value) {
    size_t size = 0;
    take(size);
    value.assign(text_, at_, size);
    at_ += size;
  }

 private:
  const std::string& text_;
  size_t at_ = 0;
};

// Calls act() for each part of a file, in order.
template <class File, class Act>
void for_each_part(File& file, const Act& act) {
  act(file.path);
  auto& row = file.row;
  act(row.name);
  act(row.kind);
  act(row.mode);
  act(row.mtime_s);
  act(row.mtime_ns);
  act(row.size);
  act(row.link_target);
  act(row.rank);
}

bool is_as_scanned(const SourceFile& file) {
  struct stat info{};
  if (::lstat(file.path.c_str(), &info) != 0) return false;
  const bool same_size = file.row.kind != FileKind::regular || static_cast<uint64_t>(info.st_size) == file.row.size;
  return same_size && info.st_mtim.tv_sec == file.row.mtime_s &&
         static_cast<uint32_t>(info.st_mtim.tv_nsec) == file.row.mtime_ns;
}

}  // namespace

std::string to_text(const SourceTree& tree) {
  std::string text;
  put(text, tree.ranks);
  put(text, tree.bytes);
  put(text, tree.are_numbered);
  put(text, tree.skipped.size());
  for (const std::string& skipped : tree.skipped) put(text, skipped);
  put(text, tree.files.size());
  for (const SourceFile& file : tree.files) for_each_part(file, [&](const auto& part) { put(text, part); });
  return text;
}

SourceTree tree_from_text(const std::string& text) {
  SourceTree tree;
  Taker from(text);
  size_t count = 0;
  from.take(tree.ranks);
  from.take(tree.bytes);
  from.take(tree.are_numbered);
  from.take(count);
  tree.skipped.resize(count);
  for (std::string& skipped : tree.skipped) from.take(skipped);
  from.take(count);
  tree.files.resize(count);
  for (SourceFile& file : tree.files) for_each_part(file, [&](auto& part) { from.take(part); });
  return tree;
}

Result<void> check_shared(std::span<const SourceFile> files) {
  constexpr size_t kLooks = 16;
  const size_t step = files.size() / kLooks + 1;
  for (size_t i = 0; i < files.size(); i += step)
    if (!is_as_scanned(files[i]))
      return fail(ErrorKind::invalid_argument, "the processes see different files", files[i].path, {},
                  "all processes of one pack must share the file system of the sources");
  return {};
}

}  // namespace forebay::engine
