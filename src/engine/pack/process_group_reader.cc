#include "engine/pack/process_group_reader.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <unordered_set>

#include <fmt/format.h>

#include "container/each_part.h"
#include "container/format.h"
#include "merge/plan.h"

namespace forebay::engine {
namespace {

constexpr uint64_t kMostIndexBytes = 64 << 20;

// A stretch of a variable's bytes in the file.
struct Piece {
  uint64_t begin = 0;  // in the variable
  Extent extent;
};

// The pieces of each variable of the part, in no particular order, as far as they are stored as they are.
Result<std::vector<std::vector<Piece>>> find_pieces(const container::Index& index, std::span<const uint64_t> payloads) {
  const auto made = merge::Plan::make(index.catalogue, index.plan, index.frames.size());
  if (!made) return fail(ErrorKind::corrupt, "the index has no plan: " + made.error().what);
  const merge::Plan& plan = *made;
  if (plan.frames().size() != index.frames.size())
    return fail(ErrorKind::corrupt, "the index has other frames than its plan");
  std::vector<std::vector<Piece>> pieces(index.catalogue.variables.size());
  for (size_t i = 0; i < index.frames.size(); ++i) {
    const container::FrameEntry& frame = index.frames[i];
    if (payloads[i] == 0 || frame.encoded_hash != frame.raw_hash || frame.encoded_bytes != frame.raw_bytes) continue;
    uint64_t at = payloads[i];
    for (const merge::Slice& slice : plan.slices(plan.frames()[i])) {
      if (slice.stream.variable < pieces.size())
        pieces[slice.stream.variable].push_back({slice.begin, {at, slice.length}});
      at += slice.length;
    }
  }
  return pieces;
}

// A variable that lies in one piece, or in pieces of whole rows: all of one size, but for the last one, which becomes a
// variable of its own. Nothing if some bytes are missing, or the pieces are cut elsewhere.
std::vector<Variable> assemble(Variable variable, std::vector<Piece> pieces, uint64_t bytes) {
  std::ranges::sort(pieces, {}, &Piece::begin);
  uint64_t end = 0;
  for (const Piece& piece : pieces) {
    if (piece.begin != end) return {};
    end += piece.extent.length;
  }
  if (pieces.empty() || end != bytes) return {};
  for (const Piece& piece : pieces) variable.extents.push_back(piece.extent);
  if (pieces.size() == 1) return {variable};

  const uint64_t rows = variable.shape.empty() ? 1 : variable.shape[0];
  const uint64_t row_bytes = bytes / std::max<uint64_t>(rows, 1), most = pieces.front().extent.length;
  if (row_bytes == 0 || most % row_bytes != 0) return {};
  for (const Piece& piece : std::span(pieces).first(pieces.size() - 1))
    if (piece.extent.length != most) return {};
  variable.block = variable.shape;
  variable.block[0] = most / row_bytes;
  if (pieces.back().extent.length == most) return {variable};

  Variable rest = variable;
  rest.path += ".rest";
  rest.extents = {pieces.back().extent};
  rest.block.clear();
  rest.shape[0] = pieces.back().extent.length / row_bytes;
  variable.extents.pop_back();
  variable.shape[0] -= rest.shape[0];
  if (!rest.global_offset.empty()) rest.global_offset[0] += variable.shape[0];
  return {variable, rest};
}

Result<std::vector<Variable>> variables_of(const container::Index& index, std::span<const uint64_t> payloads,
                                           uint64_t part) {
  FOREBAY_TRY(auto pieces, find_pieces(index, payloads));
  const Catalogue& catalogue = index.catalogue;
  std::vector<Variable> found;
  for (uint32_t i = 0; i < catalogue.variables.size(); ++i) {
    const VariableRow& row = catalogue.variables[i];
    if (row.filtered || row.partial || row.block != row.shape) continue;
    // Programs need not begin the names of their variables with a '/'.
    const std::string& name = catalogue.paths[row.path];
    Variable variable{.path = fmt::format("/part{}{}{}", part, name.starts_with('/') ? "" : "/", name),
                      .type = row.type,
                      .shape = catalogue.shapes[row.shape]};
    if (const GlobalPlace* place = catalogue.global_of(i)) {
      variable.global_shape = catalogue.shapes[place->shape];
      variable.global_offset = catalogue.shapes[place->offset];
    }
    std::ranges::move(assemble(std::move(variable), std::move(pieces[i]), catalogue.bytes_of(row)),
                      std::back_inserter(found));
  }
  return found;
}

// Without the number of the part.
std::string_view name_of(const Variable& variable) {
  return std::string_view(variable.path).substr(variable.path.find('/', 1));
}

bool are_names_unique(const std::vector<Variable>& variables) {
  std::unordered_set<std::string_view> names;
  return std::ranges::all_of(variables,
                             [&](const Variable& variable) { return names.insert(name_of(variable)).second; });
}

}  // namespace

Result<bool> ProcessGroupReader::matches(std::span<const std::byte> head, const ByteSource&) const {
  return head.size() >= container::kFileHeaderBytes &&
         std::memcmp(head.data(), container::kFileMagic.data(), container::kFileMagic.size()) == 0;
}

Result<Layout> ProcessGroupReader::read(const ByteSource& source) const {
  std::vector<Variable> variables;
  uint64_t part = 0;
  const container::OnPart add = [&](const container::Index& index, std::span<const uint64_t> payloads) -> Result<void> {
    FOREBAY_TRY(auto found, variables_of(index, payloads, part++));
    std::ranges::move(found, std::back_inserter(variables));
    return variables.size() > kMaxVariablesPerFile ? fail(ErrorKind::limit, "too many variables") : Result<void>();
  };
  FOREBAY_CHECK(container::for_each_part(source, kMostIndexBytes, kMaxExtentsPerFile, add));
  if (variables.empty()) return Layout{.format = "opaque", .variables = {}};
  if (are_names_unique(variables))
    for (Variable& variable : variables) variable.path = std::string(name_of(variable));
  return Layout{.format = "forebay", .variables = std::move(variables)};
}

}  // namespace forebay::engine
