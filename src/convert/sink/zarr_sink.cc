#include "convert/sink/zarr_sink.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include <fcntl.h>
#include <fmt/format.h>

#include "base/buffer.h"
#include "base/bytes.h"
#include "codec/codec.h"
#include "convert/sink/attribute_json.h"
#include "convert/target/array_file.h"
#include "store/files.h"

namespace forebay::convert {
namespace {

constexpr uint8_t kZstdLevel = 1;

// As the specification of Zarr calls types of numbers; texts are arrays of single bytes, as they lie in the run.
std::string data_type_of(const view::ElementType& type) {
  using io::ValueType;
  if (type.value == ValueType::complex64) return "complex64";
  if (type.value == ValueType::complex128) return "complex128";
  if (type.value == ValueType::string) return "uint8";
  constexpr const char* kKinds[] = {"r", "int", "uint", "float"};
  return kKinds[static_cast<size_t>(type.data.kind)] + std::to_string(8 * type.data.size);
}

Json fill_value_of(const view::ElementType& type) {
  if (type.value == io::ValueType::complex64 || type.value == io::ValueType::complex128) return {0.0, 0.0};
  if (type.data.kind == Kind::floating) return 0.0;
  return 0;
}

// The eight bytes of a double, little-endian, in base64.
std::string base64_of(double value) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::byte bytes[9] = {};
  store_le(bytes, std::bit_cast<uint64_t>(value));
  std::string text;
  for (size_t at = 0; at < sizeof bytes; at += 3) {
    uint32_t bits = 0;
    for (size_t i = 0; i < 3; ++i) bits = bits << 8 | std::to_integer<uint32_t>(bytes[at + i]);
    for (int shift = 18; shift >= 0; shift -= 6) text += kDigits[bits >> shift & 63];
  }
  text.back() = '=';
  return text;
}

// The number that json_of() wrote.
std::optional<double> number_of(const Json& json) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (json.is_number()) return json.get<double>();
  if (json == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (json == "Infinity") return kInfinity;
  if (json == "-Infinity") return -kInfinity;
  return {};
}

// xarray wants a `_FillValue` of floating-point arrays as base64, so that NaNs keep their bits, and of integers as a
// number. It opens no store that has another one, which is left out.
Json attributes_of_array(const Dataset& dataset) {
  Json attributes = json_of(dataset.attributes);
  const auto fill = attributes.find("_FillValue");
  if (fill == attributes.end()) return attributes;
  const auto number = number_of(*fill);
  const bool is_floating = dataset.type.data.kind == Kind::floating;
  if (is_floating && number)
    *fill = base64_of(*number);
  else if (!dataset.type.data.is_number() || !fill->is_number())
    attributes.erase(fill);
  return attributes;
}

class ZarrSink final : public Sink {
 public:
  explicit ZarrSink(NewTarget target) : target_(std::move(target)) {}

  Result<void> begin(const Plan& plan) override {
    plan_ = &plan;
    std::map<std::string, Json> groups{{"", Json::object()}};
    for (const Dataset& dataset : plan.datasets) {
      for (size_t slash = 0; (slash = dataset.path.find('/', slash)) != std::string::npos; ++slash)
        groups.try_emplace(dataset.path.substr(0, slash), Json::object());
    }
    for (const GroupAttributes& group : plan.groups) groups[group.path] = json_of(group.attributes);
    for (const auto& [path, attributes] : groups)
      FOREBAY_CHECK(describe(path, {{"zarr_format", 3}, {"node_type", "group"}, {"attributes", attributes}}));
    for (size_t i = 0; i < plan.datasets.size(); ++i) FOREBAY_CHECK(begin_array(i));
    return {};
  }

  Result<void> write(const Piece& piece) override {
    const Dataset& dataset = plan_->datasets[piece.dataset];
    Bytes aside;
    const auto padded = in_whole_chunk(dataset, piece, aside);
    const codec::Codec& zstd = *codec::find_codec("zstd");
    const FrameShape shape{kBytes, {Block{{1, 1, 1, padded.size()}}}};
    Buffer encoded(zstd.bound(padded.size()));
    const size_t size = zstd.encode({shape, kZstdLevel, {}}, padded, encoded.span());
    if (size == 0) return fail(ErrorKind::limit, "no memory to compress a chunk", target_.path());
    std::string name = "c";
    for (size_t d = 0; d < dataset.shape.size(); ++d)
      name += "/" + std::to_string(piece.box.begin[d] / dataset.chunk[d]);
    return put(path_to(dataset.path) + "/" + name, encoded.span().first(size));
  }

  Result<void> commit(bool overwrite) override {
    for (const std::string& directory : directories_) FOREBAY_CHECK(store::sync_directory(directory));
    return target_.commit(overwrite);
  }

 private:
  std::string path_to(const std::string& path) const { return target_.temporary() + (path.empty() ? "" : "/") + path; }

  Result<void> put(const std::string& path, std::span<const std::byte> bytes) {
    {
      const std::lock_guard lock(directories_mutex_);
      FOREBAY_CHECK(make_parents(target_, path, directories_));
    }
    FOREBAY_TRY(const Fd file, store::open_at(AT_FDCWD, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, path, 0666));
    FOREBAY_CHECK(store::write_all(file.get(), 0, bytes, target_.path()));
    return store::sync_file(file.get(), target_.path());
  }

  Result<void> describe(const std::string& path, const Json& description) {
    const std::string text = description.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
    return put(path_to(path) + "/zarr.json", as_bytes(text));
  }

  Result<void> begin_array(size_t number) {
    const Dataset& dataset = plan_->datasets[number];
    const Json codecs = {{{"name", "bytes"}, {"configuration", {{"endian", "little"}}}},
                         {{"name", "zstd"}, {"configuration", {{"level", kZstdLevel}, {"checksum", false}}}}};
    FOREBAY_CHECK(describe(dataset.path,
                           {{"zarr_format", 3},
                            {"node_type", "array"},
                            {"shape", dataset.shape},
                            {"data_type", data_type_of(dataset.type)},
                            {"chunk_grid", {{"name", "regular"}, {"configuration", {{"chunk_shape", dataset.chunk}}}}},
                            {"chunk_key_encoding", {{"name", "default"}, {"configuration", {{"separator", "/"}}}}},
                            {"fill_value", fill_value_of(dataset.type)},
                            {"codecs", codecs},
                            {"dimension_names", dataset.dimensions},
                            {"attributes", attributes_of_array(dataset)}}));
    if (dataset.values.empty()) return {};
    return write({number, engine::whole_box(dataset.shape), dataset.values});
  }

  // Chunks at the far edge have all elements of the others, too.
  static std::span<const std::byte> in_whole_chunk(const Dataset& dataset, const Piece& piece, Bytes& padded) {
    if (piece.box.count == dataset.chunk) return piece.values;
    const uint64_t element = dataset.type.bytes();
    padded.assign(element_count(dataset.chunk) * element, std::byte{});
    const uint64_t row = piece.box.count.back() * element;
    Shape at(piece.box.count.size());
    for (uint64_t from = 0; from < piece.values.size(); from += row) {
      uint64_t place = 0;
      for (size_t d = 0; d < at.size(); ++d) place = place * dataset.chunk[d] + at[d];
      std::memcpy(padded.data() + place * element, piece.values.data() + from, row);
      for (size_t d = at.size() - 1; d-- > 0;) {
        if (++at[d] < piece.box.count[d]) break;
        at[d] = 0;
      }
    }
    return padded;
  }

  NewTarget target_;
  const Plan* plan_ = nullptr;
  std::mutex directories_mutex_;
  std::set<std::string> directories_;
};

}  // namespace

Result<std::unique_ptr<Sink>> make_zarr_sink(const SinkOptions& options) {
  FOREBAY_TRY(NewTarget target, NewTarget::directory(options.target, options.overwrite));
  return std::make_unique<ZarrSink>(std::move(target));
}

bool zarr_holds(const view::ElementType& type) {
  if (type.value == io::ValueType::long_double) return false;
  return type.value.has_value() || (type.data.is_number() && type.data.kind == Kind::floating && type.data.size == 2);
}

}  // namespace forebay::convert
