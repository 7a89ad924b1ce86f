/* The hot statistics over a text, compiled. filters/pure.py is the same in Python and defines what they must return;
 * this file is optional and has no dependency but CPython's own API.
 *
 * Every n-gram is counted exactly: the hash only chooses a place, equality is decided by comparing the characters.
 * The hash is polynomial modulo 2^61-1 with a base drawn at random per process, so that no text can be prepared whose
 * n-grams collide; the base changes the time taken at most, never a result.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define PRIME ((UINT64_C(1) << 61) - 1)
#define MAX_N 100           /* longest n-gram: bounds the work of one comparison */
#define MAX_LENGTH 0x7fffffff

static uint64_t base = 0; /* of the polynomial; drawn at import */

static uint64_t multiply(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;
    uint64_t sum = (uint64_t)(product & PRIME) + (uint64_t)(product >> 61);
    return sum >= PRIME ? sum - PRIME : sum;
}

static uint64_t add(uint64_t a, uint64_t b)
{
    uint64_t sum = a + b;
    return sum >= PRIME ? sum - PRIME : sum;
}

/* ---- n-grams of a sequence of 1, 2 or 4 byte units ---------------------------------------------------------------- */

typedef struct {
    const void *units;
    int width; /* bytes of a unit: 1, 2 or 4, CPython's string kinds */
    Py_ssize_t length;
} Sequence;

typedef struct {
    uint32_t first; /* where the n-gram first occurs */
    uint32_t count; /* 0: the place is free */
} Slot;

typedef struct {
    Slot *slots;
    size_t capacity; /* a power of two */
    Py_ssize_t total, distinct;
} Grams;

static inline uint64_t unit_at(const Sequence *s, Py_ssize_t i)
{
    return (uint64_t)PyUnicode_READ(s->width, s->units, i);
}

static void count_gram(Grams *grams, const Sequence *s, Py_ssize_t start, Py_ssize_t n, uint64_t hash)
{
    const char *bytes = s->units;
    size_t size = (size_t)n * (size_t)s->width;
    size_t place = (size_t)((hash * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & (grams->capacity - 1);
    while (grams->slots[place].count) {
        Slot *slot = &grams->slots[place];
        if (!memcmp(bytes + (size_t)slot->first * s->width, bytes + (size_t)start * s->width, size)) {
            slot->count++;
            return;
        }
        place = (place + 1) & (grams->capacity - 1);
    }
    grams->slots[place].first = (uint32_t)start;
    grams->slots[place].count = 1;
    grams->distinct++;
}

/* Count every overlapping n-gram; returns -1 with an exception where there is no memory. The caller frees the slots. */
static int count_grams(Grams *grams, const Sequence *s, Py_ssize_t n)
{
    uint64_t hash = 0, highest = 1;
    Py_ssize_t i;
    grams->total = s->length - n + 1;
    grams->distinct = 0;
    for (grams->capacity = 16; grams->capacity < (size_t)grams->total + (size_t)grams->total / 2;)
        grams->capacity *= 2;
    grams->slots = calloc(grams->capacity, sizeof(Slot));
    if (!grams->slots) {
        PyErr_NoMemory();
        return -1;
    }
    for (i = 1; i < n; i++)
        highest = multiply(highest, base);
    for (i = 0; i < s->length; i++) {
        if (i >= n)
            hash = add(hash, PRIME - multiply(highest, unit_at(s, i - n)));
        hash = add(multiply(hash, base), unit_at(s, i));
        if (i >= n - 1)
            count_gram(grams, s, i - n + 1, n, hash);
    }
    return 0;
}

static int descending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x < y) - (x > y);
}

static Py_ssize_t integer_root(Py_ssize_t value)
{
    Py_ssize_t root = 0, bit;
    for (bit = (Py_ssize_t)1 << 30; bit; bit >>= 1)
        if ((root + bit) * (root + bit) <= value)
            root += bit;
    return root;
}

/* Gather the frequencies above 1. Returns their number, or -1 with an exception; the caller frees them. */
static Py_ssize_t repeated(const Grams *grams, uint32_t **frequencies)
{
    Py_ssize_t found = 0;
    size_t i;
    for (i = 0; i < grams->capacity; i++)
        found += grams->slots[i].count > 1;
    *frequencies = malloc((size_t)(found + 1) * sizeof(uint32_t));
    if (!*frequencies) {
        PyErr_NoMemory();
        return -1;
    }
    for (found = 0, i = 0; i < grams->capacity; i++)
        if (grams->slots[i].count > 1)
            (*frequencies)[found++] = grams->slots[i].count;
    return found;
}

/* The share of n-grams that are repeated: of all of them, or of the `root of distinct` most frequent. */
static PyObject *repetition(const Sequence *s, Py_ssize_t n, int most_frequent_only)
{
    Grams grams;
    uint32_t *frequencies;
    Py_ssize_t found, i;
    uint64_t sum = 0;
    if (n < 1 || n > MAX_N)
        return PyErr_Format(PyExc_ValueError, "n must be 1 to %d", MAX_N);
    if (s->length > MAX_LENGTH)
        return PyErr_Format(PyExc_OverflowError, "text is too long");
    if (s->length < n)
        return PyFloat_FromDouble(0.0);
    if (count_grams(&grams, s, n) < 0)
        return NULL;
    found = repeated(&grams, &frequencies);
    free(grams.slots);
    if (found < 0)
        return NULL;
    if (most_frequent_only) {
        Py_ssize_t root = integer_root(grams.distinct);
        qsort(frequencies, (size_t)found, sizeof(uint32_t), descending);
        found = root < found ? root : found;
    }
    for (i = 0; i < found; i++)
        sum += frequencies[i];
    free(frequencies);
    return PyFloat_FromDouble((double)sum / (double)grams.total);
}

static PyObject *character_repetition(PyObject *module, PyObject *args)
{
    PyObject *text;
    Py_ssize_t n;
    Sequence s;
    if (!PyArg_ParseTuple(args, "Un:character_repetition", &text, &n))
        return NULL;
    s.units = PyUnicode_DATA(text);
    s.width = PyUnicode_KIND(text);
    s.length = PyUnicode_GET_LENGTH(text);
    return repetition(&s, n, 1);
}

/* Only a true str: hashing anything else could run Python code, which could change the list under us. */
static int is_word(PyObject *word)
{
    if (PyUnicode_CheckExact(word))
        return 1;
    PyErr_SetString(PyExc_TypeError, "words must be str");
    return 0;
}

/* Number the words in order of appearance. Returns NULL with an exception. The caller frees the numbers. */
static uint32_t *number_words(PyObject *words)
{
    Py_ssize_t length = PyList_GET_SIZE(words), i;
    PyObject *numbers = PyDict_New();
    uint32_t *sequence = malloc((size_t)(length + 1) * sizeof(uint32_t));
    if (!numbers || !sequence) {
        PyErr_NoMemory();
        goto fail;
    }
    for (i = 0; i < length; i++) {
        PyObject *word = PyList_GET_ITEM(words, i), *next, *number;
        if (!is_word(word))
            goto fail;
        next = PyLong_FromSsize_t(PyDict_GET_SIZE(numbers));
        number = next ? PyDict_SetDefault(numbers, word, next) : NULL;
        Py_XDECREF(next);
        if (!number)
            goto fail;
        sequence[i] = (uint32_t)PyLong_AsUnsignedLong(number);
    }
    Py_DECREF(numbers);
    return sequence;
fail:
    Py_XDECREF(numbers);
    free(sequence);
    return NULL;
}

static PyObject *word_repetition(PyObject *module, PyObject *args)
{
    PyObject *words, *result;
    Py_ssize_t n;
    Sequence s;
    if (!PyArg_ParseTuple(args, "O!n:word_repetition", &PyList_Type, &words, &n))
        return NULL;
    s.width = 4;
    s.length = PyList_GET_SIZE(words);
    s.units = number_words(words);
    if (!s.units)
        return NULL;
    result = repetition(&s, n, 0);
    free((void *)s.units);
    return result;
}

/* ---- characters and words ----------------------------------------------------------------------------------------- */

typedef struct {
    const unsigned char *bits;
    Py_ssize_t size; /* bytes; a code point beyond them is not in the set */
} CharacterSet;

static inline int in_set(const CharacterSet *set, Py_UCS4 c)
{
    return (Py_ssize_t)(c >> 3) < set->size && (set->bits[c >> 3] >> (c & 7)) & 1;
}

static PyObject *count_special(PyObject *module, PyObject *args)
{
    CharacterSet special;
    PyObject *text;
    Py_ssize_t i, found = 0, length;
    const void *data;
    int kind;
    if (!PyArg_ParseTuple(args, "y#U:count_special", &special.bits, &special.size, &text))
        return NULL;
    kind = PyUnicode_KIND(text);
    data = PyUnicode_DATA(text);
    length = PyUnicode_GET_LENGTH(text);
    for (i = 0; i < length; i++)
        found += in_set(&special, PyUnicode_READ(kind, data, i));
    return PyLong_FromSsize_t(found);
}

/* Append text[start:end] without the special characters at both ends, if anything is left of it. */
static int append_word(PyObject *list, PyObject *text, const CharacterSet *special, Py_ssize_t start, Py_ssize_t end)
{
    PyObject *word;
    int failed;
    while (start < end && in_set(special, PyUnicode_READ_CHAR(text, start)))
        start++;
    while (end > start && in_set(special, PyUnicode_READ_CHAR(text, end - 1)))
        end--;
    if (start == end)
        return 0;
    word = PyUnicode_Substring(text, start, end);
    if (!word)
        return -1;
    failed = PyList_Append(list, word);
    Py_DECREF(word);
    return failed;
}

static PyObject *words(PyObject *module, PyObject *args)
{
    CharacterSet special;
    PyObject *text, *list;
    Py_ssize_t i, start = 0, length;
    const void *data;
    int kind;
    if (!PyArg_ParseTuple(args, "y#U:words", &special.bits, &special.size, &text))
        return NULL;
    list = PyList_New(0);
    if (!list)
        return NULL;
    kind = PyUnicode_KIND(text);
    data = PyUnicode_DATA(text);
    length = PyUnicode_GET_LENGTH(text);
    for (i = 0; i <= length; i++) {
        Py_UCS4 c = i < length ? PyUnicode_READ(kind, data, i) : ' ';
        if (c != ' ' && c != '\n' && c != '\t')
            continue;
        if (i > start && append_word(list, text, &special, start, i) < 0) {
            Py_DECREF(list);
            return NULL;
        }
        start = i + 1;
    }
    return list;
}

static PyObject *count_members(PyObject *module, PyObject *args)
{
    PyObject *list, *members;
    Py_ssize_t i, found = 0;
    if (!PyArg_ParseTuple(args, "O!O!:count_members", &PyList_Type, &list, &PyFrozenSet_Type, &members))
        return NULL;
    for (i = 0; i < PyList_GET_SIZE(list); i++) {
        PyObject *word = PyList_GET_ITEM(list, i);
        int contained = is_word(word) ? PySet_Contains(members, word) : -1;
        if (contained < 0)
            return NULL;
        found += contained;
    }
    return PyLong_FromSsize_t(found);
}

enum { OTHER, IN_WORD, MARK };

/* The class of a character that is no ASCII; a mark that is a word character is a word character. */
static int class_of(Py_UCS4 c, PyObject *marks)
{
    if (c == '_' || c == '\'' || Py_UNICODE_ISALNUM(c))
        return IN_WORD;
    return PyUnicode_FindChar(marks, c, 0, PyUnicode_GET_LENGTH(marks), 1) >= 0 ? MARK : OTHER;
}

/* (punctuation marks, tokens): a token is a run of word characters and apostrophes, or one mark. */
static PyObject *count_punctuation(PyObject *module, PyObject *args)
{
    PyObject *text, *marks;
    Py_ssize_t i, found = 0, runs = 0, length;
    unsigned char ascii[128];
    int before = OTHER, kind;
    const void *data;
    if (!PyArg_ParseTuple(args, "UU:count_punctuation", &text, &marks))
        return NULL;
    for (i = 0; i < 128; i++)
        ascii[i] = Py_ISALNUM((int)i) || i == '_' || i == '\'' ? IN_WORD : OTHER;
    for (i = 0; i < PyUnicode_GET_LENGTH(marks); i++) {
        Py_UCS4 mark = PyUnicode_READ_CHAR(marks, i);
        if (mark < 128 && ascii[mark] == OTHER)
            ascii[mark] = MARK;
    }
    kind = PyUnicode_KIND(text);
    data = PyUnicode_DATA(text);
    length = PyUnicode_GET_LENGTH(text);
    for (i = 0; i < length; i++) {
        Py_UCS4 c = PyUnicode_READ(kind, data, i);
        int class = c < 128 ? ascii[c] : class_of(c, marks);
        runs += class == IN_WORD && before != IN_WORD;
        found += class == MARK;
        before = class;
    }
    return Py_BuildValue("nn", found, runs + found);
}

static PyMethodDef methods[] = {
    {"words", words, METH_VARARGS, "Words of a lower-cased text, by the reference's rule."},
    {"count_special", count_special, METH_VARARGS, "Characters of a text that are in the set."},
    {"count_members", count_members, METH_VARARGS, "Words that are in the set."},
    {"count_punctuation", count_punctuation, METH_VARARGS, "(punctuation marks, tokens) of a text."},
    {"character_repetition", character_repetition, METH_VARARGS, "Share of the most frequent character n-grams."},
    {"word_repetition", word_repetition, METH_VARARGS, "Share of word n-grams that occur more than once."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, .m_name = "_statistics", .m_size = -1, .m_methods = methods,
};

/* A base from the operating system's random numbers, between 2^32 and the prime. */
static int draw_base(void)
{
    PyObject *os = PyImport_ImportModule("os");
    PyObject *bytes = os ? PyObject_CallMethod(os, "urandom", "i", 8) : NULL;
    Py_XDECREF(os);
    if (!bytes)
        return -1;
    memcpy(&base, PyBytes_AS_STRING(bytes), 8);
    Py_DECREF(bytes);
    base = base % (PRIME - (UINT64_C(1) << 32)) + (UINT64_C(1) << 32);
    return 0;
}

PyMODINIT_FUNC PyInit__statistics(void)
{
    if (draw_base() < 0)
        return NULL;
    return PyModule_Create(&definition);
}
