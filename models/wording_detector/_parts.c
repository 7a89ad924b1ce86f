/* What is counted of the tokens of a text: words.py, choices.py, pairs.py, shapes.py, sentences.py, subjects.py and
   again.py are the same in NumPy, and define what it must return. All are whole numbers. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

#include "../_random_keys.h"
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

/* ---- sentences ---------------------------------------------------------------------------------------------------- */

enum { LONG = 40, SHORT = 4 }; /* words of a sentence */
enum { BEGINS_LOWER, SHORT_ONES, LONG_ONES, SPREAD, ROUND, SQUARE, QUOTES, OTHER_MARKS, TWICE, SENTENCE_PARTS };

typedef struct {
    const Py_UCS4 *lower;
    const int64_t *begins; /* one more than there are tokens */
} Letters;

/* The code point of a token that is a single character in lower case; 0 of the others. */
static Py_UCS4 mark_at(const Letters *letters, Py_ssize_t at)
{
    return letters->begins[at + 1] - letters->begins[at] == 1 ? letters->lower[letters->begins[at]] : 0;
}

static int ends_at(const Letters *letters, Py_ssize_t at)
{
    Py_UCS4 mark = mark_at(letters, at);
    return mark == '.' || mark == '!' || mark == '?';
}

static Letters letters_of(const Written *tokens)
{
    Letters letters = {tokens->lower.buf, tokens->begins.buf};
    return letters;
}

/* How many brackets of a kind there are, and how many have no other side, or are opened within another one. */
static Part brackets(const Letters *letters, Py_ssize_t count, Py_UCS4 opened, Py_UCS4 closed)
{
    Part found = {0, 0};
    int64_t depth = 0, lowest = 0, highest = 0;
    for (Py_ssize_t at = 0; at < count; at++) {
        Py_UCS4 mark = mark_at(letters, at);
        if (mark != opened && mark != closed)
            continue;
        found.total++;
        depth += mark == opened ? 1 : -1;
        lowest = depth < lowest ? depth : lowest;
        highest = depth > highest ? depth : highest;
    }
    found.of = (depth < 0 ? -depth : depth) - lowest + (highest > 1 ? highest - 1 : 0);
    return found;
}

/* The middle one of sentences by length, or the floor of the mean of the two middle ones. `times`: by length. */
static int64_t median_of(const int64_t *times, Py_ssize_t longest, int64_t sentences)
{
    int64_t before = 0, lower = -1;
    for (Py_ssize_t length = 1; length <= longest; length++) {
        before += times[length];
        if (lower < 0 && before > (sentences - 1) / 2)
            lower = length;
        if (before > sentences / 2)
            return (lower + length) / 2;
    }
    return 0;
}

/* The parts of the lengths of sentences; -1 without memory. */
static int count_lengths(const Tokens *tokens, const Letters *letters, Part *parts)
{
    int64_t *times = PyMem_Calloc((size_t)tokens->count + 1, sizeof *times), words = 0, sentences = 0, median;
    if (!times)
        return -1;
    for (Py_ssize_t at = 0; at <= tokens->count; at++) {
        if (at == tokens->count || ends_at(letters, at)) {
            sentences += words > 0;
            times[words]++;
            words = 0;
        }
        words += at < tokens->count && tokens->is_word[at];
    }
    median = median_of(times, tokens->count, sentences);
    parts[SHORT_ONES].of = parts[LONG_ONES].of = parts[SPREAD].of = sentences;
    for (Py_ssize_t length = 1; length <= tokens->count; length++) {
        parts[SHORT_ONES].total += length <= SHORT ? times[length] : 0;
        parts[LONG_ONES].total += length > LONG ? times[length] : 0;
        parts[SPREAD].total += times[length] * (length > median ? length - median : median - length);
    }
    PyMem_Free(times);
    return 0;
}

static void count_marks(const Tokens *tokens, const Letters *letters, const char *is_mark, const char *as_written,
                        Part *parts)
{
    parts[OTHER_MARKS].of = tokens->count;
    for (Py_ssize_t at = 0; at < tokens->count; at++) {
        Py_UCS4 mark = mark_at(letters, at);
        parts[QUOTES].total += mark == '"';
        parts[QUOTES].of += mark == ',';
        parts[OTHER_MARKS].total += is_mark[at] && !ends_at(letters, at);
        if (at == 0)
            continue;
        if (ends_at(letters, at - 1) && tokens->is_word[at])
            add(&parts[BEGINS_LOWER], as_written[at]);
        add(&parts[TWICE], tokens->numbers[at] == tokens->numbers[at - 1] && tokens->is_word[at]);
    }
}

PyDoc_STRVAR(sentences_doc, "sentences(own, lowered, lower_begins, is_word, is_mark, as_written): as `sentences.counts_in_numpy`.");

static PyObject *sentences(PyObject *module, PyObject *args)
{
    Py_buffer is_word, is_mark;
    Written written;
    Part parts[SENTENCE_PARTS] = {{0}};
    PyObject *result = NULL;
    (void)module;
    if (!PyArg_ParseTuple(args, "y*y*y*y*y*y*", &written.numbers, &written.lower, &written.begins, &is_word, &is_mark,
                          &written.as_written))
        return NULL;
    Tokens tokens = {written.numbers.buf, is_word.buf, is_word.len};
    if (written.as_written.len == is_word.len && is_mark.len == is_word.len && are_written(&written)) {
        Letters letters = letters_of(&written);
        count_marks(&tokens, &letters, is_mark.buf, written.as_written.buf, parts);
        parts[ROUND] = brackets(&letters, tokens.count, '(', ')');
        parts[SQUARE] = brackets(&letters, tokens.count, '[', ']');
        if (count_lengths(&tokens, &letters, parts) < 0)
            PyErr_NoMemory();
        else
            result = tuple_of(parts, SENTENCE_PARTS);
    } else {
        PyErr_SetString(PyExc_ValueError, "tokens that do not fit together");
    }
    PyBuffer_Release(&written.numbers);
    PyBuffer_Release(&written.lower);
    PyBuffer_Release(&written.begins);
    PyBuffer_Release(&written.as_written);
    PyBuffer_Release(&is_word);
    PyBuffer_Release(&is_mark);
    return result;
}

PyDoc_STRVAR(ends_doc, "ends(number, lowered, lower_begins, is_word): how many tokens end a sentence.");

static PyObject *ends(PyObject *module, PyObject *args)
{
    Written tokens;
    PyObject *result = NULL;
    (void)module;
    if (!PyArg_ParseTuple(args, "y*y*y*y*", &tokens.numbers, &tokens.lower, &tokens.begins, &tokens.as_written))
        return NULL;
    if (are_written(&tokens)) {
        Letters letters = letters_of(&tokens);
        Py_ssize_t found = 0;
        for (Py_ssize_t at = 0; at < tokens.as_written.len; at++)
            found += ends_at(&letters, at);
        result = PyLong_FromSsize_t(found);
    } else {
        PyErr_SetString(PyExc_ValueError, "tokens that do not fit together");
    }
    PyBuffer_Release(&tokens.numbers);
    PyBuffer_Release(&tokens.lower);
    PyBuffer_Release(&tokens.begins);
    PyBuffer_Release(&tokens.as_written);
    return result;
}

/* ---- subjects ----------------------------------------------------------------------------------------------------- */

enum { BANDS = 3 };
static const Py_ssize_t reach[BANDS] = {8, 40, PY_SSIZE_T_MAX}; /* words of meaning, each band without the one before */

typedef struct {
    int64_t *words;     /* numbers of those that have a direction */
    Py_ssize_t count;
    const int8_t *rows; /* directions by number */
    Py_ssize_t known, size;
} Meaning;

/* The words of one band before the one at hand, and what was found. Sums wrap round, far from any that a text has. */
typedef struct {
    uint64_t *sum;  /* of their directions */
    int32_t *times; /* of each number */
    Py_ssize_t first, count;
    uint64_t alike, pairs;
} Band;

static void shift_band(Band *band, const Meaning *all, int64_t word, int by)
{
    const int8_t *row = all->rows + word * all->size;
    for (Py_ssize_t n = 0; n < all->size; n++)
        band->sum[n] += (uint64_t)(int64_t)(by * row[n]);
    band->times[word] += by;
    band->count += by;
}

/* Count the pairs that the word at a place makes with the words before it, by reach; those of one word are none. */
static void count_pairs_at(Band *bands, const Meaning *all, Py_ssize_t at)
{
    const int8_t *row = all->rows + all->words[at] * all->size;
    uint64_t square = 0;
    for (Py_ssize_t n = 0; n < all->size; n++)
        square += (uint64_t)(row[n] * row[n]);
    for (int b = 0; b < BANDS; b++) {
        Band *band = &bands[b];
        uint64_t same = (uint64_t)band->times[all->words[at]], alike = 0;
        for (Py_ssize_t n = 0; n < all->size; n++)
            alike += band->sum[n] * (uint64_t)(int64_t)row[n];
        band->alike += alike - same * square;
        band->pairs += (uint64_t)band->count - same;
    }
}

static void compare_words(Band *bands, const Meaning *all, uint64_t *every)
{
    for (Py_ssize_t at = 0; at < all->count; at++) {
        count_pairs_at(bands, all, at);
        for (int b = 0; b < BANDS; b++) {
            every[b] += (uint64_t)bands[b].count;
            shift_band(&bands[b], all, all->words[at], 1);
            if (bands[b].count > reach[b])
                shift_band(&bands[b], all, all->words[bands[b].first++], -1);
        }
    }
}

/* For each band: what its pairs of different words have in common, how many those are, and how many pairs it has. */
static PyObject *bands_of(const Band *bands, const uint64_t *every)
{
    uint64_t alike[BANDS], pairs[BANDS], all[BANDS];
    for (int b = 0; b < BANDS; b++) { /* a wider reach holds the narrower ones */
        alike[b] = bands[b].alike - (b ? bands[b - 1].alike : 0);
        pairs[b] = bands[b].pairs - (b ? bands[b - 1].pairs : 0);
        all[b] = every[b] - (b ? every[b - 1] : 0);
    }
    return Py_BuildValue("(LLL)(LLL)(LLL)", (long long)alike[0], (long long)pairs[0], (long long)all[0],
                         (long long)alike[1], (long long)pairs[1], (long long)all[1], (long long)alike[2],
                         (long long)pairs[2], (long long)all[2]);
}

static PyObject *subjects_of(Meaning *all, const int64_t *numbers, Py_ssize_t count)
{
    Band bands[BANDS] = {{0}};
    uint64_t every[BANDS] = {0};
    PyObject *result = NULL;
    int is_ready = (all->words = PyMem_Calloc((size_t)count + 1, sizeof *all->words)) != NULL;
    for (int b = 0; b < BANDS; b++) {
        bands[b].sum = PyMem_Calloc((size_t)all->size, sizeof *bands[b].sum);
        bands[b].times = PyMem_Calloc((size_t)all->known, sizeof *bands[b].times);
        is_ready = is_ready && bands[b].sum && bands[b].times;
    }
    if (is_ready) {
        for (Py_ssize_t at = 0; at < count; at++) {
            const int8_t *row = all->rows + numbers[at] * all->size;
            int has_direction = 0;
            for (Py_ssize_t n = 0; n < all->size; n++)
                has_direction |= row[n];
            if (has_direction)
                all->words[all->count++] = numbers[at];
        }
        compare_words(bands, all, every);
        result = bands_of(bands, every);
    } else {
        PyErr_NoMemory();
    }
    PyMem_Free(all->words);
    for (int b = 0; b < BANDS; b++) {
        PyMem_Free(bands[b].sum);
        PyMem_Free(bands[b].times);
    }
    return result;
}

PyDoc_STRVAR(subjects_doc, "subjects(number, subject, directions): as `subjects.nearness_in_numpy`.");

static PyObject *subjects(PyObject *module, PyObject *args)
{
    Py_buffer numbers, subject;
    Meaning all = {0};
    PyObject *result = NULL;
    (void)module;
    if (!PyArg_ParseTuple(args, "y*y*n", &numbers, &subject, &all.size))
        return NULL;
    Py_ssize_t count = numbers.len / (Py_ssize_t)sizeof(int64_t);
    all.rows = subject.buf;
    all.known = all.size > 0 ? subject.len / all.size : 0;
    if (all.size > 0 && subject.len == all.known * all.size && count < INT32_MAX
        && within(numbers.buf, count, all.known))
        result = subjects_of(&all, numbers.buf, count);
    else
        PyErr_SetString(PyExc_ValueError, "tokens and subjects that do not fit together");
    PyBuffer_Release(&numbers);
    PyBuffer_Release(&subject);
    return result;
}

/* ---- what is said again ------------------------------------------------------------------------------------------- */

enum { SPANS = 3, FRAMES = 2, OPENING = 3 }; /* lengths, and tokens that a sentence begins with */
enum { NUMBER = 1, USUAL = 1000 };           /* numbers of words that stand in a frame as themselves lie between */
enum { OPENINGS = SPANS + FRAMES, OTHER_OPENINGS, ALL_WORDS, DISTINCT, MOST, THREE_MOST, PAIR_MOST, ONCE, MEANT,
       SAID_NUMBERS };
static const int lengths[SPANS + FRAMES] = {3, 5, 8, 5, 9};
static const uint64_t MULTIPLIER = 0x9E3779B97F4A7C15u;
static uint64_t random_key;

/* Keys, each with a number from 0 on, and how often each was asked for. */
typedef struct {
    uint64_t *keys;
    int32_t *numbers, *times; /* one more than the number of the key in a slot, 0 of an empty one; times by number */
    size_t slots;
    int shift;
    int32_t count;
} Keys;

/* Room for so many; -1 without memory. */
static int make_keys(Keys *all, Py_ssize_t most)
{
    int bits = 4;
    while (((size_t)1 << bits) < 2 * (size_t)most)
        bits++;
    all->slots = (size_t)1 << bits;
    all->shift = 64 - bits;
    all->keys = PyMem_Calloc(all->slots, sizeof *all->keys);
    all->numbers = PyMem_Calloc(all->slots, sizeof *all->numbers);
    all->times = PyMem_Calloc((size_t)most + 1, sizeof *all->times);
    return all->keys && all->numbers && all->times ? 0 : -1;
}

static void free_keys(Keys *all)
{
    PyMem_Free(all->keys);
    PyMem_Free(all->numbers);
    PyMem_Free(all->times);
}

static void forget_keys(Keys *all)
{
    memset(all->numbers, 0, all->slots * sizeof *all->numbers);
    memset(all->times, 0, (size_t)all->count * sizeof *all->times);
    all->count = 0;
}

static int32_t number_of(Keys *all, uint64_t key)
{
    size_t slot = (size_t)((key * random_key) >> all->shift); /* multiply-shift: Dietzfelbinger et al., 1997 */
    while (all->numbers[slot] && all->keys[slot] != key)
        slot = (slot + 1) & (all->slots - 1);
    if (!all->numbers[slot]) {
        all->keys[slot] = key;
        all->numbers[slot] = ++all->count;
    }
    all->times[all->numbers[slot] - 1]++;
    return all->numbers[slot] - 1;
}

/* How many spans of a length stand earlier in the text too. In a frame words that are seldom are any. */
static int64_t count_again(Keys *keys, const int64_t *numbers, Py_ssize_t count, int length, int is_frame)
{
    Py_ssize_t spans = count - length + 1;
    forget_keys(keys);
    for (Py_ssize_t at = 0; at < spans; at++) {
        uint64_t span = 0;
        for (int n = 0; n < length; n++) {
            int64_t number = numbers[at + n];
            if (is_frame && (number <= NUMBER || number >= USUAL))
                number = -1;
            span = span * MULTIPLIER + (uint64_t)number;
        }
        number_of(keys, span);
    }
    return spans > 0 ? spans - keys->count : 0;
}

static void count_openings(Keys *pairs, Keys *keys, const Tokens *own, const Letters *letters, long long *found)
{
    uint64_t size = (uint64_t)own->count;
    forget_keys(keys);
    forget_keys(pairs);
    for (Py_ssize_t at = 0; at + OPENING <= own->count; at++)
        if (at == 0 || ends_at(letters, at - 1)) {
            const int64_t *said = own->numbers + at;
            int32_t two = number_of(pairs, (uint64_t)said[0] * size + (uint64_t)said[1]);
            number_of(keys, (uint64_t)two * size + (uint64_t)said[2]);
            found[OPENINGS]++;
        }
    found[OTHER_OPENINGS] = keys->count;
}

/* `times`: two for each number of a token in the text, 0 before: of all words, and of those with a meaning. */
static void count_said(Keys *pairs, const Tokens *own, const int64_t *numbers, int32_t *times, long long *found)
{
    int32_t most[3] = {0};
    int was_meant = 0;
    forget_keys(pairs);
    for (Py_ssize_t at = 0; at < own->count; at++) {
        int64_t said = own->numbers[at];
        int is_meant = own->is_word[at] && !(numbers[at] > NUMBER && numbers[at] < GRAMMAR);
        found[ALL_WORDS] += own->is_word[at] != 0;
        found[DISTINCT] += own->is_word[at] && !times[2 * said]++;
        found[MEANT] += is_meant;
        times[2 * said + 1] += is_meant;
        if (is_meant && was_meant)
            number_of(pairs, (uint64_t)own->numbers[at - 1] * (uint64_t)own->count + (uint64_t)said);
        was_meant = is_meant;
    }
    for (Py_ssize_t n = 0; n < own->count; n++) {
        int32_t one = times[2 * n + 1];
        found[ONCE] += one == 1;
        for (int place = 0; place < 3; place++)
            if (one > most[place]) {
                int32_t less = most[place];
                most[place] = one;
                one = less;
            }
    }
    found[MOST] = most[0];
    found[THREE_MOST] = (long long)most[0] + most[1] + most[2];
    for (int32_t n = 0; n < pairs->count; n++)
        found[PAIR_MOST] = pairs->times[n] > found[PAIR_MOST] ? pairs->times[n] : found[PAIR_MOST];
}

static PyObject *said_again(const Tokens *own, const int64_t *numbers, const Letters *letters)
{
    Keys keys = {0}, pairs = {0};
    int32_t *times = PyMem_Calloc((size_t)own->count + 1, 2 * sizeof *times);
    int is_ready = make_keys(&keys, own->count) == 0;
    PyObject *result = NULL;
    is_ready = make_keys(&pairs, own->count) == 0 && is_ready && times;
    if (is_ready) {
        long long found[SAID_NUMBERS] = {0};
        for (int n = 0; n < SPANS + FRAMES; n++)
            found[n] = count_again(&keys, n < SPANS ? own->numbers : numbers, own->count, lengths[n], n >= SPANS);
        count_openings(&pairs, &keys, own, letters, found);
        count_said(&pairs, own, numbers, times, found);
        result = PyTuple_New(SAID_NUMBERS);
        for (int n = 0; result && n < SAID_NUMBERS; n++) {
            PyObject *number = PyLong_FromLongLong(found[n]);
            if (number)
                PyTuple_SET_ITEM(result, n, number);
            else
                Py_CLEAR(result);
        }
    } else {
        PyErr_NoMemory();
    }
    PyMem_Free(times);
    free_keys(&keys);
    free_keys(&pairs);
    return result;
}

PyDoc_STRVAR(again_doc, "again(own, number, is_word, lowered, lower_begins): as `again.said_in_numpy`.");

static PyObject *again(PyObject *module, PyObject *args)
{
    Py_buffer numbers;
    Written written; /* whether each is a word in place of whether it is as written */
    PyObject *result = NULL;
    (void)module;
    if (!PyArg_ParseTuple(args, "y*y*y*y*y*", &written.numbers, &numbers, &written.as_written, &written.lower,
                          &written.begins))
        return NULL;
    Tokens own = {written.numbers.buf, written.as_written.buf, written.as_written.len};
    if (numbers.len == written.numbers.len && own.count < INT32_MAX / 4 && are_written(&written)
        && within(own.numbers, own.count, own.count)) {
        Letters letters = letters_of(&written);
        result = said_again(&own, numbers.buf, &letters);
    } else {
        PyErr_SetString(PyExc_ValueError, "tokens that do not fit together");
    }
    PyBuffer_Release(&written.numbers);
    PyBuffer_Release(&numbers);
    PyBuffer_Release(&written.as_written);
    PyBuffer_Release(&written.lower);
    PyBuffer_Release(&written.begins);
    return result;
}

static PyMethodDef methods[] = {
    {"words", words, METH_VARARGS, words_doc},
    {"choices", choices, METH_VARARGS, choices_doc},
    {"pairs", pairs, METH_VARARGS, pairs_doc},
    {"shape", shape, METH_VARARGS, shape_doc},
    {"shapes", shapes, METH_VARARGS, shapes_doc},
    {"sentences", sentences, METH_VARARGS, sentences_doc},
    {"ends", ends, METH_VARARGS, ends_doc},
    {"subjects", subjects, METH_VARARGS, subjects_doc},
    {"again", again, METH_VARARGS, again_doc},
    {NULL, NULL, 0, NULL},
};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_parts", NULL, 0, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__parts(void)
{
    if (draw_keys(&random_key, sizeof random_key) < 0)
        return NULL;
    random_key |= 1;
    return PyModule_Create(&definition);
}
