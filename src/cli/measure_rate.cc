#include "cli/measure_rate.h"

#include <chrono>
#include <cstdint>
#include <random>
#include <vector>

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/fd.h"

namespace forebay::cli {
namespace {

constexpr size_t kPiece = 8 << 20;
constexpr uint64_t kMostBytes = 256 << 20;
constexpr std::chrono::seconds kMostTime{2};
constexpr uint64_t kRoomPerByte = 4;  // what must be free for each byte that is written

std::vector<uint64_t> random_piece() {
  std::mt19937_64 random;  // any bytes will do
  std::vector<uint64_t> piece(kPiece / sizeof(uint64_t));
  for (uint64_t& word : piece) word = random();
  return piece;
}

bool has_room(const std::string& directory) {
  struct statvfs room{};
  return ::statvfs(directory.c_str(), &room) == 0 &&
         uint64_t{room.f_bavail} * room.f_frsize / kRoomPerByte > kMostBytes;
}

}  // namespace

std::optional<double> measure_rate(const std::string& directory) {
  if (!has_room(directory)) return std::nullopt;
  const Fd file(::open(directory.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
  if (!file) return std::nullopt;
  const std::vector<uint64_t> piece = random_piece();
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] { return std::chrono::steady_clock::now() - start; };
  uint64_t bytes = 0;
  while (bytes < kMostBytes && elapsed() < kMostTime) {
    const ssize_t written = ::write(file.get(), piece.data(), kPiece);
    if (written <= 0) return std::nullopt;
    bytes += static_cast<uint64_t>(written);
  }
  if (::fdatasync(file.get()) != 0) return std::nullopt;
  return static_cast<double>(bytes) / std::chrono::duration<double>(elapsed()).count();
}

}  // namespace forebay::cli
