#include "io/file/transform.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "base/checksum.h"
#include "base/nearest.h"
#include "codec/lossy/lossy.h"

namespace forebay::io {
namespace {

std::unexpected<Failure> refuse_transform(std::string_view text, const std::string& why, std::string hint) {
  return refuse(Code::unknown_transform, fmt::format("transform \"{}\": {}", text, why), std::move(hint));
}

// "a=1,b=2", or a bare value, which gets the empty name.
std::map<std::string, std::string> parameters_of(std::string_view text) {
  std::map<std::string, std::string> values;
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find_first_of(",;"));
    text.remove_prefix(std::min(text.size(), pair.size() + 1));
    const size_t equals = pair.find('=');
    if (equals == pair.npos) {
      values[""] = pair;
    } else {
      values[std::string(pair.substr(0, equals))] = pair.substr(equals + 1);
    }
  }
  return values;
}

std::vector<std::string> transform_names() {
  std::vector<std::string> names;
  for (const TransformName& transform : available_transforms()) names.push_back(transform.name);
  return names;
}

using Parsed = std::map<std::string, std::string>;

const std::string* find_any(const Parsed& parameters, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (const auto it = parameters.find(name); it != parameters.end()) return &it->second;
  return nullptr;
}

// A level from 1 to `most`; `otherwise` if none is given.
Outcome<int> level_of(std::string_view text, const Parsed& parameters, int most, int otherwise) {
  const std::string* value = find_any(parameters, {"", "lvl", "level"});
  if (value == nullptr) return otherwise;
  int level = 0;
  const auto [end, error] = std::from_chars(value->data(), value->data() + value->size(), level);
  if (error != std::errc() || end != value->data() + value->size() || level < 0 || level > most)
    return refuse_transform(text, "there is no such level", fmt::format("give a whole number from 0 to {}", most));
  return level;
}

Outcome<double> positive(std::string_view text, const std::string& value) {
  double number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size() || !std::isfinite(number) || number <= 0)
    return refuse_transform(text, fmt::format("\"{}\" is no bound", value), "give a number above 0");
  return number;
}

// Bounds by zfp's words. A precision of n bits counts from the largest value of a small block there; here each value
// keeps as many, which is more.
Outcome<ErrorBound> zfp_bound(std::string_view text, const Parsed& parameters) {
  if (const std::string* value = find_any(parameters, {"accuracy", "tolerance"})) {
    FOREBAY_TRY(const double bound, positive(text, *value));
    return ErrorBound{BoundKind::absolute, bound};
  }
  if (const std::string* value = find_any(parameters, {"precision"})) {
    FOREBAY_TRY(const double bits, positive(text, *value));
    return ErrorBound{BoundKind::relative, std::exp2(-std::min(bits, 60.0))};
  }
  return refuse_transform(text, "the size of what is stored cannot be fixed here",
                          "bound the error instead: zfp:accuracy=E or zfp:precision=BITS");
}

// Bounds by SZ's words, where "relative" is relative to the range of the values.
Outcome<ErrorBound> sz_bound(std::string_view text, const Parsed& parameters) {
  struct Word {
    std::initializer_list<const char*> names;
    BoundKind kind;
  };
  for (const Word& word :
       {Word{{"accuracy", "absolute", "abs", "errorbound", ""}, BoundKind::absolute},
        Word{{"relative", "rel"}, BoundKind::range}, Word{{"pw_rel", "pwr", "pw"}, BoundKind::relative}})
    if (const std::string* value = find_any(parameters, word.names)) {
      FOREBAY_TRY(const double bound, positive(text, *value));
      return ErrorBound{word.kind, bound};
    }
  return refuse_transform(text, "no bound is given", "give sz:absolute=E, sz:relative=E or sz:pw_rel=E");
}

Outcome<std::string> blosc_chain(std::string_view text, const Parsed& parameters) {
  FOREBAY_TRY(const int level, level_of(text, parameters, 9, 5));
  const std::string* coder = find_any(parameters, {"compressor"});
  const std::string* shuffle = find_any(parameters, {"shuffle"});
  const std::string first = shuffle == nullptr            ? "shuffle,"
                            : *shuffle == "no"            ? ""
                            : shuffle->starts_with("bit") ? "bitshuffle,"
                                                          : "shuffle,";
  if (coder == nullptr || *coder == "blosclz" || *coder == "lz4" || *coder == "memcpy" || *coder == "snappy")
    return first + "lz4";
  if (*coder == "lz4hc") return first + fmt::format("lz4:{}", std::max(level, 1));
  if (*coder == "zlib") return first + fmt::format("deflate:{}", std::max(level, 1));
  if (*coder == "zstd") return first + fmt::format("zstd:{}", std::max(level, 1));
  return refuse_transform(text, "there is no such compressor", "blosclz, lz4, lz4hc, zlib and zstd are there");
}

// The profile or chain that stands for a lossless transform of ADIOS.
Outcome<std::string> lossless_chain(std::string_view text, const std::string& name, const Parsed& parameters) {
  if (name == "zlib") {
    FOREBAY_TRY(const int level, level_of(text, parameters, 9, 6));
    return fmt::format("deflate:{}", std::max(level, 1));
  }
  if (name == "bzip2") {
    FOREBAY_TRY(const int level, level_of(text, parameters, 9, 9));
    return fmt::format("zstd:{}", level + 6);
  }
  if (name == "szip") return std::string("fast");
  if (name == "lz4") {
    FOREBAY_TRY(const int level, level_of(text, parameters, 9, 1));
    return level <= 1 ? std::string("lz4") : fmt::format("lz4:{}", level);
  }
  return blosc_chain(text, parameters);
}

bool is_lossless_name(const std::string& name) {
  return name == "zlib" || name == "bzip2" || name == "szip" || name == "lz4" || name == "blosc";
}

// The names of the parameters of a transform of ADIOS, "" for a bare value; also of those without effect here.
std::vector<std::string> parameters_known_to(const std::string& name) {
  if (name == "zlib" || name == "bzip2") return {"", "lvl", "level"};
  if (name == "lz4") return {"", "lvl", "level", "threshold"};
  if (name == "blosc") return {"", "lvl", "level", "threshold", "shuffle", "threads", "compressor"};
  if (name == "zfp") return {"accuracy", "tolerance", "precision", "rate"};
  if (name == "sz") return {"", "accuracy", "absolute", "abs", "errorbound", "relative", "rel", "pw_rel", "pwr", "pw"};
  return {};
}

std::vector<std::string> unknown_parameters(std::string_view text, const std::string& name, const Parsed& parameters) {
  std::vector<std::string> warnings;
  std::vector<std::string> known = parameters_known_to(name);
  for (const auto& [parameter, value] : parameters) {
    if (std::ranges::find(known, parameter) != known.end()) continue;
    std::vector<std::string> named = known;
    std::erase(named, "");
    warnings.push_back(parameter.empty()
                           ? fmt::format("transform \"{}\" takes no value without a name (it is ignored)", text)
                           : fmt::format("transform \"{}\": {} does not know the parameter \"{}\" ({})", text, name,
                                         parameter, nearest_hint(parameter, named, "it is ignored")));
  }
  return warnings;
}

}  // namespace

const std::vector<TransformName>& available_transforms() {
  static const std::vector<TransformName> transforms = [] {
    std::vector<TransformName> all = {{"none", "stored as it is"},
                                      {"identity", "stored as it is"},
                                      {"zlib", "DEFLATE, with a level"},
                                      {"bzip2", "a codec for numbers in the place of bzip2, without loss"},
                                      {"szip", "a codec for numbers in the place of szip, without loss"},
                                      {"lz4", "lz4, with a level"},
                                      {"blosc", "a shuffle of bytes or bits, and lz4, zstd or DEFLATE"}};
    if (codec::can_encode_lossy()) {
      all.push_back({"zfp", "zfp with a bound on the error of each value"});
      all.push_back({"sz", "a codec with a bound on the error of each value, in the place of SZ"});
    }
    all.push_back({"forebay", "a profile or a chain of codecs of packing"});
    return all;
  }();
  return transforms;
}

Outcome<Transform> Transform::parse(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const size_t colon = std::min(lower.find(':'), lower.size());
  const std::string name = lower.substr(0, colon);
  const std::string rest = colon == lower.size() ? "" : lower.substr(colon + 1);
  Transform transform;
  if (name.empty() || name == "identity" || name == "none" || name == "raw" || name == "no") return transform;
  const Parsed parameters = parameters_of(rest);
  std::string chain = lower;
  if (is_lossless_name(name) || name == "zfp" || name == "sz")
    transform.warnings_ = unknown_parameters(text, name, parameters);
  if (is_lossless_name(name)) {
    FOREBAY_TRY(chain, lossless_chain(text, name, parameters));
  } else if (name == "zfp" || name == "sz") {
    if (!codec::can_encode_lossy())
      return refuse_transform(text, "this build cannot store with loss", "build Forebay with zfp");
    FOREBAY_TRY(transform.bound_, name == "zfp" ? zfp_bound(text, parameters) : sz_bound(text, parameters));
    chain = "fast";
  } else if (name == "forebay") {
    chain = rest.empty() ? "balanced" : rest;
  }
  auto profile = codec::Profile::parse(chain);
  if (!profile && name == "forebay") return refuse_transform(text, profile.error().what, profile.error().hint);
  if (!profile)
    return refuse_transform(text, "there is no such transform",
                            nearest_hint(name, transform_names(), "zlib, lz4 and forebay:balanced are there"));
  if (profile->name() != "none") transform.profile_ = *std::move(profile);
  return transform;
}

Transform::Frame Transform::encode(const FrameShape& shape, std::span<const std::byte> raw) const {
  if (bound_) {
    if (auto lossy = codec::encode_lossy(*bound_, shape, raw, raw.size())) {
      const auto chain = codec::chain_of(lossy->encoded.recipe);
      return {.encoded = std::move(lossy->encoded),
              .chain = chain ? codec::to_string(*chain) : "zfp",
              .raw_hash = hash64(lossy->decoded),
              .lossy = lossy->note};
    }
  }
  codec::Chosen chosen = profile_->encode(shape, raw);
  return {.encoded = std::move(chosen.encoded),
          .chain = codec::to_string(chosen.chain),
          .raw_hash = hash64(raw),
          .lossy = std::nullopt};
}

}  // namespace forebay::io
