#include "job/coordinator/offered_part.h"

#include <gmock/gmock.h>

#include "job/coordinator/test_coordinator.h"

namespace forebay::job {
namespace {

using testing::ElementsAre;

wire::OfferT offer_of_names(std::vector<std::string> names) {
  wire::OfferT offer;
  offer.set = "s";
  for (size_t i = 0; i < names.size(); ++i) offer.files.push_back(offered_file(names[i], -1));
  return offer;
}

TEST(MakePart, TheHashIsOfWhatTheFilesAre) {
  const auto hash = [](auto change) {
    wire::OfferT offer = offer_of_names({"b", "a"});
    change(offer);
    return value(make_part(offer)).hash;
  };
  const uint64_t same = hash([](auto&) {});
  EXPECT_EQ(hash([](auto& o) { std::swap(o.files[0], o.files[1]); }), same);
  EXPECT_EQ(hash([](auto& o) { o.exposure = 8; }), same);
  EXPECT_EQ(hash([](auto& o) { o.files[0]->mode = 0600; }), same);
  EXPECT_NE(hash([](auto& o) { o.files[0]->size = 1; }), same);
  EXPECT_NE(hash([](auto& o) { o.files[0]->mtime_ns = 1; }), same);
  EXPECT_NE(hash([](auto& o) { o.files[0]->mtime_s = 1; }), same);
  EXPECT_NE(hash([](auto& o) { o.files[0]->name = "c"; }), same);
  EXPECT_NE(hash([](auto& o) { o.files.pop_back(); }), same);
}

// A file that was rewritten and has its old time.
TEST(MakePart, TheTimeOfTheInodeTellsWhatTheHashCannot) {
  wire::OfferT offer = offer_of_names({"b", "a"}), again = offer_of_names({"a", "b"}),
               touched = offer_of_names({"b", "a"});
  offer.files[0]->ctime_ns = again.files[1]->ctime_ns = 7;
  touched.files[0]->ctime_ns = 8;
  const Part part = value(make_part(offer)), other = value(make_part(touched));
  EXPECT_TRUE(is_same(part, value(make_part(again))));
  EXPECT_FALSE(is_same(part, other));
  EXPECT_EQ(part.hash, other.hash);
}

TEST(MakePart, RefusesWhatCannotBe) {
  wire::OfferT twice = offer_of_names({"a", "b", "a"});
  EXPECT_EQ(error(make_part(twice)).path, "a");
  wire::OfferT rank = offer_of("s", {4}, 4, 1);
  EXPECT_EQ(error(make_part(rank)).kind, ErrorKind::invalid_argument);
  wire::OfferT complete = offer_of("s", {1}, 4, 1);
  complete.complete = {4};
  EXPECT_EQ(error(make_part(complete)).kind, ErrorKind::invalid_argument);
  wire::OfferT many = offer_of("s", {1}, 0xffffffff, 1);
  EXPECT_EQ(error(make_part(many)).kind, ErrorKind::invalid_argument);
}

TEST(MakePart, RanksWithoutFilesCountToo) {
  wire::OfferT offer = offer_of("s", {5, 1}, 8, 1);
  offer.complete = {5, 2};
  EXPECT_THAT(value(make_part(offer)).covered, ElementsAre(1, 2, 5));
}

Part part_of_three() {
  wire::OfferT offer = offer_of_names({"x", "y", "z"});
  return value(make_part(offer));
}

TEST(SpentParts, AreDestroyedALittleAtATime) {
  SpentParts spent;
  spent.add({});
  EXPECT_TRUE(spent.empty());
  for (int set = 0; set < 2; ++set) {
    Parts parts;
    for (const std::string agent : {"a", "b", "c"}) parts.emplace(agent, part_of_three());
    spent.add(std::move(parts));
  }
  int steps = 0;
  for (; !spent.empty(); ++steps) spent.destroy(2);
  EXPECT_GE(steps, 9);
  EXPECT_LE(steps, 20);
}

}  // namespace
}  // namespace forebay::job
