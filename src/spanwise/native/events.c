/* Blocks from the events of the Markdown parser: see events.py, which has the same steps. */

#include "compiled.h"

#include <string.h>

#define ROW 6   /* fields of a row: kind, start, end, level, title, parts */

typedef struct {
    PyObject *text;
    Characters characters;
    PyObject *kinds;    /* maps the parser's names of blocks to kinds */
    PyObject *comment;  /* the kind of HTML that is only comments; NULL without one */
    PyTypeObject *shape, *part_shape; /* of rows and of parts */
    int tagged, coded, embeds, keeps;
    Kept kept; /* what a page shows, if it `keeps` that */
    PyObject *rows, *links, *codes, *tags; /* the results */

    PyObject *kind; /* of the block that is open; NULL without one */
    long level;     /* of a heading, else 0 */
    char parted;    /* 'L' in a list, 'T' in a table, else 0 */
    Py_ssize_t begin, until, words_until, link_until; /* in bytes */
    PyObject *words, *link_words; /* NULL while empty */
    Ranges parts, block_tags;     /* in bytes until the block is closed */
} Walk;

static Py_ssize_t character(const Walk *walk, Py_ssize_t place) { return character_at(&walk->characters, place); }

/* ---- helpers, which return -1 on failure ---- */

/* Return a value of a dictionary by its name, borrowed, without running Python code; NULL if there is none. */
static PyObject *named(PyObject *values, const char *name) {
    PyObject *key, *value;
    Py_ssize_t position = 0;
    while (PyDict_Next(values, &position, &key, &value))
        if (PyUnicode_Check(key) && PyUnicode_CompareWithASCIIString(key, name) == 0) return value;
    return NULL;
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

/* Convert ranges from bytes to characters, in place; return the largest end. */
static Py_ssize_t place_ranges(const Walk *walk, Ranges *ranges) {
    Py_ssize_t last = 0;
    for (Py_ssize_t number = 0; number < ranges->size; number++) {
        Range *range = ranges->at + number;
        *range = (Range){character(walk, range->start), character(walk, range->end)};
        if (range->end > last) last = range->end;
    }
    return last;
}

static int add_tags(Walk *walk) {
    place_ranges(walk, &walk->block_tags);
    for (Py_ssize_t number = 0; number < walk->block_tags.size; number++)
        if (append(walk->tags, pair(walk->block_tags.at[number].start, walk->block_tags.at[number].end)) < 0) return -1;
    return 0;
}

/* Return the parts of the block; a list ends with its last item. */
static PyObject *take_parts(Walk *walk, Py_ssize_t start, Py_ssize_t *end) {
    if (walk->parts.size == 0) return PyTuple_New(0);
    Py_ssize_t last = place_ranges(walk, &walk->parts);
    if (walk->parted != 'L') return rows_of(walk->text, &walk->parts, *end, walk->part_shape);
    *end = last > start ? last : start; /* the parser includes a definition after the last item in the list */
    trim(walk->text, &start, end);
    return items_of(walk->text, &walk->parts, walk->part_shape);
}

static int close_block(Walk *walk) {
    if (!walk->kind) return 0;
    Py_ssize_t first = character(walk, walk->begin), start = first, end = character(walk, walk->until);
    trim(walk->text, &start, &end);
    if (start >= end) return 0;
    if (add_tags(walk) < 0) return -1;
    PyObject *parts = take_parts(walk, start, &end), *none = parts ? PyUnicode_New(0, 0) : NULL;
    PyObject *title = none && walk->words ? PyUnicode_Join(none, walk->words) : Py_XNewRef(none);
    Py_XDECREF(none);
    if (!title) {
        Py_XDECREF(parts);
        return -1;
    }
    /* the parser starts after the indentation, which belongs to code */
    if (IS(walk->kind, "code")) start = line_start(walk, first);
    int comment = walk->comment && IS(walk->kind, "html") && is_only_comments(walk, start, end);
    PyObject *fields[ROW] = {
        Py_NewRef(comment ? walk->comment : walk->kind),
        PyLong_FromSsize_t(start),
        PyLong_FromSsize_t(end),
        walk->level ? PyLong_FromLong(walk->level) : Py_NewRef(Py_None),
        title,
        parts};
    return append(walk->rows, shaped(walk->shape, fields, ROW));
}

static void forget_block(Walk *walk) {
    Py_CLEAR(walk->kind);
    walk->level = walk->parted = 0;
    walk->words_until = 0;
    walk->parts.size = walk->block_tags.size = 0;
    Py_CLEAR(walk->words);
}

/* ---- events ---- */

/* Read a level such as "H2". */
static int read_level(Walk *walk, PyObject *attributes) {
    PyObject *level = PyDict_Check(attributes) ? named(attributes, "level") : NULL;
    if (level && PyUnicode_Check(level) && PyUnicode_GET_LENGTH(level) == 2) {
        walk->level = (long)PyUnicode_READ_CHAR(level, 1) - '0';
        if (walk->level >= 1 && walk->level <= 6) return 0;
    }
    PyErr_SetString(PyExc_ValueError, "a heading of the parser has no level");
    return -1;
}

static int open_block(Walk *walk, const Event *event) {
    PyObject *tag = event->tag ? event->tag : event->name;
    if (event->said && !event->tag) return 0;
    PyObject *kind = Py_XNewRef(PyDict_GetItemWithError(walk->kinds, tag));
    if (!kind) return PyErr_Occurred() ? -1 : 0;
    int failed = !PyUnicode_Check(kind);
    if (failed) PyErr_SetString(PyExc_TypeError, "a kind is a string");
    if (failed || close_block(walk) < 0) {
        Py_DECREF(kind);
        return -1;
    }
    forget_block(walk);
    walk->kind = kind;
    walk->begin = event->start;
    walk->until = event->end;
    if (IS(tag, "List")) walk->parted = 'L';
    if (IS(tag, "Table")) walk->parted = 'T';
    if (!IS(tag, "Heading") || !event->more) return 0;
    walk->words_until = walk->until;
    return read_level(walk, event->more);
}

/* Add a link; a picture is one only if it embeds a note. */
static int add_link(Walk *walk, const Event *event, int embedded) {
    PyObject *more = event->more && PyDict_Check(event->more) ? event->more : NULL;
    PyObject *type = more ? named(more, "link_type") : NULL, *target = type ? named(more, "dest_url") : NULL;
    if (type && embedded && !PyDict_Check(type)) return 0;
    if (!target) {
        PyErr_SetString(PyExc_ValueError, "a link of the parser has no target");
        return -1;
    }
    PyObject *wiki = PyDict_Check(type) ? Py_True : Py_False;
    Py_INCREF(target); /* a collection of garbage, which the next line may start, can run Python code */
    PyObject *words = PyList_New(0);
    if (!words) {
        Py_DECREF(target);
        return -1;
    }
    int failed = append(walk->links, Py_BuildValue("(NOOn)", target, words, wiki, character(walk, event->start)));
    walk->link_until = event->end;
    if (walk->link_until > walk->words_until) walk->words_until = walk->link_until;
    Py_XSETREF(walk->link_words, words);
    return failed;
}

static int start_inside(Walk *walk, const Event *event) {
    PyObject *tag = event->tag;
    int wanted = walk->parted == 'L'   ? IS(tag, "Item")
                 : walk->parted == 'T' ? IS(tag, "TableRow") || IS(tag, "TableHead")
                                       : 0;
    if (wanted) return add_range(&walk->parts, event->start, event->end);
    int embedded = walk->embeds && IS(tag, "Image");
    return embedded || IS(tag, "Link") ? add_link(walk, event, embedded) : 0;
}

static int add_word(Walk *walk, const Event *event) {
    PyObject *word;
    if (!event->said)
        word = PyUnicode_FromStringAndSize(" ", 1);
    else if (IS(event->name, "Text") || IS(event->name, "Code"))
        word = Py_NewRef(event->said);
    else
        return 0;
    int failed = !word;
    if (!failed && walk->level) {
        if (!walk->words) walk->words = PyList_New(0);
        failed = !walk->words || PyList_Append(walk->words, word) < 0;
    }
    if (!failed && event->start < walk->link_until) failed = PyList_Append(walk->link_words, word) < 0;
    Py_XDECREF(word);
    return failed ? -1 : 0;
}

/* Record the range of code in a block, and of HTML tags in a paragraph, if they are asked for. */
static int look_closely(Walk *walk, const Event *event) {
    if (!event->said) return 0;
    if (walk->tagged && IS(event->name, "InlineHtml"))
        return IS(walk->kind, "paragraph") ? add_range(&walk->block_tags, event->start, event->end) : 0;
    if (!walk->coded || !(event->tag ? IS(event->tag, "CodeBlock") : IS(event->name, "Code"))) return 0;
    return append(walk->codes, pair(character(walk, event->start), character(walk, event->end)));
}

static int take_event(Walk *walk, PyObject *pair) {
    Event event = {0};
    int failed = open_event(walk->characters.length, pair, &event);
    if (!failed && walk->keeps) failed = take_kept(&walk->kept, &event);
    if (!failed && (!walk->kind || event.start >= walk->until)) {
        failed = open_block(walk, &event);
    } else if (!failed) {
        if (event.tag) failed = start_inside(walk, &event);
        else if (event.start < walk->words_until) failed = add_word(walk, &event);
        if (!failed && (walk->tagged || walk->coded)) failed = look_closely(walk, &event);
    }
    release_event(&event);
    return failed;
}

static int take_events(Walk *walk, PyObject *events) {
    PyObject *pair, *row = PyObject_GetIter(events);
    if (!row) return -1;
    int failed = 0;
    while (!failed && (pair = PyIter_Next(row))) {
        failed = take_event(walk, pair);
        Py_DECREF(pair);
    }
    Py_DECREF(row);
    return failed || PyErr_Occurred() ? -1 : close_block(walk);
}

/* Read the kinds and the wishes. */
static int begin_walk(Walk *walk, PyObject *const *arguments) {
    PyObject *comment = named(walk->kinds, "Comment");
    if (comment && PyUnicode_Check(comment)) walk->comment = Py_NewRef(comment);
    walk->tagged = PyObject_IsTrue(arguments[4]);
    walk->coded = walk->tagged < 0 ? -1 : PyObject_IsTrue(arguments[5]);
    walk->embeds = walk->coded < 0 ? -1 : PyObject_IsTrue(arguments[6]);
    walk->keeps = walk->embeds < 0 ? -1 : PyObject_IsTrue(arguments[7]);
    if (walk->keeps < 0 || know_characters(&walk->characters, walk->text) < 0) return -1;
    if (!(walk->rows = PyList_New(0)) || !(walk->links = PyList_New(0))) return -1;
    if (!(walk->codes = PyList_New(0)) || !(walk->tags = PyList_New(0))) return -1;
    return walk->keeps ? begin_kept(&walk->kept, &walk->characters) : 0;
}

/* walk(text, events, kinds, shapes, tagged, coded, embeds, keeps) -> (rows, links, codes, tags, kept) */
PyObject *walk(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count) {
    PyObject *shapes = count == 8 ? arguments[3] : Py_None;
    if (!PyTuple_Check(shapes) || PyTuple_GET_SIZE(shapes) != 2 || !is_shape(PyTuple_GET_ITEM(shapes, 0)) ||
        !is_shape(PyTuple_GET_ITEM(shapes, 1)) || !PyUnicode_Check(arguments[0]) || !PyDict_Check(arguments[2])) {
        PyErr_SetString(PyExc_TypeError, "walk takes a text, events, kinds, two shapes, and four wishes");
        return NULL;
    }
    Walk state = {.text = arguments[0], .kinds = arguments[2]};
    state.shape = (PyTypeObject *)PyTuple_GET_ITEM(shapes, 0);
    state.part_shape = (PyTypeObject *)PyTuple_GET_ITEM(shapes, 1);
    PyObject *found = NULL;
    if (begin_walk(&state, arguments) == 0 && take_events(&state, arguments[1]) == 0) {
        PyObject *kept = state.keeps ? found_kept(&state.kept) : Py_NewRef(Py_None);
        if (kept) found = PyTuple_Pack(5, state.rows, state.links, state.codes, state.tags, kept);
        Py_XDECREF(kept);
    }
    forget_block(&state);
    release_kept(&state.kept);
    PyMem_Free(state.characters.known);
    PyMem_Free(state.parts.at);
    PyMem_Free(state.block_tags.at);
    Py_XDECREF(state.comment);
    Py_XDECREF(state.link_words);
    Py_XDECREF(state.rows);
    Py_XDECREF(state.links);
    Py_XDECREF(state.codes);
    Py_XDECREF(state.tags);
    return found;
}
