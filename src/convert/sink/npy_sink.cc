#include "convert/sink/npy_sink.h"

#include <algorithm>
#include <set>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/lru.h"
#include "convert/target/array_file.h"
#include "format/npy.h"
#include "store/files.h"

namespace forebay::convert {
namespace {

constexpr size_t kMostOpenNpy = 64;

// Files that are open, at most so many at a time: the one that was used longest ago is closed.
class OpenFiles {
 public:
  Result<int> get(const std::string& path) {
    if (const Open* const known = open_.find(path)) return known->fd.get();
    if (open_.size() >= kMostOpenNpy) FOREBAY_CHECK(close_oldest());
    FOREBAY_TRY(Fd fd, store::open_at(AT_FDCWD, path, O_RDWR | O_CREAT | O_NOFOLLOW, path, 0666));
    return open_.add(path, {path, std::move(fd)}).fd.get();
  }

  Result<void> close_all() {
    while (!open_.empty()) FOREBAY_CHECK(close_oldest());
    return {};
  }

 private:
  struct Open {
    std::string path;
    Fd fd;
  };

  Result<void> close_oldest() {
    const std::optional<Open> oldest = open_.take_oldest();
    return store::sync_file(oldest->fd.get(), oldest->path);
  }

  Lru<std::string, Open> open_;
};

// One array in the file that the target is, or each in a file of its own below the directory that the target is.
class NpySink final : public Sink {
 public:
  NpySink(NewTarget target, bool is_file) : target_(std::move(target)), is_file_(is_file) {}

  Result<void> begin(const Plan& plan) override {
    plan_ = &plan;
    if (is_file_) FOREBAY_CHECK(check_single(plan));
    for (size_t i = 0; i < plan.datasets.size(); ++i) {
      const Dataset& dataset = plan.datasets[i];
      if (!is_kept(i)) continue;
      const std::string head = format::npy_header(view::npy_descr(dataset.type), dataset.shape);
      FOREBAY_TRY(const int fd, file_of(i));
      FOREBAY_CHECK(reserve(fd, 0, head.size() + dataset.bytes(), target_.path()));
      FOREBAY_CHECK(store::write_all(fd, 0, as_bytes(head), target_.path()));
      if (!dataset.values.empty()) FOREBAY_CHECK(store::write_all(fd, head.size(), dataset.values, target_.path()));
    }
    return {};
  }

  Result<void> write(const Piece& piece) override {
    const Dataset& dataset = plan_->datasets[piece.dataset];
    FOREBAY_TRY(const int fd, file_of(piece.dataset));
    FOREBAY_CHECK(write_box(fd, format::npy_header(view::npy_descr(dataset.type), dataset.shape).size(), dataset, piece,
                            target_.path()));
    if (is_file_) target_.begin_sync();
    return {};
  }

  Result<void> commit(bool overwrite) override {
    if (!is_file_) {
      FOREBAY_CHECK(files_.close_all());
      for (const std::string& directory : directories_) FOREBAY_CHECK(store::sync_directory(directory));
    }
    return target_.commit(overwrite);
  }

 private:
  // The times of steps have no place beside the one array.
  bool is_kept(size_t dataset) const { return !is_file_ || !plan_->datasets[dataset].sources.empty(); }

  Result<void> check_single(const Plan& plan) const {
    const auto arrays =
        std::ranges::count_if(plan.datasets, [](const Dataset& dataset) { return !dataset.sources.empty(); });
    if (arrays == 1) return {};
    return fail(ErrorKind::invalid_argument,
                fmt::format("one file is given, and there are {} arrays to convert", arrays), target_.path(), {},
                "name one array, or give a directory: --format npy --to DIR");
  }

  Result<int> file_of(size_t dataset) {
    if (is_file_) return target_.fd();
    const std::string path = target_.temporary() + "/" + plan_->datasets[dataset].path + ".npy";
    FOREBAY_CHECK(make_parents(target_, path, directories_));
    return files_.get(path);
  }

  NewTarget target_;
  const bool is_file_;
  const Plan* plan_ = nullptr;
  OpenFiles files_;
  std::set<std::string> directories_;
};

}  // namespace

Result<std::unique_ptr<Sink>> make_npy_sink(const SinkOptions& options) {
  const bool is_file = options.target.ends_with(".npy");
  auto target = is_file ? NewTarget::file(options.target, options.overwrite)
                        : NewTarget::directory(options.target, options.overwrite);
  if (!target) return std::unexpected(std::move(target).error());
  return std::make_unique<NpySink>(*std::move(target), is_file);
}

bool npy_holds(const view::ElementType&) { return true; }

}  // namespace forebay::convert
