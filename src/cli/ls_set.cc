#include "cli/ls_set.h"

#include <functional>

#include <fmt/format.h>

#include "cli/loss.h"
#include "cli/shares.h"
#include "cli/table.h"
#include "cli/text.h"
#include "cli/units.h"
#include "engine/set/each_container.h"

namespace forebay::cli {
namespace {

const char* kind_text(FileKind kind) {
  switch (kind) {
    case FileKind::regular:
      return "regular";
    case FileKind::directory:
      return "directory";
    case FileKind::symlink:
      return "symlink";
  }
  return "unknown";
}

void print_row(const std::string& line) { fmt::print("{}\n", line); }

Json json_file(const engine::OpenContainer& container, const Shares& shares, size_t f) {
  const FileRow& file = container.catalogue().files[f];
  Json json = {{"name", json_text(file.name)},
               {"kind", kind_text(file.kind)},
               {"rank", file.rank},
               {"raw_bytes", file.size},
               {"stored_bytes", shares.files[f]},
               {"ratio", json_ratio(static_cast<double>(file.size), shares.files[f])},
               {"mode", file.mode},
               {"mtime", format_utc_time(file.mtime_s, file.mtime_ns)},
               {"format", json_text_or_null(file.format)}};
  const auto& crcs = container.index().file_crcs;
  json["link_target"] = file.kind == FileKind::symlink ? json_text(file.link_target) : Json();
  json["crc64"] = crcs.empty() ? Json() : Json(fmt::format("{:016x}", crcs[f]));
  return json;
}

Json json_characteristics(const container::Characteristics& c) {
  return {{"value_count", c.count},
          {"min", c.count ? Json(c.min) : Json()},
          {"max", c.count ? Json(c.max) : Json()},
          {"sum", c.sum},
          {"sum_of_squares", c.sum_of_squares},
          {"nan_count", c.nans},
          {"infinity_count", c.infinities}};
}

// Null if they are not known: of what is no number, after a recovery, and under the agnostic schemes.
const container::Characteristics* characteristics_of(const engine::OpenContainer& container, size_t v) {
  const auto& all = container.index().characteristics;
  return v < all.size() && all[v] != container::Characteristics{} ? &all[v] : nullptr;
}

Json json_variable(const engine::OpenContainer& container, const Shares& shares, const Losses& losses, size_t v) {
  const Catalogue& catalogue = container.catalogue();
  const VariableRow& row = catalogue.variables[v];
  const uint64_t bytes = catalogue.bytes_of(row);
  Json json = {{"name", json_text(catalogue.paths[row.path])},
               {"key", json_text(catalogue.keys[row.key])},
               {"type", row.type.name()},
               {"shape", catalogue.shapes[row.shape]},
               {"raw_bytes", bytes},
               {"stored_bytes", shares.variables[v]},
               {"ratio", json_ratio(static_cast<double>(bytes), shares.variables[v])},
               {"filtered", row.filtered},
               {"partial", row.partial},
               {"loss", json_loss(losses[v])}};
  const auto* c = characteristics_of(container, v);
  json["characteristics"] = c ? json_characteristics(*c) : Json();
  return json;
}

// Calls take(container) for each container of the set, in order.
Result<void> for_each_open(const store::SetInfo& set, const engine::Resources& resources,
                           const std::function<void(const engine::OpenContainer&)>& take) {
  if (!set.manifest) return std::unexpected(set.manifest.error());
  return engine::for_each_container(set, engine::all_containers(*set.manifest), resources,
                                    [&](size_t, Result<engine::OpenContainer> opened, uint64_t) -> Result<uint64_t> {
                                      if (!opened) return std::unexpected(std::move(opened).error());
                                      take(*opened);
                                      return 0;
                                    });
}

void stream_file(const engine::OpenContainer& container, const Shares& shares, const Losses* losses, size_t f,
                 JsonStream& stream) {
  const FileRow& row = container.catalogue().files[f];
  stream.begin_object();
  const Json file = json_file(container, shares, f);
  for (const auto& [name, value] : file.items()) stream.member(name, value);
  stream.member("variable_count", row.variable_count);
  if (losses) {
    stream.begin_list("variables");
    for (size_t v = 0; v < row.variable_count; ++v)
      stream.element(json_variable(container, shares, *losses, row.first_variable + v));
    stream.end();
  }
  stream.end();
}

// Prints a table of all rows that rows(container, take) makes of the containers.
using Cells = std::vector<std::string>;
using RowsOf = std::function<void(const engine::OpenContainer&, const std::function<void(const Cells&)>& take)>;

// Whether there are any; without rows nothing is printed.
Result<bool> print_table(const store::SetInfo& set, const engine::Resources& resources, Table table,
                         const RowsOf& rows) {
  bool has_rows = false;
  const auto measure = [&](const Cells& cells) {
    table.measure(cells);
    has_rows = true;
  };
  FOREBAY_CHECK(for_each_open(set, resources, [&](const auto& container) { rows(container, measure); }));
  if (!has_rows) return false;
  print_row(table.titles());
  const auto print = [&](const Cells& cells) { print_row(table.line(cells)); };
  FOREBAY_CHECK(for_each_open(set, resources, [&](const auto& container) { rows(container, print); }));
  return true;
}

std::string name_text(const FileRow& file) {
  std::string name = printable(file.name);
  if (file.kind == FileKind::directory) name += "/";
  if (file.kind == FileKind::symlink) name += " -> " + printable(file.link_target);
  return name;
}

void file_rows(const engine::OpenContainer& container, const std::function<void(const Cells&)>& take) {
  const Shares shares = shares_of(container);
  for (size_t f = 0; f < container.catalogue().files.size(); ++f) {
    const FileRow& file = container.catalogue().files[f];
    const bool is_regular = file.kind == FileKind::regular;
    take({fmt::format("{}", file.rank), format_mode(file.mode), is_regular ? format_bytes(file.size) : "-",
          format_ratio(static_cast<double>(file.size), shares.files[f]), format_local_time(file.mtime_s),
          is_regular ? printable(file.format) : "-", fmt::format("{}", file.variable_count), name_text(file)});
  }
}

Cells characteristics_cells(const container::Characteristics* c) {
  if (!c) return {"-", "-", "-", "-", "-"};
  Cells cells = {"-", "-", "-"};
  if (c->count > 0)
    cells = {format_number(c->min), format_number(c->max), format_number(c->sum / static_cast<double>(c->count))};
  cells.push_back(fmt::format("{}", c->nans));
  cells.push_back(fmt::format("{}", c->infinities));
  return cells;
}

void variable_rows(const engine::OpenContainer& container, bool lossy, const std::function<void(const Cells&)>& take) {
  const Catalogue& catalogue = container.catalogue();
  const Shares shares = shares_of(container);
  const Losses losses = losses_of(container);
  for (const FileRow& file : catalogue.files) {
    for (size_t v = file.first_variable; v < file.first_variable + size_t{file.variable_count}; ++v) {
      const VariableRow& row = catalogue.variables[v];
      const uint64_t bytes = catalogue.bytes_of(row);
      Cells cells = {fmt::format("{}", file.rank), row.type.name(), format_shape(catalogue.shapes[row.shape]),
                     format_bytes(bytes), format_ratio(static_cast<double>(bytes), shares.variables[v])};
      for (auto& cell : characteristics_cells(characteristics_of(container, v))) cells.push_back(std::move(cell));
      if (lossy) cells.push_back(loss_text(losses[v]));
      cells.push_back(printable(file.name));
      cells.push_back(printable(catalogue.paths[row.path]));
      take(cells);
    }
  }
}

}  // namespace

Result<void> check_containers(const store::SetInfo& set, const engine::Resources& resources) {
  return for_each_open(set, resources, [](const auto&) {});
}

Result<uint64_t> stream_files(const store::SetInfo& set, bool with_variables, const engine::Resources& resources,
                              JsonStream& stream) {
  uint64_t variables = 0;
  FOREBAY_CHECK(for_each_open(set, resources, [&](const engine::OpenContainer& container) {
    variables += container.catalogue().variables.size();
    const Shares shares = shares_of(container);
    const Losses losses = with_variables ? losses_of(container) : Losses();
    for (size_t f = 0; f < container.catalogue().files.size(); ++f)
      stream_file(container, shares, with_variables ? &losses : nullptr, f, stream);
  }));
  return variables;
}

Result<void> print_files(const store::SetInfo& set, const engine::Resources& resources) {
  const Table table({{"RANK", Align::right},
                     {"MODE"},
                     {"SIZE", Align::right},
                     {"RATIO", Align::right},
                     {"MODIFIED"},
                     {"FORMAT"},
                     {"VARIABLES", Align::right},
                     {"NAME"}});
  FOREBAY_TRY(const bool has_files, print_table(set, resources, table, file_rows));
  if (!has_files) fmt::print("{} has no files\n", printable(set.name));
  return {};
}

Result<bool> print_variables(const store::SetInfo& set, const engine::Resources& resources) {
  std::vector<Table::Column> columns = {{"RANK", Align::right},
                                        {"TYPE"},
                                        {"SHAPE"},
                                        {"SIZE", Align::right},
                                        {"RATIO", Align::right},
                                        {"MIN", Align::right},
                                        {"MAX", Align::right},
                                        {"MEAN", Align::right},
                                        {"NAN", Align::right},
                                        {"INF", Align::right}};
  const bool lossy = set.manifest && !set.manifest->lossy.empty();
  if (lossy) columns.push_back({"LOSS"});
  columns.insert(columns.end(), {{"FILE"}, {"VARIABLE"}});
  return print_table(set, resources, Table(std::move(columns)),
                     [&](const auto& container, const auto& take) { variable_rows(container, lossy, take); });
}

}  // namespace forebay::cli
