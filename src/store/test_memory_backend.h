// A store in the memory of this process, for tests: what a backend must do, without a file system.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/bytes.h"
#include "store/backend.h"

namespace forebay::store {

class MemoryBackend : public Backend {
  struct File {
    Bytes bytes;
    bool is_finished = false;
  };
  using Files = std::map<std::string, std::shared_ptr<File>>;
  struct Set {
    Files files;
    std::string manifest;
    std::string aside;    // the note of one that was set aside
    uint64_t number = 0;  // of the manifests that were ever published
  };
  struct State {
    std::mutex mutex;
    std::map<std::string, Set> sets, staging;  // by name, and by id
    uint64_t count = 0;                        // of everything that ever happened
    std::string listing;
  };

  class Sink final : public ByteSink {
   public:
    Sink(std::string name, std::shared_ptr<File> file) : name_(std::move(name)), file_(std::move(file)) {}
    const std::string& name() const override { return name_; }
    uint64_t size() const override { return file_->bytes.size(); }
    Result<void> append(std::span<const std::span<const std::byte>> parts) override {
      for (const auto part : parts) file_->bytes.insert(file_->bytes.end(), part.begin(), part.end());
      return {};
    }
    Result<void> finish() override {
      file_->is_finished = true;
      return {};
    }

   private:
    const std::string name_;
    const std::shared_ptr<File> file_;
  };

  class Source final : public ByteSource {
   public:
    Source(std::string name, std::shared_ptr<File> file)
        : file_(std::move(file)), source_(file_->bytes, std::move(name)) {}
    const std::string& name() const override { return source_.name(); }
    uint64_t size() const override { return source_.size(); }
    Result<void> read_at(uint64_t offset, std::span<std::byte> out) const override {
      return source_.read_at(offset, out);
    }

   private:
    const std::shared_ptr<File> file_;
    const MemorySource source_;
  };

  static Result<std::unique_ptr<ByteSource>> source_of(const Files& files, const std::string& name,
                                                       const std::string& path) {
    const auto found = files.find(name);
    if (found == files.end() || !found->second->is_finished)
      return fail(ErrorKind::not_found, "there is no such container", path);
    return std::make_unique<Source>(path, found->second);
  }

  static std::vector<std::string> names_of(const Set& set) {
    std::vector<std::string> names;
    for (const auto& [name, file] : set.files) names.push_back(name);
    if (!set.manifest.empty()) names.emplace_back("manifest");
    return names;
  }

  template <class Interface>
  class Containers : public Interface {
   public:
    Containers(std::shared_ptr<State> state, std::string id) : state_(std::move(state)), id_(std::move(id)) {}
    const std::string& id() const override { return id_; }
    std::string path_of(std::string_view name) const override { return fmt::format("memory/staging/{}/{}", id_, name); }

    Result<std::unique_ptr<ByteSink>> create(const std::string& name) override {
      const std::lock_guard lock(state_->mutex);
      FOREBAY_TRY(Set* const set, found());
      const auto [at, is_new] = set->files.try_emplace(name);
      if (!is_new) return fail(ErrorKind::exists, "the container is there", path_of(name));
      at->second = std::make_shared<File>();
      return std::make_unique<Sink>(path_of(name), at->second);
    }
    Result<std::unique_ptr<ByteSource>> open(const std::string& name) const override {
      const std::lock_guard lock(state_->mutex);
      FOREBAY_TRY(const Set* const set, found());
      return source_of(set->files, name, path_of(name));
    }
    Result<void> copy_from(const std::string& set, const std::string& name) override {
      const std::lock_guard lock(state_->mutex);
      FOREBAY_TRY(Set* const to, found());
      const auto from = state_->sets.find(set);
      if (from == state_->sets.end() || !from->second.files.contains(name))
        return fail(ErrorKind::not_found, "there is no such container", path_of(name));
      if (!to->files.emplace(name, from->second.files.at(name)).second)
        return fail(ErrorKind::exists, "the container is there", path_of(name));
      return {};
    }
    Result<void> remove(const std::string& name) override {
      const std::lock_guard lock(state_->mutex);
      FOREBAY_TRY(Set* const set, found());
      set->files.erase(name);
      return {};
    }
    Result<std::vector<std::string>> names() const override {
      const std::lock_guard lock(state_->mutex);
      const auto found = state_->staging.find(id_);
      return found == state_->staging.end() ? std::vector<std::string>() : names_of(found->second);
    }

   protected:
    Result<Set*> found() const {
      const auto found = state_->staging.find(id_);
      if (found == state_->staging.end()) return fail(ErrorKind::not_found, "the set is staged no longer", id_);
      return &found->second;
    }
    const std::shared_ptr<State> state_;
    const std::string id_;
  };

  class Staged final : public Containers<Staging> {
   public:
    Staged(std::shared_ptr<State> state, std::string id, std::string set)
        : Containers(std::move(state), std::move(id)), set_(std::move(set)) {}
    ~Staged() override {
      const std::lock_guard lock(state_->mutex);
      state_->staging.erase(id_);
    }
    Result<void> check(const std::string& name, uint64_t bytes) const override {
      FOREBAY_TRY(const auto source, open(name));
      if (source->size() == bytes) return {};
      return fail(ErrorKind::corrupt, "the container has another size", path_of(name));
    }
    Result<void> announce(std::string_view manifest) override {
      const std::lock_guard lock(state_->mutex);
      FOREBAY_TRY(Set* const set, found());
      set->manifest = manifest;
      return {};
    }
    Result<void> publish(std::string_view manifest) override {
      const std::lock_guard lock(state_->mutex);
      if (state_->sets.contains(set_)) return fail(ErrorKind::exists, "the name is taken", set_);
      FOREBAY_TRY(Set* const staged, found());
      staged->manifest = manifest;
      staged->number = ++state_->count;
      state_->sets.insert({set_, std::move(*staged)});
      state_->staging.erase(id_);
      return {};
    }

    Result<void> replace(std::string_view manifest,
                         const std::function<bool(std::string_view manifest)>& is_meant) override {
      const std::lock_guard lock(state_->mutex);
      const auto there = state_->sets.find(set_);
      if (there == state_->sets.end()) return fail(ErrorKind::not_found, "there is no such set", set_);
      if (!is_meant(there->second.manifest)) return fail(ErrorKind::changed, "another set has the name", set_);
      FOREBAY_TRY(Set* const staged, found());
      staged->manifest = manifest;
      staged->number = ++state_->count;
      there->second = std::move(*staged);
      state_->staging.erase(id_);
      return {};
    }

   private:
    const std::string set_;
  };

  class Taken final : public Withdrawn {
   public:
    Taken(std::shared_ptr<State> state, std::string id, std::string set)
        : state_(std::move(state)), id_(std::move(id)), set_(std::move(set)) {}
    ~Taken() override { (void)purge(); }
    const std::string& id() const override { return id_; }
    Result<void> put_back() override {
      const std::lock_guard lock(state_->mutex);
      if (state_->sets.contains(set_)) return fail(ErrorKind::exists, "the name is taken", set_);
      auto taken = state_->staging.extract(id_);
      taken.key() = set_;
      state_->sets.insert(std::move(taken));
      ++state_->count;
      return {};
    }
    Result<void> purge() override {
      const std::lock_guard lock(state_->mutex);
      state_->staging.erase(id_);
      return {};
    }

   private:
    const std::shared_ptr<State> state_;
    const std::string id_, set_;
  };

 public:
  const std::string& path() const override { return path_; }

  Result<std::vector<std::string>> set_names() const override {
    const std::lock_guard lock(state_->mutex);
    std::vector<std::string> names;
    for (const auto& [name, set] : state_->sets) names.push_back(name);
    return names;
  }
  Result<bool> has(const std::string& set) const override {
    const std::lock_guard lock(state_->mutex);
    return state_->sets.contains(set);
  }
  Stamp sets_stamp() const override {
    const std::lock_guard lock(state_->mutex);
    return {{1, state_->count, 0, 0}};
  }
  Result<StampedText> manifest(const std::string& set) const override {
    const std::lock_guard lock(state_->mutex);
    const auto found = state_->sets.find(set);
    if (found == state_->sets.end()) return fail(ErrorKind::not_found, fmt::format("there is no set '{}'", set), path_);
    return StampedText{found->second.manifest, {{1, found->second.number, 0, 0}}};
  }
  Stamp manifest_stamp(const std::string& set) const override {
    const auto text = MemoryBackend::manifest(set);
    return text ? text->stamp : Stamp();
  }
  std::optional<int64_t> written_ns(const std::string&) const override { return std::nullopt; }
  Result<std::unique_ptr<ByteSource>> open(const std::string& set, const std::string& container) const override {
    const std::lock_guard lock(state_->mutex);
    const auto found = state_->sets.find(set);
    return source_of(found == state_->sets.end() ? Files() : found->second.files, container,
                     path_of(set) + "/" + container);
  }
  Result<std::vector<std::string>> names_in(const std::string& set) const override {
    const std::lock_guard lock(state_->mutex);
    const auto found = state_->sets.find(set);
    return found == state_->sets.end() ? std::vector<std::string>() : names_of(found->second);
  }
  Result<std::unique_ptr<Staging>> stage(const std::string& set) const override {
    const std::lock_guard lock(state_->mutex);
    const std::string id = fmt::format("{}.memory.1.{:016x}", set, ++state_->count);
    state_->staging[id];
    return std::make_unique<Staged>(state_, id, set);
  }
  Result<std::unique_ptr<StagedContainers>> join(const std::string& id) const override {
    const std::lock_guard lock(state_->mutex);
    if (id.find(".memory.") == id.npos || id.find('/') != id.npos)
      return fail(ErrorKind::invalid_argument, "this names no set that is being written", path_);
    if (!state_->staging.contains(id)) return fail(ErrorKind::not_found, "the set is being written no longer", path_);
    return std::make_unique<Containers<StagedContainers>>(state_, id);
  }
  Result<std::vector<Announced>> announced() const override {
    const std::lock_guard lock(state_->mutex);
    std::vector<Announced> all;
    for (const auto& [id, set] : state_->staging)
      if (!set.manifest.empty()) all.push_back({id, set.manifest});
    return all;
  }
  Result<std::unique_ptr<Withdrawn>> withdraw(const std::string& set) const override {
    const std::lock_guard lock(state_->mutex);
    const auto found = state_->sets.find(set);
    if (found == state_->sets.end()) return fail(ErrorKind::not_found, fmt::format("there is no set '{}'", set), path_);
    const std::string id = fmt::format("{}.memory.1.{:016x}", set, ++state_->count);
    state_->staging.insert({id, std::move(found->second)});
    state_->sets.erase(found);
    return std::make_unique<Taken>(state_, id, set);
  }
  bool is_settled(const Stamp&) const override { return true; }
  Result<std::string> listing(uint64_t) const override {
    const std::lock_guard lock(state_->mutex);
    if (state_->listing.empty()) return fail(ErrorKind::not_found, "there is no listing", path_);
    return state_->listing;
  }
  Result<void> set_aside(const std::string& set, std::string_view note) const override {
    const std::lock_guard lock(state_->mutex);
    if (!state_->sets.contains(set)) return fail(ErrorKind::not_found, fmt::format("there is no set '{}'", set), path_);
    state_->sets.at(set).aside = note;
    return {};
  }
  Result<std::string> why_set_aside(const std::string& set, uint64_t most) const override {
    const std::lock_guard lock(state_->mutex);
    const auto found = state_->sets.find(set);
    if (found == state_->sets.end() || found->second.aside.empty())
      return fail(ErrorKind::not_found, "it is not set aside", path_);
    if (found->second.aside.size() > most) return fail(ErrorKind::limit, "the note is too long", path_);
    return found->second.aside;
  }
  Result<void> take_back(const std::string& set) const override {
    const std::lock_guard lock(state_->mutex);
    if (!state_->sets.contains(set)) return fail(ErrorKind::not_found, fmt::format("there is no set '{}'", set), path_);
    state_->sets.at(set).aside.clear();
    return {};
  }
  void put_listing(std::string_view text) const override {
    const std::lock_guard lock(state_->mutex);
    state_->listing = text;
  }
  Result<void> sync_sets() const override { return {}; }
  void clean() const override {}

 private:
  const std::string path_ = "memory";
  const std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace forebay::store
