/* What is counted of the tokens of a text, in the order of `Counts`: counts.py is the same in NumPy, and defines what it
   must return. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { UNKNOWN = 1 };                            /* the number of words that are in no vocabulary: see tokens.py */
enum { BREAK = 1, DIGITS, MARK, LOWER, LOOKS = 16 }; /* looks: words have LOWER or more */
enum { BY_STEM = 4, NOT_KNOWN = 8 };             /* are added to the looks of a word */

static const int windows[] = {50, 150}; /* words */
#define WINDOWS 2
#define LONGEST 4 /* words in a row */

typedef struct {
    int64_t tokens, marks, breaks, numbers, words, unknown_words, unknown_lower, unknown_endings, capitals, letters;
    struct { int64_t windows, distinct, lowest; } diversity[WINDOWS];
    struct { int64_t distinct, most; } repetition[LONGEST - 1];
} Counts;

/* Arrays of as many numbers as there are tokens, and slots for twice as many. */
typedef struct {
    int32_t *words, *ids, *next, *before, *times, *slots;
    size_t mask;
} Room;

static void count_looks(const int32_t *rows, const int32_t *forms, const int32_t *letters, const int32_t *capitals,
                        Py_ssize_t tokens, int32_t *words, Counts *counts)
{
    int64_t looks[LOOKS] = {0};
    for (Py_ssize_t token = 0; token < tokens; token++) {
        int32_t look = rows[3 * token + 2];
        looks[look & (LOOKS - 1)]++;
        counts->capitals += capitals[token];
        counts->letters += letters[token];
        counts->unknown_words += rows[3 * token] == UNKNOWN && look >= LOWER;
        if (look >= LOWER)
            words[counts->words++] = forms[token];
    }
    counts->tokens = tokens;
    counts->marks = looks[MARK];
    counts->breaks = looks[BREAK];
    counts->numbers = looks[DIGITS];
    counts->unknown_lower = looks[LOWER + NOT_KNOWN];
    counts->unknown_endings = looks[LOWER + BY_STEM];
}

/* Where each pair of numbers stands first, and in `before` where it stood last, or -1; how many there are. */
static int64_t number_pairs(const Room *room, const int32_t *left, const int32_t *right, int64_t count, int32_t *first,
                            int32_t *before)
{
    int64_t distinct = 0;
    memset(room->slots, -1, sizeof(int32_t) * (room->mask + 1));
    for (int32_t at = 0; at < count; at++) {
        uint64_t pair = (uint64_t)(uint32_t)left[at] << 32 | (uint32_t)right[at];
        size_t place = (size_t)(pair * 0x9e3779b97f4a7c15u >> 32) & room->mask; /* Knuth's Fibonacci hashing */
        int32_t other;
        while ((other = room->slots[place]) >= 0 && (left[other] != left[at] || right[other] != right[at]))
            place = (place + 1) & room->mask;
        before[at] = other;
        first[at] = other < 0 ? at : first[other];
        room->slots[place] = at; /* the last of them */
        distinct += other < 0;
    }
    return distinct;
}

static void count_diversity(const int32_t *before, int64_t words, Counts *counts)
{
    for (int n = 0; n < WINDOWS; n++) {
        counts->diversity[n].lowest = windows[n];
        for (int64_t begin = 0; begin + windows[n] <= words; begin += windows[n] / 2) {
            int64_t distinct = 0;
            for (int64_t at = begin; at < begin + windows[n]; at++)
                distinct += before[at] < begin;
            counts->diversity[n].windows++;
            counts->diversity[n].distinct += distinct;
            if (distinct < counts->diversity[n].lowest)
                counts->diversity[n].lowest = distinct;
        }
    }
}

/* Words in a row: how many different ones there are, and how often the most frequent one occurs. */
static void count_repetition(const Room *room, Counts *counts)
{
    const int32_t *rows = room->words;
    int32_t *ids = room->ids, *next = room->next;
    for (int length = 2; length <= LONGEST; length++) {
        int64_t count = counts->words - length + 1;
        counts->repetition[length - 2].distinct = number_pairs(room, rows, room->words + length - 1, count, ids, room->before);
        memset(room->times, 0, sizeof(int32_t) * (size_t)(counts->words + 1));
        for (int64_t at = 0; at < count; at++)
            if (++room->times[ids[at]] > counts->repetition[length - 2].most)
                counts->repetition[length - 2].most = room->times[ids[at]];
        rows = ids;
        ids = next;
        next = (int32_t *)rows;
    }
}

static PyObject *tuple_of(const Counts *counts)
{
    PyObject *result = PyTuple_New(sizeof *counts / sizeof(int64_t));
    for (Py_ssize_t n = 0; result && n < PyTuple_GET_SIZE(result); n++) {
        PyObject *number = PyLong_FromLongLong(((const int64_t *)counts)[n]);
        if (number)
            PyTuple_SET_ITEM(result, n, number);
        else
            Py_CLEAR(result);
    }
    return result;
}

static PyObject *count_all(const int32_t *rows, const int32_t *forms, const int32_t *letters, const int32_t *capitals,
                           Py_ssize_t tokens)
{
    Counts counts = {0};
    Room room = {0};
    size_t each = (size_t)tokens + 1;
    for (room.mask = 15; room.mask < 2 * each; room.mask = 2 * room.mask + 1)
        ;
    room.words = malloc(sizeof(int32_t) * (5 * each + room.mask + 1));
    if (!room.words)
        return PyErr_NoMemory();
    room.ids = room.words + each;
    room.next = room.ids + each;
    room.before = room.next + each;
    room.times = room.before + each;
    room.slots = room.times + each;
    count_looks(rows, forms, letters, capitals, tokens, room.words, &counts);
    number_pairs(&room, room.words, room.words, counts.words, room.ids, room.before);
    count_diversity(room.before, counts.words, &counts);
    count_repetition(&room, &counts);
    free(room.words);
    return tuple_of(&counts);
}

PyDoc_STRVAR(count_doc, "count(rows, forms, letters, capitals): all counts of tokens as `Vocabulary.read` gives them.");

static PyObject *count(PyObject *module, PyObject *args)
{
    Py_buffer rows, forms, letters, capitals;
    PyObject *result = NULL;
    Py_ssize_t tokens;
    (void)module;
    if (!PyArg_ParseTuple(args, "y*y*y*y*", &rows, &forms, &letters, &capitals))
        return NULL;
    tokens = forms.len / (Py_ssize_t)sizeof(int32_t);
    if (rows.len == 3 * forms.len && letters.len == forms.len && capitals.len == forms.len && tokens < INT32_MAX)
        result = count_all(rows.buf, forms.buf, letters.buf, capitals.buf, tokens);
    else
        PyErr_SetString(PyExc_ValueError, "arrays of different lengths");
    PyBuffer_Release(&rows);
    PyBuffer_Release(&forms);
    PyBuffer_Release(&letters);
    PyBuffer_Release(&capitals);
    return result;
}

static PyMethodDef methods[] = {{"count", count, METH_VARARGS, count_doc}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_counts", NULL, 0, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__counts(void)
{
    return PyModule_Create(&definition);
}
