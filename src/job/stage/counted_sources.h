// Staged files that are read, counted: who waits for their layouts sees that it goes on, be they very many or very
// large.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "engine/set/sources.h"

namespace forebay::job {

class CountedSources final : public engine::Sources {
 public:
  // `moved` is called with each file that is got of `sources` and after each read that succeeded, by any thread: a file
  // system that hangs is silent. What was got does not outlive this.
  CountedSources(engine::Sources& sources, std::function<void()> moved) : sources_(sources), moved_(std::move(moved)) {}

  Result<std::shared_ptr<ByteSource>> get(size_t index) override {
    moved_();
    FOREBAY_TRY(auto source, sources_.get(index));
    return std::make_shared<Counted>(std::move(source), moved_);
  }
  Result<void> read(std::span<const engine::SourcePiece> pieces, std::span<std::byte> out) override {
    FOREBAY_CHECK(sources_.read(pieces, out));
    moved_();
    return {};
  }
  Result<void> check_unchanged() override { return sources_.check_unchanged(); }

 private:
  class Counted final : public ByteSource {
   public:
    Counted(std::shared_ptr<ByteSource> source, const std::function<void()>& moved)
        : source_(std::move(source)), moved_(moved) {}

    const std::string& name() const override { return source_->name(); }
    uint64_t size() const override { return source_->size(); }
    Result<void> read_at(uint64_t offset, std::span<std::byte> out) const override {
      FOREBAY_CHECK(source_->read_at(offset, out));
      moved_();
      return {};
    }

   private:
    const std::shared_ptr<ByteSource> source_;
    const std::function<void()>& moved_;
  };

  engine::Sources& sources_;
  const std::function<void()> moved_;
};

}  // namespace forebay::job
