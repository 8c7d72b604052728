#include "io/config/includes.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "io/group/dimensions.h"
#include "io/group/name_index.h"
#include "io/group/value_type.h"

namespace forebay::io {
namespace {

// Fortran lets a statement have 255 continuation lines; older compilers had 39.
constexpr size_t kTermsOfAStatement = 30;
constexpr size_t kFortranLine = 120;  // 132 are allowed

// Programs measure in bytes what they hand over.
std::string element_text(ValueType type, bool is_fortran) {
  return fmt::format("{}{}", element_bytes(type), is_fortran ? "_8" : "");
}

class IncludeWriter {
 public:
  explicit IncludeWriter(const GroupDefinition& group)
      : group_(group), is_fortran_(group.fortran_order), names_(group) {}

  std::string writing() const {
    if (group_.variables.empty() && group_.source_lines.empty())
      return fmt::format("{} group {} has no variables\n", is_fortran_ ? "!" : "//", one_line(group_.name));
    std::string text =
        group_size() + call("adios_group_size", {"adios_handle", "adios_groupsize", of("adios_totalsize")});
    size_t line = 0;
    for (size_t i = 0; i <= group_.variables.size(); ++i) {
      for (; line < group_.source_lines.size() && group_.source_lines[line].before == i; ++line)
        text += group_.source_lines[line].text + "\n";
      if (i == group_.variables.size()) break;
      const VariableDefinition& variable = group_.variables[i];
      text +=
          call("adios_write", {"adios_handle", quoted(variable.full_name()), argument(variable, expression(variable))});
    }
    return text;
  }

  std::string scheduled_reading() const {
    std::string text =
        is_fortran_ ? "call adios_selection_writeblock (s, rank)\n" : "s = adios_selection_writeblock (rank);\n";
    for (const VariableDefinition& variable : group_.variables)
      if (variable.read && !variable.dimensions.empty())
        text +=
            call("adios_schedule_read", {"fp", "s", quoted(variable.full_name()), "0", "1", read_expression(variable)});
    return text + (is_fortran_ ? "call adios_perform_reads (fp, adios_err)\ncall adios_selection_delete (s)\n"
                               : "adios_perform_reads (fp, 1);\nadios_selection_delete (s);\n");
  }

  std::string called_reading() const {
    std::string text = assignment("adios_groupsize", "0") + assignment("adios_totalsize", "0") +
                       call("adios_group_size", {"adios_handle", "adios_groupsize", of("adios_totalsize")});
    for (const VariableDefinition& variable : group_.variables) {
      if (!variable.read) continue;
      const std::string expression = variable.gread.empty() ? variable.name : variable.gread;
      text += assignment("adios_buf_size", bytes(variable, is_fortran_ ? "len(" + expression + ")" : "2147483648"));
      text += call("adios_read",
                   {"adios_handle", quoted(variable.full_name()), argument(variable, expression), "adios_buf_size"});
    }
    return text;
  }

 private:
  static std::string one_line(std::string text) {
    std::ranges::replace_if(text, [](unsigned char c) { return c < ' '; }, ' ');
    return text;
  }

  std::string quoted(const std::string& name) const {
    std::string text;
    for (const char c : one_line(name)) {
      if (c == '"') text += is_fortran_ ? "\"" : "\\";
      if (c == '\\' && !is_fortran_) text += '\\';
      text += c;
    }
    return "\"" + text + "\"";
  }

  std::string of(std::string_view name) const { return fmt::format("{}{}", is_fortran_ ? "" : "&", name); }

  using Arguments = std::vector<std::string>;
  std::string call(std::string_view function, Arguments arguments) const {
    if (!is_fortran_) return fmt::format("{} ({});\n", function, fmt::join(arguments, ", "));
    arguments.emplace_back("adios_err");
    const std::string line = fmt::format("call {} ({})\n", function, fmt::join(arguments, ", "));
    if (line.size() < kFortranLine) return line;
    return fmt::format("call {} ({})\n", function, fmt::join(arguments, ", &\n    "));
  }

  std::string assignment(std::string_view to, std::string_view value) const {
    return fmt::format("{} = {}{}\n", to, value, is_fortran_ ? "" : ";");
  }

  static std::string expression(const VariableDefinition& variable) {
    return variable.gwrite.empty() ? variable.name : variable.gwrite;
  }
  static std::string read_expression(const VariableDefinition& variable) {
    return variable.gread.empty() ? expression(variable) : variable.gread;
  }

  // C takes the address of scalars.
  std::string argument(const VariableDefinition& variable, const std::string& expression) const {
    const bool is_pointer = is_fortran_ || variable.type == ValueType::string || !variable.dimensions.empty();
    return (is_pointer ? "" : "&") + expression;
  }

  std::string bytes(const VariableDefinition& variable, const std::string& of_string) const {
    if (variable.dimensions.empty())
      return variable.type == ValueType::string ? of_string : element_text(variable.type, is_fortran_);
    std::string text = element_text(variable.type, is_fortran_);
    for (const Extension& dimension : variable.dimensions)
      if (!std::holds_alternative<TimeIndex>(dimension)) text += fmt::format(" * ({})", dimension_text(dimension));
    return text;
  }

  // What the program calls the variable that a dimension is named by.
  std::string dimension_text(const Extension& dimension) const {
    const auto* named = std::get_if<Named>(&dimension);
    if (!named) return to_string(group_, {dimension});
    const size_t* place = names_.find_variable(named->name);
    return place ? expression(group_.variables[*place]) : named->name;
  }

  std::string group_size() const {
    std::string text;
    const std::string_view next_line = is_fortran_ ? " &\n                + " : " \\\n                + ";
    for (size_t first = 0; first < group_.variables.size() || first == 0; first += kTermsOfAStatement) {
      const size_t end = std::min(group_.variables.size(), first + kTermsOfAStatement);
      std::string sum = first == 0 ? "" : "adios_groupsize";
      for (size_t i = first; i < end; ++i) {
        const VariableDefinition& variable = group_.variables[i];
        const std::string length = fmt::format("{}({})", is_fortran_ ? "len_trim" : "strlen", expression(variable));
        if (!sum.empty()) sum += next_line;
        sum += bytes(variable, length);
      }
      text += assignment("adios_groupsize", sum.empty() ? "0" : sum);
    }
    return text;
  }

  const GroupDefinition& group_;
  bool is_fortran_;
  NameIndex names_;
};

}  // namespace

std::string writing_include(const GroupDefinition& group) { return IncludeWriter(group).writing(); }

std::string reading_include(const GroupDefinition& group, ReadStyle style) {
  const IncludeWriter writer(group);
  return style == ReadStyle::selections ? writer.scheduled_reading() : writer.called_reading();
}

std::string include_name(const GroupDefinition& group, bool is_write) {
  std::string name = group.name;
  for (char& c : name)
    if (static_cast<unsigned char>(c) <= ' ' || c == '/' || c == 0x7f) c = '_';
  return fmt::format("{}_{}.{}", is_write ? "gwrite" : "gread", name, group.fortran_order ? "fh" : "ch");
}

}  // namespace forebay::io
