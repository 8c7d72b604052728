// Meshes, which are attributes with names that readers know (io/group/mesh.h); and links, which files have none of.
#include "adios/read_mesh.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "io/group/attribute_value.h"

namespace forebay::adios {
namespace {

using io::Outcome;

constexpr std::string_view kSchema = "/adios_schema/";
constexpr int64_t kMostMeshParts = 1 << 16;  // dimensions, variables with points, sets of cells

std::optional<std::string> text_of(const ReadFile& file, const std::string& attribute) {
  const view::Attribute* const found = file.attribute(attribute);
  if (found == nullptr || found->type.value != io::ValueType::string) return {};
  return std::string(as_text(found->value));
}

// A number, or the value of the scalar of that name.
std::optional<double> number_of(const ReadFile& file, const std::string& text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  if (const auto read = std::from_chars(text.data(), end, number); read.ec == std::errc{} && read.ptr == end)
    return number;
  const auto place = file.variable(text);
  if (!place || file.variables[*place].form != view::Form::scalar) return {};
  const ReadVariable& variable = file.variables[*place];
  const auto value = scalar_value(file, variable.places.front());
  if (!value || value->size() < io::element_bytes(variable.type)) return {};
  float single = 0;
  if (variable.type == io::ValueType::float64) {
    std::memcpy(&number, value->data(), sizeof number);
    return number;
  }
  if (variable.type == io::ValueType::float32) {
    std::memcpy(&single, value->data(), sizeof single);
    return single;
  }
  const auto integer = io::integer_value(variable.type, value->data());
  return integer ? std::optional<double>(static_cast<double>(*integer)) : std::nullopt;
}

// What is said of one mesh.
class Description {
 public:
  Description(const ReadFile& file, std::string mesh) : file_(file), mesh_(std::move(mesh)) {}

  std::optional<std::string> text(const std::string& name) const {
    return text_of(file_, fmt::format("{}{}/{}", kSchema, mesh_, name));
  }

  // "NAME0", "NAME1", ..., of which "COUNT" tells how many there are. Nothing if that is missing.
  Outcome<std::vector<std::string>> list(const std::string& name, const std::string& count, int code) const {
    const view::Attribute* const number = file_.attribute(fmt::format("{}{}/{}", kSchema, mesh_, count));
    std::vector<std::string> items;
    if (number == nullptr) return items;
    const auto length = number->type.value && number->value.size() >= io::element_bytes(*number->type.value)
                            ? io::integer_value(*number->type.value, number->value.data())
                            : std::nullopt;
    if (!length || *length < 0 || *length > kMostMeshParts) return wrong(code, count + " is no number of parts");
    for (int64_t i = 0; i < *length; ++i) {
      auto item = text(name + std::to_string(i));
      if (!item) return wrong(code, fmt::format("{}{} is missing", name, i));
      items.push_back(*std::move(item));
    }
    return items;
  }

  Outcome<std::vector<double>> numbers(const std::string& name, int code) const {
    FOREBAY_TRY(const auto items, list(name, name + "-num", code));
    std::vector<double> result;
    for (const std::string& item : items) {
      const auto number = number_of(file_, item);
      if (!number) return wrong(code, fmt::format("'{}' is neither a number nor a scalar of numbers", item));
      result.push_back(*number);
    }
    return result;
  }

  Outcome<uint64_t> whole(const std::string& item, int code) const {
    const auto number = number_of(file_, item);
    if (!number || !(*number >= 0) || *number > 1e18)
      return wrong(code, fmt::format("'{}' is no number of points or cells", item));
    return static_cast<uint64_t>(*number);
  }

  Outcome<Shape> dimensions(int missing, int invalid) const {
    FOREBAY_TRY(const auto items, list("dimensions", "dimensions-num", invalid));
    if (items.empty()) return wrong(missing, "it has no dimensions");
    Shape shape;
    for (const std::string& item : items) {
      FOREBAY_TRY(const uint64_t number, whole(item, invalid));
      shape.push_back(number);
    }
    return shape;
  }

  // The variables with coordinates: one, or several.
  Outcome<std::vector<std::string>> variables(const std::string& prefix, int missing) const {
    if (auto single = text(prefix + "-single-var")) return std::vector<std::string>{*std::move(single)};
    FOREBAY_TRY(auto several, list(prefix + "-multi-var", prefix + "-multi-var-num", missing));
    if (several.empty()) return wrong(missing, "no variable has its coordinates");
    return several;
  }

  std::unexpected<io::Failure> wrong(int code, const std::string& what) const {
    return refuse_reading(code, fmt::format("{}: mesh '{}': {}", file_.path, mesh_, what));
  }

  const ReadFile& file() const { return file_; }

 private:
  const ReadFile& file_;
  std::string mesh_;
};

char** malloc_texts(const std::vector<std::string>& texts) {
  char** const made = allocate<char*>(texts.size());
  for (size_t i = 0; i < texts.size(); ++i) made[i] = malloc_copy(std::string_view(texts[i]));
  return made;
}

double* malloc_numbers(const std::vector<double>& numbers) {
  double* const made = allocate<double>(numbers.size());
  std::ranges::copy(numbers, made);
  return made;
}

Outcome<MESH_UNIFORM*> uniform_mesh(const Description& mesh) {
  FOREBAY_TRY(const Shape shape, mesh.dimensions(err_mesh_unifrom_missing_dims, err_mesh_unifrom_invalid_dim));
  FOREBAY_TRY(auto origins, mesh.numbers("origins", err_mesh_unifrom_invalid_var_type));
  FOREBAY_TRY(auto spacings, mesh.numbers("spacings", err_mesh_unifrom_invalid_var_type));
  FOREBAY_TRY(auto maximums, mesh.numbers("maximums", err_mesh_unifrom_invalid_var_type));
  for (const auto* list : {&origins, &spacings, &maximums})
    if (!list->empty() && list->size() != shape.size())
      return mesh.wrong(err_mesh_unifrom_invalid_num_dims, "its lists are not as long as its dimensions");
  if (origins.empty()) origins.resize(shape.size(), 0);
  if (spacings.empty())
    for (size_t d = 0; d < shape.size(); ++d)
      spacings.push_back(
          maximums.empty() || shape[d] < 2 ? 1 : (maximums[d] - origins[d]) / static_cast<double>(shape[d] - 1));
  if (maximums.empty())
    for (size_t d = 0; d < shape.size(); ++d)
      maximums.push_back(origins[d] + spacings[d] * static_cast<double>(shape[d] == 0 ? 0 : shape[d] - 1));
  auto* const made = allocate<MESH_UNIFORM>(1);
  *made = {static_cast<int>(shape.size()), malloc_copy(shape), malloc_numbers(origins), malloc_numbers(spacings),
           malloc_numbers(maximums)};
  return made;
}

Outcome<MESH_RECTILINEAR*> rectilinear_mesh(const Description& mesh) {
  FOREBAY_TRY(const Shape shape, mesh.dimensions(err_mesh_recti_missing_dims, err_mesh_recti_invalid_dim));
  FOREBAY_TRY(const auto names, mesh.variables("coords", err_mesh_recti_missing_coords));
  if (names.size() > 1 && names.size() != shape.size())
    return mesh.wrong(err_mesh_recti_invalid_num_coords, "it has not one variable for each dimension");
  auto* const made = allocate<MESH_RECTILINEAR>(1);
  *made = {names.size() == 1, static_cast<int>(shape.size()), malloc_copy(shape), malloc_texts(names)};
  return made;
}

Outcome<int> spaces_of(const Description& mesh, uint64_t otherwise, int code) {
  uint64_t spaces = otherwise;
  if (const auto text = mesh.text("nspace")) {
    FOREBAY_TRY(spaces, mesh.whole(*text, code));
  }
  if (spaces > static_cast<uint64_t>(kMostMeshParts)) return mesh.wrong(code, "it has too many spaces");
  return static_cast<int>(spaces);
}

Outcome<MESH_STRUCTURED*> structured_mesh(const Description& mesh) {
  FOREBAY_TRY(const Shape shape, mesh.dimensions(err_mesh_structured_missing_dims, err_mesh_structured_invalid_dim));
  FOREBAY_TRY(const auto names, mesh.variables("points", err_mesh_structured_missing_points));
  if (names.size() > 1 && names.size() != shape.size())
    return mesh.wrong(err_mesh_structured_invalid_num_points, "it has not one variable for each dimension");
  FOREBAY_TRY(const int spaces, spaces_of(mesh, shape.size(), err_mesh_structured_invalid_num_points));
  auto* const made = allocate<MESH_STRUCTURED>(1);
  *made = {names.size() == 1, static_cast<int>(shape.size()), malloc_copy(shape), spaces, malloc_texts(names)};
  return made;
}

std::optional<ADIOS_CELL_TYPE> cell_type(std::string_view text) {
  struct {
    std::string_view begin;
    ADIOS_CELL_TYPE type;
  } constexpr kTypes[] = {{"po", ADIOS_CELL_PT},  {"pt", ADIOS_CELL_PT},   {"li", ADIOS_CELL_LINE},
                          {"tr", ADIOS_CELL_TRI}, {"qu", ADIOS_CELL_QUAD}, {"he", ADIOS_CELL_HEX},
                          {"pr", ADIOS_CELL_PRI}, {"te", ADIOS_CELL_TET},  {"py", ADIOS_CELL_PYR}};
  for (const auto& known : kTypes)
    if (text.starts_with(known.begin)) return known.type;
  return {};
}

struct Cells {
  std::vector<std::string> counts, data, types;
};

Outcome<Cells> cells_of(const Description& mesh) {
  if (auto count = mesh.text("ccount")) {
    const auto data = mesh.text("cdata"), type = mesh.text("ctype");
    if (!data) return mesh.wrong(err_mesh_unstructured_missing_cdata, "no variable has its cells");
    if (!type) return mesh.wrong(err_mesh_unstructured_missing_ctype, "the type of its cells is missing");
    return Cells{{*std::move(count)}, {*data}, {*type}};
  }
  Cells cells;
  FOREBAY_TRY(cells.counts, mesh.list("ccount", "ncsets", err_mesh_unstructured_missing_ccount));
  FOREBAY_TRY(cells.data, mesh.list("cdata", "ncsets", err_mesh_unstructured_missing_cdata));
  FOREBAY_TRY(cells.types, mesh.list("ctype", "ncsets", err_mesh_unstructured_missing_ctype));
  if (cells.counts.empty()) return mesh.wrong(err_mesh_unstructured_missing_ncsets, "it has no cells");
  return cells;
}

// Of the first variable with points, if it is there.
Outcome<uint64_t> points_of(const Description& mesh, const std::vector<std::string>& names, int spaces) {
  if (const auto text = mesh.text("npoints")) return mesh.whole(*text, err_mesh_unstructured_invalid_num_points);
  const auto place = mesh.file().variable(names.front());
  if (!place)
    return mesh.wrong(err_mesh_unstructured_missing_points, fmt::format("there is no variable '{}'", names.front()));
  const uint64_t elements = element_count(mesh.file().variables[*place].shape);
  return names.size() == 1 && spaces > 0 ? elements / static_cast<uint64_t>(spaces) : elements;
}

Outcome<MESH_UNSTRUCTURED*> unstructured_mesh(const Description& mesh) {
  FOREBAY_TRY(const auto names, mesh.variables("points", err_mesh_unstructured_missing_points));
  uint64_t width = names.size();
  if (const auto place = mesh.file().variable(names.front()); width == 1 && place) {
    const Shape& shape = mesh.file().variables[*place].shape;
    width = shape.size() > 1 ? shape.back() : 1;
  }
  FOREBAY_TRY(const int spaces, spaces_of(mesh, width, err_mesh_unstructured_invalid_dim_points));
  FOREBAY_TRY(const uint64_t points, points_of(mesh, names, spaces));
  FOREBAY_TRY(const Cells cells, cells_of(mesh));
  Shape counts;
  std::vector<ADIOS_CELL_TYPE> types;
  for (size_t i = 0; i < cells.counts.size(); ++i) {
    FOREBAY_TRY(const uint64_t count, mesh.whole(cells.counts[i], err_mesh_unstructured_invalid_ccount));
    const auto type = cell_type(cells.types[i]);
    if (!type) return mesh.wrong(err_mesh_unstructured_invalid_ctype, "there are no cells '" + cells.types[i] + "'");
    counts.push_back(count);
    types.push_back(*type);
  }
  auto* const made = allocate<MESH_UNSTRUCTURED>(1);
  *made = {.nspaces = spaces,
           .npoints = points,
           .nvar_points = static_cast<int>(names.size()),
           .points = malloc_texts(names),
           .ncsets = static_cast<int>(counts.size()),
           .ccounts = malloc_copy(counts),
           .cdata = malloc_texts(cells.data),
           .ctypes = allocate<ADIOS_CELL_TYPE>(types.size())};
  std::ranges::copy(types, made->ctypes);
  return made;
}

// Fills in what the file says of the mesh.
Outcome<void> describe(const ReadFile& file, ADIOS_MESH& mesh) {
  const Description description(file, mesh.name);
  const auto type = description.text("type");
  if (!type) return description.wrong(err_mesh_missing, "its type is missing");
  mesh.time_varying = description.text("time-varying") == "yes";
  if (*type == "uniform") {
    FOREBAY_TRY(mesh.uniform, uniform_mesh(description));
    mesh.type = ADIOS_MESH_UNIFORM;
  } else if (*type == "rectilinear") {
    FOREBAY_TRY(mesh.rectilinear, rectilinear_mesh(description));
    mesh.type = ADIOS_MESH_RECTILINEAR;
  } else if (*type == "structured") {
    FOREBAY_TRY(mesh.structured, structured_mesh(description));
    mesh.type = ADIOS_MESH_STRUCTURED;
  } else if (*type == "unstructured") {
    FOREBAY_TRY(mesh.unstructured, unstructured_mesh(description));
    mesh.type = ADIOS_MESH_UNSTRUCTURED;
  } else {
    return description.wrong(err_mesh_missing, "there is no type '" + *type + "'");
  }
  return {};
}

Outcome<ADIOS_MESH*> inquire_mesh(ADIOS_FILE* fp, int id) {
  FOREBAY_TRY(ReadFile* const file, file_of(fp));
  if (id < 0 || id >= fp->nmeshes)
    return refuse_reading(err_mesh_missing, file->path + " has no mesh of the number " + std::to_string(id));
  auto* const mesh = allocate<ADIOS_MESH>(1);
  mesh->id = id;
  mesh->name = malloc_copy(std::string_view(fp->mesh_namelist[id]));
  if (const auto elsewhere = Description(*file, mesh->name).text("mesh-file"))
    mesh->file_name = malloc_copy(*elsewhere);
  else if (const auto described = describe(*file, *mesh); !described) {
    adios_free_meshinfo(mesh);
    return std::unexpected(described.error());
  }
  return mesh;
}

void free_texts(char** texts, int count) {
  for (int i = 0; texts != nullptr && i < count; ++i) std::free(texts[i]);
  std::free(texts);
}

}  // namespace

std::vector<std::string> mesh_names(const ReadFile& file) {
  std::vector<std::string> names;
  for (const size_t i : file.shown_attributes) {
    std::string_view name = file.attributes[i].name;
    if (!name.starts_with(kSchema)) continue;
    name.remove_prefix(kSchema.size());
    const size_t slash = name.rfind('/');
    if (slash == std::string_view::npos) continue;
    const std::string_view last = name.substr(slash + 1);
    if (last != "type" && last != "mesh-file") continue;
    std::string mesh(name.substr(0, slash));
    if (std::ranges::find(names, mesh) == names.end()) names.push_back(std::move(mesh));
  }
  return names;
}

}  // namespace forebay::adios

using namespace forebay::adios;
using forebay::io::Outcome;

extern "C" {

ADIOS_MESH* adios_inq_mesh_byid(ADIOS_FILE* fp, int meshid) {
  return guarded_pointer([&] { return inquire_mesh(fp, meshid); });
}

int adios_complete_meshinfo(ADIOS_FILE*, ADIOS_FILE* meshfile, ADIOS_MESH* meshinfo) {
  return guarded([&]() -> Outcome<void> {
    FOREBAY_TRY(ReadFile* const file, file_of(meshfile));
    if (meshinfo == nullptr || meshinfo->name == nullptr)
      return refuse_reading(err_invalid_argument, "there is no mesh to complete");
    if (meshinfo->uniform != nullptr) return {};
    return describe(*file, *meshinfo);
  });
}

void adios_free_meshinfo(ADIOS_MESH* mesh) {
  if (mesh == nullptr) return;
  if (mesh->uniform == nullptr) {
  } else if (mesh->type == ADIOS_MESH_UNIFORM) {
    std::free(mesh->uniform->dimensions);
    std::free(mesh->uniform->origins);
    std::free(mesh->uniform->spacings);
    std::free(mesh->uniform->maximums);
  } else if (mesh->type == ADIOS_MESH_RECTILINEAR) {
    std::free(mesh->rectilinear->dimensions);
    free_texts(mesh->rectilinear->coordinates,
               mesh->rectilinear->use_single_var ? 1 : mesh->rectilinear->num_dimensions);
  } else if (mesh->type == ADIOS_MESH_STRUCTURED) {
    std::free(mesh->structured->dimensions);
    free_texts(mesh->structured->points, mesh->structured->use_single_var ? 1 : mesh->structured->num_dimensions);
  } else if (mesh->type == ADIOS_MESH_UNSTRUCTURED) {
    free_texts(mesh->unstructured->points, mesh->unstructured->nvar_points);
    free_texts(mesh->unstructured->cdata, mesh->unstructured->ncsets);
    std::free(mesh->unstructured->ccounts);
    std::free(mesh->unstructured->ctypes);
  }
  std::free(mesh->uniform);
  std::free(mesh->name);
  std::free(mesh->file_name);
  std::free(mesh);
}

int adios_inq_var_meshinfo(ADIOS_FILE* fp, ADIOS_VARINFO* varinfo) {
  bool is_on_one = false;
  const int code = guarded([&]() -> Outcome<void> {
    FOREBAY_TRY(ReadFile* const file, file_of(fp));
    if (varinfo == nullptr || varinfo->varid < 0 || varinfo->varid >= fp->nvars)
      return refuse_reading(err_invalid_varid, "the information is of no variable");
    const std::string path = std::string(fp->var_namelist[varinfo->varid]) + "/adios_schema";
    const auto mesh = text_of(*file, path);
    if (!mesh) return {};
    for (int id = 0; id < fp->nmeshes; ++id) {
      if (*mesh != fp->mesh_namelist[id]) continue;
      std::free(varinfo->meshinfo);
      varinfo->meshinfo = allocate<ADIOS_VARMESH>(1);
      varinfo->meshinfo->meshid = id;
      varinfo->meshinfo->centering = text_of(*file, path + "/centering") == "cell" ? cell : point;
      is_on_one = true;
      return {};
    }
    return refuse_reading(err_mesh_missing, file->path + " has no mesh '" + *mesh + "'");
  });
  return code != err_no_error || is_on_one ? code : 1;
}

ADIOS_LINK* adios_inq_link_byid(ADIOS_FILE*, int) {
  return guarded_pointer(
      []() -> Outcome<ADIOS_LINK*> { return refuse_reading(err_operation_not_supported, "files have no links"); });
}

void adios_free_linkinfo(ADIOS_LINK*) {}
}
