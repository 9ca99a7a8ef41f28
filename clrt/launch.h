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

cl_int clrt_event_ns(cl_event event, cl_ulong *ns);

#endif
