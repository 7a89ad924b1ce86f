/* The network of the farm detector (see network_pure.py, which does the same in NumPy), in whole numbers of 8 bits.

   Four products of 8 bits are summed at once, by AVX-512 VNNI or by AVX2. `WAYS` names those that this processor has,
   the fastest first: none on a machine that is no x86-64. All sums are exact, so each way and NumPy agree to the last
   digit. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#include <math.h>

#define AVX2 __attribute__((target("avx2")))
#define VNNI __attribute__((target("avx2,avx512f,avx512bw,avx512vnni")))
#define INLINE static inline __attribute__((always_inline))

#define LIMIT 127     /* of an activation and of a weight, on either side of zero */
#define SHIFT 6       /* of a sum of products: weights have 6 binary places */
#define NEAR 24       /* tokens before and after a token, whose topic is compared with its own */
#define TOPIC_GAIN 4
#define LAYERS 4      /* three hidden ones, and the output */
#define BLOCK 32      /* tokens that go through a layer together: their inputs stay in the nearest cache */
#define GROUP 4       /* rows that share what is loaded of the weights */
#define LANES 16      /* columns are padded to a multiple of these, inputs to a multiple of FOUR */
#define FOUR 4
#define WIDE 6        /* times LANES columns that are summed together */

typedef struct {
    Py_buffer weights; /* [inputs / FOUR][columns][FOUR] */
    Py_buffer biases;  /* [2][columns]: as they are, and for inputs that are 128 higher */
    int taps, apart;   /* rows that it sees of what is before it, and from one to the next */
    Py_ssize_t inputs, columns, size; /* padded, padded, and the columns that there are */
} Layer;

typedef void (*Multiply)(const int8_t *inputs, Py_ssize_t width, int rows, const Layer *layer, int32_t *sums);

typedef struct {
    Py_buffer words, endings, looks, topics;
    Py_ssize_t channels, subjects; /* columns of the tables, and of topics */
    Layer layers[LAYERS];
    Multiply multiply;
} Network;

/* ---- inputs times weights ----------------------------------------------------------------------------------------- */

static inline int32_t four_bytes(const int8_t *bytes)
{
    int32_t four;
    memcpy(&four, bytes, FOUR);
    return four;
}

/* GROUP rows, `count` times LANES columns. Inputs are made unsigned by 128 more, for which the biases make up. */
VNNI INLINE void vnni_columns(const int8_t *inputs, Py_ssize_t width, const int8_t *weights, const int32_t *biases,
                              Py_ssize_t columns, int32_t *sums, const int count)
{
    __m512i sum[GROUP][WIDE];
    for (int row = 0; row < GROUP; row++)
        for (int n = 0; n < count; n++)
            sum[row][n] = _mm512_loadu_si512(biases + n * LANES);
    for (Py_ssize_t at = 0; at < width; at += FOUR, weights += FOUR * columns) {
        __m512i four[GROUP];
        for (int row = 0; row < GROUP; row++)
            four[row] = _mm512_set1_epi32(four_bytes(inputs + row * width + at) ^ (int32_t)0x80808080u);
        for (int n = 0; n < count; n++) {
            __m512i weight = _mm512_loadu_si512(weights + n * LANES * FOUR);
            for (int row = 0; row < GROUP; row++)
                sum[row][n] = _mm512_dpbusd_epi32(sum[row][n], four[row], weight);
        }
    }
    for (int row = 0; row < GROUP; row++)
        for (int n = 0; n < count; n++)
            _mm512_storeu_si512(sums + row * columns + n * LANES, sum[row][n]);
}

VNNI static void multiply_vnni(const int8_t *inputs, Py_ssize_t width, int rows, const Layer *layer, int32_t *sums)
{
    const int32_t *biases = (const int32_t *)layer->biases.buf + layer->columns;
    for (int row = 0; row < rows; row += GROUP)
        for (Py_ssize_t column = 0, count; column < layer->columns; column += count * LANES) {
            const int8_t *from = inputs + row * width, *weights = (const int8_t *)layer->weights.buf + column * FOUR;
            int32_t *to = sums + row * layer->columns + column;
            count = layer->columns - column >= WIDE * LANES ? WIDE : 1;
            if (count == WIDE)
                vnni_columns(from, width, weights, biases + column, layer->columns, to, WIDE);
            else
                vnni_columns(from, width, weights, biases + column, layer->columns, to, 1);
        }
}

/* One row, `count` times half of LANES columns. The instruction wants one side unsigned: signs go to the weights, and
   two products of at most 127 * 127 do not reach the end of its 16 bits. */
AVX2 INLINE void avx2_columns(const int8_t *inputs, Py_ssize_t width, const int8_t *weights, const int32_t *biases,
                              Py_ssize_t columns, int32_t *sums, const int count)
{
    const __m256i ones = _mm256_set1_epi16(1);
    __m256i sum[2 * WIDE];
    for (int n = 0; n < count; n++)
        sum[n] = _mm256_loadu_si256((const __m256i *)(biases + n * (LANES / 2)));
    for (Py_ssize_t at = 0; at < width; at += FOUR, weights += FOUR * columns) {
        __m256i four = _mm256_set1_epi32(four_bytes(inputs + at)), without_sign = _mm256_abs_epi8(four);
        for (int n = 0; n < count; n++) {
            __m256i weight = _mm256_loadu_si256((const __m256i *)(weights + n * (LANES / 2) * FOUR));
            __m256i two = _mm256_maddubs_epi16(without_sign, _mm256_sign_epi8(weight, four));
            sum[n] = _mm256_add_epi32(sum[n], _mm256_madd_epi16(two, ones));
        }
    }
    for (int n = 0; n < count; n++)
        _mm256_storeu_si256((__m256i *)(sums + n * (LANES / 2)), sum[n]);
}

AVX2 static void multiply_avx2(const int8_t *inputs, Py_ssize_t width, int rows, const Layer *layer, int32_t *sums)
{
    const int32_t *biases = layer->biases.buf;
    for (int row = 0; row < rows; row++)
        for (Py_ssize_t column = 0, count; column < layer->columns; column += count * LANES) {
            const int8_t *from = inputs + row * width, *weights = (const int8_t *)layer->weights.buf + column * FOUR;
            int32_t *to = sums + row * layer->columns + column;
            count = layer->columns - column >= WIDE * LANES ? WIDE : 1;
            if (count == WIDE)
                avx2_columns(from, width, weights, biases + column, layer->columns, to, 2 * WIDE);
            else
                avx2_columns(from, width, weights, biases + column, layer->columns, to, 2);
        }
}

/* ---- what layers see ---------------------------------------------------------------------------------------------- */

/* The sum of a token's rows of the three tables, as an activation. */
AVX2 static void embed(const Network *network, const int32_t *rows, Py_ssize_t tokens, int8_t *restrict seen)
{
    Py_ssize_t channels = network->channels;
    for (Py_ssize_t token = 0; token < tokens; token++) {
        const int8_t *word = (const int8_t *)network->words.buf + rows[3 * token] * channels;
        const int8_t *ending = (const int8_t *)network->endings.buf + rows[3 * token + 1] * channels;
        const int8_t *look = (const int8_t *)network->looks.buf + rows[3 * token + 2] * channels;
        for (Py_ssize_t n = 0; n < channels; n++) {
            int sum = word[n] + ending[n] + look[n];
            seen[token * channels + n] = (int8_t)(sum < -LIMIT ? -LIMIT : sum > LIMIT ? LIMIT : sum);
        }
    }
}

/* Nearest whole number, as an activation. */
INLINE int8_t rounded(float value)
{
    value = rintf(value);
    return (int8_t)(value < -LIMIT ? -LIMIT : value > LIMIT ? LIMIT : value);
}

/* A token's topic times that of the document, and times that of the tokens near it: [tokens][2 * subjects].
   `sums` has room for 2 * subjects. Each product is rounded to 32 bits as NumPy does. */
AVX2 static void agree(const Network *network, const int32_t *rows, Py_ssize_t tokens, int32_t *restrict sums,
                       int8_t *restrict agreement)
{
    const int8_t *topics = network->topics.buf;
    Py_ssize_t subjects = network->subjects;
    int32_t *document = sums, *near = sums + subjects;
    const float of_document = (float)((double)TOPIC_GAIN / (double)(LIMIT * tokens));
    const float of_near = (float)((double)TOPIC_GAIN / (double)(LIMIT * (2 * NEAR + 1)));
    memset(sums, 0, sizeof(int32_t) * 2 * (size_t)subjects);
    for (Py_ssize_t token = 0; token < tokens; token++)
        for (Py_ssize_t n = 0; n < subjects; n++) {
            int topic = topics[rows[3 * token] * subjects + n];
            document[n] += topic;
            near[n] += token < NEAR ? topic : 0;
        }
    for (Py_ssize_t token = 0; token < tokens; token++, agreement += 2 * subjects) {
        const int8_t *own = topics + rows[3 * token] * subjects;
        if (token + NEAR < tokens)
            for (Py_ssize_t n = 0; n < subjects; n++)
                near[n] += topics[rows[3 * (token + NEAR)] * subjects + n];
        if (token > NEAR)
            for (Py_ssize_t n = 0; n < subjects; n++)
                near[n] -= topics[rows[3 * (token - NEAR - 1)] * subjects + n];
        for (Py_ssize_t n = 0; n < subjects; n++) {
            agreement[n] = rounded((float)own[n] * ((float)document[n] * of_document));
            agreement[subjects + n] = rounded((float)near[n] * (float)own[n] * of_near);
        }
    }
}

typedef struct {
    const int8_t *rows;
    Py_ssize_t width;
    int taps, apart;
} Source;

/* The inputs of `count` tokens from `first` on: the taps of each source one after the other, zeros beyond the ends. */
static void gather(const Source *sources, int many, Py_ssize_t tokens, Py_ssize_t first, int count, Py_ssize_t width,
                   int8_t *inputs)
{
    Py_ssize_t column = 0;
    for (int n = 0; n < many; n++)
        for (int tap = 0; tap < sources[n].taps; tap++, column += sources[n].width)
            for (int row = 0; row < count; row++) {
                Py_ssize_t from = first + row + (tap - sources[n].taps / 2) * (Py_ssize_t)sources[n].apart;
                int8_t *to = inputs + row * width + column;
                if (from >= 0 && from < tokens)
                    memcpy(to, sources[n].rows + from * sources[n].width, (size_t)sources[n].width);
                else
                    memset(to, 0, (size_t)sources[n].width);
            }
}

/* Activations of a hidden layer from its sums. */
AVX2 static void activate(const Layer *layer, const int32_t *restrict sums, int rows, int8_t *restrict activations)
{
    Py_ssize_t size = layer->size, columns = layer->columns;
    for (int row = 0; row < rows; row++, sums += columns, activations += size)
        for (Py_ssize_t n = 0; n < size; n++) {
            int32_t value = sums[n] >> SHIFT;
            activations[n] = (int8_t)(value < 0 ? 0 : value > LIMIT ? LIMIT : value);
        }
}

/* ---- the network -------------------------------------------------------------------------------------------------- */

typedef struct {
    int8_t *seen, *agreement, *hidden[LAYERS - 1], *inputs;
    int32_t *sums, *topics;
} Room;

static void run_layer(const Network *network, int number, const Source *sources, int many, Py_ssize_t tokens,
                      const Room *room, int64_t *found)
{
    const Layer *layer = &network->layers[number];
    memset(room->inputs, 0, (size_t)(BLOCK * layer->inputs)); /* what pads them */
    for (Py_ssize_t first = 0; first < tokens; first += BLOCK) {
        int count = tokens - first < BLOCK ? (int)(tokens - first) : BLOCK;
        gather(sources, many, tokens, first, count, layer->inputs, room->inputs);
        network->multiply(room->inputs, layer->inputs, count, layer, room->sums);
        if (number < LAYERS - 1)
            activate(layer, room->sums, count, room->hidden[number] + first * layer->size);
        else
            for (int row = 0; row < count; row++)
                for (Py_ssize_t n = 0; n < layer->size; n++)
                    found[(first + row) * layer->size + n] = room->sums[row * layer->columns + n];
    }
}

static void run(const Network *network, const int32_t *rows, Py_ssize_t tokens, const Room *room, int64_t *found)
{
    const Layer *layers = network->layers;
    Source before[LAYERS - 1], all[LAYERS - 1];
    embed(network, rows, tokens, room->seen);
    agree(network, rows, tokens, room->topics, room->agreement);
    before[0] = (Source){room->seen, network->channels, layers[0].taps, layers[0].apart};
    run_layer(network, 0, before, 1, tokens, room, found);
    before[0] = (Source){room->hidden[0], layers[0].size, layers[1].taps, layers[1].apart};
    before[1] = (Source){room->agreement, 2 * network->subjects, 1, 1};
    run_layer(network, 1, before, 2, tokens, room, found);
    before[0] = (Source){room->hidden[1], layers[1].size, layers[2].taps, layers[2].apart};
    run_layer(network, 2, before, 1, tokens, room, found);
    for (int n = 0; n < LAYERS - 1; n++)
        all[n] = (Source){room->hidden[n], layers[n].size, 1, 1};
    run_layer(network, LAYERS - 1, all, LAYERS - 1, tokens, room, found);
}

/* The inputs that a layer has, before they are padded. */
static Py_ssize_t inputs_of(const Network *network, int number)
{
    const Layer *layers = network->layers;
    switch (number) {
    case 0: return layers[0].taps * network->channels;
    case 1: return layers[1].taps * layers[0].size + 2 * network->subjects;
    case 2: return layers[2].taps * layers[1].size;
    default: return layers[0].size + layers[1].size + layers[2].size;
    }
}

/* Fill in what follows from the sizes of the arrays; -1 with an exception where they do not fit together. */
static int measure(Network *network)
{
    for (int n = 0; n < LAYERS; n++) {
        Layer *layer = &network->layers[n];
        layer->columns = layer->biases.len / (Py_ssize_t)(2 * sizeof(int32_t));
        layer->inputs = (inputs_of(network, n) + FOUR - 1) / FOUR * FOUR;
        if (layer->columns % LANES || layer->size > layer->columns || layer->size < 1 || layer->taps < 1
            || layer->weights.len != layer->inputs * layer->columns) {
            PyErr_Format(PyExc_ValueError, "layer %d: weights of another size", n);
            return -1;
        }
    }
    return 0;
}

static int within(const Network *network, const int32_t *rows, Py_ssize_t tokens)
{
    Py_ssize_t topics = network->topics.len / network->subjects, ends[3];
    ends[0] = network->words.len / network->channels;
    ends[0] = topics < ends[0] ? topics : ends[0];
    ends[1] = network->endings.len / network->channels;
    ends[2] = network->looks.len / network->channels;
    for (Py_ssize_t token = 0; token < tokens; token++)
        for (int n = 0; n < 3; n++)
            if (rows[3 * token + n] < 0 || rows[3 * token + n] >= ends[n]) {
                PyErr_Format(PyExc_IndexError, "token %zd: no row %d", token, (int)rows[3 * token + n]);
                return -1;
            }
    return 0;
}

static PyObject *run_with_room(const Network *network, const int32_t *rows, Py_ssize_t tokens, int64_t *found)
{
    Py_ssize_t width = 0, columns = 0, hidden = 0;
    Room room;
    char *memory, *at;
    for (int n = 0; n < LAYERS; n++) {
        width = network->layers[n].inputs > width ? network->layers[n].inputs : width;
        columns = network->layers[n].columns > columns ? network->layers[n].columns : columns;
        hidden += n < LAYERS - 1 ? network->layers[n].size : 0;
    }
    at = memory = malloc((size_t)(BLOCK * (width + columns * 4) + 8 * network->subjects
                                  + tokens * (network->channels + 2 * network->subjects + hidden)));
    if (!memory)
        return PyErr_NoMemory();
    room.sums = (int32_t *)at;
    room.topics = (int32_t *)(at += BLOCK * columns * 4);
    room.inputs = (int8_t *)(at += 8 * network->subjects);
    room.seen = (int8_t *)(at += BLOCK * width);
    room.agreement = (int8_t *)(at += tokens * network->channels);
    at += tokens * 2 * network->subjects;
    for (int n = 0; n < LAYERS - 1; at += tokens * network->layers[n++].size)
        room.hidden[n] = (int8_t *)at;
    run(network, rows, tokens, &room, found);
    free(memory);
    Py_RETURN_NONE;
}

static int parse_layer(PyObject *given, void *into)
{
    Layer *layer = into;
    return PyTuple_Check(given)
        && PyArg_ParseTuple(given, "y*y*iin", &layer->weights, &layer->biases, &layer->taps, &layer->apart, &layer->size);
}

/* What multiplies in a way that has a name; NULL where this processor does not. */
static Multiply way_of(const char *name)
{
    __builtin_cpu_init();
    if (!strcmp(name, "vnni") && __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bw"))
        return multiply_vnni;
    if (!strcmp(name, "avx2") && __builtin_cpu_supports("avx2"))
        return multiply_avx2;
    return NULL;
}

PyDoc_STRVAR(log_odds_doc, "log_odds(way, rows, words, endings, looks, topics, channels, subjects, layers, found): fill\n"
                           "found, [tokens][heads], with the output of the network for rows, [tokens][3].");

static PyObject *log_odds(PyObject *module, PyObject *args)
{
    Network network = {0};
    Py_buffer rows = {0}, found = {0};
    PyObject *layers, *result = NULL;
    const char *way;
    Py_ssize_t tokens;
    int n, fine = PyArg_ParseTuple(args, "sy*y*y*y*y*nnO!w*", &way, &rows, &network.words, &network.endings, &network.looks,
                                   &network.topics, &network.channels, &network.subjects, &PyTuple_Type, &layers, &found);
    (void)module;
    if (!fine)
        return NULL;
    network.multiply = way_of(way);
    if (!network.multiply || PyTuple_GET_SIZE(layers) != LAYERS || network.channels < 1 || network.subjects < 1)
        fine = PyErr_Format(PyExc_ValueError, "%s: no way of this processor, or no network", way) != NULL;
    for (n = 0; fine && n < LAYERS; n++)
        fine = parse_layer(PyTuple_GET_ITEM(layers, n), &network.layers[n]);
    tokens = rows.len / (Py_ssize_t)(3 * sizeof(int32_t));
    if (fine && measure(&network) == 0 && within(&network, rows.buf, tokens) == 0) {
        if (found.len == tokens * network.layers[LAYERS - 1].size * (Py_ssize_t)sizeof(int64_t))
            result = run_with_room(&network, rows.buf, tokens, found.buf);
        else
            PyErr_Format(PyExc_ValueError, "room for another number of tokens");
    }
    for (n = 0; n < LAYERS; n++) {
        PyBuffer_Release(&network.layers[n].weights);
        PyBuffer_Release(&network.layers[n].biases);
    }
    PyBuffer_Release(&rows);
    PyBuffer_Release(&network.words);
    PyBuffer_Release(&network.endings);
    PyBuffer_Release(&network.looks);
    PyBuffer_Release(&network.topics);
    PyBuffer_Release(&found);
    return result;
}

#define METHOD {"log_odds", log_odds, METH_VARARGS, log_odds_doc},
#else
#define METHOD
#define way_of(name) ((void *)0)
#endif

static PyMethodDef methods[] = {METHOD{NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_network", NULL, 0, methods, NULL, NULL, NULL, NULL};

/* The names of the ways that this processor has. */
static PyObject *ways(void)
{
    if (way_of("vnni"))
        return Py_BuildValue("(ss)", "vnni", "avx2");
    return way_of("avx2") ? Py_BuildValue("(s)", "avx2") : PyTuple_New(0);
}

PyMODINIT_FUNC PyInit__network(void)
{
    PyObject *made = PyModule_Create(&module), *names = made ? ways() : NULL;
    if (made && (!names || PyModule_AddObjectRef(made, "WAYS", names) < 0))
        Py_CLEAR(made);
    Py_XDECREF(names);
    return made;
}
