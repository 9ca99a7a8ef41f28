// @depends: tma_copy
// Copies of tiles of tensors to local memory, on NVIDIA's devices of capability 9.0, for programs with
// `// @target: sm_90a`.
//
// A tensor map of 128 bytes in global memory says where a tensor of elements of 16 bits lies, and what a
// tile of it is: 64 elements by some rows. A row of a copied tile has 128 bytes, and chunk c of 16 bytes of
// row r is at c ^ r % 8. Elements past an end of the tensor are zeros. Source: the PTX ISA, "Tensors" and
// "tensormap.replace".

#ifdef NVIDIA_PTX
#define MAP_WORDS 32
#define MAP_SET(field, bits, how, text)                                                                        \
    asm volatile("//sm_90a tensormap.replace.tile." field ".shared::cta.b1024." bits " [%0], " text ";"        \
                 : : "r"(map), how : "memory")
#define MAP_CHOOSE(field, value)                                                                               \
    asm volatile("//sm_90a tensormap.replace.tile." field ".shared::cta.b1024.b32 [%0], " value ";"            \
                 : : "r"(map) : "memory")

// Makes zeros in local memory a map of `rank` axes, of which axis 0 is contiguous. MAP_LENGTH sets the length
// of axis i and how many of it a tile has, MAP_STRIDE how many bytes the elements of the axis after `before`
// are apart, a multiple of 16.
static void map_begin(uint map, global const ushort *p, int rank) {
    MAP_SET("global_address", "b64", "l"(p), "%1");
    MAP_SET("rank", "b32", "r"(rank - 1), "%1");
    MAP_CHOOSE("elemtype", "1"); // u16
    MAP_CHOOSE("interleave_layout", "0");
    MAP_CHOOSE("swizzle_mode", "3"); // of 128 bytes
    MAP_CHOOSE("fill_mode", "0");    // zeros
}
#define MAP_LENGTH(i, length, box)                                 \
    MAP_SET("global_dim", "b32", "r"(length), #i ", %1");          \
    MAP_SET("box_dim", "b32", "r"(box), #i ", %1");                \
    MAP_SET("element_stride", "b32", "r"(1), #i ", %1");
#define MAP_STRIDE(before, bytes) MAP_SET("global_stride", "b64", "l"((ulong)(bytes)), #before ", %1");

// Copies a map from local to global memory, by all lanes of a warp. map_acquire lets a work-item use it.
static void map_publish(global const int *to, uint map) {
    asm volatile("//sm_90a tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
                 "[%0], [%1], 128;" : : "l"(to), "r"(map) : "memory");
}
static void map_acquire(global const int *map) {
    asm volatile("//sm_90a fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" : : "l"(map) : "memory");
}

// Asks for the tile that begins at the coordinates.
static void copy_tile(uint to, global const int *map, int x, int y, uint counter) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3}], [%4];"
                 : : "r"(to), "l"(map), "r"(x), "r"(y), "r"(counter) : "memory");
}
static void copy_tile_of(uint to, global const int *map, int x, int y, int i2, int i1, int i0, uint counter) {
    asm volatile("cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3, %4, %5, %6}], [%7];"
                 : : "r"(to), "l"(map), "r"(x), "r"(y), "r"(i2), "r"(i1), "r"(i0), "r"(counter) : "memory");
}
#endif
