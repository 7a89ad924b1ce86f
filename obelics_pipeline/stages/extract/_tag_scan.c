/* The scan of a page's tags (see tag_scan.py, which does the same in Python and defines what must be returned).
 *
 * One pass, with memchr where text is skipped. Names of HTML are numbered by a table; other names, and formatting tags
 * as written, are counted in Python's own dicts, whose keyed hash no page can prepare collisions for.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { ALONE = 1, FORMATTING = 2, RAW = 4, FOREIGN = 8, SHAPE = 16, LEAVES = 32 };
#define LONGEST 16 /* bytes of a name in the table */
#define PLACES 512 /* a power of two, some four times the names */
#define MOST_NAMES 256
#define ALIKE 3

static const struct { int kind; const char *names; } lists[] = {
    {ALONE, "area base basefont bgsound br col embed frame hr image img input keygen link meta param source track wbr "
            "p li dt dd tr td th tbody thead tfoot caption colgroup option optgroup rb rt rtc rp body html head a nobr "
            "h1 h2 h3 h4 h5 h6 button"},
    {FORMATTING, "b big code em font i s small strike strong tt u"},
    {RAW, "script style textarea title xmp iframe noembed noframes"},
    {FOREIGN, "svg math"},
    {SHAPE, "circle ellipse g image line path polygon polyline rect stop use symbol defs lineargradient animate "
            "animatetransform clippath filter fegaussianblur feoffset feblend fecolormatrix feflood mask"},
    {LEAVES, "b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing "
             "menu meta nobr ol p pre ruby s small span strong strike sub sup table tt u ul var"},
};

typedef struct {
    uint64_t first, last; /* the name, lower case, with zeros after it */
    int kind, number; /* 0: no name in this place */
} Name;

static Name names[PLACES];
static int count_of_names; /* the first has number 1 */

/* Classes of bytes. */
enum { SPACE = 1, SLASH = 2, END = 4, EQUALS = 8, ZERO = 16, LETTER = 32 };
static unsigned char class_of[256];

typedef struct {
    const unsigned char *bytes;
    size_t length;
    int64_t opened[MOST_NAMES]; /* open elements by number of the name */
    PyObject *written[MOST_NAMES]; /* of formatting elements: a list of the open ones' tags as written */
    PyObject *others; /* dict: open elements of names that are not in the table */
    PyObject *alike; /* dict: open formatting elements by tag as written */
    int64_t formatting;
} Scan;

static size_t place_of(uint64_t first, uint64_t last)
{
    return (size_t)(((first ^ (last * 0x9e3779b97f4a7c15u)) * 0xff51afd7ed558ccdu) >> 55) & (PLACES - 1);
}

/* The name's place, or the free place where it belongs: the table is never full. */
static Name *find_name(const unsigned char *bytes, size_t length)
{
    unsigned char lower[LONGEST] = {0};
    uint64_t first, last;
    size_t place;
    for (size_t i = 0; i < length; i++)
        lower[i] = bytes[i] >= 'A' && bytes[i] <= 'Z' ? bytes[i] | 0x20 : bytes[i];
    memcpy(&first, lower, 8);
    memcpy(&last, lower + 8, 8);
    place = place_of(first, last);
    while (names[place].number && (names[place].first != first || names[place].last != last))
        place = (place + 1) & (PLACES - 1);
    return &names[place];
}

/* ---- where things end --------------------------------------------------------------------------------------------- */

static size_t find_byte(const Scan *scan, int byte, size_t from)
{
    const unsigned char *found = from < scan->length ? memchr(scan->bytes + from, byte, scan->length - from) : NULL;
    return found ? (size_t)(found - scan->bytes) : scan->length;
}

static int starts_with(const Scan *scan, size_t at, const char *text, size_t length)
{
    return at <= scan->length && scan->length - at >= length && !memcmp(scan->bytes + at, text, length);
}

static size_t after_byte(const Scan *scan, int byte, size_t from)
{
    size_t found = find_byte(scan, byte, from);
    return found < scan->length ? found + 1 : scan->length;
}

static size_t cdata_end(const Scan *scan, size_t start)
{
    for (size_t at = find_byte(scan, '>', start); at < scan->length; at = find_byte(scan, '>', at + 1))
        if (at >= start + 2 && scan->bytes[at - 1] == ']' && scan->bytes[at - 2] == ']')
            return at + 1;
    return scan->length;
}

static size_t comment_end(const Scan *scan, size_t start)
{
    const unsigned char *bytes = scan->bytes;
    if (starts_with(scan, start, "<!-->", 5))
        return start + 5;
    if (starts_with(scan, start, "<!--->", 6))
        return start + 6;
    for (size_t at = find_byte(scan, '>', start + 4); at < scan->length; at = find_byte(scan, '>', at + 1)) {
        size_t dashes = bytes[at - 1] == '!' ? at - 3 : at - 2; /* at is start + 4 or more */
        if (dashes >= start + 4 && bytes[dashes] == '-' && bytes[dashes + 1] == '-')
            return at + 1;
    }
    return scan->length;
}

/* Whether a name stands here, in any case, with a space, "/" or ">" after it. */
static int has_name(const Scan *scan, size_t at, const unsigned char *name, size_t length)
{
    if (at > scan->length || scan->length - at <= length || !(class_of[scan->bytes[at + length]] & (SPACE | SLASH | END)))
        return 0;
    for (size_t i = 0; i < length; i++)
        if ((scan->bytes[at + i] | 0x20) != (name[i] | 0x20)) /* letters: the names of raw elements */
            return 0;
    return 1;
}

static size_t script_end(const Scan *scan, size_t at)
{
    static const unsigned char script[] = "script";
    int escaped = 0, doubly = 0;
    for (;;) {
        if (!escaped)
            at = find_byte(scan, '<', at); /* "-->" means nothing here */
        else
            while (at < scan->length && scan->bytes[at] != '<' && scan->bytes[at] != '-')
                at++;
        if (at >= scan->length)
            return scan->length;
        if (starts_with(scan, at, "<!--", 4)) {
            escaped = 1;
            at += 2;
        } else if (starts_with(scan, at, "-->", 3)) {
            escaped = doubly = 0;
            at += 3;
        } else if (scan->bytes[at] == '<' && has_name(scan, at + 1, script, 6)) {
            doubly = escaped;
            at += 8;
        } else if (starts_with(scan, at, "</", 2) && has_name(scan, at + 2, script, 6)) {
            if (!doubly)
                return at;
            doubly = 0;
            at += 9;
        } else
            at++;
    }
}

static size_t raw_end(const Scan *scan, const unsigned char *name, size_t length, size_t position)
{
    if (length == 6 && (name[1] | 0x20) == 'c') /* script; the other of that length is iframe */
        return script_end(scan, position);
    for (size_t at = find_byte(scan, '<', position); at < scan->length; at = find_byte(scan, '<', at + 1))
        if (starts_with(scan, at, "</", 2) && has_name(scan, at + 2, name, length))
            return at;
    return scan->length;
}

static size_t skip(const Scan *scan, size_t at, int classes)
{
    while (at < scan->length && class_of[scan->bytes[at]] & classes)
        at++;
    return at;
}

static size_t skip_until(const Scan *scan, size_t at, int classes)
{
    while (at < scan->length && !(class_of[scan->bytes[at]] & classes))
        at++;
    return at;
}

/* Where a tag ends, how many attributes it has, and whether it ends in "/>". */
static size_t read_attributes(const Scan *scan, size_t at, int64_t *attributes, int *closed)
{
    const unsigned char *bytes = scan->bytes;
    *attributes = 0;
    for (;;) {
        size_t before = at, equals, quote;
        at = skip(scan, at, SPACE | SLASH);
        if (at >= scan->length || bytes[at] == '>') {
            *closed = at < scan->length && at > before && bytes[at - 1] == '/';
            return at < scan->length ? at + 1 : at;
        }
        ++*attributes;
        at = skip_until(scan, at + 1, SPACE | SLASH | END | EQUALS);
        equals = skip(scan, at, SPACE);
        if (equals >= scan->length || bytes[equals] != '=')
            continue;
        at = skip(scan, equals + 1, SPACE);
        if (at < scan->length && (bytes[at] == '"' || bytes[at] == '\'')) {
            quote = find_byte(scan, bytes[at], at + 1);
            if (quote < scan->length) {
                at = quote + 1;
                continue;
            } /* else there is no such quote in the rest of the page, so this search is not made twice */
        }
        at = skip_until(scan, at, SPACE | END);
    }
}

/* ---- open elements ------------------------------------------------------------------------------------------------ */

/* Adds to the count of a key, unless that is 0 and would fall; the count before, or -1 with an exception. */
static int64_t add_to(PyObject *counts, PyObject *key, int change)
{
    PyObject *now = PyDict_GetItemWithError(counts, key), *next;
    int64_t before = now ? PyLong_AsLongLong(now) : 0;
    int failed;
    if (PyErr_Occurred())
        return -1;
    if (change < 0 && !before)
        return 0;
    next = PyLong_FromLongLong(before + change);
    if (!next)
        return -1;
    failed = PyDict_SetItem(counts, key, next);
    Py_DECREF(next);
    return failed ? -1 : before;
}

/* As add_to, for an element whose name is not in the table. */
static int64_t add_other(Scan *scan, const unsigned char *name, size_t length, int change)
{
    PyObject *key = PyBytes_FromStringAndSize((const char *)name, (Py_ssize_t)length);
    int64_t before;
    if (!key)
        return -1;
    for (char *at = PyBytes_AS_STRING(key); length; at++, length--)
        if (*at >= 'A' && *at <= 'Z')
            *at |= 0x20;
    before = add_to(scan->others, key, change);
    Py_DECREF(key);
    return before;
}

static int open_formatting(Scan *scan, int number, size_t start, size_t end)
{
    PyObject *tag = PyBytes_FromStringAndSize((const char *)scan->bytes + start, (Py_ssize_t)(end - start));
    int64_t before = -1;
    if (tag && (scan->written[number] || (scan->written[number] = PyList_New(0))) &&
        !PyList_Append(scan->written[number], tag))
        before = add_to(scan->alike, tag, 1);
    Py_XDECREF(tag);
    scan->formatting += before >= 0 && before < ALIKE;
    return before < 0 ? -1 : 0;
}

static int close_formatting(Scan *scan, int number)
{
    PyObject *list = scan->written[number], *tag; /* as long as opened[number], which is not 0 */
    Py_ssize_t last = PyList_GET_SIZE(list) - 1;
    int64_t before;
    tag = PyList_GET_ITEM(list, last);
    Py_INCREF(tag);
    before = PyList_SetSlice(list, last, last + 1, NULL) ? -1 : add_to(scan->alike, tag, -1);
    Py_DECREF(tag);
    scan->formatting -= before >= 0 && before <= ALIKE;
    return before < 0 ? -1 : 0;
}

/* 1 if the element was opened or closed, 0 if there was none to close, -1 with an exception. */
static int change_opened(Scan *scan, const Name *known, const unsigned char *name, size_t length, int change)
{
    if (!known) {
        int64_t before = add_other(scan, name, length, change);
        return before < 0 ? -1 : change > 0 || before > 0;
    }
    if (change < 0 && !scan->opened[known->number])
        return 0;
    scan->opened[known->number] += change;
    return 1;
}

/* ---- the scan ----------------------------------------------------------------------------------------------------- */

static int svg_number, math_number;

static int scan_page(Scan *scan, int64_t max_steps, int64_t totals[3])
{
    const unsigned char *bytes = scan->bytes;
    int64_t steps = 0, reopened = 0, pairs = 0, depth = 0, attributes;
    size_t position = 0, start, doubtful = 0;
    int drawing = 0, closed;
    while (steps <= max_steps && (start = find_byte(scan, '<', position)) < scan->length) {
        int foreign = scan->opened[svg_number] || scan->opened[math_number];
        int next = start + 1 < scan->length ? bytes[start + 1] : 0;
        size_t at = start + 1 + (next == '/');
        position = start + 1;
        if (at < scan->length && class_of[bytes[at]] & LETTER) {
            const unsigned char *name = bytes + at;
            size_t length = skip_until(scan, at, SPACE | SLASH | END | ZERO) - at;
            const Name *known = length <= LONGEST ? find_name(name, length) : NULL;
            int kind = 0, changed = 0;
            if (known && !known->number)
                known = NULL;
            if (known)
                kind = known->kind;
            position = read_attributes(scan, at + length, &attributes, &closed);
            pairs += attributes * attributes / 2;
            steps += depth;
            if (next == '/') {
                if (start >= doubtful)
                    changed = change_opened(scan, known, name, length, -1);
                if (changed > 0 && kind & FORMATTING && close_formatting(scan, known->number))
                    changed = -1;
                depth -= changed > 0;
            } else {
                steps += scan->formatting;
                reopened += scan->formatting;
                drawing = (drawing || kind & FOREIGN) && !(kind & LEAVES);
                if (kind & RAW && !foreign && start >= doubtful) {
                    position = raw_end(scan, name, length, position);
                    continue;
                }
                if (kind & RAW && position >= doubtful)
                    doubtful = raw_end(scan, name, length, position);
                if (!((kind & ALONE && (kind & LEAVES || !foreign)) || (drawing && closed && kind & SHAPE))) {
                    changed = change_opened(scan, known, name, length, 1);
                    if (changed > 0 && kind & FORMATTING && open_formatting(scan, known->number, start, position))
                        changed = -1;
                    depth++;
                }
            }
            if (changed < 0)
                return -1;
        } else if (next == '!' || next == '?' || next == '/') {
            if (foreign && start >= doubtful && starts_with(scan, start, "<![CDATA[", 9))
                doubtful = cdata_end(scan, start);
            position = starts_with(scan, start, "<!--", 4) ? comment_end(scan, start) : after_byte(scan, '>', start + 2);
        } else
            continue;
        if (start < doubtful && doubtful < position) {
            size_t end = position;
            position = doubtful;
            doubtful = end;
        }
    }
    totals[0] = steps;
    totals[1] = reopened;
    totals[2] = pairs;
    return 0;
}

static PyObject *scan_tags(PyObject *module, PyObject *args)
{
    Scan scan = {0};
    PyObject *source;
    long long max_steps;
    int64_t totals[3];
    int failed = -1;
    (void)module;
    if (!PyArg_ParseTuple(args, "SL:scan_tags", &source, &max_steps))
        return NULL;
    scan.bytes = (const unsigned char *)PyBytes_AS_STRING(source);
    scan.length = (size_t)PyBytes_GET_SIZE(source);
    scan.others = PyDict_New();
    scan.alike = PyDict_New();
    if (scan.others && scan.alike)
        failed = scan_page(&scan, max_steps, totals);
    Py_XDECREF(scan.others);
    Py_XDECREF(scan.alike);
    for (int number = 0; number < MOST_NAMES; number++)
        Py_XDECREF(scan.written[number]);
    if (failed)
        return NULL;
    return Py_BuildValue("LLL", (long long)totals[0], (long long)totals[1], (long long)totals[2]);
}

/* ---- searches ----------------------------------------------------------------------------------------------------- */

#ifdef __SSE2__
/* Whether one of 64 places has the first byte of a mark of a length, and its last byte where that would be. */
static inline int may_begin(const char *text, Py_ssize_t length, __m128i first, __m128i last)
{
    __m128i any = _mm_setzero_si128();
    for (int block = 0; block < 64; block += 16) {
        __m128i begins = _mm_cmpeq_epi8(first, _mm_loadu_si128((const __m128i *)(text + block)));
        __m128i ends = _mm_cmpeq_epi8(last, _mm_loadu_si128((const __m128i *)(text + block + length - 1)));
        any = _mm_or_si128(any, _mm_and_si128(begins, ends));
    }
    return _mm_movemask_epi8(any);
}
#endif

/* The first place of a mark of a length, -1 where it is missing. Its first and last byte are compared many at a time:
 * few places have both. */
static Py_ssize_t find_mark(const char *text, Py_ssize_t at, Py_ssize_t places, const char *mark, Py_ssize_t length)
{
#ifdef __SSE2__
    __m128i first = _mm_set1_epi8(mark[0]), last = _mm_set1_epi8(mark[length - 1]);
    for (; at + 16 <= places; at += 16) {
        while (at + 64 <= places && !may_begin(text + at, length, first, last))
            at += 64;
        if (at + 16 > places)
            break;
        __m128i begins = _mm_cmpeq_epi8(first, _mm_loadu_si128((const __m128i *)(text + at)));
        __m128i ends = _mm_cmpeq_epi8(last, _mm_loadu_si128((const __m128i *)(text + at + length - 1)));
        unsigned both = (unsigned)_mm_movemask_epi8(_mm_and_si128(begins, ends));
        for (; both; both &= both - 1) {
            Py_ssize_t here = at + __builtin_ctz(both);
            if (!memcmp(text + here, mark, (size_t)length))
                return here;
        }
    }
#endif
    for (; at < places; at++) {
        const char *next = memchr(text + at, mark[0], (size_t)(places - at));
        if (!next)
            return -1;
        at = next - text;
        if (!memcmp(next, mark, (size_t)length))
            return at;
    }
    return -1;
}

static PyObject *find(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    Py_ssize_t start, length, found = -1;
    (void)module;
    if (count != 3 || !PyBytes_Check(args[0]) || !PyBytes_Check(args[1]))
        return PyErr_Format(PyExc_TypeError, "expected (source, mark, start), the first two as bytes");
    start = PyLong_AsSsize_t(args[2]);
    if (start == -1 && PyErr_Occurred())
        return NULL;
    length = PyBytes_GET_SIZE(args[1]);
    if (length)
        found = find_mark(PyBytes_AS_STRING(args[0]), start < 0 ? 0 : start, PyBytes_GET_SIZE(args[0]) - length + 1,
                          PyBytes_AS_STRING(args[1]), length);
    return PyLong_FromSsize_t(found);
}

/* ---- from text to bytes ------------------------------------------------------------------------------------------- */

#define AT_ONCE 16 /* characters that are looked at together: most are ASCII */

/* Write so many characters of one, two or four bytes, if all are ASCII and none is NUL; else 0. */
static inline int put_ascii(const void *text, size_t width, char *out)
{
#ifdef __SSE2__
    const __m128i *in = text;
    __m128i bytes, zero = _mm_setzero_si128();
    if (width == 1) {
        bytes = _mm_loadu_si128(in);
    } else if (width == 2) { /* what is above 255, or negative, becomes 255 or 0 */
        bytes = _mm_packus_epi16(_mm_loadu_si128(in), _mm_loadu_si128(in + 1));
    } else {
        __m128i low = _mm_packs_epi32(_mm_loadu_si128(in), _mm_loadu_si128(in + 1));
        __m128i high = _mm_packs_epi32(_mm_loadu_si128(in + 2), _mm_loadu_si128(in + 3));
        bytes = _mm_packus_epi16(low, high);
    }
    if (_mm_movemask_epi8(_mm_or_si128(bytes, _mm_cmpeq_epi8(bytes, zero))))
        return 0;
    _mm_storeu_si128((__m128i *)out, bytes);
    return 1;
#else
    (void)text, (void)width, (void)out;
    return 0;
#endif
}

/* For each width of characters that CPython has: write them as UTF-8, and return the end. */
#define ENCODER(NAME, TYPE)                                                                                             \
    static char *NAME(const TYPE *text, size_t length, char *out)                                                       \
    {                                                                                                                   \
        const TYPE *end = text + length;                                                                                \
        while (text < end) {                                                                                            \
            Py_UCS4 c;                                                                                                  \
            while (end - text >= AT_ONCE && put_ascii(text, sizeof(TYPE), out))                                         \
                text += AT_ONCE, out += AT_ONCE;                                                                        \
            for (int i = 0; i < AT_ONCE && text < end; i++) {                                                           \
                c = *text++;                                                                                            \
                if (c < 0x80) {                                                                                         \
                    *out = (char)c;                                                                                     \
                    out += c != 0;                                                                                      \
                } else if (c < 0x800) {                                                                                 \
                    *out++ = (char)(0xC0 | c >> 6);                                                                     \
                    *out++ = (char)(0x80 | (c & 0x3F));                                                                 \
                } else if (c < 0x10000 && (c < 0xD800 || c > 0xDFFF)) {                                                 \
                    *out++ = (char)(0xE0 | c >> 12);                                                                    \
                    *out++ = (char)(0x80 | (c >> 6 & 0x3F));                                                            \
                    *out++ = (char)(0x80 | (c & 0x3F));                                                                 \
                } else if (c < 0x10000) {                                                                               \
                    *out++ = '?';                                                                                       \
                } else {                                                                                                \
                    *out++ = (char)(0xF0 | c >> 18);                                                                    \
                    *out++ = (char)(0x80 | (c >> 12 & 0x3F));                                                           \
                    *out++ = (char)(0x80 | (c >> 6 & 0x3F));                                                            \
                    *out++ = (char)(0x80 | (c & 0x3F));                                                                 \
                }                                                                                                       \
            }                                                                                                           \
        }                                                                                                               \
        return out;                                                                                                     \
    }

ENCODER(encode_latin, Py_UCS1)
ENCODER(encode_two, Py_UCS2)
ENCODER(encode_four, Py_UCS4)

static PyObject *encode(PyObject *module, PyObject *html)
{
    size_t length;
    int kind;
    char *start, *end;
    void *data;
    PyObject *source;
    (void)module;
    if (!PyUnicode_Check(html))
        return PyErr_Format(PyExc_TypeError, "expected a string");
    length = (size_t)PyUnicode_GET_LENGTH(html);
    data = PyUnicode_DATA(html);
    kind = PyUnicode_KIND(html);
    if (PyUnicode_IS_ASCII(html) && !memchr(data, 0, length))
        return PyBytes_FromStringAndSize(data, (Py_ssize_t)length);
    start = PyMem_Malloc((kind == PyUnicode_1BYTE_KIND ? 2 : kind == PyUnicode_2BYTE_KIND ? 3 : 4) * length + 1);
    if (!start)
        return PyErr_NoMemory();
    end = kind == PyUnicode_1BYTE_KIND   ? encode_latin(data, length, start)
          : kind == PyUnicode_2BYTE_KIND ? encode_two(data, length, start)
                                         : encode_four(data, length, start);
    source = PyBytes_FromStringAndSize(start, end - start);
    PyMem_Free(start);
    return source;
}

/* ---- setting up --------------------------------------------------------------------------------------------------- */

static void make_tables(void)
{
    if (count_of_names)
        return;
    for (size_t list = 0; list < sizeof lists / sizeof *lists; list++)
        for (const char *at = lists[list].names; *at;) {
            size_t length = strcspn(at, " ");
            Name *name = find_name((const unsigned char *)at, length);
            unsigned char padded[LONGEST] = {0};
            memcpy(padded, at, length);
            memcpy(&name->first, padded, 8);
            memcpy(&name->last, padded + 8, 8);
            if (!name->number)
                name->number = ++count_of_names;
            name->kind |= lists[list].kind;
            at += length + (at[length] == ' ');
        }
    svg_number = find_name((const unsigned char *)"svg", 3)->number;
    math_number = find_name((const unsigned char *)"math", 4)->number;
    for (const char *at = "\t\n\f\r "; *at; at++)
        class_of[(unsigned char)*at] = SPACE;
    class_of['/'] = SLASH;
    class_of['>'] = END;
    class_of['='] = EQUALS;
    class_of[0] = ZERO;
    for (int letter = 'a'; letter <= 'z'; letter++)
        class_of[letter] = class_of[letter - 'a' + 'A'] = LETTER;
}

static PyMethodDef methods[] = {
    {"scan_tags", scan_tags, METH_VARARGS, "(steps, nodes reopened, pairs of attributes): an upper estimate."},
    {"encode", encode, METH_O, "The bytes of a page's text as UTF-8, less its NUL; a surrogate is a question mark."},
    {"find", (PyCFunction)(void (*)(void))find, METH_FASTCALL, "Where a mark, not empty, stands in a page from a byte on; -1 where it does not."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, .m_name = "_tag_scan", .m_size = -1, .m_methods = methods,
};

PyMODINIT_FUNC PyInit__tag_scan(void)
{
    make_tables();
    return PyModule_Create(&definition);
}
