#include "cli/json_stream.h"

#include <gtest/gtest.h>

namespace forebay::cli {
namespace {

TEST(JsonStream, IsWhatTheWholeDocumentWouldBe) {
  const Json small = {{"name", "a\nb\"c"}, {"shape", {4, 4}}, {"nothing", nullptr}, {"none", Json::array()}};
  Json whole = {{"store", "s"}, {"empty", Json::array()}, {"files", Json::array()}};
  testing::internal::CaptureStdout();
  JsonStream stream;
  stream.member("store", "s");
  stream.begin_list("empty");
  stream.end();
  stream.begin_list("files");
  for (int i = 0; i < 3; ++i) {
    Json file = {{"number", i}, {"variables", Json::array()}, {"after", small}};
    stream.begin_object();
    stream.member("number", i);
    stream.begin_list("variables");
    for (int v = 0; v < i; ++v) {
      file["variables"].push_back(small);
      stream.element(small);
    }
    stream.end();
    stream.member("after", small);
    stream.end();
    whole["files"].push_back(file);
  }
  stream.begin_object();
  stream.end();
  whole["files"].push_back(Json::object());
  stream.end();
  stream.finish();
  EXPECT_EQ(testing::internal::GetCapturedStdout(), whole.dump(2) + "\n");
}

}  // namespace
}  // namespace forebay::cli
