// Recurrent layers: all times of a direction in one launch, on CPUs.
//
// @depends: vector, exp, tanh
//
// KIND is 0 of a layer without gates, 1 of a GRU, 2 of an LSTM. GATES are how many there are beside each other, and GATE_0,
// GATE_1, … where they stand: reset, update and new state of a GRU; input, forget, new cell and output of an LSTM. With
// TRANSPOSED weights are [gates·hidden, hidden], else [hidden, gates·hidden].

#define WIDE(p) IN_MEMORY(global const, REAL16, p)
#ifdef LIMITED
#define ENDS_PARAM , IN_INTS(ENDS)
#else
#define ENDS_PARAM
#endif
#define ROWS 4 // that are computed with one reading of the weights

static REAL16 sigmoid16(REAL16 x) {
    const REAL16 e = exp_REAL16(-fabs(x)), d = 1 / (1 + e);
    return x < 0 ? e * d : d;
}

// Adds to `count` rows of s the products of rows of h and the columns of w.
#ifdef TRANSPOSED
static void add_products(global REAL *s, global const REAL *h, global const REAL *w, int count, int hidden) {
    const int n = GATES * hidden;
    for (int r = 0; r < count; r++, s += n, h += hidden) {
        for (int j = 0; j < n; j++) {
            global const REAL *row = w + (size_t)j * hidden;
            REAL rest = 0;
            REAL16 a = 0, b = 0;
            int k = 0;
            for (; k + 32 <= hidden; k += 32) {
                a = fma(WIDE(h + k), WIDE(row + k), a);
                b = fma(WIDE(h + k + 16), WIDE(row + k + 16), b);
            }
            if (k + 16 <= hidden) {
                a = fma(WIDE(h + k), WIDE(row + k), a);
                k += 16;
            }
            for (; k < hidden; k++) rest = fma(h[k], row[k], rest);
            s[j] += sum16(a + b) + rest;
        }
    }
}
#else
static void add_products(global REAL *s, global const REAL *h, global const REAL *w, int count, int hidden) {
    const int n = GATES * hidden, whole = n / 16 * 16, rest = n - whole;
    if (count == ROWS) {
        for (int j = 0; j < whole; j += 16) {
            REAL16 a = WIDE(s + j), b = WIDE(s + n + j), c = WIDE(s + 2 * n + j), d = WIDE(s + 3 * n + j);
            global const REAL *column = w + j;
            for (int k = 0; k < hidden; k++, column += n) {
                const REAL16 v = WIDE(column);
                a = fma((REAL16)h[k], v, a);
                b = fma((REAL16)h[hidden + k], v, b);
                c = fma((REAL16)h[2 * hidden + k], v, c);
                d = fma((REAL16)h[3 * hidden + k], v, d);
            }
            vstore16(a, 0, s + j);
            vstore16(b, 0, s + n + j);
            vstore16(c, 0, s + 2 * n + j);
            vstore16(d, 0, s + 3 * n + j);
        }
    }
    for (int r = 0; r < count; r++, s += n, h += hidden) {
        int j = count == ROWS ? whole : 0;
        for (; j + 64 <= whole; j += 64) {
            REAL16 a = WIDE(s + j), b = WIDE(s + j + 16), c = WIDE(s + j + 32), d = WIDE(s + j + 48);
            global const REAL *column = w + j;
            for (int k = 0; k < hidden; k++, column += n) {
                const REAL16 v = h[k];
                a = fma(v, WIDE(column), a);
                b = fma(v, WIDE(column + 16), b);
                c = fma(v, WIDE(column + 32), c);
                d = fma(v, WIDE(column + 48), d);
            }
            vstore16(a, 0, s + j);
            vstore16(b, 0, s + j + 16);
            vstore16(c, 0, s + j + 32);
            vstore16(d, 0, s + j + 48);
        }
        for (; j < whole; j += 16) {
            REAL16 a = WIDE(s + j);
            for (int k = 0; k < hidden; k++) a = fma((REAL16)h[k], WIDE(w + (size_t)k * n + j), a);
            vstore16(a, 0, s + j);
        }
        if (rest > 0) {
            REAL16 a = load16(s + whole, rest, 0);
            for (int k = 0; k < hidden; k++) a = fma((REAL16)h[k], load16(w + (size_t)k * n + whole, rest, 0), a);
            store16(a, s + whole, rest);
        }
    }
}
#endif

#define GATE(p, g) load16(p + (g) * hidden + j, width, 0)

// Computes the states of a row from its gates s and, of a GRU, from those of its input x.
static void next_states(global REAL *next, global REAL *next_cell, global const REAL *state, global const REAL *cell,
                        global const REAL *x, global const REAL *s, int hidden) {
    for (int j = 0; j < hidden; j += 16) {
        const int width = min(16, hidden - j);
#if KIND == 0
        store16(tanh_REAL16(GATE(s, 0)), next + j, width);
#elif KIND == 1
        const REAL16 reset = sigmoid16(GATE(x, GATE_0) + GATE(s, GATE_0)), stays = sigmoid16(GATE(x, GATE_1) + GATE(s, GATE_1));
        const REAL16 fresh = tanh_REAL16(fma(reset, GATE(s, GATE_2), GATE(x, GATE_2)));
        store16(fma(stays, load16(state + j, width, 0) - fresh, fresh), next + j, width);
#else
        const REAL16 input = sigmoid16(GATE(s, GATE_0)), forget = sigmoid16(GATE(s, GATE_1)), fresh = tanh_REAL16(GATE(s, GATE_2));
        const REAL16 now = fma(forget, load16(cell + j, width, 0), input * fresh);
        store16(now, next_cell + j, width);
        store16(sigmoid16(GATE(s, GATE_3)) * tanh_REAL16(now), next + j, width);
#endif
    }
}

// X [time, batch, gates·hidden] is what the input gives the gates, B [gates·hidden] the biases of the state if it is biased, H
// [time + 1, batch, hidden] the states, and behind them the cells of an LSTM. Those before all steps are there: at time 0,
// or at the end on the way back. With LIMITED a row keeps its
// state from time ENDS [batch] on. S [batch, gates·hidden] is room for the gates of a step, and 0 afterwards. Each work-group has some rows of the batch.
kernel void k_recurrent(IN(X), IN(W), IN(B), OUT(H), OUT(S), int time, int batch, int hidden, int biased, int back
                        ENDS_PARAM) {
    const int n = GATES * hidden;
    const size_t place = (size_t)batch * hidden;
    global REAL *cells = H + H_off + (time + 1) * place;
    const int groups = get_num_groups(0), per = (batch + groups - 1) / groups;
    const int from = get_group_id(0) * per, to = min(batch, from + per);
    for (int row = from; row < to; row += ROWS) {
        const int count = min(ROWS, to - row);
        global REAL *s = S + S_off + (size_t)row * n;
        for (int i = 0; i < time; i++) {
            const int t = back ? time - 1 - i : i;
            const size_t before = (t + back) * place + (size_t)row * hidden, after = (t + 1 - back) * place + (size_t)row * hidden;
            global const REAL *x = X + X_off + ((size_t)t * batch + row) * n;
            for (int r = 0; r < count; r++) {
                for (int j = 0; j < n; j++) {
                    const REAL b = biased ? B[B_off + j] : 0;
                    s[r * n + j] = KIND == 1 ? b : x[r * n + j] + b;
                }
            }
            add_products(s, H + H_off + before, W + W_off, count, hidden);
            for (int r = 0; r < count; r++) {
                const size_t at = (size_t)r * hidden;
#ifdef LIMITED
                if (t >= ENDS[ENDS_off + row + r]) {
                    for (int j = 0; j < hidden; j++) H[H_off + after + at + j] = H[H_off + before + at + j];
#if KIND == 2
                    for (int j = 0; j < hidden; j++) cells[after + at + j] = cells[before + at + j];
#endif
                    continue;
                }
#endif
                next_states(H + H_off + after + at, cells + after + at, H + H_off + before + at, cells + before + at, x + r * n, s + r * n, hidden);
            }
        }
        for (int j = 0; j < count * n; j++) s[j] = 0;
    }
}
