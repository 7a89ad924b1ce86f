/* A text in the form that is judged, as the detector of words reads it: reading.py is the same in Python, and defines what
   it must return. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../_random_keys.h"
#include "../_forms.h"
#include "../_lower_case.h"
#include "../_token_end.h"
#include "../_word_index.h"

enum { NUMBERS = 1, FIRST = 2 }; /* numbers of all numbers, and of the most frequent word: see vocabulary.py */

typedef Py_ssize_t (*Ending)(const Source *source, Py_ssize_t place, Py_ssize_t end, int *kind);

typedef struct {
    PyObject *form;
    Source source;
    Py_UCS4 *lower; /* the characters of all tokens, in lower case */
    Py_ssize_t characters;
    Token *tokens; /* in `lower` */
    Py_ssize_t count;
    int64_t *begins, *ends, *lower_begins, *numbers, *own;
    char *is_word, *is_mark, *as_written;
    Forms forms;
} Text;

static inline Py_UCS4 at(const Source *source, Py_ssize_t place)
{
    return PyUnicode_READ(source->kind, source->data, place);
}

/* ---- tokens of any language --------------------------------------------------------------------------------------- */

/* As `token_end`, of words of any letters: an apostrophe ends the one before it. */
static Py_ssize_t any_token_end(const Source *source, Py_ssize_t place, Py_ssize_t end, int *kind)
{
    if (!is_any_letter(at(source, place)))
        return token_end(source, place, end, kind);
    *kind = WORD;
    while (place < end && is_any_letter(at(source, place)))
        place++;
    return place + 1 < end && at(source, place) == '\'' && is_any_letter(at(source, place + 1)) ? place + 1 : place;
}

/* ---- lower case --------------------------------------------------------------------------------------------------- */

/* The token's lower case where it is not that of each character alone; how many characters, or -1 with an exception. */
static Py_ssize_t lower_by_python(const Text *text, Py_ssize_t begin, Py_ssize_t end)
{
    PyObject *token = PyUnicode_Substring(text->form, begin, end);
    PyObject *lower = token ? PyObject_CallMethod(token, "lower", NULL) : NULL;
    Py_ssize_t length = lower ? PyUnicode_GET_LENGTH(lower) : -1;
    if (lower && !PyUnicode_AsUCS4(lower, text->lower + text->characters, length, 0))
        length = -1;
    Py_XDECREF(token);
    Py_XDECREF(lower);
    return length;
}

/* Add the token's characters in lower case; how many there are, or -1 with an exception. */
static Py_ssize_t lower_of(const Text *text, Py_ssize_t begin, Py_ssize_t end, char *as_written)
{
    Py_UCS4 *to = text->lower + text->characters;
    *as_written = 1;
    for (Py_ssize_t place = begin; place < end; place++) {
        Py_UCS4 c = at(&text->source, place);
        if (lower_is_hard(c)) {
            *as_written = 0;
            return lower_by_python(text, begin, end);
        }
        *to = is_capital(c) ? c + ('a' - 'A') : c < 128 ? c : Py_UNICODE_TOLOWER(c);
        *as_written &= *to++ == c;
    }
    return end - begin;
}

/* ---- the reading -------------------------------------------------------------------------------------------------- */

static int64_t number_of(const Index *words, const Py_UCS4 *lower, Py_ssize_t length)
{
    Run run = {lower, length};
    int64_t found = find(words, &run, 1);
    return found != UNKNOWN ? found + FIRST - 1 : Py_UNICODE_ISDIGIT(*lower) ? NUMBERS : UNKNOWN;
}

static int add_token(Text *text, const Index *words, Py_ssize_t begin, Py_ssize_t end, int kind)
{
    Py_ssize_t n = text->count, length = lower_of(text, begin, end, &text->as_written[n]);
    const Py_UCS4 *lower = text->lower + text->characters;
    if (length < 0)
        return -1;
    text->tokens[n] = (Token){text->characters, length, 0, kind};
    text->begins[n] = begin;
    text->ends[n] = end;
    text->lower_begins[n] = text->characters;
    text->numbers[n] = number_of(words, lower, length);
    text->is_word[n] = Py_UNICODE_ISALPHA(*lower) != 0;
    text->is_mark[n] = kind == MARK;
    text->characters += length;
    text->count++;
    return 0;
}

static int read_tokens(Text *text, const Index *words, Ending ending)
{
    Py_ssize_t end = text->source.length;
    for (Py_ssize_t place = 0, after; place < end; place = after) {
        int kind;
        after = ending(&text->source, place, end, &kind);
        if (after == place)
            after++;
        else if (add_token(text, words, place, after, kind) < 0)
            return -1;
    }
    text->lower_begins[text->count] = text->characters;
    if (make_forms(&text->forms, text->count) < 0)
        return -1;
    for (Py_ssize_t n = 0; n < text->count; n++)
        text->own[n] = form_of(&text->forms, text->tokens, text->lower, n);
    return 0;
}

/* Room for as many tokens as there are characters; -1 with an exception. */
static int make_room(Text *text)
{
    size_t most = (size_t)text->source.length + 1;
    text->lower = malloc(sizeof(Py_UCS4) * LONGER * most);
    text->tokens = malloc(sizeof(Token) * most);
    text->begins = malloc(sizeof(int64_t) * 5 * most);
    text->is_word = malloc(3 * most);
    if (!text->lower || !text->tokens || !text->begins || !text->is_word) {
        PyErr_NoMemory();
        return -1;
    }
    text->ends = text->begins + most;
    text->lower_begins = text->ends + most;
    text->numbers = text->lower_begins + most;
    text->own = text->numbers + most;
    text->is_mark = text->is_word + most;
    text->as_written = text->is_mark + most;
    return 0;
}

static PyObject *result_of(const Text *text)
{
    Py_ssize_t count = text->count, each = count * (Py_ssize_t)sizeof(int64_t);
    return Py_BuildValue("y#y#y#y#y#y#y#y#y#", text->begins, each, text->ends, each, text->lower,
                         text->characters * (Py_ssize_t)sizeof(Py_UCS4), text->lower_begins,
                         each + (Py_ssize_t)sizeof(int64_t), text->numbers, each, text->own, each, text->is_word, count,
                         text->is_mark, count, text->as_written, count);
}

static PyObject *read_with(PyObject *args, Ending ending)
{
    Text text = {0};
    Index words = {0};
    PyObject *result = NULL;
    if (!PyArg_ParseTuple(args, "UO&", &text.form, to_index, &words))
        return NULL;
    text.source = (Source){PyUnicode_DATA(text.form), PyUnicode_KIND(text.form), PyUnicode_GET_LENGTH(text.form)};
    if (make_room(&text) == 0 && read_tokens(&text, &words, ending) == 0)
        result = result_of(&text);
    free(text.lower);
    free(text.tokens);
    free(text.begins);
    free(text.is_word);
    release_forms(&text.forms);
    release_index(&words);
    return result;
}

PyDoc_STRVAR(english_doc, "english(form, words): the fields of `Tokens` after the form, of a text in English, as bytes.");

static PyObject *english(PyObject *module, PyObject *args)
{
    (void)module;
    return read_with(args, token_end);
}

PyDoc_STRVAR(any_doc, "any(form, words): the same of a text in any language whose words are parted by blanks.");

static PyObject *any(PyObject *module, PyObject *args)
{
    (void)module;
    return read_with(args, any_token_end);
}

static PyMethodDef methods[] = {
    {"english", english, METH_VARARGS, english_doc},
    {"any", any, METH_VARARGS, any_doc},
    {NULL, NULL, 0, NULL},
};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_reading", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__reading(void)
{
    return draw_keys(keys, sizeof keys) < 0 ? NULL : PyModule_Create(&definition);
}
