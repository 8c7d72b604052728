// Meshes: what a visualisation needs to draw variables. A description is nothing but attributes of the group with names
// that readers know, /adios_schema/MESH/... and VARIABLE/adios_schema/...; texts in it are numbers or names of
// variables, which are not looked up.
#pragma once

#include <cstdint>
#include <string_view>

#include "io/group/definition.h"
#include "io/group/failure.h"

namespace forebay::io {

enum class MeshKind : uint8_t { uniform, rectilinear, structured, unstructured };

// All functions add attributes to `group`; an empty text is "not given" and adds none. What is wrong with a description
// is an invalid_argument, and what was added before stays.

// "1.1"
Outcome<void> set_schema_version(GroupDefinition& group, std::string_view version);

// Every mesh has a kind; what else it must have is said below.
void set_mesh_kind(GroupDefinition& group, std::string_view mesh, MeshKind kind);

enum class MeshText : uint8_t { nspace, npoints, time_varying, mesh_file, mesh_group };
void set_mesh_text(GroupDefinition& group, std::string_view mesh, MeshText which, std::string_view value);

// Lists with commas. A mesh needs dimensions, but an unstructured one.
enum class MeshList : uint8_t { dimensions, origins, spacings, maximums };
void set_mesh_list(GroupDefinition& group, std::string_view mesh, MeshList which, std::string_view list);

// The variables that have the coordinates: one with all of them, or one for each dimension. Rectilinear meshes call
// them coordinates, structured and unstructured ones points.
void set_mesh_coordinates(GroupDefinition& group, std::string_view mesh, MeshKind kind, std::string_view variables);

// Of an unstructured mesh: for each set of cells their number, the variable with their corners, and their kind
// ("triangle", "quad", ...). invalid_argument unless the lists are equally long and not empty.
Outcome<void> set_mesh_cells(GroupDefinition& group, std::string_view mesh, std::string_view counts,
                             std::string_view data, std::string_view types);

// Which steps, or which times, are meant: "VARIABLE" or "NUMBER" for one, "MIN,MAX", "START,STRIDE,COUNT".
// invalid_argument for more.
enum class MeshTime : uint8_t { steps, scale };
Outcome<void> set_mesh_time(GroupDefinition& group, std::string_view mesh, MeshTime which, std::string_view list);
void set_mesh_series_format(GroupDefinition& group, std::string_view mesh, std::string_view format);

// Of variables, by full name: on which mesh they live, "point" or "cell", at which steps and times, and which part of
// the array is meant ("N", "MIN,MAX", "START,STRIDE,COUNT").
void set_variable_mesh(GroupDefinition& group, std::string_view variable, std::string_view mesh);
void set_variable_centering(GroupDefinition& group, std::string_view variable, std::string_view centering);
Outcome<void> set_variable_time(GroupDefinition& group, std::string_view variable, MeshTime which,
                                std::string_view list);
Outcome<void> set_variable_hyperslab(GroupDefinition& group, std::string_view variable, std::string_view list);
void set_variable_series_format(GroupDefinition& group, std::string_view variable, std::string_view format);

// Whole meshes, as one call of a program gives them.
struct UniformMesh {
  std::string_view dimensions, origins, spacings, maximums, nspace;
};
struct CurvedMesh {  // rectilinear or structured
  std::string_view dimensions, coordinates, nspace;
};
struct UnstructuredMesh {
  std::string_view points, data, counts, cell_types, npoints, nspace;
};
Outcome<void> define_mesh(GroupDefinition& group, std::string_view name, const UniformMesh& mesh);
Outcome<void> define_mesh(GroupDefinition& group, std::string_view name, MeshKind kind, const CurvedMesh& mesh);
Outcome<void> define_mesh(GroupDefinition& group, std::string_view name, const UnstructuredMesh& mesh);

}  // namespace forebay::io
