#include <array>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "io/group/attribute_value.h"
#include "io/group/definition.h"
#include "io/group/name_index.h"
#include "io/group/value_type.h"

namespace forebay::io {
namespace {

TEST(Names, PathAndNameMakeAFullName) {
  const std::map<std::pair<std::string, std::string>, std::string> names = {
      {{"", "T"}, "T"}, {{"/", "T"}, "/T"}, {{"dir", "O"}, "dir/O"}, {{"/p/", "s"}, "/p/s"}, {{"a/b", "c"}, "a/b/c"}};
  for (const auto& [parts, full] : names) {
    EXPECT_EQ((VariableDefinition{.name = parts.second, .path = parts.first}.full_name()), full);
    EXPECT_EQ((AttributeDefinition{.name = parts.second, .path = parts.first}.full_name()), full);
  }
}

TEST(Names, AreFoundExactlyAndTheFirstOfSeveral) {
  GroupDefinition group{.name = "fields"};
  group.variables.push_back({.name = "T", .path = "/p"});
  group.variables.push_back({.name = "x"});
  group.variables.push_back({.name = "x", .type = ValueType::float64});
  const NameIndex names(group);
  EXPECT_EQ(names.variable("/p/T").value(), 0u);
  EXPECT_EQ(names.variable("x").value(), 1u);

  for (const char* wrong : {"T", "p/T", "/P/T"}) {
    const auto missing = names.variable(wrong);
    ASSERT_FALSE(missing) << wrong;
    EXPECT_EQ(missing.error().code, Code::invalid_name);
    EXPECT_NE(missing.error().error.message().find("/p/T"), std::string::npos) << missing.error().error.message();
  }
  NameIndex growing;
  EXPECT_FALSE(growing.variable("x"));
  growing.update(group);
  EXPECT_EQ(growing.variable("x").value(), 1u);
  group.variables.push_back({.name = "y"});
  growing.update(group);
  EXPECT_EQ(growing.variable("y").value(), 3u);
}

TEST(ValueTypes, AllNamesOfTheXmlAreKnownInAnyCase) {
  const std::map<std::string, ValueType> names = {{"byte", ValueType::int8},
                                                  {"CHAR", ValueType::int8},
                                                  {"unsigned char", ValueType::uint8},
                                                  {"integer*2", ValueType::int16},
                                                  {"Unsigned Integer*2", ValueType::uint16},
                                                  {"int", ValueType::int32},
                                                  {"integer*4", ValueType::int32},
                                                  {"unsigned int", ValueType::uint32},
                                                  {"long", ValueType::int64},
                                                  {"long long", ValueType::int64},
                                                  {"unsigned integer*8", ValueType::uint64},
                                                  {"real*4", ValueType::float32},
                                                  {"long float", ValueType::float64},
                                                  {"real*16", ValueType::long_double},
                                                  {"string", ValueType::string},
                                                  {"complex", ValueType::complex64},
                                                  {"double complex", ValueType::complex128},
                                                  {"complex*16", ValueType::complex128}};
  for (const auto& [name, type] : names) EXPECT_EQ(parse_value_type(name), type) << name;
  for (const char* name : {"", "unsigned", "unsigned double", "unsigned string", "integer*3", "i4"})
    EXPECT_EQ(parse_value_type(name), std::nullopt) << name;
  for (const std::string& name : value_type_names()) EXPECT_TRUE(parse_value_type(name)) << name;
}

TEST(ValueTypes, NumbersSizesAndKinds) {
  for (const int number : {0, 1, 2, 4, 5, 6, 7, 9, 10, 11, 12, 50, 51, 52, 54}) {
    const auto type = value_type(number);
    ASSERT_TRUE(type) << number;
    EXPECT_EQ(static_cast<int>(*type), number);
    EXPECT_TRUE(data_type(*type).is_valid()) << number;
    EXPECT_EQ(is_integer(*type), number < 5 || number >= 50) << number;
  }
  for (const int number : {-1, 3, 8, 13, 53, 55}) EXPECT_EQ(value_type(number), std::nullopt) << number;
  EXPECT_EQ(element_bytes(ValueType::uint64), 8u);
  EXPECT_EQ(element_bytes(ValueType::long_double), 16u);
  EXPECT_EQ(data_type(ValueType::float32).name(), "f4");
  EXPECT_EQ(data_type(ValueType::complex128).name(), "x16");
  EXPECT_EQ(to_string(ValueType::uint64), "unsigned long long");
}

template <class T>
T loaded(const Bytes& bytes) {
  T value{};
  EXPECT_EQ(bytes.size(), sizeof value);
  if (bytes.size() == sizeof value) std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

TEST(AttributeValues, TextBecomesAValueOfItsType) {
  EXPECT_EQ(loaded<int8_t>(parse_value(ValueType::int8, "-128").value()), -128);
  EXPECT_EQ(loaded<uint64_t>(parse_value(ValueType::uint64, "18446744073709551615").value()), UINT64_MAX);
  EXPECT_EQ(loaded<double>(parse_value(ValueType::float64, " 1.5e3 ").value()), 1500.0);
  EXPECT_EQ(loaded<float>(parse_value(ValueType::float32, "+0.25").value()), 0.25F);
  EXPECT_EQ(loaded<long double>(parse_value(ValueType::long_double, "0.5").value()), 0.5L);
  using Two = std::array<float, 2>;
  EXPECT_EQ(loaded<Two>(parse_value(ValueType::complex64, "(1, -2)").value()), (Two{1, -2}));
  EXPECT_EQ(as_text(parse_value(ValueType::string, " as it is ").value()), " as it is ");
}

TEST(AttributeValues, WhatIsNoValueIsRefused) {
  using Case = std::pair<ValueType, const char*>;
  for (const auto& [type, text] :
       {Case{ValueType::int8, "128"}, Case{ValueType::uint8, "-1"}, Case{ValueType::int32, "5x"},
        Case{ValueType::int32, ""}, Case{ValueType::int32, "+-3"}, Case{ValueType::int32, "1.5"},
        Case{ValueType::float64, "1e999"}, Case{ValueType::complex64, "1,2,3"}}) {
    const auto value = parse_value(type, text);
    ASSERT_FALSE(value) << text;
    EXPECT_EQ(value.error().code, Code::invalid_attribute_value) << text;
  }
  EXPECT_EQ(parse_value(ValueType::string_array, "a").error().code, Code::invalid_attribute_type);
}

TEST(AttributeValues, ReferToVariablesOfTheGroup) {
  GroupDefinition group{.name = "g"};
  group.variables.push_back({.name = "size", .path = "/p", .type = ValueType::uint16});
  const auto attribute = make_attribute(group, "a", "", ValueType::string, "", "/p/size");
  ASSERT_TRUE(attribute);
  EXPECT_EQ(attribute->variable, "/p/size");
  EXPECT_EQ(attribute->type, ValueType::uint16);
  EXPECT_EQ(make_attribute(group, "a", "", ValueType::string, "", "size").error().code,
            Code::invalid_attribute_reference);
  EXPECT_EQ(make_attribute(group, "a", "", ValueType::string, "v", "/p/size").error().code,
            Code::invalid_attribute_value);
  EXPECT_EQ(make_attribute(group, "a", "", ValueType::int32, "", "").error().code, Code::invalid_attribute_value);
  EXPECT_TRUE(make_attribute(group, "a", "", ValueType::string, "", ""));
}

TEST(AttributeValues, ValuesInMemoryAreCopied) {
  const char* texts[] = {"one", "", "three"};
  const auto array = make_attribute("a", "", ValueType::string_array, 3, texts);
  ASSERT_TRUE(array);
  EXPECT_EQ(array->count, 3u);
  EXPECT_EQ(as_text(array->value), std::string_view("one\0\0three\0", 11));
  EXPECT_EQ(as_text(make_attribute("a", "", ValueType::string, 7, "text")->value), "text");
  const int32_t numbers[] = {4, 5};
  const auto two = make_attribute("a", "", ValueType::int32, 2, numbers);
  EXPECT_EQ(two->value.size(), 8u);
  EXPECT_EQ(integer_value(*two), std::nullopt);
  EXPECT_EQ(integer_value(*make_attribute("a", "", ValueType::int32, 1, numbers)), 4);
  EXPECT_FALSE(make_attribute("a", "", ValueType::int32, 0, numbers));
  EXPECT_FALSE(make_attribute("a", "", ValueType::int32, 1, nullptr));
}

}  // namespace
}  // namespace forebay::io
