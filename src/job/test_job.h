// What the tests of this room share.
#pragma once

#include <chrono>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

namespace forebay::job {

// A test with a temporary directory of its own.
class TempTest : public testing::Test {
 protected:
  TempTest() {
    const bool has_memory = ::access("/dev/shm", W_OK) == 0;
    std::string pattern = (has_memory ? std::string("/dev/shm") : testing::TempDir()) + "/forebay-job-XXXXXX";
    if (const char* made = ::mkdtemp(pattern.data())) temp_ = made;
  }
  ~TempTest() override {
    std::error_code ignored;
    if (!temp_.empty()) std::filesystem::remove_all(temp_, ignored);
  }
  std::string path(const std::string& name) const { return temp_ + "/" + name; }

 private:
  std::string temp_;
};

// The value of a result that must have one; the error of one that must not.
template <class T>
T value(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message());
  return std::move(*result);
}

inline void check(const Result<void>& result) {
  if (!result) throw std::runtime_error(result.error().message());
}

template <class T>
Error error(const Result<T>& result) {
  if (result) throw std::runtime_error("succeeded where an error was expected");
  return result.error();
}

// Returns when the clock of the file system, which is a coarse one, shows a later time than before. Writes to `file`.
inline void let_file_time_pass(const std::string& file) {
  const auto time = [&] {
    std::ofstream(file) << 'x';
    struct stat info{};
    if (::stat(file.c_str(), &info) != 0) throw std::runtime_error("cannot stat " + file);
    return std::pair(info.st_ctim.tv_sec, info.st_ctim.tv_nsec);
  };
  for (const auto before = time(); time() == before;) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace forebay::job
