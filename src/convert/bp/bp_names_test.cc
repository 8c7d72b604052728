#include "convert/bp/bp_names.h"

#include <gtest/gtest.h>

namespace forebay::convert {
namespace {

TEST(BpNames, NumbersAreOfAGroup) {
  BpNames names;
  const auto a = names.variable("g", "/a", 6), b = names.variable("g", "/b", 6), other = names.variable("h", "/a", 2);
  ASSERT_TRUE(a && b && other);
  EXPECT_EQ(names.head(*a).id, 1u);
  EXPECT_EQ(names.head(*b).id, 2u);
  EXPECT_EQ(names.attribute("g", "/a/unit", 9).id, 3u) << "attributes are counted with variables";
  EXPECT_EQ(names.head(*other).id, 1u);
  EXPECT_EQ(*names.variable("g", "/a", 6), *a);
  EXPECT_EQ(names.find("g", "a"), 1u) << "with or without a slash";
  EXPECT_FALSE(names.find("h", "/b"));
}

TEST(BpNames, WhatCannotBeIsRefused) {
  BpNames names;
  ASSERT_TRUE(names.variable("g", "/b", 6));
  EXPECT_EQ(names.variable("g", "/b", 5).error().kind, ErrorKind::unsupported) << "another type";
  EXPECT_EQ(names.variable("g", "//b", 6).error().kind, ErrorKind::unsupported) << "split, it is /b as well";
  EXPECT_TRUE(names.variable("g", "b", 6)) << "this one is not";
  EXPECT_EQ(names.variable("g", std::string(40000, 'x'), 6).error().kind, ErrorKind::limit);
  EXPECT_EQ(names.variable(std::string(40000, 'x'), "/b", 6).error().kind, ErrorKind::limit);
}

}  // namespace
}  // namespace forebay::convert
