/* A program of somebody else: the headers compile as C, and the library answers for their version. */
#include <forebay/forebay.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  puts(forebay_version());
  puts(forebay_build_info());
  return strcmp(forebay_version(), FOREBAY_VERSION) == 0 ? 0 : 1;
}
