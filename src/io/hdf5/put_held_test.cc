#include "io/hdf5/put_held.h"

#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"
#include "io/hdf5/guarded_file.h"

namespace forebay::hdf5 {
namespace {

std::span<const std::byte> held_text(const std::string& text) { return std::as_bytes(std::span(text)); }

Fd file_of(const std::string& text) {
  Fd fd(::memfd_create("put_held", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  EXPECT_TRUE(write_fully(fd.get(), held_text(text), 0));
  return fd;
}

std::string text_of(const Fd& fd) {
  std::string text(static_cast<size_t>(::lseek(fd.get(), 0, SEEK_END)), '\0');
  EXPECT_TRUE(read_padded(fd.get(), std::as_writable_bytes(std::span(text)), 0));
  return text;
}

TEST(PutHeld, AllOfItIsThere) {
  const Fd fd = file_of("0123456789");
  HeldBytes held;
  held.put(0, held_text("AB"));
  held.put(8, held_text("yz++"));
  const PutHeld done = put_held(fd.get(), held, 10, 14);
  EXPECT_EQ(done.failure, 0);
  EXPECT_EQ(text_of(fd), std::string("AB234567yz++") + std::string(2, '\0'));
}

TEST(PutHeld, AFileThatCannotGrowStaysAsItWas) {
  const Fd fd = file_of("0123456789");
  ASSERT_EQ(::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_GROW), 0);
  HeldBytes held;
  held.put(0, held_text("AB"));
  held.put(8, held_text("yz++"));
  const PutHeld done = put_held(fd.get(), held, 10, 12);
  EXPECT_EQ(done.failure, EPERM);
  EXPECT_FALSE(done.is_damaged);
  EXPECT_EQ(text_of(fd), "0123456789");
}

TEST(PutHeld, AFileThatCannotBeWrittenStaysAsItWasAndThatIsDamageForAllItCanKnow) {
  const Fd writable = file_of("0123456789");
  const std::string name = "/proc/self/fd/" + std::to_string(writable.get());
  const Fd fd(::open(name.c_str(), O_RDONLY | O_CLOEXEC));
  HeldBytes held;
  held.put(3, held_text("AB"));
  const PutHeld done = put_held(fd.get(), held, 10, 10);
  EXPECT_EQ(done.failure, EBADF);
  EXPECT_TRUE(done.is_damaged);
  EXPECT_EQ(text_of(writable), "0123456789");
}

}  // namespace
}  // namespace forebay::hdf5
