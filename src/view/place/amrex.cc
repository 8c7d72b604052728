// AMReX's plotfiles, and those of BoxLib: DIR/Header names fields and domains, DIR/Level_N/Cell_H says which box is
// which of the boxes in Cell_D_NNNNN (format/fab_reader.h).
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "view/place/amrex_text.h"
#include "view/place/gather.h"
#include "view/place/set_values.h"

namespace forebay::view {
namespace {

// Directories of levels: where the plotfile is, and which level.
struct LevelDirectory {
  std::string plotfile;  // empty, or ends with a slash
  uint32_t level = 0;

  auto operator<=>(const LevelDirectory&) const = default;
  std::string path() const { return fmt::format("{}Level_{}/", plotfile, level); }
};

// Of a file Level_N/Cell_D_NNNNN.
std::optional<LevelDirectory> level_of(std::string_view name) {
  constexpr std::string_view kLevel = "Level_", kCells = "/Cell_D_";
  const size_t cells = name.rfind(kCells);
  if (cells == std::string_view::npos) return {};
  const auto level = numbered(name.substr(0, cells), 1);
  if (!level || !level->stem.ends_with(kLevel) || level->number > kDeepestLevel) return {};
  const std::string_view plotfile = level->stem.substr(0, level->stem.size() - kLevel.size());
  if (!plotfile.empty() && plotfile.back() != '/') return {};
  return LevelDirectory{std::string(plotfile), static_cast<uint32_t>(level->number)};
}

// What a text of the set says; nothing if it is not in the set.
template <class Parsed>
Result<std::optional<Parsed>> parse_file(const SetLook& look, const std::string& name,
                                         Result<Parsed> (*parse)(std::string_view text)) {
  constexpr uint64_t kMost = 256 << 20;
  const auto at = find_file(look.set(), name);
  if (!at) return std::optional<Parsed>();
  FOREBAY_TRY(const Bytes bytes, look.file(at->container, at->file, kMost));
  FOREBAY_TRY(auto parsed, parse(as_text(bytes)));
  return std::optional(std::move(parsed));
}

class PlotfileLevel {
 public:
  PlotfileLevel(const SetLook& look, const Recognised& found, LevelDirectory directory, const AmrexHeader& header,
                Gather& gather)
      : look_(look), found_(found), directory_(std::move(directory)), header_(header), gather_(gather) {
    for (const SetFile& file : found.files) files_.emplace(file.row->name, &file);
  }

  Result<void> place(const AmrexLevelFiles& level) {
    if (directory_.level >= header_.domains.size() || level.components != header_.fields.size())
      return fail(ErrorKind::corrupt, "Header and Cell_H contradict each other", directory_.path() + "Cell_H");
    // In a file boxes follow each other as their offsets do.
    std::map<std::string, std::map<uint64_t, const AmrexFab*>> by_file;
    for (const AmrexFab& fab : level.fabs) by_file[fab.file][fab.offset] = &fab;
    for (const auto& [name, fabs] : by_file) {
      const auto file = files_.find(directory_.path() + name);
      uint64_t number = 0;
      for (const auto& [offset, fab] : fabs) {
        if (file != files_.end()) place(*file->second, number, *fab, level.ghosts);
        ++number;
      }
    }
    return {};
  }

 private:
  // All components of one box; what the file does not have, it does not have.
  void place(const SetFile& file, uint64_t number, const AmrexFab& fab, uint64_t ghosts) {
    const AmrexBox& domain = header_.domains[directory_.level];
    for (size_t c = 0; c < header_.fields.size(); ++c) {
      const auto stored = file.find(fmt::format("/fab_{}/component_{}", number, c));
      if (!stored) continue;
      PlacedPart part{.field = header_.fields[c], .level = directory_.level, .global = {}, .place = {}, .stored = {}};
      part.stored.array = *stored;
      part.stored.shape = shape_of(fab.box, ghosts);
      part.stored.begin = Shape(fab.box.low.size(), ghosts);
      part.place.count = shape_of(fab.box, 0);
      part.global = shape_of(domain, 0);
      if (part.stored.shape != shape_of(look_.set(), found_.arrays.stored[*stored]) ||
          fab.box.low.size() != domain.low.size())
        return gather_.refuse(*stored, "is not of the shape that Cell_H says");
      for (size_t d = fab.box.low.size(); d-- > 0;) {
        if (fab.box.low[d] < domain.low[d]) return gather_.refuse(*stored, "lies outside of the domain");
        part.place.begin.push_back(static_cast<uint64_t>(fab.box.low[d] - domain.low[d]));
      }
      gather_.add(std::move(part));
    }
  }

  const SetLook& look_;
  const Recognised& found_;
  LevelDirectory directory_;
  const AmrexHeader& header_;
  Gather& gather_;
  std::map<std::string_view, const SetFile*> files_;
};

}  // namespace

Result<bool> recognise_amrex(const SetLook& look, Recognised& found) {
  std::set<LevelDirectory> directories;
  for (const SetFile& file : found.files)
    if (auto level = level_of(file.row->name); level && file.find("/fab_0/component_0"))
      directories.insert(*std::move(level));
  Gather gather(look.set(), found);
  std::optional<double> time;
  for (const LevelDirectory& directory : directories) {
    const auto header = parse_file(look, directory.plotfile + "Header", parse_amrex_header);
    if (!header) return not_placed(header.error(), "AMReX", found);
    const auto level = parse_file(look, directory.path() + "Cell_H", parse_amrex_level);
    if (!level) return not_placed(level.error(), "AMReX", found);
    if (!*header || !*level) continue;
    const auto placed = PlotfileLevel(look, found, directory, **header, gather).place(**level);
    if (!placed) return not_placed(placed.error(), "AMReX", found);
    time = (*header)->time;
  }
  if (!gather.finish()) return false;
  found.time = time;
  return true;
}

}  // namespace forebay::view
