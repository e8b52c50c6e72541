/* Ranges of a text, trimmed of white space: see ranges.py. */

#include "compiled.h"

/* Read a text (the first argument) and a range of it (the last two), clipped to the text. */
static int read_span(PyObject *const *arguments, Py_ssize_t count, Py_ssize_t wanted, Py_ssize_t *span) {
    if (count != wanted || !PyUnicode_Check(arguments[0])) {
        PyErr_SetString(PyExc_TypeError, "wanted are a text, its cuts where there are some, a start and an end");
        return -1;
    }
    if (positions_of(arguments + wanted - 2, 2, span) < 0) return -1;
    if (span[0] < 0) span[0] = 0;
    if (span[1] > PyUnicode_GET_LENGTH(arguments[0])) span[1] = PyUnicode_GET_LENGTH(arguments[0]);
    return 0;
}

/* visible_range(text, start, end) -> tuple or None */
PyObject *visible_range(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count) {
    Py_ssize_t span[2];
    if (read_span(arguments, count, 3, span) < 0) return NULL;
    trim(arguments[0], &span[0], &span[1]);
    return span[0] < span[1] ? pair(span[0], span[1]) : Py_NewRef(Py_None);
}

/* Append the ranges that the cuts divide a range into. */
static int divide(PyObject *text, PyObject *cuts, const Py_ssize_t *span, PyObject *found) {
    Py_ssize_t size = PyTuple_GET_SIZE(cuts), length = PyUnicode_GET_LENGTH(text), before = span[0];
    for (Py_ssize_t place = 0; place <= size; place++) {
        Py_ssize_t cut = span[1];
        if (place < size && position_of(PyTuple_GET_ITEM(cuts, place), &cut) < 0) return -1;
        Py_ssize_t low = before > 0 ? before : 0, high = cut < length ? cut : length;
        trim(text, &low, &high);
        if (low < high && append(found, pair(low, high)) < 0) return -1;
        before = cut;
    }
    return 0;
}

/* visible_ranges(text, cuts, start, end) -> list */
PyObject *visible_ranges(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count) {
    Py_ssize_t span[2];
    if (read_span(arguments, count, 4, span) < 0) return NULL;
    PyObject *cuts = PySequence_Tuple(arguments[1]), *found = cuts ? PyList_New(0) : NULL;
    if (found && divide(arguments[0], cuts, span, found) < 0) Py_CLEAR(found);
    Py_XDECREF(cuts);
    return found;
}

/* line_starts(text, start, end) -> list */
PyObject *line_starts(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count) {
    Py_ssize_t span[2];
    if (read_span(arguments, count, 3, span) < 0) return NULL;
    PyObject *text = arguments[0], *found = PyList_New(0);
    int width = PyUnicode_KIND(text), failed = !found;
    const void *data = PyUnicode_DATA(text);
    Py_ssize_t place = span[0];
    while (!failed && place < span[1] && (place = PyUnicode_FindChar(text, '\n', place, span[1], 1)) >= 0) {
        Py_ssize_t first = ++place;
        Py_UCS4 sign = 0;
        while (place < span[1] && (sign = PyUnicode_READ(width, data, place)) != '\n' && Py_UNICODE_ISSPACE(sign))
            place++;
        if (place < span[1] && sign != '\n') failed = append(found, PyLong_FromSsize_t(first)) < 0;
    }
    if (failed || place == -2) Py_CLEAR(found);
    return found;
}
