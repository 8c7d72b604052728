/* A program of somebody else that reads what was stored. */
#include <forebay/forebay_read.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  forebay_read_run* run = NULL;
  if (forebay_read_open("/nonexistent", NULL, &run) != FOREBAY_NOT_FOUND || run != NULL) return 1;
  return strstr(forebay_message(), "/nonexistent") != NULL ? 0 : 1;
}
