/*
 * Every OpenCL function this binary can call, once: cl.h declares and loader.c defines them from
 * this list. F(result type, name, (parameters), (arguments)).
 */
#ifndef CLRT_CL_FUNCTIONS_H
#define CLRT_CL_FUNCTIONS_H

/* Functions that return a status. */
#define CL_STATUS_FUNCTIONS(F) \
    F(cl_int, clGetPlatformIDs, \
      (cl_uint n, cl_platform_id *ids, cl_uint *count), \
      (n, ids, count)) \
    F(cl_int, clGetPlatformInfo, \
      (cl_platform_id p, cl_platform_info what, size_t size, void *value, size_t *size_ret), \
      (p, what, size, value, size_ret)) \
    F(cl_int, clGetDeviceIDs, \
      (cl_platform_id p, cl_device_type type, cl_uint n, cl_device_id *ids, cl_uint *count), \
      (p, type, n, ids, count)) \
    F(cl_int, clGetDeviceInfo, \
      (cl_device_id d, cl_device_info what, size_t size, void *value, size_t *size_ret), \
      (d, what, size, value, size_ret)) \
    F(cl_int, clReleaseContext, \
      (cl_context c), \
      (c)) \
    F(cl_int, clReleaseCommandQueue, \
      (cl_command_queue q), \
      (q)) \
    F(cl_int, clGetSupportedImageFormats, \
      (cl_context c, cl_mem_flags flags, cl_mem_object_type type, cl_uint n, cl_image_format *formats, cl_uint *count), \
      (c, flags, type, n, formats, count)) \
    F(cl_int, clReleaseMemObject, \
      (cl_mem m), \
      (m)) \
    F(cl_int, clBuildProgram, \
      (cl_program p, cl_uint n, const cl_device_id *ids, const char *options, void (*notify)(cl_program, void *), void *data), \
      (p, n, ids, options, notify, data)) \
    F(cl_int, clGetProgramBuildInfo, \
      (cl_program p, cl_device_id d, cl_program_build_info what, size_t size, void *value, size_t *size_ret), \
      (p, d, what, size, value, size_ret)) \
    F(cl_int, clGetProgramInfo, \
      (cl_program p, cl_program_info what, size_t size, void *value, size_t *size_ret), \
      (p, what, size, value, size_ret)) \
    F(cl_int, clReleaseProgram, \
      (cl_program p), \
      (p)) \
    F(cl_int, clSetKernelArg, \
      (cl_kernel k, cl_uint index, size_t size, const void *value), \
      (k, index, size, value)) \
    F(cl_int, clGetKernelInfo, \
      (cl_kernel k, cl_kernel_info what, size_t size, void *value, size_t *size_ret), \
      (k, what, size, value, size_ret)) \
    F(cl_int, clGetKernelArgInfo, \
      (cl_kernel k, cl_uint index, cl_kernel_arg_info what, size_t size, void *value, size_t *size_ret), \
      (k, index, what, size, value, size_ret)) \
    F(cl_int, clGetKernelWorkGroupInfo, \
      (cl_kernel k, cl_device_id d, cl_kernel_work_group_info what, size_t size, void *value, size_t *size_ret), \
      (k, d, what, size, value, size_ret)) \
    F(cl_int, clReleaseKernel, \
      (cl_kernel k), \
      (k)) \
    F(cl_int, clWaitForEvents, \
      (cl_uint n, const cl_event *events), \
      (n, events)) \
    F(cl_int, clGetEventProfilingInfo, \
      (cl_event e, cl_profiling_info what, size_t size, void *value, size_t *size_ret), \
      (e, what, size, value, size_ret)) \
    F(cl_int, clSetUserEventStatus, \
      (cl_event e, cl_int status), \
      (e, status)) \
    F(cl_int, clReleaseEvent, \
      (cl_event e), \
      (e)) \
    F(cl_int, clFlush, \
      (cl_command_queue q), \
      (q)) \
    F(cl_int, clFinish, \
      (cl_command_queue q), \
      (q)) \
    F(cl_int, clEnqueueReadBuffer, \
      (cl_command_queue q, cl_mem m, cl_bool blocking, size_t offset, size_t size, void *ptr, cl_uint nwait, const cl_event *wait, cl_event *event), \
      (q, m, blocking, offset, size, ptr, nwait, wait, event)) \
    F(cl_int, clEnqueueWriteBuffer, \
      (cl_command_queue q, cl_mem m, cl_bool blocking, size_t offset, size_t size, const void *ptr, cl_uint nwait, const cl_event *wait, cl_event *event), \
      (q, m, blocking, offset, size, ptr, nwait, wait, event)) \
    F(cl_int, clEnqueueCopyBuffer, \
      (cl_command_queue q, cl_mem src, cl_mem dst, size_t src_offset, size_t dst_offset, size_t size, cl_uint nwait, const cl_event *wait, cl_event *event), \
      (q, src, dst, src_offset, dst_offset, size, nwait, wait, event)) \
    F(cl_int, clEnqueueFillBuffer, \
      (cl_command_queue q, cl_mem m, const void *pattern, size_t pattern_size, size_t offset, size_t size, cl_uint nwait, const cl_event *wait, cl_event *event), \
      (q, m, pattern, pattern_size, offset, size, nwait, wait, event)) \
    F(cl_int, clEnqueueReadImage, \
      (cl_command_queue q, cl_mem m, cl_bool blocking, const size_t *origin, const size_t *region, size_t row_pitch, size_t slice_pitch, void *ptr, cl_uint nwait, const cl_event *wait, cl_event *event), \
      (q, m, blocking, origin, region, row_pitch, slice_pitch, ptr, nwait, wait, event)) \
    F(cl_int, clEnqueueWriteImage, \
      (cl_command_queue q, cl_mem m, cl_bool blocking, const size_t *origin, const size_t *region, size_t row_pitch, size_t slice_pitch, const void *ptr, cl_uint nwait, const cl_event *wait, cl_event *event), \
      (q, m, blocking, origin, region, row_pitch, slice_pitch, ptr, nwait, wait, event)) \
    F(cl_int, clEnqueueUnmapMemObject, \
      (cl_command_queue q, cl_mem m, void *ptr, cl_uint nwait, const cl_event *wait, cl_event *event), \
      (q, m, ptr, nwait, wait, event)) \
    F(cl_int, clEnqueueNDRangeKernel, \
      (cl_command_queue q, cl_kernel k, cl_uint dim, const size_t *offset, const size_t *global, const size_t *local, cl_uint nwait, const cl_event *wait, cl_event *event), \
      (q, k, dim, offset, global, local, nwait, wait, event)) \
    F(cl_int, clEnqueueMarkerWithWaitList, \
      (cl_command_queue q, cl_uint nwait, const cl_event *wait, cl_event *event), \
      (q, nwait, wait, event)) \
    F(cl_int, clEnqueueBarrierWithWaitList, \
      (cl_command_queue q, cl_uint nwait, const cl_event *wait, cl_event *event), \
      (q, nwait, wait, event))

/* Functions that return an object and report the status through err. */
#define CL_OBJECT_FUNCTIONS(F) \
    F(cl_context, clCreateContext, \
      (const cl_context_properties *props, cl_uint n, const cl_device_id *ids, void (*notify)(const char *, const void *, size_t, void *), void *data, cl_int *err), \
      (props, n, ids, notify, data, err)) \
    F(cl_command_queue, clCreateCommandQueue, \
      (cl_context c, cl_device_id d, cl_command_queue_properties props, cl_int *err), \
      (c, d, props, err)) \
    F(cl_mem, clCreateBuffer, \
      (cl_context c, cl_mem_flags flags, size_t size, void *ptr, cl_int *err), \
      (c, flags, size, ptr, err)) \
    F(cl_mem, clCreateImage, \
      (cl_context c, cl_mem_flags flags, const cl_image_format *format, const cl_image_desc *desc, void *ptr, cl_int *err), \
      (c, flags, format, desc, ptr, err)) \
    F(cl_program, clCreateProgramWithSource, \
      (cl_context c, cl_uint n, const char **strings, const size_t *lengths, cl_int *err), \
      (c, n, strings, lengths, err)) \
    F(cl_program, clCreateProgramWithBinary, \
      (cl_context c, cl_uint n, const cl_device_id *ids, const size_t *lengths, const unsigned char **binaries, cl_int *status, cl_int *err), \
      (c, n, ids, lengths, binaries, status, err)) \
    F(cl_kernel, clCreateKernel, \
      (cl_program p, const char *name, cl_int *err), \
      (p, name, err)) \
    F(cl_event, clCreateUserEvent, \
      (cl_context c, cl_int *err), \
      (c, err)) \
    F(void *, clEnqueueMapBuffer, \
      (cl_command_queue q, cl_mem m, cl_bool blocking, cl_map_flags flags, size_t offset, size_t size, cl_uint nwait, const cl_event *wait, cl_event *event, cl_int *err), \
      (q, m, blocking, flags, offset, size, nwait, wait, event, err)) \
    F(void *, clEnqueueMapImage, \
      (cl_command_queue q, cl_mem m, cl_bool blocking, cl_map_flags flags, const size_t *origin, const size_t *region, size_t *row_pitch, size_t *slice_pitch, cl_uint nwait, const cl_event *wait, cl_event *event, cl_int *err), \
      (q, m, blocking, flags, origin, region, row_pitch, slice_pitch, nwait, wait, event, err))

#endif
