#include "convert/sink/classic_sink.h"

#include <bit>

#include "bp/index.h"
#include "convert/sink/classic_layout.h"
#include "convert/target/array_file.h"
#include "store/files.h"

namespace forebay::convert {
namespace {

class ClassicSink final : public Sink {
 public:
  explicit ClassicSink(NewTarget target) : target_(std::move(target)) {}

  Result<void> begin(const Plan& plan) override {
    plan_ = &plan;
    FOREBAY_TRY(layout_, classic_layout(plan));
    FOREBAY_CHECK(reserve(target_.fd(), 0, layout_.bytes, target_.path()));
    FOREBAY_CHECK(
        store::write_all(target_.fd(), layout_.bytes - 1, Bytes(1), target_.path()));  // also where no room is reserved
    FOREBAY_CHECK(store::write_all(target_.fd(), 0, layout_.header, target_.path()));
    for (size_t i = 0; i < plan.datasets.size(); ++i) {
      const Dataset& dataset = plan.datasets[i];
      if (!dataset.values.empty()) FOREBAY_CHECK(write({i, engine::whole_box(dataset.shape), dataset.values}));
    }
    return {};
  }

  Result<void> write(const Piece& piece) override {
    const Dataset& dataset = plan_->datasets[piece.dataset];
    swapped_.assign(piece.values.begin(), piece.values.end());
    if (std::endian::native == std::endian::little)
      bp::swap_elements(static_cast<uint8_t>(*dataset.type.value), swapped_);
    FOREBAY_CHECK(write_box(target_.fd(), layout_.begins[piece.dataset], dataset, {piece.dataset, piece.box, swapped_},
                            target_.path()));
    target_.begin_sync();
    return {};
  }

  Result<void> commit(bool overwrite) override { return target_.commit(overwrite); }

 private:
  NewTarget target_;
  const Plan* plan_ = nullptr;
  ClassicLayout layout_;
  Bytes swapped_;  // a piece in the file's byte order
};

}  // namespace

Result<std::unique_ptr<Sink>> make_classic_sink(const SinkOptions& options) {
  FOREBAY_TRY(NewTarget target, NewTarget::file(options.target, options.overwrite));
  return std::make_unique<ClassicSink>(std::move(target));
}

bool classic_holds(const view::ElementType& type) { return classic_type(type) != 0; }

}  // namespace forebay::convert
