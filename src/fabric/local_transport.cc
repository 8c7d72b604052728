// The transport that reads files itself: within a node.
#include <optional>

#include <fmt/format.h>

#include "fabric/open_files.h"
#include "fabric/remote.h"
#include "fabric/request_files.h"
#include "fabric/transport_link.h"

namespace forebay::fabric {
namespace {

constexpr size_t kKeptOpen = 64;

class NodeTransport final : public Transport {
 public:
  using Lookup = std::function<Result<std::vector<ExposedFile>>(uint64_t)>;
  explicit NodeTransport(Lookup look_up) : look_up_(std::move(look_up)) {}
  const char* name() const override { return "node"; }

  Result<void> begin(uint64_t exposure, std::span<const Piece> pieces, std::span<std::byte> out) override {
    FOREBAY_CHECK(check_room(pieces, out));
    RequestFiles files([&](uint32_t file) { return open(exposure, file); });
    for (const Piece& piece : pieces) {
      FOREBAY_TRY(const auto file, files.of(piece));
      FOREBAY_CHECK(file->read_at(piece.offset, out.first(piece.length)));
      out = out.subspan(piece.length);
    }
    return {};
  }
  Result<void> finish() override { return {}; }

  Result<void> check_unchanged(uint64_t exposure) override {
    FOREBAY_CHECK(turn_to(exposure));
    for (uint32_t i = 0; i < files_.size(); ++i) FOREBAY_CHECK(open_.open(exposure, i, files_[i]));
    return {};
  }

 private:
  Result<std::shared_ptr<FileSource>> open(uint64_t exposure, uint32_t file) {
    FOREBAY_CHECK(turn_to(exposure));
    if (file >= files_.size())
      return fail(ErrorKind::not_found, fmt::format("file {} of {} is asked for", file, files_.size()));
    return open_.open(exposure, file, files_[file]);
  }

  // A worker reads one exposure after the other.
  Result<void> turn_to(uint64_t exposure) {
    if (exposure_ == exposure) return {};
    FOREBAY_TRY(files_, look_up_(exposure));
    if (exposure_) open_.forget(*exposure_);
    exposure_ = exposure;
    return {};
  }

  Lookup look_up_;
  std::optional<uint64_t> exposure_;
  std::vector<ExposedFile> files_;
  OpenFiles open_{kKeptOpen};
};

}  // namespace

std::unique_ptr<Transport> node_transport(std::function<Result<std::vector<ExposedFile>>(uint64_t exposure)> files) {
  return std::make_unique<NodeTransport>(std::move(files));
}

}  // namespace forebay::fabric
