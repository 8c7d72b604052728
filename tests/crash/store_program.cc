// What tests/crash/store_crash.py interferes with: the operations of the store and of a restore's target, by
// themselves.
//   store_program stage STORE NAME       stages, writes and commits a set of two containers
//   store_program remove STORE NAME
//   store_program restore STORE NAME TARGET   copies the set's containers into TARGET/sub/, and makes a link
//   store_program list STORE             prints each set's name and "good" or its error; fails if a container is wrong
// Exits with 0, or with 1 and a message.
#include <cstdio>
#include <string>
#include <string_view>

#include <fcntl.h>

#include "base/bytes.h"
#include "store/files.h"
#include "store/safe_tree.h"
#include "store/store.h"

namespace forebay::store {
namespace {

constexpr const char* kContainers[] = {"g000000.fbc", "g000001.fbc"};

std::string content_of(const std::string& set, const std::string& container) {
  std::string content;
  while (content.size() < 20'000) content += set + " " + container + "\n";
  return content;
}

Result<void> stage(const std::string& path, const std::string& name) {
  FOREBAY_TRY(const Store store, Store::open_for_writing(path));
  FOREBAY_TRY(const auto staged, store.stage(name));
  Manifest manifest;
  manifest.name = name;
  for (const char* container : kContainers) {
    const std::string content = content_of(name, container);
    FOREBAY_CHECK(write_text(staged->directory(), container, content));
    FOREBAY_TRY(const uint64_t hash, tail_hash(MemorySource(as_bytes(content))));
    manifest.containers.push_back({container, content.size(), content.size(), 1, hash});
  }
  return staged->commit(manifest);
}

Result<void> remove(const std::string& path, const std::string& name) {
  FOREBAY_TRY(const Store store, Store::open_for_writing(path));
  return store.remove(name);
}

Result<void> check_set(const SetInfo& set) {
  FOREBAY_CHECK(set.manifest);
  for (const ContainerEntry& container : set.manifest->containers) {
    const std::string path = set.directory + "/" + container.name;
    FOREBAY_TRY(const std::string content, read_text(path, 1 << 20));
    if (content != content_of(set.name, container.name)) return fail(ErrorKind::corrupt, "wrong bytes", path);
  }
  return {};
}

Result<void> list(const std::string& path) {
  FOREBAY_TRY(const Store store, Store::open(path));
  FOREBAY_TRY(const auto sets, store.list());
  for (const SetInfo& set : sets) {
    FOREBAY_CHECK(check_set(set));
    std::printf("%s good\n", set.name.c_str());
  }
  return {};
}

Result<void> restore(const std::string& path, const std::string& name, const std::string& to) {
  FOREBAY_TRY(const Store store, Store::open(path));
  FOREBAY_TRY(const SetInfo set, store.find(name));
  FOREBAY_TRY(TargetDir target, TargetDir::open(to));
  FOREBAY_CHECK(target.make_directory("sub", {.mode = 0750, .mtime_s = 1000}));
  for (const char* container : kContainers) {
    FOREBAY_TRY(const std::string content, read_text(set.directory + "/" + container, 1 << 20));
    FOREBAY_TRY(const auto file, target.create_file(std::string("sub/") + container, content.size(), true));
    FOREBAY_CHECK(file->write_at(0, as_bytes(content)));
    FOREBAY_CHECK(file->commit({.mode = 0640, .mtime_s = 2000}));
  }
  FOREBAY_CHECK(target.make_symlink("link", "sub", {}, true));
  return target.finish();
}

Result<void> run(const std::vector<std::string>& arguments) {
  const size_t count = arguments.size();
  if (count == 3 && arguments[0] == "stage") return stage(arguments[1], arguments[2]);
  if (count == 3 && arguments[0] == "remove") return remove(arguments[1], arguments[2]);
  if (count == 4 && arguments[0] == "restore") return restore(arguments[1], arguments[2], arguments[3]);
  if (count == 2 && arguments[0] == "list") return list(arguments[1]);
  return fail(ErrorKind::invalid_argument, "see the head of store_program.cc");
}

}  // namespace
}  // namespace forebay::store

int main(int argc, char** argv) {
  const auto done = forebay::store::run({argv + 1, argv + argc});
  if (!done) std::fprintf(stderr, "%s\n", done.error().message().c_str());
  return done ? 0 : 1;
}
