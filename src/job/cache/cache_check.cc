// How a cache compares what it has with its records.
#include <utility>

#include <sys/stat.h>

#include "job/cache/cache_impl.h"

namespace forebay::job {
namespace {

using redundancy::Geometry;
using redundancy::Record;
using Bads = std::vector<std::unique_ptr<wire::BadPiecesT>>;

void add_bad(Bads& bad, const EncodingKey& key, unsigned row, uint64_t piece) {
  if (!bad.empty() && bad.back()->row == row && bad.back()->position == key.position &&
      bad.back()->first + bad.back()->count == piece) {
    ++bad.back()->count;
    return;
  }
  auto pieces = std::make_unique<wire::BadPiecesT>();
  pieces->position = key.position;
  pieces->group = key.group;
  pieces->row = row;
  pieces->first = piece;
  pieces->count = 1;
  bad.push_back(std::move(pieces));
}

}  // namespace

// As the files are now, whoever has touched their inodes: what they hold is checked by its sums.
void Cache::Impl::renew(Held& at) {
  auto files = files_of(at);
  if (!files) return unexpose(at);
  if (at.data == 0)
    at.data = exposures.add(std::move(*files));
  else
    exposures.replace(at.data, std::move(*files));
  const std::string path = stored.parity_path({at.record.id, at.record.group, at.record.position});
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return;
  if (at.parity == 0)
    at.parity = exposures.add({{path, FileSource::identity_of(info)}});
  else
    exposures.replace(at.parity, {{path, FileSource::identity_of(info)}});
}

Result<Bads> Cache::Impl::check(const EncodingKey& key, uint64_t data, uint64_t parity) {
  FOREBAY_TRY(const Record record, stored.read_record(key));
  FOREBAY_TRY(const Geometry geometry, geometry_of(record));
  const auto& own = record.members[key.position];
  const OwnPart part{.exposures = &exposures, .data = data, .parity = parity, .map = PartMap(own.files)};
  Bads bad;
  for (const bool is_parity : {false, true}) {
    const auto& recorded = is_parity ? own.parity_sums : own.data_sums;
    auto sums = sums_of(geometry, key.position, is_parity, part, stop.get_token());
    // A parity file that is too short, or gone, is all bad.
    if (!sums && is_parity && sums.error().kind != ErrorKind::cancelled)
      sums = std::vector<uint64_t>();
    else if (!sums)
      return std::unexpected(sums.error());
    size_t index = 0;
    FOREBAY_CHECK(for_each_piece(geometry, key.position, is_parity,
                                 [&](unsigned row, uint64_t piece, const Geometry::Range&) -> Result<void> {
                                   if (index >= sums->size() || (*sums)[index] != recorded[index])
                                     add_bad(bad, key, row, piece);
                                   ++index;
                                   return {};
                                 }));
  }
  return bad;
}

void Cache::check(const wire::CheckCachedT& order, std::function<void(wire::CachedCheckedT)> done) {
  std::vector<std::array<uint64_t, 2>> found;
  std::vector<EncodingKey> keys;
  for (auto& [key, held] : impl_->held) {
    if (key.id != order.id || held.record.set != order.set) continue;
    impl_->renew(held);
    keys.push_back(key);
    found.push_back({held.data, held.parity});
  }
  impl_->leads_.add(
      [impl = impl_.get(), keys, found]() -> Result<std::shared_ptr<Bads>> {
        if (keys.empty()) return fail(ErrorKind::not_found, "there is nothing of this encoding");
        auto all = std::make_shared<Bads>();
        for (size_t i = 0; i < keys.size(); ++i) {
          FOREBAY_TRY(Bads bad, impl->check(keys[i], found[i][0], found[i][1]));
          std::ranges::move(bad, std::back_inserter(*all));
        }
        return all;
      },
      [number = order.number, done = std::move(done)](Result<std::shared_ptr<Bads>> bad) {
        wire::CachedCheckedT answer;
        answer.number = number;
        if (bad) {
          answer.bad = std::move(**bad);
        } else {
          answer.failed = true;
          answer.error = bad.error().message();
        }
        done(std::move(answer));
      });
}

}  // namespace forebay::job
