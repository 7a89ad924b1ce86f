/* What is counted and marked in the rows of a simplified tree, compiled. tree.py, links.py, page_numbers.py and main_images.py
 * do the same in Python and define what must come out; this file is optional.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { TAG, PARENT, END, MARKS, JOIN, CHARS, LINKED, WORDS, COMMAS, STOPS, DIGITS, UPPERS, WIDE, ENDS, WIDTH }; /* tree.py */

typedef struct {
    Py_buffer buffer;
    const int32_t (*table)[WIDTH];
    Py_ssize_t length;
} Rows;

/* The rows in an array of int32, row by row. -1 with an exception for any other. */
static int open_rows(PyObject *array, Rows *rows)
{
    if (PyObject_GetBuffer(array, &rows->buffer, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) < 0)
        return -1;
    if (rows->buffer.ndim != 2 || rows->buffer.shape[1] != WIDTH || rows->buffer.itemsize != sizeof(int32_t)) {
        PyErr_SetString(PyExc_ValueError, "expected rows of int32");
        PyBuffer_Release(&rows->buffer);
        return -1;
    }
    rows->table = rows->buffer.buf;
    rows->length = rows->buffer.shape[0];
    return 0;
}

/* ---- subtrees ----------------------------------------------------------------------------------------------------- */

static void mark_inside(char *found, const Rows *rows, Py_ssize_t row, Py_ssize_t *after)
{
    Py_ssize_t end = rows->table[row][END];
    if (row < *after)
        return;
    end = end > rows->length ? rows->length : end;
    if (end > row)
        memset(found + row, 1, (size_t)(end - row));
    *after = end;
}

static PyObject *inside(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    Rows rows;
    Py_buffer roots;
    Py_ssize_t row, after = 0;
    PyObject *found = NULL;
    (void)self;
    if (count != 2 || open_rows(args[0], &rows) < 0)
        return count == 2 ? NULL : PyErr_Format(PyExc_TypeError, "expected (rows, is_root)");
    if (PyObject_GetBuffer(args[1], &roots, PyBUF_C_CONTIGUOUS) < 0) {
        PyBuffer_Release(&rows.buffer);
        return NULL;
    }
    if (roots.len != rows.length)
        PyErr_SetString(PyExc_ValueError, "expected one flag a row");
    else if ((found = PyByteArray_FromStringAndSize(NULL, rows.length))) {
        memset(PyByteArray_AS_STRING(found), 0, (size_t)rows.length);
        for (row = 0; row < rows.length; row++)
            if (((const char *)roots.buf)[row])
                mark_inside(PyByteArray_AS_STRING(found), &rows, row, &after);
    }
    PyBuffer_Release(&roots);
    PyBuffer_Release(&rows.buffer);
    return found;
}

static PyObject *inside_tags(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    Rows rows;
    Py_buffer table;
    Py_ssize_t row, after = 0;
    PyObject *found;
    (void)self;
    if (count != 2 || open_rows(args[0], &rows) < 0)
        return count == 2 ? NULL : PyErr_Format(PyExc_TypeError, "expected (rows, is_wanted)");
    if (PyObject_GetBuffer(args[1], &table, PyBUF_C_CONTIGUOUS) < 0) {
        PyBuffer_Release(&rows.buffer);
        return NULL;
    }
    if ((found = PyByteArray_FromStringAndSize(NULL, rows.length))) {
        memset(PyByteArray_AS_STRING(found), 0, (size_t)rows.length);
        for (row = 0; row < rows.length; row++) {
            int32_t tag = rows.table[row][TAG];
            if (0 <= tag && tag < table.len && ((const char *)table.buf)[tag])
                mark_inside(PyByteArray_AS_STRING(found), &rows, row, &after);
        }
    }
    PyBuffer_Release(&table);
    PyBuffer_Release(&rows.buffer);
    return found;
}

/* ---- sums --------------------------------------------------------------------------------------------------------- */

static int64_t value_at(const char *place, Py_ssize_t size)
{
    int32_t four;
    int64_t eight;
    if (size == 1)
        return *place != 0;
    if (size == 4)
        return memcpy(&four, place, sizeof four), four;
    return memcpy(&eight, place, sizeof eight), eight;
}

static PyObject *sums_before(PyObject *self, PyObject *values)
{
    Py_buffer buffer;
    PyObject *sums;
    Py_ssize_t i, step;
    int64_t sum = 0;
    char kind;
    (void)self;
    if (PyObject_GetBuffer(values, &buffer, PyBUF_STRIDES | PyBUF_FORMAT) < 0)
        return NULL;
    kind = buffer.format ? buffer.format[0] : 0;
    if (buffer.ndim != 1 || !((kind == '?' && buffer.itemsize == 1) || (kind == 'i' && buffer.itemsize == 4) ||
                              ((kind == 'l' || kind == 'q') && buffer.itemsize == 8))) {
        PyBuffer_Release(&buffer);
        return PyErr_Format(PyExc_ValueError, "expected flags or whole numbers");
    }
    step = buffer.strides[0];
    if ((sums = PyByteArray_FromStringAndSize(NULL, (buffer.shape[0] + 1) * (Py_ssize_t)sizeof sum))) {
        int64_t *out = (int64_t *)PyByteArray_AS_STRING(sums);
        for (i = 0; i < buffer.shape[0]; i++) {
            out[i] = sum;
            sum += value_at((const char *)buffer.buf + i * step, buffer.itemsize);
        }
        out[i] = sum;
    }
    PyBuffer_Release(&buffer);
    return sums;
}

/* ---- numbers of the whole page (page_numbers.py) ------------------------------------------------------------------ */

enum { MOST_COUNTED = 16 }; /* characters */

/* Of the texts: how often each character of `signs` stands in them. */
static int count_signs(PyObject *values, PyObject *signs, long long counts[MOST_COUNTED])
{
    Py_ssize_t i, j, n = PyUnicode_GET_LENGTH(signs);
    signed char number[256];
    Py_UCS4 others[MOST_COUNTED];
    PyObject *list = PySequence_Fast(values, "expected values");
    if (!list)
        return -1;
    memset(number, -1, sizeof number);
    for (i = 0; i < n; i++) {
        Py_UCS4 c = PyUnicode_READ_CHAR(signs, i);
        others[i] = c;
        counts[i] = 0;
        if (c < 256)
            number[c] = (signed char)i;
    }
    for (i = 0; i < PySequence_Fast_GET_SIZE(list); i++) {
        PyObject *text = PySequence_Fast_GET_ITEM(list, i);
        Py_ssize_t length;
        const void *data;
        int kind;
        if (!PyUnicode_Check(text))
            continue;
        length = PyUnicode_GET_LENGTH(text);
        data = PyUnicode_DATA(text);
        kind = PyUnicode_KIND(text);
        for (j = 0; j < length; j++) {
            Py_UCS4 c = PyUnicode_READ(kind, data, j);
            if (c < 256) {
                if (number[c] >= 0)
                    counts[number[c]]++;
            } else if (0x2000 <= c) {
                Py_ssize_t k;
                for (k = 0; k < n; k++)
                    counts[k] += others[k] == c;
            }
        }
    }
    Py_DECREF(list);
    return 0;
}

static PyObject *numbers_of(long long *counts, Py_ssize_t n)
{
    PyObject *list = PyList_New(n);
    Py_ssize_t i;
    for (i = 0; list && i < n; i++) {
        PyObject *count = PyLong_FromLongLong(counts[i]);
        if (!count)
            Py_CLEAR(list);
        else
            PyList_SET_ITEM(list, i, count);
    }
    return list;
}

static PyObject *count_characters(PyObject *self, PyObject *args)
{
    PyObject *values, *signs;
    long long counts[MOST_COUNTED];
    (void)self;
    if (!PyArg_ParseTuple(args, "OU", &values, &signs))
        return NULL;
    if (PyUnicode_GET_LENGTH(signs) > MOST_COUNTED)
        return PyErr_Format(PyExc_ValueError, "at most %d characters are counted", MOST_COUNTED);
    return count_signs(values, signs, counts) < 0 ? NULL : numbers_of(counts, PyUnicode_GET_LENGTH(signs));
}

/* The sum of each column; the most characters of a row; rows with a tag that is text, or an image; and the characters of
 * texts by the tag of the element around them. */
static PyObject *count_rows(PyObject *self, PyObject *args)
{
    Rows rows;
    PyObject *array, *wanted;
    long text, image;
    long long sums[WIDTH] = {0}, by_tag[64] = {0}, others[3] = {0};
    signed char place[1024];
    Py_ssize_t i, n;
    int column;
    (void)self;
    if (!PyArg_ParseTuple(args, "OllO!", &array, &text, &image, &PyTuple_Type, &wanted))
        return NULL;
    n = PyTuple_GET_SIZE(wanted);
    if (n > 64)
        return PyErr_Format(PyExc_ValueError, "at most 64 tags are counted");
    memset(place, -1, sizeof place);
    for (i = 0; i < n; i++) {
        long tag = PyLong_AsLong(PyTuple_GET_ITEM(wanted, i));
        if (tag < 0 || tag >= (long)sizeof place)
            return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_ValueError, "a tag without a number");
        place[tag] = (signed char)i;
    }
    if (open_rows(array, &rows) < 0)
        return NULL;
    for (i = 0; i < rows.length; i++) {
        const int32_t *columns = rows.table[i];
        for (column = CHARS; column < WIDTH; column++)
            sums[column] += columns[column];
        others[0] = columns[CHARS] > others[0] ? columns[CHARS] : others[0];
        if (columns[TAG] == text) {
            Py_ssize_t around = columns[PARENT] < 0 ? columns[PARENT] + rows.length : columns[PARENT];
            int32_t tag = 0 <= around && around < rows.length ? rows.table[around][TAG] : -1;
            others[1]++;
            if (0 <= tag && tag < (int32_t)sizeof place && place[tag] >= 0)
                by_tag[(int)place[tag]] += columns[CHARS];
        }
        others[2] += columns[TAG] == image;
    }
    PyBuffer_Release(&rows.buffer);
    return Py_BuildValue("NNN", numbers_of(sums, WIDTH), numbers_of(others, 3), numbers_of(by_tag, n));
}

static PyObject *means(PyObject *self, PyObject *args)
{
    Py_buffer features;
    PyObject *found = NULL;
    int64_t *sums = NULL, weights = 0;
    Py_ssize_t row, column, width, step;
    long parts;
    (void)self;
    if (!PyArg_ParseTuple(args, "y*nnl", &features, &width, &step, &parts))
        return NULL;
    if (width < 1 || step < 1 || features.len % (width * (Py_ssize_t)sizeof(float)))
        PyErr_SetString(PyExc_ValueError, "expected rows of float32");
    else if (!(sums = PyMem_Calloc((size_t)width, sizeof *sums)))
        PyErr_NoMemory();
    else if ((found = PyByteArray_FromStringAndSize(NULL, width * (Py_ssize_t)sizeof(float)))) {
        const float *values = features.buf;
        float *out = (float *)PyByteArray_AS_STRING(found);
        for (row = 0; row < features.len / (width * (Py_ssize_t)sizeof(float)); row += step) {
            int64_t weight = (int64_t)values[row * width];
            weights += weight;
            for (column = 0; column < width; column++)
                sums[column] += weight * (int64_t)rintf(values[row * width + column] * (float)parts);
        }
        for (column = 0; column < width; column++)
            out[column] = (float)((double)sums[column] / (double)(parts * (weights > 1 ? weights : 1)));
    }
    PyMem_Free(sums);
    PyBuffer_Release(&features);
    return found;
}

/* ---- links (links.py) --------------------------------------------------------------------------------------------- */

static int is_letter_of(Py_UCS4 c, char lower)
{
    return c < 128 && (c | 0x20) == (Py_UCS4)lower;
}

typedef struct {
    int kind;
    const void *data;
    Py_ssize_t length;
} Text;

static Text text_of(PyObject *string)
{
    return (Text){PyUnicode_KIND(string), PyUnicode_DATA(string), PyUnicode_GET_LENGTH(string)};
}

static inline Py_UCS4 at(const Text *text, Py_ssize_t place)
{
    return place < text->length ? PyUnicode_READ(text->kind, text->data, place) : 0;
}

/* Whether it begins with a word of small letters, in any case where it is ASCII. */
static int begins(const Text *text, const char *word)
{
    Py_ssize_t i;
    for (i = 0; word[i]; i++)
        if (('a' <= word[i] && word[i] <= 'z') ? !is_letter_of(at(text, i), word[i]) : at(text, i) != (Py_UCS4)word[i])
            return 0;
    return 1;
}

static int is_slash(Py_UCS4 c)
{
    return c == '/' || c == '\\';
}

/* Where the host of an absolute address begins, 0 for a relative one. */
static Py_ssize_t host_of(const Text *href)
{
    Py_ssize_t i = begins(href, "https:") ? 6 : begins(href, "http:") ? 5 : 0;
    return is_slash(at(href, i)) && is_slash(at(href, i + 1)) ? i + 2 : 0;
}

/* Whether a path may begin with one of the folders that lead away: a name of at most ten letters, and more. */
static int may_forward(const Text *href, Py_ssize_t start)
{
    Py_ssize_t i;
    if (at(href, start) != '/')
        return 0;
    for (i = start + 1; i <= start + 11 && 'a' <= at(href, i) && at(href, i) <= 'z';)
        i++;
    return i > start + 1 && at(href, i) == '/';
}

static int is_true(PyObject *answer)
{
    int is = answer ? PyObject_IsTrue(answer) : -1;
    Py_XDECREF(answer);
    return is;
}

/* 1 if a link leads to another site, 0 if not, -1 with an exception; `end`: behind its host. */
static int leads_elsewhere(PyObject *href, const Text *text, PyObject *elsewhere, Py_ssize_t *end)
{
    Py_ssize_t start = host_of(text);
    PyObject *host;
    int is;
    *end = 0;
    if (!start)
        return 0;
    for (*end = start; *end < text->length; (*end)++) {
        Py_UCS4 c = at(text, *end);
        if (is_slash(c) || c == '?' || c == '#')
            break;
    }
    host = PyUnicode_Substring(href, start, *end);
    is = host ? is_true(PyObject_GetItem(elsewhere, host)) : -1;
    Py_XDECREF(host);
    return is;
}

static int has_character(PyObject *text, Py_UCS4 c)
{
    return PyUnicode_FindChar(text, c, 0, PyUnicode_GET_LENGTH(text), 1) >= 0;
}

static PyObject *count_links(PyObject *self, PyObject *args)
{
    PyObject *links, *elsewhere, *is_affiliate, *is_forwarding, *is_sponsored;
    long long counts[3] = {0};
    Py_ssize_t i, end;
    (void)self;
    if (!PyArg_ParseTuple(args, "O!OOOO", &PyList_Type, &links, &elsewhere, &is_affiliate, &is_forwarding, &is_sponsored))
        return NULL;
    for (i = 0; i < PyList_GET_SIZE(links); i++) {
        PyObject *pair = PyList_GET_ITEM(links, i), *href, *rel;
        Text text;
        int outbound, paid = 0;
        if (!PyTuple_Check(pair) || PyTuple_GET_SIZE(pair) != 2 || !PyUnicode_Check(PyTuple_GET_ITEM(pair, 0)))
            return PyErr_Format(PyExc_TypeError, "expected pairs of an address and a rel");
        href = PyTuple_GET_ITEM(pair, 0);
        rel = PyTuple_GET_ITEM(pair, 1);
        text = text_of(href);
        if (!text.length || at(&text, 0) == '#' || begins(&text, "javascript:") || begins(&text, "mailto:") ||
            begins(&text, "tel:") || begins(&text, "data:"))
            continue;
        counts[0]++;
        if ((outbound = leads_elsewhere(href, &text, elsewhere, &end)) < 0)
            return NULL;
        counts[1] += outbound;
        if (outbound)
            paid = has_character(href, '=') ? is_true(PyObject_CallOneArg(is_affiliate, href)) : 0;
        else if (may_forward(&text, end)) {
            PyObject *place = PyLong_FromSsize_t(end);
            paid = place ? is_true(PyObject_CallFunctionObjArgs(is_forwarding, href, place, NULL)) : -1;
            Py_XDECREF(place);
        }
        if (!paid && PyUnicode_Check(rel) && PyUnicode_GET_LENGTH(rel) >= 9)
            paid = is_true(PyObject_CallOneArg(is_sponsored, rel));
        if (paid < 0)
            return NULL;
        counts[2] += paid;
    }
    return numbers_of(counts, 3);
}

/* ---- signs of addresses (page_numbers.py) -------------------------------------------------------------------------- */

/* Of addresses joined by line ends: characters, slashes, hyphens, fragments at the beginning, question and equals signs. */
static PyObject *count_addresses(PyObject *self, PyObject *addresses)
{
    long long counts[6] = {0};
    Py_ssize_t i, j;
    (void)self;
    if (!PyList_Check(addresses))
        return PyErr_Format(PyExc_TypeError, "expected a list of addresses");
    counts[0] = PyList_GET_SIZE(addresses) ? 1 : 2; /* the line end before the first, and the one behind all */
    for (i = 0; i < PyList_GET_SIZE(addresses); i++) {
        Text text;
        if (!PyUnicode_Check(PyList_GET_ITEM(addresses, i)))
            return PyErr_Format(PyExc_TypeError, "expected a list of addresses");
        text = text_of(PyList_GET_ITEM(addresses, i));
        counts[0] += text.length + 1;
        for (j = 0; j < text.length; j++) {
            Py_UCS4 c = PyUnicode_READ(text.kind, text.data, j);
            counts[1] += c == '/';
            counts[2] += c == '-';
            counts[3] += c == '#' && (!j || PyUnicode_READ(text.kind, text.data, j - 1) == '\n');
            counts[4] += c == '?';
            counts[5] += c == '=';
        }
    }
    return numbers_of(counts, 6);
}

/* ---- main content (main_content.py) ------------------------------------------------------------------------------- */

typedef struct {
    int64_t odds, parts, weight;
    Py_ssize_t number;
} Judged;

/* The likeliest first; of equals, the first. */
static int compare(const void *left, const void *right)
{
    const Judged *a = left, *b = right;
    if (a->odds != b->odds)
        return a->odds < b->odds ? 1 : -1;
    return a->number < b->number ? -1 : 1;
}

/* How many of the limits, which rise, are at most a value. */
static int64_t limits_up_to(const int64_t *limits, Py_ssize_t count, int64_t value)
{
    Py_ssize_t low = 0, high = count;
    while (low < high) {
        Py_ssize_t middle = low + (high - low) / 2;
        if (limits[middle] <= value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The flags of the kept into `content`, and the F1 to expect of them. All is counted in whole numbers; quotients are of
 * two of them as doubles. */
static double keep_likely(Judged *texts, Py_ssize_t count, int64_t most, double share, char *content)
{
    int64_t given = 0, right = 0, all_right = 0;
    double best = 0, expected = 0, needed;
    Py_ssize_t i, kept = 0;
    qsort(texts, (size_t)count, sizeof *texts, compare);
    for (i = 0; i < count; i++)
        all_right += texts[i].weight * texts[i].parts;
    for (i = 0; i < count; i++) {
        given += texts[i].weight;
        right += texts[i].weight * texts[i].parts;
        expected = (double)(2 * right) / (double)(given * most + all_right);
        best = expected > best ? expected : best;
    }
    needed = share * best * (double)most;
    for (i = 0; i < count; i++) {
        int is = !i || (double)texts[i].parts > needed;
        content[texts[i].number] = (char)is;
        kept += is;
    }
    for (given = right = 0, i = 0; i < kept; i++) {
        given += texts[i].weight;
        right += texts[i].weight * texts[i].parts;
    }
    return (double)(2 * right) / (double)(given * most + all_right);
}

static PyObject *decide(PyObject *self, PyObject *args)
{
    Py_buffer odds, characters, limits;
    long long line;
    double share, confidence = 0;
    PyObject *content = NULL;
    Judged *texts;
    Py_ssize_t i, count;
    (void)self;
    if (!PyArg_ParseTuple(args, "y*y*y*Ld", &odds, &characters, &limits, &line, &share))
        return NULL;
    count = odds.len / (Py_ssize_t)sizeof(int64_t);
    texts = PyMem_Calloc((size_t)count + 1, sizeof *texts);
    if (characters.len != count * (Py_ssize_t)sizeof(int32_t))
        PyErr_SetString(PyExc_ValueError, "expected the characters of each text as int32");
    else if (!count)
        PyErr_SetString(PyExc_ValueError, "there is no text");
    else if (!texts)
        PyErr_NoMemory();
    else if ((content = PyByteArray_FromStringAndSize(NULL, count))) {
        Py_ssize_t n_limits = limits.len / (Py_ssize_t)sizeof(int64_t);
        for (i = 0; i < count; i++) {
            int64_t value = ((const int64_t *)odds.buf)[i];
            texts[i] = (Judged){value, limits_up_to(limits.buf, n_limits, value), ((const int32_t *)characters.buf)[i] + line, i};
        }
        confidence = keep_likely(texts, count, n_limits, share, PyByteArray_AS_STRING(content));
    }
    PyMem_Free(texts);
    PyBuffer_Release(&odds);
    PyBuffer_Release(&characters);
    PyBuffer_Release(&limits);
    return content ? Py_BuildValue("Nd", content, confidence) : NULL;
}

/* ---- pictures (main_images.py) ------------------------------------------------------------------------------------- */

enum { IN_HEADER = 1, IN_FIGURE = 2, IN_CONTENT = 4, IS_TITLE = 8 }; /* main_images.py */

/* What is known of each row, in one piece of memory. The innermost element around with more than `most` characters, and with
 * any: -1 for the whole page. */
typedef struct {
    int64_t *text, *content; /* characters before each row, and of them those that are kept; and of all of them */
    int32_t *surroundings, *neighbours;
    char *inside; /* bits of the elements that it is in */
    Py_ssize_t first, last, home, title;
} Ground;

static int32_t innermost(const Ground *ground, const Rows *rows, Py_ssize_t row, int64_t most, const int32_t *found)
{
    int32_t parent = rows->table[row][PARENT];
    if (ground->text[rows->table[row][END]] - ground->text[row] > most)
        return (int32_t)row;
    return parent < 0 ? -1 : found[parent];
}

static void sum_ground(Ground *ground, const Rows *rows, const char *kept, const char *bits, Py_ssize_t n_bits)
{
    Py_ssize_t row, after[3] = {0}, n = rows->length;
    int bit, any = 0;
    ground->title = n;
    ground->first = 0;
    ground->last = n - 1;
    ground->text[0] = ground->content[0] = 0;
    for (row = 0; row < n; row++) {
        const int32_t *columns = rows->table[row];
        char is = 0 <= columns[TAG] && columns[TAG] < n_bits ? bits[columns[TAG]] : 0;
        ground->text[row + 1] = ground->text[row] + columns[CHARS];
        ground->content[row + 1] = ground->content[row] + (kept[row] ? columns[CHARS] : 0);
        if (kept[row]) {
            ground->first = any ? ground->first : row;
            ground->last = row;
            any = 1;
        }
        if (is & IS_TITLE && ground->title == n)
            ground->title = row;
        ground->inside[row] = 0;
        for (bit = 0; bit < 3; bit++) {
            if (is >> bit & 1 && row >= after[bit])
                after[bit] = columns[END];
            if (row < after[bit])
                ground->inside[row] |= (char)(1 << bit);
        }
    }
}

/* -1 with an exception where an element does not follow the one around it, or ends nowhere. */
static int lay_ground(Ground *ground, const Rows *rows, const char *kept, const char *bits, Py_ssize_t n_bits, int64_t most)
{
    Py_ssize_t row, n = rows->length, home;
    for (row = 0; row < n; row++)
        if (rows->table[row][PARENT] < -1 || rows->table[row][PARENT] >= row || rows->table[row][END] <= row ||
            rows->table[row][END] > n) {
            PyErr_Format(PyExc_ValueError, "row %zd: an element around it or an end that there is not", row);
            return -1;
        }
    sum_ground(ground, rows, kept, bits, n_bits);
    for (row = 0; row < n; row++) {
        ground->surroundings[row] = innermost(ground, rows, row, most, ground->surroundings);
        ground->neighbours[row] = innermost(ground, rows, row, 0, ground->neighbours);
    }
    home = rows->table[ground->first][PARENT];
    while (home >= 0 && rows->table[home][END] <= ground->last)
        home = rows->table[home][PARENT];
    ground->home = home < 0 ? 0 : home;
    return 0;
}

static double share_of(const Ground *ground, const Rows *rows, Py_ssize_t element)
{
    Py_ssize_t start = element < 0 ? 0 : element, end = element < 0 ? rows->length : rows->table[element][END];
    int64_t all = ground->text[end] - ground->text[start];
    return (double)(ground->content[end] - ground->content[start]) / (double)(all > 1 ? all : 1);
}

/* The marks of a picture and of the elements right around it; `label`: a mark beside which `unseen` says nothing. */
static int32_t near_marks(const Rows *rows, Py_ssize_t row, Py_ssize_t parent, int count, int32_t unseen, int32_t label)
{
    int32_t near = 0;
    Py_ssize_t element = row;
    for (; count > 0 && element >= 0; count--) {
        int32_t marks = rows->table[element][MARKS];
        near |= marks & label ? marks & ~unseen : marks;
        element = element == row ? parent : rows->table[element][PARENT];
    }
    return near;
}

static PyObject *characters_between(int is_there, int64_t count)
{
    if (!is_there)
        Py_RETURN_NONE;
    return PyLong_FromLongLong(count);
}

static PyObject *place_at(const Ground *ground, const Rows *rows, Py_ssize_t row, Py_ssize_t parent, int32_t marks)
{
    int inside = ground->inside[row];
    double share = share_of(ground, rows, parent < 0 ? -1 : ground->surroundings[parent]);
    double beside = share_of(ground, rows, parent < 0 ? -1 : ground->neighbours[parent]);
    return Py_BuildValue(
        "iNddNNNNN", marks, PyBool_FromLong(inside & IN_FIGURE), share, beside,
        characters_between(row < ground->first, ground->text[ground->first] - ground->text[row]),
        characters_between(row > ground->last, ground->text[row] - ground->text[ground->last + 1]),
        PyBool_FromLong(ground->home < row && row < rows->table[ground->home][END]),
        PyBool_FromLong(row > ground->title || inside & IN_CONTENT), PyBool_FromLong(inside & IN_HEADER));
}

static PyObject *list_places(const Ground *ground, const Rows *rows, PyObject *pictures, int near, int32_t unseen, int32_t label)
{
    Py_ssize_t i, n = PyList_GET_SIZE(pictures);
    PyObject *found = PyList_New(n);
    for (i = 0; found && i < n; i++) {
        Py_ssize_t row, parent;
        PyObject *pair = PyList_GET_ITEM(pictures, i), *place = NULL;
        if (!PyTuple_Check(pair))
            PyErr_SetString(PyExc_TypeError, "expected pairs of rows");
        else if (PyArg_ParseTuple(pair, "nn", &row, &parent)) {
            if (row < 0 || row >= rows->length || parent < -1 || parent >= rows->length)
                PyErr_SetString(PyExc_ValueError, "a picture in no row");
            else
                place = place_at(ground, rows, row, parent, near_marks(rows, row, parent, near, unseen, label));
        }
        if (!place)
            Py_CLEAR(found);
        else
            PyList_SET_ITEM(found, i, place);
    }
    return found;
}

static PyObject *places(PyObject *self, PyObject *args)
{
    Rows rows;
    Ground ground;
    Py_buffer kept, bits;
    PyObject *array, *pictures, *found = NULL;
    long long most;
    int near, unseen, label;
    char *memory = NULL;
    (void)self;
    if (!PyArg_ParseTuple(args, "Oy*O!y*Liii", &array, &kept, &PyList_Type, &pictures, &bits, &most, &near, &unseen, &label))
        return NULL;
    if (open_rows(array, &rows) == 0) {
        size_t n = (size_t)rows.length;
        if (kept.len != rows.length || !n)
            PyErr_SetString(PyExc_ValueError, "expected one flag a row, and a row");
        else if (!(memory = PyMem_Malloc((n + 1) * (2 * sizeof(int64_t) + 2 * sizeof(int32_t) + 1))))
            PyErr_NoMemory();
        else {
            ground.text = (int64_t *)memory;
            ground.content = ground.text + n + 1;
            ground.surroundings = (int32_t *)(ground.content + n + 1);
            ground.neighbours = ground.surroundings + n + 1;
            ground.inside = (char *)(ground.neighbours + n + 1);
            if (lay_ground(&ground, &rows, kept.buf, bits.buf, bits.len, most) == 0)
                found = list_places(&ground, &rows, pictures, near, unseen, label);
        }
        PyMem_Free(memory);
        PyBuffer_Release(&rows.buffer);
    }
    PyBuffer_Release(&kept);
    PyBuffer_Release(&bits);
    return found;
}

static PyMethodDef methods[] = {
    {"places", places, METH_VARARGS, "places(rows, kept, pictures, bits, most, near, unseen, label): where each picture stands."},
    {"decide", decide, METH_VARARGS, "decide(log_odds, characters, limits, line, share): the flags of the kept, and the F1 to expect."},
    {"inside", (PyCFunction)(void (*)(void))inside, METH_FASTCALL, "inside(rows, is_root): the flags of the rows in a subtree, as bytes."},
    {"inside_tags", (PyCFunction)(void (*)(void))inside_tags, METH_FASTCALL, "inside_tags(rows, is_wanted): the same of elements by tag."},
    {"sums_before", sums_before, METH_O, "The sum of the values before each, and of all, as bytes of int64."},
    {"count_characters", count_characters, METH_VARARGS, "count_characters(values, signs): how often each stands in the texts."},
    {"count_rows", count_rows, METH_VARARGS, "count_rows(rows, text, image, tags): sums of columns; longest, texts, images; characters by tag."},
    {"means", means, METH_VARARGS, "means(features, width, step, parts): of each column, by the first one; float32."},
    {"count_addresses", count_addresses, METH_O, "Of addresses, a line each: characters, and five signs."},
    {"count_links", count_links, METH_VARARGS, "count_links(links, elsewhere, is_affiliate, is_forwarding, is_sponsored): three counts."},
    {NULL, NULL, 0, NULL},
};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_tree", NULL, 0, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__tree(void)
{
    return PyModule_Create(&module);
}
