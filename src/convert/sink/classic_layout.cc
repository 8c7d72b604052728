#include "convert/sink/classic_layout.h"

#include <algorithm>
#include <bit>
#include <map>
#include <set>

#include <fmt/format.h>

#include "bp/index.h"

namespace forebay::convert {
namespace {

constexpr uint32_t kDimensions = 0x0A, kVariables = 0x0B, kAttributes = 0x0C;
constexpr uint32_t kChar = 2, kFirstOfVersion5 = 7;
constexpr uint64_t kMost = UINT32_MAX - 3;  // bytes of an array, and what else version 2 counts

uint64_t padded(uint64_t bytes) { return (bytes + 3) / 4 * 4; }

// Fields one after another, big-endian.
class Header {
 public:
  explicit Header(bool is_wide) : is_wide_(is_wide) {}

  void tag(uint32_t value) { put(value); }
  void count(uint64_t value) {
    if (is_wide_)
      put(value);
    else
      put(static_cast<uint32_t>(value));
  }
  void offset(uint64_t value) { put(value); }
  void raw(std::span<const std::byte> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    bytes_.resize(padded(bytes_.size()));
  }
  void name(const std::string& name) {
    count(name.size());
    raw(as_bytes(name));
  }
  void list(uint32_t what, uint64_t elements) {
    tag(elements == 0 ? 0 : what);
    count(elements);
  }

  Bytes take() { return std::move(bytes_); }
  uint64_t size() const { return bytes_.size(); }

 private:
  template <class T>
  void put(T value) {
    for (int shift = 8 * (sizeof value - 1); shift >= 0; shift -= 8)
      bytes_.push_back(static_cast<std::byte>(value >> shift));
  }

  const bool is_wide_;
  Bytes bytes_ = {std::byte{'C'}, std::byte{'D'}, std::byte{'F'}, std::byte(is_wide_ ? 5 : 2)};
};

// Names without '/', each once.
class Names {
 public:
  std::string of(std::string name) {
    std::ranges::replace(name, '/', '.');
    while (!taken_.insert(name).second) name += '_';
    return name;
  }

 private:
  std::set<std::string> taken_;
};

struct ClassicAttribute {
  std::string name;
  uint32_t type = 0;
  uint64_t count = 0;
  Bytes value;  // big-endian
};

// Lists of strings are texts with a line for each. Nothing for types that the format lacks.
std::optional<ClassicAttribute> classic_attribute(const std::string& name, const view::Attribute& from) {
  if (!from.variable.empty() || !from.type.value) return {};
  ClassicAttribute made{.name = name, .type = classic_type(from.type), .count = from.count, .value = from.value};
  if (from.type.value == io::ValueType::string || from.type.value == io::ValueType::string_array) {
    while (!made.value.empty() && made.value.back() == std::byte{0}) made.value.pop_back();
    std::ranges::replace(made.value, std::byte{0}, std::byte{'\n'});
    made.type = kChar;
    made.count = made.value.size();
  } else if (made.type == 0) {
    return {};
  } else if (std::endian::native == std::endian::little) {
    bp::swap_elements(static_cast<uint8_t>(*from.type.value), made.value);
  }
  return made;
}

std::vector<ClassicAttribute> attributes_of(std::span<const view::Attribute> from) {
  std::vector<ClassicAttribute> made;
  for (const view::Attribute& attribute : from)
    if (auto one = classic_attribute(attribute.name, attribute)) made.push_back(*std::move(one));
  return made;
}

class Layout {
 public:
  explicit Layout(const Plan& plan) : plan_(plan) {}

  Result<ClassicLayout> make() {
    find_dimensions();
    find_attributes();
    if (plan_.datasets.size() > INT32_MAX || lengths_.size() > INT32_MAX)
      return fail(ErrorKind::limit, "there are more arrays or dimensions than netCDF's classic format can count");
    is_wide_ = needs_version_5();
    ClassicLayout layout;
    layout.begins.resize(plan_.datasets.size());
    // The places of arrays do not change the header's length.
    layout.bytes = padded(header(layout.begins).size());
    for (size_t i = 0; i < plan_.datasets.size(); ++i) {
      layout.begins[i] = layout.bytes;
      layout.bytes += padded(plan_.datasets[i].bytes());
    }
    layout.header = header(layout.begins);
    return layout;
  }

 private:
  void find_dimensions() {
    Names names;
    for (const Dataset& dataset : plan_.datasets)
      for (size_t d = 0; d < dataset.shape.size(); ++d) {
        const auto [place, is_new] = dimensions_.try_emplace(dataset.dimensions[d], lengths_.size());
        if (is_new) lengths_.emplace_back(names.of(dataset.dimensions[d]), dataset.shape[d]);
      }
  }

  // Those of groups belong to the file, by names that begin with the group's.
  void find_attributes() {
    Names names;
    for (const GroupAttributes& group : plan_.groups)
      for (const view::Attribute& attribute : group.attributes) {
        const std::string name = group.path.empty() ? attribute.name : group.path + "/" + attribute.name;
        if (auto made = classic_attribute(names.of(name), attribute)) global_.push_back(*std::move(made));
      }
    for (const Dataset& dataset : plan_.datasets) own_.push_back(attributes_of(dataset.attributes));
  }

  bool needs_version_5() const {
    const auto is_large = [](const auto& attribute) {
      return attribute.type >= kFirstOfVersion5 || attribute.count > kMost;
    };
    for (const auto& [name, length] : lengths_)
      if (length > INT32_MAX) return true;
    for (const Dataset& dataset : plan_.datasets)
      if (classic_type(dataset.type) >= kFirstOfVersion5 || dataset.bytes() > kMost) return true;
    return std::ranges::any_of(global_, is_large) ||
           std::ranges::any_of(own_, [&](const auto& all) { return std::ranges::any_of(all, is_large); });
  }

  static void put(Header& header, const std::vector<ClassicAttribute>& attributes) {
    header.list(kAttributes, attributes.size());
    for (const ClassicAttribute& attribute : attributes) {
      header.name(attribute.name);
      header.tag(attribute.type);
      header.count(attribute.count);
      header.raw(attribute.value);
    }
  }

  Bytes header(const std::vector<uint64_t>& begins) const {
    Header header(is_wide_);
    header.count(0);  // records, of which there are none
    header.list(kDimensions, lengths_.size());
    for (const auto& [name, length] : lengths_) {
      header.name(name);
      header.count(length);
    }
    put(header, global_);
    header.list(kVariables, plan_.datasets.size());
    Names names;
    for (size_t i = 0; i < plan_.datasets.size(); ++i) {
      const Dataset& dataset = plan_.datasets[i];
      header.name(names.of(dataset.path));
      header.count(dataset.dimensions.size());
      for (const std::string& dimension : dataset.dimensions) header.count(dimensions_.at(dimension));
      put(header, own_[i]);
      header.tag(classic_type(dataset.type));
      header.count(padded(dataset.bytes()));
      header.offset(begins[i]);
    }
    return header.take();
  }

  const Plan& plan_;
  bool is_wide_ = false;
  std::map<std::string, size_t> dimensions_;               // by their names in the plan: in lengths_
  std::vector<std::pair<std::string, uint64_t>> lengths_;  // names in the file
  std::vector<ClassicAttribute> global_;
  std::vector<std::vector<ClassicAttribute>> own_;  // of each dataset
};

}  // namespace

uint32_t classic_type(const view::ElementType& type) {
  using io::ValueType;
  if (!type.value) return 0;
  static const std::map<ValueType, uint32_t> kTypes = {
      {ValueType::int8, 1},    {ValueType::string, kChar}, {ValueType::int16, 3},  {ValueType::int32, 4},
      {ValueType::float32, 5}, {ValueType::float64, 6},    {ValueType::uint8, 7},  {ValueType::uint16, 8},
      {ValueType::uint32, 9},  {ValueType::int64, 10},     {ValueType::uint64, 11}};
  const auto found = kTypes.find(*type.value);
  return found == kTypes.end() ? 0 : found->second;
}

Result<ClassicLayout> classic_layout(const Plan& plan) { return Layout(plan).make(); }

}  // namespace forebay::convert
