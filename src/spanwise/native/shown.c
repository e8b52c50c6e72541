/* Visible text on one line: see shown.py. */

#include "compiled.h"

#define EDGE 0x1E

typedef struct {
    Py_UCS4 *words;
    Py_ssize_t length, limit, room;
    Py_UCS4 between; /* to insert before the next letter: a space, an edge, or 0 for nothing */
} Line;

static int begin_line(Line *line, PyObject *limit) {
    *line = (Line){0};
    if (position_of(limit, &line->limit) < 0) return -1;
    if (line->limit >= 0) return 0;
    PyErr_SetString(PyExc_ValueError, "a line has no negative length");
    return -1;
}

/* Make room for a text of `size` characters, as far as the limit allows. */
static int make_room(Line *line, Py_ssize_t size) {
    /* one more for what is between; inside the text that takes the place of white space */
    Py_ssize_t free = line->limit - line->length, wanted = line->length + (size < free ? size + 1 : free);
    if (wanted <= line->room) return 0;
    if (wanted < line->room * 2) wanted = line->room * 2;
    Py_UCS4 *words = PyMem_Realloc(line->words, (size_t)wanted * sizeof(Py_UCS4));
    if (!words) {
        PyErr_NoMemory();
        return -1;
    }
    line->words = words;
    line->room = wanted;
    return 0;
}

static void part(Line *line, Py_UCS4 between) {
    if (line->between != EDGE) line->between = between;
}

static inline void say_letter(Line *line, Py_UCS4 letter) {
    if (Py_UNICODE_ISSPACE(letter)) {
        part(line, letter == EDGE ? EDGE : ' ');
    } else if (line->length < line->limit) {
        if (line->between && line->length) line->words[line->length++] = line->between;
        line->between = 0;
        if (line->length < line->limit) line->words[line->length++] = letter;
    }
}

static int say(Line *line, PyObject *text) {
    int width = PyUnicode_KIND(text);
    const void *data = PyUnicode_DATA(text);
    Py_ssize_t size = PyUnicode_GET_LENGTH(text);
    if (make_room(line, size) < 0) return -1;
    for (Py_ssize_t place = 0; place < size && line->length < line->limit; place++)
        say_letter(line, PyUnicode_READ(width, data, place));
    return 0;
}

/* Return the line, or NULL if something has failed; release its memory. */
static PyObject *end_line(Line *line, int failed) {
    Py_ssize_t length = line->length;
    if (length && Py_UNICODE_ISSPACE(line->words[length - 1])) length--;
    PyObject *made = failed ? NULL : PyUnicode_FromKindAndData(PyUnicode_4BYTE_KIND, line->words, length);
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
    return end_line(&line, say(&line, arguments[0]) < 0);
}

static int is(PyObject *name, const char *word) { return PyUnicode_CompareWithASCIIString(name, word) == 0; }

static int is_inline(PyObject *tag) {
    return is(tag, "Emphasis") || is(tag, "Strong") || is(tag, "Link") || is(tag, "Strikethrough");
}

/* Return the only key of a dictionary, and its value unless NULL is given; both are borrowed. */
static PyObject *only_name(PyObject *named, PyObject **value) {
    PyObject *name = NULL;
    Py_ssize_t position = 0;
    if (PyDict_Check(named) && PyDict_Next(named, &position, &name, value) && PyUnicode_Check(name)) return name;
    PyErr_SetString(PyExc_TypeError, "an event is a name, or a dictionary of one");
    return NULL;
}

static int is_line_end(PyObject *tag) {
    return PyUnicode_GET_LENGTH(tag) > 2 && PyUnicode_READ_CHAR(tag, 0) == '<' &&
           PyUnicode_READ_CHAR(tag, 1) == 'b' && PyUnicode_READ_CHAR(tag, 2) == 'r';
}

/* Process an event; -1 if it isn't one. */
static int take(Line *line, PyObject *event, int described, Py_ssize_t *pictures) {
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
    } else if (is(name, "Text") || is(name, "Code") || is(name, "InlineHtml")) {
        if (!PyUnicode_Check(value)) {
            PyErr_SetString(PyExc_TypeError, "the text of an event is a string");
            return -1;
        }
        if (is(name, "InlineHtml")) {
            if (is_line_end(value)) part(line, EDGE);
        } else if (!PyUnicode_GET_LENGTH(value)) {
            part(line, EDGE);
        } else if (described || !*pictures) {
            return say(line, value);
        }
    } else {
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
    Py_ssize_t pictures = 0;
    int described = PyObject_IsTrue(arguments[2]), failed = 0;
    if (described < 0 || begin_line(&line, arguments[1]) < 0) return NULL;
    PyObject *event, *events = PyObject_GetIter(arguments[0]);
    while (events && !failed && line.length < line.limit && (event = PyIter_Next(events))) {
        failed = take(&line, event, described, &pictures) < 0;
        Py_DECREF(event);
    }
    Py_XDECREF(events);
    return end_line(&line, PyErr_Occurred() != NULL);
}

/* ---- plain text, without a parser ---- */

typedef struct {
    int width;
    const void *data;
    Py_ssize_t size; /* how many characters may be read */
} Source;

static inline Py_UCS4 at(const Source *text, Py_ssize_t place) { return PyUnicode_READ(text->width, text->data, place); }

static const char MARKS[128] = {
    ['\\'] = 1, ['`'] = 1, ['*'] = 1, ['_'] = 1, ['['] = 1, [']'] = 1,
    ['<'] = 1,  ['>'] = 1, ['&'] = 1, ['|'] = 1, ['~'] = 1, ['!'] = 1, ['\n'] = 1,
};

static inline int is_mark(Py_UCS4 letter) { return letter < 128 && MARKS[letter]; }

static int begins_words(const Source *text, Py_ssize_t place) {
    if (place >= text->size) return 0;
    Py_UCS4 letter = at(text, place);
    return letter == '`' || letter == '[' || (Py_UNICODE_ISALNUM(letter) && !Py_UNICODE_ISDECIMAL(letter));
}

/* Return the position of the backtick that closes code whose content begins at `start`, or -1. */
static Py_ssize_t code_end(const Source *text, Py_ssize_t start) {
    Py_ssize_t end = start;
    while (end < text->size && at(text, end) != '`' && at(text, end) != '\n') end++;
    if (end == start || end == text->size || at(text, end) == '\n') return -1;
    if (Py_UNICODE_ISSPACE(at(text, start)) || Py_UNICODE_ISSPACE(at(text, end - 1))) return -1;
    return end + 1 < text->size && at(text, end + 1) == '`' ? -1 : end;
}

/* Return where the text of a link, which begins at `start`, ends, and set `after` to its end; -1 if it isn't plain. */
static Py_ssize_t link_end(const Source *text, Py_ssize_t start, Py_ssize_t *after) {
    Py_ssize_t end = start, place;
    while (end < text->size && at(text, end) != '^' && !is_mark(at(text, end))) end++;
    if (end + 1 >= text->size || at(text, end) != ']' || at(text, end + 1) != '(') return -1;
    for (place = end + 2; place < text->size && at(text, place) != ')'; place++) {
        Py_UCS4 letter = at(text, place);
        if (letter == '(' || letter == '\\' || letter == '<' || letter == '>' || letter == '&') return -1;
        if (Py_UNICODE_ISSPACE(letter)) return -1;
    }
    *after = place + 1;
    return place < text->size ? end : -1;
}

/* Whether the line has reached its limit; a space at the end doesn't count. */
static int is_full(const Line *line) {
    return line->length == line->limit && !Py_UNICODE_ISSPACE(line->words[line->length - 1]);
}

/* Add the plain text from a position on, and return where it ends. */
static Py_ssize_t say_words(Line *line, const Source *text, Py_ssize_t place) {
    while (place < text->size && !is_full(line)) {
        Py_UCS4 letter = at(text, place);
        Py_ssize_t end = place + 1, after = place + 1;
        if (letter == '`') {
            end = code_end(text, ++place);
            after = end + 1;
        } else if (letter == '[') {
            end = link_end(text, ++place, &after);
        } else if (is_mark(letter)) {
            return place;
        }
        if (end < 0) return place - 1;
        while (place < end) say_letter(line, at(text, place++));
        place = after;
    }
    return place;
}

/* plain_words(text, limit) -> str | None */
PyObject *plain_words(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count) {
    Line line;
    if (count != 2 || !PyUnicode_Check(arguments[0])) {
        PyErr_SetString(PyExc_TypeError, "plain_words takes a text and a limit");
        return NULL;
    }
    Py_ssize_t length = PyUnicode_GET_LENGTH(arguments[0]), place = -1;
    if (begin_line(&line, arguments[1]) < 0) return NULL;
    Py_ssize_t limit = line.limit < length ? line.limit : length;
    Source text = {PyUnicode_KIND(arguments[0]), PyUnicode_DATA(arguments[0]), length / 4 < limit ? length : limit * 4};
    line.limit = limit + 1; /* one more shows whether there is more */
    int failed = make_room(&line, text.size) < 0;
    while (!failed && begins_words(&text, place + 1) && !is_full(&line)) {
        if (place >= 0) part(&line, ' ');
        place = say_words(&line, &text, place + 1);
        if (place >= text.size || at(&text, place) != '\n' || at(&text, place - 1) == ' ') break;
    }
    int plain = place >= 0 && (place == length || is_full(&line));
    if (line.length > limit) line.length = limit;
    PyObject *made = end_line(&line, failed);
    if (plain || !made) return made;
    Py_DECREF(made);
    Py_RETURN_NONE;
}
