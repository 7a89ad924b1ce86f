/* What is asked of the addresses of images, compiled. image_source.py, srcset.py, urls.py and image_metadata.py do the same in
 * Python and define what must come out; this file is optional. It reads ASCII alone: other addresses are left to them.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <string.h>

enum { NOTHING, POOR, GOOD }; /* image_source.py */

typedef struct {
    const char *at;
    Py_ssize_t length;
} Text;

static PyObject *placeholders, *placeholder_gifs, *candidate; /* what the Python says: see set_up */
static Py_ssize_t longest;                                    /* placeholder */
static double density;

/* The text of an argument. -1 with an exception where it is not ASCII. */
static int read_text(PyObject *value, Text *text)
{
    if (!PyUnicode_Check(value) || !PyUnicode_IS_COMPACT_ASCII(value)) {
        PyErr_SetString(PyExc_ValueError, "expected text in ASCII");
        return -1;
    }
    *text = (Text){(const char *)PyUnicode_1BYTE_DATA(value), PyUnicode_GET_LENGTH(value)};
    return 0;
}

static int is_space(char c) /* as str.strip() sees it */
{
    return c == ' ' || ('\t' <= c && c <= '\r') || ('\x1c' <= c && c <= '\x1f');
}

static int is_digit(char c)
{
    return '0' <= c && c <= '9';
}

static char lower(char c)
{
    return 'A' <= c && c <= 'Z' ? (char)(c | 0x20) : c;
}

static Text stripped(Text text)
{
    while (text.length && is_space(text.at[0]))
        text.at++, text.length--;
    while (text.length && is_space(text.at[text.length - 1]))
        text.length--;
    return text;
}

static Text up_to(Text text, char mark)
{
    const char *found = memchr(text.at, mark, (size_t)text.length);
    return found ? (Text){text.at, found - text.at} : text;
}

static Text behind_last(Text text, char mark)
{
    Py_ssize_t i = text.length;
    while (i && text.at[i - 1] != mark)
        i--;
    return (Text){text.at + i, text.length - i};
}

/* Whether a text begins, or ends, with a word of small letters, in any case. */
static int is_word(const char *at, const char *word, Py_ssize_t length)
{
    for (Py_ssize_t i = 0; i < length; i++)
        if (lower(at[i]) != word[i])
            return 0;
    return 1;
}

static int begins(Text text, const char *word)
{
    Py_ssize_t length = (Py_ssize_t)strlen(word);
    return text.length >= length && is_word(text.at, word, length);
}

static int ends(Text text, const char *const *words)
{
    for (; *words; words++) {
        Py_ssize_t length = (Py_ssize_t)strlen(*words);
        if (text.length >= length && is_word(text.at + text.length - length, *words, length))
            return 1;
    }
    return 0;
}

/* ---- what an address is good for (image_source.py) ---------------------------------------------------------------- */

static const char *const IMAGE_ENDINGS[] = {".jpg", ".jpeg", ".png", ".webp", ".gif", ".avif", ".bmp", ".jfif", NULL};
static const char *const POOR_ENDINGS[] = {".avif", ".svg", ".jxl", ".heic", NULL};
static const char *const PLACEHOLDER_ENDINGS[] = {".gif", ".png", ".svg", ".jpg", ".webp", NULL};
static const char *const GIF[] = {".gif", NULL};
static const char *const NO_ADDRESSES[] = {"data:", "blob:", "javascript:", "about:", "file:", "#", "{", "[", NULL};

static Text path_of(Text url)
{
    return stripped(up_to(up_to(url, '?'), '#'));
}

/* Whether a path with the ending of a picture has the name of a placeholder; -1 with an exception. */
static int is_placeholder(Text path)
{
    char small[64];
    Text name = behind_last(path, '/');
    PyObject *word;
    int is;
    while (name.length && name.at[name.length - 1] != '.')
        name.length--;
    name.length -= name.length > 0; /* the dot */
    if (name.length > longest)
        return 0;
    for (Py_ssize_t i = 0; i < name.length; i++)
        small[i] = lower(name.at[i]);
    if (!(word = PyUnicode_FromStringAndSize(small, name.length)))
        return -1;
    is = PySet_Contains(ends(path, GIF) ? placeholder_gifs : placeholders, word);
    Py_DECREF(word);
    return is;
}

static PyObject *worth(PyObject *self, PyObject *value)
{
    Text url, path;
    int is = 0;
    (void)self;
    if (read_text(value, &url) < 0)
        return NULL;
    path = path_of(url);
    for (const char *const *beginning = NO_ADDRESSES; *beginning; beginning++)
        is |= begins(path, *beginning);
    if (!path.length || is)
        return PyLong_FromLong(NOTHING);
    if (ends(path, PLACEHOLDER_ENDINGS) && (is = is_placeholder(path)))
        return is < 0 ? NULL : PyLong_FromLong(NOTHING);
    return PyLong_FromLong(ends(path, POOR_ENDINGS) ? POOR : GOOD);
}

static PyObject *looks_like_image(PyObject *self, PyObject *value)
{
    Text url;
    (void)self;
    return read_text(value, &url) < 0 ? NULL : PyBool_FromLong(ends(path_of(url), IMAGE_ENDINGS));
}

/* ---- absolute addresses (urls.py) --------------------------------------------------------------------------------- */

static int is_in_label(char c)
{
    return ('a' <= c && c <= 'z') || is_digit(c) || c == '-';
}

static int is_in_path(char c)
{
    return ('a' <= lower(c) && lower(c) <= 'z') || is_digit(c) || (c && strchr("_%!$&'()*+,;=:@~?-", c));
}

/* Where the host ends that begins at a place: names with dots between, the last one with a letter first, and none in
 * punycode. -1 for any other. */
static Py_ssize_t host_end(Text url, Py_ssize_t at)
{
    Py_ssize_t label = at, dots = 0;
    for (;; at++) {
        int is_dot = at < url.length && url.at[at] == '.';
        if (at < url.length && is_in_label(url.at[at]))
            continue;
        if (at == label || (at - label >= 4 && !memcmp(url.at + label, "xn--", 4)))
            return -1;
        if (!is_dot)
            break;
        dots++;
        label = at + 1;
    }
    return dots && 'a' <= url.at[label] && url.at[label] <= 'z' ? at : -1;
}

static PyObject *is_final(PyObject *self, PyObject *value)
{
    Text url;
    Py_ssize_t at;
    (void)self;
    if (read_text(value, &url) < 0)
        return NULL;
    at = url.length > 8 && !memcmp(url.at, "https://", 8) ? 8 : url.length > 7 && !memcmp(url.at, "http://", 7) ? 7 : -1;
    at = at < 0 ? -1 : host_end(url, at);
    if (at < 0 || at == url.length || url.at[at] != '/')
        Py_RETURN_FALSE;
    for (; at < url.length; at++) {
        char c = url.at[at];
        if (c == '.') /* between two characters of a name, never beside a slash or another dot */
            if (!is_in_path(url.at[at - 1]) || at + 1 == url.length || !is_in_path(url.at[at + 1]))
                Py_RETURN_FALSE;
        if (c != '/' && c != '.' && !is_in_path(c))
            Py_RETURN_FALSE;
    }
    Py_RETURN_TRUE;
}

/* ---- the words of a file's name (image_metadata.py) --------------------------------------------------------------- */

/* Whether a name has a question mark, letters or digits, and an equals sign in a row. */
static int has_query(Text name)
{
    for (Py_ssize_t i = 0; i < name.length; i++)
        if (name.at[i] == '?') {
            Py_ssize_t end = i + 1;
            while (end < name.length && (is_digit(name.at[end]) || ('a' <= lower(name.at[end]) && lower(name.at[end]) <= 'z')))
                end++;
            if (end > i + 1 && end < name.length && name.at[end] == '=')
                return 1;
        }
    return 0;
}

static Py_ssize_t digits_end(const char *text, Py_ssize_t length, Py_ssize_t at)
{
    while (at < length && is_digit(text[at]))
        at++;
    return at;
}

/* Each of these rewrites a text in place and returns its new length, which is never more. */

static Py_ssize_t decode_spaces(char *text, Py_ssize_t length)
{
    Py_ssize_t out = 0;
    for (Py_ssize_t i = 0; i < length;) {
        if (text[i] == '%' && i + 1 < length && text[i + 1] == '2') {
            for (i += 2; i < length && text[i] == '0';)
                i++;
            text[out++] = ' ';
        } else
            text[out++] = text[i++];
    }
    return out;
}

static Py_ssize_t drop_sizes(char *text, Py_ssize_t length)
{
    Py_ssize_t out = 0;
    for (Py_ssize_t i = 0; i < length;) {
        Py_ssize_t end = digits_end(text, length, i);
        if (end > i && end + 1 < length && text[end] == 'x' && is_digit(text[end + 1]))
            i = digits_end(text, length, end + 1);
        else
            for (end += end == i; i < end;)
                text[out++] = text[i++];
    }
    return out;
}

static Py_ssize_t blank_digits(char *text, Py_ssize_t length)
{
    Py_ssize_t out = 0;
    for (Py_ssize_t i = 0; i < length;) {
        Py_ssize_t end = digits_end(text, length, i);
        text[out++] = end > i ? ' ' : text[i];
        i = end > i ? end : i + 1;
    }
    return out;
}

static Py_ssize_t squeeze_spaces(char *text, Py_ssize_t length)
{
    Py_ssize_t out = 0;
    for (Py_ssize_t i = 0; i < length; i++)
        if (text[i] != ' ' || !out || text[out - 1] != ' ')
            text[out++] = text[i];
    return out;
}

static Py_ssize_t blank_marks(char *text, Py_ssize_t length)
{
    Py_ssize_t out = 0;
    for (Py_ssize_t i = 0; i < length; i++) {
        int is_mark = text[i] == '\n' || text[i] == '+' || text[i] == '%';
        int is_two = text[i] == '%' && i + 1 < length && text[i + 1] == 'B';
        text[out++] = is_mark ? ' ' : text[i];
        i += is_two;
    }
    return out;
}

static PyObject *file_words(PyObject *self, PyObject *value)
{
    char small[256], *text = small;
    Text url, name, words;
    Py_ssize_t length;
    PyObject *found;
    (void)self;
    if (read_text(value, &url) < 0)
        return NULL;
    name = up_to(behind_last(url, '/'), '.');
    if (has_query(name))
        Py_RETURN_NONE;
    if (name.length > (Py_ssize_t)sizeof small && !(text = PyMem_Malloc((size_t)name.length)))
        return PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < name.length; i++)
        text[i] = name.at[i] == '_' || name.at[i] == '-' ? ' ' : name.at[i];
    length = decode_spaces(text, name.length);
    length = blank_digits(text, drop_sizes(text, length));
    length = blank_marks(text, squeeze_spaces(text, length));
    words = stripped((Text){text, length});
    found = words.length > 1 ? PyUnicode_FromStringAndSize(words.at, words.length) : Py_NewRef(Py_None);
    if (text != small)
        PyMem_Free(text);
    return found;
}

/* ---- srcset (srcset.py) ------------------------------------------------------------------------------------------- */

enum { MOST_DIGITS = 15 }; /* of a number that is a double as it stands */

/* The width that a descriptor claims, from its whole number of pixels or of densities; -1 for any other descriptor. */
static double width_of(Text descriptor)
{
    double number = 0;
    Py_ssize_t i;
    for (i = 0; i < descriptor.length && is_digit(descriptor.at[i]) && i < MOST_DIGITS; i++)
        number = 10 * number + (descriptor.at[i] - '0');
    if (!i || i == descriptor.length || (i + 1 < descriptor.length && !is_space(descriptor.at[i + 1])))
        return -1;
    return descriptor.at[i] == 'w' ? number : descriptor.at[i] == 'x' ? number * density : -1;
}

/* Add a candidate to a list. -1 with an exception. */
static int add_candidate(PyObject *list, Text url, double width)
{
    PyObject *pair = Py_BuildValue("((s#d))", url.at, url.length, width), *made;
    int failed = -1;
    if (pair && (made = PyTuple_Type.tp_new((PyTypeObject *)candidate, pair, NULL))) {
        failed = PyList_Append(list, made);
        Py_DECREF(made);
    }
    Py_XDECREF(pair);
    return failed;
}

static int is_blank(char c) /* between the parts of a srcset */
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

/* The candidates, or None where a descriptor is not one of those that nearly all are. */
static PyObject *parse_srcset(PyObject *self, PyObject *value)
{
    PyObject *found;
    Text text;
    (void)self;
    if (read_text(value, &text) < 0 || !(found = PyList_New(0)))
        return NULL;
    for (Py_ssize_t at = 0; at < text.length;) {
        Text url;
        double width = density;
        Py_ssize_t start = at;
        if (is_blank(text.at[at]) || text.at[at] == ',') {
            at++;
            continue;
        }
        while (at < text.length && !is_blank(text.at[at]))
            at++;
        url = (Text){text.at + start, at - start};
        if (url.at[url.length - 1] == ',') {
            while (url.at[url.length - 1] == ',') /* its first character is none */
                url.length--;
        } else {
            Text descriptor = stripped(up_to((Text){text.at + at, text.length - at}, ','));
            at += up_to((Text){text.at + at, text.length - at}, ',').length;
            if (descriptor.length && (width = width_of(descriptor)) < 0) {
                Py_DECREF(found);
                Py_RETURN_NONE;
            }
        }
        if (add_candidate(found, url, width) < 0) {
            Py_DECREF(found);
            return NULL;
        }
    }
    return found;
}

/* ---- what Python says --------------------------------------------------------------------------------------------- */

static PyObject *set_placeholders(PyObject *self, PyObject *args)
{
    PyObject *names, *gifs;
    Py_ssize_t most;
    (void)self;
    if (!PyArg_ParseTuple(args, "OOn", &names, &gifs, &most))
        return NULL;
    if (!PyFrozenSet_Check(names) || !PyFrozenSet_Check(gifs) || most < 0 || most > 64)
        return PyErr_Format(PyExc_ValueError, "expected two frozen sets of names of at most 64 characters");
    Py_XSETREF(placeholders, Py_NewRef(names));
    Py_XSETREF(placeholder_gifs, Py_NewRef(gifs));
    longest = most;
    Py_RETURN_NONE;
}

static PyObject *set_candidate(PyObject *self, PyObject *args)
{
    PyObject *type;
    double width;
    (void)self;
    if (!PyArg_ParseTuple(args, "O!d", &PyType_Type, &type, &width))
        return NULL;
    if (!PyType_IsSubtype((PyTypeObject *)type, &PyTuple_Type))
        return PyErr_Format(PyExc_TypeError, "expected a type of tuples");
    Py_XSETREF(candidate, Py_NewRef(type));
    density = width;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"set_placeholders", set_placeholders, METH_VARARGS, "set_placeholders(names, names_of_gifs, longest)"},
    {"set_candidate", set_candidate, METH_VARARGS, "set_candidate(type, width): of tuples of a URL and a width; what 1x is."},
    {"worth", worth, METH_O, "0, 1 or 2: what the address of an image is good for."},
    {"looks_like_image", looks_like_image, METH_O, "Whether a path ends like the name of an image file."},
    {"is_final", is_final, METH_O, "Whether an address is absolute and in its final form."},
    {"file_words", file_words, METH_O, "The words of the name of a file, or None."},
    {"parse_srcset", parse_srcset, METH_O, "The candidates of a srcset; None where Python must read it."},
    {NULL, NULL, 0, NULL},
};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_addresses", NULL, 0, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__addresses(void)
{
    return PyModule_Create(&module);
}
