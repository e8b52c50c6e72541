/* Blocks from the events of the Markdown parser: see events.py, which has the same steps. */

#include "compiled.h"

#include <stdint.h>
#include <string.h>

#define STEP 64 /* bytes between two offsets whose character position is known */
#define ROW 6   /* fields of a row: kind, start, end, level, title, parts */

typedef struct {
    PyObject *text;
    const char *bytes;
    Py_ssize_t length;  /* in bytes */
    int32_t *known;     /* the character position of every STEP-th byte; NULL for ASCII */
    PyObject *kinds;    /* maps the parser's names of blocks to kinds */
    PyObject *comment;  /* the kind of HTML that is only comments, borrowed from `kinds` */
    PyTypeObject *shape, *part_shape; /* of rows and of parts */
    int tagged, coded, embeds;
    PyObject *rows, *links, *codes, *tags; /* the results */

    PyObject *kind; /* of the block that is open, borrowed from `kinds`; NULL without one */
    long level;     /* of a heading, else 0 */
    char parted;    /* 'L' in a list, 'T' in a table, else 0 */
    Py_ssize_t begin, until, words_until, link_until; /* in bytes */
    PyObject *words, *link_words, *parts, *block_tags; /* NULL while empty */
} Walk;

static int is(PyObject *name, const char *word, Py_ssize_t length) {
    return PyUnicode_GET_LENGTH(name) == length && PyUnicode_CompareWithASCIIString(name, word) == 0;
}
#define IS(name, word) is(name, word, (Py_ssize_t)sizeof(word) - 1)

/* ---- bytes to characters ---- */

static Py_ssize_t begun(const char *bytes, Py_ssize_t length) {
    Py_ssize_t total = 0;
    for (Py_ssize_t place = 0; place < length; place++) total += (bytes[place] & 0xC0) != 0x80;
    return total;
}

static int know_characters(Walk *walk) {
    if (walk->length == PyUnicode_GET_LENGTH(walk->text)) return 0;
    Py_ssize_t steps = walk->length / STEP + 1;
    walk->known = PyMem_Malloc((size_t)steps * sizeof(int32_t));
    if (!walk->known) {
        PyErr_NoMemory();
        return -1;
    }
    Py_ssize_t total = 0;
    for (Py_ssize_t step = 0; step < steps; step++) {
        walk->known[step] = (int32_t)total;
        Py_ssize_t left = walk->length - step * STEP;
        total += begun(walk->bytes + step * STEP, left < STEP ? left : STEP);
    }
    return 0;
}

static Py_ssize_t character(const Walk *walk, Py_ssize_t place) {
    if (!walk->known) return place;
    Py_ssize_t step = place / STEP;
    return walk->known[step] + begun(walk->bytes + step * STEP, place - step * STEP);
}

/* ---- helpers, which return -1 on failure ---- */

static int append_range(PyObject **list, Py_ssize_t start, Py_ssize_t end) {
    if (!*list && !(*list = PyList_New(0))) return -1;
    return append(*list, Py_BuildValue("(nn)", start, end));
}

/* Read the "start" or "end" of a range; the first letter distinguishes them. */
static int read_place(const Walk *walk, PyObject *where, char letter, Py_ssize_t *place) {
    PyObject *key, *value;
    Py_ssize_t position = 0;
    while (PyDict_Next(where, &position, &key, &value)) {
        if (!PyUnicode_Check(key) || PyUnicode_READ_CHAR(key, 0) != (Py_UCS4)letter) continue;
        *place = PyLong_AsSsize_t(value);
        if (*place >= 0 && *place <= walk->length) return 0;
        break;
    }
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "an event of the parser has no range in the text");
    return -1;
}

/* Read the name and the value of an event, both borrowed; an event that is a string has no value. */
static int take_apart(PyObject *event, PyObject **name, PyObject **said) {
    Py_ssize_t position = 0;
    *said = NULL;
    if (PyUnicode_Check(event)) {
        *name = event;
        return 0;
    }
    if (PyDict_Check(event) && PyDict_Next(event, &position, name, said) && PyUnicode_Check(*name)) return 0;
    PyErr_SetString(PyExc_ValueError, "an event of the parser is neither a word nor a dictionary");
    return -1;
}

/* ---- closing a block ---- */

static Py_ssize_t line_start(const Walk *walk, Py_ssize_t place) {
    int width = PyUnicode_KIND(walk->text);
    const void *data = PyUnicode_DATA(walk->text);
    while (place > 0 && PyUnicode_READ(width, data, place - 1) != '\n') place--;
    return place;
}

static Py_ssize_t find(const Walk *walk, const char *word, Py_ssize_t start, Py_ssize_t end) {
    int width = PyUnicode_KIND(walk->text);
    const void *data = PyUnicode_DATA(walk->text);
    Py_ssize_t length = (Py_ssize_t)strlen(word), same = 0;
    for (; start + length <= end; start++) {
        for (same = 0; same < length && PyUnicode_READ(width, data, start + same) == (Py_UCS4)word[same];) same++;
        if (same == length) return start;
    }
    return -1;
}

/* Whether a range of HTML is comments and nothing else; an unclosed one doesn't count. */
static int is_only_comments(const Walk *walk, Py_ssize_t start, Py_ssize_t end) {
    while (start < end && find(walk, "<!--", start, start + 4 < end ? start + 4 : end) == start) {
        Py_ssize_t closing = find(walk, "-->", start + 2, end), rest = end;
        if (closing < 0) return 0;
        start = closing + 3;
        trim(walk->text, &start, &rest);
    }
    return start == end;
}

/* Convert a list of ranges from bytes to characters, in place; return the largest end. */
static Py_ssize_t place_ranges(const Walk *walk, PyObject *ranges) {
    Py_ssize_t last = 0;
    for (Py_ssize_t number = 0; number < PyList_GET_SIZE(ranges); number++) {
        PyObject *range = PyList_GET_ITEM(ranges, number);
        Py_ssize_t start = character(walk, PyLong_AsSsize_t(PyTuple_GET_ITEM(range, 0)));
        Py_ssize_t end = character(walk, PyLong_AsSsize_t(PyTuple_GET_ITEM(range, 1)));
        if (end > last) last = end;
        if (!walk->known) continue;
        PyObject *placed = Py_BuildValue("(nn)", start, end);
        if (!placed || PyList_SetItem(ranges, number, placed) < 0) return -1;
    }
    return last;
}

static int close_block(Walk *walk) {
    if (!walk->kind) return 0;
    Py_ssize_t first = character(walk, walk->begin), start = first, end = character(walk, walk->until);
    trim(walk->text, &start, &end);
    if (start == end) return 0;
    if (walk->block_tags) {
        if (place_ranges(walk, walk->block_tags) < 0) return -1;
        Py_ssize_t size = PyList_GET_SIZE(walk->tags);
        if (PyList_SetSlice(walk->tags, size, size, walk->block_tags) < 0) return -1;
    }
    PyObject *parts = NULL;
    if (walk->parts) {
        Py_ssize_t last = place_ranges(walk, walk->parts);
        if (last < 0) return -1;
        if (walk->parted == 'L') { /* the parser includes a definition after the last item in the list */
            Py_ssize_t same = start;
            end = last;
            trim(walk->text, &same, &end);
            parts = items_of(walk->text, walk->parts, walk->part_shape);
        } else {
            parts = rows_of(walk->text, walk->parts, end, walk->part_shape);
        }
    } else {
        parts = PyTuple_New(0);
        /* the parser starts after the indentation, which belongs to code */
        if (IS(walk->kind, "code")) start = line_start(walk, first);
    }
    PyObject *none = PyUnicode_FromStringAndSize(NULL, 0), *kind = walk->kind;
    if (walk->comment && IS(kind, "html") && is_only_comments(walk, start, end)) kind = walk->comment;
    PyObject *fields[ROW] = {
        Py_NewRef(kind),
        PyLong_FromSsize_t(start),
        PyLong_FromSsize_t(end),
        walk->level ? PyLong_FromLong(walk->level) : Py_NewRef(Py_None),
        none && walk->words ? PyUnicode_Join(none, walk->words) : Py_XNewRef(none),
        parts};
    Py_XDECREF(none);
    return append(walk->rows, shaped(walk->shape, fields, ROW));
}

static void forget_block(Walk *walk) {
    walk->kind = NULL;
    walk->level = walk->parted = 0;
    walk->words_until = 0;
    Py_CLEAR(walk->words);
    Py_CLEAR(walk->parts);
    Py_CLEAR(walk->block_tags);
}

/* ---- events ---- */

static int open_block(Walk *walk, PyObject *name, PyObject *said, Py_ssize_t start, PyObject *where) {
    PyObject *tag = name, *more = NULL;
    if (said) {
        if (!IS(name, "Start")) return 0;
        if (take_apart(said, &tag, &more) < 0) return -1;
    } else if (!IS(name, "Rule")) {
        return 0;
    }
    PyObject *kind = PyDict_GetItemWithError(walk->kinds, tag);
    if (!kind) return PyErr_Occurred() ? -1 : 0;
    if (close_block(walk) < 0) return -1;
    forget_block(walk);
    walk->kind = kind;
    walk->begin = start;
    if (read_place(walk, where, 'e', &walk->until) < 0) return -1;
    if (IS(tag, "List")) walk->parted = 'L';
    if (IS(tag, "Table")) walk->parted = 'T';
    if (IS(tag, "Heading") && more && PyDict_Check(more)) {
        PyObject *level = PyDict_GetItemString(more, "level"); /* such as "H2" */
        if (!level || !PyUnicode_Check(level) || PyUnicode_GET_LENGTH(level) != 2) {
            PyErr_SetString(PyExc_ValueError, "a heading of the parser has no level");
            return -1;
        }
        walk->level = (long)PyUnicode_READ_CHAR(level, 1) - '0';
        walk->words_until = walk->until;
    }
    return 0;
}

static int add_link(Walk *walk, PyObject *link, Py_ssize_t start, PyObject *where) {
    PyObject *target = PyDict_GetItemString(link, "dest_url"), *type = PyDict_GetItemString(link, "link_type");
    if (!target || !type || read_place(walk, where, 'e', &walk->link_until) < 0) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "a link of the parser has no target");
        return -1;
    }
    if (walk->link_until > walk->words_until) walk->words_until = walk->link_until;
    Py_XSETREF(walk->link_words, PyList_New(0));
    if (!walk->link_words) return -1;
    PyObject *wiki = PyDict_Check(type) ? Py_True : Py_False;
    return append(walk->links, Py_BuildValue("(OOOn)", target, walk->link_words, wiki, character(walk, start)));
}

static int start_inside(Walk *walk, PyObject *said, Py_ssize_t start, PyObject *where) {
    PyObject *tag, *more;
    if (take_apart(said, &tag, &more) < 0) return -1;
    if (!more) {
        int wanted = walk->parted == 'L'   ? IS(tag, "Item")
                     : walk->parted == 'T' ? IS(tag, "TableRow") || IS(tag, "TableHead")
                                           : 0;
        Py_ssize_t end;
        return !wanted ? 0 : read_place(walk, where, 'e', &end) < 0 ? -1 : append_range(&walk->parts, start, end);
    }
    if (!PyDict_Check(more)) return 0;
    if (IS(tag, "Link")) return add_link(walk, more, start, where);
    if (walk->embeds && IS(tag, "Image")) {
        PyObject *type = PyDict_GetItemString(more, "link_type");
        return type && PyDict_Check(type) ? add_link(walk, more, start, where) : 0;
    }
    return 0;
}

static int add_word(Walk *walk, PyObject *name, PyObject *said, Py_ssize_t start) {
    PyObject *word;
    if (!said)
        word = PyUnicode_FromStringAndSize(" ", 1);
    else if (IS(name, "Text") || IS(name, "Code"))
        word = Py_NewRef(said);
    else
        return 0;
    int failed = !word;
    if (!failed && walk->level) {
        if (!walk->words) walk->words = PyList_New(0);
        failed = !walk->words || PyList_Append(walk->words, word) < 0;
    }
    if (!failed && start < walk->link_until) failed = PyList_Append(walk->link_words, word) < 0;
    Py_XDECREF(word);
    return failed ? -1 : 0;
}

/* Record the range of code in a block, and of HTML tags in a paragraph, if they are asked for. */
static int look_closely(Walk *walk, PyObject *name, PyObject *said, Py_ssize_t start, PyObject *where) {
    PyObject *tag, *more;
    Py_ssize_t end;
    if (!said) return 0;
    if (walk->tagged && IS(name, "InlineHtml")) {
        if (!IS(walk->kind, "paragraph")) return 0;
        return read_place(walk, where, 'e', &end) < 0 ? -1 : append_range(&walk->block_tags, start, end);
    }
    if (!walk->coded) return 0;
    int code = IS(name, "Code");
    if (!code && IS(name, "Start")) {
        if (take_apart(said, &tag, &more) < 0) return -1;
        code = IS(tag, "CodeBlock");
    }
    if (!code) return 0;
    if (read_place(walk, where, 'e', &end) < 0) return -1;
    return append_range(&walk->codes, character(walk, start), character(walk, end));
}

static int take_event(Walk *walk, PyObject *pair) {
    PyObject *name, *said;
    Py_ssize_t start;
    if (!PyTuple_Check(pair) || PyTuple_GET_SIZE(pair) != 2 || !PyDict_Check(PyTuple_GET_ITEM(pair, 1))) {
        PyErr_SetString(PyExc_ValueError, "an event of the parser has no range");
        return -1;
    }
    PyObject *where = PyTuple_GET_ITEM(pair, 1);
    if (read_place(walk, where, 's', &start) < 0 || take_apart(PyTuple_GET_ITEM(pair, 0), &name, &said) < 0) return -1;
    if (!walk->kind || start >= walk->until) return open_block(walk, name, said, start, where);
    if (said && IS(name, "Start")) {
        if (start_inside(walk, said, start, where) < 0) return -1;
    } else if (start < walk->words_until) {
        if (add_word(walk, name, said, start) < 0) return -1;
    }
    return walk->tagged || walk->coded ? look_closely(walk, name, said, start, where) : 0;
}

static int take_events(Walk *walk, PyObject *events) {
    PyObject *pair, *row = PyObject_GetIter(events);
    if (!row) return -1;
    while ((pair = PyIter_Next(row))) {
        int failed = take_event(walk, pair);
        Py_DECREF(pair);
        if (failed < 0) break;
    }
    Py_DECREF(row);
    return PyErr_Occurred() ? -1 : close_block(walk);
}

/* walk(text, events, kinds, shapes, tagged, coded, embeds) -> (rows, links, codes, tags) */
PyObject *walk(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count) {
    PyObject *shapes = count == 7 ? arguments[3] : Py_None;
    if (!PyTuple_Check(shapes) || PyTuple_GET_SIZE(shapes) != 2 || !is_shape(PyTuple_GET_ITEM(shapes, 0)) ||
        !is_shape(PyTuple_GET_ITEM(shapes, 1)) || !PyUnicode_Check(arguments[0]) || !PyDict_Check(arguments[2])) {
        PyErr_SetString(PyExc_TypeError, "walk takes a text, events, kinds, two shapes, and three wishes");
        return NULL;
    }
    Walk state = {.text = arguments[0], .kinds = arguments[2]};
    state.shape = (PyTypeObject *)PyTuple_GET_ITEM(shapes, 0);
    state.part_shape = (PyTypeObject *)PyTuple_GET_ITEM(shapes, 1);
    state.comment = PyDict_GetItemString(arguments[2], "Comment");
    state.tagged = PyObject_IsTrue(arguments[4]);
    state.coded = PyObject_IsTrue(arguments[5]);
    state.embeds = PyObject_IsTrue(arguments[6]);
    state.bytes = PyUnicode_AsUTF8AndSize(state.text, &state.length);
    state.rows = PyList_New(0);
    state.links = PyList_New(0);
    state.codes = PyList_New(0);
    state.tags = PyList_New(0);
    PyObject *found = NULL;
    if (state.bytes && state.rows && state.links && state.codes && state.tags && know_characters(&state) == 0 &&
        take_events(&state, arguments[1]) == 0)
        found = PyTuple_Pack(4, state.rows, state.links, state.codes, state.tags);
    forget_block(&state);
    PyMem_Free(state.known);
    Py_XDECREF(state.link_words);
    Py_XDECREF(state.rows);
    Py_XDECREF(state.links);
    Py_XDECREF(state.codes);
    Py_XDECREF(state.tags);
    return found;
}
