/* Arrays compressed by Forebay's codecs, for programs that have files of their own (docs/codecs.md, "An array by
 * itself"). Nothing is lost: what comes back is the same, bit for bit.
 *
 *     #include <stdio.h>
 *     #include <stdlib.h>
 *     #include <string.h>
 *
 *     #include <forebay/forebay_codec.h>
 *
 *     int main(void) {
 *       static double field[64][64], back[64][64];
 *       const uint64_t dims[] = {64, 64};
 *       const size_t room = forebay_codec_bound(sizeof field);
 *       void* const encoded = malloc(room);
 *       size_t size = 0;
 *       for (int i = 0; i < 64 * 64; ++i) field[i / 64][i % 64] = 1.0 / (1 + i);
 *       if (encoded == NULL ||
 *           forebay_codec_compress("balanced", "f8", 2, dims, field, encoded, room, &size) != FOREBAY_OK ||
 *           forebay_codec_decompress(encoded, size, back, sizeof back) != FOREBAY_OK) {
 *         fprintf(stderr, "%s\n", forebay_message());
 *         return 1;
 *       }
 *       printf("%zu bytes of %zu\n", size, sizeof field);
 *       free(encoded);
 *       return memcmp(field, back, sizeof field) != 0;
 *     }
 *
 * Functions that can fail return FOREBAY_OK or another code of forebay.h, and forebay_message() says why. None prints,
 * exits, aborts, throws, starts a thread or keeps anything: memory that a function is given belongs to the caller, is
 * used until it returns, and need not be aligned. All are thread-safe. Any of them returns FAILED when memory is used
 * up. Link with -lforebay_codec -lforebay (pkg-config forebay-codec). */
#ifndef FOREBAY_FOREBAY_CODEC_H
#define FOREBAY_FOREBAY_CODEC_H

#include <stddef.h>
#include <stdint.h>

#include "forebay/forebay.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FOREBAY_CODEC_MOST_DIMENSIONS 16
#define FOREBAY_CODEC_MOST_BYTES ((uint64_t)1 << 30) /* of an array's elements */

/* The most bytes that forebay_codec_compress() writes for an array of `bytes` bytes. */
FOREBAY_API size_t forebay_codec_bound(size_t bytes);

/* Compresses one array.
 *
 * profile: "fast", "balanced" or "max", or any other that `forebay pack --profile` takes; NULL is "balanced".
 *
 * type: of an element: "f4", "f8", "f2", "i1" to "i8", "u1" to "u8", with '>' before it if it is big-endian; "xN"
 * stands for N bytes that are no number.
 *
 * dims: `dimensions` of them, at most FOREBAY_CODEC_MOST_DIMENSIONS, the last varying fastest (those of a Fortran array
 * in reverse); may be NULL if there are none, which is one element.
 *
 * array: the elements, one after another.
 *
 * out: `room` bytes, at least forebay_codec_bound() of the array's; *size becomes the number of bytes written.
 *
 * The same arguments always give the same bytes. Takes at most 4, 8 and 9 times the memory of a large array with
 * "fast", "balanced" and "max". Codes: ARGUMENT (a type,
 * a shape or a profile that is none, or too little room), LIMIT (the array has more than FOREBAY_CODEC_MOST_BYTES:
 * compress it in pieces), FAILED; *size is 0 then. */
FOREBAY_API int forebay_codec_compress(const char* profile, const char* type, unsigned dimensions, const uint64_t* dims,
                                       const void* array, void* out, size_t room, size_t* size);

/* The compressed array's description, from its first bytes, which are checked: its elements are not. type: 8 bytes,
 * which become the type's name, NUL-terminated. dims: FOREBAY_CODEC_MOST_DIMENSIONS of them, of which *dimensions are
 * set. *bytes: of the array. Each of these may be NULL. Codes: ARGUMENT (encoded is NULL), DAMAGED (the bytes are
 * not what forebay_codec_compress() wrote), UNSUPPORTED (a later version wrote them, or this build lacks a codec). */
FOREBAY_API int forebay_codec_describe(const void* encoded, size_t size, char* type, unsigned* dimensions,
                                       uint64_t* dims, uint64_t* bytes);

/* Decompresses an array into `out`, and compares it with its checksum. room: exactly the array's bytes, as
 * forebay_codec_describe() gives them. `encoded` may come from anybody: nothing is read or written outside of it and
 * `out`. Codes: ARGUMENT, DAMAGED (the content of `out` is undefined then), UNSUPPORTED, FAILED. */
FOREBAY_API int forebay_codec_decompress(const void* encoded, size_t size, void* out, size_t room);

#ifdef __cplusplus
}
#endif

#endif
