//go:build opencl && cgo

/*
 * Defines the OpenCL functions of cl_functions.h as forwards into a library opened at first use, so
 * that one binary runs on machines with and without an OpenCL runtime and links against none.
 *
 * Searched in order: the path in CLGRAD_OPENCL_LIB (alone, if set), libOpenCL.so.1, libOpenCL.so.
 *
 * A runtime may replace the process's signal handlers while it starts up or compiles: PoCL registers
 * a SIGFPE handler without SA_ONSTACK, which Go's runtime forbids, and its LLVM registers several
 * more. Every forward that can do so is therefore wrapped in saving and restoring them.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cl.h"
#include "loader.h"

#define PLATFORM_NOT_FOUND (-1001) /* CL_PLATFORM_NOT_FOUND_KHR, cl_khr_icd */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static void *library;
static char load_error[1024];

#define POINTER(type, name, params, args) static type (*p_##name) params;
CL_STATUS_FUNCTIONS(POINTER)
CL_OBJECT_FUNCTIONS(POINTER)
#undef POINTER

static void load(void) {
    /* PoCL reads this when it starts. An explicit choice of the user's stands. */
    setenv("POCL_SIGFPE_HANDLER", "0", 0);

    const char *path = getenv("CLGRAD_OPENCL_LIB");
    if (path != NULL && path[0] != '\0') {
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    } else {
        library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
        if (library == NULL) library = dlopen("libOpenCL.so", RTLD_NOW | RTLD_LOCAL);
    }
    if (library == NULL) {
        const char *why = dlerror();
        snprintf(load_error, sizeof load_error, "%s", why != NULL ? why : "dlopen failed");
        return;
    }
#define RESOLVE(type, name, params, args) p_##name = (type (*) params)dlsym(library, #name);
    CL_STATUS_FUNCTIONS(RESOLVE)
    CL_OBJECT_FUNCTIONS(RESOLVE)
#undef RESOLVE
    if (p_clGetPlatformIDs == NULL) { /* a library, but of something else */
        snprintf(load_error, sizeof load_error, "it has no clGetPlatformIDs");
        library = NULL;
    }
}

static void ensure_loaded(void) { pthread_once(&once, load); }

const char *clrt_load_error(void) {
    ensure_loaded();
    return library != NULL ? NULL : load_error;
}

const char *clrt_library_path(void) {
    ensure_loaded();
    struct link_map *map;
    return library != NULL && dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 ? map->l_name : NULL;
}

#define SIGNALS 32 /* the standard signals; nobody takes real-time ones over */

typedef struct { struct sigaction action[SIGNALS]; } handlers;

static void save_handlers(handlers *h) {
    for (int s = 1; s < SIGNALS; s++) sigaction(s, NULL, &h->action[s]);
}

static void restore_handlers(const handlers *h) {
    for (int s = 1; s < SIGNALS; s++) {
        if (s != SIGKILL && s != SIGSTOP) sigaction(s, &h->action[s], NULL);
    }
}

/* The calls in which a runtime initialises itself or its compiler. The compiler folds this away. */
static inline int changes_handlers(const char *name) {
    return strcmp(name, "clGetPlatformIDs") == 0 || strcmp(name, "clGetDeviceIDs") == 0 ||
           strcmp(name, "clCreateContext") == 0 || strcmp(name, "clBuildProgram") == 0;
}

#define FORWARD_STATUS(type, name, params, args) \
    type name params { \
        ensure_loaded(); \
        if (p_##name == NULL) return PLATFORM_NOT_FOUND; \
        if (!changes_handlers(#name)) return p_##name args; \
        handlers saved; \
        save_handlers(&saved); \
        type result = p_##name args; \
        restore_handlers(&saved); \
        return result; \
    }
CL_STATUS_FUNCTIONS(FORWARD_STATUS)

#define FORWARD_OBJECT(type, name, params, args) \
    type name params { \
        ensure_loaded(); \
        if (p_##name == NULL) { \
            if (err != NULL) *err = PLATFORM_NOT_FOUND; \
            return NULL; \
        } \
        if (!changes_handlers(#name)) return p_##name args; \
        handlers saved; \
        save_handlers(&saved); \
        type result = p_##name args; \
        restore_handlers(&saved); \
        return result; \
    }
CL_OBJECT_FUNCTIONS(FORWARD_OBJECT)
