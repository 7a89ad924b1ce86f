/* The walk down the trees of a forest (see forest.py, which does the same in NumPy).

   The arrays come from Forest, which has checked that children follow their parents and lie within the array, and
   that every feature exists: so each walk ends, and nothing outside is read. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

typedef struct {
    int32_t feature;  /* -1: a leaf, and `child` is its value */
    float threshold;
    int32_t child;  /* next where the feature is at most the threshold, else the node after it */
} Node;

static int64_t sum_of_trees(const Node *nodes, const int32_t *roots, Py_ssize_t trees, const float *row)
{
    int64_t sum = 0;
    for (Py_ssize_t tree = 0; tree < trees; tree++) {
        const Node *node = nodes + roots[tree];
        while (node->feature >= 0)
            node = nodes + node->child + !(row[node->feature] <= node->threshold); /* no branch to guess wrongly */
        sum += node->child;
    }
    return sum;
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
    Py_ssize_t width = rows ? values.len / (Py_ssize_t)sizeof(float) / rows : 0;
    for (Py_ssize_t i = 0; i < rows; i++)
        ((int64_t *)sums.buf)[i] = sum_of_trees(nodes.buf, roots.buf, trees, (const float *)values.buf + i * width);
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
