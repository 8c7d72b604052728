// What the tests of this room share.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/checksum.h"
#include "store/files.h"
#include "store/store.h"

namespace forebay::store {

// A test with a temporary directory of its own.
class TempTest : public testing::Test {
 protected:
  TempTest() {
    // In memory where possible: the tests sync thousands of files.
    const bool has_memory = ::access("/dev/shm", W_OK) == 0;
    std::string pattern = (has_memory ? std::string("/dev/shm") : testing::TempDir()) + "/forebay-test-XXXXXX";
    if (const char* made = ::mkdtemp(pattern.data())) temp_ = made;
  }
  ~TempTest() override {
    if (!temp_.empty()) (void)remove_tree(AT_FDCWD, temp_, temp_);
  }
  std::string path(const std::string& name) const { return temp_ + "/" + name; }

 private:
  std::string temp_;
};

inline std::vector<std::string> names(const std::vector<SetInfo>& sets) {
  std::vector<std::string> all;
  for (const SetInfo& set : sets) all.push_back(set.name);
  return all;
}

// The value of a result that must have one; the error of one that must not.
template <class T>
T value(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message());
  return std::move(*result);
}

template <class T>
void check(const Result<T>& result) {
  if (!result) throw std::runtime_error(result.error().message());
}

template <class T>
Error error(const Result<T>& result) {
  if (result) throw std::runtime_error("succeeded where an error was expected");
  return result.error();
}

inline std::string sealed(const std::string& tag, const std::string& body) {
  return tag + " " + hash128_hex(as_bytes(body)) + "\n" + body;
}

struct SetTimes {
  std::optional<int64_t> step;
  int64_t created_ns = 0;
  uint64_t ordinal = 0;
};

// Writes two containers of made-up bytes and returns the manifest that describes them.
inline Manifest write_containers(StagedContainers& to, const std::string& name, SetTimes times = {}) {
  Manifest manifest{
      .name = name, .step = times.step, .ordinal = times.ordinal, .created_ns = times.created_ns, .software = "test"};
  manifest.profile = "none";
  manifest.scheme = "aware";
  manifest.ranks = 4;
  manifest.group_size = 2;
  for (const char* container : {"g000000.fbc", "g000001.fbc"}) {
    const std::string content = name + " in " + container + std::string(5000, 'x');
    const auto sink = value(to.create(container));
    const auto bytes = as_bytes(content);
    check(sink->append({&bytes, 1}));
    check(sink->finish());
    manifest.containers.push_back({.name = container,
                                   .bytes = content.size(),
                                   .raw_bytes = 2 * content.size(),
                                   .files = 2,
                                   .tail_hash = value(tail_hash(MemorySource(as_bytes(content))))});
  }
  return manifest;
}

inline Manifest commit_set(const Store& store, const std::string& name, SetTimes times = {}) {
  const auto staged = value(store.stage(name));
  const Manifest manifest = write_containers(staged->containers(), name, times);
  check(staged->commit(manifest, Place::as_said));
  return manifest;
}

}  // namespace forebay::store
