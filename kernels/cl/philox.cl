// Philox4x32-10: a counter and a key to four random words. Source: Salmon, Moraes, Dror, Shaw,
// "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011.
//
// clgrad's streams: the key is the seed; the counter is (index, call, 0, 0), so that a number depends
// on neither the device nor the shape of the launch.

static uint4 philox(uint4 c, uint2 k) {
    for (int round = 0; round < 10; round++) {
        const uint lo0 = c.x * 0xD2511F53u, hi0 = mul_hi(c.x, 0xD2511F53u);
        const uint lo1 = c.z * 0xCD9E8D57u, hi1 = mul_hi(c.z, 0xCD9E8D57u);
        c = (uint4)(hi1 ^ c.y ^ k.x, lo1, hi0 ^ c.w ^ k.y, lo0);
        k += (uint2)(0x9E3779B9u, 0xBB67AE85u);
    }
    return c;
}
