/* The sums of a forest's trees (see forest.py, which does the same in NumPy): by a walk down each tree, or by the tests of all.

   The arrays come from Forest, which has checked that children follow their parents and lie within the array, and
   that every feature exists: so each walk ends, and nothing outside is read. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    int32_t feature;  /* -1: a leaf, and `child` is its value */
    float threshold;
    int32_t child;  /* next where the feature is at most the threshold, else the node after it */
} Node;

#define LANES 8 /* rows that walk down a tree together: while one waits for its node, the others go on */

/* ---- by tests -----------------------------------------------------------------------------------------------------

   Small trees are not walked where many rows are judged. Each has a bit for each of its leaves, in their order, and a test
   that fails clears those to which the other way leads: what a row comes to is the first leaf that is left (Lucchese et
   al., 2015, QuickScorer). Tests lie by feature and threshold: behind the first that holds, all of its feature hold. */

#ifdef __x86_64__
#include <immintrin.h>

#define RANKS __builtin_cpu_supports("avx2")
#define MOST_LEAVES 32 /* of a tree */
#define MOST_TREES (1 << 16)

typedef struct {
    float threshold;
    int32_t feature, tree, next; /* next: place of the first test of another feature */
    uint32_t left;               /* bits of the leaves that are left where the feature is above the threshold */
} Test;

typedef struct {
    int64_t tests, trees, leaves; /* how many: in this order they follow, as Test; the first leaf of each tree and the
                                     values of all leaves are int32 */
} Ranked;

typedef struct {
    Ranked count;
    Test *tests;
    int32_t *first, *leaves;
    int tests_here, leaves_here; /* of the tree at hand */
} Ranking;

static int by_threshold(const void *left, const void *right)
{
    const Test *a = left, *b = right;
    if (a->feature != b->feature)
        return a->feature < b->feature ? -1 : 1;
    return (a->threshold > b->threshold) - (a->threshold < b->threshold);
}

/* Add the tests and leaves from a node on. 0 where its tree has too many, or a threshold that is no number. */
static int rank_node(Ranking *ranking, const Node *nodes, int32_t at)
{
    const Node *node = nodes + at;
    uint64_t before = ((uint64_t)1 << ranking->leaves_here) - 1;
    Test *test;
    if (node->feature < 0) {
        if (ranking->leaves_here == MOST_LEAVES)
            return 0;
        ranking->leaves_here++;
        ranking->leaves[ranking->count.leaves++] = node->child;
        return 1;
    }
    if (ranking->tests_here == MOST_LEAVES - 1 || node->threshold != node->threshold)
        return 0; /* this bounds the depth, too */
    ranking->tests_here++;
    test = ranking->tests + ranking->count.tests++;
    *test = (Test){node->threshold, node->feature, (int32_t)ranking->count.trees, 0, 0};
    if (!rank_node(ranking, nodes, node->child))
        return 0;
    test->left = (uint32_t)(before | ~(((uint64_t)1 << ranking->leaves_here) - 1));
    return rank_node(ranking, nodes, node->child + 1);
}

static int rank_trees(Ranking *ranking, const Node *nodes, const int32_t *roots, Py_ssize_t trees)
{
    Test *tests = ranking->tests;
    for (Py_ssize_t tree = 0; tree < trees; tree++) {
        ranking->tests_here = ranking->leaves_here = 0;
        ranking->first[tree] = (int32_t)ranking->count.leaves;
        if (!rank_node(ranking, nodes, roots[tree]))
            return 0;
        ranking->count.trees++;
    }
    qsort(tests, (size_t)ranking->count.tests, sizeof *tests, by_threshold);
    for (int64_t i = ranking->count.tests - 1; i >= 0; i--)
        tests[i].next = i + 1 < ranking->count.tests && tests[i + 1].feature == tests[i].feature ? tests[i + 1].next : (int32_t)(i + 1);
    return 1;
}

static PyObject *packed(const Ranking *ranking)
{
    const Ranked *count = &ranking->count;
    size_t tests = sizeof(Test) * (size_t)count->tests, first = sizeof(int32_t) * (size_t)count->trees;
    size_t leaves = sizeof(int32_t) * (size_t)count->leaves;
    PyObject *made = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(sizeof *count + tests + first + leaves));
    if (made) {
        char *at = PyBytes_AS_STRING(made);
        memcpy(at, count, sizeof *count);
        memcpy(at + sizeof *count, ranking->tests, tests);
        memcpy(at + sizeof *count + tests, ranking->first, first);
        memcpy(at + sizeof *count + tests + first, ranking->leaves, leaves);
    }
    return made;
}

static PyObject *ranked_trees(const Node *nodes, const int32_t *roots, Py_ssize_t trees)
{
    PyObject *made = NULL;
    Ranking ranking = {{0, 0, 0}, NULL, NULL, NULL, 0, 0};
    if (trees > MOST_TREES || !RANKS)
        Py_RETURN_NONE;
    ranking.tests = PyMem_Calloc((size_t)trees * MOST_LEAVES + 1, sizeof(Test));
    ranking.first = PyMem_Calloc((size_t)trees + 1, sizeof(int32_t));
    ranking.leaves = PyMem_Calloc((size_t)trees * MOST_LEAVES + 1, sizeof(int32_t));
    if (!ranking.tests || !ranking.first || !ranking.leaves)
        PyErr_NoMemory();
    else
        made = rank_trees(&ranking, nodes, roots, trees) ? packed(&ranking) : Py_NewRef(Py_None);
    PyMem_Free(ranking.tests);
    PyMem_Free(ranking.first);
    PyMem_Free(ranking.leaves);
    return made;
}

/* The sums of up to LANES rows. `turned` has room for them feature by feature, `left` for the bits of all trees. */
static __attribute__((target("avx2"))) void
sum_rows(const Ranked *ranked, const float *rows, Py_ssize_t count, Py_ssize_t width, float *turned, uint32_t *left, int64_t *sums)
{
    const Test *tests = (const Test *)(ranked + 1), *end = tests + ranked->tests, *test = tests;
    const int32_t *first = (const int32_t *)end, *leaves = first + ranked->trees;
    for (Py_ssize_t feature = 0; feature < width; feature++)
        for (Py_ssize_t lane = 0; lane < LANES; lane++)
            turned[feature * LANES + lane] = rows[(lane < count ? lane : 0) * width + feature];
    memset(left, 0xff, sizeof *left * LANES * (size_t)ranked->trees);
    while (test < end) {
        __m256 values = _mm256_loadu_ps(turned + (Py_ssize_t)test->feature * LANES);
        const Test *next = tests + test->next;
        for (; test < next; test++) {
            __m256 holds = _mm256_cmp_ps(values, _mm256_set1_ps(test->threshold), _CMP_LE_OQ); /* not where it is no number */
            __m256i *bits = (__m256i *)(left + (Py_ssize_t)test->tree * LANES);
            __m256i kept = _mm256_or_si256(_mm256_castps_si256(holds), _mm256_set1_epi32((int32_t)test->left));
            _mm256_storeu_si256(bits, _mm256_and_si256(_mm256_loadu_si256(bits), kept));
            if (_mm256_movemask_ps(holds) == 0xff)
                break;
        }
        test = next;
    }
    memset(sums, 0, sizeof *sums * (size_t)count);
    for (int64_t tree = 0; tree < ranked->trees; tree++)
        for (Py_ssize_t lane = 0; lane < count; lane++)
            sums[lane] += leaves[first[tree] + __builtin_ctz(left[tree * LANES + lane])];
}

/* 0, or -1 with an exception. */
static int sum_ranked(const Ranked *ranked, const float *values, Py_ssize_t rows, Py_ssize_t width, int64_t *sums)
{
    size_t bits = sizeof(uint32_t) * LANES * (size_t)ranked->trees;
    char *room = PyMem_Malloc(bits + sizeof(float) * LANES * (size_t)width + 1);
    if (!room) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t row = 0; row < rows; row += LANES)
        sum_rows(ranked, values + row * width, rows - row < LANES ? rows - row : LANES, width, (float *)(room + bits),
                 (uint32_t *)room, sums + row);
    PyMem_Free(room);
    return 0;
}
#else
#define RANKS 0
typedef struct Ranked Ranked;

static PyObject *ranked_trees(const Node *nodes, const int32_t *roots, Py_ssize_t trees)
{
    (void)nodes, (void)roots, (void)trees;
    Py_RETURN_NONE;
}

static int sum_ranked(const Ranked *ranked, const float *values, Py_ssize_t rows, Py_ssize_t width, int64_t *sums)
{
    (void)ranked, (void)values, (void)rows, (void)width, (void)sums;
    PyErr_SetString(PyExc_ValueError, "trees are ranked on x86 alone");
    return -1;
}
#endif

PyDoc_STRVAR(rank_doc, "rank(nodes, roots): the tests of the trees, as `sums` takes them; None where a tree is too large, or here is no AVX2.");

static PyObject *rank(PyObject *module, PyObject *args)
{
    Py_buffer nodes, roots;
    PyObject *made;
    (void)module;
    if (!PyArg_ParseTuple(args, "y*y*", &nodes, &roots))
        return NULL;
    made = ranked_trees(nodes.buf, roots.buf, roots.len / (Py_ssize_t)sizeof(int32_t));
    PyBuffer_Release(&nodes);
    PyBuffer_Release(&roots);
    return made;
}

PyDoc_STRVAR(sums_doc, "sums(ranked, values, sums): sums[i] = the sum of all trees' values for values[i].");

static PyObject *sums(PyObject *module, PyObject *args)
{
    Py_buffer ranked, values, found;
    int failed;
    (void)module;
    if (!PyArg_ParseTuple(args, "y*y*w*", &ranked, &values, &found))
        return NULL;
    Py_ssize_t rows = found.len / (Py_ssize_t)sizeof(int64_t);
    Py_ssize_t width = rows ? values.len / (Py_ssize_t)sizeof(float) / rows : 0;
    failed = sum_ranked(ranked.buf, values.buf, rows, width, found.buf);
    PyBuffer_Release(&ranked);
    PyBuffer_Release(&values);
    PyBuffer_Release(&found);
    if (failed)
        return NULL;
    Py_RETURN_NONE;
}

/* ---- by a walk ---------------------------------------------------------------------------------------------------- */

/* Add a tree's values for `lanes` rows, at most LANES, to their sums. */
static inline void add_tree(const Node *nodes, int32_t root, const float *rows, Py_ssize_t width, int lanes, int64_t *sums)
{
    const Node *at[LANES];
    for (int lane = 0; lane < lanes; lane++)
        at[lane] = nodes + root;
    for (int32_t walking = 0; walking >= 0;) {
        walking = -1;
        for (int lane = 0; lane < lanes; lane++) {
            const Node *node = at[lane];
            int32_t is_leaf = node->feature >> 31; /* all bits set, or none: no branch to guess wrongly */
            int32_t next = node->child + !(rows[lane * width + (node->feature & ~is_leaf)] <= node->threshold);
            at[lane] = is_leaf ? node : nodes + next;
            walking &= is_leaf;
        }
    }
    for (int lane = 0; lane < lanes; lane++)
        sums[lane] += at[lane]->child;
}

/* The sums of the trees' values for one row, trees in turn for each sum: LANES are walked down together, for the same reason. */
static void one_row(const Node *nodes, const int32_t *roots, Py_ssize_t trees, const float *row, int64_t *sums, Py_ssize_t turns)
{
    Py_ssize_t turn = 0;
    memset(sums, 0, sizeof *sums * (size_t)turns);
    for (Py_ssize_t tree = 0; tree < trees; tree += LANES) {
        int lanes = trees - tree < LANES ? (int)(trees - tree) : LANES;
        const Node *at[LANES];
        for (int lane = 0; lane < LANES; lane++)
            at[lane] = nodes + roots[tree + (lane < lanes ? lane : 0)];
        for (int32_t walking = 0; walking >= 0;) {
            walking = -1;
            for (int lane = 0; lane < LANES; lane++) {
                const Node *node = at[lane];
                int32_t is_leaf = node->feature >> 31;
                int32_t next = node->child + !(row[node->feature & ~is_leaf] <= node->threshold);
                at[lane] = is_leaf ? node : nodes + next;
                walking &= is_leaf;
            }
        }
        for (int lane = 0; lane < lanes; lane++) {
            sums[turn] += at[lane]->child;
            turn = turn + 1 < turns ? turn + 1 : 0;
        }
    }
}

PyDoc_STRVAR(log_odds_doc, "log_odds(nodes, roots, values, sums): sums[i] = the sum of all trees' values for values[i].");

static PyObject *log_odds(PyObject *module, PyObject *args)
{
    Py_buffer nodes, roots, values, sums;
    (void)module;
    if (!PyArg_ParseTuple(args, "y*y*y*w*", &nodes, &roots, &values, &sums))
        return NULL;
    Py_ssize_t rows = sums.len / (Py_ssize_t)sizeof(int64_t);
    Py_ssize_t trees = roots.len / (Py_ssize_t)sizeof(int32_t);
    static const float nothing = 0; /* what leaves look at, who ask for nothing, where there are no features */
    Py_ssize_t width = rows ? values.len / (Py_ssize_t)sizeof(float) / rows : 0;
    if (rows == 1)
        one_row(nodes.buf, roots.buf, trees, width ? values.buf : &nothing, sums.buf, 1);
    for (Py_ssize_t row = 0; rows > 1 && row < rows; row += LANES) {
        const float *first = width ? (const float *)values.buf + row * width : &nothing;
        int64_t sum[LANES] = {0};
        for (Py_ssize_t tree = 0; tree < trees; tree++) {
            int32_t root = ((const int32_t *)roots.buf)[tree];
            if (rows - row >= LANES)
                add_tree(nodes.buf, root, first, width, LANES, sum);
            else
                add_tree(nodes.buf, root, first, width, (int)(rows - row), sum);
        }
        memcpy((int64_t *)sums.buf + row, sum, sizeof(int64_t) * (size_t)(rows - row < LANES ? rows - row : LANES));
    }
    PyBuffer_Release(&nodes);
    PyBuffer_Release(&roots);
    PyBuffer_Release(&values);
    PyBuffer_Release(&sums);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(in_turn_doc, "in_turn(nodes, roots, row, sums): sums[i] = the sum of the values for a row of every tree whose turn it is.");

static PyObject *in_turn(PyObject *module, PyObject *args)
{
    Py_buffer nodes, roots, row, sums;
    (void)module;
    if (!PyArg_ParseTuple(args, "y*y*y*w*", &nodes, &roots, &row, &sums))
        return NULL;
    static const float nothing = 0;
    Py_ssize_t turns = sums.len / (Py_ssize_t)sizeof(int64_t);
    if (turns)
        one_row(nodes.buf, roots.buf, roots.len / (Py_ssize_t)sizeof(int32_t), row.len ? row.buf : &nothing, sums.buf, turns);
    PyBuffer_Release(&nodes);
    PyBuffer_Release(&roots);
    PyBuffer_Release(&row);
    PyBuffer_Release(&sums);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {{"log_odds", log_odds, METH_VARARGS, log_odds_doc},
                                {"in_turn", in_turn, METH_VARARGS, in_turn_doc},
                                {"rank", rank, METH_VARARGS, rank_doc},
                                {"sums", sums, METH_VARARGS, sums_doc},
                                {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_forest", NULL, 0, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__forest(void)
{
    PyObject *made = PyModule_Create(&module);
    if (made && PyModule_AddIntConstant(made, "RANKS", RANKS != 0) < 0)
        Py_CLEAR(made);
    return made;
}
