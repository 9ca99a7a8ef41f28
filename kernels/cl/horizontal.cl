// Two launches in one, each with work-groups of its own, for devices that are no CPU: see internal/fused/horizontal.go.
// It stands before the files of both, which ask for their place as in a launch of their own. The work-groups of the
// first row are the former's. The latter's are those of the rows behind it, row by row.

#ifndef FORMER_WIDE
#define FORMER_WIDE 256 // work-items of a work-group of the former along its first dimension; they are as many in all as the latter's
#endif
#ifndef LATTER_WIDE
#define LATTER_WIDE 256
#endif

static uint horizontal_former(void) { return get_group_id(1) == 0; }

static uint horizontal_wide(void) { return horizontal_former() ? FORMER_WIDE : LATTER_WIDE; }

static size_t horizontal_group(uint d) {
    if (d > 0) return 0;
    return horizontal_former() ? get_group_id(0) : (get_group_id(1) - 1) * get_num_groups(0) + get_group_id(0);
}

static size_t horizontal_local(uint d) {
    const uint i = get_local_id(0);
    return d == 0 ? i % horizontal_wide() : d == 1 ? i / horizontal_wide() : 0;
}

static size_t horizontal_global(uint d) { return d == 0 ? horizontal_group(0) * horizontal_wide() + horizontal_local(0) : horizontal_local(d); }

static size_t horizontal_size(uint d) { return d == 0 ? horizontal_wide() : d == 1 ? get_local_size(0) / horizontal_wide() : 1; }

#define get_group_id(d) horizontal_group(d)
#define get_local_id(d) horizontal_local(d)
#define get_global_id(d) horizontal_global(d)
#define get_local_size(d) horizontal_size(d)
