/* The index of words that are known, and how many words a text has: see word_index.py and word_count.py. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

#include "_word_index.h"

/* Whether no number and no place of an index lies beyond its arrays, and a search ends. */
static int is_index(const Index *index)
{
    const int64_t *begins = index->begins.buf;
    const int32_t *slots = index->slots.buf;
    Py_ssize_t words = words_of(index), places = index->slots.len / (Py_ssize_t)sizeof(int32_t), taken = 0;
    if (words < 0 || places < 1 || places & (places - 1) || begins[0] != 0
        || begins[words] != index->characters.len / (Py_ssize_t)sizeof(Py_UCS4))
        return 0;
    for (Py_ssize_t word = 0; word < words; word++)
        if (begins[word] > begins[word + 1])
            return 0;
    for (Py_ssize_t place = 0; place < places; place++) {
        if (slots[place] < 0 || slots[place] > words)
            return 0;
        taken += slots[place] != 0;
    }
    return taken <= places / 2;
}

PyDoc_STRVAR(fill_doc, "fill(characters, begins, slots): write the number of each word to its place in slots, which are 0.");

static PyObject *fill(PyObject *module, PyObject *args)
{
    Index index;
    int fine;
    (void)module;
    if (!PyArg_ParseTuple(args, "y*y*w*", &index.characters, &index.begins, &index.slots))
        return NULL;
    fine = is_index(&index) && 2 * words_of(&index) <= index.slots.len / (Py_ssize_t)sizeof(int32_t);
    for (Py_ssize_t word = 0; fine && word < words_of(&index); word++) {
        const int64_t *begin = (const int64_t *)index.begins.buf + word;
        Run run = {(const Py_UCS4 *)index.characters.buf + begin[0], begin[1] - begin[0]};
        *slot_of(&index, &run, 1) = (int32_t)word + 1; /* of words that are the same, the last */
    }
    release_index(&index);
    if (!fine)
        return PyErr_Format(PyExc_ValueError, "not an index of words");
    Py_RETURN_NONE;
}

static PyObject *count_words(PyObject *module, PyObject *text)
{
    Py_ssize_t i, words = 0, length;
    int before = 1, kind;
    const void *data;
    (void)module;
    if (!PyUnicode_Check(text))
        return PyErr_Format(PyExc_TypeError, "expected text");
    kind = PyUnicode_KIND(text);
    data = PyUnicode_DATA(text);
    length = PyUnicode_GET_LENGTH(text);
    for (i = 0; i < length; i++) {
        int is_space = Py_UNICODE_ISSPACE(PyUnicode_READ(kind, data, i));
        words += before && !is_space;
        before = is_space;
    }
    return PyLong_FromSsize_t(words);
}

static PyMethodDef methods[] = {
    {"fill", fill, METH_VARARGS, fill_doc},
    {"count_words", count_words, METH_O, "The words of a text: what white space parts."},
    {NULL, NULL, 0, NULL},
};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_word_index", NULL, 0, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__word_index(void)
{
    return PyModule_Create(&definition);
}
