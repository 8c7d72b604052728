#include "engine/pack/headers.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "container/index_codec.h"

namespace forebay::engine {
namespace {

constexpr size_t kMaxRemarkBytes = 1 << 10;

// What remarks hold in memory, at most, for each of their bytes in a message: a remark without a text is 8 bytes there,
// and in a growing vector three times its size.
constexpr uint64_t kMemoryPerRemarkByte = 3 * sizeof(LayoutRemark) / 8 + 1;

std::unexpected<Error> bad_headers(const std::string& what) { return fail(ErrorKind::corrupt, "headers: " + what); }

void append_number(Bytes& to, std::unsigned_integral auto value) {
  to.resize(to.size() + sizeof value);
  store_le(to.data() + to.size() - sizeof value, value);
}

Result<std::vector<LayoutRemark>> parse_remarks(std::span<const std::byte> bytes, size_t files) {
  std::vector<LayoutRemark> remarks;
  while (!bytes.empty()) {
    if (bytes.size() < 8) return bad_headers("a remark is cut short");
    const auto file = load_le<uint32_t>(bytes.data()), length = load_le<uint32_t>(bytes.data() + 4);
    bytes = bytes.subspan(8);
    if (length > bytes.size() || length > kMaxRemarkBytes) return bad_headers("a remark is cut short, or too long");
    if (file >= files || (!remarks.empty() && file <= remarks.back().file))
      return bad_headers("a remark is on no file");
    remarks.push_back({file, std::string(as_text(bytes.first(length)))});
    bytes = bytes.subspan(length);
  }
  return remarks;
}

// The layout that a catalogue's rows were made from.
Layout layout_of(const Catalogue& catalogue, const FileRow& file) {
  Layout layout{.format = file.format, .variables = {}};
  for (uint32_t i = 0; i < file.variable_count; ++i) {
    const VariableRow& row = catalogue.variables[file.first_variable + i];
    const auto extents = catalogue.extents_of(row);
    layout.variables.push_back({.path = catalogue.paths[row.path],
                                .type = row.type,
                                .shape = catalogue.shapes[row.shape],
                                .block = row.block == row.shape ? Shape() : catalogue.shapes[row.block],
                                .extents = {extents.begin(), extents.end()},
                                .filtered = row.filtered,
                                .partial = row.partial,
                                .meaning = std::string(catalogue.meaning_of(file.first_variable + i))});
  }
  return layout;
}

// Where the layouts of a group's files are among the headers of several nodes.
class HeaderIndex {
 public:
  static Result<HeaderIndex> make(std::span<const Headers> headers) {
    HeaderIndex index;
    for (const Headers& one : headers) {
      for (uint32_t i = 0; i < one.catalogue.files.size(); ++i) {
        const std::string& name = one.catalogue.files[i].name;
        if (!index.places_.try_emplace(name, Place{&one, i}).second)
          return bad_headers("the file '" + name + "' is there twice");
      }
    }
    return index;
  }

  Result<format::ReadLayout> read(const SourceFile& file) const {
    if (file.row.kind != FileKind::regular) return format::ReadLayout{};
    const auto found = places_.find(file.row.name);
    if (found == places_.end())
      return fail(ErrorKind::changed, "the node has no such file any more, or cannot read it", file.path);
    const auto [headers, number] = found->second;
    const FileRow& row = headers->catalogue.files[number];
    if (row.kind != file.row.kind || row.size != file.row.size || row.mtime_s != file.row.mtime_s ||
        row.mtime_ns != file.row.mtime_ns)
      return fail(ErrorKind::changed, "the file changed after it was offered", file.path);
    format::ReadLayout read{.layout = layout_of(headers->catalogue, row), .remark = remark_on(*headers, number)};
    const size_t variables = read.layout.variables.size();
    if (normalise(read.layout, row.size) != 0 || read.layout.variables.size() != variables)
      return bad_headers("the file '" + row.name + "' has an impossible layout");
    return read;
  }

 private:
  struct Place {
    const Headers* headers = nullptr;
    uint32_t file = 0;
  };

  static std::string remark_on(const Headers& headers, uint32_t file) {
    const auto found = std::ranges::lower_bound(headers.remarks, file, {}, &LayoutRemark::file);
    return found != headers.remarks.end() && found->file == file ? found->text : std::string();
  }

  std::unordered_map<std::string_view, Place> places_;  // by name
};

}  // namespace

Result<Headers> read_headers(std::span<const SourceFile> files, Sources& sources, const format::FormatOptions& format,
                             uint64_t memory_bytes, unsigned threads) {
  const KeysFn keys = [](const Layout& layout) { return std::vector<std::string>(layout.variables.size()); };
  FOREBAY_TRY(Layouts layouts, read_layouts(files, sources, format, keys, memory_bytes, threads));
  return Headers{std::move(layouts)};
}

Result<Bytes> encode_headers(const Headers& headers) {
  FOREBAY_TRY(const Bytes catalogue, container::encode_catalogue(headers.catalogue, PlanSpec{}));
  Bytes bytes;
  append_number(bytes, uint64_t{catalogue.size()});
  bytes.insert(bytes.end(), catalogue.begin(), catalogue.end());
  for (const LayoutRemark& remark : headers.remarks) {
    const auto text = as_bytes(remark.text).first(std::min(remark.text.size(), kMaxRemarkBytes));
    append_number(bytes, remark.file);
    append_number(bytes, static_cast<uint32_t>(text.size()));
    bytes.insert(bytes.end(), text.begin(), text.end());
  }
  return bytes;
}

Result<Headers> decode_headers(std::span<const std::byte> bytes, uint64_t max_bytes) {
  if (bytes.size() < 8) return bad_headers("they are cut short");
  const auto length = load_le<uint64_t>(bytes.data());
  bytes = bytes.subspan(8);
  if (length > bytes.size()) return bad_headers("they are cut short");
  const auto remarks = bytes.subspan(length);
  if (bytes.size() > max_bytes || remarks.size() * kMemoryPerRemarkByte > max_bytes)
    return fail(ErrorKind::limit, "headers take more memory than they may");
  const Bytes catalogue(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(length));  // aligned
  FOREBAY_TRY(container::Index index,
              container::decode_head(catalogue, max_bytes - remarks.size() * kMemoryPerRemarkByte));
  Headers headers;
  FOREBAY_TRY(headers.remarks, parse_remarks(remarks, index.catalogue.files.size()));
  headers.catalogue = std::move(index.catalogue);
  return headers;
}

Result<GroupCatalogue> merge_headers(std::span<const Headers> headers, std::span<const SourceFile> files,
                                     const merge::Similarity& similarity, uint64_t memory_bytes, unsigned threads) {
  FOREBAY_TRY(const HeaderIndex index, HeaderIndex::make(headers));
  const LayoutFn layout = [&](size_t number) { return index.read(files[number]); };
  const KeysFn keys = [&](const Layout& one) { return similarity.keys(one); };
  FOREBAY_TRY(Layouts layouts, collect_layouts(files, layout, keys, memory_bytes, threads));
  return group_catalogue(std::move(layouts), files);
}

}  // namespace forebay::engine
