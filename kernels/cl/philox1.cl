// @depends: common
// One word of Philox4x32-10 for each element, as philox.cl has all four: word_T(i, call, lo, hi) is word i mod 4 for the
// counter (i/4, call, 0, 0) and the key (lo, hi).

#define WORD(T)                                                                                     \
    static T word_##T(T i, T call, T lo, T hi) {                                                    \
        T x = i >> 2, y = call, z = 0, w = 0;                                                       \
        for (int round = 0; round < 10; round++) {                                                  \
            const T lo0 = x * 0xD2511F53u, hi0 = mul_hi(x, (T)0xD2511F53u);                         \
            const T lo1 = z * 0xCD9E8D57u, hi1 = mul_hi(z, (T)0xCD9E8D57u);                         \
            x = hi1 ^ y ^ lo, y = lo1, z = hi0 ^ w ^ hi, w = lo0;                                   \
            lo += 0x9E3779B9u, hi += 0xBB67AE85u;                                                   \
        }                                                                                           \
        return (i & 1) != 0 ? ((i & 2) != 0 ? w : y) : ((i & 2) != 0 ? z : x);                      \
    }

WORD(uint)
WORD(uint4)
WORD(uint16)
