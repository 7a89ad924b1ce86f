/* Where tokens of a text end: words of English or of any language, numbers, and marks. Who includes it says what `at` is. */

enum { WORD, NUMBER, MARK };

typedef struct {
    const void *data;
    int kind;
    Py_ssize_t length;
} Source;

/* The character at a place. */
static inline Py_UCS4 at(const Source *source, Py_ssize_t place);

static inline int is_letter(Py_UCS4 c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static inline int is_capital(Py_UCS4 c)
{
    return c >= 'A' && c <= 'Z';
}

static inline int is_digit(Py_UCS4 c)
{
    return c >= '0' && c <= '9';
}

/* A letter of any language, as `[^\W\d_]` of a regular expression of Python. */
static inline int is_any_letter(Py_UCS4 c)
{
    return c < 128 ? is_letter(c) : Py_UNICODE_ISALNUM(c) && !Py_UNICODE_ISDECIMAL(c);
}

/* What regular expressions of Python call a word's character. */
static inline int is_of_word(Py_UCS4 c)
{
    return c == '_' || Py_UNICODE_ISALNUM(c);
}

static inline Py_ssize_t letters_from(const Source *source, Py_ssize_t place, Py_ssize_t end)
{
    while (place < end && is_letter(at(source, place)))
        place++;
    return place;
}

static inline Py_ssize_t digits_from(const Source *source, Py_ssize_t place, Py_ssize_t end)
{
    while (place < end && Py_UNICODE_ISDECIMAL(at(source, place)))
        place++;
    return place;
}

/* The end of the token at a place, and its kind; the place itself where there is none. */
static inline Py_ssize_t token_end(const Source *source, Py_ssize_t place, Py_ssize_t end, int *kind)
{
    Py_UCS4 c = at(source, place);
    Py_ssize_t more;
    if (is_letter(c)) {
        *kind = WORD;
        place = letters_from(source, place, end);
        if (place < end && at(source, place) == '\'' && (more = letters_from(source, place + 1, end)) > place + 1)
            place = more;
        return place;
    }
    if (Py_UNICODE_ISDECIMAL(c)) {
        *kind = NUMBER;
        place = digits_from(source, place, end);
        while (place < end && (at(source, place) == '.' || at(source, place) == ',')
               && (more = digits_from(source, place + 1, end)) > place + 1)
            place = more;
        return place;
    }
    *kind = MARK;
    return is_of_word(c) || Py_UNICODE_ISSPACE(c) ? place : place + 1;
}
