// @depends: common, reduce_gpu, rules
// AdamW (rules.cl) whose work-groups add up the gradient of their parameters first, from shares. Built with -DFUNCTIONS.
//
// BLOCKS has eight ints for each work-group: the kind of block, where it begins, how many elements it has, lx, where the first share
// of its first element lies, how many shares there are, and how many elements lie between those of an element. The kinds are
//
//   0  parameters from P[at] on, whose gradient is the sum of shares in PART
//   1  parameters whose gradient lies in G, from the element on where a share would
//
// A work-group is lx columns by SUM_GROUP/lx slices of the shares, as that of k_sum_axis: so the sums have its bits.

kernel __attribute__((reqd_work_group_size(SUM_GROUP, 1, 1)))
void k_adamw_sums(OUT(P), IN(G), IN(PART), OUT(M), OUT(V), IN_INTS(BLOCKS), REAL decay, REAL b1, REAL one_b1, REAL b2, REAL one_b2,
                  REAL step, REAL root, REAL eps) {
    local REAL t[SUM_GROUP];
    const int lid = get_local_id(0);
    const int8 block = vload8(0, BLOCKS + BLOCKS_off + 8 * get_group_id(0));
    const int kind = block.s0, lx = block.s3, column = lid % lx, at = block.s1 + column, has = column < block.s2;
    slice_sums((kind == 1 ? G + G_off : PART + PART_off) + block.s4 + column, has ? block.s5 : 0, block.s6, lx, lid, t);
    if (lid < lx && has) adamw_element(P + P_off + at, t[lid], M + M_off + at, V + V_off + at, decay, b1, one_b1, b2, one_b2, step, root, eps);
}
