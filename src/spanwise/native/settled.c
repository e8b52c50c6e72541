/* Chunks from cores that need no further work: see settled.py. */

#include "compiled.h"

#define BLOCK 10  /* fields of a block: kind, start, end, headings_path, level, page, parts, ... */
#define PLAN 6    /* fields of a plan: start, end, first, last, overlap, around */
#define SETTLED 9 /* fields of a chunk: start, end, first, last, token_count, pieces, prefix, oversize, context_dropped */

typedef struct {
    Text text;
    Ends ends;
    PyObject *known, *blocks;
    PyObject *repeating, *left_out; /* sets of kinds */
    PyTypeObject *shape;
    Py_ssize_t limit;
    PyObject *prefixes; /* a tuple, one for each plan; NULL without a template */
    int is_shown;       /* what a page shows counts as well */
    Text shown;
    Ends shown_ends;
    Places places;
    PyObject *none, *empty; /* shared by all chunks: no pieces, no prefix */
} Rules;

typedef struct {
    PyObject *text; /* borrowed */
    Py_ssize_t tokens;
} Prefix;

/* Whether a block has no head: a table that continues one on the page before; -1 for an error. */
static int is_headless(PyObject *block) {
    PyObject *parts = PyTuple_GET_ITEM(block, 6);
    if (!PyTuple_Check(parts) || PyTuple_GET_SIZE(parts) == 0) return 0;
    PyObject *first = PyTuple_GET_ITEM(parts, 0);
    return PyTuple_Check(first) && PyTuple_GET_SIZE(first) > 4 ? PyObject_Not(PyTuple_GET_ITEM(first, 4)) : 0;
}

/* Whether the blocks from the first to the last contain a core, and none needs further work; -1 for an error. */
static int is_plain(const Rules *rules, const Py_ssize_t *core) {
    Py_ssize_t first = core[2], last = core[3], edge[2];
    if (first < 0 || first > last || last >= PyTuple_GET_SIZE(rules->blocks)) return 0;
    for (Py_ssize_t place = first; place <= last; place++) {
        PyObject *block = PyTuple_GET_ITEM(rules->blocks, place), *kind;
        if (!PyTuple_Check(block) || PyTuple_GET_SIZE(block) != BLOCK) return 0;
        kind = PyTuple_GET_ITEM(block, 0);
        int wrong = first < last ? PySet_Contains(rules->left_out, kind) : 0;
        if (wrong) return wrong < 0 ? -1 : 0;
        if (place != first && place != last) continue;
        int repeats = PySet_Contains(rules->repeating, kind);
        int headless = repeats > 0 && place == first ? is_headless(block) : 0;
        if (repeats < 0 || headless < 0 || positions_of(&PyTuple_GET_ITEM(block, 1), 2, edge) < 0) return -1;
        int begins_inside = place == first && (core[0] > edge[0] || headless);
        int ends_inside = place == last && core[1] < edge[1];
        if (repeats && (begins_inside || ends_inside)) return 0;
        if ((place == first && core[0] < edge[0]) || (place == last && core[1] > edge[1])) return 0;
    }
    return 1;
}

/* Count a range under a prefix; -1 if that would need encoding, -2 for an error. */
static Py_ssize_t counted(const Text *text, const Ends *ends, PyObject *known, const Py_ssize_t *edge,
                          const Prefix *prefix) {
    Py_ssize_t length = PyUnicode_GET_LENGTH(prefix->text);
    if (edge[0] < 0 || edge[0] >= edge[1] || edge[1] > text->length) return -1;
    if (length && !begins_after(PyUnicode_READ_CHAR(prefix->text, length - 1), text, edge[0])) return -1;
    Py_ssize_t found = exact(text, ends, known, edge, NULL);
    return found < 0 ? found : found + prefix->tokens;
}

/* Count what a page shows of a core; `count` if that is nothing, -1 if that would need encoding, -2 for an error. */
static Py_ssize_t shown_count(const Rules *rules, const Py_ssize_t *core, const Prefix *prefix, Py_ssize_t count) {
    const Text *text = &rules->shown;
    Py_ssize_t edge[2] = {place_of(&rules->places, core[0]), place_of(&rules->places, core[1])};
    if (edge[0] < 0 || edge[1] < 0) return -1;
    if (edge[1] > text->length) edge[1] = text->length;
    while (edge[1] > edge[0] && Py_UNICODE_ISSPACE(PyUnicode_READ(text->kind, text->data, edge[1] - 1))) edge[1]--;
    if (edge[1] <= edge[0]) return count;
    for (Py_ssize_t place = edge[0]; place < edge[1]; place++) {
        Py_UCS4 sign = PyUnicode_READ(text->kind, text->data, place);
        if (sign == '\n') edge[0] = place + 1; /* blank lines go, the indentation of code stays */
        else if (sign != ' ' && sign != '\t') break;
    }
    return counted(text, &rules->shown_ends, rules->known, edge, prefix);
}

/* Read the prefix of a plan; 0 where it has more tokens than any text. */
static int read_prefix(const Rules *rules, Py_ssize_t number, Prefix *prefix) {
    *prefix = (Prefix){rules->empty, 0};
    if (!rules->prefixes) return 1;
    PyObject *given = PyTuple_GET_ITEM(rules->prefixes, number);
    if (!PyTuple_Check(given) || PyTuple_GET_SIZE(given) != 2 || !PyUnicode_Check(PyTuple_GET_ITEM(given, 0))) {
        PyErr_SetString(PyExc_TypeError, "a prefix is a text with its tokens");
        return -1;
    }
    prefix->text = PyTuple_GET_ITEM(given, 0);
    if (position_of(PyTuple_GET_ITEM(given, 1), &prefix->tokens) < 0) return -1;
    return prefix->tokens >= 0 && prefix->tokens <= INT32_MAX;
}

/* Count a core, if it needs no further work; -1 if it does, -2 for an error. */
static Py_ssize_t count_of(const Rules *rules, const Py_ssize_t *core, const Prefix *prefix) {
    int plain = is_plain(rules, core);
    if (plain <= 0) return plain < 0 ? -2 : -1;
    Py_ssize_t count = counted(&rules->text, &rules->ends, rules->known, core, prefix);
    if (count < 0 || count > rules->limit || !rules->is_shown) return count;
    return shown_count(rules, core, prefix, count);
}

/* Return a chunk for a core, or None. */
static PyObject *settled(const Rules *rules, PyObject *plan, Py_ssize_t number) {
    Py_ssize_t core[4];
    Prefix prefix;
    if (!PyTuple_Check(plan) || PyTuple_GET_SIZE(plan) != PLAN) {
        PyErr_SetString(PyExc_TypeError, "plans are tuples of six");
        return NULL;
    }
    int overlap = PyObject_IsTrue(PyTuple_GET_ITEM(plan, 4));
    if (overlap < 0) return NULL;
    if (overlap || PyTuple_GET_ITEM(plan, 5) != Py_None) Py_RETURN_NONE;
    if (positions_of(&PyTuple_GET_ITEM(plan, 0), 4, core) < 0) return NULL;
    int has_prefix = read_prefix(rules, number, &prefix);
    if (has_prefix < 0) return NULL;
    Py_ssize_t count = has_prefix ? count_of(rules, core, &prefix) : -1;
    if (count == -2) return NULL;
    if (count < 0 || count > rules->limit) Py_RETURN_NONE;
    PyObject *fields[SETTLED] = {NULL, NULL, NULL, NULL, PyLong_FromSsize_t(count), Py_NewRef(rules->none),
                                 Py_NewRef(prefix.text), Py_NewRef(Py_False), Py_NewRef(Py_False)};
    for (int place = 0; place < 4; place++) fields[place] = Py_NewRef(PyTuple_GET_ITEM(plan, place));
    return shaped(rules->shape, fields, SETTLED);
}

static PyObject *each_settled(const Rules *rules, PyObject *plans) {
    PyObject *found = PyList_New(0);
    for (Py_ssize_t place = 0; found && place < PyTuple_GET_SIZE(plans); place++)
        if (append(found, settled(rules, PyTuple_GET_ITEM(plans, place), place)) < 0) Py_CLEAR(found);
    return found;
}

/* Read what a page shows: its text, the ends of its tokens, and what is removed for it. */
static int open_shown(Rules *rules, PyObject *given) {
    if (given == Py_None) return 0;
    if (!PyTuple_Check(given) || PyTuple_GET_SIZE(given) != 5 || !PyUnicode_Check(PyTuple_GET_ITEM(given, 0))) {
        PyErr_SetString(PyExc_TypeError, "what is shown is a text with its ends and three arrays");
        return -1;
    }
    rules->shown = text_of(PyTuple_GET_ITEM(given, 0));
    if (open_ends(PyTuple_GET_ITEM(given, 1), &rules->shown_ends) < 0) return -1;
    if (open_places(&PyTuple_GET_ITEM(given, 2), &rules->places) < 0) {
        PyBuffer_Release(&rules->shown_ends.buffer);
        return -1;
    }
    rules->is_shown = 1;
    return 0;
}

static void close_shown(Rules *rules) {
    if (!rules->is_shown) return;
    PyBuffer_Release(&rules->shown_ends.buffer);
    close_places(&rules->places);
}

/* Copy the prefixes; -1 unless there is one for each plan. */
static int read_prefixes(Rules *rules, PyObject *given, PyObject *plans) {
    if (given == Py_None) return 0;
    rules->prefixes = PySequence_Tuple(given);
    if (!rules->prefixes) return -1;
    if (PyTuple_GET_SIZE(rules->prefixes) == PyTuple_GET_SIZE(plans)) return 0;
    PyErr_SetString(PyExc_ValueError, "there is one prefix for each plan");
    return -1;
}

static int are_right(PyObject *const *arguments, Py_ssize_t count) {
    return count == 7 && PyUnicode_Check(arguments[0]) && PyDict_Check(arguments[2]) && PyTuple_Check(arguments[3]) &&
           PyTuple_Check(arguments[5]) && PyTuple_GET_SIZE(arguments[5]) == 5 &&
           PyAnySet_Check(PyTuple_GET_ITEM(arguments[5], 0)) && PyAnySet_Check(PyTuple_GET_ITEM(arguments[5], 1)) &&
           is_shape(arguments[6]);
}

/* settled_alone(text, ends, known, blocks, plans, rules, shape) -> list */
PyObject *settled_alone(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count) {
    if (!are_right(arguments, count)) {
        PyErr_SetString(PyExc_TypeError, "settled_alone takes a text, its ends, what is known, blocks, plans, rules, a shape");
        return NULL;
    }
    PyObject *given = arguments[5];
    Rules rules = {.text = text_of(arguments[0]), .known = arguments[2], .blocks = arguments[3],
                   .repeating = PyTuple_GET_ITEM(given, 0), .left_out = PyTuple_GET_ITEM(given, 1),
                   .shape = (PyTypeObject *)arguments[6]};
    if (position_of(PyTuple_GET_ITEM(given, 2), &rules.limit) < 0) return NULL;
    if (open_ends(arguments[1], &rules.ends) < 0) return NULL;
    rules.none = PyTuple_New(0);
    rules.empty = PyUnicode_New(0, 0);
    PyObject *plans = rules.none && rules.empty ? PySequence_Tuple(arguments[4]) : NULL, *found = NULL;
    if (plans && read_prefixes(&rules, PyTuple_GET_ITEM(given, 3), plans) == 0 &&
        open_shown(&rules, PyTuple_GET_ITEM(given, 4)) == 0)
        found = each_settled(&rules, plans);
    close_shown(&rules);
    Py_XDECREF(plans);
    Py_XDECREF(rules.prefixes);
    Py_XDECREF(rules.none);
    Py_XDECREF(rules.empty);
    PyBuffer_Release(&rules.ends.buffer);
    return found;
}
