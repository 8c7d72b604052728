#include <limits>
#include <set>

#include "store/sealed_text.h"
#include "store/test_store.h"

namespace forebay::store {
namespace {

Manifest example() {
  Manifest manifest;
  manifest.name = "run.0042";
  manifest.application_name = "run+2";
  manifest.step = -3;
  manifest.ordinal = 7;
  manifest.created_ns = 1'700'000'000'123'456'789;
  manifest.software = "forebay 0.1.0";
  manifest.profile = "balanced";
  manifest.scheme = "auto";
  manifest.ranks = 64;
  manifest.group_size = 32;
  manifest.sources = {"0123456789abcdef"};
  manifest.lost_containers = {"g000002.fbc"};
  manifest.repaired_from = "run.0041";
  manifest.damaged_files = 3;
  manifest.stages = {{"gather", 5'000'000'000, 0}, {"encode", 0, 7}, {"none"}};
  manifest.containers = {{"g000000.fbc", 1000, 3000, 32, 0xfedcba9876543210}, {"g000001.fbc", 2000, 4000, 31, 7}};
  return manifest;
}

ErrorKind kind_of(const std::string& body) { return error(parse_manifest(sealed("forebay-manifest", body), "m")).kind; }

TEST(Manifest, ComesBackAsItWas) {
  const std::string text = serialise(example());
  const Manifest back = value(parse_manifest(text, "m"));
  EXPECT_EQ(serialise(back), text);
  EXPECT_EQ(back.step, -3);
  EXPECT_EQ(back.ordinal, 7u);
  EXPECT_EQ(back.application_name, "run+2");
  EXPECT_EQ(back.containers[0].tail_hash, 0xfedcba9876543210);
  EXPECT_EQ(back.lost_containers, std::vector<std::string>{"g000002.fbc"});
  EXPECT_EQ(back.sources, std::vector<std::string>{"0123456789abcdef"});
  EXPECT_EQ(back.repaired_from, "run.0041");
  EXPECT_EQ(back.damaged_files, 3u);
  EXPECT_EQ(back.stages, example().stages);
  EXPECT_EQ(back.bytes(), 3000u);
  EXPECT_EQ(back.raw_bytes(), 7000u);
  EXPECT_EQ(back.files(), 63u);
  Manifest without = example();
  without.step.reset();
  without.ordinal = 0;
  EXPECT_EQ(serialise(without).find("ordinal"), std::string::npos) << "as of earlier versions";
  EXPECT_EQ(value(parse_manifest(serialise(without), "m")).ordinal, 0u);
  without.application_name.clear();
  EXPECT_EQ(value(parse_manifest(serialise(without), "m")).application_name, "");
  without.application_name = "../x";
  EXPECT_EQ(error(parse_manifest(serialise(without), "m")).kind, ErrorKind::corrupt);
  without.application_name.clear();
  EXPECT_EQ(value(parse_manifest(serialise(without), "m")).step, std::nullopt);
}

TEST(Manifest, TellsWhatIsInAContainer) {
  Manifest told = example();
  told.containers[1].ranks = RankRange{32, 63};
  told.containers[1].names = {"dump.{00032-00063}.h5", "notes.txt"};
  const std::string text = serialise(told);
  const Manifest back = value(parse_manifest(text, "m"));
  EXPECT_EQ(back.containers[0].ranks, std::nullopt);
  EXPECT_TRUE(back.containers[0].names.empty());
  EXPECT_EQ(back.containers[1].ranks, (RankRange{32, 63}));
  EXPECT_EQ(back.containers[1].names, told.containers[1].names);
  EXPECT_EQ(serialise(back), text);

  const nlohmann::json good = nlohmann::json::parse(text.substr(text.find('\n')));
  for (const auto& [key, wrong] : {std::pair<const char*, nlohmann::json>{"first_rank", 64},
                                   {"first_rank", "x"},
                                   {"last_rank", uint64_t{1} << 32},
                                   {"last_rank", nullptr},
                                   {"names", "x"},
                                   {"names", {1}}}) {
    nlohmann::json bad = good;
    bad["containers"][1][key] = wrong;
    EXPECT_EQ(kind_of(bad.dump()), ErrorKind::corrupt) << key << " = " << wrong;
  }
  for (const char* half : {"first_rank", "last_rank"}) {
    nlohmann::json bad = good;
    bad["containers"][1].erase(half);
    EXPECT_EQ(kind_of(bad.dump()), ErrorKind::corrupt) << half;
  }
}

TEST(Manifest, EveryFlippedBitIsNoticed) {
  const std::string good = serialise(example());
  for (size_t bit = 0; bit < 8 * good.size(); ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
    ASSERT_EQ(error(parse_manifest(bad, "m")).kind, ErrorKind::corrupt) << "bit " << bit;
  }
}

TEST(Manifest, EveryTruncationAndAdditionIsNoticed) {
  const std::string good = serialise(example());
  for (size_t size = 0; size < good.size(); ++size)
    ASSERT_EQ(error(parse_manifest(good.substr(0, size), "m")).kind, ErrorKind::corrupt) << size;
  EXPECT_EQ(error(parse_manifest(good + "\n", "m")).kind, ErrorKind::corrupt);
  EXPECT_EQ(error(parse_manifest("\n" + good, "m")).kind, ErrorKind::corrupt);
}

TEST(Manifest, NewerVersionIsUnsupportedAndUnknownMembersAreIgnored) {
  nlohmann::json body = nlohmann::json::parse(serialise(example()).substr(serialise(example()).find('\n')));
  body["colour"] = {{"deep", {{"deeper", {{"deepest", {1, 2, {3}}}}}}}};
  EXPECT_EQ(value(parse_manifest(seal("forebay-manifest", body), "m")).ranks, 64u);
  body["version"] = 3;
  const Error newer = error(parse_manifest(seal("forebay-manifest", body), "m"));
  EXPECT_EQ(newer.kind, ErrorKind::unsupported);
  EXPECT_NE(newer.hint, "");
}

TEST(Manifest, EveryMemberIsRequiredAndHasItsType) {
  const std::string text = serialise(example());
  const nlohmann::json good = nlohmann::json::parse(text.substr(text.find('\n')));
  const auto check_broken = [&](const nlohmann::json& bad) {
    const auto result = parse_manifest(seal("forebay-manifest", bad), "m");
    return !result && result.error().kind == ErrorKind::corrupt;
  };
  for (const auto& [key, member] : good.items()) {
    nlohmann::json bad = good;
    bad.erase(key);
    const std::set<std::string> optional = {"application_name", "step",          "sources", "lost_containers",
                                            "repaired_from",    "damaged_files", "stages",  "ordinal"};
    EXPECT_EQ(check_broken(bad), !optional.contains(key)) << key;
    for (const nlohmann::json& wrong : {nlohmann::json(nullptr), nlohmann::json(1.5), nlohmann::json(true),
                                        nlohmann::json::object(), member.is_string() ? nlohmann::json(1) : "text"}) {
      bad[key] = wrong;
      EXPECT_TRUE(check_broken(bad)) << key << " = " << wrong;
    }
  }
  for (const auto& [key, member] : good["containers"][0].items()) {
    nlohmann::json bad = good;
    bad["containers"][0].erase(key);
    EXPECT_TRUE(check_broken(bad)) << key;
    bad["containers"][0][key] = nlohmann::json::array();
    EXPECT_TRUE(check_broken(bad)) << key;
  }
}

TEST(Manifest, StagesThatMakeNoSenseAreRefused) {
  const std::string text = serialise(example());
  const nlohmann::json good = nlohmann::json::parse(text.substr(text.find('\n')));
  for (const auto& [key, wrong] : {std::pair<const char*, nlohmann::json>{"stage", nullptr},
                                   {"stage", "../x"},
                                   {"clock_ns", -1},
                                   {"clock_ns", "x"},
                                   {"cpu_ns", 1.5}}) {
    nlohmann::json bad = good;
    bad["stages"][0][key] = wrong;
    EXPECT_EQ(kind_of(bad.dump()), ErrorKind::corrupt) << key << " = " << wrong;
  }
  const nlohmann::json too_many(65, good["stages"][0]);
  for (const nlohmann::json& wrong : {nlohmann::json(1), nlohmann::json::array({1}), too_many}) {
    nlohmann::json bad = good;
    bad["stages"] = wrong;
    EXPECT_EQ(kind_of(bad.dump()), ErrorKind::corrupt) << wrong;
  }
}

TEST(Manifest, HostileContentIsRefused) {
  EXPECT_EQ(kind_of(""), ErrorKind::corrupt);
  EXPECT_EQ(kind_of("{"), ErrorKind::corrupt);
  EXPECT_EQ(kind_of("[]"), ErrorKind::corrupt);
  EXPECT_EQ(kind_of("{}"), ErrorKind::corrupt);
  EXPECT_EQ(kind_of("{\"version\": -1}"), ErrorKind::corrupt);
  EXPECT_EQ(kind_of("{\"version\": 1}"), ErrorKind::corrupt);
  EXPECT_EQ(kind_of(std::string(1 << 20, '[')), ErrorKind::corrupt);
  EXPECT_EQ(kind_of("{\"version\": 1e999}"), ErrorKind::corrupt);
  for (const char* name : {"", "../x", "a/b", "latest", ".x", "manifest"}) {
    Manifest manifest = example();
    manifest.containers[0].name = name;
    EXPECT_EQ(error(parse_manifest(serialise(manifest), "m")).kind, ErrorKind::corrupt) << name;
    Manifest lost = example();
    lost.lost_containers[0] = name;
    EXPECT_EQ(error(parse_manifest(serialise(lost), "m")).kind, ErrorKind::corrupt) << name;
  }
  Manifest twice = example();
  twice.containers[1].name = twice.containers[0].name;
  EXPECT_EQ(error(parse_manifest(serialise(twice), "m")).kind, ErrorKind::corrupt);
  for (const auto member : {&ContainerEntry::bytes, &ContainerEntry::raw_bytes, &ContainerEntry::files}) {
    Manifest huge = example();
    huge.containers[0].*member = huge.containers[1].*member = std::numeric_limits<int64_t>::max();
    EXPECT_EQ(error(parse_manifest(serialise(huge), "m")).kind, ErrorKind::corrupt);
    huge.containers[0].*member = std::numeric_limits<uint64_t>::max();
    EXPECT_EQ(error(parse_manifest(serialise(huge), "m")).kind, ErrorKind::corrupt);
  }
}

TEST(Manifest, TextThatIsNotUtf8IsStoredReplaced) {
  Manifest manifest = example();
  manifest.profile = "\xff\xfe\n\"";
  EXPECT_TRUE(parse_manifest(serialise(manifest), "m"));
}

TEST(TailHash, CoversTheLast64BytesOrAll) {
  Bytes bytes(10'000, std::byte{5});
  const auto hash_of = [&] { return value(tail_hash(MemorySource(bytes))); };
  const uint64_t before = hash_of();
  bytes[10'000 - 65] ^= std::byte{1};
  EXPECT_EQ(hash_of(), before);
  bytes[10'000 - 64] ^= std::byte{1};
  EXPECT_NE(hash_of(), before);
  EXPECT_EQ(value(tail_hash(MemorySource(as_bytes("abc")))), hash64(as_bytes("abc")));
  EXPECT_EQ(value(tail_hash(MemorySource({}))), hash64({}));
}

}  // namespace
}  // namespace forebay::store
