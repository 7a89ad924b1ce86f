/* The hot statistics over a text, compiled. filters/pure.py is the same in Python and defines what they must return;
 * this file is optional and has no dependency but CPython's own API.
 *
 * Every n-gram is counted exactly: the hash only chooses a place, equality is decided by comparing the characters.
 * The hash is multilinear (Lemire and Kaser, "Strongly universal string hashing is fast", 2014) with keys drawn at
 * random per process, so that no text can be prepared whose n-grams collide; the keys change the time taken at most,
 * never a result.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../models/_random_keys.h"

#define MAX_N 100           /* longest n-gram: bounds the work of one hash and of one comparison */
#define MAX_LENGTH 0x3fffffff /* units of a sequence: their places, fewer than 2^32, have a 32-bit number */

static uint64_t keys[MAX_N + 2]; /* of the hash: one for each 4 bytes of the longest n-gram; drawn at import */

/* ---- n-grams of a sequence of 1, 2 or 4 byte units ---------------------------------------------------------------- */

typedef struct {
    const void *units;
    int width; /* bytes of a unit: 1, 2 or 4, CPython's string kinds */
    Py_ssize_t length;
} Sequence;

typedef struct {
    uint32_t *counts; /* by position: how often the n-gram occurs that is first met there; 0 where one is met again */
    uint32_t total, distinct, highest; /* n-grams, different ones, and how often the most frequent one occurs */
} Grams;

/* A power of two with at least three places for each of `count` things. */
static size_t places_for(Py_ssize_t count)
{
    size_t places = 16;
    while (places < (size_t)count * 3)
        places *= 2;
    return places;
}

static inline uint32_t four_bytes(const char *bytes)
{
    uint32_t four;
    memcpy(&four, bytes, 4);
    return four;
}

/* The last 4 bytes may overlap those before them: different bytes still make different sequences of numbers. */
static inline uint32_t hash_bytes(const char *bytes, size_t size)
{
    uint64_t sum = keys[0];
    const uint64_t *key = keys + 1;
    size_t i;
    if (size < 4) {
        for (i = 0; i < size; i++)
            sum += *key++ * (unsigned char)bytes[i];
        return (uint32_t)(sum >> 32);
    }
    for (i = 0; i + 4 < size; i += 4)
        sum += *key++ * four_bytes(bytes + i);
    sum += *key * four_bytes(bytes + size - 4);
    return (uint32_t)(sum >> 32);
}

/* Count every overlapping n-gram; returns -1 with an exception where there is no memory. The caller frees the counts. */
static int count_grams(Grams *grams, const Sequence *s, Py_ssize_t n)
{
    uint32_t total = (uint32_t)(s->length - n + 1), i;
    size_t mask = places_for(total) - 1, size = (size_t)n * (size_t)s->width;
    uint32_t *places = calloc(mask + 1, sizeof(uint32_t)); /* 1 + the position where the n-gram is first met; 0: free */
    uint32_t *counts = malloc(total * sizeof(uint32_t));
    const char *bytes = s->units;
    if (!places || !counts) {
        free(places);
        free(counts);
        PyErr_NoMemory();
        return -1;
    }
    grams->counts = counts;
    grams->total = total;
    grams->distinct = 0;
    grams->highest = 1;
    for (i = 0; i < total; i++) {
        const char *gram = bytes + (size_t)i * s->width;
        size_t place = hash_bytes(gram, size) & mask;
        uint32_t first;
        counts[i] = 0;
        while ((first = places[place]) && memcmp(bytes + (size_t)(first - 1) * s->width, gram, size))
            place = (place + 1) & mask;
        if (!first) {
            places[place] = first = i + 1;
            grams->distinct++;
        }
        if (++counts[first - 1] > grams->highest)
            grams->highest = counts[first - 1];
    }
    free(places);
    return 0;
}

static uint32_t integer_root(uint32_t value)
{
    uint64_t root = 0, bit;
    for (bit = 1 << 16; bit; bit >>= 1)
        if ((root + bit) * (root + bit) <= value)
            root += bit;
    return (uint32_t)root;
}

/* The sum of the `most` highest of the counts above 1; -1 with an exception where there is no memory. */
static int64_t sum_of_highest(const Grams *grams, uint32_t most)
{
    uint32_t *having = calloc((size_t)grams->highest + 1, sizeof(uint32_t)); /* how many n-grams occur so often */
    int64_t sum = 0;
    uint32_t i, taken;
    if (!having) {
        PyErr_NoMemory();
        return -1;
    }
    for (i = 0; i < grams->total; i++)
        having[grams->counts[i]]++;
    for (i = grams->highest; i > 1 && most; i--) {
        taken = having[i] < most ? having[i] : most;
        sum += (int64_t)taken * i;
        most -= taken;
    }
    free(having);
    return sum;
}

/* The share of n-grams that are repeated: of all of them, or of the `root of distinct` most frequent. */
static PyObject *repetition(const Sequence *s, Py_ssize_t n, int most_frequent_only)
{
    Grams grams;
    int64_t sum;
    if (n < 1 || n > MAX_N)
        return PyErr_Format(PyExc_ValueError, "n must be 1 to %d", MAX_N);
    if (s->length > MAX_LENGTH)
        return PyErr_Format(PyExc_OverflowError, "text is too long");
    if (s->length < n)
        return PyFloat_FromDouble(0.0);
    if (count_grams(&grams, s, n) < 0)
        return NULL;
    sum = sum_of_highest(&grams, most_frequent_only ? integer_root(grams.distinct) : grams.distinct);
    free(grams.counts);
    return sum < 0 ? NULL : PyFloat_FromDouble((double)sum / (double)grams.total);
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

static int same_word(PyObject *a, PyObject *b)
{
    Py_ssize_t length = PyUnicode_GET_LENGTH(a);
    return a == b || (length == PyUnicode_GET_LENGTH(b) && PyUnicode_KIND(a) == PyUnicode_KIND(b)
                      && !memcmp(PyUnicode_DATA(a), PyUnicode_DATA(b), (size_t)length * PyUnicode_KIND(a)));
}

/* Give each word a number, equal for equal words: where it first occurs. Python's own hash of a word, random per
 * process too, is known already where the word was looked up in a list. Returns NULL with an exception; the caller frees
 * the numbers. */
static uint32_t *number_words(PyObject *words)
{
    Py_ssize_t length = PyList_GET_SIZE(words), i;
    size_t mask = places_for(length) - 1;
    uint32_t *places = calloc(mask + 1, sizeof(uint32_t)); /* 1 + where the word first occurs; 0: free */
    uint32_t *numbers = malloc((size_t)(length + 1) * sizeof(uint32_t));
    if (!numbers || !places) {
        PyErr_NoMemory();
        goto fail;
    }
    for (i = 0; i < length; i++) {
        PyObject *word = PyList_GET_ITEM(words, i);
        uint32_t first;
        size_t place;
        if (!is_word(word))
            goto fail;
        place = (size_t)(((uint64_t)PyObject_Hash(word) * (keys[0] | 1)) >> 32) & mask;
        while ((first = places[place]) && !same_word(PyList_GET_ITEM(words, first - 1), word))
            place = (place + 1) & mask;
        if (!first)
            places[place] = first = (uint32_t)i + 1;
        numbers[i] = first - 1;
    }
    free(places);
    return numbers;
fail:
    free(places);
    free(numbers);
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
    if (s.length > MAX_LENGTH)
        return PyErr_Format(PyExc_OverflowError, "text is too long");
    s.units = number_words(words);
    if (!s.units)
        return NULL;
    result = repetition(&s, n, 0);
    free((void *)s.units);
    return result;
}

/* ---- characters and words ----------------------------------------------------------------------------------------- */

enum { OTHER, IN_WORD, MARK };

static unsigned char lower_latin[256], ascii_classes[128]; /* made at import */

static void make_tables(void)
{
    int c;
    for (c = 0; c < 256; c++)
        lower_latin[c] = (unsigned char)Py_UNICODE_TOLOWER((Py_UCS4)c);
    for (c = 0; c < 128; c++)
        ascii_classes[c] = Py_ISALNUM(c) || c == '_' || c == '\'' ? IN_WORD : OTHER;
}

typedef struct {
    const unsigned char *bits;
    Py_ssize_t size; /* bytes; a code point beyond them is not in the set */
} CharacterSet;

static inline int in_set(const CharacterSet *set, Py_UCS4 c)
{
    return (Py_ssize_t)(c >> 3) < set->size && (set->bits[c >> 3] >> (c & 7)) & 1;
}

static PyObject *count_characters(PyObject *module, PyObject *args)
{
    CharacterSet set;
    PyObject *text;
    Py_ssize_t i, found = 0, length;
    const void *data;
    int kind;
    if (!PyArg_ParseTuple(args, "y#U:count_characters", &set.bits, &set.size, &text))
        return NULL;
    kind = PyUnicode_KIND(text);
    data = PyUnicode_DATA(text);
    length = PyUnicode_GET_LENGTH(text);
    for (i = 0; i < length; i++)
        found += in_set(&set, PyUnicode_READ(kind, data, i));
    return PyLong_FromSsize_t(found);
}

/* Lower-case `length` units into `lowered`, of the same width. Returns 0, or -1 where a character of another kind than
 * all others is met: U+0130 becomes two characters, and what U+03A3 becomes depends on its neighbours. */
static int lower_units(const void *units, void *lowered, int kind, Py_ssize_t length)
{
    Py_ssize_t i;
    for (i = 0; i < length; i++) {
        Py_UCS4 c = PyUnicode_READ(kind, units, i);
        if (c == 0x130 || c == 0x3a3)
            return -1;
        PyUnicode_WRITE(kind, lowered, i, c < 256 ? lower_latin[c] : Py_UNICODE_TOLOWER(c));
    }
    return 0;
}

/* Append units[start:end] without the special characters at both ends, if anything is left of it. */
static int append_word(PyObject *list, const void *units, int kind, const CharacterSet *special, Py_ssize_t start,
                       Py_ssize_t end)
{
    PyObject *word;
    int failed;
    while (start < end && in_set(special, PyUnicode_READ(kind, units, start)))
        start++;
    while (end > start && in_set(special, PyUnicode_READ(kind, units, end - 1)))
        end--;
    if (start == end)
        return 0;
    word = PyUnicode_FromKindAndData(kind, (const char *)units + start * kind, end - start);
    if (!word)
        return -1;
    failed = PyList_Append(list, word);
    Py_DECREF(word);
    return failed;
}

/* The words of lower-cased units; NULL with an exception. */
static PyObject *split(const void *units, int kind, Py_ssize_t length, const CharacterSet *special)
{
    PyObject *list = PyList_New(0);
    Py_ssize_t i, start = 0;
    for (i = 0; list && i <= length; i++) {
        Py_UCS4 c = i < length ? PyUnicode_READ(kind, units, i) : ' ';
        if (c != ' ' && c != '\n' && c != '\t')
            continue;
        if (i > start && append_word(list, units, kind, special, start, i) < 0)
            Py_CLEAR(list);
        start = i + 1;
    }
    return list;
}

static PyObject *lowered_words(PyObject *module, PyObject *args)
{
    CharacterSet special;
    PyObject *text, *list;
    Py_ssize_t length;
    void *lowered;
    int kind;
    if (!PyArg_ParseTuple(args, "y#U:lowered_words", &special.bits, &special.size, &text))
        return NULL;
    kind = PyUnicode_KIND(text);
    length = PyUnicode_GET_LENGTH(text);
    lowered = malloc((size_t)length * kind + 1);
    if (!lowered)
        return PyErr_NoMemory();
    if (lower_units(PyUnicode_DATA(text), lowered, kind, length) == 0) {
        list = split(lowered, kind, length, &special);
    } else {
        text = PyObject_CallMethod((PyObject *)&PyUnicode_Type, "lower", "O", text);
        list = text ? split(PyUnicode_DATA(text), PyUnicode_KIND(text), PyUnicode_GET_LENGTH(text), &special) : NULL;
        Py_XDECREF(text);
    }
    free(lowered);
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
    memcpy(ascii, ascii_classes, sizeof ascii);
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
    {"lowered_words", lowered_words, METH_VARARGS, "Lower-cased words of a text, by the reference's rule."},
    {"count_characters", count_characters, METH_VARARGS, "Characters of a text that are in the set."},
    {"count_members", count_members, METH_VARARGS, "Words that are in the set."},
    {"count_punctuation", count_punctuation, METH_VARARGS, "(punctuation marks, tokens) of a text."},
    {"character_repetition", character_repetition, METH_VARARGS, "Share of the most frequent character n-grams."},
    {"word_repetition", word_repetition, METH_VARARGS, "Share of word n-grams that occur more than once."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, .m_name = "_statistics", .m_size = -1, .m_methods = methods,
};

PyMODINIT_FUNC PyInit__statistics(void)
{
    if (draw_keys(keys, sizeof keys) < 0)
        return NULL;
    make_tables();
    return PyModule_Create(&definition);
}
