/* What is counted of the sentences of a text, in the order of `Counts`: see counts.py. */

#define SHORTEST 4  /* letters of a word that carries meaning */
#define LONGEST 6   /* sentences are sorted by the powers of two of their words, up to this one */
#define SHORT 6     /* tokens of a sentence */
#define SUBJECT 3   /* sentences that may have a word that is not the text's subject, or a quarter of all */

typedef struct {
    int64_t sentences, tokens, squares, steps, short_ones, titles, with_numbers, frame_marks;
    int64_t with_quotes, quotes_half, quotes_change, lines, lines_open, brackets_open;
    int64_t meant, different, once, most[3], names[2], with_names;
    int64_t pairs, within[4];
    int64_t words, pairs_again, fours_again, beginnings_again;
} Counts;

/* Arrays with a number for each token, or form, or sentence: `room_for` knows how many. */
typedef struct {
    int32_t *left, *right, *ids;  /* pairs, and the number of each */
    int32_t *last, *times;        /* of each form: the last sentence with it, and how many have it */
    int32_t *word, *place, *ends; /* words of sentences, the sentences of words, and where those of each form end */
} Room;

static int32_t *room_for(const Text *text, Room *room)
{
    size_t each = (size_t)(text->count + 1);
    int32_t *all = malloc(8 * each * sizeof(int32_t));
    if (!all) {
        PyErr_NoMemory();
        return NULL;
    }
    *room = (Room){all, all + each, all + 2 * each, all + 3 * each, all + 4 * each, all + 5 * each, all + 6 * each,
                   all + 7 * each};
    return all;
}

/* ---- form --------------------------------------------------------------------------------------------------------- */

static int is_of_frame(Py_UCS4 c)
{
    return c == '|' || c == '/' || c == 0xbb || c == 0x203a || c == 0xb7 || c == 0x2022 || c == '-' || c == ':' || c == ';';
}

/* What one sentence adds; its quotes are returned. */
static int64_t count_sentence(const Text *text, Py_ssize_t sentence, Counts *counts)
{
    int64_t length = text->begins[sentence + 1] - text->begins[sentence], words = 0, capitals = 0;
    int64_t numbers = 0, quotes = 0, opened = 0, closed = 0;
    for (Py_ssize_t at = text->begins[sentence]; at < text->begins[sentence + 1]; at++) {
        Py_UCS4 first = text->written[text->tokens[at].begin];
        words += text->tokens[at].kind == WORD;
        capitals += is_capital(first);
        numbers += text->tokens[at].kind == NUMBER;
        quotes += first == '"';
        opened += first == '(';
        closed += first == ')';
        counts->frame_marks += is_of_frame(first);
    }
    counts->tokens += length;
    counts->squares += length * length;
    counts->short_ones += length < SHORT;
    counts->titles += length > 2 && 5 * capitals > 3 * words;
    counts->with_numbers += numbers > 0;
    counts->with_quotes += quotes > 0;
    counts->quotes_half += quotes % 2;
    counts->brackets_open += opened != closed;
    return quotes;
}

static void count_form(const Text *text, Counts *counts)
{
    int64_t before = 0, length_before = 0, of_line = 0;
    counts->sentences = text->sentences;
    for (Py_ssize_t sentence = 0; sentence < text->sentences; sentence++) {
        int64_t length = text->begins[sentence + 1] - text->begins[sentence], quotes = count_sentence(text, sentence, counts);
        if (sentence) {
            counts->steps += length > length_before ? length - length_before : length_before - length;
            counts->quotes_change += (before + quotes) % 2;
        }
        if (text->begins_line[sentence] || !sentence) {
            counts->lines++;
            counts->lines_open += of_line % 2;
            of_line = 0;
        }
        of_line += quotes;
        before = quotes;
        length_before = length;
    }
    counts->lines_open += of_line % 2;
}

/* ---- words that return -------------------------------------------------------------------------------------------- */

static int is_grammar(const Text *text, const Token *token, const Index *grammar)
{
    Run run = {text->lower + token->begin, token->length};
    return find(grammar, &run, 1) != UNKNOWN;
}

static int is_meant(const Text *text, const Token *token, const Index *grammar)
{
    if (token->kind != WORD || token->length < SHORTEST)
        return 0;
    for (Py_ssize_t n = 0; n < token->length; n++)
        if (text->lower[token->begin + n] == '\'')
            return 0;
    return !is_grammar(text, token, grammar);
}

static int is_name(const Text *text, const Token *token, const Index *grammar)
{
    return token->kind == WORD && token->length > 2 && is_capital(text->written[token->begin])
        && !is_grammar(text, token, grammar);
}

/* Note that a sentence has a form; whether it has it for the first time. */
static int is_new(const Room *room, int32_t form, Py_ssize_t sentence)
{
    if (room->last[form] == (int32_t)sentence)
        return 0;
    room->last[form] = (int32_t)sentence;
    room->times[form]++;
    return 1;
}

static void forget(const Text *text, const Room *room)
{
    memset(room->last, -1, sizeof(int32_t) * (size_t)(text->count + 1));
    memset(room->times, 0, sizeof(int32_t) * (size_t)(text->count + 1));
}

/* The `places` highest of some counts, the highest first. */
static void highest(const int32_t *times, int32_t count, int places, int64_t *found)
{
    for (int32_t n = 0; n < count; n++)
        for (int place = 0; place < places; place++)
            if (times[n] > found[place]) {
                memmove(found + place + 1, found + place, sizeof(int64_t) * (size_t)(places - place - 1));
                found[place] = times[n];
                break;
            }
}

/* Names that do not begin a sentence; -1 with an exception. */
static int count_names(const Text *text, const Index *grammar, const Room *room, Counts *counts)
{
    Forms names = {0};
    if (make_forms(&names, text->count) == 0) {
        forget(text, room);
        for (Py_ssize_t sentence = 0; sentence < text->sentences; sentence++) {
            int any = 0;
            for (Py_ssize_t at = text->begins[sentence] + 1; at < text->begins[sentence + 1]; at++)
                if (is_name(text, &text->tokens[at], grammar)) {
                    is_new(room, form_of(&names, text->tokens, text->written, at), sentence);
                    any = 1;
                }
            counts->with_names += any;
        }
        highest(room->times, names.count, 2, counts->names);
    }
    release_forms(&names);
    return names.slots && names.first ? 0 : -1;
}

/* How far apart the sentences are that have the same word, where it is not the text's subject. */
static void count_distances(const Room *room, int32_t forms, Counts *counts)
{
    int32_t most = (int32_t)(counts->sentences / 4 > SUBJECT ? counts->sentences / 4 : SUBJECT);
    for (int32_t form = 0, end = 0; form < forms; form++) {
        room->ends[form] = end; /* moves on as places are written */
        end += room->times[form];
    }
    for (Py_ssize_t n = 0; n < counts->meant; n++)
        room->place[room->ends[room->word[n]]++] = room->left[n];
    for (int32_t form = 0; form < forms; form++)
        for (int32_t after = 1; room->times[form] <= most && after < room->times[form]; after++)
            for (int32_t before = 0; before < after; before++) {
                const int32_t *places = room->place + room->ends[form] - room->times[form];
                counts->pairs++;
                for (int n = 0; n < 4; n++)
                    counts->within[n] += places[after] - places[before] <= 1 << n;
            }
}

static void count_meant(const Text *text, const Index *grammar, const Room *room, Counts *counts)
{
    forget(text, room);
    for (Py_ssize_t sentence = 0; sentence < text->sentences; sentence++)
        for (Py_ssize_t at = text->begins[sentence]; at < text->begins[sentence + 1]; at++) {
            const Token *token = &text->tokens[at];
            if (is_meant(text, token, grammar) && is_new(room, token->form, sentence)) {
                room->word[counts->meant] = token->form;
                room->left[counts->meant++] = (int32_t)sentence;
            }
        }
    for (int32_t form = 0; form < text->forms.count; form++) {
        counts->different += room->times[form] > 0;
        counts->once += room->times[form] == 1;
    }
    highest(room->times, text->forms.count, 3, counts->most);
    count_distances(room, text->forms.count, counts);
}

/* ---- phrases ------------------------------------------------------------------------------------------------------ */

/* Give each pair of `left` and `right` a number, equal for equal ones; how many were there before. -1 with an
   exception. */
static int64_t again(const int32_t *left, const int32_t *right, Py_ssize_t count, int32_t *ids)
{
    size_t mask = 15;
    int64_t met = 0;
    Py_ssize_t *slots; /* 1 + where a pair is met first; 0: free */
    if (count < 1)
        return 0;
    while (mask < 2 * (size_t)count)
        mask = 2 * mask + 1;
    slots = calloc(mask + 1, sizeof *slots);
    if (!slots) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t at = 0, first; at < count; at++) {
        size_t place = (size_t)(((uint32_t)left[at] * keys[0] + (uint32_t)right[at] * keys[1]) >> 32) & mask;
        while ((first = slots[place]) && (left[first - 1] != left[at] || right[first - 1] != right[at]))
            place = (place + 1) & mask;
        if (!first)
            slots[place] = first = at + 1;
        ids[at] = (int32_t)first;
        met += first != at + 1;
    }
    free(slots);
    return met;
}

/* Runs of two and of four words, and beginnings of sentences; -1 with an exception. */
static int count_phrases(const Text *text, const Room *room, Counts *counts)
{
    for (Py_ssize_t at = 0; at < text->count; at++)
        if (text->tokens[at].kind != MARK)
            room->word[counts->words++] = text->tokens[at].form;
    counts->pairs_again = again(room->word, room->word + 1, counts->words - 1, room->ids);
    counts->fours_again = again(room->ids, room->ids + 2, counts->words - 3, room->place);
    for (Py_ssize_t sentence = 0; sentence < text->sentences; sentence++) {
        const Token *first = text->tokens + text->begins[sentence];
        int alone = text->begins[sentence + 1] - text->begins[sentence] < 2;
        room->left[sentence] = first->form;
        room->right[sentence] = alone ? -1 : first[1].form;
    }
    counts->beginnings_again = again(room->left, room->right, text->sentences, room->ids);
    return counts->pairs_again < 0 || counts->fours_again < 0 || counts->beginnings_again < 0 ? -1 : 0;
}

/* All of them, a tuple; NULL with an exception. */
static PyObject *count(const Text *text, const Index *grammar)
{
    Counts counts = {0};
    Room room;
    PyObject *result = NULL;
    int32_t *all = room_for(text, &room);
    if (!all)
        return NULL;
    count_form(text, &counts);
    count_meant(text, grammar, &room, &counts);
    if (count_names(text, grammar, &room, &counts) == 0 && count_phrases(text, &room, &counts) == 0)
        result = PyTuple_New(sizeof counts / sizeof(int64_t));
    for (Py_ssize_t n = 0; result && n < PyTuple_GET_SIZE(result); n++) {
        PyObject *number = PyLong_FromLongLong(((const int64_t *)&counts)[n]);
        if (number)
            PyTuple_SET_ITEM(result, n, number);
        else
            Py_CLEAR(result);
    }
    free(all);
    return result;
}
