/* The walk down the trees of a forest (see forest.py, which does the same in NumPy).

   The arrays come from Forest, which has checked that children follow their parents and lie within the array, and
   that every feature exists: so each walk ends, and nothing outside is read. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

typedef struct {
    int32_t feature;  /* -1: a leaf, and `child` is its value */
    float threshold;
    int32_t child;  /* next where the feature is at most the threshold, else the node after it */
} Node;

#define LANES 8 /* rows that walk down a tree together: while one waits for its node, the others go on */

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
    for (Py_ssize_t row = 0; row < rows; row += LANES) {
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

static PyMethodDef methods[] = {{"log_odds", log_odds, METH_VARARGS, log_odds_doc}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_forest", NULL, 0, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__forest(void)
{
    return PyModule_Create(&module);
}
