// Types and helpers that every kernel file uses.
//
// REAL is the device's real type, float unless built with -DREAL_IS_DOUBLE. A buffer argument is
// always followed by the offset of its first element: views share one buffer.

#ifdef REAL_IS_DOUBLE
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define REAL double
#define REAL2 double2
#define REAL4 double4
#define REAL8 double8
#define REAL16 double16
#else
#define REAL float
#define REAL2 float2
#define REAL4 float4
#define REAL8 float8
#define REAL16 float16
#endif

#define IN(name) global const REAL *name, int name##_off
#define OUT(name) global REAL *name, int name##_off
#define IN_INTS(name) global const int *name, int name##_off
#define OUT_INTS(name) global int *name, int name##_off
