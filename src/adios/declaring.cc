// Groups, variables, attributes and methods that are declared by calls.
#include <cstdlib>
#include <cstring>

#include <adios.h>
#include <adios_transform_methods.h>

#include "adios/configuration.h"
#include "adios/program.h"
#include "adios/report.h"
#include "io/file/transform.h"
#include "io/group/attribute_value.h"
#include "io/group/dimensions.h"
#include "io/method/registry.h"

namespace forebay::adios {
namespace {

using io::Code;
using io::Outcome;
using io::refuse;

constexpr uint64_t kMegabyte = uint64_t{1} << 20;

Outcome<io::ValueType> type_of(int number, Code code) {
  if (const auto type = io::value_type(number)) return *type;
  return refuse(code, "there is no type number " + std::to_string(number), "see enum ADIOS_DATATYPES");
}

io::Statistics statistics_of(enum ADIOS_STATISTICS_FLAG flag) {
  switch (flag) {
    case adios_stat_no:
    case adios_stat_no_do_not_use_this:
      return io::Statistics::none;
    case adios_stat_full:
      return io::Statistics::full;
    default:
      return io::Statistics::minmax;
  }
}

Outcome<int64_t> declare(const std::string& name, const std::string& time_index, enum ADIOS_STATISTICS_FLAG stats) {
  FOREBAY_TRY(io::Session* const session, Program::instance().session());
  if (name.empty()) return refuse(Code::invalid_group, "a group must have a name");
  io::GroupDefinition definition;
  definition.name = name;
  definition.time_index = time_index;
  definition.statistics = statistics_of(stats);
  return Program::instance().add(session->declare(std::move(definition)).group);
}

Outcome<int64_t> define(int64_t handle, const char* name, const char* path, int type, const char* dimensions,
                        const char* global_dimensions, const char* offsets) {
  FOREBAY_TRY(GroupHandle* const group, Program::instance().group(handle));
  io::GroupDefinition& definition = group->group->definition;
  io::VariableDefinition variable;
  variable.name = text_of(name);
  variable.path = text_of(path);
  if (variable.name.empty()) return refuse(Code::invalid_name, "a variable must have a name");
  FOREBAY_TRY(variable.type, type_of(type, Code::invalid_argument));
  const io::NameIndex& names = group->group->names();
  FOREBAY_TRY(variable.dimensions,
              io::parse_extensions(definition, names, text_of(dimensions), Code::invalid_dimension));
  FOREBAY_TRY(variable.global_dimensions,
              io::parse_extensions(definition, names, text_of(global_dimensions), Code::invalid_global_dimension));
  FOREBAY_TRY(variable.offsets, io::parse_extensions(definition, names, text_of(offsets), Code::invalid_offset));
  definition.variables.push_back(std::move(variable));
  return Program::instance().add_variable(*group, definition.variables.size() - 1);
}

Outcome<void> select(int64_t handle, io::MethodChoice choice) {
  FOREBAY_TRY(GroupHandle* const group, Program::instance().group(handle));
  FOREBAY_TRY(io::Session* const session, Program::instance().session());
  heed(choice.parameters);
  FOREBAY_TRY(const auto warnings, session->add_method(*group->group, std::move(choice)));
  if (session->is_first())
    for (const std::string& warning : warnings) warn(warning);
  return {};
}

// Values of calls that return a handle or a size, and 0 for an error.
template <class Value, class Body>
Value value_or_zero(Body&& body) {
  Value value = 0;
  guarded([&]() -> Outcome<void> {
    FOREBAY_TRY(value, body());
    return {};
  });
  return value;
}

char* copy_of(const std::string& text) { return strdup(text.c_str()); }

}  // namespace
}  // namespace forebay::adios

using namespace forebay::adios;
using Nothing = forebay::io::Outcome<void>;

extern "C" {

int adios_allocate_buffer(enum ADIOS_BUFFER_ALLOC_WHEN, uint64_t buffer_size) {
  return guarded([&]() -> Nothing {
    FOREBAY_TRY(forebay::io::Session* const session, Program::instance().session());
    session->set_buffer_limit(buffer_size * kMegabyte);
    return {};
  });
}

void adios_set_max_buffer_size(uint64_t max_buffer_size_MB) {
  guarded([&]() -> Nothing {
    FOREBAY_TRY(forebay::io::Session* const session, Program::instance().session());
    if (max_buffer_size_MB > 0 && max_buffer_size_MB <= UINT64_MAX / kMegabyte)
      session->set_buffer_limit(max_buffer_size_MB * kMegabyte);
    return {};
  });
}

int adios_declare_group(int64_t* id, const char* name, const char* time_index, enum ADIOS_STATISTICS_FLAG stats) {
  return guarded([&]() -> Nothing {
    if (!id) return refuse(Code::invalid_argument, "adios_declare_group() has no place for its handle");
    *id = 0;
    FOREBAY_TRY(*id, declare(text_of(name), text_of(time_index), stats));
    return {};
  });
}

int adios_free_group(int64_t id) {
  return guarded([&]() -> Nothing {
    FOREBAY_TRY(GroupHandle* const group, Program::instance().group(id));
    FOREBAY_TRY(forebay::io::Session* const session, Program::instance().session());
    Nothing removed = session->remove(group->group);
    Program::instance().forget_group(id);
    return removed;
  });
}

int adios_set_time_aggregation(int64_t groupid, uint64_t buffersize, int64_t syncgroupid) {
  return guarded([&]() -> Nothing {
    FOREBAY_TRY(GroupHandle* const group, Program::instance().group(groupid));
    std::string with;
    if (syncgroupid != 0) {
      FOREBAY_TRY(GroupHandle* const other, Program::instance().group(syncgroupid));
      with = other->group->definition.name;
    }
    group->group->definition.aggregate_with = with;
    if (buffersize == 0) {
      group->group->definition.aggregate_bytes.reset();
    } else {
      group->group->definition.aggregate_bytes = buffersize;
    }
    return {};
  });
}

int adios_select_method(int64_t group, const char* method, const char* parameters, const char* base_path) {
  return guarded([&] {
    return select(group, {.name = text_of(method), .parameters = text_of(parameters), .base_path = text_of(base_path)});
  });
}

int64_t adios_define_var(int64_t group_id, const char* name, const char* path, enum ADIOS_DATATYPES type,
                         const char* dimensions, const char* global_dimensions, const char* local_offsets) {
  return value_or_zero<int64_t>(
      [&] { return define(group_id, name, path, type, dimensions, global_dimensions, local_offsets); });
}

int adios_delete_vardefs(int64_t id) {
  return guarded([&]() -> Nothing {
    FOREBAY_TRY(GroupHandle* const group, Program::instance().group(id));
    group->group->definition.variables.clear();
    group->group->forget_names();
    ++group->generation;
    return {};
  });
}

int adios_delete_attrdefs(int64_t id) {
  return guarded([&]() -> Nothing {
    FOREBAY_TRY(GroupHandle* const group, Program::instance().group(id));
    group->group->definition.attributes.clear();
    group->group->forget_names();
    return {};
  });
}

uint64_t adios_expected_var_size(int64_t var_id) {
  return value_or_zero<uint64_t>([&]() -> forebay::io::Outcome<uint64_t> {
    FOREBAY_TRY(const Program::Variable variable, Program::instance().variable(var_id));
    return forebay::io::expected_bytes(*variable.group, variable.place);
  });
}

int adios_set_transform(int64_t var_id, const char* transform_type_str) {
  return guarded([&]() -> Nothing {
    FOREBAY_TRY(const Program::Variable variable, Program::instance().variable(var_id));
    FOREBAY_TRY(const auto transform, forebay::io::Transform::parse(text_of(transform_type_str)));
    FOREBAY_TRY(forebay::io::Session* const session, Program::instance().session());
    if (session->is_first())
      for (const std::string& warning : transform.warnings()) warn(warning);
    variable.group->definition.variables[variable.place].transform = text_of(transform_type_str);
    return {};
  });
}

int adios_define_attribute(int64_t group, const char* name, const char* path, enum ADIOS_DATATYPES type,
                           const char* value, const char* var) {
  return guarded([&]() -> Nothing {
    FOREBAY_TRY(GroupHandle* const found, Program::instance().group(group));
    forebay::io::GroupDefinition& definition = found->group->definition;
    forebay::io::ValueType value_type = forebay::io::ValueType::string;  // of a reference the variable's counts
    if (text_of(var).empty() || type != adios_unknown) {
      FOREBAY_TRY(value_type, type_of(type, Code::invalid_attribute_type));
    }
    FOREBAY_TRY(auto attribute, forebay::io::make_attribute(definition, text_of(name), text_of(path), value_type,
                                                            text_of(value), text_of(var)));
    definition.attributes.push_back(std::move(attribute));
    return {};
  });
}

int adios_define_attribute_byvalue(int64_t group, const char* name, const char* path, enum ADIOS_DATATYPES type,
                                   int nelems, const void* values) {
  return guarded([&]() -> Nothing {
    FOREBAY_TRY(GroupHandle* const found, Program::instance().group(group));
    FOREBAY_TRY(const forebay::io::ValueType value_type, type_of(type, Code::invalid_attribute_type));
    if (nelems < 0) return refuse(Code::invalid_attribute_value, "an attribute cannot have fewer than 0 values");
    FOREBAY_TRY(auto attribute, forebay::io::make_attribute(text_of(name), text_of(path), value_type,
                                                            static_cast<uint64_t>(nelems), values));
    found->group->definition.attributes.push_back(std::move(attribute));
    return {};
  });
}

ADIOS_AVAILABLE_WRITE_METHODS* adios_available_write_methods(void) {
  const std::vector<std::string> names = forebay::io::MethodRegistry::instance().available().names;
  auto* methods = static_cast<ADIOS_AVAILABLE_WRITE_METHODS*>(std::malloc(sizeof(ADIOS_AVAILABLE_WRITE_METHODS)));
  if (!methods) return nullptr;
  methods->nmethods = static_cast<int>(names.size());
  methods->name = static_cast<char**>(std::calloc(names.size(), sizeof(char*)));
  if (!methods->name) methods->nmethods = 0;
  for (int at = 0; at < methods->nmethods; ++at) methods->name[at] = copy_of(names[static_cast<size_t>(at)]);
  return methods;
}

ADIOS_AVAILABLE_TRANSFORM_METHODS* adios_available_transform_methods(void) {
  const auto& transforms = forebay::io::available_transforms();
  using List = ADIOS_AVAILABLE_TRANSFORM_METHODS;
  auto* methods = static_cast<List*>(std::calloc(1, sizeof(List)));
  if (!methods) return nullptr;
  methods->name = static_cast<char**>(std::calloc(transforms.size(), sizeof(char*)));
  methods->description = static_cast<char**>(std::calloc(transforms.size(), sizeof(char*)));
  if (methods->name && methods->description) methods->ntransforms = static_cast<int>(transforms.size());
  for (int at = 0; at < methods->ntransforms; ++at) {
    methods->name[at] = copy_of(transforms[static_cast<size_t>(at)].name);
    methods->description[at] = copy_of(transforms[static_cast<size_t>(at)].description);
  }
  return methods;
}

void adios_available_transform_methods_free(ADIOS_AVAILABLE_TRANSFORM_METHODS* methods) {
  if (!methods) return;
  for (int at = 0; at < methods->ntransforms; ++at) {
    std::free(methods->name[at]);
    std::free(methods->description[at]);
  }
  std::free(methods->name);
  std::free(methods->description);
  std::free(methods);
}

void adios_available_write_methods_free(ADIOS_AVAILABLE_WRITE_METHODS* methods) {
  if (!methods) return;
  for (int at = 0; at < methods->nmethods; ++at) std::free(methods->name[at]);
  std::free(methods->name);
  std::free(methods);
}
}
