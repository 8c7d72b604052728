// Staged files whose layouts are read, counted: who waits for very many of them sees that it goes on.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <utility>

#include "engine/sources.h"

namespace forebay::job {

class CountedSources final : public engine::Sources {
 public:
  // `began` is called with each file that is got of `sources`, by any thread.
  CountedSources(engine::Sources& sources, std::function<void()> began) : sources_(sources), began_(std::move(began)) {}

  Result<std::shared_ptr<ByteSource>> get(size_t index) override {
    began_();
    return sources_.get(index);
  }
  Result<void> read(std::span<const engine::SourcePiece> pieces, std::span<std::byte> out) override {
    return sources_.read(pieces, out);
  }
  Result<void> check_unchanged() override { return sources_.check_unchanged(); }

 private:
  engine::Sources& sources_;
  const std::function<void()> began_;
};

}  // namespace forebay::job
