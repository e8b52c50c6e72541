/* Ranges of a text, trimmed of white space: see ranges.py. */

#include "compiled.h"

static PyObject *pair(Py_ssize_t start, Py_ssize_t end) {
    PyObject *made = PyTuple_New(2), *low = PyLong_FromSsize_t(start), *high = PyLong_FromSsize_t(end);
    if (!made || !low || !high) {
        Py_XDECREF(low);
        Py_XDECREF(high);
        Py_CLEAR(made);
        return NULL;
    }
    PyTuple_SET_ITEM(made, 0, low);
    PyTuple_SET_ITEM(made, 1, high);
    PyObject_GC_UnTrack(made);
    return made;
}

/* Read a text (the first argument) and a range of it (the last two), clipped to the text. */
static int read_span(PyObject *const *arguments, Py_ssize_t count, Py_ssize_t wanted, Py_ssize_t *span) {
    if (count != wanted || !PyUnicode_Check(arguments[0])) {
        PyErr_SetString(PyExc_TypeError, "wanted are a text, its cuts where there are some, a start and an end");
        return -1;
    }
    for (int side = 0; side < 2; side++) {
        span[side] = PyLong_AsSsize_t(arguments[wanted - 2 + side]);
        if (span[side] == -1 && PyErr_Occurred()) return -1;
    }
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

/* visible_ranges(text, cuts, start, end) -> list */
PyObject *visible_ranges(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count) {
    Py_ssize_t span[2];
    if (read_span(arguments, count, 4, span) < 0) return NULL;
    if (!PyList_Check(arguments[1])) {
        PyErr_SetString(PyExc_TypeError, "cuts are a list");
        return NULL;
    }
    PyObject *found = PyList_New(0);
    Py_ssize_t size = PyList_GET_SIZE(arguments[1]), reached = span[0];
    int failed = !found;
    for (Py_ssize_t place = 0; place <= size && !failed; place++) {
        Py_ssize_t cut = place < size ? PyLong_AsSsize_t(PyList_GET_ITEM(arguments[1], place)) : span[1];
        if (cut == -1 && PyErr_Occurred()) failed = 1;
        Py_ssize_t low = reached, high = cut < span[1] ? cut : span[1];
        trim(arguments[0], &low, &high);
        if (!failed && low < high) failed = append(found, pair(low, high)) < 0;
        reached = cut > reached ? cut : reached;
    }
    if (failed) Py_CLEAR(found);
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
