/* Token counts from token ends: see seams.py. */

#include "compiled.h"

#include <string.h>

#define NEARBY 64 /* as in seams.py */
#define INDENT 64 /* the longest indentation that is looked at */

static int is_32_bit(const Py_buffer *buffer) { /* a longer format may say another order of bytes */
    const char *format = buffer->format ? buffer->format : "B";
    return buffer->itemsize == 4 && (strcmp(format, "i") == 0 || strcmp(format, "l") == 0);
}

int open_ends(PyObject *given, Ends *ends) {
    if (PyObject_GetBuffer(given, &ends->buffer, PyBUF_CONTIG_RO | PyBUF_FORMAT) < 0) return -1;
    if (!is_32_bit(&ends->buffer)) {
        PyErr_SetString(PyExc_TypeError, "ends are 32-bit integers");
        PyBuffer_Release(&ends->buffer);
        return -1;
    }
    ends->bytes = ends->buffer.buf;
    ends->size = ends->buffer.len / 4;
    return 0;
}

static inline int32_t end_at(const Ends *ends, Py_ssize_t place) {
    int32_t end;
    memcpy(&end, ends->bytes + place * 4, 4);
    return end;
}

Py_ssize_t ended(const Ends *ends, Py_ssize_t low, Py_ssize_t position) {
    Py_ssize_t high = ends->size, step = 8;
    /* a search from a known position is mostly for one near it */
    for (; low && low + step < high && end_at(ends, low + step) <= position; step *= 2) low += step;
    if (low && low + step < high) high = low + step;
    while (low < high) {
        Py_ssize_t middle = low + (high - low) / 2;
        if (end_at(ends, middle) <= position) low = middle + 1;
        else high = middle;
    }
    return low;
}

Py_ssize_t ended_next(const Ends *ends, Cursor *cursor, Py_ssize_t position) {
    cursor->reached = ended(ends, position >= cursor->before ? cursor->reached : 0, position);
    cursor->before = position;
    return cursor->reached;
}

/* tokens_between(ends, start, end) -> int */
PyObject *tokens_between(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count) {
    Py_ssize_t edge[2];
    if (count != 3) {
        PyErr_SetString(PyExc_TypeError, "tokens_between takes the ends, a start and an end");
        return NULL;
    }
    if (positions_of(arguments + 1, 2, edge) < 0) return NULL;
    Ends ends;
    if (open_ends(arguments[0], &ends) < 0) return NULL;
    Py_ssize_t found = ended(&ends, 0, edge[1]) - ended(&ends, 0, edge[0]);
    PyBuffer_Release(&ends.buffer);
    return PyLong_FromSsize_t(found);
}

/* Return the number of tokens that have ended at each position. */
static PyObject *each_ended(const Ends *ends, PyObject *positions) {
    Py_ssize_t size = PyTuple_GET_SIZE(positions), position;
    Cursor cursor = {0};
    PyObject *found = PyList_New(0);
    for (Py_ssize_t place = 0; found && place < size; place++)
        if (position_of(PyTuple_GET_ITEM(positions, place), &position) < 0 ||
            append(found, PyLong_FromSsize_t(ended_next(ends, &cursor, position))) < 0)
            Py_CLEAR(found);
    return found;
}

/* ended_at_each(ends, positions) -> list */
PyObject *ended_at_each(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count) {
    if (count != 2) {
        PyErr_SetString(PyExc_TypeError, "ended_at_each takes the ends and positions");
        return NULL;
    }
    Ends ends;
    if (open_ends(arguments[0], &ends) < 0) return NULL;
    PyObject *positions = PySequence_Tuple(arguments[1]);
    PyObject *found = positions ? each_ended(&ends, positions) : NULL;
    Py_XDECREF(positions);
    PyBuffer_Release(&ends.buffer);
    return found;
}

/* ended_at(ends, position) -> int */
PyObject *ended_at(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count) {
    Py_ssize_t position;
    if (count != 2) {
        PyErr_SetString(PyExc_TypeError, "ended_at takes the ends and a position");
        return NULL;
    }
    if (positions_of(arguments + 1, 1, &position) < 0) return NULL;
    Ends ends;
    if (open_ends(arguments[0], &ends) < 0) return NULL;
    Py_ssize_t found = ended(&ends, 0, position);
    PyBuffer_Release(&ends.buffer);
    return PyLong_FromSsize_t(found);
}

/* Fill `found` with the number of tokens that have ended at the start or the end of each range. */
static int side_ended(const Ends *ends, PyObject *ranges, int side, PyObject *found) {
    Py_ssize_t position;
    Cursor cursor = {0};
    for (Py_ssize_t place = 0; place < PyTuple_GET_SIZE(ranges); place++) {
        PyObject *range = PyTuple_GET_ITEM(ranges, place);
        if (!PyTuple_Check(range) || PyTuple_GET_SIZE(range) != 2) {
            PyErr_SetString(PyExc_TypeError, "a range is a pair of integers");
            return -1;
        }
        if (position_of(PyTuple_GET_ITEM(range, side), &position) < 0) return -1;
        if (append(found, PyLong_FromSsize_t(ended_next(ends, &cursor, position))) < 0) return -1;
    }
    return 0;
}

/* ended_at_edges(ends, ranges) -> tuple of two lists */
PyObject *ended_at_edges(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count) {
    if (count != 2) {
        PyErr_SetString(PyExc_TypeError, "ended_at_edges takes the ends and ranges");
        return NULL;
    }
    Ends ends;
    if (open_ends(arguments[0], &ends) < 0) return NULL;
    PyObject *ranges = PySequence_Tuple(arguments[1]), *both = NULL;
    PyObject *begins = ranges ? PyList_New(0) : NULL, *finishes = begins ? PyList_New(0) : NULL;
    if (finishes && side_ended(&ends, ranges, 0, begins) == 0 && side_ended(&ends, ranges, 1, finishes) == 0)
        both = PyTuple_Pack(2, begins, finishes);
    Py_XDECREF(begins);
    Py_XDECREF(finishes);
    Py_XDECREF(ranges);
    PyBuffer_Release(&ends.buffer);
    return both;
}

static int is_punctuation(Py_UCS4 sign) {
    if (sign < 0x80) return sign > ' ' && sign != '\'' && sign != 0x7F && !Py_UNICODE_ISALNUM(sign);
    return sign == 0x3001 || sign == 0x3002 || sign == 0xFF0C || sign == 0xFF1A || sign == 0xFF1B || sign == 0xFF01 ||
           sign == 0xFF1F;
}

/* SEAM of seams.py, without a regular expression and without indentation. */
static int is_seam(Py_UCS4 before, Py_UCS4 after) {
    if (after == ' ') return !Py_UNICODE_ISSPACE(before);
    if (before == '\n') return after != '/' && !Py_UNICODE_ISSPACE(after);
    return Py_UNICODE_ISALNUM(before) && (Py_UNICODE_ISSPACE(after) || is_punctuation(after));
}

int begins_after(Py_UCS4 before, const Text *text, Py_ssize_t place) {
    Py_UCS4 after = PyUnicode_READ(text->kind, text->data, place);
    if (before != '\n' || (after != ' ' && after != '\t')) return is_seam(before, after);
    Py_ssize_t reached = place + 1, most = text->length - place > INDENT ? place + INDENT : text->length - 1;
    for (; reached <= most; reached++) {
        after = PyUnicode_READ(text->kind, text->data, reached);
        if (after != ' ' && after != '\t') return after != '/' && !Py_UNICODE_ISSPACE(after);
    }
    return 0;
}

static int seam_at(const Text *text, Py_ssize_t place) {
    if (place <= 0 || place >= text->length) return 1;
    return begins_after(PyUnicode_READ(text->kind, text->data, place - 1), text, place);
}

/* Return the known count of a range and a joiner after it; -1 if there is none, -2 for an error. */
static Py_ssize_t remembered(PyObject *known, const Text *text, Py_ssize_t low, Py_ssize_t high, PyObject *joiner) {
    if (low == high && joiner == NULL) return 0;
    PyObject *words = PyUnicode_Substring(text->text, low, high);
    if (words && joiner) PyUnicode_Append(&words, joiner);
    if (words == NULL) return -2;
    PyObject *tokens = Py_XNewRef(PyDict_GetItemWithError(known, words));
    Py_ssize_t found = -1;
    int failed = tokens ? position_of(tokens, &found) < 0 : PyErr_Occurred() != NULL;
    Py_DECREF(words);
    Py_XDECREF(tokens);
    return failed ? -2 : found < 0 || found > INT32_MAX ? -1 : found;
}

Text text_of(PyObject *text) {
    return (Text){text, PyUnicode_KIND(text), PyUnicode_DATA(text), PyUnicode_GET_LENGTH(text)};
}

Py_ssize_t exact(const Text *text, const Ends *ends, PyObject *known, const Py_ssize_t *edge, PyObject *joiner) {
    Py_ssize_t start = edge[0], end = edge[1], first = start, last = end;
    if (start < 0 || start >= end || end > text->length) return -1;
    Text within = *text; /* what is behind the range makes no seam in it */
    within.length = end;
    while (!seam_at(&within, first))
        if (++first >= end || first - start > NEARBY) return -1;
    if (joiner || !seam_at(text, last))
        do
            if (--last < first || end - last > NEARBY) return -1;
        while (last > first && !seam_at(&within, last));
    Py_ssize_t head = remembered(known, text, start, first, NULL);
    if (head < 0) return head;
    Py_ssize_t tail = remembered(known, text, last, end, joiner);
    if (tail < 0) return tail;
    Py_ssize_t reached = ended(ends, 0, first);
    return head + ended(ends, reached, last) - reached + tail;
}

/* exact_tokens(text, ends, known, start, end, joiner) -> int */
PyObject *exact_tokens(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count) {
    Py_ssize_t edge[2];
    if (count != 6 || !PyUnicode_Check(arguments[0]) || !PyDict_Check(arguments[2]) || !PyUnicode_Check(arguments[5])) {
        PyErr_SetString(PyExc_TypeError, "exact_tokens takes a text, its ends, what is known, a start, an end, a joiner");
        return NULL;
    }
    if (positions_of(arguments + 3, 2, edge) < 0) return NULL;
    Text text = text_of(arguments[0]);
    Ends ends;
    if (open_ends(arguments[1], &ends) < 0) return NULL;
    PyObject *joiner = PyUnicode_GET_LENGTH(arguments[5]) ? arguments[5] : NULL;
    Py_ssize_t found = exact(&text, &ends, arguments[2], edge, joiner);
    PyBuffer_Release(&ends.buffer);
    return found == -2 ? NULL : PyLong_FromSsize_t(found);
}
