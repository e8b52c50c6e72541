/* Character positions from token ids: see tokens.py. */

#include "compiled.h"

#include <stdint.h>

/* token_ends(ids, begun, base) -> bytes */
PyObject *token_ends(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count) {
    if (count != 3) {
        PyErr_SetString(PyExc_TypeError, "token_ends takes the ids, the characters begun by each, and a base");
        return NULL;
    }
    long base = PyLong_AsLong(arguments[2]);
    if (base < 0 || base > INT32_MAX) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_OverflowError, "a base is a 32-bit integer, and not negative");
        return NULL;
    }
    Py_buffer ids, begun;
    if (PyObject_GetBuffer(arguments[0], &ids, PyBUF_SIMPLE) < 0) return NULL;
    if (PyObject_GetBuffer(arguments[1], &begun, PyBUF_SIMPLE) < 0) {
        PyBuffer_Release(&ids);
        return NULL;
    }
    Py_ssize_t tokens = ids.len / 4, known = begun.len;
    const uint32_t *id = ids.buf;
    const uint8_t *begins = begun.buf;
    PyObject *made = PyBytes_FromStringAndSize(NULL, tokens * 4);
    if (made) {
        int32_t *ends = (int32_t *)PyBytes_AS_STRING(made);
        int32_t reached = (int32_t)base;
        for (Py_ssize_t place = 0; place < tokens; place++) {
            if ((Py_ssize_t)id[place] >= known) {
                PyErr_Format(PyExc_IndexError, "no token has the number %u", id[place]);
                Py_CLEAR(made);
                break;
            }
            reached += begins[id[place]];
            ends[place] = reached;
        }
    }
    PyBuffer_Release(&begun);
    PyBuffer_Release(&ids);
    return made;
}
