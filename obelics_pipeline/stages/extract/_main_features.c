/* The features of a page's texts, compiled. main_features_pure.py is the same in NumPy and defines what must come out, bit
 * for bit; this file is optional.
 *
 * What tags, names and numbers mean is handed in once, by `set_up`, so that the rules stay in Python. Sums are whole
 * numbers; a quotient is of two of them as doubles, rounded to a float. Nothing recurses, and memory is bounded by the page.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { TAG, PARENT, END, MARKS, JOIN, CHARS, LINKED, WORDS, COMMAS, STOPS, DIGITS, UPPERS, WIDE, ENDS, WIDTH }; /* tree.py */

/* An entry of the table of tags: its code in the lowest bits, these flags, and from bit 32 on what it says as an element
 * around a text. */
enum { CODE = 255, TEXT = 1 << 8, IMAGE = 1 << 9, FRAME = 1 << 10, INNER = 1 << 11, WHOLE = 1 << 12 };

enum { SHARE, LINKS, LONG_SHARE, MEAN, IMAGES, SCORE, ALIKE, QUOTIENTS }; /* what is said of an element around a text */

#define PLACES (1 << 14)  /* for the beginnings of section titles, which have about 1500 letters */
#define HIGHEST (1 << 26) /* of a text's counts, far above what a page can hold: no sum or product overflows */

/* ---- what is handed in -------------------------------------------------------------------------------------------- */

typedef struct {
    int64_t *items;
    Py_ssize_t length;
} Numbers;

static Numbers tags, bits, upward, neighbours;
static int64_t all_bits;
static long long least_long, least_short, full, most, of, far, longest_title;
static Py_ssize_t levels, width;
static PyObject *ellipses, *before_title, *is_section_title;

/* By the hash of letters: whether a beginning of section titles may go on behind them, or end with them. */
enum { GOES_ON = 1, COMPLETE = 2 };
static char beginnings[PLACES];

static inline uint32_t add_letter(uint32_t hash, Py_UCS4 letter)
{
    return (hash ^ letter) * UINT32_C(0x9E3779B1);
}

static inline char *place_of(uint32_t hash)
{
    return &beginnings[hash / (UINT32_MAX / PLACES + 1)];
}

/* ---- a page ------------------------------------------------------------------------------------------------------- */

typedef struct {
    int64_t weight, linked, long_weight, texts, images;
} Sums;

typedef struct {
    Sums before;          /* of the rows before this one */
    int64_t around;       /* bits of the names and tags of all elements around it, its own included */
    int64_t score;
    int32_t parent;       /* the root is its own */
    int32_t frames_ended; /* that end before this row */
    size_t group;         /* of the children of its parent with its tag and names */
    size_t name;          /* of the rows with its tag and names */
    float quotients[QUOTIENTS];
} Row;

typedef struct {
    int32_t row;
    int64_t weight, linked;
    size_t peers;         /* of the texts that stand as it does */
} Text;

typedef struct {
    int64_t key;
    int32_t size;         /* 0: the place is free */
    int32_t first, last;  /* of texts, their numbers */
    int64_t weight, linked;
} Group;

typedef struct {
    Group *items;
    size_t mask;
} Groups;

typedef struct {
    const int32_t (*table)[WIDTH];
    Py_ssize_t length, n_texts, n_long;
    Row *rows;    /* and one behind the last */
    Text *texts;  /* outside the frame */
    Groups alike, names, peers;
    Sums total;
    int32_t best; /* the row with the best score */
    int32_t *path; /* from the root to it */
    Py_ssize_t path_length;
} Page;

static inline int64_t at_least_1(int64_t value)
{
    return value > 1 ? value : 1;
}

static inline double quotient(int64_t part, int64_t whole)
{
    return (double)part / (double)at_least_1(whole);
}

static inline int64_t entry_of(const Page *page, Py_ssize_t row)
{
    return tags.items[page->table[row][TAG]];
}

static Sums within(const Page *page, Py_ssize_t row)
{
    const Sums *end = &page->rows[page->table[row][END]].before, *start = &page->rows[row].before;
    return (Sums){end->weight - start->weight, end->linked - start->linked, end->long_weight - start->long_weight,
                  end->texts - start->texts, end->images - start->images};
}

/* ---- reading the rows --------------------------------------------------------------------------------------------- */

static int refuse(Py_ssize_t row, const char *what)
{
    PyErr_Format(PyExc_ValueError, "row %zd is of no tree: %s", row, what);
    return -1;
}

static int check_row(const Page *page, Py_ssize_t row)
{
    const int32_t *columns = page->table[row];
    if (columns[TAG] < 0 || columns[TAG] >= tags.length)
        return refuse(row, "no such tag");
    if (columns[PARENT] >= row)
        return refuse(row, "its parent does not come before it");
    if (columns[END] <= row || columns[END] > page->length)
        return refuse(row, "its end is not behind it");
    return 0;
}

static int check_counts(Py_ssize_t row, const int32_t *columns)
{
    int column;
    for (column = CHARS; column < WIDTH; column++)
        if (columns[column] < 0 || columns[column] > HIGHEST)
            return refuse(row, "a count is out of range");
    return columns[LINKED] <= columns[CHARS] ? 0 : refuse(row, "more characters in links than there are");
}

static int add_text(Page *page, Py_ssize_t row, Sums *sums)
{
    const int32_t *columns = page->table[row];
    int64_t weight, linked;
    int is_long;
    if (check_counts(row, columns) < 0)
        return -1;
    weight = columns[CHARS] + 2 * (int64_t)columns[WIDE];
    linked = weight * columns[LINKED] / at_least_1(columns[CHARS]);
    is_long = weight >= least_long && 2 * linked < weight;
    page->texts[page->n_texts++] = (Text){(int32_t)row, weight, linked};
    page->n_long += is_long;
    sums->weight += weight;
    sums->linked += linked;
    sums->long_weight += is_long ? weight : 0;
    sums->texts++;
    return 0;
}

static int read_rows(Page *page)
{
    Py_ssize_t i;
    int32_t open_frames = 0;
    Sums sums = {0};
    for (i = 0; i < page->length; i++) {
        const int32_t *columns = page->table[i];
        Row *row = &page->rows[i];
        int64_t entry;
        if (check_row(page, i) < 0)
            return -1;
        entry = entry_of(page, i);
        row->parent = columns[PARENT] < 0 ? (int32_t)i : columns[PARENT];
        row->before = sums;
        open_frames -= row->frames_ended;
        if (entry & FRAME) {
            open_frames++;
            page->rows[columns[END]].frames_ended++;
        }
        if (entry & TEXT && open_frames <= 0 && add_text(page, i, &sums) < 0)
            return -1;
        sums.images += (entry & IMAGE) != 0;
    }
    page->total = page->rows[page->length].before = sums;
    return 0;
}

/* ---- names and likeness ------------------------------------------------------------------------------------------- */

/* The place of a key. The table's address goes into the hash, so that no page can be written to make it slow. */
static size_t group_of(Groups *groups, int64_t key)
{
    uint64_t hash = (uint64_t)key ^ ((uint64_t)(uintptr_t)groups->items >> 4);
    size_t i;
    hash = (hash ^ hash >> 33) * UINT64_C(0xFF51AFD7ED558CCD); /* the finalizer of MurmurHash3 */
    hash = (hash ^ hash >> 33) * UINT64_C(0xC4CEB9FE1A85EC53);
    for (i = (size_t)(hash ^ hash >> 33) & groups->mask;; i = (i + 1) & groups->mask) {
        Group *group = &groups->items[i];
        if (!group->size)
            group->key = key;
        if (group->key == key) {
            group->size++;
            return i;
        }
    }
}

static void read_names(Page *page)
{
    Py_ssize_t i;
    for (i = 0; i < page->length; i++) {
        const int32_t *columns = page->table[i];
        Row *row = &page->rows[i];
        int64_t entry = entry_of(page, i);
        int says_nothing = !(entry & TEXT) && of * within(page, i).weight >= most * page->total.weight;
        int64_t marks = says_nothing || entry & WHOLE ? 0 : columns[MARKS] & all_bits;
        row->around = marks | (entry & ~INT64_C(0xFFFFFFFF));
        if (row->parent != i)
            row->around |= page->rows[row->parent].around;
        row->name = group_of(&page->names, (int64_t)columns[TAG] << 22 | marks);
        row->group = group_of(&page->alike, (int64_t)((uint64_t)row->parent << 40 | (uint64_t)columns[TAG] << 22 | (uint64_t)marks));
    }
}

static void find_peers(Page *page)
{
    Py_ssize_t i;
    for (i = 0; i < page->n_texts; i++) {
        Text *text = &page->texts[i];
        const Row *within = &page->rows[page->rows[text->row].parent];
        Group *group;
        text->peers = group_of(&page->peers, (int64_t)((uint64_t)within->name << 32 | page->rows[within->parent].name));
        group = &page->peers.items[text->peers];
        if (group->size == 1)
            group->first = (int32_t)i;
        group->last = (int32_t)i;
        group->weight += text->weight;
        group->linked += text->linked;
    }
}

/* ---- scores ------------------------------------------------------------------------------------------------------- */

static void add_score(Page *page, const Text *text)
{
    int64_t worth = 100 + 100 * (int64_t)page->table[text->row][COMMAS] + (text->weight < full ? text->weight : full);
    int32_t element = page->rows[text->row].parent;
    Py_ssize_t i;
    if (text->weight < least_short)
        return;
    worth = worth * (text->weight - text->linked) / at_least_1(text->weight);
    if (entry_of(page, element) & INNER)
        element = page->rows[element].parent;
    for (i = 0; i < upward.length; i++) {
        int32_t above = page->rows[element].parent;
        page->rows[element].score += upward.items[i] * worth;
        if (above == element)
            break;
        element = above;
    }
}

static int find_best(Page *page)
{
    Py_ssize_t i;
    int32_t row;
    for (i = 0; i < page->n_texts; i++)
        add_score(page, &page->texts[i]);
    for (i = 0; i < page->length; i++) {
        Sums sums = within(page, i);
        page->rows[i].score = (int64_t)((double)page->rows[i].score * quotient(sums.weight - sums.linked, sums.weight));
        if (page->rows[i].score > page->rows[page->best].score)
            page->best = (int32_t)i;
    }
    page->path_length = 1;
    for (row = page->best; page->rows[row].parent != row; row = page->rows[row].parent)
        page->path_length++;
    page->path = malloc((size_t)page->path_length * sizeof *page->path);
    if (!page->path)
        return -1;
    for (i = page->path_length, row = page->best; i--; row = page->rows[row].parent)
        page->path[i] = row;
    return 0;
}

/* ---- elements around texts ---------------------------------------------------------------------------------------- */

static void divide(Page *page)
{
    int64_t best = page->rows[page->best].score;
    Py_ssize_t i;
    for (i = 0; i < page->length; i++) {
        Row *row = &page->rows[i];
        Sums sums = within(page, i);
        row->quotients[SHARE] = (float)quotient(sums.weight, page->total.weight);
        row->quotients[LINKS] = (float)quotient(sums.linked, sums.weight);
        row->quotients[LONG_SHARE] = (float)quotient(sums.long_weight, page->total.long_weight);
        row->quotients[MEAN] = (float)quotient(sums.weight, sums.texts);
        row->quotients[IMAGES] = (float)quotient(sums.images, sums.texts);
        row->quotients[SCORE] = (float)quotient(row->score, best);
        row->quotients[ALIKE] = (float)page->alike.items[row->group].size;
    }
}

/* ---- words -------------------------------------------------------------------------------------------------------- */

static int ends_in_ellipsis(PyObject *text)
{
    Py_ssize_t i, length = PyUnicode_GET_LENGTH(text);
    for (i = 0; length && i < PyTuple_GET_SIZE(ellipses); i++) {
        PyObject *ellipsis = PyTuple_GET_ITEM(ellipses, i);
        Py_UCS4 last = PyUnicode_READ_CHAR(ellipsis, PyUnicode_GET_LENGTH(ellipsis) - 1);
        if (PyUnicode_READ_CHAR(text, length - 1) == last && PyUnicode_Tailmatch(text, ellipsis, 0, PY_SSIZE_T_MAX, 1) == 1)
            return 1;
    }
    return 0;
}

/* Whether a text may begin as section titles do. Python has the last word, so that two that are mixed up here do not
 * matter, nor do the few letters that become two in lower case: no beginning has one. */
static int may_be_title(PyObject *text)
{
    Py_ssize_t i = 0, length = PyUnicode_GET_LENGTH(text);
    uint32_t hash = 0;
    if (length > longest_title)
        return 0;
    if (length && !Py_UNICODE_ISALPHA(PyUnicode_READ_CHAR(text, 0)))
        while (i < length && PyUnicode_FindChar(before_title, PyUnicode_READ_CHAR(text, i), 0, PY_SSIZE_T_MAX, 1) >= 0)
            i++;
    for (; i <= length; i++) {
        char place;
        hash = add_letter(hash, i < length ? Py_UNICODE_TOLOWER(PyUnicode_READ_CHAR(text, i)) : ' ');
        place = *place_of(hash);
        if (place != GOES_ON)
            return place != 0;
    }
    return 0;
}

/* 1 if a text is the title of a section with something else than the content, -1 with an exception. */
static int is_title(PyObject *text)
{
    PyObject *answer;
    int is;
    if (!may_be_title(text))
        return 0;
    answer = PyObject_CallOneArg(is_section_title, text);
    is = answer ? PyObject_IsTrue(answer) : -1;
    Py_XDECREF(answer);
    return is;
}

/* ---- the features of a text, each group in the order of main_features_pure.NAMES ---------------------------------- */

static float *put_text(const Page *page, const Text *text, float *out)
{
    const int32_t *columns = page->table[text->row];
    *out++ = (float)text->weight;
    *out++ = (float)quotient(text->linked, text->weight);
    *out++ = (float)quotient(columns[COMMAS], columns[CHARS]);
    *out++ = (float)quotient(columns[STOPS], columns[CHARS]);
    *out++ = (float)columns[WORDS];
    *out++ = (float)quotient(at_least_1(columns[CHARS]), columns[WORDS]);
    *out++ = (float)columns[ENDS];
    *out++ = (float)quotient(columns[UPPERS], columns[CHARS]);
    return out;
}

static float *put_names(const Page *page, const Text *text, float *out)
{
    const Row *rows = page->rows;
    int64_t around = rows[text->row].around;
    Py_ssize_t i;
    *out++ = (float)(entry_of(page, rows[rows[text->row].parent].parent) & CODE);
    for (i = 0; i < bits.length; i++)
        *out++ = (around & bits.items[i]) != 0;
    return out;
}

static float *put_containers(const Page *page, const Text *text, float *out)
{
    int32_t element = text->row;
    Py_ssize_t level;
    int what;
    for (level = 0; level < levels; level++) {
        element = page->rows[element].parent;
        for (what = 0; what < QUOTIENTS; what++)
            out[what * levels + level] = page->rows[element].quotients[what];
    }
    return out + QUOTIENTS * levels;
}

static float *put_peers(const Page *page, const Text *text, float *out)
{
    const Group *peers = &page->peers.items[text->peers];
    *out++ = (float)peers->size;
    *out++ = (float)quotient(peers->weight, peers->size);
    *out++ = (float)quotient(peers->weight, page->total.weight);
    *out++ = (float)quotient(peers->linked, peers->weight);
    *out++ = (float)quotient(peers->last - peers->first, page->n_texts);
    *out++ = (float)quotient(peers->first, page->n_texts);
    *out++ = (float)quotient(peers->last, page->n_texts);
    return out;
}

/* `begun` and `ended` are the elements of the path that have begun and ended before the text. */
static float *put_best(const Page *page, Py_ssize_t begun, Py_ssize_t ended, float *out)
{
    Py_ssize_t around = begun < page->path_length - ended ? begun : page->path_length - ended;
    around = at_least_1(around);
    *out++ = (float)(page->path_length - around);
    *out++ = (float)quotient(page->rows[page->path[around - 1]].score, page->rows[page->best].score);
    return out;
}

static float *put_place(const Page *page, Py_ssize_t number, float *out)
{
    const Sums *before = &page->rows[page->texts[number].row].before;
    Py_ssize_t i;
    *out++ = (float)quotient(before->weight, page->total.weight);
    *out++ = (float)quotient(before->long_weight, page->total.long_weight);
    *out++ = (float)(page->n_texts - number);
    for (i = 0; i < neighbours.length; i++) {
        Py_ssize_t other = number + (Py_ssize_t)neighbours.items[i];
        int is_there = other >= 0 && other < page->n_texts;
        *out++ = is_there ? (float)quotient(page->texts[other].linked, page->texts[other].weight) : 0.0f;
    }
    return out;
}

static void put_page(const Page *page, float *out)
{
    Sums best = within(page, page->best);
    *out++ = (float)page->n_long;
    *out++ = (float)quotient(page->total.linked, page->total.weight);
    *out++ = (float)page->n_texts;
    *out++ = (float)best.weight;
    *out++ = (float)quotient(best.long_weight, page->total.long_weight);
}

static int fill(const Page *page, PyObject *const *values, int64_t *rows, float *out)
{
    Py_ssize_t i, last_title = -(Py_ssize_t)far, begun = 0, ended = 0;
    for (i = 0; i < page->n_texts; i++) {
        const Text *text = &page->texts[i];
        PyObject *value = values[text->row];
        float *next = out + i * width;
        int title = 0;
        if (!PyUnicode_Check(value))
            return refuse(text->row, "a text without its words");
        if (page->table[text->row][CHARS] <= longest_title && (title = is_title(value)) < 0)
            return -1;
        if (title)
            last_title = i;
        while (begun < page->path_length && page->path[begun] <= text->row)
            begun++;
        while (ended < page->path_length && page->table[page->path[page->path_length - 1 - ended]][END] <= text->row)
            ended++;
        rows[i] = text->row;
        next = put_text(page, text, next);
        *next++ = (float)ends_in_ellipsis(value);
        *next++ = (float)title;
        *next++ = (float)(i - last_title < far ? i - last_title : far);
        next = put_names(page, text, next);
        next = put_containers(page, text, next);
        next = put_peers(page, text, next);
        next = put_best(page, begun, ended, next);
        next = put_place(page, i, next);
        put_page(page, next);
    }
    return 0;
}

/* ---- from and to Python ------------------------------------------------------------------------------------------- */

static int allocate_groups(Groups *groups, Py_ssize_t keys)
{
    for (groups->mask = 15; groups->mask < 2 * (size_t)keys; groups->mask = 2 * groups->mask + 1)
        ;
    groups->items = calloc(groups->mask + 1, sizeof *groups->items);
    return groups->items ? 0 : -1;
}

static int allocate(Page *page)
{
    if (allocate_groups(&page->alike, page->length) < 0 || allocate_groups(&page->names, page->length) < 0 ||
        allocate_groups(&page->peers, page->length) < 0)
        return -1;
    page->rows = calloc((size_t)page->length + 1, sizeof *page->rows);
    page->texts = calloc((size_t)page->length + 1, sizeof *page->texts);
    return page->rows && page->texts ? 0 : -1;
}

static PyObject *result_of(const Page *page, PyObject *const *values)
{
    PyObject *rows = PyBytes_FromStringAndSize(NULL, page->n_texts * (Py_ssize_t)sizeof(int64_t));
    PyObject *features = PyBytes_FromStringAndSize(NULL, page->n_texts * width * (Py_ssize_t)sizeof(float)), *result = NULL;
    if (rows && features && !fill(page, values, (int64_t *)PyBytes_AS_STRING(rows), (float *)PyBytes_AS_STRING(features)))
        result = PyTuple_Pack(2, rows, features);
    Py_XDECREF(rows);
    Py_XDECREF(features);
    return result;
}

static PyObject *features_of(Page *page, PyObject *const *values)
{
    if (allocate(page) < 0)
        return PyErr_NoMemory();
    if (read_rows(page) < 0)
        return NULL;
    if (page->n_texts) {
        read_names(page);
        find_peers(page);
        if (find_best(page) < 0)
            return PyErr_NoMemory();
        divide(page);
    }
    return result_of(page, values);
}

PyDoc_STRVAR(main_features_doc, "main_features(rows, values) -> (texts, features), as bytes of int64 and of float32.\n\n"
                                "`rows` are those of tree.py as int32, `values` a sequence with a str at each text.\n"
                                "Raises ValueError for rows that are no tree.");

static PyObject *main_features(PyObject *self, PyObject *args)
{
    Py_buffer table;
    PyObject *values, *items, *result = NULL;
    Page page = {0};
    (void)self;
    if (!PyArg_ParseTuple(args, "y*O", &table, &values))
        return NULL;
    items = PySequence_Tuple(values); /* ours alone: what is called while they are read cannot change them */
    page.table = table.buf;
    page.length = table.len / (Py_ssize_t)sizeof *page.table;
    if (!is_section_title)
        PyErr_SetString(PyExc_RuntimeError, "set_up comes first");
    else if (table.len % (Py_ssize_t)sizeof *page.table || page.length > INT32_MAX - 1)
        PyErr_Format(PyExc_ValueError, "expected rows of %d int32, found %zd bytes", WIDTH, table.len);
    else if (items && PyTuple_GET_SIZE(items) != page.length)
        PyErr_Format(PyExc_ValueError, "expected %zd values, found %zd", page.length, PyTuple_GET_SIZE(items));
    else if (items)
        result = features_of(&page, PySequence_Fast_ITEMS(items));
    free(page.rows);
    free(page.texts);
    free(page.alike.items);
    free(page.names.items);
    free(page.peers.items);
    free(page.path);
    Py_XDECREF(items);
    PyBuffer_Release(&table);
    return result;
}

/* ---- setting up --------------------------------------------------------------------------------------------------- */

static int take_numbers(Numbers *numbers, PyObject *source)
{
    Py_buffer buffer;
    int64_t *items;
    if (PyObject_GetBuffer(source, &buffer, PyBUF_SIMPLE) < 0)
        return -1;
    items = malloc((size_t)buffer.len + 1);
    if (items) {
        memcpy(items, buffer.buf, (size_t)buffer.len);
        free(numbers->items);
        *numbers = (Numbers){items, buffer.len / (Py_ssize_t)sizeof *items};
    } else
        PyErr_NoMemory();
    PyBuffer_Release(&buffer);
    return items ? 0 : -1;
}

static int take_beginnings(PyObject *texts)
{
    Py_ssize_t i, j;
    memset(beginnings, 0, sizeof beginnings);
    for (i = 0; i < PyTuple_GET_SIZE(texts); i++) {
        PyObject *text = PyTuple_GET_ITEM(texts, i);
        Py_ssize_t length = PyUnicode_Check(text) ? PyUnicode_GET_LENGTH(text) : 0;
        uint32_t hash = 0;
        if (!length) {
            PyErr_Format(PyExc_ValueError, "%R is no beginning", text);
            return -1;
        }
        for (j = 0; j < length; j++) {
            hash = add_letter(hash, PyUnicode_READ_CHAR(text, j));
            *place_of(hash) |= j + 1 < length ? GOES_ON : COMPLETE;
        }
    }
    return 0;
}

static int check_ellipses(void)
{
    Py_ssize_t i;
    for (i = 0; i < PyTuple_GET_SIZE(ellipses); i++)
        if (!PyUnicode_Check(PyTuple_GET_ITEM(ellipses, i)) || !PyUnicode_GET_LENGTH(PyTuple_GET_ITEM(ellipses, i))) {
            PyErr_SetString(PyExc_ValueError, "an ellipsis is no text");
            return -1;
        }
    return 0;
}

static int check_width(void)
{
    Py_ssize_t filled = 8 + 3 + 1 + bits.length + QUOTIENTS * levels + 7 + 2 + 3 + neighbours.length + 5;
    if (filled == width)
        return 0;
    PyErr_Format(PyExc_ValueError, "expected %zd features, found %zd", filled, width);
    return -1;
}

PyDoc_STRVAR(set_up_doc, "set_up(*, tags, bits, upward, neighbours, least_long, least_short, full, most, of, far, levels, width,\n"
                         "       ellipses, longest_title, before_title, beginnings, is_section_title): take over what the rules say.\n\n"
                         "The first four are arrays of int64.");

static void join_bits(void)
{
    Py_ssize_t i;
    for (i = 0, all_bits = 0; i < bits.length; i++)
        all_bits |= bits.items[i];
}

static PyObject *set_up(PyObject *self, PyObject *args, PyObject *named)
{
    static char *names[] = {"tags",  "bits",  "upward",   "neighbours",    "least_long",   "least_short", "full",
                            "most",  "of",    "far",      "levels",        "width",        "ellipses",    "longest_title",
                            "before_title", "beginnings", "is_section_title", NULL};
    PyObject *tag_table, *bit_table, *shares, *places, *ends, *signs, *starts, *rule;
    (void)self;
    if (!PyArg_ParseTupleAndKeywords(args, named, "$OOOOLLLLLLnnO!LUO!O", names, &tag_table, &bit_table, &shares, &places,
                                     &least_long, &least_short, &full, &most, &of, &far, &levels, &width, &PyTuple_Type, &ends,
                                     &longest_title, &signs, &PyTuple_Type, &starts, &rule))
        return NULL;
    Py_CLEAR(is_section_title);
    Py_XSETREF(ellipses, Py_NewRef(ends));
    Py_XSETREF(before_title, Py_NewRef(signs));
    if (take_numbers(&tags, tag_table) < 0 || take_numbers(&bits, bit_table) < 0 || take_numbers(&upward, shares) < 0 ||
        take_numbers(&neighbours, places) < 0 || take_beginnings(starts) < 0 || check_ellipses() < 0 || check_width() < 0)
        return NULL;
    join_bits();
    is_section_title = Py_NewRef(rule);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"set_up", (PyCFunction)(void (*)(void))set_up, METH_VARARGS | METH_KEYWORDS, set_up_doc},
    {"main_features", main_features, METH_VARARGS, main_features_doc},
    {NULL, NULL, 0, NULL},
};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_main_features", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__main_features(void)
{
    return PyModule_Create(&module);
}
