// Sets that programs of adaptable I/O wrote. The catalogue has their variables and places; that something is a string
// or a complex number, a local array though one rank alone wrote it, or is called "/a" and not "a", only the process
// groups say.
#include "view/place/groups.h"

#include <algorithm>
#include <map>
#include <set>

#include "view/place/recogniser.h"

namespace forebay::view {
namespace {

constexpr std::string_view kFormat = "forebay", kPart = "part";
constexpr size_t kMostLookedAt = 64;  // that are looked into: ranks of one group mostly write the same variables

// "a/b" of "part7/a/b", which a variable is called in a file of several process groups; else empty.
std::string_view without_part(std::string_view name) {
  if (!name.starts_with(kPart)) return {};
  const size_t end = name.find_first_not_of("0123456789", kPart.size());
  if (end == std::string_view::npos || end == kPart.size() || name[end] != '/') return {};
  return name.substr(end + 1);
}

class Groups {
 public:
  Groups(const SetLook& look, Recognised& found) : look_(look), found_(found) {}

  Result<bool> recognise() {
    for (uint64_t stored = 0; stored < found_.arrays.stored.size(); ++stored) {
      if (found_.is_taken[stored] || file_of(stored).format != kFormat) continue;
      FOREBAY_TRY(const std::optional<size_t> variable, variable_of(stored));
      if (variable) blocks_[*variable].push_back(stored);
    }
    for (const auto& [variable, stored] : blocks_) add(variables_[variable], variable, stored);
    return !blocks_.empty();
  }

 private:
  const Catalogue& catalogue_of(uint64_t stored) const {
    return look_.set().containers[found_.arrays.stored[stored].container].catalogue();
  }
  const VariableRow& row_of(uint64_t stored) const {
    return catalogue_of(stored).variables[found_.arrays.stored[stored].variable];
  }

  const FileRow& file_of(uint64_t stored) const {
    return catalogue_of(stored).files[found_.arrays.stored[stored].file];
  }

  // Looks into the file if its variable is not known yet.
  Result<std::optional<size_t>> variable_of(uint64_t stored) {
    const std::string name = plain_name(file_of(stored), catalogue_of(stored).paths[row_of(stored).path]);
    if (auto known = find(name, stored)) return known;
    const StoredArray& at = found_.arrays.stored[stored];
    const bool is_new = looked_at_.insert({at.container, at.file}).second;
    if (!is_new || looked_at_.size() > kMostLookedAt) return std::nullopt;
    FOREBAY_CHECK(look_into(at));
    return find(name, stored);
  }

  std::optional<size_t> find(std::string_view name, uint64_t stored) const {
    for (const std::string_view each : {name, without_part(name)})
      if (const auto known = by_name_.find({std::string(each), row_of(stored).type});
          known != by_name_.end() && !each.empty())
        return known->second;
    return {};
  }

  // What cannot be read says nothing, and its variables stay what the catalogue says.
  Result<void> look_into(const StoredArray& file) {
    const auto contents = look_.groups(file.container, file.file);
    if (!contents) {
      const ErrorKind kind = contents.error().kind;
      if (kind != ErrorKind::corrupt && kind != ErrorKind::limit) return std::unexpected(contents.error());
      const auto& files = look_.set().containers[file.container].catalogue().files;
      found_.arrays.remarks.push_back("the process groups of '" + files[file.file].name +
                                      "' cannot be read: " + contents.error().message());
      return {};
    }
    found_.time_index = std::max(found_.time_index, contents->time_index);
    for (const GroupVariable& variable : contents->variables) {
      const std::string plain = variable.name.substr(variable.name.starts_with('/') ? 1 : 0);
      if (by_name_.try_emplace({plain, io::data_type(variable.type)}, variables_.size()).second)
        variables_.push_back(variable);
    }
    return {};
  }

  static bool is_text(const GroupVariable& variable) { return variable.type == io::ValueType::string; }

  // The shape of the global array that all blocks are parts of; nothing if there is none.
  std::optional<Shape> global_shape(std::span<const uint64_t> blocks) const {
    std::optional<Shape> shape;
    for (const uint64_t stored : blocks) {
      const Catalogue& catalogue = catalogue_of(stored);
      const GlobalPlace* place = catalogue.global_of(found_.arrays.stored[stored].variable);
      if (place == nullptr || (shape && *shape != catalogue.shapes[place->shape])) return {};
      shape = catalogue.shapes[place->shape];
    }
    return shape;
  }

  void add(const GroupVariable& variable, size_t order, const std::vector<uint64_t>& stored) {
    Array array{.name = variable.name, .group = variable.group, .type = element_type(variable.type)};
    array.fortran_order = variable.fortran_order;
    array.order = static_cast<uint32_t>(order + 1);
    if (variable.is_array && !is_text(variable)) {
      const auto global = global_shape(stored);
      array.form = global ? Form::global : Form::local;
      array.shape = global ? *global : catalogue_of(stored.front()).shapes[row_of(stored.front()).shape];
    }
    std::vector<Block> blocks;
    for (const uint64_t each : stored) {
      const Catalogue& catalogue = catalogue_of(each);
      const StoredArray& at = found_.arrays.stored[each];
      const Shape& shape = catalogue.shapes[row_of(each).shape];
      Block block{.rank = catalogue.files[at.file].rank,
                  .place = engine::whole_box(shape),
                  .stored = {.array = each, .shape = shape}};
      if (array.form == Form::global) block.place.begin = catalogue.shapes[catalogue.global_of(at.variable)->offset];
      const container::Index& index = look_.set().containers[at.container].index();
      if (!index.characteristics.empty() && row_of(each).type.is_number())
        block.characteristics = index.characteristics[at.variable];
      blocks.push_back(std::move(block));
      found_.is_taken[each] = true;
    }
    found_.arrays.add(std::move(array), std::move(blocks));
  }

  const SetLook& look_;
  Recognised& found_;
  std::set<std::pair<size_t, uint32_t>> looked_at_;
  std::vector<GroupVariable> variables_;
  std::map<std::pair<std::string, DataType>, size_t> by_name_;  // without a '/' in front: in variables_
  std::map<size_t, std::vector<uint64_t>> blocks_;              // of each variable: stored arrays, by rank
};

}  // namespace

Result<bool> recognise_groups(const SetLook& look, Recognised& found) { return Groups(look, found).recognise(); }

}  // namespace forebay::view
