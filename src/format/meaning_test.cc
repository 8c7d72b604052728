#include "format/meaning.h"

#include <span>

#include <gtest/gtest.h>

#include "format/attribute_list.h"

namespace forebay::format {
namespace {

template <class T>
FileAttribute numbers(std::string name, const char* type, std::vector<T> values) {
  FileAttribute attribute{.object = "/v", .name = std::move(name), .type = *DataType::parse(type), .value = {}};
  const auto bytes = std::as_bytes(std::span(values));
  attribute.value.assign(bytes.begin(), bytes.end());
  if (values.size() != 1) attribute.shape = {values.size()};
  return attribute;
}

FileAttribute text(std::string name, std::string_view value) {
  FileAttribute attribute{.object = "/v", .name = std::move(name), .type = kBytes, .is_text = true, .value = {}};
  append_text(value, attribute.value);
  return attribute;
}

Meaning meaning(std::vector<FileAttribute> attributes, const char* type, bool is_netcdf = false) {
  AttributeList list{AttributeLimits{}};
  for (FileAttribute& attribute : attributes) list.add(std::move(attribute));
  return meaning_of(list.take(), "/v", *DataType::parse(type), is_netcdf);
}

TEST(AttributesOfMeaning, AreThoseOfTheConventions) {
  const Meaning all =
      meaning({numbers<float>("_FillValue", "f4", {1e20F}), numbers<double>("missing_value", "f8", {-1, 0.1}),
               numbers<float>("valid_range", "f4", {-5, 50}), numbers<float>("scale_factor", "f4", {2}),
               numbers<double>("add_offset", "f8", {1})},
              "f4");
  EXPECT_EQ(all, (Meaning{.fills = {1e20F, -1, 0.1F}, .least = -5, .most = 50, .scale = 2, .offset = 1}));
  EXPECT_TRUE(meaning({text("units", "m")}, "f8").is_plain());
  EXPECT_TRUE(
      meaning({numbers<double>("scale_factor", "f8", {1}), numbers<double>("add_offset", "f8", {0})}, "f4").is_plain());
  EXPECT_TRUE(meaning({numbers<int32_t>("_FillValue", "i4", {0})}, "x8").is_plain()) << "no number";
  EXPECT_EQ(meaning({numbers<double>("valid_min", "f8", {1}), numbers<double>("valid_max", "f8", {2})}, "f8"),
            (Meaning{.least = 1, .most = 2}));
}

TEST(AttributesOfMeaning, NetcdfHasAFillValueOfItsOwn) {
  EXPECT_EQ(meaning({}, "f4", true).fills, (std::vector<long double>{9.9692099683868690e+36F}));
  EXPECT_EQ(meaning({}, "f8", true).fills, (std::vector<long double>{9.9692099683868690e+36}));
  EXPECT_EQ(meaning({numbers<double>("_FillValue", "f8", {-1})}, "f8", true).fills, (std::vector<long double>{-1}));
  EXPECT_TRUE(meaning({}, "i4", true).is_plain());
  EXPECT_TRUE(meaning({}, "f4", false).is_plain());
}

TEST(AttributesOfMeaning, OfUnsignedNumbersAreUnsigned) {
  const Meaning found = meaning({text("_Unsigned", "true"), numbers<int8_t>("_FillValue", "i1", {-1}),
                                 numbers<int8_t>("valid_range", "i1", {0, -6})},
                                "i1");
  EXPECT_EQ(found, (Meaning{.fills = {255}, .least = 0, .most = 250, .is_unsigned = true}));
  EXPECT_TRUE(meaning({text("_Unsigned", "false")}, "i1").is_plain());
  EXPECT_TRUE(meaning({text("_Unsigned", "true")}, "f4").is_plain());
}

TEST(AttributesOfMeaning, BoundsOfPackedNumbersMayBeOfWhatTheyMean) {
  const auto scale = numbers<double>("scale_factor", "f8", {0.1});
  EXPECT_EQ(meaning({scale, numbers<double>("valid_range", "f8", {-0.3, 4})}, "i2"),
            (Meaning{.least = -3, .most = 40, .scale = 0.1}));
  EXPECT_EQ(meaning({scale, numbers<int16_t>("valid_range", "i2", {-3, 40})}, "i2"),
            (Meaning{.least = -3, .most = 40, .scale = 0.1}));
}

TEST(AttributesOfMeaning, ThatMakeNoSenseSayNothing) {
  EXPECT_TRUE(meaning({text("_FillValue", "-999"), text("scale_factor", "2"),
                       numbers<double>("valid_range", "f8", {1, 2, 3}), numbers<double>("add_offset", "f8", {NAN}),
                       numbers<double>("scale_factor", "f8", {0}), numbers<double>("missing_value", "f8", {})},
                      "f8")
                  .is_plain());
}

}  // namespace
}  // namespace forebay::format
