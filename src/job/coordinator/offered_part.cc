#include "job/coordinator/offered_part.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/catalogue.h"
#include "base/checksum.h"

namespace forebay::job {
namespace {

constexpr auto kRegular = static_cast<uint8_t>(FileKind::regular);

void append(std::string& to, uint64_t number) {
  for (int shift = 0; shift < 64; shift += 8) to += static_cast<char>(number >> shift & 0xff);
}

// Times of directories change when files are added beside; modes do not tell that the content is another one.
uint64_t hash_of(const std::vector<OfferedFile>& files) {
  std::string text;
  for (const OfferedFile& one : files) {
    const wire::FileT& file = *one.file;
    append(text, file.name.size());
    text += file.name;
    append(text, file.kind);
    append(text, file.link_target.size());
    text += file.link_target;
    if (file.kind != kRegular) continue;
    append(text, file.size);
    append(text, static_cast<uint64_t>(file.mtime_s));
    append(text, file.mtime_ns);
  }
  return hash64(as_bytes(text));
}

std::unexpected<Error> bad(std::string what, const std::string& path = {}) {
  return fail(ErrorKind::invalid_argument, std::move(what), path);
}

Result<void> check_file(const wire::FileT& file, uint32_t ranks, const std::string& previous) {
  const int64_t most = ranks == 0 ? kMaxRanks : ranks;
  if (file.rank >= most)
    return bad(fmt::format("a file of rank {} where there are {} ranks", file.rank, most), file.name);
  if (file.name == previous) return bad("a file is offered twice", file.name);
  return {};
}

}  // namespace

std::string hash_text(uint64_t hash) { return fmt::format("{:016x}", hash); }

Result<Part> make_part(wire::OfferT& offer) {
  Part part{.exposure = offer.exposure, .ranks = offer.ranks, .ordinal = offer.ordinal, .took_ms = offer.took_ms};
  constexpr size_t kMostSuspicion = 1024;
  part.suspicion = offer.suspect.substr(0, kMostSuspicion);
  if (offer.policy) part.write = offer.policy->write;
  part.level = offer.level;
  if (offer.ranks > kMaxRanks) return bad(fmt::format("{} ranks are more than can be served", offer.ranks));
  part.files.reserve(offer.files.size());
  for (uint32_t i = 0; i < offer.files.size(); ++i) part.files.push_back({std::move(offer.files[i]), i});
  std::ranges::sort(part.files, {}, [](const OfferedFile& one) -> const std::string& { return one.file->name; });
  part.covered = std::move(offer.complete);
  std::string previous;
  for (const OfferedFile& one : part.files) {
    FOREBAY_CHECK(check_file(*one.file, part.ranks, previous));
    previous = one.file->name;
    if (one.file->rank >= 0) part.covered.push_back(static_cast<uint32_t>(one.file->rank));
    part.bytes += one.file->size;
    part.written = std::max(part.written, {one.file->mtime_s, one.file->mtime_ns});
  }
  std::ranges::sort(part.covered);
  const auto same = std::ranges::unique(part.covered);
  part.covered.erase(same.begin(), same.end());
  if (!part.covered.empty() && part.covered.back() >= (part.ranks == 0 ? kMaxRanks : part.ranks))
    return bad(fmt::format("rank {} is said to be complete where there are {} ranks", part.covered.back(), part.ranks));
  part.hash = hash_of(part.files);
  return part;
}

bool is_same(const Part& part, const Part& again) {
  return part.hash == again.hash &&
         std::ranges::equal(
             part.files, again.files, {}, [](const OfferedFile& one) { return one.file->ctime_ns; },
             [](const OfferedFile& one) { return one.file->ctime_ns; });
}

void renew(Part& part, Part&& again) {
  part.session = again.session;
  part.node = std::move(again.node);
  part.host = std::move(again.host);
  part.addresses = std::move(again.addresses);
  part.stage = std::move(again.stage);
  part.exposure = again.exposure;
  part.level = std::move(again.level);
  for (size_t i = 0; i < part.files.size(); ++i) part.files[i].index = again.files[i].index;
}

void SpentParts::add(Parts parts) {
  if (!parts.empty()) parts_.push_back(std::move(parts));
}

void SpentParts::destroy(size_t files) {
  for (size_t done = 0; done < files && !parts_.empty();) {
    Parts& parts = parts_.front();
    if (parts.empty()) {
      parts_.pop_front();
      continue;
    }
    auto& last = parts.begin()->second.files;
    const size_t some = std::min(last.size(), files - done);
    last.erase(last.end() - static_cast<std::ptrdiff_t>(some), last.end());
    done += some + 1;
    if (last.empty()) parts.erase(parts.begin());
  }
}

}  // namespace forebay::job
