/* Characters as UTF-8. */

enum { MOST_BYTES = 4 }; /* of a character */

/* Write the bytes of a character; how many there are. Half of a pair of surrogates, which has none, is a question mark. */
static Py_ssize_t to_utf8(Py_UCS4 c, char *bytes)
{
    if (c >= 0xd800 && c <= 0xdfff)
        c = '?';
    Py_ssize_t size = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (Py_ssize_t n = size - 1; n > 0; n--, c >>= 6)
        bytes[n] = (char)(0x80 | (c & 0x3f));
    bytes[0] = (char)(size == 1 ? c : (0xf00u >> size & 0xf0u) | c);
    return size;
}
