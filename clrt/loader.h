/* Run-time loading of the OpenCL library: see loader.c. */
#ifndef CLRT_LOADER_H
#define CLRT_LOADER_H

/* Why the library could not be loaded, or NULL once it is loaded. Tries to load it at the first call. */
const char *clrt_load_error(void);

/* The path of the library that was loaded, or NULL if none was. */
const char *clrt_library_path(void);

#endif
