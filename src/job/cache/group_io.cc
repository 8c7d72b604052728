#include "job/cache/group_io.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/checksum.h"

namespace forebay::job {

template <class T>
Result<T> GroupIo::blamed(unsigned member, Result<T> result) {
  if (result || result.error().kind == ErrorKind::cancelled) return result;
  fault_ = member;
  Error error = result.error();
  error.what = fmt::format("{}: {}", members_[member].name, error.what);
  return std::unexpected(std::move(error));
}

Result<void> GroupIo::begin(unsigned number, std::span<const redundancy::Geometry::Range> ranges,
                            std::span<std::byte> out) {
  const GroupMember& member = members_[number];
  if (member.own) {
    for (const auto& range : ranges) {
      FOREBAY_CHECK(member.own->read(range, out.first(range.length)));
      out = out.subspan(range.length);
    }
    return {};
  }
  auto& transport = transports_[number];
  if (!transport) {
    FOREBAY_TRY(transport, blamed(number, access_.transport(member.addresses)));
  }
  std::vector<fabric::Piece> pieces;
  for (const auto& range : ranges)
    if (!range.is_parity)
      member.map.append(range.offset, range.length, pieces);
    else if (!pieces.empty() && pieces.back().offset + pieces.back().length == range.offset)
      pieces.back().length += range.length;
    else
      pieces.push_back({0, range.offset, range.length});
  moved_ += out.size();
  reading_.push_back(number);
  return blamed(number, transport->begin(ranges.front().is_parity ? member.parity : member.data, pieces, out));
}

Result<void> GroupIo::finish() {
  for (const unsigned number : std::exchange(reading_, {}))
    FOREBAY_CHECK(blamed(number, transports_[number]->finish()));
  return {};
}

Result<void> GroupIo::seen(const redundancy::Step& step, const redundancy::StepEnd& end, uint64_t sum) {
  return blamed(end.member, seen_(end.member, step.row, step.piece, sum));
}

Result<PieceSender*> GroupIo::sender(unsigned member) {
  auto found = senders_.find(member);
  if (found == senders_.end()) {
    FOREBAY_TRY(PieceSender made, blamed(member, PieceSender::open(access_, members_[member].addresses)));
    found = senders_.emplace(member, std::move(made)).first;
  }
  return &found->second;
}

Result<void> GroupIo::bring(const redundancy::Step& step, const redundancy::StepEnd& end, std::byte* bytes) {
  const std::span<const std::byte> piece(bytes, end.range.length);
  if (const auto& sink = members_[end.member].sink) return sink->take(step.row, step.piece, std::nullopt, piece);
  FOREBAY_TRY(PieceSender* const to, sender(end.member));
  std::byte* const frame = bytes - kPieceRoom;
  write_piece_header(std::span<std::byte, kPieceRoom>(frame, kPieceRoom),
                     {.to = {leader_.id, leader_.group, end.member},
                      .from = leader_.position,
                      .row = step.row,
                      .piece = step.piece,
                      .sum = crc64(piece),
                      .bytes = piece});
  moved_ += piece.size();
  return blamed(end.member, to->send({frame, kPieceRoom + piece.size()}, stop_));
}

Result<void> GroupIo::end(const std::vector<unsigned>& receivers) {
  for (const unsigned member : receivers) {
    if (members_[member].sink) continue;
    FOREBAY_TRY(PieceSender* const to, sender(member));
    FOREBAY_CHECK(blamed(member, to->end({leader_.id, leader_.group, member}, leader_.position, stop_)));
  }
  return {};
}

}  // namespace forebay::job
