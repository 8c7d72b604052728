/* A program of somebody else: the headers compile as C, and the library answers for their version. */
#include <forebay/forebay.h>
#include <forebay/forebay_lock.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  puts(forebay_version());
  puts(forebay_build_info());
  forebay_lock_client* client = NULL;
  if (forebay_lock_connect("nonsense", NULL, &client) != FOREBAY_ARGUMENT) return 1;
  if (strstr(forebay_message(), "nonsense") == NULL) return 1;
  return strcmp(forebay_version(), FOREBAY_VERSION) == 0 ? 0 : 1;
}
