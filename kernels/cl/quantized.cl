// Matrices W [k, n] of integers of 8 or 4 bits, packed as internal/vec says: for each 64 columns, a panel, the rows lie one after the
// other, a byte for each column; of 4 bits, a byte is of two rows, the first in its lower half. Panels have a scale S for each group of
// rows and column, and a zero point Z there, or none: element (i, j) is (integer − zero)·scale. `group` is the rows of a group, a
// multiple of 32, or 0: all. W begins at a multiple of 4 bytes.
#ifndef BITS
#define BITS 8
#endif
#define PANEL 64                         // columns
#define ROWS_OF_BYTE (8 / BITS)          // rows of which an element is in a byte
#define PANEL_BYTES(k) (((k) + 1) / 2 * 2 / ROWS_OF_BYTE * PANEL)
#define GROUPS(k, group) ((group) ? ((k) + (group) - 1) / (group) : 1)

// The integer of row i that is in a byte, or those in several, as ints.
#if BITS == 8
#define INTEGER(TYPE, bytes, i) convert_##TYPE(bytes)
#else
#define INTEGER(TYPE, bytes, i) ((convert_##TYPE(bytes) << (28 - (i) % 2 * 4)) >> 28)
#endif
