/* MinHash of one text, compiled. obelics_pipeline/core/minhash/minhash_pure.py is the same in Python and defines what it must
 * return; this file is optional and has no dependency but CPython's own API.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { SEPARATOR, WORD, ALONE, MARK, SKIPPED }; /* characters.py */
#define KIND_SHIFT 24
#define TABLE_SIZE 0x20000
#define IDEOGRAPHS 0x40000

#define CHARACTERS 0x9E3779B97F4A7C15u
#define WORDS 0xD1B54A32D192ED03u
#define LANES 64 /* functions that are worked on together: their minima stay in registers or the nearest cache */

/* The widest vectors that the machine has, chosen when the module is loaded: the same whole numbers with each. */
#if defined(__x86_64__) && defined(__GNUC__) && defined(__GLIBC__) && !defined(__clang__)
#define WIDEST __attribute__((target_clones("avx512f", "avx2", "default"), optimize("O3")))
#else
#define WIDEST
#endif

static inline uint64_t mixed(uint64_t value)
{
    value += 0x9E3779B97F4A7C15u;
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9u;
    value = (value ^ (value >> 27)) * 0x94D049BB133111EBu;
    return value ^ (value >> 31);
}

/* Hash each word into `words`, which has room for one per character; returns how many there are. `width` is a constant
 * wherever this is called, so that each width gets a loop of its own. */
static inline Py_ssize_t words_of(const int width, const void *data, Py_ssize_t length, const uint32_t *table,
                                  uint64_t *words)
{
    Py_ssize_t count = 0, i;
    uint32_t within = SEPARATOR;
    uint64_t word = 0;
    for (i = 0; i < length; i++) {
        uint32_t character = PyUnicode_READ(width, data, i), entry, kind;
        if (character < TABLE_SIZE)
            entry = table[character];
        else
            entry = (uint32_t)(character < IDEOGRAPHS ? ALONE : SKIPPED) << KIND_SHIFT | character;
        kind = entry >> KIND_SHIFT;
        if (kind == SKIPPED)
            continue;
        if (within != SEPARATOR && (kind == SEPARATOR || kind == ALONE || (kind == WORD && within == ALONE))) {
            words[count++] = mixed(word);
            within = SEPARATOR;
            word = 0;
        }
        if (kind == SEPARATOR)
            continue;
        if (within == SEPARATOR)
            within = kind;
        word = word * CHARACTERS + (entry & 0xFFFFFF);
    }
    if (within != SEPARATOR)
        words[count++] = mixed(word);
    return count;
}

static Py_ssize_t hash_words(PyObject *text, const uint32_t *table, uint64_t *words)
{
    const void *data = PyUnicode_DATA(text);
    Py_ssize_t length = PyUnicode_GET_LENGTH(text);
    switch (PyUnicode_KIND(text)) {
    case PyUnicode_1BYTE_KIND:
        return words_of(PyUnicode_1BYTE_KIND, data, length, table, words);
    case PyUnicode_2BYTE_KIND:
        return words_of(PyUnicode_2BYTE_KIND, data, length, table, words);
    default:
        return words_of(PyUnicode_4BYTE_KIND, data, length, table, words);
    }
}

/* Hash each run of `length` words into `hashes`; returns how many there are. */
static Py_ssize_t hash_shingles(const uint64_t *words, Py_ssize_t count, Py_ssize_t length, uint32_t *hashes)
{
    Py_ssize_t start, i, found = 0;
    if (length > count)
        length = count;
    for (start = 0; count && start <= count - length; start++) {
        uint64_t shingle = (uint64_t)length;
        for (i = 0; i < length; i++)
            shingle = shingle * WORDS + words[start + i];
        hashes[found++] = (uint32_t)(mixed(shingle) >> 32);
    }
    return found;
}

WIDEST static void take_minima(const uint32_t *restrict hashes, Py_ssize_t count, const uint32_t *restrict factors,
                               const uint32_t *restrict summands, uint32_t *restrict minima, Py_ssize_t functions)
{
    Py_ssize_t first, i;
    for (first = 0; first < functions; first += LANES) {
        uint32_t lowest[LANES], factor[LANES], summand[LANES];
        int lanes = functions - first < LANES ? (int)(functions - first) : LANES, lane;
        memset(factor, 0, sizeof factor);
        memset(summand, 0, sizeof summand);
        memset(lowest, 0xff, sizeof lowest);
        memcpy(factor, factors + first, (size_t)lanes * sizeof *factor);
        memcpy(summand, summands + first, (size_t)lanes * sizeof *summand);
        for (i = 0; i < count; i++) {
            uint32_t hash = hashes[i];
            for (lane = 0; lane < LANES; lane++) {
                uint32_t value = factor[lane] * hash + summand[lane];
                lowest[lane] = value < lowest[lane] ? value : lowest[lane];
            }
        }
        memcpy(minima + first, lowest, (size_t)lanes * sizeof *lowest);
    }
}

static void fill_in(const uint32_t *minima, Py_ssize_t rows, uint64_t *keys, Py_ssize_t bands, uint8_t *sketch,
                    Py_ssize_t sketch_bytes)
{
    Py_ssize_t band, i;
    for (band = 0; band < bands; band++) {
        uint64_t key = (uint64_t)band + 1;
        for (i = 0; i < rows; i++)
            key = mixed(key + minima[band * rows + i]);
        memcpy(keys + band, &key, sizeof key);
    }
    memset(sketch, 0, (size_t)sketch_bytes);
    for (i = 0; i < sketch_bytes * 8; i++)
        sketch[i / 8] |= (uint8_t)((mixed(minima[i]) >> 63) << (i % 8));
}

static int sign_text(PyObject *text, const Py_buffer *table, const Py_buffer *factors, const Py_buffer *summands,
                     Py_ssize_t shingle_words, Py_ssize_t rows, Py_buffer *keys, Py_buffer *sketch, Py_ssize_t *count)
{
    Py_ssize_t functions = factors->len / 4, bands = keys->len / 8, room = PyUnicode_GET_LENGTH(text) + 1, shingles;
    uint64_t *words = NULL;
    uint32_t *hashes = NULL, *minima = NULL;
    int done = -1;
    if (table->len != TABLE_SIZE * 4 || summands->len != factors->len || shingle_words < 1 || rows < 1 ||
        bands > functions / rows || sketch->len > functions / 8) {
        PyErr_SetString(PyExc_ValueError, "the buffers do not fit together");
        return -1;
    }
    if ((size_t)room > PY_SSIZE_T_MAX / sizeof *words || !(words = malloc((size_t)room * sizeof *words)) ||
        !(hashes = malloc((size_t)room * sizeof *hashes)) ||
        !(minima = malloc((size_t)(functions + 1) * sizeof *minima))) {
        PyErr_NoMemory();
        goto end;
    }
    *count = hash_words(text, table->buf, words);
    shingles = hash_shingles(words, *count, shingle_words, hashes);
    take_minima(hashes, shingles, factors->buf, summands->buf, minima, functions);
    fill_in(minima, rows, keys->buf, bands, sketch->buf, sketch->len);
    done = 0;
end:
    free(words);
    free(hashes);
    free(minima);
    return done;
}

static PyObject *sign(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *text;
    Py_buffer table, factors, summands, keys, sketch;
    Py_ssize_t shingle_words, rows, count = 0;
    int done;
    if (!PyArg_ParseTuple(args, "Uy*y*y*nnw*w*", &text, &table, &factors, &summands, &shingle_words, &rows, &keys,
                          &sketch))
        return NULL;
    done = sign_text(text, &table, &factors, &summands, shingle_words, rows, &keys, &sketch, &count);
    PyBuffer_Release(&table);
    PyBuffer_Release(&factors);
    PyBuffer_Release(&summands);
    PyBuffer_Release(&keys);
    PyBuffer_Release(&sketch);
    return done ? NULL : PyLong_FromSsize_t(count);
}

static PyMethodDef methods[] = {
    {"sign", sign, METH_VARARGS, "Fill in the band keys and the sketch of a text; returns its number of words."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_minhash", NULL, 0, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__minhash(void)
{
    return PyModule_Create(&module);
}
