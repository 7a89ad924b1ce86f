/* Which tokens of a text are the same.

   Words are told apart by comparing their characters; a hash only chooses where to look. It has keys drawn at random per
   process, so that no text can be prepared whose words collide. */

typedef struct {
    Py_ssize_t begin, length; /* in the characters of all tokens */
    int32_t form;             /* the same for tokens whose characters are the same */
    int kind;
} Token;

typedef struct {
    int32_t *slots; /* 1 + a form; 0: free */
    Py_ssize_t *first; /* the first token of each form */
    size_t mask;
    int32_t count;
} Forms;

static void release_forms(Forms *forms)
{
    free(forms->slots);
    free(forms->first);
}

#define KEYED 64 /* characters of a token that its hash looks at */

static uint64_t keys[KEYED + 1]; /* drawn at import: multilinear hashing, as in filters/_statistics.c */

static size_t hash_of(const Py_UCS4 *characters, Py_ssize_t length)
{
    uint64_t sum = keys[KEYED] * (uint64_t)length;
    for (Py_ssize_t at = 0; at < length && at < KEYED; at++)
        sum += keys[at] * characters[at];
    return (size_t)(sum >> 32);
}

/* Room for the forms of so many tokens; -1 with an exception. */
static int make_forms(Forms *forms, Py_ssize_t tokens)
{
    size_t places = 16;
    while (places < 2 * (size_t)tokens)
        places *= 2;
    forms->mask = places - 1;
    forms->slots = calloc(places, sizeof(int32_t));
    forms->first = malloc(sizeof(Py_ssize_t) * (size_t)(tokens + 1));
    if (forms->slots && forms->first)
        return 0;
    PyErr_NoMemory();
    return -1;
}

/* The number of a token among those with other characters, as `characters` has them. */
static int32_t form_of(Forms *forms, const Token *tokens, const Py_UCS4 *characters, Py_ssize_t token)
{
    const Token *one = &tokens[token];
    size_t place = hash_of(characters + one->begin, one->length) & forms->mask;
    for (int32_t form; (form = forms->slots[place]); place = (place + 1) & forms->mask) {
        const Token *other = &tokens[forms->first[form - 1]];
        if (one->length == other->length
            && !memcmp(characters + one->begin, characters + other->begin, sizeof(Py_UCS4) * (size_t)one->length))
            return form - 1;
    }
    forms->first[forms->count] = token;
    forms->slots[place] = ++forms->count;
    return forms->count - 1;
}
