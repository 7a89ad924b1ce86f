/* A text as the detector of coherence reads it: whole numbers that are counted, and the traits of its sentences.
   sentences.py and counts.py are the same in Python, and define what it must return.

   Words are told apart by comparing their characters; a hash only chooses where to look. That of the words of a text
   has keys drawn at random per process, so that no text can be prepared whose words collide. That of the traits, which
   do not change, has none. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../_random_keys.h"
#include "../_forms.h"
#include "../_token_end.h"
#include "../_word_index.h"
#include "_tokens.h"
#include "_counts.h"

/* ---- traits ------------------------------------------------------------------------------------------------------- */

/* Whether a token is told as `#`, as all numbers and that mark are. */
static int is_number(const Text *text, Py_ssize_t token)
{
    return text->tokens[token].kind == NUMBER || is_mark(text, token, '#');
}

static Run run_of(const Text *text, Py_ssize_t token)
{
    static const Py_UCS4 number = '#';
    const Token *one = &text->tokens[token];
    return is_number(text, token) ? (Run){&number, 1} : (Run){text->lower + one->begin, one->length};
}

static int64_t found_with(const Index *traits, Py_UCS4 mark, const Run *runs, int many)
{
    static const Py_UCS4 blank = ' ';
    Run all[4];
    int count = 0;
    all[count++] = (Run){&mark, 1};
    for (int n = 0; n < many; n++) {
        if (n)
            all[count++] = (Run){&blank, 1};
        all[count++] = runs[n];
    }
    return find(traits, all, count);
}

static int64_t *add_trait(int64_t *to, int64_t trait)
{
    if (trait != UNKNOWN)
        *to++ = trait;
    return to;
}

/* The different words of a sentence, and what tells its first two. `seen` holds, of each form and of all numbers
   (last), the last sentence with it. */
static int64_t *add_words(const Text *text, Py_ssize_t sentence, const Index *traits, int32_t *seen, int64_t *to)
{
    Run first[2];
    int words = 0;
    for (Py_ssize_t at = text->begins[sentence]; at < text->begins[sentence + 1]; at++) {
        const Token *token = &text->tokens[at];
        int32_t form = is_number(text, at) ? text->forms.count : token->form;
        Run run = run_of(text, at);
        if (token->kind != WORD && !is_number(text, at))
            continue;
        if (words < 2)
            first[words++] = run;
        if (seen[form] != (int32_t)sentence)
            to = add_trait(to, find(traits, &run, 1));
        seen[form] = (int32_t)sentence;
    }
    to = add_trait(to, found_with(traits, '^', first, 1));
    return add_trait(to, found_with(traits, '^', first, words));
}

/* What it ends with and begins with, how long it is, and whether a quote is open before and after it. */
static int64_t *add_form(const Text *text, Py_ssize_t sentence, const Index *traits, int open, int64_t *to)
{
    Py_ssize_t begin = text->begins[sentence], end = text->begins[sentence + 1];
    Run first = run_of(text, begin), last = run_of(text, end - 1);
    Py_UCS4 length = '0', open_after = open, quotes[2];
    int words = 0;
    for (Py_ssize_t at = begin; at < end; at++) {
        words += text->tokens[at].kind == WORD || is_number(text, at);
        open_after ^= is_mark(text, at, '"');
    }
    while (words && length < '0' + LONGEST)
        length++, words >>= 1;
    quotes[0] = '0' + open;
    quotes[1] = '0' + open_after;
    to = add_trait(to, found_with(traits, '$', &last, 1));
    to = add_trait(to, found_with(traits, '<', &first, text->tokens[begin].kind == MARK));
    to = add_trait(to, found_with(traits, 'L', &(Run){&length, 1}, 1));
    return add_trait(to, found_with(traits, '"', &(Run){quotes, 2}, 1));
}

/* The numbers of all sentences' traits, one after the other, and where each begins; NULL with an exception. */
static PyObject *traits_of(const Text *text, const Index *traits)
{
    Py_ssize_t most = text->count + 7 * text->sentences;
    int64_t *numbers = malloc(sizeof(int64_t) * (size_t)(most + text->sentences)), *to = numbers;
    int64_t *begins = numbers + most;
    int32_t *seen = malloc(sizeof(int32_t) * (size_t)(text->forms.count + 1));
    PyObject *result = NULL;
    int open = 0;
    if (!numbers || !seen) {
        PyErr_NoMemory();
        goto end;
    }
    memset(seen, -1, sizeof(int32_t) * (size_t)(text->forms.count + 1));
    for (Py_ssize_t sentence = 0; sentence < text->sentences; sentence++) {
        int64_t *begin = to;
        open = text->begins_line[sentence] ? 0 : open;
        begins[sentence] = begin - numbers;
        to = add_words(text, sentence, traits, seen, to);
        to = add_form(text, sentence, traits, open, to);
        if (to == begin)
            *to++ = UNKNOWN;
        for (Py_ssize_t at = text->begins[sentence]; at < text->begins[sentence + 1]; at++)
            open ^= is_mark(text, at, '"');
    }
    result = Py_BuildValue("y#y#", numbers, (char *)to - (char *)numbers, begins,
                           (Py_ssize_t)sizeof(int64_t) * text->sentences);
end:
    free(numbers);
    free(seen);
    return result;
}

/* ---- the module --------------------------------------------------------------------------------------------------- */

PyDoc_STRVAR(read_doc, "read(text, traits, grammar, words, fewest): counts, the traits of sentences and where each begins;\n"
                       "of the sentences of so many first words, and None of fewer sentences. Both indexes are tuples\n"
                       "(characters, begins, slots).");

static PyObject *read_text(PyObject *module, PyObject *args)
{
    Index traits = {0}, grammar = {0};
    PyObject *given, *result = NULL, *counted = NULL, *found = NULL;
    Py_ssize_t words, fewest;
    Text text = {0};
    (void)module;
    if (!PyArg_ParseTuple(args, "UO&O&nn", &given, to_index, &traits, to_index, &grammar, &words, &fewest))
        return NULL;
    if (read_sentences(&text, given, words) < 0)
        goto end;
    if (text.sentences < fewest || text.sentences < 1) {
        result = Py_NewRef(Py_None);
        goto end;
    }
    counted = count(&text, &grammar);
    found = counted ? traits_of(&text, &traits) : NULL;
    result = found ? PyTuple_Pack(2, counted, found) : NULL;
end:
    Py_XDECREF(counted);
    Py_XDECREF(found);
    release_text(&text);
    release_index(&traits);
    release_index(&grammar);
    return result;
}

static PyMethodDef methods[] = {
    {"read", read_text, METH_VARARGS, read_doc},
    {NULL, NULL, 0, NULL},
};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_reading", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__reading(void)
{
    return draw_keys(keys, sizeof keys) < 0 ? NULL : PyModule_Create(&definition);
}
