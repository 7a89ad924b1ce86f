/* What a page must be searched for before it is simplified, by one walk over its tree (survey.py), and the calls that it
 * finds are hidden (calls.py, which does the same in Python and defines what must come out). This file is optional.
 *
 * An answer may be yes where a search then finds nothing, never no where it would find something. Nothing recurses, and
 * what is looked at around a call is bounded as in Python.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

#include "../_lexbor.h"

enum { FRAMES = 1, STREAMED = 2, PANELS = 4, FORMULAS = 8, SIGNS = 16, CODE = 32 }; /* survey.py */
enum { OTHER, FRAME, MAIN, TEMPLATE, MATH, SCRIPT, IMG, LINK, INPUT, PRE, FORM, KIND = 15 };          /* of a tag */
enum { IS_TITLE = 16, INLINE = 32, SILENT = 64, OF_BUTTON = 128, TOLD = 256 };                        /* and more of it */
enum { CLASS = 1, HREF, HIDDEN, ID, LABELLED_BY, ROLE, SRC, STYLE, TYPE, OPENS, KNOWN, UNKNOWN = KNOWN }; /* attributes */
enum { MOST_CALLS = 2000, MOST_BESIDE = 20, MOST_ABOVE = 5, MOST_INSIDE = 50, DEEPEST = 30, LONGEST_FORM = 1500 }; /* calls.py */

#define MAX_TAGS 1024
#define STATIC_NAMES 256 /* Lexbor numbers the names it knows from 1; of others the number is an address */
#define MOST_SIBLINGS 10 /* as in panels.py, before which an element is still looked at */

static uint16_t kinds[MAX_TAGS];
static byte numbered[STATIC_NAMES]; /* the attribute of each number; 0: not looked up yet */
static uintptr_t text_tag;
static PyObject *inline_names, *button_names; /* of tags without a number */
static PyObject *is_button_class, *strip_name; /* asked of what is not ASCII */

typedef struct {
    const byte *bytes; /* NULL for an attribute without a value */
    size_t length;
    int present;
} Value;

static int by_name(Attribute *attribute)
{
    static const char *const names[KNOWN] = {"",   "class", "href",  "hidden", "id", "aria-labelledby", "role",
                                             "src", "style", "type", "aria-expanded"};
    static const char *const opens[] = {"aria-controls", "data-toggle", "data-bs-toggle"};
    size_t i, length = 0;
    const byte *name = lexbor.attribute_name(attribute, &length);
    int known;
    for (known = CLASS; name && known < KNOWN; known++)
        if (length == strlen(names[known]) && !memcmp(name, names[known], length))
            return known;
    for (i = 0; name && i < sizeof opens / sizeof *opens; i++)
        if (length == strlen(opens[i]) && !memcmp(name, opens[i], length))
            return OPENS;
    return UNKNOWN;
}

/* An attribute is a node, whose tag is the number of its name. */
static int number_of(Attribute *attribute)
{
    uintptr_t number = lexbor.tag((Node *)attribute);
    if (number >= STATIC_NAMES)
        return by_name(attribute);
    if (!numbered[number])
        numbered[number] = (byte)by_name(attribute);
    return numbered[number];
}

static byte lower(byte c)
{
    return 'A' <= c && c <= 'Z' ? c + ('a' - 'A') : c;
}

/* Where a word stands in any case, the end of the value where it does not. */
static size_t find(const Value *value, size_t at, const char *word)
{
    size_t i, length = strlen(word);
    for (; at + length <= value->length; at++) {
        for (i = 0; i < length && lower(value->bytes[at + i]) == (byte)word[i];)
            i++;
        if (i == length)
            return at;
    }
    return value->length;
}

static int has(const Value *value, const char *word)
{
    return find(value, 0, word) < value->length;
}

static int begins(const Value *value, const char *word)
{
    Value beginning = {value->bytes, strlen(word), 1};
    return value->length >= beginning.length && has(&beginning, word);
}

static void read_attributes(Node *node, Value values[KNOWN])
{
    Attribute *attribute = lexbor.type(node) == ELEMENT_NODE ? lexbor.first_attribute(node) : NULL;
    memset(values, 0, KNOWN * sizeof(Value));
    for (; attribute; attribute = lexbor.next_attribute(attribute)) {
        int number = number_of(attribute);
        if (number == UNKNOWN)
            continue;
        values[number].present = 1;
        values[number].bytes = lexbor.attribute_value(attribute, &values[number].length);
        if (!values[number].bytes)
            values[number].length = 0;
    }
}

/* ---- what is asked of an element ---------------------------------------------------------------------------------- */

static int kind_of(uintptr_t tag)
{
    return tag < MAX_TAGS ? kinds[tag] : OTHER;
}

static int follows_title(Node *node)
{
    Node *before = lexbor.previous(node);
    int passed;
    for (passed = 0; before && lexbor.type(before) != ELEMENT_NODE && passed < MOST_SIBLINGS; passed++)
        before = lexbor.previous(before);
    return before && kind_of(lexbor.tag(before)) & IS_TITLE;
}

static int may_name_panel(const Value *value)
{
    return value->length > 2 && (has(value, "tab") || has(value, "accordion") || has(value, "collaps") || has(value, "expander") ||
                                 has(value, "faq") || has(value, "toggle"));
}

static int may_be_panel(Node *node, const Value values[])
{
    if (!values[HIDDEN].present && !has(&values[STYLE], "none"))
        return 0;
    return values[LABELLED_BY].present || has(&values[ROLE], "tabpanel") || may_name_panel(&values[CLASS]) ||
           may_name_panel(&values[ID]) || follows_title(node);
}

static int may_be_formula(const Value values[])
{
    return has(&values[CLASS], "tex") || has(&values[CLASS], "mwe-math") || has(&values[CLASS], "ql-img") ||
           has(&values[SRC], "latex");
}

/* Whether text has a letter or a digit: 1, a sign: 2, both: 3, or nothing but spaces. */
static int read_text(Node *node)
{
    size_t i, length = 0;
    const byte *bytes = lexbor.type(node) == TEXT_NODE ? lexbor.copy_text(node, &length) : NULL;
    PyObject *text;
    int read = 0;
    for (i = 0; bytes && i < length; i++) {
        if (bytes[i] >= 0x80)
            break;
        read |= Py_ISALNUM(bytes[i]) ? 1 : bytes[i] > ' ' ? 2 : 0;
        if (read & 1)
            return read;
    }
    if (!bytes || i == length)
        return read;
    text = PyUnicode_DecodeUTF8((const char *)bytes, (Py_ssize_t)length, "replace");
    if (!text) {
        PyErr_Clear();
        return 2;
    }
    for (i = 0; i < (size_t)PyUnicode_GET_LENGTH(text); i++)
        read |= Py_UNICODE_ISALNUM(PyUnicode_READ_CHAR(text, (Py_ssize_t)i)) ? 1 : 2;
    Py_DECREF(text);
    return read;
}

/* ---- calls (calls.py) --------------------------------------------------------------------------------------------- */

static int is_space(byte c)
{
    return c == ' ' || ('\t' <= c && c <= '\r') || (0x1C <= c && c <= 0x1F);
}

static int ends_name(const Value *value, size_t at)
{
    return at >= value->length || is_space(value->bytes[at]) || value->bytes[at] == '_' || value->bytes[at] == '-';
}

/* Whether a class has btn or button as a part; -1 with an exception. Python is asked where it is not ASCII. */
static int names_button(const Value *value)
{
    static const char *const words[] = {"btn", "button"};
    size_t i, at;
    for (i = 0; i < value->length; i++)
        if (value->bytes[i] >= 0x80) {
            PyObject *text = PyUnicode_DecodeUTF8((const char *)value->bytes, (Py_ssize_t)value->length, "replace");
            PyObject *answer = text ? PyObject_CallOneArg(is_button_class, text) : NULL;
            int is = answer ? PyObject_IsTrue(answer) : -1;
            Py_XDECREF(text);
            Py_XDECREF(answer);
            return is;
        }
    for (i = 0; i < sizeof words / sizeof *words; i++)
        for (at = find(value, 0, words[i]); at < value->length; at = find(value, at + 1, words[i]))
            if ((!at || ends_name(value, at - 1)) && ends_name(value, at + strlen(words[i])))
                return 1;
    return 0;
}

static int is_exactly(const Value *value, const char *text)
{
    return value->length == strlen(text) && !memcmp(value->bytes, text, value->length);
}

/* Whether a link is drawn as a button, and leads to another page. */
static int is_button(const Value values[KNOWN])
{
    const Value *href = &values[HREF];
    if (values[OPENS].present || !href->length || href->bytes[0] == '#' ||
        (href->length >= 11 && !memcmp(href->bytes, "javascript:", 11)))
        return 0;
    return is_exactly(&values[ROLE], "button") || names_button(&values[CLASS]);
}

static int is_email(const Value values[KNOWN])
{
    return values[TYPE].length == 5 && has(&values[TYPE], "email"); /* in any case, as selectors compare types */
}

/* Characters of a text without white space around; -1 with an exception. */
static Py_ssize_t shown_length(Node *node)
{
    size_t length = 0, i;
    const byte *bytes = lexbor.copy_text(node, &length);
    PyObject *text, *stripped;
    Py_ssize_t shown;
    for (i = 0; bytes && i < length && is_space(bytes[i]);)
        i++;
    if (!bytes || i == length)
        return 0;
    text = PyUnicode_DecodeUTF8((const char *)bytes, (Py_ssize_t)length, "replace");
    stripped = text ? PyObject_CallMethodNoArgs(text, strip_name) : NULL;
    shown = stripped ? PyUnicode_GET_LENGTH(stripped) : -1;
    Py_XDECREF(text);
    Py_XDECREF(stripped);
    return shown;
}

/* Whether an element has a flag; one whose tag has no number, whether its name is among those given. */
static int is_among(Node *node, int flag, PyObject *others)
{
    uintptr_t tag = lexbor.tag(node);
    size_t length = 0;
    const byte *name;
    PyObject *text;
    int is;
    if (tag < MAX_TAGS)
        return (kinds[tag] & flag) != 0;
    name = lexbor.type(node) == ELEMENT_NODE ? lexbor.name(node, &length) : NULL;
    text = name ? PyUnicode_DecodeUTF8((const char *)name, (Py_ssize_t)length, "replace") : NULL;
    is = text ? PySet_Contains(others, text) : name ? -1 : 0;
    Py_XDECREF(text);
    return is;
}

/* The node behind another in the subtree of `root`, NULL behind the last. */
static Node *following(Node *node, Node *root)
{
    Node *next = lexbor.first_child(node);
    while (!next) {
        if (node == root)
            return NULL;
        if (!(next = lexbor.next(node)) && !(node = lexbor.parent(node)))
            return NULL;
    }
    return next;
}

/* Whether a link holds a line of text and nothing else. */
static int is_plain(Node *link)
{
    Node *node;
    int number = 0, is;
    for (node = following(link, link); node; node = following(node, link)) {
        if (lexbor.type(node) == TEXT_NODE)
            continue;
        if (++number > MOST_INSIDE)
            return 0;
        if (lexbor.type(node) != ELEMENT_NODE)
            return 0;
        if ((is = is_among(node, OF_BUTTON, button_names)) <= 0)
            return is;
    }
    return 1;
}

static int is_silent(Node *node)
{
    int type = lexbor.type(node), kind;
    Value values[KNOWN];
    if (type == TEXT_NODE) {
        Py_ssize_t length = shown_length(node);
        return length < 0 ? -1 : !length;
    }
    if (type != ELEMENT_NODE)
        return 1;
    kind = kind_of(lexbor.tag(node));
    if (kind & SILENT)
        return 1;
    if ((kind & KIND) != LINK)
        return 0;
    read_attributes(node, values);
    return is_button(values);
}

/* Whether its block has no other text than that of buttons. */
static int stands_alone(Node *node)
{
    int level, seen, is = 1;
    for (level = 0; level < MOST_ABOVE; level++) {
        Node *beside = lexbor.previous(node), *above;
        for (seen = 0; beside && seen < MOST_BESIDE; seen++, beside = lexbor.previous(beside))
            if ((is = is_silent(beside)) <= 0)
                return is;
        beside = lexbor.next(node);
        for (seen = 0; beside && seen < MOST_BESIDE; seen++, beside = lexbor.next(beside))
            if ((is = is_silent(beside)) <= 0)
                return is;
        above = lexbor.parent(node);
        if (!above)
            return 0;
        if ((is = is_among(above, INLINE, inline_names)) < 0)
            return is;
        if (!is)
            return !(kind_of(lexbor.tag(above)) & TOLD);
        node = above;
    }
    return 0;
}

static int hide_form(Node *input)
{
    Node *form = lexbor.parent(input), *node;
    Py_ssize_t left = LONGEST_FORM;
    int level;
    for (level = 0; form && level < DEEPEST && (kind_of(lexbor.tag(form)) & KIND) != FORM; level++)
        form = lexbor.parent(form);
    if (!form || level == DEEPEST)
        return 0;
    for (node = form; node; node = following(node, form)) {
        Py_ssize_t length = lexbor.type(node) == TEXT_NODE ? shown_length(node) : 1;
        if (length < 0)
            return -1;
        if ((left -= length) < 0)
            return 0;
    }
    if (!lexbor.set_attribute(form, (const byte *)"hidden", 6, (const byte *)"", 0)) {
        PyErr_NoMemory();
        return -1;
    }
    return 0;
}

/* The link stays, for what a page links to tells of it. What was in it is taken out of the tree, and not freed. */
static int empty_button(Node *link)
{
    Node *child;
    int is = is_plain(link);
    if (is > 0)
        is = stands_alone(link);
    if (is > 0)
        while ((child = lexbor.first_child(link)))
            lexbor.remove(child);
    return is < 0 ? -1 : 0;
}

/* ---- the walk ----------------------------------------------------------------------------------------------------- */

typedef struct {
    int found;
    int frames;   /* that are open */
    Node *anchor; /* the open link within the page */
    int text;     /* of it, see read_text */
    PyObject *calls; /* list of addresses */
} Page;

static int note_call(Page *page, Node *node)
{
    PyObject *address;
    int result;
    if (PyList_GET_SIZE(page->calls) >= MOST_CALLS)
        return 0;
    address = PyLong_FromVoidPtr(node);
    result = address ? PyList_Append(page->calls, address) : -1;
    Py_XDECREF(address);
    return result;
}

static int enter(Page *page, Node *node, uintptr_t tag)
{
    Value values[KNOWN];
    int kind = kind_of(tag) & KIND, is_call;
    page->frames += kind == FRAME;
    if (kind == MAIN && page->frames)
        page->found |= FRAMES;
    if (kind == PRE)
        page->found |= CODE;
    if (kind == MATH)
        page->found |= FORMULAS;
    if (!lexbor.first_attribute(node))
        return 0;
    read_attributes(node, values);
    if ((values[HIDDEN].present || values[STYLE].length) && may_be_panel(node, values))
        page->found |= PANELS;
    if (kind == IMG && may_be_formula(values))
        page->found |= FORMULAS;
    if (kind == SCRIPT && begins(&values[TYPE], "math/tex"))
        page->found |= FORMULAS;
    if (kind == TEMPLATE && values[ID].present)
        page->found |= STREAMED;
    is_call = kind == INPUT ? is_email(values) : kind == LINK ? is_button(values) : 0;
    if (is_call < 0 || (is_call && note_call(page, node) < 0))
        return -1;
    if (kind == LINK && values[HREF].length && values[HREF].bytes[0] == '#') {
        if (page->anchor)
            page->found |= SIGNS; /* one in another: rare, and not told apart here */
        else
            page->anchor = node, page->text = 0;
    }
    return 0;
}

static void leave(Page *page, Node *node, uintptr_t tag)
{
    page->frames -= (kind_of(tag) & KIND) == FRAME;
    if (node == page->anchor) {
        if (page->text == 2)
            page->found |= SIGNS;
        page->anchor = NULL;
    }
}

/* Walk the tree under a node. -1 with an exception. */
static int visit(Page *page, Node *root)
{
    Node *node = root, *next;
    for (;;) {
        uintptr_t tag = lexbor.tag(node);
        int is_element = 0;
        if (tag == text_tag) {
            if (page->anchor && !(page->text & 1))
                page->text |= read_text(node);
        } else if (lexbor.type(node) == ELEMENT_NODE) {
            is_element = 1;
            if (enter(page, node, tag) < 0)
                return -1;
        }
        if ((next = lexbor.first_child(node))) {
            node = next;
            continue;
        }
        if (is_element)
            leave(page, node, tag);
        while (node != root && !(next = lexbor.next(node))) {
            if (!(node = lexbor.parent(node)))
                return 0;
            leave(page, node, lexbor.tag(node));
        }
        if (node == root)
            return 0;
        node = next;
    }
}

/* ---- from and to Python ------------------------------------------------------------------------------------------- */

static PyObject *survey(PyObject *self, PyObject *args)
{
    unsigned long long address;
    Page page = {0};
    (void)self;
    if (!PyArg_ParseTuple(args, "K", &address))
        return NULL;
    if (!text_tag)
        return PyErr_Format(PyExc_RuntimeError, "set_up comes first");
    page.calls = PyList_New(0);
    if (!page.calls || visit(&page, (Node *)(uintptr_t)address) < 0) {
        Py_XDECREF(page.calls);
        return NULL;
    }
    return Py_BuildValue("iN", page.found, page.calls);
}

static PyObject *hide_calls(PyObject *self, PyObject *calls)
{
    Py_ssize_t i;
    (void)self;
    if (!PyList_Check(calls))
        return PyErr_Format(PyExc_TypeError, "expected a list of addresses");
    for (i = 0; i < PyList_GET_SIZE(calls); i++) {
        Node *node = PyLong_AsVoidPtr(PyList_GET_ITEM(calls, i));
        if (!node && PyErr_Occurred())
            return NULL;
        if (((kind_of(lexbor.tag(node)) & KIND) == INPUT ? hide_form(node) : empty_button(node)) < 0)
            return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *set_up(PyObject *self, PyObject *args)
{
    const char *path;
    PyObject *table, *inlines, *buttons, *is_button;
    unsigned long text;
    (void)self;
    if (!PyArg_ParseTuple(args, "sSkO!O!O", &path, &table, &text, &PyFrozenSet_Type, &inlines, &PyFrozenSet_Type, &buttons, &is_button) ||
        find_lexbor(path) < 0)
        return NULL;
    if (PyBytes_GET_SIZE(table) != sizeof kinds)
        return PyErr_Format(PyExc_ValueError, "expected %d tags of two bytes", MAX_TAGS);
    memcpy(kinds, PyBytes_AS_STRING(table), sizeof kinds);
    text_tag = text;
    Py_XSETREF(inline_names, Py_NewRef(inlines));
    Py_XSETREF(button_names, Py_NewRef(buttons));
    Py_XSETREF(is_button_class, Py_NewRef(is_button));
    Py_RETURN_NONE;
}

PyDoc_STRVAR(set_up_doc, "set_up(path, kinds, text_tag, inline_names, button_names, is_button_class): find Lexbor in the module at `path`; what each tag is.");
PyDoc_STRVAR(survey_doc, "survey(address): what the tree under the node at `address`, which must be alive, may have, and its calls' addresses.");
PyDoc_STRVAR(hide_doc, "hide_calls(addresses): hide those that are calls, of nodes that are alive.");

static PyMethodDef methods[] = {
    {"set_up", set_up, METH_VARARGS, set_up_doc},
    {"survey", survey, METH_VARARGS, survey_doc},
    {"hide_calls", hide_calls, METH_O, hide_doc},
    {NULL, NULL, 0, NULL},
};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_survey", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__survey(void)
{
    strip_name = PyUnicode_InternFromString("strip");
    return strip_name ? PyModule_Create(&module) : NULL;
}
