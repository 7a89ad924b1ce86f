/* The sentences of the beginning of a text, and their tokens: see sentences.py. */

typedef struct {
    Py_UCS4 *written, *lower; /* the characters of all tokens */
    Token *tokens;
    Py_ssize_t count, characters;
    Py_ssize_t room_of_tokens, room_of_characters; /* of what is allocated */
    Py_ssize_t *begins; /* the first token of each sentence, and one after the last */
    char *begins_line;  /* whether each is the first of its line */
    Py_ssize_t sentences;
    Forms forms;
} Text;

static void release_text(Text *text)
{
    free(text->written);
    free(text->lower);
    free(text->tokens);
    free(text->begins);
    free(text->begins_line);
    release_forms(&text->forms);
}

/* The character at a place, with plain marks for their typographic ones. */
static inline Py_UCS4 at(const Source *source, Py_ssize_t place)
{
    Py_UCS4 c = PyUnicode_READ(source->kind, source->data, place);
    if (c < 128)
        return c == '`' ? '\'' : c;
    switch (c) {
    case 0x201c: case 0x201d: return '"';
    case 0x2018: case 0x2019: return '\'';
    case 0x2013: case 0x2014: return '-';
    case 0x2026: return '.';
    default: return c;
    }
}

/* ---- sentences ---------------------------------------------------------------------------------------------------- */

/* Whether the characters before `end` are these, and none of a word before them. */
static int ends_with(const Source *source, Py_ssize_t end, const char *title)
{
    Py_ssize_t length = (Py_ssize_t)strlen(title), begin = end - length;
    for (Py_ssize_t n = 0; n < length; n++)
        if (begin < 0 || at(source, begin + n) != (Py_UCS4)title[n])
            return 0;
    return begin == 0 || !is_of_word(at(source, begin - 1));
}

/* Whether a full stop before `end` is that of a title, or of one capital. */
static int is_of_title(const Source *source, Py_ssize_t end)
{
    static const char *const titles[] = {"Mr.", "Dr.", "Mrs.", "St."};
    if (at(source, end - 1) != '.')
        return 0;
    if (end > 1 && is_capital(at(source, end - 2)) && (end == 2 || !is_of_word(at(source, end - 3))))
        return 1;
    for (size_t n = 0; n < sizeof titles / sizeof *titles; n++)
        if (ends_with(source, end, titles[n]))
            return 1;
    return 0;
}

/* The place after all marks of a set that follow each other. */
static Py_ssize_t after_all(const Source *source, Py_ssize_t place, Py_ssize_t end, const char *marks)
{
    for (; place < end; place++) {
        Py_UCS4 c = at(source, place);
        const char *mark = marks;
        while (*mark && c != (Py_UCS4)*mark)
            mark++;
        if (!*mark)
            break;
    }
    return place;
}

/* Where the sentence ends, with the blanks after it, whose mark is before `place`; -1 where it does not end. */
static Py_ssize_t end_after(const Source *source, Py_ssize_t place, Py_ssize_t end)
{
    Py_ssize_t blanks, next;
    if (is_of_title(source, place))
        return -1;
    place = after_all(source, place, end, "\"')]");
    for (blanks = place; blanks < end && Py_UNICODE_ISSPACE(at(source, blanks)); blanks++)
        ;
    if (blanks == place)
        return -1;
    next = after_all(source, blanks, end, "\"'([");
    return next < end && (is_capital(at(source, next)) || is_digit(at(source, next))) ? blanks : -1;
}

/* The end of the sentence that begins at a place of a line that ends at `end`. */
static Py_ssize_t sentence_end(const Source *source, Py_ssize_t begin, Py_ssize_t end)
{
    for (Py_ssize_t place = begin; place < end; place++) {
        Py_UCS4 c = at(source, place);
        if (c == '.' || c == '!' || c == '?') {
            Py_ssize_t found = end_after(source, place + 1, end);
            if (found >= 0)
                return found;
        }
    }
    return end;
}

/* ---- tokens ------------------------------------------------------------------------------------------------------- */

/* Room for one token of so many characters more; -1 with an exception. */
static int make_room(Text *text, Py_ssize_t characters)
{
    void *grown;
    if (text->count == text->room_of_tokens) {
        Py_ssize_t room = 2 * text->room_of_tokens + 512;
        if (!(grown = realloc(text->tokens, sizeof(Token) * (size_t)room)))
            goto fail;
        text->tokens = grown;
        text->room_of_tokens = room;
    }
    if (text->characters + characters > text->room_of_characters) {
        Py_ssize_t room = 2 * text->room_of_characters + characters + 4096;
        if (!(grown = realloc(text->written, sizeof(Py_UCS4) * (size_t)room)))
            goto fail;
        text->written = grown;
        if (!(grown = realloc(text->lower, sizeof(Py_UCS4) * (size_t)room)))
            goto fail;
        text->lower = grown;
        text->room_of_characters = room;
    }
    return 0;
fail:
    PyErr_NoMemory();
    return -1;
}

/* Add the tokens of a sentence; how many are words or numbers, or -1 with an exception. */
static Py_ssize_t add_tokens(Text *text, const Source *source, Py_ssize_t begin, Py_ssize_t end)
{
    Py_ssize_t words = 0;
    for (Py_ssize_t place = begin, after; place < end; place = after) {
        int kind;
        after = token_end(source, place, end, &kind);
        if (after == place) {
            after++;
            continue;
        }
        if (make_room(text, after - place) < 0)
            return -1;
        text->tokens[text->count++] = (Token){text->characters, after - place, 0, kind};
        for (; place < after; place++, text->characters++) {
            Py_UCS4 c = at(source, place);
            text->written[text->characters] = c;
            text->lower[text->characters] = is_capital(c) ? c + ('a' - 'A') : c < 128 ? c : Py_UNICODE_TOLOWER(c);
        }
        words += kind != MARK;
    }
    return words;
}

/* Add a sentence, where it has a word; how many it has, or -1 with an exception. */
static Py_ssize_t add_sentence(Text *text, const Source *source, Py_ssize_t begin, Py_ssize_t end, int begins_line)
{
    Py_ssize_t tokens = text->count, characters = text->characters, words = add_tokens(text, source, begin, end);
    if (words > 0) {
        text->begins_line[text->sentences++] = (char)begins_line;
        text->begins[text->sentences] = text->count;
    } else if (!words) {
        text->count = tokens;
        text->characters = characters;
    }
    return words;
}

/* The sentences of the first `most` words; -1 with an exception. */
static int read_sentences(Text *text, PyObject *given, Py_ssize_t most)
{
    Source source = {PyUnicode_DATA(given), PyUnicode_KIND(given), PyUnicode_GET_LENGTH(given)};
    Py_ssize_t words = 0, begin = 0, line = 0, end = 0;
    most = most < 1 ? 1 : most;
    text->begins = calloc((size_t)most + 1, sizeof(Py_ssize_t)); /* a sentence has a word, and ends the reading at most */
    text->begins_line = malloc((size_t)most);
    if (!text->begins || !text->begins_line) {
        PyErr_NoMemory();
        return -1;
    }
    while (words < most && line < source.length) {
        if (begin == line)
            for (end = line; end < source.length && at(&source, end) != '\n'; end++)
                ;
        if (begin == end) {
            begin = line = end + 1;
            continue;
        }
        Py_ssize_t after = sentence_end(&source, begin, end), found = add_sentence(text, &source, begin, after, begin == line);
        if (found < 0)
            return -1;
        words += found;
        begin = after;
    }
    if (make_forms(&text->forms, text->count) < 0)
        return -1;
    for (Py_ssize_t token = 0; token < text->count; token++)
        text->tokens[token].form = form_of(&text->forms, text->tokens, text->lower, token);
    return 0;
}

static int is_mark(const Text *text, Py_ssize_t token, Py_UCS4 mark)
{
    return text->tokens[token].kind == MARK && text->written[text->tokens[token].begin] == mark;
}
