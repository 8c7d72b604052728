// Descriptions of meshes, which are attributes.
#include "io/group/mesh.h"

#include <adios.h>

#include "adios/program.h"
#include "adios/report.h"

namespace forebay::adios {
namespace {

// Calls `describe(definition)` for the group.
template <class Describe>
int described(int64_t group, const Describe& describe) {
  return guarded([&]() -> io::Outcome<void> {
    FOREBAY_TRY(GroupHandle* const found, Program::instance().group(group));
    if constexpr (std::is_void_v<decltype(describe(found->group->definition))>) {
      describe(found->group->definition);
      return {};
    } else {
      return describe(found->group->definition);
    }
  });
}

std::string_view view_of(const char* text) { return text ? text : ""; }

}  // namespace
}  // namespace forebay::adios

using namespace forebay::adios;
namespace mesh = forebay::io;
using Definition = forebay::io::GroupDefinition;

extern "C" {

int adios_define_schema_version(int64_t group_id, char* schema_version) {
  return described(group_id,
                   [&](Definition& group) { return mesh::set_schema_version(group, view_of(schema_version)); });
}

int adios_define_var_mesh(int64_t group_id, const char* varname, const char* meshname) {
  return described(group_id,
                   [&](Definition& group) { mesh::set_variable_mesh(group, view_of(varname), view_of(meshname)); });
}

int adios_define_var_centering(int64_t group_id, const char* varname, const char* centering) {
  return described(
      group_id, [&](Definition& group) { mesh::set_variable_centering(group, view_of(varname), view_of(centering)); });
}

int adios_define_var_timesteps(const char* timesteps, int64_t group_id, const char* name) {
  return described(group_id, [&](Definition& group) {
    return mesh::set_variable_time(group, view_of(name), mesh::MeshTime::steps, view_of(timesteps));
  });
}

int adios_define_var_timescale(const char* timescale, int64_t group_id, const char* name) {
  return described(group_id, [&](Definition& group) {
    return mesh::set_variable_time(group, view_of(name), mesh::MeshTime::scale, view_of(timescale));
  });
}

int adios_define_var_timeseriesformat(const char* timeseries, int64_t group_id, const char* name) {
  return described(group_id, [&](Definition& group) {
    mesh::set_variable_series_format(group, view_of(name), view_of(timeseries));
  });
}

int adios_define_var_hyperslab(const char* hyperslab, int64_t group_id, const char* name) {
  return described(group_id, [&](Definition& group) {
    return mesh::set_variable_hyperslab(group, view_of(name), view_of(hyperslab));
  });
}

int adios_define_mesh_file(int64_t group_id, char* name, char* file) {
  return described(group_id, [&](Definition& group) {
    mesh::set_mesh_text(group, view_of(name), mesh::MeshText::mesh_file, view_of(file));
  });
}

int adios_define_mesh_timevarying(const char* timevarying, int64_t group_id, const char* name) {
  return described(group_id, [&](Definition& group) {
    mesh::set_mesh_text(group, view_of(name), mesh::MeshText::time_varying, view_of(timevarying));
  });
}

int adios_define_mesh_timesteps(const char* timesteps, int64_t group_id, const char* name) {
  return described(group_id, [&](Definition& group) {
    return mesh::set_mesh_time(group, view_of(name), mesh::MeshTime::steps, view_of(timesteps));
  });
}

int adios_define_mesh_timescale(const char* timescale, int64_t group_id, const char* name) {
  return described(group_id, [&](Definition& group) {
    return mesh::set_mesh_time(group, view_of(name), mesh::MeshTime::scale, view_of(timescale));
  });
}

int adios_define_mesh_timeseriesformat(const char* timeseries, int64_t group_id, const char* name) {
  return described(group_id,
                   [&](Definition& group) { mesh::set_mesh_series_format(group, view_of(name), view_of(timeseries)); });
}

int adios_define_mesh_group(const char* group_name, int64_t group_id, const char* name) {
  return described(group_id, [&](Definition& group) {
    mesh::set_mesh_text(group, view_of(name), mesh::MeshText::mesh_group, view_of(group_name));
  });
}

int adios_define_mesh_uniform(char* dimensions, char* origin, char* spacing, char* maximum, char* nspace,
                              int64_t group_id, const char* name) {
  return described(group_id, [&](Definition& group) {
    return mesh::define_mesh(
        group, view_of(name),
        mesh::UniformMesh{view_of(dimensions), view_of(origin), view_of(spacing), view_of(maximum), view_of(nspace)});
  });
}

int adios_define_mesh_rectilinear(char* dimensions, char* coordinates, char* nspace, int64_t group_id,
                                  const char* name) {
  return described(group_id, [&](Definition& group) {
    return mesh::define_mesh(group, view_of(name), mesh::MeshKind::rectilinear,
                             mesh::CurvedMesh{view_of(dimensions), view_of(coordinates), view_of(nspace)});
  });
}

int adios_define_mesh_structured(char* dimensions, char* points, char* nspace, int64_t group_id, const char* name) {
  return described(group_id, [&](Definition& group) {
    return mesh::define_mesh(group, view_of(name), mesh::MeshKind::structured,
                             mesh::CurvedMesh{view_of(dimensions), view_of(points), view_of(nspace)});
  });
}

int adios_define_mesh_unstructured(char* points, char* data, char* count, char* cell_type, char* npoints, char* nspace,
                                   int64_t group_id, const char* name) {
  return described(group_id, [&](Definition& group) {
    return mesh::define_mesh(group, view_of(name),
                             mesh::UnstructuredMesh{view_of(points), view_of(data), view_of(count), view_of(cell_type),
                                                    view_of(npoints), view_of(nspace)});
  });
}
}
