/* The numbers of words that are known: word_index.py makes the arrays, which are the same in every process. */

#define UNKNOWN 0 /* number of a word that is not known; the first that is has 1 */

typedef struct {
    Py_buffer characters; /* of all words, one after the other: Py_UCS4 */
    Py_buffer begins;     /* where each begins, and where the last one ends: int64_t */
    Py_buffer slots;      /* numbers, a power of two of places, at most half of which are taken: int32_t */
} Index;

typedef struct {
    const Py_UCS4 *characters;
    Py_ssize_t length;
} Run;

static inline void release_index(Index *index)
{
    if (index->slots.obj) {
        PyBuffer_Release(&index->characters);
        PyBuffer_Release(&index->begins);
        PyBuffer_Release(&index->slots);
    }
}

static inline Py_ssize_t words_of(const Index *index)
{
    return index->begins.len / (Py_ssize_t)sizeof(int64_t) - 1;
}

/* FNV-1a of 64 bits (Fowler, Noll, Vo), a character in place of a byte. */
static size_t place_of(const Run *runs, int many)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (int n = 0; n < many; n++)
        for (Py_ssize_t at = 0; at < runs[n].length; at++)
            hash = (hash ^ runs[n].characters[at]) * 0x100000001b3u;
    return (size_t)(hash ^ hash >> 32);
}

static int is_word_of(const Index *index, int32_t number, const Run *runs, int many, Py_ssize_t length)
{
    const int64_t *begin = (const int64_t *)index->begins.buf + number - 1;
    const Py_UCS4 *characters = (const Py_UCS4 *)index->characters.buf + begin[0];
    if (begin[1] - begin[0] != length)
        return 0;
    for (int n = 0; n < many; characters += runs[n++].length)
        if (memcmp(characters, runs[n].characters, sizeof(Py_UCS4) * (size_t)runs[n].length))
            return 0;
    return 1;
}

/* Where the word that several runs of characters make together is, or where it would be. */
static inline int32_t *slot_of(const Index *index, const Run *runs, int many)
{
    int32_t *slots = index->slots.buf;
    size_t mask = (size_t)index->slots.len / sizeof(int32_t) - 1, place = place_of(runs, many) & mask;
    Py_ssize_t length = 0;
    for (int n = 0; n < many; n++)
        length += runs[n].length;
    while (slots[place] && !is_word_of(index, slots[place], runs, many, length))
        place = (place + 1) & mask;
    return &slots[place];
}

static inline int32_t find(const Index *index, const Run *runs, int many)
{
    return *slot_of(index, runs, many);
}

/* A converter of PyArg_ParseTuple. That nothing of it lies outside was seen when it was filled. */
static inline int to_index(PyObject *given, void *into)
{
    Index *index = into;
    if (!given) {
        release_index(index);
        return 1;
    }
    if (!PyTuple_Check(given) || !PyArg_ParseTuple(given, "y*y*y*", &index->characters, &index->begins, &index->slots))
        return 0;
    return Py_CLEANUP_SUPPORTED;
}
