// One adios-group element.
#pragma once

#include <string>

#include "io/config/document.h"
#include "io/group/definition.h"

namespace forebay::io {

// What the root element says of all groups.
struct GroupDefaults {
  bool is_fortran = true;
  std::string schema_version;  // or empty
};

Outcome<GroupDefinition> read_group(const Element& element, const GroupDefaults& defaults);

// Whether the element's host-language is Fortran; `otherwise` if it has none. invalid_host_language.
Outcome<bool> read_language(const Element& element, bool otherwise);

// Adds the attributes that describe the mesh. What is wrong with it is a warning: data are written without a mesh, too.
void read_mesh(const Element& element, GroupDefinition& group);

// The same of what a var element says of its mesh.
void read_variable_mesh(const Element& element, const std::string& variable, GroupDefinition& group);

}  // namespace forebay::io
