/* Meshes as readers get them. Structures and numbers are those of ADIOS 1.13. */
#ifndef ADIOS_SCHEMA_H
#define ADIOS_SCHEMA_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ADIOS_MESH_TYPE {
  ADIOS_MESH_UNIFORM = 1,
  ADIOS_MESH_STRUCTURED = 2,
  ADIOS_MESH_RECTILINEAR = 3,
  ADIOS_MESH_UNSTRUCTURED = 4
};

typedef struct {
  int num_dimensions;
  uint64_t* dimensions;
  double* origins;  /* 0 if not given */
  double* spacings; /* 1, or as maximums give it */
  double* maximums; /* as the others give it */
} MESH_UNIFORM;

typedef struct {
  int use_single_var; /* 1: one variable has all coordinates; 0: one for each dimension */
  int num_dimensions;
  uint64_t* dimensions;
  char** coordinates; /* names of these variables */
} MESH_RECTILINEAR;

typedef struct {
  int use_single_var;
  int num_dimensions;
  uint64_t* dimensions;
  int nspaces;
  char** points;
} MESH_STRUCTURED;

enum ADIOS_CELL_TYPE {
  ADIOS_CELL_PT = 1,
  ADIOS_CELL_LINE = 2,
  ADIOS_CELL_TRI = 3,
  ADIOS_CELL_QUAD = 4,
  ADIOS_CELL_HEX = 5,
  ADIOS_CELL_PRI = 6,
  ADIOS_CELL_TET = 7,
  ADIOS_CELL_PYR = 8
};

typedef struct {
  int nspaces;
  uint64_t npoints;
  int nvar_points; /* how many variables have the points */
  char** points;
  int ncsets; /* sets of cells, each with the three below */
  uint64_t* ccounts;
  char** cdata;
  enum ADIOS_CELL_TYPE* ctypes;
} MESH_UNSTRUCTURED;

typedef struct {
  int id;
  char* name;
  char* file_name; /* NULL: the mesh is in the file itself */
  int time_varying;
  enum ADIOS_MESH_TYPE type;
  union {
    MESH_UNIFORM* uniform;
    MESH_RECTILINEAR* rectilinear;
    MESH_STRUCTURED* structured;
    MESH_UNSTRUCTURED* unstructured;
  };
} ADIOS_MESH;

#ifdef __cplusplus
}
#endif

#endif
