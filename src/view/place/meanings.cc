#include "view/place/meanings.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "format/meaning.h"

namespace forebay::view {
namespace {

// Of containers that know no meanings: the numbers of files that are looked at, and of HDF5 files while none says
// anything.
constexpr size_t kMostMeantFiles = 64, kMostBareFiles = 4;

using Shared = std::shared_ptr<const Meaning>;

const Catalogue& catalogue_of(const engine::OpenSet& set, const StoredArray& stored) {
  return set.containers[stored.container].catalogue();
}

const VariableRow& row_of(const engine::OpenSet& set, const StoredArray& stored) {
  return catalogue_of(set, stored).variables[stored.variable];
}

class MeaningFinder {
 public:
  MeaningFinder(const SetLook& look, std::span<StoredArray> stored) : look_(look), stored_(stored) {}

  void find() {
    for (size_t begin = 0, end = 0; begin < stored_.size(); begin = end) {
      while (end < stored_.size() && stored_[end].container == stored_[begin].container &&
             stored_[end].file == stored_[begin].file)
        ++end;
      const auto file = stored_.subspan(begin, end - begin);
      if (catalogue_of(look_.set(), file.front()).are_meanings_known)
        take_known(file);
      else
        look_into(file);
    }
  }

 private:
  Shared meaning_of_text(std::string_view text) {
    if (text.empty()) return nullptr;
    const auto [at, is_new] = texts_.try_emplace(std::string(text));
    if (is_new)
      if (auto meaning = parse_meaning(text); meaning && !meaning->is_plain())
        at->second = std::make_shared<const Meaning>(*std::move(meaning));
    return at->second;
  }

  void take_known(std::span<StoredArray> file) {
    for (StoredArray& stored : file)
      if (can_mean(row_of(look_.set(), stored).type))
        stored.meaning = meaning_of_text(catalogue_of(look_.set(), stored).meaning_of(stored.variable));
  }

  const std::string& path_of(const StoredArray& stored) const {
    return catalogue_of(look_.set(), stored).paths[row_of(look_.set(), stored).path];
  }

  void look_into(std::span<StoredArray> file) {
    const std::string& format = catalogue_of(look_.set(), file.front()).files[file.front().file].format;
    if (format != "hdf5" && format != "netcdf") return;
    const bool is_hopeless = format == "hdf5" && found_ == 0 && looked_ >= kMostBareFiles;
    if (!is_hopeless && looked_ < kMostMeantFiles) {
      ++looked_;
      const auto attributes = look_.attributes(file.front().container, file.front().file);
      if (!attributes) return;
      const bool is_netcdf = format::is_netcdf(format, *attributes);
      for (StoredArray& stored : file) {
        const std::string& path = path_of(stored);
        stored.meaning =
            meaning_of_text(format::meaning_text(*attributes, path, row_of(look_.set(), stored).type, is_netcdf));
        if (!stored.meaning) continue;
        ++found_;
        by_path_.emplace(path, stored.meaning);
      }
      return;
    }
    for (StoredArray& stored : file)
      if (const auto same = by_path_.find(path_of(stored)); same != by_path_.end()) stored.meaning = same->second;
  }

  const SetLook& look_;
  std::span<StoredArray> stored_;
  std::map<std::string, Shared, std::less<>> texts_, by_path_;
  size_t looked_ = 0, found_ = 0;
};

// Whether a value that is among `values`, which may have holes in it, may be one.
bool may_have_holes(const container::Characteristics& values, const Meaning& meaning) {
  if (values.count == 0) return false;
  const auto is_among = [&](long double fill) { return fill >= values.min && fill <= values.max; };
  return std::ranges::any_of(meaning.fills, is_among) || (meaning.least && *meaning.least > values.min) ||
         (meaning.most && *meaning.most < values.max) || (values.infinities > 0 && (meaning.least || meaning.most));
}

// Of what is read, from those of what is stored; nothing if they are not known then.
std::optional<container::Characteristics> meant_characteristics(const container::Characteristics& stored,
                                                                const Meaning& meaning, const DataType& type,
                                                                const DataType& to, bool are_without_holes) {
  if (!are_without_holes && (may_have_holes(stored, meaning) || (meaning.is_unsigned && stored.min < 0))) return {};
  if (!meaning.is_packed() || stored.count == 0) return stored;
  if (type.kind != Kind::floating && type.size == 8) return {};  // whose bounds were rounded
  container::Characteristics values = stored;
  const double scale = meaning.scale.value_or(1), offset = meaning.offset.value_or(0);
  const auto count = static_cast<double>(stored.count);
  values.min = meant(meaning, to, scale < 0 ? stored.max : stored.min);
  values.max = meant(meaning, to, scale < 0 ? stored.min : stored.max);
  values.sum = stored.sum * scale + offset * count;
  values.sum_of_squares =
      scale * scale * stored.sum_of_squares + 2 * scale * offset * stored.sum + offset * offset * count;
  if (!std::isfinite(values.min) || !std::isfinite(values.max)) return {};
  return values;
}

// The blocks of one array are read as they are stored: what is known of values without holes, or of values without
// signs, is not of these.
void keep_stored(const engine::OpenSet& set, Arrays& arrays, size_t number) {
  for (Block& block : arrays.blocks[number]) {
    StoredArray& stored = arrays.stored[block.stored.array];
    const auto meaning = parse_meaning(catalogue_of(set, stored).meaning_of(stored.variable));
    if (!meaning || !(meaning->is_unsigned || meaning->has_holes())) continue;
    if (!meaning->is_unsigned && block.characteristics && block.characteristics->holes == 0) continue;
    block.characteristics.reset();
    stored.has_bounds = false;
    arrays.arrays[number].characteristics.reset();
  }
}

class MeaningUse {
 public:
  MeaningUse(const engine::OpenSet& set, Arrays& arrays) : set_(set), arrays_(arrays) {}

  void apply(size_t number) {
    Array& array = arrays_.arrays[number];
    std::vector<Block>& blocks = arrays_.blocks[number];
    std::vector<StoredArray*> parts;
    for (const Block& block : blocks) parts.push_back(&arrays_.stored[block.stored.array]);
    if (std::ranges::none_of(parts, [](const StoredArray* part) { return part->meaning != nullptr; })) return;
    const auto to = common_type(parts);
    if (!to) {
      arrays_.remarks.push_back(
          fmt::format("'{}' is read as it is stored: its files disagree about what its values mean", array.name));
      for (StoredArray* part : parts) part->meaning.reset();
      keep_stored(set_, arrays_, number);
      return;
    }
    array.type = element_type(*to);
    const bool has_marks = to->kind != Kind::floating && parts.front()->meaning->has_holes();
    if (has_marks) array.holes = parts.front()->meaning;
    container::Characteristics all;
    bool are_known = !blocks.empty();
    for (Block& block : blocks) {
      use(arrays_.stored[block.stored.array], *to, block);
      are_known = are_known && block.characteristics;
      if (are_known) all.merge(*block.characteristics);
    }
    array.characteristics = are_known ? std::optional(all) : std::nullopt;
  }

 private:
  const DataType& type_of(const StoredArray& stored) const { return row_of(set_, stored).type; }

  // That all parts can be read as.
  std::optional<DataType> common_type(std::span<StoredArray* const> parts) const {
    std::optional<DataType> common;
    bool is_one = true;
    for (const StoredArray* part : parts) {
      if (!can_mean(type_of(*part))) return {};
      const DataType to = meant_type(part->meaning ? *part->meaning : Meaning{}, type_of(*part));
      if (common && *common != to) is_one = false;
      common = to;
    }
    // Holes of integers are marked by one meaning for all.
    const auto same_holes = [&](const StoredArray* part) {
      return part->meaning != nullptr && *part->meaning == *parts.front()->meaning;
    };
    if (is_one &&
        (common->kind == Kind::floating || (parts.front()->meaning && std::ranges::all_of(parts, same_holes))))
      return common;
    const auto is_wide = [&](const StoredArray* part) {
      return type_of(*part).kind != Kind::floating && type_of(*part).size == 8;
    };
    if (std::ranges::any_of(parts, is_wide)) return {};
    return element_type(io::ValueType::float64).data;
  }

  void use(StoredArray& stored, const DataType& to, Block& block) {
    if (!stored.meaning) stored.meaning = std::make_shared<const Meaning>();
    stored.read_as = to;
    if (!block.characteristics) {
      stored.has_bounds = catalogue_of(set_, stored).are_meanings_known;
      return;
    }
    block.characteristics = meant_characteristics(*block.characteristics, *stored.meaning, type_of(stored), to,
                                                  catalogue_of(set_, stored).are_meanings_known);
    if (!block.characteristics) stored.has_bounds = false;
  }

  const engine::OpenSet& set_;
  Arrays& arrays_;
};

}  // namespace

void apply_meanings(const SetLook& look, Arrays& arrays) {
  MeaningFinder(look, arrays.stored).find();
  MeaningUse use(look.set(), arrays);
  for (size_t i = 0; i < arrays.arrays.size(); ++i) use.apply(i);
}

void keep_stored(const engine::OpenSet& set, Arrays& arrays) {
  for (size_t i = 0; i < arrays.arrays.size(); ++i) {
    keep_stored(set, arrays, i);
    const auto text_of = [&](const Block& block) {
      const StoredArray& stored = arrays.stored[block.stored.array];
      return catalogue_of(set, stored).meaning_of(stored.variable);
    };
    const std::vector<Block>& blocks = arrays.blocks[i];
    arrays.arrays[i].meanings_differ =
        std::ranges::any_of(blocks, [&](const Block& block) { return text_of(block) != text_of(blocks.front()); });
  }
}

}  // namespace forebay::view
