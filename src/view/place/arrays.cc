#include "view/place/arrays.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

namespace forebay::view {
namespace {

constexpr std::string_view kProcessGroups = "forebay";  // the format of files of adaptable I/O
constexpr std::string_view kOneArray = "npy";           // the format of files of one array, which has no name in them
constexpr std::string_view kRest = ".rest";             // what their reader calls the last rows of a variable

struct Found {
  uint64_t stored = 0;
  const FileRow* file = nullptr;
  const Catalogue* catalogue = nullptr;
  const VariableRow* row = nullptr;
  const GlobalPlace* global = nullptr;
  std::optional<container::Characteristics> characteristics;
  bool reversed = false;

  Shape shape() const {
    const Shape& shape = catalogue->shapes[row->shape];
    return reversed ? Shape(shape.rbegin(), shape.rend()) : shape;
  }
};

Block block_of(const Found& found) {
  const Shape shape = found.shape();
  Block block{
      .rank = found.file->rank, .place = engine::whole_box(shape), .stored = {.array = found.stored, .shape = shape}};
  if (found.global != nullptr) block.place.begin = found.catalogue->shapes[found.global->offset];
  block.characteristics = found.characteristics;
  return block;
}

// The shape of the global array that all blocks say that they are a part of; nothing if they do not agree.
std::optional<Shape> common_global_shape(std::span<const Found> blocks) {
  std::optional<Shape> shape;
  for (const Found& found : blocks) {
    if (found.global == nullptr) return {};
    const Shape& own = found.catalogue->shapes[found.global->shape];
    if (shape && *shape != own) return {};
    shape = own;
  }
  return shape;
}

Array array_of(const std::string& name, std::span<const Found> found) {
  const Found& first = found.front();
  Array array{.name = name, .type = element_type(first.row->type)};
  const Shape shape = first.shape();
  const bool all_scalars =
      std::ranges::all_of(found, [](const Found& each) { return each.catalogue->shapes[each.row->shape].empty(); });
  if (all_scalars) {
    array.form = Form::scalar;
  } else if (const auto global = common_global_shape(found)) {
    array.form = Form::global;
    array.shape = *global;
  } else {
    array.form = found.size() == 1 ? Form::global : Form::local;
    array.shape = shape;
  }
  return array;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// What files of one kind have in common: their name without its suffix and without numbers, which tell ranks and times.
std::string kind_of(std::string_view name) {
  const auto is_mark = [](char c) { return c == '.' || c == '_' || c == '-'; };
  const size_t base = name.rfind('/') + 1, suffix = name.rfind('.');
  // .npy, .nc and .h5 are suffixes, .0003 and .cpu0003 are not.
  if (suffix != std::string_view::npos && suffix > base && suffix + 1 < name.size() && !is_digit(name[suffix + 1]) &&
      std::ranges::count_if(name.substr(suffix), is_digit) <= 1)
    name = name.substr(0, suffix);
  std::string kind;
  const auto drop_marks = [&] {
    while (!kind.empty() && is_mark(kind.back())) kind.pop_back();
  };
  for (const char c : name) {
    if (is_digit(c)) continue;
    if (c == '/') drop_marks();
    if (!is_mark(c) || (!kind.empty() && kind.back() != '/' && !is_mark(kind.back()))) kind += c;
  }
  drop_marks();
  return kind;
}

// Whether the names are equal but for their digits: most files of a rank are, and that is known fast.
bool have_same_letters(std::string_view a, std::string_view b) {
  const auto next = [](std::string_view name, size_t at) {
    while (at < name.size() && is_digit(name[at])) ++at;
    return at;
  };
  size_t i = next(a, 0), j = next(b, 0);
  for (; i < a.size() && j < b.size() && a[i] == b[j]; i = next(a, i + 1), j = next(b, j + 1)) {
  }
  return i == a.size() && j == b.size();
}

// Whether a rank has an array of this name in files of several kinds, such as rho.0003.npy and temp.0003.npy. In the
// order of ranks.
bool are_of_several_kinds(std::span<const Found> found) {
  for (size_t i = 1; i < found.size(); ++i)
    if (found[i].file != found[i - 1].file && found[i].file->rank == found[i - 1].file->rank &&
        !have_same_letters(found[i].file->name, found[i - 1].file->name) &&
        kind_of(found[i].file->name) != kind_of(found[i - 1].file->name))
      return true;
  return false;
}

// The array is then called as its files are; where a file has arrays with names of their own, both names count.
std::string name_in_kind(const Found& found, const std::string& name) {
  std::string kind = kind_of(found.file->name);
  if (kind.empty()) return name;
  return found.file->format == kOneArray ? kind : kind + '/' + name;
}

void add_array(const std::string& name, std::span<const Found> found, Arrays& arrays) {
  std::vector<Block> blocks;
  Array array = array_of(name, found);
  for (const Found& each : found) {
    blocks.push_back(block_of(each));
    if (array.form == Form::local) blocks.back().place = engine::whole_box(blocks.back().stored.shape);
  }
  arrays.add(std::move(array), std::move(blocks));
}

}  // namespace

void Arrays::add(Array array, std::vector<Block> its_blocks) {
  array.blocks = its_blocks.size();
  container::Characteristics all;
  bool are_known = !its_blocks.empty();
  for (const Block& block : its_blocks) {
    are_known = are_known && block.characteristics;
    if (are_known) all.merge(*block.characteristics);
  }
  if (are_known) array.characteristics = all;
  arrays.push_back(std::move(array));
  blocks.push_back(std::move(its_blocks));
}

// Makes values[order[i]] the value i, without a second list of all.
template <class T>
static void put_in_order(std::vector<T>& values, std::span<const size_t> order) {
  std::vector<bool> is_done(order.size());
  for (size_t begin = 0; begin < order.size(); ++begin) {
    if (is_done[begin]) continue;
    T first = std::move(values[begin]);
    size_t at = begin;
    for (; order[at] != begin; at = order[at]) {
      is_done[at] = true;
      values[at] = std::move(values[order[at]]);
    }
    is_done[at] = true;
    values[at] = std::move(first);
  }
}

void Arrays::finish() {
  const auto name_of = [&](size_t i) -> const std::string& { return arrays[i].name; };
  std::vector<size_t> order(arrays.size());
  const auto sort_by_name = [&] {
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, {}, name_of);
  };
  sort_by_name();
  std::vector<size_t> renamed;
  for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && name_of(order[end]) == name_of(order[begin])) ++end;
    std::vector<size_t> same(order.begin() + static_cast<ptrdiff_t>(begin),
                             order.begin() + static_cast<ptrdiff_t>(end));
    std::ranges::stable_sort(same, std::ranges::greater{}, [&](size_t i) { return arrays[i].blocks; });
    renamed.insert(renamed.end(), same.begin() + 1, same.end());
  }
  for (const size_t i : renamed) arrays[i].name += ":" + to_string(arrays[i].type);
  if (!renamed.empty()) sort_by_name();
  // Forms of one name and one type become several arrays only if a file says so on purpose.
  for (size_t i = 1; i < order.size(); ++i)
    for (int n = 2; name_of(order[i - 1]) == name_of(order[i]); ++n) arrays[order[i]].name += "#" + std::to_string(n);
  put_in_order(arrays, order);
  put_in_order(blocks, order);
}

std::vector<StoredArray> stored_arrays(const engine::OpenSet& set) {
  std::vector<std::pair<std::tuple<uint32_t, const std::string*>, StoredArray>> found;
  for (size_t c = 0; c < set.containers.size(); ++c) {
    const Catalogue& catalogue = set.containers[c].catalogue();
    for (uint32_t f = 0; f < catalogue.files.size(); ++f) {
      const FileRow& file = catalogue.files[f];
      for (uint32_t v = 0; v < file.variable_count; ++v)
        found.push_back(
            {{file.rank, &file.name},
             {.container = c, .file = f, .variable = file.first_variable + v, .meaning = {}, .read_as = {}}});
    }
  }
  std::ranges::stable_sort(found, [](const auto& a, const auto& b) {
    const auto& [rank, name] = a.first;
    const auto& [other_rank, other_name] = b.first;
    return rank != other_rank ? rank < other_rank : *name < *other_name;
  });
  std::vector<StoredArray> stored;
  stored.reserve(found.size());
  for (auto& [key, array] : found) stored.push_back(std::move(array));
  return stored;
}

std::string plain_name(const FileRow& file, const std::string& path) {
  std::string name = path.starts_with('/') ? path.substr(1) : path;
  if (file.format == kProcessGroups && name.ends_with(kRest)) name.resize(name.size() - kRest.size());
  return name;
}

void add_plain_arrays(const engine::OpenSet& set, const std::vector<bool>& is_taken, Arrays& arrays) {
  std::map<std::tuple<std::string, Kind, uint16_t>, std::vector<Found>> by_name;
  for (size_t i = 0; i < arrays.stored.size(); ++i) {
    if (is_taken[i]) continue;
    const StoredArray& stored = arrays.stored[i];
    const container::Index& index = set.containers[stored.container].index();
    const Catalogue& catalogue = index.catalogue;
    const VariableRow& row = catalogue.variables[stored.variable];
    Found found{.stored = i,
                .file = &catalogue.files[stored.file],
                .catalogue = &catalogue,
                .row = &row,
                .global = catalogue.global_of(stored.variable),
                .characteristics = {},
                .reversed = stored.reversed};
    if (!index.characteristics.empty() && row.type.is_number() && !row.filtered && !row.partial)
      found.characteristics = index.characteristics[stored.variable];
    by_name[{plain_name(*found.file, catalogue.paths[row.path]), row.type.kind, row.type.size}].push_back(
        std::move(found));
  }
  arrays.arrays.reserve(arrays.arrays.size() + by_name.size());
  arrays.blocks.reserve(arrays.blocks.size() + by_name.size());
  while (!by_name.empty()) {
    auto node = by_name.extract(by_name.begin());  // what is done takes no memory any more
    const std::string& name = std::get<0>(node.key());
    std::vector<Found>& all = node.mapped();
    if (!are_of_several_kinds(all)) {
      add_array(name, all, arrays);
      continue;
    }
    std::map<std::string, std::vector<Found>> by_kind;
    for (Found& each : all) by_kind[name_in_kind(each, name)].push_back(std::move(each));
    all = {};
    for (const auto& [longer, found] : by_kind) add_array(longer, found, arrays);
  }
}

}  // namespace forebay::view
