//go:build opencl && cgo

#include "launch.h"

/*
 * Sets every argument and enqueues the kernel in one crossing from Go. event may be NULL: then the
 * runtime makes none, which is what go-opencl cannot ask for and what costs it 2 us a launch on an
 * H200. *bad_arg is the argument that was refused, or -1.
 */
cl_int clrt_launch(cl_command_queue queue, cl_kernel kernel, cl_uint nargs, const clrt_arg *args, cl_uint dim,
                   const size_t *global, const size_t *local, cl_event *event, cl_int *bad_arg) {
    for (cl_uint i = 0; i < nargs; i++) {
        cl_int status = clSetKernelArg(kernel, i, args[i].size, &args[i].value);
        if (status != CL_SUCCESS) {
            *bad_arg = (cl_int)i;
            return status;
        }
    }
    *bad_arg = -1;
    return clEnqueueNDRangeKernel(queue, kernel, dim, NULL, global, local, 0, NULL, event);
}

/* The device time of a finished event in nanoseconds. Releases the event. */
cl_int clrt_event_ns(cl_event event, cl_ulong *ns) {
    cl_ulong start = 0, end = 0;
    cl_int status = clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL);
    if (status == CL_SUCCESS) {
        status = clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);
    }
    *ns = end - start;
    clReleaseEvent(event);
    return status;
}
