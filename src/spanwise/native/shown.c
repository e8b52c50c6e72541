/* What a page shows, on one line: see shown.py. */

#include "compiled.h"

#define EDGE 0x1E

typedef struct {
    Py_UCS4 *words;
    Py_ssize_t length, limit;
    Py_UCS4 between; /* what stands before the next letter, if there is one: a space, an edge, or nothing */
} Line;

static int begin_line(Line *line, PyObject *limit) {
    *line = (Line){.limit = PyLong_AsSsize_t(limit)};
    if (line->limit < 0) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "a line has no negative length");
        return -1;
    }
    line->words = PyMem_New(Py_UCS4, line->limit + 1);
    if (!line->words) PyErr_NoMemory();
    return line->words ? 0 : -1;
}

static void part(Line *line, Py_UCS4 between) {
    if (line->between != EDGE) line->between = between;
}

static void say(Line *line, PyObject *text) {
    int width = PyUnicode_KIND(text);
    const void *data = PyUnicode_DATA(text);
    Py_ssize_t size = PyUnicode_GET_LENGTH(text);
    for (Py_ssize_t place = 0; place < size && line->length < line->limit; place++) {
        Py_UCS4 letter = PyUnicode_READ(width, data, place);
        if (Py_UNICODE_ISSPACE(letter)) {
            part(line, letter == EDGE ? EDGE : ' ');
            continue;
        }
        if (line->between && line->length) line->words[line->length++] = line->between;
        line->between = 0;
        if (line->length < line->limit) line->words[line->length++] = letter;
    }
}

static PyObject *end_line(Line *line) {
    Py_ssize_t length = line->length;
    if (length && Py_UNICODE_ISSPACE(line->words[length - 1])) length--;
    PyObject *made = PyErr_Occurred() ? NULL : PyUnicode_FromKindAndData(PyUnicode_4BYTE_KIND, line->words, length);
    PyMem_Free(line->words);
    return made;
}

/* collapsed(text, limit) -> str */
PyObject *collapsed(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count) {
    Line line;
    if (count != 2 || !PyUnicode_Check(arguments[0])) {
        PyErr_SetString(PyExc_TypeError, "collapsed takes a text and a limit");
        return NULL;
    }
    if (begin_line(&line, arguments[1]) < 0) return NULL;
    say(&line, arguments[0]);
    return end_line(&line);
}

static int is(PyObject *name, const char *word) { return PyUnicode_CompareWithASCIIString(name, word) == 0; }

static int is_inline(PyObject *tag) {
    return is(tag, "Emphasis") || is(tag, "Strong") || is(tag, "Link") || is(tag, "Strikethrough");
}

/* Give the one name in a dictionary, and its value if that is wanted; both are borrowed. */
static PyObject *only_name(PyObject *named, PyObject **value) {
    PyObject *name = NULL;
    Py_ssize_t position = 0;
    if (PyDict_Check(named) && PyDict_Next(named, &position, &name, value) && PyUnicode_Check(name)) return name;
    PyErr_SetString(PyExc_TypeError, "an event is a name, or a dictionary of one");
    return NULL;
}

static int is_line_end(PyObject *tag) {
    return PyUnicode_Check(tag) && PyUnicode_GET_LENGTH(tag) > 2 && PyUnicode_READ_CHAR(tag, 0) == '<' &&
           PyUnicode_READ_CHAR(tag, 1) == 'b' && PyUnicode_READ_CHAR(tag, 2) == 'r';
}

/* Take in an event; -1 if it is none. */
static int take(Line *line, PyObject *event, int described, int *pictures) {
    if (PyUnicode_Check(event)) {
        part(line, is(event, "SoftBreak") ? ' ' : EDGE);
        return 0;
    }
    PyObject *value, *name = only_name(event, &value);
    if (!name) return -1;
    int start = is(name, "Start");
    if (start || is(name, "End")) {
        PyObject *tag = PyUnicode_Check(value) ? value : only_name(value, NULL);
        if (!tag) return -1;
        if (is(tag, "Image")) *pictures += start ? 1 : -1;
        else if (!is_inline(tag)) part(line, EDGE);
    } else if ((is(name, "Text") || is(name, "Code")) && PyUnicode_Check(value) && PyUnicode_GET_LENGTH(value)) {
        if (described || !*pictures) say(line, value);
    } else if (!is(name, "InlineHtml") || is_line_end(value)) {
        part(line, EDGE);
    }
    return 0;
}

/* words_of(events, limit, described) -> str */
PyObject *words_of(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count) {
    Line line;
    if (count != 3) {
        PyErr_SetString(PyExc_TypeError, "words_of takes events, a limit, and whether pictures are described");
        return NULL;
    }
    int described = PyObject_IsTrue(arguments[2]), pictures = 0, failed = 0;
    if (described < 0 || begin_line(&line, arguments[1]) < 0) return NULL;
    PyObject *event, *events = PyObject_GetIter(arguments[0]);
    while (events && !failed && line.length < line.limit && (event = PyIter_Next(events))) {
        failed = take(&line, event, described, &pictures) < 0;
        Py_DECREF(event);
    }
    Py_XDECREF(events);
    return end_line(&line);
}
