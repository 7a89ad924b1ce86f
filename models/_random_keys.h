/* Keys from the operating system's random numbers: no text can be prepared whose words have one hash. */

/* Fill an array of so many bytes; -1 with an exception. */
static int draw_keys(void *keys, size_t bytes)
{
    PyObject *os = PyImport_ImportModule("os");
    PyObject *drawn = os ? PyObject_CallMethod(os, "urandom", "n", (Py_ssize_t)bytes) : NULL;
    Py_XDECREF(os);
    if (!drawn)
        return -1;
    memcpy(keys, PyBytes_AS_STRING(drawn), bytes);
    Py_DECREF(drawn);
    return 0;
}
