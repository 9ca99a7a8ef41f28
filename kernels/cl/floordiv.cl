// @depends: common
// The quotient of two numbers rounded down, as Python's // has it, and what is left over of one rounded towards 0.

// Of reals, what is left over is taken off first, so that the quotient is near a whole number.
static REAL floordiv_real(REAL x, REAL y) {
    const REAL rest = fmod(x, y), near = (x - rest) / y;
    const REAL q = rest != 0 && (y < 0) != (rest < 0) ? near - 1 : near;
    return y == 0 ? x / y : q == 0 ? copysign((REAL)0, x / y) : rint(q);
}

// Of ints, 0 where y is 0. The division is by 1 where it could trap.
static int floordiv_int(int x, int y) {
    const int by = y == 0 || y == -1 ? 1 : y, q = x / by, rest = x - q * by;
    const int down = rest != 0 && (rest ^ by) < 0 ? q - 1 : q;
    return y == 0 ? 0 : y == -1 ? as_int(0 - as_uint(x)) : down;
}

// fmod_int is fmod of ints, 0 where y is 0.
static int fmod_int(int x, int y) { return x % (y == 0 || y == -1 ? 1 : y); }
