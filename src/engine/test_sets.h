// What the tests of this room share: small checkpoint trees, packed into a store and damaged there.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/bytes.h"
#include "engine/inspect/extract.h"
#include "engine/inspect/verify.h"
#include "engine/pack/pack.h"
#include "engine/restore/restore.h"
#include "format/npy.h"

namespace forebay::engine {

inline const char* const kSchemes[] = {"auto", "agnostic", "agnostic-block", "aware", "aware-block"};

template <class T>
std::string to_text(const std::vector<T>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

// A .npy file of float64 values.
inline std::string npy_file(const std::vector<double>& values, const Shape& shape) {
  return format::npy_header("<f8", shape) + to_text(values);
}

inline std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// A test with a source tree at tree(), a store at store_path() and a place to restore to.
class SetTest : public testing::Test {
 protected:
  SetTest() {
    const bool has_memory = ::access("/dev/shm", W_OK) == 0;  // packs sync what they write
    std::string pattern = (has_memory ? std::string("/dev/shm") : testing::TempDir()) + "/forebay-set-XXXXXX";
    if (const char* made = ::mkdtemp(pattern.data())) root_ = made;
    std::filesystem::create_directory(tree());
  }
  ~SetTest() override { std::filesystem::remove_all(root_); }

  std::string path(const std::string& name) const { return root_ + "/" + name; }
  std::string tree() const { return path("tree"); }
  std::string store_path() const { return path("store"); }
  std::string set_path(const std::string& set) const { return store_path() + "/sets/" + set; }

  // Of a set that is in the store: the path of its container `number`.
  std::string container_path(const std::string& set, int number) const {
    for (const auto& entry : std::filesystem::directory_iterator(set_path(set)))
      if (entry.path().filename().string().starts_with(fmt::format("{:05}-of-", number))) return entry.path().string();
    return {};
  }

  static void write(const std::string& path, const std::string& content) {
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path, std::ios::binary) << content;
  }

  // One .npy file per rank, in a tree of its own.
  void write_ranks(int ranks, size_t rows, size_t columns) {
    for (int rank = 0; rank < ranks; ++rank)
      write(tree() + "/dump." + std::to_string(rank) + ".npy", npy_file(field(rank, rows * columns), {rows, columns}));
    write(tree() + "/notes.txt", "not an array\n");
  }

  static std::vector<double> field(int rank, size_t count) {
    std::vector<double> values(count);
    for (size_t i = 0; i < count; ++i) values[i] = rank + 0.25 * static_cast<double>(i * i % 1009);
    return values;
  }

  PackOptions options(const std::string& scheme = "auto", const std::string& profile = "fast") const {
    PackOptions options{.sources = {tree()}, .store = store_path(), .name = "set"};
    options.scheme = *SchemeChoice::parse(scheme);
    options.profile = *codec::Profile::parse(profile);
    options.resources = resources();
    return options;
  }

  static Resources resources() { return {.memory_bytes = 256 << 20, .threads = 1, .progress = {}}; }

  static PackReport pack_ok(const PackOptions& options) {
    SoloTeam team;
    const auto report = pack(options, team);
    if (!report) throw std::runtime_error(report.error().message());
    return *report;
  }

  store::Store open_store() const { return *store::Store::open(store_path()); }
  store::SetInfo find(const std::string& name = "set") const { return *open_store().find(name); }
  OpenSet open(const std::string& name = "set") const {
    auto set = open_set(find(name), 64 << 20);
    if (!set) throw std::runtime_error(set.error().message());
    return *std::move(set);
  }

  uint64_t bytes_of(const std::string& set) const { return find(set).manifest->bytes(); }

  // The sets that hold frames of it, or frames from which its frames were predicted, by name.
  std::vector<std::string> parents_of_set(const std::string& set) const {
    const store::SetInfo info = find(set);
    std::vector<std::string> names;
    for (const store::ParentEntry& parent : info.manifest->parents) names.push_back(parent.name);
    return names;
  }

  VerifyReport verify_ok(const std::string& name = "set") const {
    const auto report = verify(find(name), resources());
    if (!report) throw std::runtime_error(report.error().message());
    return *report;
  }

  Result<RestoreReport> restore_to(const std::string& target, const std::string& name = "set",
                                   std::vector<std::string> only = {}) const {
    return restore({.store = store_path(),
                    .name = name,
                    .target = path(target),
                    .only = std::move(only),
                    .overwrite = true,
                    .resources = resources()});
  }

  // That every regular file below `target` is byte for byte the one of tree(); returns how many there are.
  size_t expect_subset(const std::string& target) const {
    size_t files = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path(target))) {
      if (!entry.is_regular_file()) continue;
      const auto name = std::filesystem::relative(entry.path(), path(target));
      EXPECT_EQ(read_text(entry.path()), read_text(tree() / name)) << name;
      ++files;
    }
    return files;
  }

  static void flip_bit(const std::string& path, uint64_t offset, int bit) {
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekg(static_cast<std::streamoff>(offset));
    const char byte = static_cast<char>(file.get() ^ (1 << bit));
    file.seekp(static_cast<std::streamoff>(offset));
    file.put(byte);
  }

 private:
  std::string root_;
};

}  // namespace forebay::engine
