#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "forebay/forebay_lock.h"
#include "forebay/forebay_lock.hpp"
#include "lock/server.h"

namespace {

using namespace forebay;

class LockApi : public testing::Test {
 protected:
  LockApi() {
    char name[] = "/tmp/forebay-lock-api-XXXXXX";
    directory_ = ::mkdtemp(name);
    lock::ServerOptions options;
    options.credentials.secret = fabric::new_secret();
    EXPECT_TRUE(fabric::write_secret(directory_ + "/secret", *options.credentials.secret));
    options.listen = {fabric::parse_address("unix:" + directory_ + "/socket").value()};
    server_ = lock::Server::start(options).value();
    address_ = fabric::to_string(server_->addresses().front());
    ::setenv("FOREBAY_LOCK_SERVERS", address_.c_str(), 1);
    ::setenv("FOREBAY_LOCK_SECRET", (directory_ + "/secret").c_str(), 1);
  }
  ~LockApi() override {
    ::unsetenv("FOREBAY_LOCK_SERVERS");
    ::unsetenv("FOREBAY_LOCK_SECRET");
    std::filesystem::remove_all(directory_);
  }

  std::string directory_, address_;
  std::unique_ptr<lock::Server> server_;
};

TEST_F(LockApi, LocksStridedTerms) {
  forebay_lock_client* client = nullptr;
  ASSERT_EQ(forebay_lock_connect(nullptr, nullptr, &client), FOREBAY_OK) << forebay_message();
  const forebay_lock_level level{100, 20};
  const forebay_lock_term even{0, 10, &level, 1}, odd{10, 10, &level, 1};
  forebay_lock *first = nullptr, *second = nullptr, *third = nullptr;
  ASSERT_EQ(forebay_lock_lock(client, "f", FOREBAY_LOCK_EXCLUSIVE, &even, 1, -1, &first), FOREBAY_OK);
  ASSERT_EQ(forebay_lock_lock(client, "f", FOREBAY_LOCK_EXCLUSIVE, &odd, 1, -1, &second), FOREBAY_OK);
  EXPECT_EQ(forebay_lock_try(client, "f", FOREBAY_LOCK_SHARED, nullptr, 0, &third), FOREBAY_BUSY);
  EXPECT_EQ(forebay_lock_lock(client, "f", FOREBAY_LOCK_SHARED, nullptr, 0, 10, &third), FOREBAY_TIMEOUT);
  EXPECT_EQ(third, nullptr);
  EXPECT_EQ(forebay_lock_keep(first, 100), FOREBAY_OK);
  EXPECT_GT(forebay_lock_valid_ms(first), 1000);
  EXPECT_EQ(forebay_lock_unlock(first), FOREBAY_OK);
  forebay_lock_disconnect(client);
  EXPECT_EQ(forebay_lock_keep(second, 100), FOREBAY_OK) << "outlives its client";
  EXPECT_EQ(forebay_lock_unlock(second), FOREBAY_OK);
  EXPECT_EQ(forebay_lock_unlock(nullptr), FOREBAY_OK);
}

TEST_F(LockApi, TellsErrorsApart) {
  forebay_lock_client* client = nullptr;
  EXPECT_EQ(forebay_lock_connect("nonsense", nullptr, &client), FOREBAY_ARGUMENT);
  EXPECT_NE(std::string(forebay_message()).find("nonsense"), std::string::npos);
  EXPECT_EQ(forebay_lock_connect(nullptr, "/none", &client), FOREBAY_FAILED);
  ASSERT_EQ(forebay_lock_connect(nullptr, nullptr, &client), FOREBAY_OK);
  char no_lock = 0;
  auto* lock = reinterpret_cast<forebay_lock*>(&no_lock);
  EXPECT_EQ(forebay_lock_try(client, "f", 7, nullptr, 0, &lock), FOREBAY_ARGUMENT);
  EXPECT_EQ(lock, nullptr) << "after every error";
  EXPECT_EQ(forebay_lock_try(client, "", FOREBAY_LOCK_SHARED, nullptr, 0, &lock), FOREBAY_ARGUMENT);
  const forebay_lock_term beyond{UINT64_MAX, 1, nullptr, 0};
  EXPECT_EQ(forebay_lock_try(client, "f", FOREBAY_LOCK_SHARED, &beyond, 1, &lock), FOREBAY_ARGUMENT);
  server_.reset();
  EXPECT_EQ(forebay_lock_try(client, "f", FOREBAY_LOCK_SHARED, nullptr, 0, &lock), FOREBAY_LOST);
  EXPECT_EQ(forebay_lock_keep(nullptr, 1), FOREBAY_ARGUMENT);
  EXPECT_EQ(forebay_lock_valid_ms(nullptr), 0);
  const forebay_lock_term nothing{10, 0, nullptr, 0};
  ASSERT_EQ(forebay_lock_lock(client, "f", FOREBAY_LOCK_EXCLUSIVE, &nothing, 1, -1, &lock), FOREBAY_OK)
      << "needs no server";
  EXPECT_GT(forebay_lock_valid_ms(lock), 1'000'000'000);
  EXPECT_EQ(forebay_lock_unlock(lock), FOREBAY_OK);
  forebay_lock_disconnect(client);
  ::unsetenv("FOREBAY_LOCK_SERVERS");
  EXPECT_EQ(forebay_lock_connect(nullptr, nullptr, &client), FOREBAY_ARGUMENT);
  EXPECT_EQ(client, nullptr);
}

TEST_F(LockApi, KeepsLocksWhereTheEnvironmentSaysSo) {
  forebay_lock_client *keeps = nullptr, *other = nullptr;
  forebay_lock* lock = nullptr;
  ASSERT_EQ(forebay_lock_connect(nullptr, nullptr, &other), FOREBAY_OK);
  ::setenv("FOREBAY_LOCK_KEEP", "auto", 1);
  EXPECT_EQ(forebay_lock_connect(nullptr, nullptr, &keeps), FOREBAY_OK);
  ::setenv("FOREBAY_LOCK_KEEP", "some", 1);
  forebay_lock_client* none = nullptr;
  EXPECT_EQ(forebay_lock_connect(nullptr, nullptr, &none), FOREBAY_ARGUMENT);
  ::unsetenv("FOREBAY_LOCK_KEEP");
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(forebay_lock_lock(keeps, "f", FOREBAY_LOCK_EXCLUSIVE, nullptr, 0, 20'000, &lock), FOREBAY_OK);
    EXPECT_EQ(forebay_lock_keep(lock, 100), FOREBAY_OK);
    EXPECT_EQ(forebay_lock_unlock(lock), FOREBAY_OK);
  }
  ASSERT_EQ(forebay_lock_lock(other, "f", FOREBAY_LOCK_EXCLUSIVE, nullptr, 0, 20'000, &lock), FOREBAY_OK);
  EXPECT_EQ(forebay_lock_unlock(lock), FOREBAY_OK);
  forebay_lock_disconnect(keeps);
  forebay_lock_disconnect(other);
}

TEST_F(LockApi, NamesFilesWithoutLinks) {
  std::filesystem::create_symlink(directory_ + "/target", directory_ + "/link");
  std::filesystem::create_directory_symlink(directory_, directory_ + "/there");
  char name[4096];
  ASSERT_EQ(forebay_lock_name((directory_ + "/there/./new").c_str(), name, sizeof name), FOREBAY_OK);
  EXPECT_EQ(name, directory_ + "/new");
  ASSERT_EQ(forebay_lock_name((directory_ + "/link").c_str(), name, sizeof name), FOREBAY_OK);
  EXPECT_EQ(name, directory_ + "/target") << "also before it is there";
  std::filesystem::create_symlink("target", directory_ + "/near");
  std::filesystem::create_symlink("there/near", directory_ + "/far");
  ASSERT_EQ(forebay_lock_name((directory_ + "/far").c_str(), name, sizeof name), FOREBAY_OK);
  EXPECT_EQ(name, directory_ + "/target");
  std::filesystem::create_symlink("circle", directory_ + "/circle");
  EXPECT_EQ(forebay_lock_name((directory_ + "/circle").c_str(), name, sizeof name), FOREBAY_FAILED);
  std::ofstream(directory_ + "/target") << "x";
  ASSERT_EQ(forebay_lock_name((directory_ + "/link").c_str(), name, sizeof name), FOREBAY_OK);
  EXPECT_EQ(name, directory_ + "/target");
  EXPECT_EQ(forebay_lock_name((directory_ + "/link").c_str(), name, 5), FOREBAY_ARGUMENT);
  EXPECT_EQ(forebay_lock_name((directory_ + "/none/new").c_str(), name, sizeof name), FOREBAY_FAILED);
}

TEST_F(LockApi, HasScopesForCpp) {
  const LockClient client;
  {
    FileLock lock(client, "f", FOREBAY_LOCK_EXCLUSIVE);
    ASSERT_TRUE(lock.held());
    EXPECT_FALSE(FileLock::try_lock(client, "f", FOREBAY_LOCK_SHARED).held());
    try {
      const FileLock late(client, "f", FOREBAY_LOCK_SHARED, {}, 1);
      FAIL() << "two have it";
    } catch (const CallError& error) {
      EXPECT_EQ(error.code(), FOREBAY_TIMEOUT);
      EXPECT_STREQ(error.what(), forebay_message());
    }
    EXPECT_NO_THROW(lock.keep(1));
    EXPECT_GT(lock.valid_ms(), 0);
  }
  FileLock lock(client, "f", FOREBAY_LOCK_EXCLUSIVE, {}, 1000), other = std::move(lock);
  EXPECT_FALSE(lock.held());
  EXPECT_THROW(lock.keep(1), CallError);
  EXPECT_NO_THROW(other.unlock());
  EXPECT_FALSE(other.held());
  EXPECT_THROW(LockClient("nonsense"), CallError);
}

}  // namespace
