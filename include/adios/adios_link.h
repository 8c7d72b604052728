/* Links between files as readers get them. Structures and numbers are those of ADIOS 1.13. */
#ifndef ADIOS_LINK_H
#define ADIOS_LINK_H

#ifdef __cplusplus
extern "C" {
#endif

enum ADIOS_LINK_TYPE { LINK_VAR = 1, LINK_IMAGE = 2 };

typedef struct {
  int id;
  char* name;
  int nrefs;
  enum ADIOS_LINK_TYPE* type;
  char** ref_names;
  char** ref_files; /* NULL: in the file itself */
} ADIOS_LINK;

#ifdef __cplusplus
}
#endif

#endif
