#include "job/rendezvous/rendezvous.h"

#include <filesystem>
#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "fabric/hub.h"
#include "job/test_job.h"
#include "job/wire/messages.h"

namespace forebay::job {
namespace {

namespace fs = std::filesystem;

Place place(uint64_t pid = 1) {
  return {.addresses = "tcp:127.0.0.1:" + std::to_string(1000 + pid), .host = "n1", .node = "boot 1", .pid = pid};
}

class RendezvousTest : public TempTest {
 protected:
  Rendezvous open() const { return value(Rendezvous::open(path("r"))); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path("r/" + name), std::ios::binary) << text;
  }
};

TEST_F(RendezvousTest, IsItsOwnersAlone) {
  open();
  struct stat info{};
  ASSERT_EQ(::stat(path("r").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
  ASSERT_EQ(::chmod(path("r").c_str(), 0750), 0);
  EXPECT_EQ(error(Rendezvous::open(path("r"))).kind, ErrorKind::permission);
  EXPECT_EQ(error(Rendezvous::open_existing(path("r"))).kind, ErrorKind::permission);
}

TEST_F(RendezvousTest, RefusesWhatIsNoDirectoryOfItsOwn) {
  open();
  fs::create_directory_symlink(path("r"), path("link"));
  EXPECT_FALSE(Rendezvous::open(path("link")));
  std::ofstream(path("file")) << "x";
  EXPECT_FALSE(Rendezvous::open(path("file")));
  EXPECT_FALSE(Rendezvous::open(path("no/parent")));
  EXPECT_EQ(error(Rendezvous::open_existing(path("none"))).kind, ErrorKind::not_found);
}

TEST_F(RendezvousTest, NotesThatTheJobEncrypts) {
  EXPECT_FALSE(open().encrypts());
  EXPECT_FALSE(value(open().credentials(false)).encrypt);
  const Rendezvous first = value(Rendezvous::open(path("r"), true));
  EXPECT_TRUE(first.encrypts());
  EXPECT_TRUE(open().encrypts()) << "who comes later follows";
  const auto credentials = value(value(Rendezvous::open_existing(path("r"))).credentials(false));
  EXPECT_TRUE(credentials.encrypt);
  EXPECT_EQ(credentials.secret, first.secret());
  first.remove();
  EXPECT_FALSE(fs::exists(path("r")));
}

TEST_F(RendezvousTest, OfTwoThatDifferOneAtLeastSeesTheOther) {
  const Rendezvous plain = open();
  const Rendezvous encrypting = value(Rendezvous::open(path("r"), true));
  EXPECT_THAT(error(plain.join(place(7))).message(), testing::HasSubstr("the job encrypts by now"));
  EXPECT_TRUE(value(encrypting.aggregators()).empty()) << "the file of a process that could not join";
  ASSERT_TRUE(encrypting.join(place(8)));
  EXPECT_TRUE(value(encrypting.aggregators()).front().encrypts);
  EXPECT_TRUE(Rendezvous::open(path("r"), true));
  fs::remove(path("r/encrypted"));
  EXPECT_THAT(error(encrypting.check_encryption(true)).message(), testing::HasSubstr("no longer noted"));
  EXPECT_TRUE(Rendezvous::open(path("r"), true)) << "the other encrypts";
}

TEST_F(RendezvousTest, KnowsWhatAKillLeft) {
  for (const std::string_view name : {"encrypted", ".encrypted.0123", ".run.4567", "secret", ".new-89"})
    EXPECT_TRUE(Rendezvous::is_name(name)) << name;
  for (const std::string_view name : {"encryptedly", "runs", ".x"}) EXPECT_FALSE(Rendezvous::is_name(name)) << name;
}

TEST_F(RendezvousTest, EncryptsWithItsSecretOrNotAtAll) {
  EXPECT_TRUE(value(open().credentials(true)).munge);
  EXPECT_TRUE(open().credentials(false, true));
  const Rendezvous encrypting = value(Rendezvous::open(path("r"), true));
  EXPECT_THAT(error(encrypting.credentials(true)).message(), testing::HasSubstr("which --munge does without"));
  EXPECT_THAT(error(encrypting.credentials(false, true)).message(), testing::HasSubstr("--fabric ucx"));
}

TEST_F(RendezvousTest, DoesNotEncryptWhereOthersHaveJoinedThatDoNot) {
  ASSERT_TRUE(open().join(place(7)));
  const Error refused = error(Rendezvous::open(path("r"), true));
  EXPECT_EQ(refused.kind, ErrorKind::invalid_argument);
  EXPECT_THAT(refused.message(), testing::HasSubstr("process 7 on n1 has joined the job and does not"));
  open().leave(place(7));
  const Rendezvous first = value(Rendezvous::open(path("r"), true));
  ASSERT_TRUE(first.join(place(8)));
  EXPECT_TRUE(Rendezvous::open(path("r"), true));
}

TEST_F(RendezvousTest, EverybodyGetsOneSecret) {
  constexpr size_t kMany = 16;
  std::vector<fabric::Secret> secrets(kMany);
  {
    std::vector<std::jthread> threads;
    for (fabric::Secret& secret : secrets) threads.emplace_back([&, this] { secret = open().secret(); });
  }
  EXPECT_THAT(secrets, testing::Each(secrets.front()));
  EXPECT_EQ(value(Rendezvous::open_existing(path("r"))).secret(), secrets.front());
  EXPECT_EQ(std::distance(fs::directory_iterator(path("r")), {}), 1) << "temporary files are left";
}

TEST_F(RendezvousTest, ADamagedSecretIsSaid) {
  open();
  std::ofstream(path("r/secret"), std::ios::trunc) << "abc";
  const Error damaged = error(Rendezvous::open(path("r")));
  EXPECT_EQ(damaged.kind, ErrorKind::corrupt);
  EXPECT_EQ(damaged.path, path("r/secret"));
}

TEST_F(RendezvousTest, AGenerationIsTakenOnce) {
  const Rendezvous rendezvous = open();
  EXPECT_FALSE(value(rendezvous.coordinator()));
  constexpr uint64_t kMany = 16;
  std::vector<uint64_t> winners(kMany);
  {
    std::vector<std::jthread> threads;
    for (uint64_t i = 0; i < kMany; ++i)
      threads.emplace_back([&, i] { winners[i] = value(rendezvous.take(1, place(i))) ? 1 : 0; });
  }
  EXPECT_EQ(std::ranges::count(winners, 1u), 1);
  const auto found = value(rendezvous.coordinator());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->generation, 1u);
  EXPECT_EQ(winners[value(found->place).pid], 1u);
}

TEST_F(RendezvousTest, TheHighestGenerationCounts) {
  const Rendezvous rendezvous = open();
  for (const uint64_t generation : {9, 10, 11}) EXPECT_TRUE(value(rendezvous.take(generation, place(generation))));
  EXPECT_EQ(value(rendezvous.coordinator())->generation, 11u);
  EXPECT_EQ(value(value(rendezvous.coordinator())->place), place(11));
  EXPECT_FALSE(fs::exists(path("r/coordinator.10")));
}

TEST_F(RendezvousTest, DamagedFilesCountButCannotBeRead) {
  const Rendezvous rendezvous = open();
  EXPECT_TRUE(value(rendezvous.take(3, place())));
  write("coordinator.5", "");
  for (const char* name : {"coordinator.", "coordinator.07", "coordinator.x", "coordinator.-8", "coordinator.9 ",
                           "coordinator.99999999999999999999", "coordinator.9999999999999999"})
    write(name, seal_place(place()));
  const auto found = value(rendezvous.coordinator());
  EXPECT_EQ(found->generation, 5u);
  EXPECT_EQ(error(found->place).kind, ErrorKind::corrupt);
  EXPECT_EQ(error(reach_coordinator(rendezvous, {}, std::chrono::milliseconds(100))).kind, ErrorKind::corrupt);
  EXPECT_FALSE(rendezvous.take(uint64_t{1} << 60, place()));
}

TEST_F(RendezvousTest, EveryFlippedBitOfAPlaceIsNoticed) {
  const std::string good = seal_place(place());
  EXPECT_EQ(value(parse_place(good, "p")), place());
  for (size_t bit = 0; bit < 8 * good.size(); ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
    ASSERT_EQ(error(parse_place(bad, "p")).kind, ErrorKind::corrupt) << bit;
  }
}

TEST_F(RendezvousTest, AggregatorsJoinAndLeave) {
  const Rendezvous rendezvous = open();
  for (const uint64_t pid : {1, 2, 2, 3}) check(rendezvous.join(place(pid)));
  rendezvous.leave(place(3));
  write("aggregator.damaged", "x");
  EXPECT_THAT(value(rendezvous.aggregators()), testing::UnorderedElementsAre(place(1), place(2)));
}

TEST_F(RendezvousTest, RemovesWhatIsItsOwnOnly) {
  const Rendezvous rendezvous = open();
  EXPECT_TRUE(value(rendezvous.take(1, place())));
  check(rendezvous.join(place()));
  write("notes", "of a user");
  rendezvous.remove();
  EXPECT_EQ(std::distance(fs::directory_iterator(path("r")), {}), 1);
  fs::remove(path("r/notes"));
  rendezvous.remove();
  EXPECT_FALSE(fs::exists(path("r")));
}

TEST_F(RendezvousTest, ACoordinatorThatIsGoneIsNotReached) {
  const Rendezvous rendezvous = open();
  EXPECT_EQ(error(reach_coordinator(rendezvous, {}, std::chrono::milliseconds(100))).kind, ErrorKind::not_found);
  EXPECT_TRUE(value(rendezvous.take(1, {.addresses = "unix:" + path("gone"), .host = "h", .node = "n", .pid = 1})));
  EXPECT_FALSE(reach_coordinator(rendezvous, {}, std::chrono::milliseconds(100)));
}

}  // namespace
}  // namespace forebay::job
