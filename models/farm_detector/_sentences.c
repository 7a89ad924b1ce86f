/* Where the sentences of a text are, which topics and which words they have: sentences.py is the same in NumPy, and
   defines what it must return. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { PARAGRAPH = 4, MARK = 3, LOWER = 4 }; /* a number of words, and looks: see tokens.py */
enum { ENDS = 3, SHORTEST = 4 };             /* marks that end a sentence, and tokens of one that is judged */
enum { NEXT = 1, THIRD = 3, FAR = 8 };       /* sentences from one to another: the last is too far */

typedef struct {
    const int32_t *rows, *ends; /* [tokens][3], and the numbers of the marks that end a sentence */
    const int8_t *topics;       /* [numbers][width] */
    Py_ssize_t tokens, width, numbers, meaning; /* `meaning`: the first number of words that carry meaning */
} Text;

/* Numbers of each token or sentence, as many as there are tokens and one more. */
typedef struct {
    int64_t *begins, *within, *words, *in_each, *next, *third, *borders;
    Py_ssize_t many_begins, many_within, many_words, judged;
    int64_t said, of_others; /* different words of sentences, and those that others have too */
} Found;

typedef struct {
    int32_t number, last, times; /* of a word; the last sentence with it, and how many have it */
    unsigned recent;             /* bit n: whether the sentence n before the last has it */
} Word;

static int is_end(const Text *text, const int32_t *row)
{
    int end = row[0] == PARAGRAPH;
    for (int n = 0; n < ENDS; n++)
        end |= row[0] == text->ends[n] && row[2] == MARK;
    return end;
}

/* Words, those that begin a sentence and those within one; `borders` are where sentences begin and the last one ends. */
static void find_places(const Text *text, Found *found)
{
    int ended = 0;
    found->borders[0] = 0;
    for (Py_ssize_t token = 0; token < text->tokens; token++) {
        const int32_t *row = text->rows + 3 * token;
        ended |= is_end(text, row);
        if (row[2] < LOWER)
            continue;
        found->words[found->many_words++] = token;
        if (ended) {
            found->begins[found->many_begins++] = token;
            found->borders[found->many_begins] = token;
        } else {
            found->within[found->many_within++] = token;
        }
        ended = 0;
    }
    found->borders[found->many_begins + 1] = text->tokens;
}

static void add_topics(const Text *text, int64_t begin, int64_t end, double *sums)
{
    memset(sums, 0, sizeof(double) * (size_t)text->width);
    for (int64_t token = begin; token < end; token++)
        if (text->rows[3 * token + 2] >= LOWER)
            for (Py_ssize_t n = 0; n < text->width; n++)
                sums[n] += text->topics[text->rows[3 * token] * text->width + n];
}

static Word *word_of(Word *words, size_t mask, int32_t number)
{
    size_t place = (uint32_t)number * 0x9e3779b1u & mask;
    while (words[place].times && words[place].number != number)
        place = (place + 1) & mask;
    words[place].number = number;
    return &words[place];
}

/* Note a word of a sentence, and which of those before it have it too. */
static void note(Word *word, int32_t sentence, Found *found)
{
    int32_t apart = sentence - word->last;
    if (word->times && !apart)
        return;
    word->recent = word->times && apart < FAR ? word->recent << apart : 0;
    if (word->recent >> NEXT & 1)
        found->next[sentence - NEXT]++;
    if (word->recent >> THIRD & 1)
        found->third[sentence - THIRD]++;
    word->recent |= 1;
    word->last = sentence;
    word->times++;
    found->in_each[sentence]++;
    found->said++;
}

/* Topics and words of the sentences that are long enough. */
static void judge(const Text *text, Found *found, double *sums, Word *words, size_t mask)
{
    for (Py_ssize_t n = 0; n <= found->many_begins; n++) {
        int64_t begin = found->borders[n], end = found->borders[n + 1];
        Py_ssize_t sentence = found->judged;
        if (end - begin < SHORTEST)
            continue;
        found->judged++;
        found->in_each[sentence] = found->next[sentence] = found->third[sentence] = 0;
        add_topics(text, begin, end, sums + sentence * text->width);
        for (int64_t token = begin; token < end; token++)
            if (text->rows[3 * token + 2] >= LOWER && text->rows[3 * token] >= text->meaning)
                note(word_of(words, mask, text->rows[3 * token]), (int32_t)sentence, found);
    }
    for (size_t place = 0; place <= mask; place++)
        found->of_others += words[place].times > 1 ? words[place].times : 0;
}

static PyObject *result_of(const Found *found, const double *sums, Py_ssize_t width)
{
    const Py_ssize_t each = sizeof(int64_t);
    Py_ssize_t next = found->judged > NEXT ? found->judged - NEXT : 0, third = found->judged > THIRD ? found->judged - THIRD : 0;
    return Py_BuildValue("y#y#y#y#y#y#y#LL", found->begins, found->many_begins * each, found->within,
                         found->many_within * each, found->words, found->many_words * each, sums,
                         found->judged * width * (Py_ssize_t)sizeof(double), found->in_each, found->judged * each,
                         found->next, next * each, found->third, third * each, (long long)found->said,
                         (long long)found->of_others);
}

static PyObject *read_all(const Text *text)
{
    Found found = {0};
    size_t each = (size_t)text->tokens + 2, mask = 15;
    PyObject *result;
    Word *words;
    double *sums;
    int64_t *numbers;
    while (mask < 2 * each)
        mask = 2 * mask + 1;
    words = calloc(mask + 1, sizeof(Word));
    numbers = malloc(sizeof(int64_t) * 7 * each);
    sums = malloc(sizeof(double) * (each / SHORTEST + 1) * (size_t)text->width);
    if (words && numbers && sums) {
        found.begins = numbers;
        found.within = numbers + each;
        found.words = numbers + 2 * each;
        found.in_each = numbers + 3 * each;
        found.next = numbers + 4 * each;
        found.third = numbers + 5 * each;
        found.borders = numbers + 6 * each;
        find_places(text, &found);
        judge(text, &found, sums, words, mask);
        result = result_of(&found, sums, text->width);
    } else {
        result = PyErr_NoMemory();
    }
    free(words);
    free(numbers);
    free(sums);
    return result;
}

static int fits(const Text *text)
{
    for (Py_ssize_t token = 0; token < text->tokens; token++)
        if (text->rows[3 * token] < 0 || text->rows[3 * token] >= text->numbers)
            return 0;
    return text->tokens < INT32_MAX;
}

PyDoc_STRVAR(read_doc, "read(rows, topics, width, ends, meaning): the fields of `Sentences`, arrays as bytes of int64_t, and of\n"
                       "double for the topics.");

static PyObject *read_sentences(PyObject *module, PyObject *args)
{
    Py_buffer rows, topics, ends;
    PyObject *result = NULL;
    Text text = {0};
    (void)module;
    if (!PyArg_ParseTuple(args, "y*y*ny*n", &rows, &topics, &text.width, &ends, &text.meaning))
        return NULL;
    text.rows = rows.buf;
    text.topics = topics.buf;
    text.ends = ends.buf;
    text.tokens = rows.len / (Py_ssize_t)(3 * sizeof(int32_t));
    text.numbers = text.width > 0 ? topics.len / text.width : 0;
    if (ends.len == ENDS * (Py_ssize_t)sizeof(int32_t) && fits(&text))
        result = read_all(&text);
    else
        PyErr_SetString(PyExc_ValueError, "rows and topics that do not fit together");
    PyBuffer_Release(&rows);
    PyBuffer_Release(&topics);
    PyBuffer_Release(&ends);
    return result;
}

static PyMethodDef methods[] = {{"read", read_sentences, METH_VARARGS, read_doc}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_sentences", NULL, 0, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__sentences(void)
{
    return PyModule_Create(&definition);
}
