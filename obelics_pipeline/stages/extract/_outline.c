/* What each text of a simplified tree is by the elements around it, compiled. outline.py does the same in Python and defines
 * what must come out; this file is optional.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

enum { TAG, PARENT, END, WIDTH = 14 };                                      /* tree.py */
enum { OUT, SHOWN, JOINED, IMAGE, TOLD, SILENT };                           /* outline.py: what is at a row */
enum { PARAGRAPH, TITLE, CODE, CAPTION, ITEM, QUOTE, PICTURE, KNOWN, TABLE, LIST_ENDS, POST };
enum { NO_MARK = -2, BULLET = -1 };
enum { IS_NONE, IS_HEADING, IS_LIST, IS_ITEM, IS_DETAIL, IS_CODE, IS_QUOTE, IS_CAPTION, IS_TABLE, IS_ORDERED }; /* a tag's entry */

typedef struct {
    int32_t end, kind;
    int32_t before; /* of a heading: the level around it; of a list: the place of the list around it, -1 for none */
    int32_t number; /* of the last item in a list, BULLET where it has none */
} Open;

typedef struct {
    const int32_t (*rows)[WIDTH];
    const unsigned char *states, *entries;
    const int32_t *posts; /* NULL: there are none */
    Py_ssize_t length, n_entries;
    PyObject *takes_table;
    int32_t *shown; /* rows before each */
    Open *open;
    Py_ssize_t depth, list; /* open elements; the place of the innermost list, -1 for none */
    int32_t depths[IS_CAPTION + 1], level, code, mark, post;
    int32_t (*events)[4];
    Py_ssize_t n_events, room;
} Outline;

/* 0, or -1 with an exception. */
static int add(Outline *o, int32_t what, Py_ssize_t row, int32_t first, int32_t second)
{
    if (o->n_events == o->room) {
        Py_ssize_t room = 2 * o->room + 64;
        void *grown = PyMem_Realloc(o->events, sizeof *o->events * (size_t)room);
        if (!grown) {
            PyErr_NoMemory();
            return -1;
        }
        o->events = grown;
        o->room = room;
    }
    memcpy(o->events[o->n_events++], (int32_t[]){what, (int32_t)row, first, second}, sizeof *o->events);
    return 0;
}

static int is_out(int state)
{
    return state == OUT || state == SILENT;
}

static int entry_of(const Outline *o, Py_ssize_t row)
{
    int32_t tag = o->rows[row][TAG];
    return 0 <= tag && tag < o->n_entries ? o->entries[tag] : IS_NONE;
}

static Py_ssize_t end_of(const Outline *o, Py_ssize_t row)
{
    Py_ssize_t end = o->rows[row][END];
    return end > o->length ? o->length : end <= row ? row + 1 : end;
}

/* End the elements that ended before a row; whether a list in no other did. */
static int close_before(Outline *o, Py_ssize_t row)
{
    int has_list = o->list >= 0;
    while (o->depth && o->open[o->depth - 1].end <= row) {
        const Open *closed = o->open + --o->depth;
        o->depths[closed->kind]--;
        if (closed->kind == IS_HEADING)
            o->level = closed->before;
        else if (closed->kind == IS_LIST)
            o->list = closed->before;
    }
    return has_list && o->list < 0;
}

static int32_t next_mark(Outline *o)
{
    return o->list < 0 || o->open[o->list].number == BULLET ? BULLET : ++o->open[o->list].number;
}

static void open_at(Outline *o, Py_ssize_t row, int entry)
{
    int kind = entry == IS_ORDERED ? IS_LIST : entry & 15;
    Open *opened = o->open + o->depth;
    *opened = (Open){(int32_t)end_of(o, row), kind, 0, entry == IS_ORDERED ? 0 : BULLET};
    o->depths[kind]++;
    if (kind == IS_LIST) {
        opened->before = (int32_t)o->list;
        o->list = o->depth;
    } else if (kind == IS_CODE)
        o->code = (int32_t)row;
    else if (kind == IS_HEADING) {
        opened->before = o->level;
        o->level = entry >> 4;
    } else if (kind == IS_ITEM || kind == IS_DETAIL)
        o->mark = next_mark(o);
    o->depth++;
}

static int add_text(Outline *o, Py_ssize_t row)
{
    const int32_t *depths = o->depths;
    int32_t mark = o->mark;
    if (depths[IS_CODE])
        return add(o, CODE, row, o->code, 0);
    if (depths[IS_HEADING])
        return add(o, TITLE, row, o->level, 0);
    if (depths[IS_CAPTION])
        return add(o, CAPTION, row, 0, 0);
    if (depths[IS_LIST]) {
        o->mark = NO_MARK;
        return add(o, ITEM, row, depths[IS_LIST] - 1 + (depths[IS_DETAIL] > 0), mark);
    }
    return add(o, depths[IS_QUOTE] ? QUOTE : PARAGRAPH, row, 0, 0);
}

/* 1 where a table is taken as one, 0 where not, -1 with an exception. */
static int takes(const Outline *o, Py_ssize_t row)
{
    PyObject *number, *answer;
    int is = -1;
    if (o->depths[IS_CODE])
        return 0;
    if ((number = PyLong_FromSsize_t(row))) {
        if ((answer = PyObject_CallOneArg(o->takes_table, number))) {
            is = PyObject_IsTrue(answer);
            Py_DECREF(answer);
        }
        Py_DECREF(number);
    }
    return is;
}

static int walk(Outline *o)
{
    Py_ssize_t after_table = 0;
    int is;
    for (Py_ssize_t row = 0; row < o->length; row++) {
        int state = o->states[row], entry = entry_of(o, row);
        if (row < after_table || (is_out(state) && (entry == IS_NONE || o->shown[end_of(o, row)] == o->shown[row])))
            continue;
        if (close_before(o, row) && add(o, LIST_ENDS, row, 0, 0) < 0)
            return -1;
        if (o->posts && o->posts[row] != o->post) {
            o->post = o->posts[row];
            if (add(o, POST, row, o->post, 0) < 0)
                return -1;
        }
        if (state == IMAGE || state == TOLD) {
            if (add(o, state == IMAGE ? PICTURE : KNOWN, row, 0, 0) < 0)
                return -1;
        } else if (state == SHOWN) {
            if (add_text(o, row) < 0)
                return -1;
        } else if (entry == IS_TABLE) {
            if ((is = takes(o, row)) < 0 || (is && add(o, TABLE, row, 0, 0) < 0))
                return -1;
            after_table = is ? end_of(o, row) : after_table;
        } else if (state == OUT)
            open_at(o, row, entry);
    }
    return 0;
}

static PyObject *outlined(Outline *o)
{
    PyObject *found = NULL;
    o->shown = PyMem_Malloc(sizeof *o->shown * (size_t)(o->length + 1));
    o->open = PyMem_Malloc(sizeof *o->open * (size_t)(o->length + 1));
    if (!o->shown || !o->open)
        PyErr_NoMemory();
    else {
        o->shown[0] = 0;
        for (Py_ssize_t row = 0; row < o->length; row++)
            o->shown[row + 1] = o->shown[row] + !is_out(o->states[row]);
        if (walk(o) == 0)
            found = PyByteArray_FromStringAndSize((const char *)o->events, o->n_events * (Py_ssize_t)sizeof *o->events);
    }
    PyMem_Free(o->shown);
    PyMem_Free(o->open);
    PyMem_Free(o->events);
    return found;
}

static int is_column(const Py_buffer *buffer, Py_ssize_t length, Py_ssize_t size)
{
    return buffer->ndim == 1 && buffer->shape[0] == length && buffer->itemsize == size;
}

static PyObject *outline(PyObject *self, PyObject *args)
{
    PyObject *objects[3], *takes_table, *found = NULL;
    Py_buffer rows, states, posts = {0}, entries;
    (void)self;
    if (!PyArg_ParseTuple(args, "OOOOy*", &objects[0], &objects[1], &objects[2], &takes_table, &entries))
        return NULL;
    if (PyObject_GetBuffer(objects[0], &rows, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) < 0)
        goto no_rows;
    if (PyObject_GetBuffer(objects[1], &states, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) < 0)
        goto no_states;
    if (objects[2] != Py_None && PyObject_GetBuffer(objects[2], &posts, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) < 0)
        goto no_posts;
    if (rows.ndim != 2 || rows.shape[1] != WIDTH || rows.itemsize != sizeof(int32_t) || rows.shape[0] >= INT32_MAX)
        PyErr_SetString(PyExc_ValueError, "expected rows of int32");
    else if (!is_column(&states, rows.shape[0], 1) || (posts.obj && !is_column(&posts, rows.shape[0], sizeof(int32_t))))
        PyErr_SetString(PyExc_ValueError, "expected a state of a byte, and a post of int32, for each row");
    else {
        Outline o = {.rows = rows.buf, .states = states.buf, .entries = entries.buf, .posts = posts.obj ? posts.buf : NULL,
                     .length = rows.shape[0], .n_entries = entries.len, .takes_table = takes_table, .list = -1,
                     .mark = NO_MARK, .post = -1};
        found = outlined(&o);
    }
    if (posts.obj)
        PyBuffer_Release(&posts);
no_posts:
    PyBuffer_Release(&states);
no_states:
    PyBuffer_Release(&rows);
no_rows:
    PyBuffer_Release(&entries);
    return found;
}

static PyMethodDef methods[] = {
    {"outline", outline, METH_VARARGS, "outline(rows, states, posts, takes_table, entries): what happens, as bytes of four int32 each."},
    {NULL, NULL, 0, NULL},
};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_outline", NULL, 0, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__outline(void)
{
    return PyModule_Create(&module);
}
