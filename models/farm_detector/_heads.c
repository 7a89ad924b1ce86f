/* What each head of the network says of a whole text: heads.py is the same in NumPy, and defines what it must return.

   Sums are added in the order in which NumPy adds them, so that both agree to the last digit: nothing is multiplied that
   a processor could add in the same step. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>

enum { SHARES = 4, QUANTILES = 6, STRETCHES = 3, COLUMNS = 2 + SHARES + QUANTILES + 2 * STRETCHES };
enum { EIGHT = 8, AT_ONCE = 128 }; /* sums that NumPy makes side by side, and numbers before it halves them */

static const double shares[SHARES] = {0.25, 0.5, 0.8, 0.95};
static const double quantiles[QUANTILES] = {0.25, 0.5, 0.75, 0.9, 0.95, 0.99};
static const Py_ssize_t stretches[STRETCHES] = {16, 48, 128};

/* The pairwise sum of NumPy's `add.reduce`. */
static double sum_of(const double *values, Py_ssize_t count)
{
    double sum[EIGHT], all;
    Py_ssize_t n = EIGHT;
    if (count > AT_ONCE) {
        Py_ssize_t half = count / 2 - count / 2 % EIGHT;
        return sum_of(values, half) + sum_of(values + half, count - half);
    }
    if (count < EIGHT) {
        for (n = 0, all = 0; n < count; n++)
            all += values[n];
        return all;
    }
    for (int at = 0; at < EIGHT; at++)
        sum[at] = values[at];
    for (; n + EIGHT <= count; n += EIGHT)
        for (int at = 0; at < EIGHT; at++)
            sum[at] += values[n + at];
    all = ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
    for (; n < count; n++)
        all += values[n];
    return all;
}

/* The highest and the lowest mean of so many numbers next to each other; `sums` are those of all before each place. */
static void find_extremes(const double *sums, Py_ssize_t count, Py_ssize_t stretch, double *highest, double *lowest)
{
    stretch = stretch < count ? stretch : count;
    *highest = *lowest = sums[stretch] - sums[0];
    for (Py_ssize_t begin = 1; begin + stretch <= count; begin++) {
        double within = sums[begin + stretch] - sums[begin];
        *highest = within > *highest ? within : *highest;
        *lowest = within < *lowest ? within : *lowest;
    }
    *highest /= (double)stretch;
    *lowest /= (double)stretch;
}

/* The columns of one head: log odds in rising order, and the probability of each token. `sums` has room for one more. */
static void fill_columns(const double *log_odds, const double *probability, Py_ssize_t count, double *sums, double *columns)
{
    *columns++ = sum_of(probability, count) / (double)count;
    *columns++ = sum_of(log_odds, count) / (double)count;
    for (int n = 0; n < SHARES; n++) {
        Py_ssize_t over = 0;
        for (Py_ssize_t token = 0; token < count; token++)
            over += probability[token] > shares[n];
        *columns++ = (double)over / (double)count;
    }
    for (int n = 0; n < QUANTILES; n++)
        *columns++ = log_odds[(Py_ssize_t)(quantiles[n] * (double)(count - 1))];
    sums[0] = 0;
    for (Py_ssize_t token = 0; token < count; token++)
        sums[token + 1] = sums[token] + probability[token];
    for (int n = 0; n < STRETCHES; n++, columns += 2)
        find_extremes(sums, count, stretches[n], columns, columns + 1);
}

PyDoc_STRVAR(columns_doc, "columns(log_odds, probability, heads): of each head a row of `heads.NAMES`, of arrays with a row of each,\n"
                          "in which log odds rise.");

static PyObject *columns(PyObject *module, PyObject *args)
{
    Py_buffer log_odds, probability;
    Py_ssize_t heads, count;
    PyObject *result = NULL;
    double *sums = NULL;
    (void)module;
    if (!PyArg_ParseTuple(args, "y*y*n", &log_odds, &probability, &heads))
        return NULL;
    count = heads > 0 ? log_odds.len / heads / (Py_ssize_t)sizeof(double) : 0;
    if (count < 1 || log_odds.len != probability.len || log_odds.len != heads * count * (Py_ssize_t)sizeof(double))
        PyErr_SetString(PyExc_ValueError, "log odds and probabilities that do not fit together");
    else if (!(sums = malloc(sizeof(double) * (size_t)(count + 1))))
        PyErr_NoMemory();
    else
        result = PyBytes_FromStringAndSize(NULL, heads * COLUMNS * (Py_ssize_t)sizeof(double));
    for (Py_ssize_t head = 0; result && head < heads; head++)
        fill_columns((const double *)log_odds.buf + head * count, (const double *)probability.buf + head * count, count, sums,
                     (double *)PyBytes_AS_STRING(result) + head * COLUMNS);
    free(sums);
    PyBuffer_Release(&log_odds);
    PyBuffer_Release(&probability);
    return result;
}

static PyMethodDef methods[] = {{"columns", columns, METH_VARARGS, columns_doc}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_heads", NULL, 0, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__heads(void)
{
    return PyModule_Create(&definition);
}
