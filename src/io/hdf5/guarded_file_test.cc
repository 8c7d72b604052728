#include "io/hdf5/guarded_file.h"

#include <cerrno>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include "base/fd.h"

namespace forebay::hdf5 {
namespace {

constexpr hsize_t kElements = 100'000;

Fd memory_file() { return Fd(::memfd_create("guarded", MFD_CLOEXEC | MFD_ALLOW_SEALING)); }

// A dataset `name` with `value` in each element; what the library says of it.
bool add_dataset(hid_t file, const char* name, int value) {
  const Id space(H5Screate_simple(1, &kElements, nullptr));
  const Id dataset(H5Dcreate2(file, name, H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  const std::vector<int> values(kElements, value);
  return dataset && H5Dwrite(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) >= 0;
}

bool has_dataset(hid_t file, const char* name, int value) {
  const Id dataset(H5Dopen2(file, name, H5P_DEFAULT));
  std::vector<int> values(kElements);
  return dataset && H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) >= 0 &&
         values == std::vector<int>(kElements, value);
}

uint64_t bytes_in(const Fd& fd) { return static_cast<uint64_t>(::lseek(fd.get(), 0, SEEK_END)); }

class AnyHdf5File : public testing::Test {
 protected:
  const Quiet quiet_;
  const Fd fd_ = memory_file();

  hid_t make(const GuardedFile& guarded) { return H5Fcreate("any name", H5F_ACC_TRUNC, H5P_DEFAULT, guarded.access()); }
  hid_t open(const GuardedFile& guarded, unsigned mode = H5F_ACC_RDONLY) {
    return H5Fopen("any name", mode, guarded.access());
  }
};

TEST_F(AnyHdf5File, IsWrittenAndReadAsEver) {
  {
    const GuardedFile guarded(fd_.get(), Writes::at_once);
    const hid_t file = make(guarded);
    EXPECT_TRUE(add_dataset(file, "a", 1));
    EXPECT_FALSE(guarded.is_closed());
    EXPECT_GE(H5Fclose(file), 0);
    EXPECT_TRUE(guarded.is_closed());
    EXPECT_EQ(guarded.failure(), 0);
    EXPECT_EQ(guarded.size(), bytes_in(fd_));
  }
  const GuardedFile again(fd_.get(), Writes::at_once);
  const Id file(open(again));
  EXPECT_TRUE(has_dataset(file, "a", 1));
}

TEST_F(AnyHdf5File, KeepsTheFirstErrorAndCanBeClosed) {
  const GuardedFile guarded(fd_.get(), Writes::at_once);
  const hid_t file = make(guarded);
  EXPECT_TRUE(add_dataset(file, "a", 1));
  ASSERT_EQ(::fcntl(fd_.get(), F_ADD_SEALS, F_SEAL_GROW), 0);  // as a full disk
  EXPECT_TRUE(add_dataset(file, "b", 2));                      // for all that the library knows
  EXPECT_EQ(guarded.failure(), EPERM);
  EXPECT_TRUE(has_dataset(file, "b", 2));
  EXPECT_GE(H5Fclose(file), 0);
  EXPECT_TRUE(guarded.is_closed());
}

TEST_F(AnyHdf5File, StaysAsItIsWhereWritesAreHeld) {
  {
    const GuardedFile guarded(fd_.get(), Writes::at_once);
    const hid_t file = make(guarded);
    add_dataset(file, "a", 1);
    H5Fclose(file);
  }
  const uint64_t before = bytes_in(fd_);
  ASSERT_EQ(::fcntl(fd_.get(), F_ADD_SEALS, F_SEAL_WRITE), 0);
  const GuardedFile guarded(fd_.get(), Writes::held);
  const hid_t file = open(guarded, H5F_ACC_RDWR);
  EXPECT_TRUE(add_dataset(file, "b", 2));
  EXPECT_TRUE(has_dataset(file, "a", 1));
  EXPECT_TRUE(has_dataset(file, "b", 2));
  EXPECT_GE(H5Fclose(file), 0);
  EXPECT_EQ(guarded.failure(), 0);
  EXPECT_EQ(bytes_in(fd_), before);
  EXPECT_GE(guarded.size(), before + kElements * sizeof(int));
  EXPECT_FALSE(guarded.held().pieces().empty());
}

TEST_F(AnyHdf5File, ThatTheLibraryClosesTooLateHarmsNobody) {
  hid_t file = -1;
  {
    const GuardedFile guarded(fd_.get(), Writes::at_once);
    file = make(guarded);
    add_dataset(file, "a", 1);
  }
  const uint64_t before = bytes_in(fd_);
  EXPECT_GE(H5Fclose(file), 0);
  EXPECT_EQ(bytes_in(fd_), before);
}

}  // namespace
}  // namespace forebay::hdf5
