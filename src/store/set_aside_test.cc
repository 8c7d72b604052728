#include "store/set_aside.h"

#include <gmock/gmock.h>

namespace forebay::store {
namespace {

TEST(SetAside, TheReasonComesBack) {
  const std::string reason = "rank 3: \"piece 7\" was not as it was recorded\n";
  const auto back = parse_set_aside(serialise_set_aside(reason), "note");
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(*back, reason);
}

TEST(SetAside, ADamagedNoteIsAnError) {
  const std::string text = serialise_set_aside("it could not be read");
  for (size_t at = 0; at < text.size(); ++at) {
    std::string damaged = text;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    const auto back = parse_set_aside(damaged, "note");
    EXPECT_FALSE(back) << "byte " << at;
    EXPECT_FALSE(parse_set_aside(std::string_view(text).substr(0, at), "note")) << "cut at " << at;
  }
}

}  // namespace
}  // namespace forebay::store
