/* Character positions from token ids: see tokens.py. */

#include "compiled.h"

#include <stdint.h>
#include <string.h>

/* Write where each token ends; -1 for a number that no token has, or an end beyond 32 bits. */
static int write_ends(const Py_buffer *ids, const Py_buffer *begun, int64_t reached, char *ends) {
    const uint8_t *begins = begun->buf;
    for (Py_ssize_t place = 0; place < ids->len; place += 4) {
        uint32_t id;
        memcpy(&id, (const char *)ids->buf + place, 4); /* may be at any address */
        if ((int64_t)id >= begun->len) {
            PyErr_Format(PyExc_IndexError, "no token has the number %u", id);
            return -1;
        }
        reached += begins[id];
        int32_t end = (int32_t)reached;
        memcpy(ends + place, &end, 4);
    }
    if (reached > INT32_MAX) { /* it only grows, so one check at the end is enough */
        PyErr_SetString(PyExc_OverflowError, "a token ends beyond 32 bits");
        return -1;
    }
    return 0;
}

/* token_ends(ids, begun, base) -> bytes */
PyObject *token_ends(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count) {
    if (count != 3) {
        PyErr_SetString(PyExc_TypeError, "token_ends takes the ids, the characters begun by each, and a base");
        return NULL;
    }
    Py_ssize_t base;
    if (position_of(arguments[2], &base) < 0) return NULL;
    if (base < 0 || base > INT32_MAX) {
        PyErr_SetString(PyExc_OverflowError, "a base is a 32-bit integer, and not negative");
        return NULL;
    }
    Py_buffer ids, begun;
    if (PyObject_GetBuffer(arguments[0], &ids, PyBUF_SIMPLE) < 0) return NULL;
    if (PyObject_GetBuffer(arguments[1], &begun, PyBUF_SIMPLE) < 0) {
        PyBuffer_Release(&ids);
        return NULL;
    }
    PyObject *made = NULL;
    if (ids.len % 4) PyErr_SetString(PyExc_ValueError, "ids are 32-bit numbers");
    else made = PyBytes_FromStringAndSize(NULL, ids.len);
    if (made && write_ends(&ids, &begun, base, PyBytes_AS_STRING(made)) < 0) Py_CLEAR(made);
    PyBuffer_Release(&begun);
    PyBuffer_Release(&ids);
    return made;
}
