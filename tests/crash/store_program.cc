// What tests/crash/store_crash.py interferes with: the operations of the store and of a restore's target, by
// themselves.
//   store_program stage STORE NAME [PARENT]   stages, writes and commits a set of two containers
//   store_program remove STORE NAME...        removes these sets together
//   store_program restore STORE NAME TARGET   copies the set's containers into TARGET/sub/, and makes a link
//   store_program list STORE    prints each set's name and "good"; fails if a container is wrong, or a parent not there
// Exits with 0, or with 1 and a message.
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

Result<void> stage(const std::string& path, const std::string& name, const std::string& parent) {
  FOREBAY_TRY(const Store store, Store::open_for_writing(path));
  FOREBAY_TRY(const auto staged, store.stage(name));
  Manifest manifest;
  manifest.name = name;
  if (!parent.empty()) {
    manifest.parents = {{.name = parent, .frames = 1, .raw_bytes = 1}};
    manifest.since_full = 1;
    FOREBAY_CHECK(staged->announce(manifest.parents));
  }
  for (const char* container : kContainers) {
    const std::string content = content_of(name, container);
    FOREBAY_TRY(const auto sink, staged->containers().create(container));
    const auto bytes = as_bytes(content);
    FOREBAY_CHECK(sink->append({&bytes, 1}));
    FOREBAY_CHECK(sink->finish());
    FOREBAY_TRY(const uint64_t hash, tail_hash(MemorySource(as_bytes(content))));
    manifest.containers.push_back({container, content.size(), content.size(), 1, hash});
  }
  return staged->commit(manifest);
}

Result<void> remove(const std::string& path, std::span<const std::string> names) {
  FOREBAY_TRY(const Store store, Store::open_for_writing(path));
  FOREBAY_TRY(auto known, store.list());
  for (const auto& removed : store.remove(names, std::move(known))) FOREBAY_CHECK(removed);
  return {};
}

Result<void> check_set(const Store& store, const SetInfo& set) {
  FOREBAY_CHECK(set.manifest);
  for (const ParentEntry& parent : set.manifest->parents) FOREBAY_CHECK(store.find(parent.name));
  for (const ContainerEntry& container : set.manifest->containers) {
    FOREBAY_TRY(const auto source, set.files.open(container.name));
    FOREBAY_TRY(const std::string content, read_text(*source, 1 << 20));
    if (content != content_of(set.name, container.name)) return fail(ErrorKind::corrupt, "wrong bytes", source->name());
  }
  return {};
}

Result<void> list(const std::string& path) {
  FOREBAY_TRY(const Store store, Store::open(path));
  FOREBAY_TRY(const auto sets, store.list());
  for (const SetInfo& set : sets) {
    FOREBAY_CHECK(check_set(store, set));
    std::printf("%s good\n", set.name.c_str());
  }
  return {};
}

Result<void> restore(const std::string& path, const std::string& name, const std::string& to) {
  FOREBAY_TRY(const Store store, Store::open(path));
  FOREBAY_TRY(const SetInfo set, store.find(name));
  FOREBAY_TRY(TargetDir target, TargetDir::open(to));
  FOREBAY_CHECK(target.make_directory("sub", {.mode = 0750, .mtime_s = 1000}));
  std::vector<std::unique_ptr<TargetFile>> files;
  std::vector<TargetDir::Finished> finished;
  for (const char* container : kContainers) {
    FOREBAY_TRY(const std::string content, read_text(set.files.path_of(container), 1 << 20));
    FOREBAY_TRY(auto file, target.create_file(std::string("sub/") + container, content.size(), true));
    FOREBAY_CHECK(file->write_at(0, as_bytes(content)));
    finished.push_back({file.get(), {.mode = 0640, .mtime_s = 2000}});
    files.push_back(std::move(file));
  }
  FOREBAY_CHECK(target.commit(finished));
  FOREBAY_CHECK(target.make_symlink("link", "sub", {}, true));
  return target.finish();
}

Result<void> run(const std::vector<std::string>& arguments) {
  const size_t count = arguments.size();
  if (count == 3 && arguments[0] == "stage") return stage(arguments[1], arguments[2], "");
  if (count == 4 && arguments[0] == "stage") return stage(arguments[1], arguments[2], arguments[3]);
  if (count >= 3 && arguments[0] == "remove") return remove(arguments[1], std::span(arguments).subspan(2));
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
