/* Checks that read every character of a text: see texts.py. */

#include "compiled.h"

#include <stdlib.h>

static int read_character(int width, const void *data, Py_ssize_t place, Py_ssize_t length) {
    return place < length ? (int)PyUnicode_READ(width, data, place) : 0;
}

static int is_lone(Py_UCS4 letter) { return letter >= 0xD800 && letter <= 0xDFFF; }

/* is_text(text) -> bool */
PyObject *is_text(PyObject *Py_UNUSED(module), PyObject *words) {
    if (!PyUnicode_Check(words)) {
        PyErr_SetString(PyExc_TypeError, "is_text takes a string");
        return NULL;
    }
    Py_ssize_t length = PyUnicode_GET_LENGTH(words), lone = 0;
    if (PyUnicode_KIND(words) == PyUnicode_2BYTE_KIND) {
        const Py_UCS2 *data = PyUnicode_2BYTE_DATA(words);
        for (Py_ssize_t place = 0; place < length; place++) lone += is_lone(data[place]);
    } else if (PyUnicode_KIND(words) == PyUnicode_4BYTE_KIND) {
        const Py_UCS4 *data = PyUnicode_4BYTE_DATA(words);
        for (Py_ssize_t place = 0; place < length; place++) lone += is_lone(data[place]);
    }
    return PyBool_FromLong(lone == 0);
}

/* misplaced(text, blocks) -> int */
PyObject *misplaced(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count) {
    if (count != 2 || !PyUnicode_Check(arguments[0]) || !PyTuple_Check(arguments[1])) {
        PyErr_SetString(PyExc_TypeError, "misplaced takes a text and a tuple of blocks");
        return NULL;
    }
    PyObject *text = arguments[0], *blocks = arguments[1];
    Py_ssize_t size = PyTuple_GET_SIZE(blocks), length = PyUnicode_GET_LENGTH(text), reached = 0;
    for (Py_ssize_t place = 0; place < size; place++) {
        PyObject *block = PyTuple_GET_ITEM(blocks, place);
        if (!PyTuple_Check(block) || PyTuple_GET_SIZE(block) < 3) {
            PyErr_SetString(PyExc_TypeError, "a block has a kind, a start and an end");
            return NULL;
        }
        Py_ssize_t edge[2];
        if (positions_of(&PyTuple_GET_ITEM(block, 1), 2, edge) < 0) return NULL;
        Py_ssize_t start = edge[0], end = edge[1];
        Py_ssize_t low = reached, high = start < length ? start : length;
        if (start < reached || end <= start || end > length) return PyLong_FromSsize_t(place);
        trim(text, &low, &high);
        if (low < high) return PyLong_FromSsize_t(place);
        reached = end;
    }
    trim(text, &reached, &length);
    return PyLong_FromSsize_t(reached < length ? size : -1);
}

static int is_of_name(int letter) {
    return (letter >= '0' && letter <= '9') || (letter >= 'A' && letter <= 'Z') || (letter >= 'a' && letter <= 'z') ||
           letter == '-';
}

#define WIKI 1
#define BOX 2
#define COMMENT 4
#define TAG 8
#define NAME 16
#define FIGURE 32

/* Return what a character may begin, by the one before it and the one after it. */
static int begun_by(int letter, int before, int after) {
    switch (letter) {
    case '[': return after == '[' ? WIKI : after == '!' ? BOX : 0;
    case '%': return after == '%' && before == '\n' ? COMMENT : 0;
    case '#': return is_of_name(after) || after == '_' || after == '/' || after > 127 ? TAG : 0;
    case '^': return is_of_name(after) ? NAME : 0;
    case '<': return after == 'f' || after == 'F' ? FIGURE : 0;
    default: return 0;
    }
}

static const char SIGNS[128] = {['['] = 1, ['#'] = 1, ['<'] = 1, ['%'] = 1, ['^'] = 1};

static inline int look(int width, const void *data, Py_ssize_t length) {
    int found = 0;
    for (Py_ssize_t place = 0; place < length; place++) {
        Py_UCS4 letter = PyUnicode_READ(width, data, place);
        if (letter >= 128 || !SIGNS[letter]) continue;
        int before = place ? (int)PyUnicode_READ(width, data, place - 1) : '\n';
        found |= begun_by((int)letter, before, read_character(width, data, place + 1, length));
    }
    return found;
}

/* hints(text) -> (wiki, box, comment, tag, name, figure) */
PyObject *hints(PyObject *Py_UNUSED(module), PyObject *text) {
    if (!PyUnicode_Check(text)) {
        PyErr_SetString(PyExc_TypeError, "hints takes a string");
        return NULL;
    }
    Py_ssize_t length = PyUnicode_GET_LENGTH(text);
    const void *data = PyUnicode_DATA(text);
    int width = PyUnicode_KIND(text); /* each branch is compiled for its own width */
    int found = width == PyUnicode_1BYTE_KIND   ? look(PyUnicode_1BYTE_KIND, data, length)
                : width == PyUnicode_2BYTE_KIND ? look(PyUnicode_2BYTE_KIND, data, length)
                                                : look(PyUnicode_4BYTE_KIND, data, length);
    PyObject *made = PyTuple_New(6);
    for (int bit = 0; made && bit < 6; bit++) PyTuple_SET_ITEM(made, bit, PyBool_FromLong(found >> bit & 1));
    return made;
}

static int by_size(const void *one, const void *other) {
    Py_ssize_t first = ((const Range *)one)->start, second = ((const Range *)other)->start;
    return (first > second) - (first < second);
}

/* Add the positions of a sign that another one follows; any one if that is 0. */
static int find_pairs(PyObject *text, Py_UCS4 sign, Py_UCS4 next, Ranges *found) {
    Py_ssize_t length = PyUnicode_GET_LENGTH(text), place = -1;
    int width = PyUnicode_KIND(text);
    const void *data = PyUnicode_DATA(text);
    while (++place < length && (place = PyUnicode_FindChar(text, sign, place, length, 1)) >= 0) {
        if (next && (place + 1 == length || PyUnicode_READ(width, data, place + 1) != next)) continue;
        if (add_range(found, place, place) < 0) return -1;
    }
    return place == -2 ? -1 : 0;
}

/* mark_hints(text) -> list */
PyObject *mark_hints(PyObject *Py_UNUSED(module), PyObject *text) {
    static const char pairs[][2] = {{'=', '='}, {'%', '%'}, {'[', '!'}, {'{', '#'}, {'^', 0}};
    if (!PyUnicode_Check(text)) {
        PyErr_SetString(PyExc_TypeError, "mark_hints takes a string");
        return NULL;
    }
    Ranges found = {0};
    int failed = 0;
    for (int number = 0; number < 5 && !failed; number++)
        failed = find_pairs(text, (Py_UCS4)pairs[number][0], (Py_UCS4)pairs[number][1], &found);
    if (found.size) qsort(found.at, (size_t)found.size, sizeof(Range), by_size);
    PyObject *made = failed ? NULL : PyList_New(0);
    for (Py_ssize_t place = 0; made && place < found.size; place++)
        if (append(made, PyLong_FromSsize_t(found.at[place].start)) < 0) Py_CLEAR(made);
    PyMem_Free(found.at);
    return made;
}
