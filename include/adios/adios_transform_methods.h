/* The transforms of variables that there are, for programs that ask at run time. adios_set_transform() in adios.h, and
   `transform` in the XML file, take these names. */
#ifndef ADIOS_TRANSFORM_METHODS_H
#define ADIOS_TRANSFORM_METHODS_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  int ntransforms;
  char** name;
  char** description; /* one line for each name */
} ADIOS_AVAILABLE_TRANSFORM_METHODS;

/* NULL if there is no memory. To be given back with the other function. */
ADIOS_AVAILABLE_TRANSFORM_METHODS* adios_available_transform_methods(void);
void adios_available_transform_methods_free(ADIOS_AVAILABLE_TRANSFORM_METHODS* methods);

#ifdef __cplusplus
}
#endif

#endif
