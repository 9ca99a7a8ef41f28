/* Calls that go-opencl lacks: see launch.c. */
#ifndef CLRT_LAUNCH_H
#define CLRT_LAUNCH_H

#include "cl.h"

/* One kernel argument by value: a cl_mem handle, an int or a real, in the low bytes of value. */
typedef struct {
    uint64_t value;
    uint64_t size;
} clrt_arg;

cl_int clrt_launch(cl_command_queue queue, cl_kernel kernel, cl_uint nargs, const clrt_arg *args, cl_uint dim,
                   const size_t *global, const size_t *local, cl_event *event, cl_int *bad_arg);

/* A launch whose arguments its own kernel holds. Without dimensions it is skipped. */
typedef struct {
    cl_kernel kernel;
    cl_uint dim;
    size_t global[3], local[3];
} clrt_prepared;

/* An argument that is set before each run. */
typedef struct {
    cl_uint launch, arg;
    clrt_arg value;
} clrt_change;

cl_int clrt_set_args(cl_kernel kernel, cl_uint nargs, const clrt_arg *args, cl_int *bad_arg);

cl_int clrt_run(cl_command_queue queue, cl_uint n, const clrt_prepared *list, cl_uint nchanges, const clrt_change *changes,
                cl_uint times, cl_event *events, cl_uint *failed);

cl_int clrt_mark(cl_command_queue queue, cl_event *marker);

/* When a launch was queued, started and ended, in nanoseconds of the device's clock. Releases the event. */
cl_int clrt_event_times(cl_event event, cl_ulong times[3]);

#endif
