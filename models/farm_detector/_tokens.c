/* The first tokens of a text, as the detector of generated text reads them: tokens.py is the same in Python, and defines
   what it must return. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../_random_keys.h"
#include "../_crc32.h"
#include "../_forms.h"
#include "../_lower_case.h"
#include "../_token_end.h"
#include "../_utf8.h"
#include "../_word_index.h"

enum { NOT_FOUND = 1, NUMBERS, LINE, PARAGRAPH, FIRST_WORD = 8 };             /* numbers of words */
enum { BREAK = 1, DIGITS, SIGN, LOWER, CAPITALIZED, UPPER, MIXED };           /* looks */
enum { BY_STEM = 4, NOT_KNOWN = 8 };                                          /* are added to the looks of a word */
enum { ENDINGS = 2048, FIRST_ENDING = 16, ENDING_LETTERS = 3 };               /* rows, and letters */
enum { LONGEST_NUMBER = 8, LONGEST_ENDING = 4, SHORTEST_STEM = 3 };           /* characters */
enum { NUMBERS_OF_A_TOKEN = 3 };

typedef struct {
    int32_t *rows, *forms, *letters, *capitals; /* of each token: rows has three */
    Py_UCS4 *lower;  /* the characters of all words in lower case */
    Py_ssize_t characters, room_of_characters;
    Token *tokens;   /* in `lower`; no characters of what is no word */
    Py_ssize_t count, most;
    Forms known_forms;
} Read;

static inline Py_UCS4 at(const Source *source, Py_ssize_t place)
{
    return PyUnicode_READ(source->kind, source->data, place);
}

/* ---- where tokens end --------------------------------------------------------------------------------------------- */

static int joins(Py_UCS4 c)
{
    return c == '\'' || c == '-' || c == 0x2019;
}

/* The end of the token at a place, which is the place itself where there is none. */
static Py_ssize_t end_of(const Source *source, Py_ssize_t place, Py_ssize_t end)
{
    Py_UCS4 c = at(source, place);
    int kind;
    if (is_any_letter(c)) {
        for (;; place++) {
            while (place < end && is_any_letter(at(source, place)))
                place++;
            if (place + 1 >= end || !joins(at(source, place)) || !is_any_letter(at(source, place + 1)))
                return place;
        }
    }
    if (c == '\n') {
        while (place < end && at(source, place) == '\n')
            place++;
        return place;
    }
    return c == '_' ? place + 1 : token_end(source, place, end, &kind);
}

/* ---- what is known of a token ------------------------------------------------------------------------------------- */

static int32_t number_of(const Index *words, const Py_UCS4 *characters, Py_ssize_t length)
{
    Run run = {characters, length};
    int32_t found = find(words, &run, 1);
    return found == UNKNOWN ? NOT_FOUND : found + FIRST_WORD - 1;
}

/* The row of the last letters of a word. */
static int32_t ending_of(const Py_UCS4 *word, Py_ssize_t length)
{
    char bytes[ENDING_LETTERS * MOST_BYTES];
    Py_ssize_t size = 0;
    for (Py_ssize_t n = length > ENDING_LETTERS ? length - ENDING_LETTERS : 0; n < length; n++)
        size += to_utf8(word[n], bytes + size);
    return FIRST_ENDING + (int32_t)(crc32_of(0, bytes, size) % (ENDINGS - FIRST_ENDING));
}

static int32_t looks_of(const Source *source, Py_ssize_t begin, Py_ssize_t end)
{
    int cased = 0, not_upper = 0, rest_changes = 0;
    for (Py_ssize_t place = begin; place < end; place++) {
        Py_UCS4 c = at(source, place);
        cased |= Py_UNICODE_ISUPPER(c);
        not_upper |= Py_UNICODE_ISLOWER(c) || Py_UNICODE_ISTITLE(c);
        rest_changes |= place > begin && Py_UNICODE_TOLOWER(c) != c;
    }
    if (!rest_changes && Py_UNICODE_TOLOWER(at(source, begin)) == at(source, begin))
        return LOWER;
    if (!rest_changes && Py_UNICODE_ISUPPER(at(source, begin)))
        return CAPITALIZED;
    return cased && !not_upper ? UPPER : MIXED;
}

/* The row of a word in lower case, whose looks these are. */
static void fill_row(const Index *words, const Py_UCS4 *word, Py_ssize_t length, int32_t looks, int32_t *row)
{
    Py_ssize_t most = length - SHORTEST_STEM < LONGEST_ENDING ? length - SHORTEST_STEM : LONGEST_ENDING;
    row[0] = number_of(words, word, length);
    row[1] = ending_of(word, length);
    row[2] = looks;
    if (row[0] != NOT_FOUND)
        return;
    for (Py_ssize_t letters = 1; letters <= most && row[0] == NOT_FOUND; letters++)
        row[0] = number_of(words, word, length - letters);
    row[2] += row[0] == NOT_FOUND ? NOT_KNOWN : BY_STEM;
}

/* A word whose lower case depends on what stands around a letter, or is longer: -1 with an exception. */
static int add_by_python(Read *read, PyObject *hard, PyObject *token, Py_ssize_t *length)
{
    Py_ssize_t n = read->count;
    int32_t *row = read->rows + NUMBERS_OF_A_TOKEN * n;
    PyObject *found = token ? PyObject_CallOneArg(hard, token) : NULL, *word;
    int fine = found && PyTuple_Check(found) && PyArg_ParseTuple(found, "iiiU", &row[0], &row[1], &row[2], &word);
    if (found && !PyTuple_Check(found))
        PyErr_SetString(PyExc_TypeError, "no tuple of a row and a word");
    *length = fine ? PyUnicode_GET_LENGTH(word) : 0;
    fine = fine && PyUnicode_AsUCS4(word, read->lower + read->characters, *length, 0);
    Py_XDECREF(found);
    Py_XDECREF(token);
    return fine ? 0 : -1;
}

static int add_word(Read *read, const Source *source, PyObject *text, const Index *words, PyObject *hard, Py_ssize_t begin,
                    Py_ssize_t end)
{
    Py_UCS4 *lower = read->lower + read->characters;
    Py_ssize_t length = end - begin, n = read->count;
    int is_hard = 0;
    for (Py_ssize_t place = begin; place < end; place++) {
        Py_UCS4 c = at(source, place);
        is_hard |= lower_is_hard(c);
        lower[place - begin] = c == 0x2019 ? '\'' : Py_UNICODE_TOLOWER(c);
    }
    if (!is_hard)
        fill_row(words, lower, length, looks_of(source, begin, end), read->rows + NUMBERS_OF_A_TOKEN * n);
    else if (add_by_python(read, hard, PyUnicode_Substring(text, begin, end), &length) < 0)
        return -1;
    read->tokens[n] = (Token){read->characters, length, 0, WORD};
    read->characters += length;
    read->letters[n] = (int32_t)length;
    return 0;
}

/* What is no word: a break, a number or a mark. */
static void add_other(Read *read, const Source *source, const Index *words, Py_ssize_t begin, Py_ssize_t end)
{
    Py_UCS4 c = at(source, begin), *mark = read->lower + read->characters;
    Py_ssize_t length = end - begin, n = read->count;
    int32_t *row = read->rows + NUMBERS_OF_A_TOKEN * n;
    row[1] = 0;
    if (c == '\n') {
        row[0] = length == 1 ? LINE : PARAGRAPH;
        row[2] = BREAK;
    } else if (Py_UNICODE_ISDIGIT(c)) {
        row[0] = NUMBERS;
        row[1] = (int32_t)(length < LONGEST_NUMBER ? length : LONGEST_NUMBER);
        row[2] = DIGITS;
    } else {
        for (Py_ssize_t place = begin; place < end; place++)
            mark[place - begin] = at(source, place);
        row[0] = number_of(words, mark, length);
        row[2] = SIGN;
    }
    read->tokens[n] = (Token){read->characters, 0, 0, MARK};
    read->letters[n] = 0;
}

/* ---- the reading -------------------------------------------------------------------------------------------------- */

/* Room for the characters of one more token, of which lower case has at most three for one. */
static int make_room(Read *read, Py_ssize_t length)
{
    Py_ssize_t room = read->characters + LONGER * length;
    Py_UCS4 *grown;
    if (room <= read->room_of_characters)
        return 0;
    grown = realloc(read->lower, sizeof(Py_UCS4) * 2 * (size_t)room);
    if (!grown) {
        PyErr_NoMemory();
        return -1;
    }
    read->lower = grown;
    read->room_of_characters = 2 * room;
    return 0;
}

static int read_tokens(Read *read, PyObject *text, const Index *words, PyObject *hard)
{
    Source source = {PyUnicode_DATA(text), PyUnicode_KIND(text), PyUnicode_GET_LENGTH(text)};
    for (Py_ssize_t place = 0, end; place < source.length && read->count < read->most; place = end) {
        end = end_of(&source, place, source.length);
        if (end == place) {
            end++;
            continue;
        }
        if (make_room(read, end - place) < 0)
            return -1;
        if (!Py_UNICODE_ISALPHA(at(&source, place)))
            add_other(read, &source, words, place, end);
        else if (add_word(read, &source, text, words, hard, place, end) < 0)
            return -1;
        read->capitals[read->count++] = Py_UNICODE_ISUPPER(at(&source, place)) != 0;
    }
    if (make_forms(&read->known_forms, read->count) < 0)
        return -1;
    for (Py_ssize_t n = 0; n < read->count; n++)
        read->forms[n] = form_of(&read->known_forms, read->tokens, read->lower, n);
    return 0;
}

PyDoc_STRVAR(read_doc, "read(text, most, words, hard): the fields of `Read` of so many first tokens, as bytes. hard(token) gives the\n"
                       "row of a word, and the word in lower case, where C cannot tell these.");

static PyObject *read_text(PyObject *module, PyObject *args)
{
    Read read = {0};
    Index words = {0};
    PyObject *text, *hard, *result = NULL;
    (void)module;
    if (!PyArg_ParseTuple(args, "UnO&O", &text, &read.most, to_index, &words, &hard))
        return NULL;
    Py_ssize_t length = PyUnicode_GET_LENGTH(text);
    read.most = read.most < 0 ? 0 : read.most < length ? read.most : length;
    size_t each = sizeof(int32_t) * (size_t)(read.most + 1);
    read.rows = malloc((NUMBERS_OF_A_TOKEN + 3) * each);
    read.tokens = malloc(sizeof(Token) * (size_t)(read.most + 1));
    if (read.rows && read.tokens) {
        read.forms = read.rows + NUMBERS_OF_A_TOKEN * (read.most + 1);
        read.letters = read.forms + read.most + 1;
        read.capitals = read.letters + read.most + 1;
        if (read_tokens(&read, text, &words, hard) == 0) {
            Py_ssize_t bytes = read.count * (Py_ssize_t)sizeof(int32_t);
            result = Py_BuildValue("y#y#y#y#", read.rows, NUMBERS_OF_A_TOKEN * bytes, read.forms, bytes, read.letters, bytes,
                                   read.capitals, bytes);
        }
    } else {
        PyErr_NoMemory();
    }
    free(read.rows);
    free(read.tokens);
    free(read.lower);
    release_forms(&read.known_forms);
    release_index(&words);
    return result;
}

static PyMethodDef methods[] = {{"read", read_text, METH_VARARGS, read_doc}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_tokens", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__tokens(void)
{
    make_crc32_table();
    return draw_keys(keys, sizeof keys) < 0 ? NULL : PyModule_Create(&definition);
}
