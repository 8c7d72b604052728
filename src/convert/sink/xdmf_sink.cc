#include "convert/sink/xdmf_sink.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "convert/plan/paths.h"
#include "convert/sink/plugin_sink.h"
#include "convert/target/new_target.h"
#include "store/files.h"

namespace forebay::convert {
namespace {

constexpr const char *kTextEnding = ".xmf", *kDataEnding = ".h5";

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  return out;
}

// A field of a step: a dataset, or the part of it that is of this step.
struct Field {
  const Dataset* dataset = nullptr;
  std::optional<size_t> index;  // in the dataset's first dimension
};

// The dimensions of what is shown as a grid; nothing if the dataset is none.
std::optional<Shape> grid_of(const Dataset& dataset) {
  const bool is_field = dataset.form == view::Form::global && !dataset.sources.empty() &&
                        dataset.type.data.is_number() && dataset.type.value != io::ValueType::string;
  Shape shape(dataset.shape.begin() + (dataset.has_steps ? 1 : 0), dataset.shape.end());
  if (!is_field || shape.size() < 2 || shape.size() > 3 || element_count(shape) == 0) return std::nullopt;
  return shape;
}

std::string numbers(const Shape& shape) { return fmt::format("{}", fmt::join(shape, " ")); }

std::string data_item(const Field& field, const std::string& file) {
  const Dataset& dataset = *field.dataset;
  const bool is_float = dataset.type.data.kind == Kind::floating;
  const char* kind = is_float ? "Float" : dataset.type.data.kind == Kind::signed_int ? "Int" : "UInt";
  const std::string whole =
      fmt::format(R"(<DataItem Dimensions="{}" NumberType="{}" Precision="{}" Format="HDF">{}:/{}</DataItem>)",
                  numbers(dataset.shape), kind, dataset.type.data.size, escaped(file), escaped(dataset.path));
  if (!field.index) return whole;
  Shape begin(dataset.shape.size()), stride(dataset.shape.size(), 1), count = dataset.shape;
  begin[0] = *field.index;
  count[0] = 1;
  Shape shown(count.begin() + 1, count.end());
  return fmt::format(
      R"(<DataItem ItemType="HyperSlab" Dimensions="{}"><DataItem Dimensions="3 {}" Format="XML">{} {} {}</DataItem>{}</DataItem>)",
      numbers(shown), begin.size(), numbers(begin), numbers(stride), numbers(count), whole);
}

std::string grid_text(const Shape& shape, const std::vector<Field>& fields, const std::string& file) {
  Shape points = shape;
  for (uint64_t& length : points) ++length;
  const bool is_volume = shape.size() == 3;
  const std::string zeros = is_volume ? "0 0 0" : "0 0", ones = is_volume ? "1 1 1" : "1 1";
  std::string text = fmt::format(
      "  <Grid Name=\"{}\" GridType=\"Uniform\">\n"
      "   <Topology TopologyType=\"{}\" Dimensions=\"{}\"/>\n   <Geometry GeometryType=\"{}\">"
      "<DataItem Dimensions=\"{}\" Format=\"XML\">{}</DataItem><DataItem Dimensions=\"{}\" Format=\"XML\">{}</DataItem>"
      "</Geometry>\n",
      numbers(shape), is_volume ? "3DCoRectMesh" : "2DCoRectMesh", numbers(points),
      is_volume ? "ORIGIN_DXDYDZ" : "ORIGIN_DXDY", shape.size(), zeros, shape.size(), ones);
  for (const Field& field : fields)
    text += fmt::format("   <Attribute Name=\"{}\" AttributeType=\"Scalar\" Center=\"Cell\">{}</Attribute>\n",
                        escaped(path_of(field.dataset->name)), data_item(field, file));
  return text + "  </Grid>\n";
}

class XdmfSink final : public Sink {
 public:
  XdmfSink(std::unique_ptr<Sink> data, NewTarget text, std::string file)
      : data_(std::move(data)), text_(std::move(text)), file_(std::move(file)) {}

  Result<void> begin(const Plan& plan) override {
    const std::string text = xdmf_text(plan, file_);
    FOREBAY_CHECK(store::write_all(text_.fd(), 0, as_bytes(text), text_.path()));
    return data_->begin(plan);
  }
  Result<void> write(const Piece& piece) override { return data_->write(piece); }

  // The text last: where it is, what it tells of is there.
  Result<void> commit(bool overwrite) override {
    FOREBAY_CHECK(data_->commit(overwrite));
    return text_.commit(overwrite);
  }

 private:
  std::unique_ptr<Sink> data_;
  NewTarget text_;
  const std::string file_;
};

}  // namespace

std::string xdmf_text(const Plan& plan, const std::string& file) {
  std::string text =
      "<?xml version=\"1.0\"?>\n<Xdmf Version=\"2.0\">\n<Domain>\n"
      "<Grid Name=\"run\" GridType=\"Collection\" CollectionType=\"Temporal\">\n";
  for (uint64_t step = 0; step < plan.steps.size(); ++step) {
    std::map<Shape, std::vector<Field>> grids;
    for (const Dataset& dataset : plan.datasets) {
      const auto shape = grid_of(dataset);
      const auto source = std::ranges::find(dataset.sources, step, &Source::step);
      if (!shape || source == dataset.sources.end()) continue;
      Field field{&dataset, {}};
      if (dataset.has_steps) field.index = static_cast<size_t>(source - dataset.sources.begin());
      grids[*shape].push_back(field);
    }
    const view::StepInfo& info = plan.steps[step];
    const double time = info.time.value_or(static_cast<double>(info.step.value_or(static_cast<int64_t>(info.number))));
    text += fmt::format(
        " <Grid Name=\"step {}\" GridType=\"Collection\" CollectionType=\"Spatial\">\n  <Time Value=\"{:.17g}\"/>\n",
        info.number, time);
    for (const auto& [shape, fields] : grids) text += grid_text(shape, fields, file);
    text += " </Grid>\n";
  }
  return text + "</Grid>\n</Domain>\n</Xdmf>\n";
}

Result<std::unique_ptr<Sink>> make_xdmf_sink(const SinkOptions& options) {
  if (!options.target.ends_with(kTextEnding))
    return fail(ErrorKind::invalid_argument, "the text of XDMF is called NAME.xmf, and has NAME.h5 beside it",
                options.target);
  SinkOptions data = options;
  data.target.resize(data.target.size() - std::string_view(kTextEnding).size());
  data.target += kDataEnding;
  FOREBAY_TRY(auto sink, make_hdf5_sink(data));
  FOREBAY_TRY(NewTarget text, NewTarget::file(options.target, options.overwrite));
  return std::make_unique<XdmfSink>(std::move(sink), std::move(text),
                                    std::filesystem::path(data.target).filename().string());
}

bool xdmf_holds(const view::ElementType& type) { return hdf5_holds(type); }

}  // namespace forebay::convert
