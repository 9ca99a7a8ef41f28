//go:build opencl && cgo

#include "launch.h"

/*
 * Sets every argument and enqueues the kernel in one crossing from Go. event may be NULL: then the
 * runtime makes none, which is what go-opencl cannot ask for and what costs it 2 us a launch on an
 * H200. *bad_arg is the argument that was refused, or -1.
 */
cl_int clrt_launch(cl_command_queue queue, cl_kernel kernel, cl_uint nargs, const clrt_arg *args, cl_uint dim,
                   const size_t *global, const size_t *local, cl_event *event, cl_int *bad_arg) {
    cl_int status = clrt_set_args(kernel, nargs, args, bad_arg);
    if (status != CL_SUCCESS) {
        return status;
    }
    return clEnqueueNDRangeKernel(queue, kernel, dim, NULL, global, local, 0, NULL, event);
}

/* *bad_arg is the argument that was refused, or -1. */
cl_int clrt_set_args(cl_kernel kernel, cl_uint nargs, const clrt_arg *args, cl_int *bad_arg) {
    for (cl_uint i = 0; i < nargs; i++) {
        cl_int status = clSetKernelArg(kernel, i, args[i].size, &args[i].value);
        if (status != CL_SUCCESS) {
            *bad_arg = (cl_int)i;
            return status;
        }
    }
    *bad_arg = -1;
    return CL_SUCCESS;
}

/*
 * Sets the arguments that changed and enqueues a list of launches, times over, in one crossing from Go. events may be
 * NULL; else it takes one event for each launch that is not skipped. *failed is the launch that was refused.
 */
cl_int clrt_run(cl_command_queue queue, cl_uint n, const clrt_prepared *list, cl_uint nchanges, const clrt_change *changes,
                cl_uint times, cl_event *events, cl_uint *failed) {
    for (cl_uint i = 0; i < nchanges; i++) {
        const clrt_change *c = &changes[i];
        cl_int status = clSetKernelArg(list[c->launch].kernel, c->arg, c->value.size, &c->value.value);
        if (status != CL_SUCCESS) {
            *failed = c->launch;
            return status;
        }
    }
    for (cl_uint t = 0; t < times; t++) {
        for (cl_uint i = 0; i < n; i++) {
            const clrt_prepared *p = &list[i];
            if (p->dim == 0) {
                continue;
            }
            cl_int status = clEnqueueNDRangeKernel(queue, p->kernel, p->dim, NULL, p->global, p->local, 0, NULL,
                                                   events ? events++ : NULL);
            if (status != CL_SUCCESS) {
                *failed = i;
                return status;
            }
        }
    }
    return CL_SUCCESS;
}

/*
 * Enqueues a marker and waits for the one before, *marker, unless that is NULL. *marker is the new one.
 */
cl_int clrt_mark(cl_command_queue queue, cl_event *marker) {
    cl_event before = *marker;
    *marker = NULL;
    cl_int status = clEnqueueMarkerWithWaitList(queue, 0, NULL, marker);
    if (status == CL_SUCCESS) {
        status = clFlush(queue);
    }
    if (before != NULL) {
        if (status == CL_SUCCESS) {
            status = clWaitForEvents(1, &before);
        }
        clReleaseEvent(before);
    }
    return status;
}

/* The device time of a finished event in nanoseconds. Releases the event. */
cl_int clrt_event_times(cl_event event, cl_ulong times[3]) {
    const cl_profiling_info what[3] = {CL_PROFILING_COMMAND_QUEUED, CL_PROFILING_COMMAND_START, CL_PROFILING_COMMAND_END};
    cl_int status = CL_SUCCESS;
    for (int i = 0; i < 3 && status == CL_SUCCESS; i++) {
        status = clGetEventProfilingInfo(event, what[i], sizeof times[i], &times[i], NULL);
    }
    clReleaseEvent(event);
    return status;
}
