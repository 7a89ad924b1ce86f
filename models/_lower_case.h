/* Lower case, where that of a character is one character, whatever stands around it. */

enum { LONGER = 3 }; /* times: no character has more in lower case */

/* Whether only Python tells: of I with a dot it is two characters, of sigma it depends on whether a word ends there. */
static inline int lower_is_hard(Py_UCS4 c)
{
    return c == 0x130 || c == 0x3a3;
}
