/* What is counted of the tokens of a text: words.py, choices.py, pairs.py and shapes.py are the same in NumPy, and define
   what it must return. All are whole numbers: a sum, and of how many. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

#include "../_word_index.h" /* UNKNOWN is the number of words that are not known here too */

enum { GRAMMAR = 152, COMMON = 500 };        /* numbers of words: see habits.py and pairs.py */
enum { UNIT = 16 };                          /* of logarithms */
enum { PLACES = 4, REACH = 2, SETS = 6 };    /* around a choice, how far they are, and sets of choices */

typedef struct {
    int64_t total, of;
} Part;

typedef struct {
    const int64_t *numbers;
    const char *is_word;
    Py_ssize_t count;
} Tokens;

static void add(Part *part, int64_t value)
{
    part->total += value;
    part->of++;
}

static PyObject *tuple_of(const Part *parts, Py_ssize_t many)
{
    PyObject *result = PyTuple_New(many);
    for (Py_ssize_t n = 0; result && n < many; n++) {
        PyObject *part = Py_BuildValue("LL", (long long)parts[n].total, (long long)parts[n].of);
        if (part)
            PyTuple_SET_ITEM(result, n, part);
        else
            Py_CLEAR(result);
    }
    return result;
}

/* Whether all numbers are those of rows of a table. */
static int within(const int64_t *numbers, Py_ssize_t count, int64_t rows)
{
    for (Py_ssize_t n = 0; n < count; n++)
        if (numbers[n] < 0 || numbers[n] >= rows)
            return 0;
    return 1;
}

/* ---- words -------------------------------------------------------------------------------------------------------- */

enum { WORD_PARTS = 4 };

static void count_words(const Tokens *tokens, const char *as_written, const int16_t *often, Part *parts)
{
    for (Py_ssize_t n = 0; n < tokens->count; n++) {
        int64_t number = tokens->numbers[n];
        if (!tokens->is_word[n])
            continue;
        add(&parts[0], number == UNKNOWN);
        add(&parts[1], number == UNKNOWN && as_written[n]);
        add(&parts[2], number != UNKNOWN && number < GRAMMAR);
        add(&parts[3], often[number]);
    }
}

PyDoc_STRVAR(words_doc, "words(number, is_word, as_written, often): the parts of `words.NAMES`.");

static PyObject *words(PyObject *module, PyObject *args)
{
    Py_buffer numbers, is_word, as_written, often;
    Part parts[WORD_PARTS] = {{0}};
    PyObject *result = NULL;
    (void)module;
    if (!PyArg_ParseTuple(args, "y*y*y*y*", &numbers, &is_word, &as_written, &often))
        return NULL;
    Tokens tokens = {numbers.buf, is_word.buf, is_word.len};
    if (numbers.len == is_word.len * (Py_ssize_t)sizeof(int64_t) && as_written.len == is_word.len
        && within(tokens.numbers, tokens.count, often.len / (Py_ssize_t)sizeof(int16_t))) {
        count_words(&tokens, as_written.buf, often.buf, parts);
        result = tuple_of(parts, WORD_PARTS);
    } else {
        PyErr_SetString(PyExc_ValueError, "tokens and words that do not fit together");
    }
    PyBuffer_Release(&numbers);
    PyBuffer_Release(&is_word);
    PyBuffer_Release(&as_written);
    PyBuffer_Release(&often);
    return result;
}

/* ---- choices ------------------------------------------------------------------------------------------------------ */

enum { OVER = 3, CHOICE_PARTS = 1 + OVER + SETS };
static const int better_by[OVER] = {UNIT, 2 * UNIT, 4 * UNIT};
static const struct {
    int place, weight;
} around[PLACES] = {{-2, 1}, {-1, 2}, {1, 2}, {2, 1}};

typedef struct {
    Py_buffer choice_of, tables, prior, sets; /* [numbers], [PLACES][numbers][choices], [choices], [choices] */
    Py_ssize_t known, choices;
} Choices;

/* How well a choice fits where words stand around it, whose rows of the tables these are. */
static int64_t fit_of(const Choices *all, const int8_t *const *rows, int64_t choice)
{
    int64_t fit = ((const int16_t *)all->prior.buf)[choice];
    for (int n = 0; n < PLACES; n++)
        fit += rows[n][choice] * around[n].weight >> 1; /* the floor of half of it */
    return fit;
}

static void count_choices(const Choices *all, const int64_t *numbers, Py_ssize_t count, Part *parts)
{
    const int64_t *choice_of = all->choice_of.buf;
    const int8_t *sets = all->sets.buf;
    for (Py_ssize_t at = REACH; at < count - REACH; at++) {
        int64_t own = choice_of[numbers[at]], own_fit, best, better;
        const int8_t *rows[PLACES];
        if (own < 0)
            continue;
        for (int n = 0; n < PLACES; n++)
            rows[n] = (const int8_t *)all->tables.buf + (n * all->known + numbers[at + around[n].place]) * all->choices;
        best = own_fit = fit_of(all, rows, own);
        for (int64_t other = 0; other < all->choices; other++)
            if (sets[other] == sets[own]) {
                int64_t fit = fit_of(all, rows, other);
                best = fit > best ? fit : best;
            }
        better = best - own_fit;
        add(&parts[0], better);
        for (int n = 0; n < OVER; n++)
            add(&parts[1 + n], better > better_by[n]);
        add(&parts[1 + OVER + sets[own]], better);
    }
}

/* Whether the tables are of as many words and choices as each other. */
static int fits(Choices *all)
{
    const int8_t *sets = all->sets.buf;
    const int64_t *choice_of = all->choice_of.buf;
    all->known = all->choice_of.len / (Py_ssize_t)sizeof(int64_t);
    all->choices = all->sets.len;
    for (Py_ssize_t n = 0; n < all->choices; n++)
        if (sets[n] < 0 || sets[n] >= SETS)
            return 0;
    for (Py_ssize_t n = 0; n < all->known; n++)
        if (choice_of[n] >= all->choices)
            return 0;
    return all->prior.len == all->choices * (Py_ssize_t)sizeof(int16_t)
        && all->tables.len == PLACES * all->known * all->choices;
}

PyDoc_STRVAR(choices_doc, "choices(number, choice_of, choices, prior, set_of): the parts of `choices.NAMES`.");

static PyObject *choices(PyObject *module, PyObject *args)
{
    Py_buffer numbers;
    Choices all = {0};
    Part parts[CHOICE_PARTS] = {{0}};
    PyObject *result = NULL;
    (void)module;
    if (!PyArg_ParseTuple(args, "y*y*y*y*y*", &numbers, &all.choice_of, &all.tables, &all.prior, &all.sets))
        return NULL;
    Py_ssize_t count = numbers.len / (Py_ssize_t)sizeof(int64_t);
    if (fits(&all) && within(numbers.buf, count, all.known)) {
        count_choices(&all, numbers.buf, count, parts);
        result = tuple_of(parts, CHOICE_PARTS);
    } else {
        PyErr_SetString(PyExc_ValueError, "tokens and choices that do not fit together");
    }
    PyBuffer_Release(&numbers);
    PyBuffer_Release(&all.choice_of);
    PyBuffer_Release(&all.tables);
    PyBuffer_Release(&all.prior);
    PyBuffer_Release(&all.sets);
    return result;
}

/* ---- pairs -------------------------------------------------------------------------------------------------------- */

enum { EXPECTED = 3, PAIR_PARTS = 15 };
enum { MISSING, MISSING_EXPECTED, MISSING_OVER, OF_GRAMMAR = MISSING_OVER + EXPECTED, AFTER_GRAMMAR, BEFORE_GRAMMAR,
       OF_MEANING, OF_COMMON, TURNED_ROUND, ON_BOTH_SIDES, AROUND_MEANING, BETTER_WITHOUT, ALONE };
static const int expected_over[EXPECTED] = {0, 2 * UNIT, 3 * UNIT};

typedef struct {
    Py_buffer often, bits; /* [numbers], and a bit for each pair: [paired][width] */
    Py_ssize_t paired, width;
    int64_t total;
} Pairs;

static int has(const Pairs *pairs, int64_t left, int64_t right)
{
    return ((const unsigned char *)pairs->bits.buf)[left * pairs->width + (right >> 3)] >> (7 - (right & 7)) & 1;
}

static int is_known(const Pairs *pairs, const Tokens *tokens, Py_ssize_t at)
{
    return tokens->is_word[at] && tokens->numbers[at] != UNKNOWN && tokens->numbers[at] < pairs->paired;
}

/* A pair of neighbours: whether both are known, and whether trusted texts do not have it. */
typedef struct {
    int there, missing;
} Neighbours;

static Neighbours neighbours_at(const Pairs *pairs, const Tokens *tokens, Py_ssize_t at)
{
    Neighbours found = {0, 0};
    if (at < 0 || at + 1 >= tokens->count || !is_known(pairs, tokens, at) || !is_known(pairs, tokens, at + 1))
        return found;
    found.there = 1;
    found.missing = !has(pairs, tokens->numbers[at], tokens->numbers[at + 1]);
    return found;
}

/* The parts of a pair of neighbours that is there. */
static void count_pair(const Pairs *pairs, int64_t left, int64_t right, int missing, Part *parts)
{
    const int16_t *often = pairs->often.buf;
    int64_t expected = (int64_t)often[left] + often[right] - pairs->total;
    add(&parts[MISSING], missing);
    add(&parts[MISSING_EXPECTED], missing && expected > 0 ? expected : 0);
    for (int n = 0; n < EXPECTED; n++)
        if (expected > expected_over[n])
            add(&parts[MISSING_OVER + n], missing);
    if (left < GRAMMAR)
        add(&parts[right < GRAMMAR ? OF_GRAMMAR : AFTER_GRAMMAR], missing);
    else
        add(&parts[right < GRAMMAR ? BEFORE_GRAMMAR : OF_MEANING], missing);
    if (left < COMMON && right < COMMON)
        add(&parts[OF_COMMON], missing);
    add(&parts[TURNED_ROUND], missing && has(pairs, right, left));
}

static void count_pairs(const Pairs *pairs, const Tokens *tokens, Part *parts)
{
    const int64_t *numbers = tokens->numbers;
    Neighbours before = {0, 0}, here = neighbours_at(pairs, tokens, 0), after;
    for (Py_ssize_t at = 0; at + 1 < tokens->count; at++, before = here, here = after) {
        after = neighbours_at(pairs, tokens, at + 1);
        if (!here.there)
            continue;
        count_pair(pairs, numbers[at], numbers[at + 1], here.missing, parts);
        if (at > 0 && at + 2 < tokens->count)
            add(&parts[ALONE], here.missing && !before.missing && !after.missing);
        if (!after.there)
            continue;
        add(&parts[ON_BOTH_SIDES], here.missing && after.missing);
        if (numbers[at + 1] >= GRAMMAR)
            add(&parts[AROUND_MEANING], here.missing && after.missing);
        add(&parts[BETTER_WITHOUT], (here.missing || after.missing) && has(pairs, numbers[at], numbers[at + 2]));
    }
}

PyDoc_STRVAR(pairs_doc, "pairs(number, is_word, often, total, pairs, paired): the parts of `pairs.NAMES`.");

static PyObject *pairs(PyObject *module, PyObject *args)
{
    Py_buffer numbers, is_word;
    Pairs all = {0};
    long long total;
    Part parts[PAIR_PARTS] = {{0}};
    PyObject *result = NULL;
    (void)module;
    if (!PyArg_ParseTuple(args, "y*y*y*Ly*n", &numbers, &is_word, &all.often, &total, &all.bits, &all.paired))
        return NULL;
    Tokens tokens = {numbers.buf, is_word.buf, is_word.len};
    all.total = total;
    all.width = (all.paired + 7) / 8;
    Py_ssize_t known = all.often.len / (Py_ssize_t)sizeof(int16_t);
    if (numbers.len == is_word.len * (Py_ssize_t)sizeof(int64_t) && all.paired > 0 && all.paired <= known
        && all.bits.len == all.paired * all.width && within(tokens.numbers, tokens.count, known)) {
        count_pairs(&all, &tokens, parts);
        result = tuple_of(parts, PAIR_PARTS);
    } else {
        PyErr_SetString(PyExc_ValueError, "tokens and pairs that do not fit together");
    }
    PyBuffer_Release(&numbers);
    PyBuffer_Release(&is_word);
    PyBuffer_Release(&all.often);
    PyBuffer_Release(&all.bits);
    return result;
}

/* ---- shapes ------------------------------------------------------------------------------------------------------- */

enum { DISTANCES = 2, UNDER = 3, SHAPE_PARTS = 3 * (1 + UNDER) + 1 };
static const int disagree_under[UNDER] = {0, -UNIT, -2 * UNIT};

/* The number of the longest ending of a word that is known, from 1 on; 0 where none is. */
static int64_t ending_of(const Index *endings, const Py_UCS4 *word, int64_t length, int64_t longest)
{
    if (!Py_UNICODE_ISALPHA(*word))
        return UNKNOWN;
    for (int64_t letters = longest < length ? longest : length; letters > 0; letters--) {
        Run run = {word + length - letters, letters};
        int64_t found = find(endings, &run, 1);
        if (found != UNKNOWN)
            return found;
    }
    return UNKNOWN;
}

typedef struct {
    Py_buffer numbers, lower, begins, as_written;
} Written;

static PyObject *shapes_of(const Written *tokens, const Index *endings, Py_ssize_t shaped, Py_ssize_t longest)
{
    const int64_t *numbers = tokens->numbers.buf, *begins = tokens->begins.buf;
    PyObject *result = PyBytes_FromStringAndSize(NULL, tokens->numbers.len);
    for (Py_ssize_t n = 0; result && n < tokens->as_written.len; n++) {
        int64_t shape = numbers[n] < shaped ? numbers[n] : UNKNOWN, ending;
        const Py_UCS4 *word = (const Py_UCS4 *)tokens->lower.buf + begins[n];
        if (shape == UNKNOWN && (ending = ending_of(endings, word, begins[n + 1] - begins[n], longest)) != UNKNOWN)
            shape = shaped + ending - 1 + (((const char *)tokens->as_written.buf)[n] ? 0 : words_of(endings));
        ((int64_t *)PyBytes_AS_STRING(result))[n] = shape;
    }
    return result;
}

/* Whether there is a run of characters, none of them empty, for each token. */
static int are_written(const Written *tokens)
{
    const int64_t *begins = tokens->begins.buf;
    Py_ssize_t count = tokens->as_written.len, each = (Py_ssize_t)sizeof(int64_t);
    if (tokens->numbers.len != count * each || tokens->begins.len != (count + 1) * each || begins[0] != 0
        || begins[count] * (Py_ssize_t)sizeof(Py_UCS4) != tokens->lower.len)
        return 0;
    for (Py_ssize_t n = 0; n < count; n++)
        if (begins[n] >= begins[n + 1])
            return 0;
    return 1;
}

PyDoc_STRVAR(shape_doc, "shape(number, lowered, lower_begins, as_written, endings, shaped, longest): as `Shapes.read`, as bytes.");

static PyObject *shape(PyObject *module, PyObject *args)
{
    Written tokens;
    Index endings = {0};
    Py_ssize_t shaped, longest;
    PyObject *result = NULL;
    (void)module;
    if (!PyArg_ParseTuple(args, "y*y*y*y*O&nn", &tokens.numbers, &tokens.lower, &tokens.begins, &tokens.as_written,
                          to_index, &endings, &shaped, &longest))
        return NULL;
    if (are_written(&tokens))
        result = shapes_of(&tokens, &endings, shaped, longest);
    else
        PyErr_SetString(PyExc_ValueError, "tokens that do not fit together");
    PyBuffer_Release(&tokens.numbers);
    PyBuffer_Release(&tokens.lower);
    PyBuffer_Release(&tokens.begins);
    PyBuffer_Release(&tokens.as_written);
    release_index(&endings);
    return result;
}

static void add_agreement(Part *parts, int agree)
{
    add(&parts[0], agree);
    for (int n = 0; n < UNDER; n++)
        add(&parts[1 + n], agree < disagree_under[n]);
}

static void count_shapes(const int64_t *shapes, Py_ssize_t count, const int8_t *agree, Py_ssize_t size, Part *parts)
{
    const int8_t *next = agree, *third = agree + size * size;
    for (Py_ssize_t at = 0; at + 1 < count; at++) {
        const int64_t *shape = shapes + at;
        int near, far, both;
        if (shape[0] != UNKNOWN && shape[1] != UNKNOWN)
            add_agreement(parts, next[shape[0] * size + shape[1]]);
        if (at + 2 >= count || shape[0] == UNKNOWN || shape[2] == UNKNOWN)
            continue;
        far = third[shape[0] * size + shape[2]];
        add_agreement(parts + 1 + UNDER, far);
        if (shape[1] == UNKNOWN)
            continue;
        near = next[shape[0] * size + shape[1]];
        both = next[shape[1] * size + shape[2]];
        add_agreement(parts + 2 * (1 + UNDER), near + both + far);
        add(&parts[SHAPE_PARTS - 1], near > 0 && both > 0 && far < 0);
    }
}

PyDoc_STRVAR(shapes_doc, "shapes(shape, agree, size): the parts of `shapes.NAMES`, of so many shapes.");

static PyObject *shapes(PyObject *module, PyObject *args)
{
    Py_buffer shape, agree;
    Py_ssize_t size;
    Part parts[SHAPE_PARTS] = {{0}};
    PyObject *result = NULL;
    (void)module;
    if (!PyArg_ParseTuple(args, "y*y*n", &shape, &agree, &size))
        return NULL;
    Py_ssize_t count = shape.len / (Py_ssize_t)sizeof(int64_t);
    if (size > 0 && agree.len == DISTANCES * size * size && within(shape.buf, count, size)) {
        count_shapes(shape.buf, count, agree.buf, size, parts);
        result = tuple_of(parts, SHAPE_PARTS);
    } else {
        PyErr_SetString(PyExc_ValueError, "shapes and a table that do not fit together");
    }
    PyBuffer_Release(&shape);
    PyBuffer_Release(&agree);
    return result;
}

static PyMethodDef methods[] = {
    {"words", words, METH_VARARGS, words_doc},
    {"choices", choices, METH_VARARGS, choices_doc},
    {"pairs", pairs, METH_VARARGS, pairs_doc},
    {"shape", shape, METH_VARARGS, shape_doc},
    {"shapes", shapes, METH_VARARGS, shapes_doc},
    {NULL, NULL, 0, NULL},
};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_parts", NULL, 0, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__parts(void)
{
    return PyModule_Create(&definition);
}
