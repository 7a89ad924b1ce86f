/* What weights say of the words and pairs of a text: word_habits.py is the same in NumPy, and defines what it must
   return. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "../_crc32.h"
#include "../_token_end.h"
#include "../_utf8.h"

#define ONE 256 /* what stands for 1 in a square root */

static inline Py_UCS4 at(const Source *source, Py_ssize_t place)
{
    return PyUnicode_READ(source->kind, source->data, place);
}

/* That of what came before and of a token in lower case. */
static uint32_t sum_of(uint32_t before, const Source *source, Py_ssize_t begin, Py_ssize_t end)
{
    for (Py_ssize_t place = begin; place < end; place++) {
        char bytes[MOST_BYTES];
        before = crc32_of(before, bytes, to_utf8(Py_UNICODE_TOLOWER(at(source, place)), bytes));
    }
    return before;
}

typedef struct {
    uint32_t *slots; /* of all tokens and pairs: room for twice as many as there are characters */
    Py_ssize_t count, tokens, words;
} Slots;

static void fill_slots(const Source *source, uint32_t mask, Slots *found)
{
    uint32_t alone = 0;
    for (Py_ssize_t place = 0, end; place < source->length; place = end) {
        int kind;
        end = token_end(source, place, source->length, &kind);
        if (end == place) {
            end++;
            continue;
        }
        if (found->tokens++)
            found->slots[found->count++] = sum_of(crc32_of(alone, " ", 1), source, place, end) & mask;
        alone = sum_of(0, source, place, end);
        found->slots[found->count++] = alone & mask;
        found->words += kind == WORD;
    }
}

/* The weights times the roots of how often each slot is there. `times` and `held` have places for twice as many. */
static int64_t weigh(const int8_t *weights, const uint32_t *slots, Py_ssize_t count, uint32_t *times, uint32_t *held,
                     size_t mask)
{
    int64_t total = 0;
    for (Py_ssize_t n = 0; n < count; n++) {
        size_t place = slots[n] * 0x9e3779b1u & mask;
        while (times[place] && held[place] != slots[n])
            place = (place + 1) & mask;
        held[place] = slots[n];
        times[place]++;
    }
    for (size_t place = 0; place <= mask; place++)
        if (times[place])
            total += weights[held[place]] * (int64_t)sqrt((double)times[place] * (ONE * ONE));
    return total;
}

PyDoc_STRVAR(read_doc, "read(weights, form): the fields of `Reading`, of a text in the form that is judged.");

static PyObject *read_form(PyObject *module, PyObject *args)
{
    Py_buffer weights;
    PyObject *form, *result = NULL;
    Slots found = {0};
    size_t mask = 15;
    uint32_t *times = NULL;
    (void)module;
    if (!PyArg_ParseTuple(args, "y*U", &weights, &form))
        return NULL;
    Source source = {PyUnicode_DATA(form), PyUnicode_KIND(form), PyUnicode_GET_LENGTH(form)};
    found.slots = malloc(sizeof(uint32_t) * 2 * ((size_t)source.length + 1));
    if (weights.len < 1 || weights.len > INT32_MAX || weights.len & (weights.len - 1)) {
        PyErr_SetString(PyExc_ValueError, "the number of weights must be a power of two");
        goto end;
    }
    if (found.slots) {
        fill_slots(&source, (uint32_t)weights.len - 1, &found);
        while (mask < 2 * (size_t)found.count)
            mask = 2 * mask + 1;
        times = calloc(2 * (mask + 1), sizeof(uint32_t));
    }
    if (!times) {
        PyErr_NoMemory();
        goto end;
    }
    result = Py_BuildValue("Lnn", (long long)weigh(weights.buf, found.slots, found.count, times, times + mask + 1, mask),
                           found.tokens, found.words);
end:
    free(found.slots);
    free(times);
    PyBuffer_Release(&weights);
    return result;
}

static PyMethodDef methods[] = {{"read", read_form, METH_VARARGS, read_doc}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_word_habits", NULL, 0, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__word_habits(void)
{
    make_crc32_table();
    return PyModule_Create(&definition);
}
