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
  Shape shown = *grid_of(dataset);
  const bool is_plane = shown.size() == 2;
  if (!field.index && !is_plane) return whole;
  Shape begin(dataset.shape.size()), stride(dataset.shape.size(), 1), count = dataset.shape;
  if (field.index) {
    begin[0] = *field.index;
    count[0] = 1;
  }
  if (is_plane) shown.insert(shown.begin(), 1);
  return fmt::format(
      R"(<DataItem ItemType="HyperSlab" Dimensions="{}"><DataItem Dimensions="3 {}" Format="XML">{} {} {}</DataItem>{}</DataItem>)",
      numbers(shown), begin.size(), numbers(begin), numbers(stride), numbers(count), whole);
}

// A finer level of a refined mesh, "NAME@1", has the domain of its coarsest one, "NAME", in smaller cells: of so much
// of a coarse cell each. Of a part it is not known where the domain ends.
std::vector<double> spacing_of(const Dataset& dataset, const std::map<std::string, const Dataset*>& all) {
  const Shape shape = *grid_of(dataset);
  std::vector<double> spacing(shape.size(), 1);
  const size_t at = dataset.name.rfind('@');
  const auto coarsest = at == dataset.name.npos ? all.end() : all.find(dataset.name.substr(0, at));
  if (coarsest == all.end() || dataset.part) return spacing;
  const Shape whole = *grid_of(*coarsest->second);
  for (size_t d = 0; d < shape.size() && whole.size() == shape.size(); ++d)
    spacing[d] = static_cast<double>(whole[d]) / static_cast<double>(shape[d]);
  return spacing;
}

// Cells in a box from the origin on. Those of a plane are one cell thick, for readers stand a mesh of two dimensions on
// its edge.
std::string grid_text(const Shape& shape, std::vector<double> spacing, const std::vector<Field>& fields,
                      const std::string& file) {
  Shape points = shape;
  for (uint64_t& length : points) ++length;
  if (points.size() == 2) {
    points.insert(points.begin(), 2);
    spacing.insert(spacing.begin(), std::min(spacing[0], spacing[1]));
  }
  std::string text = fmt::format(
      "  <Grid Name=\"{}\" GridType=\"Uniform\">\n"
      "   <Topology TopologyType=\"3DCoRectMesh\" Dimensions=\"{}\"/>\n   <Geometry GeometryType=\"ORIGIN_DXDYDZ\">"
      "<DataItem Dimensions=\"3\" Format=\"XML\">0 0 0</DataItem><DataItem Dimensions=\"3\" "
      "Format=\"XML\">{}</DataItem>"
      "</Geometry>\n",
      numbers(shape), numbers(points), fmt::join(spacing, " "));
  for (const Field& field : fields)
    text += fmt::format("   <Attribute Name=\"{}\" AttributeType=\"Scalar\" Center=\"Cell\">{}</Attribute>\n",
                        escaped(path_of(field.dataset->name)), data_item(field, file));
  return text + "  </Grid>\n";
}

class XdmfSink final : public Sink {
 public:
  XdmfSink(NewTarget data, NewTarget text) : data_(std::move(data)), text_(std::move(text)) {}

  Result<void> begin(const Plan& plan) override {
    FOREBAY_TRY(content_, make_hdf5_content(data_));
    const std::string text = xdmf_text(plan, std::filesystem::path(data_.path()).filename().string());
    FOREBAY_CHECK(store::write_all(text_.fd(), 0, as_bytes(text), text_.path()));
    return content_->begin(plan);
  }
  Result<void> write(const Piece& piece) override { return content_->write(piece); }

  // The text last: where it is, what it describes is there.
  Result<void> commit(bool overwrite) override {
    FOREBAY_CHECK(content_->commit(overwrite));
    return NewTarget::commit_both(data_, text_, overwrite);
  }

 private:
  NewTarget data_, text_;
  std::unique_ptr<Sink> content_;
};

}  // namespace

std::string xdmf_text(const Plan& plan, const std::string& file) {
  std::string text =
      "<?xml version=\"1.0\"?>\n<Xdmf Version=\"2.0\">\n<Domain>\n"
      "<Grid Name=\"run\" GridType=\"Collection\" CollectionType=\"Temporal\">\n";
  for (uint64_t step = 0; step < plan.steps.size(); ++step) {
    std::map<std::pair<Shape, std::vector<double>>, std::vector<Field>> grids;
    std::map<std::string, const Dataset*> shown;
    for (const Dataset& dataset : plan.datasets)
      if (grid_of(dataset) && std::ranges::find(dataset.sources, step, &Source::step) != dataset.sources.end())
        shown.emplace(dataset.name, &dataset);
    for (const Dataset& dataset : plan.datasets) {
      const auto shape = grid_of(dataset);
      const auto source = std::ranges::find(dataset.sources, step, &Source::step);
      if (!shape || source == dataset.sources.end()) continue;
      Field field{&dataset, {}};
      if (dataset.has_steps) field.index = static_cast<size_t>(source - dataset.sources.begin());
      grids[{*shape, spacing_of(dataset, shown)}].push_back(field);
    }
    const view::StepInfo& info = plan.steps[step];
    const double time = info.time.value_or(static_cast<double>(info.step.value_or(static_cast<int64_t>(info.number))));
    text += fmt::format(
        " <Grid Name=\"step {}\" GridType=\"Collection\" CollectionType=\"Spatial\">\n  <Time Value=\"{:.17g}\"/>\n",
        info.number, time);
    for (const auto& [grid, fields] : grids) text += grid_text(grid.first, grid.second, fields, file);
    text += " </Grid>\n";
  }
  return text + "</Grid>\n</Domain>\n</Xdmf>\n";
}

Result<std::unique_ptr<Sink>> make_xdmf_sink(const SinkOptions& options) {
  if (!options.target.ends_with(kTextEnding))
    return fail(ErrorKind::invalid_argument, "the text of XDMF is called NAME.xmf, and has NAME.h5 beside it",
                options.target);
  const std::string stem = options.target.substr(0, options.target.size() - std::string_view(kTextEnding).size());
  FOREBAY_TRY(NewTarget data, NewTarget::file(stem + kDataEnding, options.overwrite));
  FOREBAY_TRY(NewTarget text, NewTarget::file(options.target, options.overwrite));
  return std::make_unique<XdmfSink>(std::move(data), std::move(text));
}

bool xdmf_holds(const view::ElementType& type) { return hdf5_holds(type); }

}  // namespace forebay::convert
