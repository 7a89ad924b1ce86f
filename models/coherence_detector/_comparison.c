/* How well each sentence of a text follows each, in whole numbers: comparison.py is the same in NumPy, and defines what
   it must return. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define UNIT 128 /* the length of a vector: numbers of one are at most twice that */
#define NEAR 3   /* sentences before and after one */

typedef struct {
    Py_buffer traits, begins; /* int64_t: of all sentences, and where each begins */
    Py_ssize_t width, sentences; /* columns of each table, and how many sentences there are */
} Read;

static int64_t floor_of(int64_t number, int64_t divisor)
{
    return number / divisor - (number % divisor < 0);
}

/* The sum of each sentence's rows, brought to the length UNIT: [sentences][width]. `sums` has room for one. */
static void fill_units(const Read *read, const Py_buffer *table, int64_t *sums, int16_t *units)
{
    const int64_t *traits = read->traits.buf, *begins = read->begins.buf;
    Py_ssize_t all = read->traits.len / (Py_ssize_t)sizeof(int64_t), width = read->width;
    for (Py_ssize_t sentence = 0; sentence < read->sentences; sentence++, units += width) {
        Py_ssize_t end = sentence + 1 < read->sentences ? begins[sentence + 1] : all;
        int64_t squares = 0, length;
        memset(sums, 0, sizeof(int64_t) * (size_t)width);
        for (Py_ssize_t at = begins[sentence]; at < end; at++) {
            const int8_t *row = (const int8_t *)table->buf + traits[at] * width;
            for (Py_ssize_t n = 0; n < width; n++)
                sums[n] += row[n];
        }
        for (Py_ssize_t n = 0; n < width; n++)
            squares += sums[n] * sums[n];
        length = (int64_t)sqrt((double)squares); /* the same on every machine */
        for (Py_ssize_t n = 0; n < width; n++)
            units[n] = (int16_t)floor_of(sums[n] * UNIT, length > 1 ? length : 1);
    }
}

/* The products of all vectors of one kind with all of another. */
static void multiply(const int16_t *restrict left, const int16_t *restrict right, Py_ssize_t count, Py_ssize_t width,
                     int32_t *restrict products)
{
    for (Py_ssize_t row = 0; row < count; row++)
        for (Py_ssize_t column = 0; column < count; column++) {
            int32_t sum = 0;
            for (Py_ssize_t n = 0; n < width; n++)
                sum += left[row * width + n] * right[column * width + n];
            products[row * count + column] = sum;
        }
}

/* Take from each product what its row and its column have with all others. `sums` has room for both; the sum of all
   products but the diagonal's is returned. */
static int64_t centre(int32_t *products, Py_ssize_t count, int64_t *sums)
{
    int64_t *rows = sums, *columns = sums + count, all = 0;
    memset(sums, 0, sizeof(int64_t) * 2 * (size_t)count);
    for (Py_ssize_t row = 0; row < count; row++)
        for (Py_ssize_t column = 0; column < count; column++)
            if (row != column) {
                rows[row] += products[row * count + column];
                columns[column] += products[row * count + column];
            }
    for (Py_ssize_t n = 0; n < count; n++) {
        all += rows[n];
        rows[n] = floor_of(rows[n], count - 1);
        columns[n] = floor_of(columns[n], count - 1);
    }
    for (Py_ssize_t row = 0; row < count; row++)
        for (Py_ssize_t column = 0; column < count; column++)
            products[row * count + column] += (int32_t)(floor_of(all, (count - 1) * count) - rows[row] - columns[column]);
    return all;
}

static int64_t diagonal(const int32_t *products, Py_ssize_t count, Py_ssize_t lag)
{
    int64_t sum = 0;
    for (Py_ssize_t row = lag < 0 ? -lag : 0; row < count && row + lag < count; row++)
        sum += products[row * count + row + lag];
    return sum;
}

/* The results of both matrices, which Python sees as bytes of int64_t. */
typedef struct {
    int64_t *near, *steps, *nexts, *totals, *pairs, *lags, *rows;
} Results;

static void of_order(int32_t *products, Py_ssize_t count, int64_t *sums, const Results *to)
{
    for (Py_ssize_t n = 0; n + 1 < count; n++)
        to->nexts[n] = products[n * count + n + 1];
    to->totals[0] = centre(products, count, sums);
    to->totals[1] = to->totals[2] = 0;
    for (Py_ssize_t row = 0; row < count; row++)
        for (Py_ssize_t column = 0; column < count; column++) {
            int64_t value = row == column ? 0 : products[row * count + column];
            to->totals[1] += value;
            to->totals[2] += value * value;
        }
    for (Py_ssize_t n = 0; n + 1 < count; n++)
        to->steps[n] = products[n * count + n + 1];
    for (int n = 0; n < NEAR; n++) {
        to->near[2 * n] = diagonal(products, count, n + 1);
        to->near[2 * n + 1] = diagonal(products, count, -n - 1);
    }
}

static void of_subjects(const int32_t *products, Py_ssize_t count, const Results *to)
{
    int64_t *pair = to->pairs;
    for (Py_ssize_t row = 0; row < count; row++) {
        int64_t sum = 0;
        for (Py_ssize_t column = 0; column < count; column++) {
            sum += row == column ? 0 : products[row * count + column];
            if (column > row)
                *pair++ = products[row * count + column];
        }
        to->rows[row] = floor_of(sum, count - 1);
        to->lags[row] = diagonal(products, count, row);
    }
}

static PyObject *room_for(Py_ssize_t count, int64_t **into)
{
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, count * (Py_ssize_t)sizeof(int64_t));
    *into = bytes ? (int64_t *)PyBytes_AS_STRING(bytes) : NULL;
    return bytes;
}

/* Whether nothing that is read lies outside of what was given. */
static int fits(const Read *read, const Py_buffer *tables)
{
    const int64_t *traits = read->traits.buf, *begins = read->begins.buf;
    Py_ssize_t all = read->traits.len / (Py_ssize_t)sizeof(int64_t);
    if (read->width < 1 || read->sentences < 2 || tables[0].len != tables[1].len || tables[0].len != tables[2].len)
        return 0;
    for (Py_ssize_t n = 0; n < all; n++)
        if (traits[n] < 0 || traits[n] >= tables[0].len / read->width)
            return 0;
    for (Py_ssize_t n = 0; n < read->sentences; n++)
        if (begins[n] < 0 || begins[n] > (n + 1 < read->sentences ? begins[n + 1] : all))
            return 0;
    return 1;
}

/* Fill the results; -1 with an exception. */
static int compare_all(const Read *read, const Py_buffer *tables, const Results *to)
{
    Py_ssize_t count = read->sentences, width = read->width;
    size_t units = (size_t)(count * width);
    int64_t *sums = malloc(sizeof(int64_t) * (size_t)(2 * count + width) + sizeof(int16_t) * 2 * units
                           + sizeof(int32_t) * (size_t)(count * count));
    int32_t *products = (int32_t *)(sums + 2 * count + width);
    int16_t *left = (int16_t *)(products + count * count), *right = left + units;
    if (!sums) {
        PyErr_NoMemory();
        return -1;
    }
    fill_units(read, &tables[0], sums, left);
    fill_units(read, &tables[1], sums, right);
    multiply(left, right, count, width, products);
    of_order(products, count, sums, to);
    fill_units(read, &tables[2], sums, left);
    multiply(left, left, count, width, products);
    of_subjects(products, count, to);
    free(sums);
    return 0;
}

PyDoc_STRVAR(compare_doc, "compare(before, after, subject, width, traits, begins): near, steps, nexts, totals, pairs, lags and\n"
                          "rows, each the bytes of int64_t, of at least two sentences.");

static PyObject *compare(PyObject *module, PyObject *args)
{
    Read read = {0};
    Py_buffer tables[3] = {{0}}; /* before, after, subject: int8_t [rows][width] */
    Results to;
    PyObject *all[7] = {NULL}, *result = NULL;
    Py_ssize_t count;
    (void)module;
    if (!PyArg_ParseTuple(args, "y*y*y*ny*y*", &tables[0], &tables[1], &tables[2], &read.width, &read.traits, &read.begins))
        return NULL;
    read.sentences = count = read.begins.len / (Py_ssize_t)sizeof(int64_t);
    if (!fits(&read, tables)) {
        PyErr_SetString(PyExc_ValueError, "traits and tables that do not fit together");
        goto end;
    }
    if (!(all[0] = room_for(2 * NEAR, &to.near)) || !(all[1] = room_for(count - 1, &to.steps))
        || !(all[2] = room_for(count - 1, &to.nexts)) || !(all[3] = room_for(3, &to.totals))
        || !(all[4] = room_for(count * (count - 1) / 2, &to.pairs)) || !(all[5] = room_for(count, &to.lags))
        || !(all[6] = room_for(count, &to.rows)))
        goto end;
    if (compare_all(&read, tables, &to) == 0)
        result = PyTuple_Pack(7, all[0], all[1], all[2], all[3], all[4], all[5], all[6]);
end:
    for (int n = 0; n < 7; n++)
        Py_XDECREF(all[n]);
    for (int n = 0; n < 3; n++)
        PyBuffer_Release(&tables[n]);
    PyBuffer_Release(&read.traits);
    PyBuffer_Release(&read.begins);
    return result;
}

static PyMethodDef methods[] = {{"compare", compare, METH_VARARGS, compare_doc}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_comparison", NULL, 0, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__comparison(void)
{
    return PyModule_Create(&definition);
}
