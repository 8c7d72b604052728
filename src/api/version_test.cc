#include <string>

#include <gmock/gmock.h>

#include "forebay/forebay.h"

namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(Version, IsThatOfTheHeaders) {
  const std::string parts = std::to_string(FOREBAY_VERSION_MAJOR) + "." + std::to_string(FOREBAY_VERSION_MINOR) + "." +
                            std::to_string(FOREBAY_VERSION_PATCH);
  EXPECT_EQ(parts, FOREBAY_VERSION);
  EXPECT_EQ(parts, forebay_version());
}

TEST(BuildInfo, NamesVersionAndOptions) {
  const std::string info = forebay_build_info();
  EXPECT_THAT(info, StartsWith(std::string("forebay ") + forebay_version() + ", "));
  EXPECT_THAT(info, HasSubstr(", fpzip O"));
  EXPECT_THAT(info, HasSubstr(", lz4 O"));
  EXPECT_THAT(info, HasSubstr(", zfp O"));
  EXPECT_THAT(info, HasSubstr(", mpi O"));
  EXPECT_EQ(info.find('\n'), std::string::npos);
}

}  // namespace
