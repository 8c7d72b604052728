#include "codec/chooser.h"

#include <algorithm>

#include "codec/codec_ids.h"

namespace forebay::codec {
namespace {

constexpr Stage kShuffle{kShuffleId}, kZstd1{kZstdId, 1}, kDeflate6{kDeflateId, 6};

}  // namespace

Result<Profile> Profile::parse(std::string_view text) {
  Profile profile;
  profile.name_ = text;
  if (std::ranges::any_of(profiles(), [&](const ProfileInfo& info) { return info.name == text; })) return profile;
  FOREBAY_TRY(Chain chain, parse_chain(text));
  profile.explicit_.push_back(std::move(chain));
  return profile;
}

Chain Profile::choose(const FrameShape& shape, std::span<const std::byte>) const {
  return candidates(shape.type).front();
}

std::vector<Chain> Profile::candidates(const DataType& type) const {
  if (!explicit_.empty()) return explicit_;
  if (name_ == "none") return {{}};
  if (name_ == "gzip") return {{kDeflate6}};
  if (type.is_number() && type.size > 1) return {{{kLorenzoId}, kShuffle, kZstd1}};
  return {{kZstd1}};
}

uint64_t Profile::memory_bytes(uint64_t raw_bytes) const { return 3 * raw_bytes + (8 << 20); }

const std::vector<ProfileInfo>& profiles() {
  static const std::vector<ProfileInfo> all = {
      {"none", "store the data as they are"},
      {"gzip", "DEFLATE level 6, as gzip does"},
      {"paper", "the pipeline of the mcrEngine paper: FPC or fpzip or an LZ, then DEFLATE level 6"},
      {"fast", "little time, still well below gzip's size"},
      {"balanced", "the default: small, at hundreds of MB/s a core"},
      {"max", "as small as possible; slow"},
  };
  return all;
}

}  // namespace forebay::codec
