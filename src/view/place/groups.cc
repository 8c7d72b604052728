// Sets that programs of adaptable I/O wrote. The catalogue has their variables and places; that something is a string
// or a complex number, a local array though one rank alone wrote it, or is called "/a" and not "a", only the process
// groups say.
#include "view/place/groups.h"

#include <algorithm>
#include <deque>
#include <map>

#include <fmt/format.h>

#include "base/checksum.h"
#include "view/place/recogniser.h"

namespace forebay::view {
namespace {

constexpr std::string_view kFormat = "forebay", kPart = "part";
constexpr size_t kMostLookedAt = 4096;  // files: those of ranks that write the same variables count once

// "a/b" of "part7/a/b", which a variable is called in a file of several process groups; else empty.
std::string_view without_part(std::string_view name) {
  if (!name.starts_with(kPart)) return {};
  const size_t end = name.find_first_not_of("0123456789", kPart.size());
  if (end == std::string_view::npos || end == kPart.size() || name[end] != '/') return {};
  return name.substr(end + 1);
}

// Which of the variables that are known each stored array is one of; nothing where that is not known.
using Meanings = std::vector<std::optional<size_t>>;

class Groups {
 public:
  Groups(const SetLook& look, Recognised& found) : look_(look), found_(found) {}

  Result<bool> recognise() {
    const auto& all = found_.arrays.stored;
    for (size_t begin = 0, end = 0; begin < all.size(); begin = end) {
      while (end < all.size() && all[end].container == all[begin].container && all[end].file == all[begin].file) ++end;
      if (file_of(begin).format != kFormat) continue;
      FOREBAY_TRY(const Meanings* const known, meanings_of(begin, end));
      const Meanings& meanings = *known;
      for (size_t i = 0; i < meanings.size(); ++i)
        if (meanings[i])
          blocks_[*meanings[i]].push_back(begin + i);
        else
          ++unknown_;
    }
    for (const auto& [variable, stored] : blocks_) add(variables_[variable], variable, stored);
    if (unknown_ > 0)
      found_.arrays.remarks.push_back(fmt::format(
          "{} variables of ranks are shown as the catalogue has them: what their programs called them is not known",
          unknown_));
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

  std::string name_of(uint64_t stored) const {
    return plain_name(file_of(stored), catalogue_of(stored).paths[row_of(stored).path]);
  }

  // Files whose catalogues list the same variables in the same order, as those of ranks do, mean the same by them: of
  // these one is looked into.
  Result<const Meanings*> meanings_of(uint64_t begin, uint64_t end) {
    Bytes text;
    for (uint64_t stored = begin; stored < end; ++stored) {
      const VariableRow& row = row_of(stored);
      const std::string line = fmt::format("{} {}\n", row.type.name(), catalogue_of(stored).paths[row.path]);
      const auto bytes = as_bytes(line);
      text.insert(text.end(), bytes.begin(), bytes.end());
    }
    const auto [known, is_new] = meanings_.try_emplace({end - begin, hash64(text)});
    if (!is_new) return &known->second;
    known->second.resize(end - begin);
    if (meanings_.size() <= kMostLookedAt) FOREBAY_CHECK(look_into(begin, known->second));
    return &known->second;
  }

  // What cannot be read says nothing, and its variables stay what the catalogue says.
  Result<void> look_into(uint64_t begin, Meanings& meanings) {
    const StoredArray& file = found_.arrays.stored[begin];
    const auto contents = look_.groups(file.container, file.file);
    if (!contents) {
      const ErrorKind kind = contents.error().kind;
      if (kind != ErrorKind::corrupt && kind != ErrorKind::limit) return std::unexpected(contents.error());
      found_.arrays.remarks.push_back("the process groups of '" + file_of(begin).name +
                                      "' cannot be read: " + contents.error().message());
      return {};
    }
    found_.time_index = std::max(found_.time_index, contents->time_index);
    // The writes of each name and type, in order: so do the catalogue's variables follow each other.
    std::map<std::pair<std::string_view, DataType>, std::deque<size_t>> writes;
    for (const size_t write : contents->writes) {
      const GroupVariable& variable = contents->variables[write];
      const auto place = numbers_.try_emplace(variable, variables_.size());
      if (place.second) variables_.push_back(variable);
      std::string_view plain = variable.name;
      if (plain.starts_with('/')) plain.remove_prefix(1);
      writes[{plain, io::data_type(variable.type)}].push_back(place.first->second);
    }
    for (size_t i = 0; i < meanings.size(); ++i) {
      const std::string& path = catalogue_of(begin + i).paths[row_of(begin + i).path];
      const std::string whole = path.starts_with('/') ? path.substr(1) : path, name = name_of(begin + i);
      const bool is_rest = i > 0 && is_rest_of(begin + i, begin + i - 1);
      auto queue = writes.end();
      for (const std::string_view each : {std::string_view(whole), std::string_view(name), without_part(name)})
        if (queue == writes.end()) queue = writes.find({each, row_of(begin + i).type});
      if (is_rest) {
        meanings[i] = meanings[i - 1];
      } else if (queue != writes.end() && !queue->second.empty()) {
        meanings[i] = queue->second.front();
        queue->second.pop_front();
      }
    }
    return {};
  }

  // Whether a variable is the last rows of the one before it, which packing has cut.
  bool is_rest_of(uint64_t stored, uint64_t before) const {
    const std::string &path = catalogue_of(stored).paths[row_of(stored).path],
                      &other = catalogue_of(before).paths[row_of(before).path];
    return path.size() > other.size() && path.starts_with(other) && name_of(stored) == name_of(before);
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
  std::map<std::pair<size_t, uint64_t>, Meanings> meanings_;  // of each list of variables: its length and hash
  std::vector<GroupVariable> variables_;
  std::map<GroupVariable, size_t> numbers_;
  std::map<size_t, std::vector<uint64_t>> blocks_;  // of each variable: stored arrays, by rank
  size_t unknown_ = 0;
};

}  // namespace

Result<bool> recognise_groups(const SetLook& look, Recognised& found) { return Groups(look, found).recognise(); }

}  // namespace forebay::view
