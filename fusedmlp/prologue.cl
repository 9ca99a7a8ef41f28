// @depends: common
// How steps of perceptrons read their inputs X [, INPUTS] and targets T [, OUTPUTS], so that these can be computed in the same launch:
// a text before this file, which internal/fused/prologuetext.go writes, says what they are made of. By themselves they are read as they lie.
//
//   GET_X(v, s, i)  element i of row s, of which v has the values that are kept
//   GET_T(s, i)     the same, of which none are kept
//   GET_LOCALS      local memory of_x for the values of TILE rows, if there are any
//   GET_FILL        sets it to those of the rows from `base` on, of n, by ITEMS work-items of which this is lid, with a barrier behind it
//   GET_PARAMS      further parameters of the entry point

#ifndef GET_PARAMS
#define GET_PARAMS
#define GET_LOCALS
#define GET_FILL
#define GET_X(v, s, i) X[X_off + (s) * INPUTS + (i)]
#define GET_T(s, i) T[T_off + (s) * OUTPUTS + (i)]
#endif
