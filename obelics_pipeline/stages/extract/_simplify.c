/* The walk from a parsed page to the rows of its simplified tree, compiled. simplify_pure.py is the same in Python and
 * defines what must come out; this file is optional.
 *
 * The tree is the one that selectolax holds. Its Lexbor functions are looked up in the loaded module by name, and nodes
 * are opaque here: no struct of Lexbor's is known. What tags, words and characters mean is handed in once, by `set_up`,
 * so that the rules stay in Python. Each entered element saves the state around it on a stack, so nothing recurses, and
 * memory is bounded by the page.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "_lexbor.h"

enum { TAG, PARENT, END, MARKS, JOIN, CHARS, LINKED, WORDS, COMMAS, STOPS, DIGITS, UPPERS, WIDE, ENDS, WIDTH }; /* tree.py */

/* What is done with an element; also what is told when it ends. The rows from PICTURE on are known to those in them. */
enum { SKIP, SOURCE, BREAK, DECLARATION, DIALOG, BUTTON, IMAGE, INLINE, LINK, ROW, FIGURE, PICTURE, NOSCRIPT, HEADING, CODE };
/* Bits of a tag's entry: its action, and flags. OWN is a tag of the page's own naming. */
enum { ACTION = 15, SHOWN = 16, DECORATIVE = 32, MAY_BE_EMPTY = 64, ATTACHED = 128, OWN = 256 };
#define WITHIN(action) (1 << (action))

/* What a character is, as bits. */
enum { SPACE = 1, DIGIT = 2, UPPER = 4, COMMA = 8, STOP = 16, END_MARK = 32, CLOSER = 64, WIDE_SCRIPT = 128, SOFT = 256, INVISIBLE = 512 };

#define MAX_TAGS 1024 /* Lexbor has about 200 */
#define TABLED 0x10000
#define LONGEST 40    /* bytes of a word in a table */
#define MAX_NAMES 1000 /* characters of a class or id that are read, as in marks.py */
#define REMEMBERED 96  /* bytes of a class or id at most whose marks are remembered */
#define SHORT 2        /* letters of a part of a name that must stand alone, as there */
#define DROPPED (-1)  /* a role that takes an element away; of the others, the tag that it counts as */
#define LAYOUT (-2)   /* the role of a table that is no table */

/* ---- growing arrays ----------------------------------------------------------------------------------------------- */

typedef struct {
    void *items;
    size_t length, capacity;
} Vector;

/* Room for `more` items behind the last; NULL with an exception where there is no memory. */
static void *reserve(Vector *vector, size_t more, size_t size)
{
    if (vector->capacity - vector->length < more) {
        size_t capacity = 2 * vector->capacity + more + 64;
        void *items = realloc(vector->items, capacity * size);
        if (!items)
            return PyErr_NoMemory();
        vector->items = items;
        vector->capacity = capacity;
    }
    return (char *)vector->items + vector->length * size;
}

static void *push(Vector *vector, size_t size)
{
    void *item = reserve(vector, 1, size);
    vector->length += item != NULL;
    return item;
}

/* ---- words with a number each ------------------------------------------------------------------------------------- */

typedef struct {
    char text[LONGEST];
    uint32_t length; /* 0: the place is free */
    int32_t value;
} Word;

typedef struct {
    Word *places;
    size_t mask;
} Words;

static Words vocabulary, custom_tags, roles;

static Word *place_of(const Words *words, const byte *text, size_t length)
{
    uint64_t hash = length;
    size_t i;
    for (i = 0; i < length; i++)
        hash = hash * 31 + text[i];
    for (i = (hash * UINT64_C(0x9E3779B97F4A7C15)) >> 40;; i++) {
        Word *word = &words->places[i & words->mask];
        if (!word->length || (word->length == length && !memcmp(word->text, text, length)))
            return word;
    }
}

/* The number of a word, 0 if it has none. */
static int32_t find(const Words *words, const byte *text, size_t length)
{
    return length && length <= LONGEST ? place_of(words, text, length)->value : 0;
}

static int fill_words(Words *words, PyObject *dict)
{
    PyObject *key, *value;
    Py_ssize_t position = 0, length;
    for (words->mask = 15; words->mask < 4 * (size_t)PyDict_GET_SIZE(dict); words->mask = 2 * words->mask + 1)
        ;
    free(words->places);
    words->places = calloc(words->mask + 1, sizeof(Word));
    if (!words->places) {
        PyErr_NoMemory();
        return -1;
    }
    while (PyDict_Next(dict, &position, &key, &value)) {
        const char *text = PyUnicode_AsUTF8AndSize(key, &length);
        if (!text || length < 1 || length > LONGEST) {
            if (text)
                PyErr_SetString(PyExc_ValueError, "a word is empty or too long");
            return -1;
        }
        Word *word = place_of(words, (const byte *)text, (size_t)length);
        memcpy(word->text, text, (size_t)length);
        word->length = (uint32_t)length;
        word->value = (int32_t)PyLong_AsLong(value);
    }
    return PyErr_Occurred() ? -1 : 0;
}

/* ---- what is handed in -------------------------------------------------------------------------------------------- */

static byte tag_entries[MAX_TAGS];
static uint16_t tabled[TABLED]; /* what the characters below TABLED are */
static uintptr_t text_tag, comment_tag, first_unknown_tag, table_tag, block_tag, image_tag;
static unsigned long clock_every; /* nodes between two looks at the clock */
static Py_UCS4 first_wide;
static size_t modifier_length; /* of the word behind which a part of a name says nothing */
static byte modifier[LONGEST];
static PyObject *wide_ranges, *rejected, *figure_source, *strip_name, *lower_name;

static uint16_t classify(Py_UCS4 c)
{
    uint16_t bits = (uint16_t)((Py_UNICODE_ISSPACE(c) ? SPACE : 0) | (Py_UNICODE_ISDIGIT(c) ? DIGIT : 0) |
                               (Py_UNICODE_ISUPPER(c) ? UPPER : 0));
    Py_ssize_t i;
    for (i = 0; i < PyTuple_GET_SIZE(wide_ranges); i++) {
        PyObject *range = PyTuple_GET_ITEM(wide_ranges, i);
        if (PyLong_AsLong(PyTuple_GET_ITEM(range, 0)) <= (long)c && (long)c <= PyLong_AsLong(PyTuple_GET_ITEM(range, 1)))
            bits |= WIDE_SCRIPT;
    }
    return bits;
}

static inline unsigned bits_of(Py_UCS4 c)
{
    return c < TABLED ? tabled[c] : classify(c);
}

static int mark_characters(PyObject *characters, uint16_t bit)
{
    Py_ssize_t i;
    for (i = 0; i < PyUnicode_GET_LENGTH(characters); i++) {
        Py_UCS4 c = PyUnicode_READ_CHAR(characters, i);
        if (c >= TABLED) {
            PyErr_SetString(PyExc_ValueError, "a character with a meaning is beyond U+FFFF");
            return -1;
        }
        tabled[c] |= bit;
    }
    return 0;
}

/* ---- names and values --------------------------------------------------------------------------------------------- */

typedef struct {
    const byte *bytes; /* NULL for an attribute without a value */
    size_t length;
    int present;
} Value;

enum { CLASS, ID, ITEMPROP, HIDDEN, STYLE, ARIA_HIDDEN, ROLE, HREF, REL, OPEN, LANGUAGE, KNOWN };

static int known_attribute(const byte *name, size_t length)
{
#define IS(text) (length == sizeof text - 1 && !memcmp(name, text, sizeof text - 1))
    return IS("class")         ? CLASS
           : IS("href")        ? HREF
           : IS("id")          ? ID
           : IS("rel")         ? REL
           : IS("style")       ? STYLE
           : IS("role")        ? ROLE
           : IS("aria-hidden") ? ARIA_HIDDEN
           : IS("hidden")      ? HIDDEN
           : IS("itemprop")    ? ITEMPROP
           : IS("open")        ? OPEN
           : IS("data-language") ? LANGUAGE
                               : KNOWN;
#undef IS
}

/* The same, remembered for the names that Lexbor has numbers of. An attribute is a node, whose tag is that number. */
static int known_by_number(Attribute *attribute)
{
    static byte known[256]; /* one more than the answer; 0: not asked yet */
    uintptr_t number = lexbor.tag((Node *)attribute);
    size_t length = 0;
    const byte *name;
    int answer;
    if (number < sizeof known && known[number])
        return known[number] - 1;
    name = lexbor.attribute_name(attribute, &length);
    answer = name ? known_attribute(name, length) : KNOWN;
    if (number < sizeof known)
        known[number] = (byte)(answer + 1);
    return answer;
}

static Value value_of(Attribute *attribute)
{
    Value value = {NULL, 0, 1};
    value.bytes = lexbor.attribute_value(attribute, &value.length);
    if (!value.bytes)
        value.length = 0;
    return value;
}

static void read_attributes(Node *node, Value values[KNOWN])
{
    Attribute *attribute = lexbor.type(node) == ELEMENT_NODE ? lexbor.first_attribute(node) : NULL;
    memset(values, 0, KNOWN * sizeof(Value));
    for (; attribute; attribute = lexbor.next_attribute(attribute)) {
        int known = known_by_number(attribute);
        if (known < KNOWN)
            values[known] = value_of(attribute);
    }
}

static PyObject *decode(const byte *bytes, size_t length)
{
    return PyUnicode_DecodeUTF8((const char *)bytes, (Py_ssize_t)length, "replace");
}

/* All attributes of an element, as selectolax gives them. */
static PyObject *attributes_of(Node *node)
{
    Attribute *attribute = lexbor.type(node) == ELEMENT_NODE ? lexbor.first_attribute(node) : NULL;
    PyObject *dict = PyDict_New();
    for (; dict && attribute; attribute = lexbor.next_attribute(attribute)) {
        size_t length = 0;
        const byte *name = lexbor.attribute_name(attribute, &length);
        Value value = value_of(attribute);
        PyObject *key = decode(name, length);
        PyObject *text = value.bytes ? decode(value.bytes, value.length) : Py_NewRef(Py_None);
        if (!key || !text || PyDict_SetItem(dict, key, text) < 0)
            Py_CLEAR(dict);
        Py_XDECREF(key);
        Py_XDECREF(text);
    }
    return dict;
}

static PyObject *stripped(const Value *value)
{
    PyObject *text = decode(value->bytes, value->length), *result;
    if (!text)
        return NULL;
    result = PyObject_CallMethodNoArgs(text, strip_name);
    Py_DECREF(text);
    return result;
}

/* What the role of an element makes of it: DROPPED, LAYOUT, the tag that it counts as, or 0. -1 with an exception. */
static int read_role(const Value *value, int32_t *role)
{
    PyObject *text, *lowered;
    Py_ssize_t length;
    const char *bytes;
    *role = 0;
    if (!value->length)
        return 0;
    text = stripped(value);
    lowered = text ? PyObject_CallMethodNoArgs(text, lower_name) : NULL;
    bytes = lowered ? PyUnicode_AsUTF8AndSize(lowered, &length) : NULL;
    if (bytes)
        *role = find(&roles, (const byte *)bytes, (size_t)length);
    Py_XDECREF(text);
    Py_XDECREF(lowered);
    return bytes ? 0 : -1;
}

static int is_lower(byte c)
{
    return 'a' <= c && c <= 'z';
}

static int is_upper(byte c)
{
    return 'A' <= c && c <= 'Z';
}

static byte lower(byte c)
{
    return is_upper(c) ? c + ('a' - 'A') : c;
}

/* Where the part of a name that begins with a letter ends: post-meta, postMeta and POSTmeta have two parts each. */
static size_t part_end(const byte *name, size_t start, size_t end)
{
    size_t i = start + 1;
    if (is_upper(name[start]) && i < end && is_upper(name[i])) {
        while (i < end && is_upper(name[i]))
            i++;
        return i;
    }
    while (i < end && is_lower(name[i]))
        i++;
    return i;
}

typedef struct {
    size_t length; /* 0: none yet */
    int32_t marks;
    byte bytes[REMEMBERED];
} Names;

static Names known_names[1024]; /* by 10 bits of a hash; a later one takes the place of an earlier */

static int stands_alone(const byte *name, size_t start, size_t stop, size_t end)
{
    return !(start && is_lower(lower(name[start - 1]))) && !(stop < end && is_lower(lower(name[stop])));
}

static size_t first_characters(const Value *value)
{
    size_t i, seen = 0;
    if (value->length <= MAX_NAMES)
        return value->length;
    for (i = 0; i < value->length; i++)
        if ((value->bytes[i] & 0xC0) != 0x80 && ++seen > MAX_NAMES)
            return i;
    return value->length;
}

/* What the words in a class or id say. */
static int32_t read_marks(const Value *value)
{
    size_t i, start, stop, end = first_characters(value);
    int32_t marks = 0;
    int modified = 0;
    byte word[LONGEST];
    for (start = 0; start < end; start = stop) {
        stop = start + 1;
        if (!is_lower(lower(value->bytes[start])))
            continue;
        stop = part_end(value->bytes, start, end);
        for (i = start; i < stop && i - start < LONGEST; i++)
            word[i - start] = lower(value->bytes[i]);
        if (!modified && stop - start <= LONGEST &&
            (stop - start > SHORT || stands_alone(value->bytes, start, stop, end)))
            marks |= find(&vocabulary, word, stop - start);
        modified = stop - start == modifier_length && !memcmp(word, modifier, modifier_length);
    }
    return marks;
}

/* The same, remembered: the elements of a list share their class. */
static int32_t marks_of(const Value *value)
{
    uint64_t hash = value->length;
    Names *known;
    size_t i;
    if (!value->length)
        return 0;
    if (value->length > REMEMBERED)
        return read_marks(value);
    for (i = 0; i < value->length; i++)
        hash = hash * 31 + value->bytes[i];
    known = &known_names[(hash * UINT64_C(0x9E3779B97F4A7C15)) >> 54];
    if (known->length != value->length || memcmp(known->bytes, value->bytes, value->length)) {
        known->marks = read_marks(value);
        known->length = value->length;
        memcpy(known->bytes, value->bytes, value->length);
    }
    return known->marks;
}

/* ---- what is out of sight (default_visibility.py) ----------------------------------------------------------------- */

static int equals(const Value *value, const char *text, int any_case)
{
    size_t i;
    if (value->length != strlen(text))
        return 0;
    for (i = 0; i < value->length; i++)
        if ((any_case ? lower(value->bytes[i]) : value->bytes[i]) != (byte)text[i])
            return 0;
    return 1;
}

static int contains(const Value *value, const char *text)
{
    size_t i, length = strlen(text);
    for (i = 0; i + length <= value->length; i++)
        if (!memcmp(value->bytes + i, text, length))
            return 1;
    return 0;
}

/* Whether display:none is said, with spaces anywhere and in any case. */
static int says_display_none(const Value *style)
{
    static const char wanted[] = "display:none";
    size_t start, i, matched;
    for (start = 0; start < style->length; start++)
        for (i = start, matched = 0; i < style->length; i++) {
            if (style->bytes[i] == ' ' && matched)
                continue;
            if (lower(style->bytes[i]) != (byte)wanted[matched])
                break;
            if (!wanted[++matched])
                return 1;
        }
    return 0;
}

static int is_hidden(const Value values[KNOWN], int flags, int32_t role)
{
    if (flags & SHOWN)
        return 0;
    if (values[HIDDEN].present && !equals(&values[HIDDEN], "until-found", 1))
        return 1;
    if ((flags & DECORATIVE) && equals(&values[ARIA_HIDDEN], "true", 0))
        return 1;
    if (contains(&values[STYLE], "none") && says_display_none(&values[STYLE]))
        return 1;
    return role == DROPPED;
}

/* ---- a page at work ----------------------------------------------------------------------------------------------- */

typedef struct {
    int32_t columns[WIDTH];
    PyObject *value; /* NULL for None */
} Row;

typedef struct {
    size_t start, end; /* in the text of the paragraph */
    int32_t marks;
    int linked;
} Piece;

typedef struct {
    int32_t row;    /* the innermost, -1 for none */
    int32_t marks;  /* of the open inline elements in it */
    int32_t within; /* bits of the rows around */
    Value link;     /* address of the innermost link */
} State;

typedef struct {
    Node *node;
    int action;
    State around; /* to go back to when it ends */
} Open;

typedef struct {
    Vector rows, stack;    /* of Row, Open */
    Vector pieces, text;   /* of the paragraph at hand: Piece, Py_UCS4 */
    Vector line;           /* the text that becomes a row */
    State now;
    size_t link_ended;     /* number of pieces at which a link ended, 0 for none */
    size_t ended, touched; /* and at which an inline element or link ended, and another began right behind it */
    int continues, space;  /* as in simplify_pure.py */
    int32_t last_image;    /* row of the last image, -1 for none */
    PyObject *hrefs, *links, *declarations;
} Page;

static Row *add_row(Page *page, uintptr_t tag, int32_t marks)
{
    int32_t number = (int32_t)page->rows.length;
    Row *row = push(&page->rows, sizeof(Row));
    if (!row)
        return NULL;
    memset(row, 0, sizeof(Row));
    row->columns[TAG] = (int32_t)(tag < first_unknown_tag ? tag : first_unknown_tag);
    row->columns[PARENT] = page->now.row;
    row->columns[END] = number + 1;
    row->columns[MARKS] = marks;
    return row;
}

/* ---- from pieces to rows of text ---------------------------------------------------------------------------------- */

static const Py_UCS4 *text_at(const Page *page, size_t place)
{
    return (const Py_UCS4 *)page->text.items + place;
}

static Piece *piece_at(const Page *page, size_t number)
{
    return (Piece *)page->pieces.items + number;
}

static int is_break(const Page *page, const Piece *piece)
{
    return piece->end - piece->start == 1 && !*text_at(page, piece->start);
}

/* As str.isspace. */
static int is_blank(const Page *page, const Piece *piece)
{
    size_t i;
    for (i = piece->start; i < piece->end; i++)
        if (!(bits_of(*text_at(page, i)) & SPACE))
            return 0;
    return piece->start < piece->end;
}

static int32_t count_linked(const Page *page, const Piece *piece)
{
    int32_t count = 0;
    size_t i;
    for (i = piece->start; i < piece->end; i++)
        count += !(bits_of(*text_at(page, i)) & (SPACE | SOFT));
    return count;
}

/* The columns from CHARS to ENDS of a text. */
static void count_text(const Py_UCS4 *text, size_t length, int32_t linked, int32_t *columns)
{
    size_t i;
    int in_word = 0;
    for (i = 0; i < length; i++) {
        unsigned bits = bits_of(text[i]);
        if (bits & SPACE) {
            in_word = 0;
        } else {
            columns[CHARS]++;
            columns[WORDS] += !in_word;
            in_word = 1;
        }
        if (bits) { /* most letters are nothing else */
            columns[COMMAS] += (bits & COMMA) != 0;
            columns[STOPS] += (bits & STOP) != 0;
            columns[DIGITS] += (bits & DIGIT) != 0;
            columns[UPPERS] += (bits & UPPER) != 0;
            columns[WIDE] += (bits & WIDE_SCRIPT) != 0;
        }
    }
    columns[LINKED] = linked < columns[CHARS] ? linked : columns[CHARS];
    while (length && (bits_of(text[length - 1]) & CLOSER))
        length--;
    columns[ENDS] = length && (bits_of(text[length - 1]) & END_MARK);
}

/* The line as a row of text. What inline elements say counts where it holds for all of the pieces. */
static int add_text_row(Page *page, size_t first, size_t end, int join)
{
    int32_t marks = 0, linked = 0, said = 0;
    Row *row;
    for (; first < end; first++) {
        const Piece *piece = piece_at(page, first);
        if (piece->linked)
            linked += count_linked(page, piece);
        if (!is_break(page, piece) && !is_blank(page, piece))
            marks = said++ ? marks & piece->marks : piece->marks;
    }
    row = add_row(page, text_tag, marks);
    if (!row)
        return -1;
    row->columns[JOIN] = join;
    count_text(page->line.items, page->line.length, linked, row->columns);
    row->value = PyUnicode_FromKindAndData(PyUnicode_4BYTE_KIND, page->line.items, (Py_ssize_t)page->line.length);
    return row->value ? 0 : -1;
}

/* Add a line as a browser shows it, on a line of its own; if nothing is seen of it, nothing. 1 if something was added. */
static int squeeze(Page *page, size_t from, size_t to)
{
    Py_UCS4 *start = reserve(&page->line, to - from + 1, sizeof(Py_UCS4)), *end = start;
    int space = 0, seen = 0;
    if (!start)
        return -1;
    if (page->line.length)
        *end++ = '\n', start = end;
    for (; from < to; from++) {
        Py_UCS4 c = *text_at(page, from);
        unsigned bits = bits_of(c);
        if (bits & (SPACE | SOFT)) {
            space |= bits & SPACE;
            continue;
        }
        if (space && end > start)
            *end++ = ' ', seen = 1;
        space = 0;
        seen |= !(bits & INVISIBLE);
        *end++ = c;
    }
    if (seen)
        page->line.length = (size_t)(end - (Py_UCS4 *)page->line.items);
    return seen;
}

/* The paragraphs of a block: a break ends a line, two or more end a paragraph. */
static int flush_paragraphs(Page *page, int join)
{
    size_t start, stop, first = 0, end = 0, count = page->pieces.length;
    page->line.length = 0;
    for (start = 0; start <= count; start = stop + 1) {
        int began = page->line.length > 0, added = 0;
        for (stop = start; stop < count && !is_break(page, piece_at(page, stop));)
            stop++;
        if (start < stop)
            added = squeeze(page, piece_at(page, start)->start, piece_at(page, stop - 1)->end);
        if (added < 0)
            return -1;
        if (added) {
            first = began ? first : start;
            end = stop;
        }
        if (page->line.length && (!added || stop == count)) {
            if (add_text_row(page, first, end, join) < 0)
                return -1;
            join = 0;
            page->line.length = 0;
        }
    }
    return 0;
}

/* Preformatted text with its lines and indentation; blank ends and trailing spaces go. */
static int flush_code(Page *page)
{
    Py_UCS4 *line;
    size_t i, length = 0, line_start = 0, kept = 0; /* kept: behind the last character that is seen */
    page->line.length = 0;
    line = reserve(&page->line, page->text.length, sizeof(Py_UCS4));
    if (!line)
        return -1;
    for (i = 0; i < page->text.length; i++) {
        Py_UCS4 c = *text_at(page, i);
        if (c && c != '\n') {
            line[length++] = c == 0xA0 ? ' ' : c;
            if (!(bits_of(c) & SPACE))
                kept = length;
        } else if (!kept) {
            length = 0;
        } else {
            length = kept > line_start ? kept : line_start;
            line[length++] = '\n';
            line_start = length;
        }
    }
    page->line.length = kept;
    return kept ? add_text_row(page, 0, page->pieces.length, 0) : 0;
}

static int flush(Page *page)
{
    int join = !page->continues ? 0 : page->space ? 2 : 1;
    int result = page->now.within & WITHIN(CODE) ? flush_code(page) : flush_paragraphs(page, join);
    page->pieces.length = page->text.length = page->link_ended = page->ended = page->touched = 0;
    page->continues = page->space = 0;
    return result;
}

/* A block begins or ends: the text before it is complete. */
static int end_paragraph(Page *page)
{
    int result = page->pieces.length ? flush(page) : 0;
    page->continues = 0;
    return result;
}

/* An image interrupts the paragraph, which may go on behind it. */
static int end_run(Page *page)
{
    size_t last = page->pieces.length, before = page->rows.length;
    int broken, wrote, space, continued = page->continues, spaced = page->space;
    if (!last)
        return 0;
    space = is_blank(page, piece_at(page, last - 1));
    if (!space && piece_at(page, last - 1)->end > piece_at(page, last - 1)->start)
        space = (bits_of(*text_at(page, piece_at(page, last - 1)->end - 1)) & SPACE) != 0;
    while (last && is_blank(page, piece_at(page, last - 1)))
        last--;
    broken = last && is_break(page, piece_at(page, last - 1));
    if (flush(page) < 0)
        return -1;
    wrote = page->rows.length > before; /* nothing, where nothing is seen of the text: then what was before goes on */
    page->continues = (wrote || continued) && !broken && !(page->now.within & WITHIN(CODE));
    page->space = space || (spaced && !wrote);
    return 0;
}

/* ---- pieces ------------------------------------------------------------------------------------------------------- */

static int add_piece(Page *page, size_t start, int linked, int32_t marks)
{
    Piece *piece = push(&page->pieces, sizeof(Piece));
    if (!piece)
        return -1;
    *piece = (Piece){start, page->text.length, marks, linked};
    return 0;
}

/* A break, or the space between two links: a character that no element marks. */
static int add_character(Page *page, Py_UCS4 c)
{
    Py_UCS4 *place = push(&page->text, sizeof(Py_UCS4));
    if (!place)
        return -1;
    *place = c;
    return add_piece(page, page->text.length - 1, 0, 0);
}

/* Read one character of two or more bytes. Returns their number, 0 if they are not UTF-8. */
static size_t read_character(const byte *bytes, size_t left, Py_UCS4 *c)
{
    static const Py_UCS4 least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t i, length = bytes[0] >= 0xF0 ? 4 : bytes[0] >= 0xE0 ? 3 : 2;
    if (bytes[0] < 0xC2 || bytes[0] > 0xF4 || length > left)
        return 0;
    *c = bytes[0] & (0xFFu >> (length + 1));
    for (i = 1; i < length; i++) {
        if ((bytes[i] & 0xC0) != 0x80)
            return 0;
        *c = *c << 6 | (bytes[i] & 0x3F);
    }
    return *c < least[length] || *c > 0x10FFFF || (0xD800 <= *c && *c <= 0xDFFF) ? 0 : length;
}

/* Bytes that are not UTF-8 are replaced as CPython does. */
static int append_malformed(Vector *text, const byte *bytes, size_t length)
{
    PyObject *decoded = decode(bytes, length);
    Py_UCS4 *place = decoded ? reserve(text, (size_t)PyUnicode_GET_LENGTH(decoded), sizeof(Py_UCS4)) : NULL;
    if (place && PyUnicode_GET_LENGTH(decoded) &&
        PyUnicode_AsUCS4(decoded, place, PyUnicode_GET_LENGTH(decoded), 0))
        text->length += (size_t)PyUnicode_GET_LENGTH(decoded);
    Py_XDECREF(decoded);
    return place ? 0 : -1;
}

static int append_text(Vector *text, const byte *bytes, size_t length)
{
    Py_UCS4 *start = reserve(text, length, sizeof(Py_UCS4)), *end = start;
    size_t i = 0;
    if (!start)
        return -1;
    while (i < length) {
        size_t used = 1;
        *end = bytes[i];
        if (bytes[i] >= 0x80 && !(used = read_character(bytes + i, length - i, end)))
            return append_malformed(text, bytes, length);
        i += used;
        end++;
    }
    text->length += (size_t)(end - start);
    return 0;
}

/* Whether a word ends where the text at `start` begins, and another begins there, as style may set them apart. */
static int words_meet(const Page *page, size_t start)
{
    const Piece *last = piece_at(page, page->pieces.length - 1);
    const Py_UCS4 *left = text_at(page, last->end), *right = text_at(page, start);
    if (last->end - last->start < 2 || page->text.length == start || left[-1] >= first_wide || *right >= first_wide ||
        (bits_of(left[-2]) & SPACE))
        return 0;
    if (Py_UNICODE_ISALPHA(left[-1]))
        return Py_UNICODE_ISUPPER(*right) || Py_UNICODE_ISDECIMAL(*right);
    return Py_UNICODE_ISDECIMAL(left[-1]) && Py_UNICODE_ISUPPER(*right) && page->text.length > start + 1 &&
           Py_UNICODE_ISALPHA(right[1]);
}

/* A space between the last piece and the text from `start` on. */
static int add_space_before(Page *page, size_t start)
{
    size_t length = page->text.length - start;
    Piece *piece = push(&page->pieces, sizeof(Piece));
    Py_UCS4 *text = piece ? push(&page->text, sizeof(Py_UCS4)) : NULL;
    if (!text)
        return -1;
    memmove(text - length + 1, text - length, length * sizeof(Py_UCS4));
    text[-(Py_ssize_t)length] = ' ';
    *piece = (Piece){start, start + 1, 0, 0};
    return 0;
}

/* Text of the paragraph at hand; white space at its beginning, and all text in noscript, goes. */
static int add_text(Page *page, Node *node)
{
    size_t length = 0, start = page->text.length;
    byte *bytes;
    if ((page->now.within & WITHIN(NOSCRIPT)) || lexbor.type(node) != TEXT_NODE)
        return 0;
    bytes = lexbor.copy_text(node, &length); /* in the document's memory, which goes with the document */
    if (!bytes) {
        PyErr_NoMemory();
        return -1;
    }
    if (append_text(&page->text, bytes, length) < 0)
        return -1;
    if (!page->pieces.length) {
        Piece all = {start, page->text.length, 0, 0};
        if (start < page->text.length && (bits_of(*text_at(page, start)) & SPACE))
            page->space = 1;
        if (is_blank(page, &all)) {
            page->text.length = start;
            return 0;
        }
    } else if (page->touched == page->pieces.length && !(page->now.within & WITHIN(CODE)) && words_meet(page, start)) {
        if (add_space_before(page, start) < 0)
            return -1;
        start++;
    }
    return add_piece(page, start, page->now.link.present, page->now.marks);
}

/* ---- elements ----------------------------------------------------------------------------------------------------- */

static int tag_entry(Node *node, uintptr_t tag)
{
    size_t length = 0;
    const byte *name;
    int32_t entry;
    if (tag < MAX_TAGS)
        return tag_entries[tag];
    name = lexbor.type(node) == ELEMENT_NODE ? lexbor.name(node, &length) : NULL;
    entry = name ? find(&custom_tags, name, length) - 1 : -1; /* kept one higher, for 0 is none */
    return entry < 0 ? ROW | OWN : entry;
}

/* Whether a node is text that is more than the white space of HTML; -1 with an exception. */
static int is_seen_text(Node *node)
{
    size_t length = 0;
    const byte *bytes;
    if (!node || lexbor.tag(node) != text_tag)
        return 0;
    bytes = lexbor.copy_text(node, &length); /* in the document's memory, which goes with the document */
    if (!bytes) {
        PyErr_NoMemory();
        return -1;
    }
    while (length && memchr(" \t\n\r\f", bytes[length - 1], 5))
        length--;
    return length > 0;
}

/* Whether an element of the page's own naming is part of a line: it touches text, and holds no block. Such an element
 * in another one is taken for a part of that, set apart by style. */
static int stands_in_line(Node *node)
{
    Node *child, *parent = lexbor.parent(node);
    int touches;
    if (parent && lexbor.tag(parent) >= first_unknown_tag)
        return 0;
    touches = is_seen_text(lexbor.previous(node));
    if (!touches)
        touches = is_seen_text(lexbor.next(node));
    if (touches <= 0)
        return touches;
    for (child = lexbor.first_child(node); child; child = lexbor.next(child)) {
        uintptr_t tag = lexbor.tag(child);
        int action = tag == text_tag || tag == comment_tag ? INLINE : tag_entry(child, tag) & ACTION;
        if (action != INLINE && action != LINK && action != SKIP && action != SOURCE)
            return 0;
    }
    return 1;
}

/* An image, or a source of a picture. Takes the reference to its attributes. */
static int add_leaf(Page *page, PyObject *attributes, uintptr_t tag, int32_t marks)
{
    Row *row;
    if (!attributes)
        return -1;
    if (page->now.link.present) {
        PyObject *number = PyLong_FromSize_t(page->rows.length), *href = stripped(&page->now.link);
        int result = number && href ? PyDict_SetItem(page->hrefs, number, href) : -1;
        Py_XDECREF(number);
        Py_XDECREF(href);
        if (result < 0) {
            Py_DECREF(attributes);
            return -1;
        }
    }
    row = add_row(page, tag, marks | page->now.marks);
    if (!row) {
        Py_DECREF(attributes);
        return -1;
    }
    row->value = attributes;
    page->last_image = (int32_t)page->rows.length - 1;
    return SKIP;
}

/* The picture that the attributes of a figure without one tell of. */
static int add_hinted_image(Page *page, Node *node)
{
    PyObject *attributes = attributes_of(node), *source, *image;
    source = attributes ? PyObject_CallOneArg(figure_source, attributes) : NULL;
    Py_XDECREF(attributes);
    if (!source || source == Py_None) {
        Py_XDECREF(source);
        return source ? 0 : -1;
    }
    image = Py_BuildValue("{sN}", "src", source);
    return add_leaf(page, image, image_tag, 0) < 0 ? -1 : 0;
}

static int add_declaration(Page *page, Node *node, uintptr_t tag)
{
    PyObject *attributes = attributes_of(node), *pair;
    int result = -1;
    pair = attributes ? Py_BuildValue("(kO)", (unsigned long)tag, attributes) : NULL;
    if (pair)
        result = PyList_Append(page->declarations, pair);
    Py_XDECREF(pair);
    Py_XDECREF(attributes);
    return result < 0 ? -1 : SKIP;
}

/* Where a link leads and what its rel says, None without one. */
static int add_link(Page *page, const Value *href, const Value *rel)
{
    PyObject *address = href->bytes ? stripped(href) : PyUnicode_New(0, 0), *pair = NULL;
    PyObject *said = rel->bytes ? decode(rel->bytes, rel->length) : Py_NewRef(Py_None);
    int result = -1;
    if (address && said)
        pair = PyTuple_Pack(2, address, said);
    if (pair)
        result = PyList_Append(page->links, pair);
    Py_XDECREF(pair);
    Py_XDECREF(address);
    Py_XDECREF(said);
    return result;
}

static void begin_inline(Page *page)
{
    if (page->ended == page->pieces.length)
        page->touched = page->ended;
}

/* Two links that touch are two words, for pages set them apart by style. */
static int begin_link(Page *page, const Value *href, const Value *rel, int32_t marks)
{
    size_t count = page->pieces.length;
    if (add_link(page, href, rel) < 0)
        return -1;
    if (count && page->link_ended == count) {
        const Piece *last = piece_at(page, count - 1);
        if ((last->start == last->end || *text_at(page, last->end - 1) < first_wide) && add_character(page, ' ') < 0)
            return -1;
    }
    begin_inline(page);
    page->now.marks |= marks;
    page->now.link = (Value){href->bytes ? href->bytes : (const byte *)"", href->length, 1};
    return LINK;
}

static int begin_row(Page *page, uintptr_t tag, int action, int32_t marks, const Value *language)
{
    int32_t number;
    Row *row;
    if ((action == PICTURE || action == NOSCRIPT ? end_run(page) : end_paragraph(page)) < 0)
        return -1;
    number = (int32_t)page->rows.length;
    row = add_row(page, tag, marks | page->now.marks);
    if (!row)
        return -1;
    if (action == CODE && language->bytes) {
        PyObject *name = decode(language->bytes, language->length);
        row->value = name ? Py_BuildValue("{sN}", "data-language", name) : NULL;
        if (!row->value)
            return -1;
    }
    page->now.row = number;
    page->now.marks = 0;
    if (action >= PICTURE)
        page->now.within |= WITHIN(action);
    return action;
}

/* Close a row; one in which nothing is left goes. */
static int end_row(Page *page, Node *node, int action)
{
    Row *row;
    uintptr_t tag;
    if ((action == PICTURE || action == NOSCRIPT ? end_run(page) : end_paragraph(page)) < 0)
        return -1;
    if (action == FIGURE && page->last_image < page->now.row && add_hinted_image(page, node) < 0)
        return -1;
    row = (Row *)page->rows.items + page->now.row;
    row->columns[END] = (int32_t)page->rows.length;
    tag = (uintptr_t)row->columns[TAG];
    if (row->columns[END] == page->now.row + 1 && !(tag < MAX_TAGS && tag_entries[tag] & MAY_BE_EMPTY)) {
        page->rows.length--;
        Py_CLEAR(row->value);
    }
    return 0;
}

/* Decide what becomes of an element: SKIP, or an action, with the state as it is inside; -1 with an exception. */
static int enter(Page *page, Node *node, uintptr_t tag)
{
    Value values[KNOWN];
    int32_t role, marks;
    int entry = tag_entry(node, tag), action = entry & ACTION, in_line;
    if (action == SKIP)
        return SKIP;
    if (action == SOURCE)
        return page->now.within & WITHIN(PICTURE) ? add_leaf(page, attributes_of(node), tag, 0) : SKIP;
    if (action == BREAK) {
        page->continues = page->continues && page->pieces.length;
        return page->pieces.length && add_character(page, 0) < 0 ? -1 : SKIP;
    }
    in_line = entry & OWN ? stands_in_line(node) : 0;
    if (in_line < 0)
        return -1;
    if (in_line)
        action = INLINE;
    read_attributes(node, values);
    if (read_role(&values[ROLE], &role) < 0)
        return -1;
    if (is_hidden(values, entry, role))
        return SKIP;
    if (role > 0)
        tag = (uintptr_t)role;
    if (role == LAYOUT && tag == table_tag)
        tag = block_tag;
    if (action == DECLARATION)
        return add_declaration(page, node, tag);
    if (action == BUTTON) {
        if (!(page->now.within & WITHIN(HEADING)))
            return SKIP;
        begin_inline(page);
        return INLINE;
    }
    if (action == DIALOG && !values[OPEN].present)
        return SKIP;
    marks = marks_of(&values[CLASS]) | marks_of(&values[ID]) | marks_of(&values[ITEMPROP]);
    if (action == LINK)
        return begin_link(page, &values[HREF], &values[REL], marks);
    if (action == IMAGE)
        return end_run(page) < 0 ? -1 : add_leaf(page, attributes_of(node), tag, marks);
    if (action == INLINE) {
        if (!(entry & ATTACHED))
            begin_inline(page);
        page->now.marks |= marks;
        return INLINE;
    }
    return begin_row(page, tag, action == DIALOG ? ROW : action, marks, &values[LANGUAGE]);
}

static int leave(Page *page, Node *node, int action)
{
    if (action == LINK)
        page->link_ended = page->pieces.length;
    if (action == LINK || action == INLINE)
        page->ended = page->pieces.length;
    return action >= ROW ? end_row(page, node, action) : 0;
}

/* ---- the walk (walk.py) ------------------------------------------------------------------------------------------- */

typedef struct {
    Py_ssize_t max_nodes, max_depth;
    double max_seconds, deadline; /* the deadline is negative before the clock starts */
    PyObject *clock;
} Bounds;

static int reject(const char *reason)
{
    PyErr_SetString(rejected, reason);
    return -1;
}

static int check_bounds(Bounds *bounds, Py_ssize_t visited)
{
    PyObject *time = PyObject_CallNoArgs(bounds->clock);
    double now = time ? PyFloat_AsDouble(time) : 0.0;
    Py_XDECREF(time);
    if (PyErr_Occurred())
        return -1;
    if (visited > bounds->max_nodes)
        return reject("too_many_nodes");
    if (bounds->deadline < 0)
        bounds->deadline = now + bounds->max_seconds;
    else if (now > bounds->deadline)
        return reject("too_slow");
    return 0;
}

static int visit(Page *page, Node *node, Bounds *bounds)
{
    Py_ssize_t visited = 0;
    for (;;) {
        uintptr_t tag = lexbor.tag(node);
        Node *following;
        if (++visited % clock_every == 0 && check_bounds(bounds, visited) < 0)
            return -1;
        if (tag == text_tag) {
            if (add_text(page, node) < 0)
                return -1;
        } else if (tag != comment_tag) {
            State around = page->now;
            int action = enter(page, node, tag);
            Node *child = action > SKIP ? lexbor.first_child(node) : NULL;
            if (action < 0)
                return -1;
            if (child) {
                Open *open = push(&page->stack, sizeof(Open));
                if (!open)
                    return -1;
                *open = (Open){node, action, around};
                if (page->stack.length > (size_t)bounds->max_depth)
                    return reject("too_deep");
                node = child;
                continue;
            }
            if (action != SKIP && leave(page, node, action) < 0)
                return -1;
            page->now = around;
        }
        while (!(following = lexbor.next(node))) {
            const Open *open;
            if (!page->stack.length)
                return visited > bounds->max_nodes ? reject("too_many_nodes") : 0;
            open = (Open *)page->stack.items + --page->stack.length;
            if (leave(page, open->node, open->action) < 0)
                return -1;
            page->now = open->around;
            node = open->node;
        }
        node = following;
    }
}

/* ---- from and to Python ------------------------------------------------------------------------------------------- */

static PyObject *result_of(Page *page)
{
    Py_ssize_t i, count = (Py_ssize_t)page->rows.length;
    PyObject *table = PyBytes_FromStringAndSize(NULL, count * (Py_ssize_t)sizeof(((Row *)0)->columns));
    PyObject *values = PyList_New(count), *result = NULL;
    for (i = 0; table && values && i < count; i++) {
        Row *row = (Row *)page->rows.items + i;
        memcpy(PyBytes_AS_STRING(table) + i * (Py_ssize_t)sizeof row->columns, row->columns, sizeof row->columns);
        PyList_SET_ITEM(values, i, row->value ? row->value : Py_NewRef(Py_None));
        row->value = NULL;
    }
    if (table && values)
        result = PyTuple_Pack(5, table, values, page->hrefs, page->links, page->declarations);
    Py_XDECREF(table);
    Py_XDECREF(values);
    return result;
}

static void free_page(Page *page)
{
    size_t i;
    for (i = 0; i < page->rows.length; i++)
        Py_XDECREF(((Row *)page->rows.items)[i].value);
    free(page->rows.items);
    free(page->stack.items);
    free(page->pieces.items);
    free(page->text.items);
    free(page->line.items);
    Py_XDECREF(page->hrefs);
    Py_XDECREF(page->links);
    Py_XDECREF(page->declarations);
}

static PyObject *simplify(PyObject *self, PyObject *args)
{
    unsigned long long address;
    Bounds bounds = {0, 0, 0.0, -1.0, NULL};
    Page page = {0};
    PyObject *result = NULL;
    (void)self;
    if (!PyArg_ParseTuple(args, "KnndO", &address, &bounds.max_nodes, &bounds.max_depth, &bounds.max_seconds,
                          &bounds.clock))
        return NULL;
    if (!rejected)
        return PyErr_Format(PyExc_RuntimeError, "set_up comes first");
    page.now.row = page.last_image = -1;
    page.hrefs = PyDict_New();
    page.links = PyList_New(0);
    page.declarations = PyList_New(0);
    if (page.hrefs && page.links && page.declarations && !visit(&page, (Node *)(uintptr_t)address, &bounds) &&
        !end_paragraph(&page))
        result = result_of(&page);
    free_page(&page);
    return result;
}

/* ---- setting up --------------------------------------------------------------------------------------------------- */

static int fill_characters(PyObject *commas, PyObject *stops, PyObject *ends, PyObject *closers, PyObject *soft,
                           PyObject *invisible)
{
    Py_UCS4 c;
    for (c = 0; c < TABLED; c++)
        tabled[c] = classify(c);
    return mark_characters(commas, COMMA) < 0 || mark_characters(stops, STOP) < 0 ||
                   mark_characters(ends, END_MARK) < 0 || mark_characters(closers, CLOSER) < 0 ||
                   mark_characters(soft, SOFT) < 0 || mark_characters(invisible, INVISIBLE) < 0
               ? -1
               : 0;
}

static int fill_entries(PyObject *entries)
{
    if (PyBytes_GET_SIZE(entries) != MAX_TAGS) {
        PyErr_Format(PyExc_ValueError, "expected %d tags", MAX_TAGS);
        return -1;
    }
    memcpy(tag_entries, PyBytes_AS_STRING(entries), MAX_TAGS);
    return 0;
}

PyDoc_STRVAR(set_up_doc,
             "set_up(path, *, tags, custom_tags, vocabulary, roles, commas, stops, ends, closers, soft, invisible,\n"
             "       wide_ranges, first_wide, text_tag, comment_tag, first_unknown_tag, table_tag, block_tag, image_tag,\n"
             "       clock_every, modifier, figure_source, rejected): find Lexbor in the module at `path`, and take over what the rules say.\n\n"
             "Raises OSError where a function of Lexbor's is missing.");

static PyObject *set_up(PyObject *self, PyObject *args, PyObject *named)
{
    static char *names[] = {"path",        "tags",      "custom_tags", "vocabulary",  "roles",
                            "commas",      "stops",     "ends",        "closers",     "soft",
                            "invisible",   "wide_ranges", "first_wide", "text_tag",   "comment_tag",
                            "first_unknown_tag", "table_tag", "block_tag", "image_tag", "clock_every", "modifier", "figure_source",
                            "rejected", NULL};
    const char *path, *word;
    Py_ssize_t word_length;
    PyObject *tags, *custom, *words, *role, *commas, *stops, *ends, *closers, *soft, *invisible, *ranges, *source, *exception;
    unsigned long text, comment, unknown, table, block, image;
    int wide;
    (void)self;
    if (!PyArg_ParseTupleAndKeywords(args, named, "s$SO!O!O!UUUUUUO!Ckkkkkkks#OO", names, &path, &tags, &PyDict_Type, &custom,
                                     &PyDict_Type, &words, &PyDict_Type, &role, &commas, &stops, &ends, &closers, &soft,
                                     &invisible, &PyTuple_Type, &ranges, &wide, &text, &comment, &unknown, &table, &block, &image,
                                     &clock_every, &word, &word_length, &source, &exception))
        return NULL;
    text_tag = text, comment_tag = comment, first_unknown_tag = unknown, table_tag = table, block_tag = block;
    image_tag = image;
    first_wide = (Py_UCS4)wide;
    Py_XSETREF(wide_ranges, Py_NewRef(ranges));
    if (!clock_every)
        return PyErr_Format(PyExc_ValueError, "clock_every is 0");
    if (word_length > LONGEST)
        return PyErr_Format(PyExc_ValueError, "the modifier is too long");
    modifier_length = (size_t)word_length;
    memcpy(modifier, word, modifier_length);
    if (find_lexbor(path) < 0 || fill_entries(tags) < 0 || fill_words(&custom_tags, custom) < 0 ||
        fill_words(&vocabulary, words) < 0 || fill_words(&roles, role) < 0 ||
        fill_characters(commas, stops, ends, closers, soft, invisible) < 0)
        return NULL;
    Py_XSETREF(figure_source, Py_NewRef(source));
    Py_XSETREF(rejected, Py_NewRef(exception));
    Py_RETURN_NONE;
}

PyDoc_STRVAR(simplify_doc, "simplify(address, max_nodes, max_depth, max_seconds, clock) -> (rows, values, hrefs, links, declarations)\n\n"
                           "The tree under the node at `address`, which must be alive. `rows` has the columns of tree.py as int32.\n"
                           "Raises the exception given to set_up with a reason.");

static PyMethodDef methods[] = {
    {"set_up", (PyCFunction)(void (*)(void))set_up, METH_VARARGS | METH_KEYWORDS, set_up_doc},
    {"simplify", simplify, METH_VARARGS, simplify_doc},
    {NULL, NULL, 0, NULL},
};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_simplify", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__simplify(void)
{
    strip_name = PyUnicode_InternFromString("strip");
    lower_name = PyUnicode_InternFromString("lower");
    return strip_name && lower_name ? PyModule_Create(&module) : NULL;
}
