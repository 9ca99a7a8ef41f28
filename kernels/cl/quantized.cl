// @depends: halves
// Matrices W [k, n] of integers of 8 or 4 bits, or of floats of 16, packed as internal/vec says: for each 64 columns, a panel, the rows
// lie one after the other, an ELEMENT for each column: a byte or a float; of 4 bits, a byte is of two rows, the first in its lower half.
// Panels of integers have a scale S for each group of rows and column, and a zero point Z there, or none: element (i, j) is
// (integer − zero)·scale. `group` is the rows of a group, a multiple of 32, or 0: all. W begins at a multiple of 4 elements.
#ifndef BITS
#define BITS 8
#endif
#if BITS == 16
#ifndef FROM_HALF
#define FROM_HALF from_bfloat16
#endif
#define JOINED_(a, b) a##b
#define JOINED(a, b) JOINED_(a, b)
#define ELEMENT ushort
#define ROWS_OF_ELEMENT 1 // rows of which an element is in an ELEMENT
#define SCALED(v, zero, scale) (v)
// The number of row i that is in an ELEMENT, and those in several.
#define NUMBER(e, i) FROM_HALF(e)
#define NUMBERS4(e, i) JOINED(FROM_HALF, _4)(e)
#define NUMBERS16(e, i) JOINED(FROM_HALF, _16)(e)
#else
#define ELEMENT uchar
#define ROWS_OF_ELEMENT (8 / BITS)
#define SCALED(v, zero, scale) (((v) - (zero)) * (scale))
#if BITS == 8
#define INTEGER(TYPE, bytes, i) convert_##TYPE(bytes)
#define NUMBERS4(e, i) convert_float4(as_char4(e))
#else
#define INTEGER(TYPE, bytes, i) ((convert_##TYPE(bytes) << (28 - (i) % 2 * 4)) >> 28)
#define NUMBERS4(e, i) convert_float4(as_char4((i) % 2 ? as_uint(e) : (as_uint(e) & 0x0f0f0f0fu) << 4) >> (char)4)
#endif
#define NUMBER(e, i) convert_float(INTEGER(int, as_char(e), i))
#define NUMBERS16(e, i) convert_float16(INTEGER(int16, as_char16(e), i))
#endif
#define PANEL 64 // columns
#define PANEL_ELEMENTS(k) (((k) + 1) / 2 * 2 / ROWS_OF_ELEMENT * PANEL)
#define GROUPS(k, group) ((group) ? ((k) + (group) - 1) / (group) : 1)
