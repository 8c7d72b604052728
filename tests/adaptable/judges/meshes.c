/* Prints the meshes of a file, and which variables are on them: meshes FILE. */
#include <adios_read.h>
#include <stdio.h>

static void sizes(const char* what, int n, const uint64_t* of) {
  int i;
  printf(", %s", what);
  for (i = 0; i < n; ++i) printf(" %" PRIu64, of[i]);
}

static void numbers(const char* what, int n, const double* of) {
  int i;
  printf(", %s", what);
  for (i = 0; i < n; ++i) printf(" %g", of[i]);
}

static void names(const char* what, int n, char** of) {
  int i;
  printf(", %s", what);
  for (i = 0; i < n; ++i) printf(" %s", of[i]);
}

static void print_unstructured(const MESH_UNSTRUCTURED* m) {
  int i;
  printf(": %d spaces, %" PRIu64 " points", m->nspaces, m->npoints);
  names("points", m->nvar_points, m->points);
  sizes("cells", m->ncsets, m->ccounts);
  names("corners", m->ncsets, m->cdata);
  for (i = 0; i < m->ncsets; ++i) printf(", type %d", m->ctypes[i]);
}

static void print_mesh(const ADIOS_MESH* m) {
  printf("mesh %d %s, type %d, varies %d", m->id, m->name, m->type, m->time_varying);
  if (m->type == ADIOS_MESH_UNIFORM) {
    sizes("dimensions", m->uniform->num_dimensions, m->uniform->dimensions);
    numbers("origins", m->uniform->num_dimensions, m->uniform->origins);
    numbers("spacings", m->uniform->num_dimensions, m->uniform->spacings);
    numbers("maximums", m->uniform->num_dimensions, m->uniform->maximums);
  } else if (m->type == ADIOS_MESH_RECTILINEAR) {
    sizes("dimensions", m->rectilinear->num_dimensions, m->rectilinear->dimensions);
    names("coordinates", m->rectilinear->use_single_var ? 1 : m->rectilinear->num_dimensions,
          m->rectilinear->coordinates);
  } else if (m->type == ADIOS_MESH_STRUCTURED) {
    printf(", %d spaces", m->structured->nspaces);
    sizes("dimensions", m->structured->num_dimensions, m->structured->dimensions);
    names("points", m->structured->use_single_var ? 1 : m->structured->num_dimensions, m->structured->points);
  } else {
    print_unstructured(m->unstructured);
  }
  printf("\n");
}

int main(int argc, char** argv) {
  ADIOS_FILE* f = argc > 1 ? adios_read_open_file(argv[1], ADIOS_READ_METHOD_BP, 0) : NULL;
  int i;
  if (!f) return 1;
  printf("%d meshes\n", f->nmeshes);
  for (i = 0; i < f->nmeshes; ++i) {
    ADIOS_MESH* m = adios_inq_mesh_byid(f, i);
    if (!m) return 2;
    if (m->file_name) { /* what else there is to know is there */
      ADIOS_FILE* g = adios_read_open_file(m->file_name, ADIOS_READ_METHOD_BP, 0);
      printf("in %s: ", m->file_name);
      if (!g || adios_complete_meshinfo(f, g, m)) return 3;
      adios_read_close(g);
    }
    print_mesh(m);
    adios_free_meshinfo(m);
  }
  for (i = 0; i < f->nvars; ++i) {
    ADIOS_VARINFO* v = adios_inq_var_byid(f, i);
    int missing = adios_inq_var_meshinfo(f, v);
    if (missing)
      printf("%s: %d\n", f->var_namelist[i], missing);
    else
      printf("%s: mesh %d, %d\n", f->var_namelist[i], v->meshinfo->meshid, v->meshinfo->centering);
    adios_free_varinfo(v);
  }
  return adios_read_close(f);
}
