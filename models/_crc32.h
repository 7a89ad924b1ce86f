/* CRC-32, as zlib has it. */

static uint32_t crc32_table[256]; /* made at import */

static void make_crc32_table(void)
{
    for (uint32_t n = 0; n < 256; n++) {
        uint32_t sum = n;
        for (int bit = 0; bit < 8; bit++)
            sum = sum & 1 ? 0xedb88320u ^ sum >> 1 : sum >> 1;
        crc32_table[n] = sum;
    }
}

/* That of what came before and of more bytes. */
static uint32_t crc32_of(uint32_t before, const char *bytes, Py_ssize_t size)
{
    uint32_t sum = ~before;
    for (Py_ssize_t at = 0; at < size; at++)
        sum = crc32_table[(sum ^ (unsigned char)bytes[at]) & 255] ^ sum >> 8;
    return ~sum;
}
