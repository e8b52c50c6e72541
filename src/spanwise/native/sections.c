/* Plans for sections that the token map alone can decide: see sections.py. */

#include "compiled.h"

#define NEAR 4 /* as in seams.py */
#define LARGEST (PY_SSIZE_T_MAX / 4)
#define PLAN 6 /* fields of a plan: start, end, first, last, overlap, around */

enum kind { LEFT_OUT, PARAGRAPH, HEADING, CODE, LIST, TABLE, QUOTE, FIGURE, RULE, MIXED };

typedef struct {
    enum kind kind;
    int solid;
    PyObject *start, *end; /* integers of a block, borrowed: tuples keep theirs */
    Py_ssize_t first, last, begin, finish, size;
} Draft;

typedef struct {
    Py_ssize_t room, target, smallest, joint, mixes_code, overlaps;
} Sizes;

/* The drafts of a section, and the results of the sections before it. */
typedef struct {
    Draft *drafts;
    Py_ssize_t size;
    Sizes sizes;
    Py_ssize_t room;    /* of a section without a prefix */
    PyObject *blocks, *prefixes; /* NULL without a template */
    PyTypeObject *shape;
    PyObject *found;
} Packing;

/* Return the kind of a block's draft; the most frequent ones come first. */
static enum kind kind_of(PyObject *name) {
    static const struct {
        const char *name;
        enum kind kind;
    } known[] = {{"paragraph", PARAGRAPH}, {"heading", HEADING}, {"code", CODE}, {"list", LIST},     {"html", PARAGRAPH},
                 {"table", TABLE},         {"quote", QUOTE},     {"rule", RULE}, {"figure", FIGURE}};
    for (size_t place = 0; PyUnicode_Check(name) && place < sizeof known / sizeof *known; place++)
        if (PyUnicode_CompareWithASCIIString(name, known[place].name) == 0) return known[place].kind;
    return LEFT_OUT;
}

static int is_apart(const Draft *draft) { return draft->kind == CODE || draft->kind == TABLE; }

static int is_solid(const Draft *draft, const Draft *other) {
    return draft->solid && other->solid && other->first - draft->last <= 1;
}

static Py_ssize_t size_with(const Draft *draft, const Draft *other, const Sizes *sizes) {
    return is_solid(draft, other) ? other->finish - draft->begin : draft->size + other->size + sizes->joint;
}

/* Add the next draft: 1 if both fit, 0 if they don't, -1 if only an exact count could decide. */
static int grow(Draft *draft, const Draft *other, const Sizes *sizes) {
    Py_ssize_t size = size_with(draft, other, sizes);
    if (size + NEAR > sizes->room) return size - NEAR > sizes->room ? 0 : -1;
    draft->solid = is_solid(draft, other);
    if (draft->kind != other->kind) draft->kind = MIXED;
    draft->end = other->end;
    draft->last = other->last;
    draft->finish = other->finish;
    draft->size = size;
    return 1;
}

/* Whether to join a draft to the one before it: first paragraphs, then short ones, then those still too short. */
typedef int (*Wish)(const Draft *before, const Draft *draft, const Sizes *sizes, int is_last);

static int is_next_paragraph(const Draft *before, const Draft *draft, const Sizes *sizes, int Py_UNUSED(is_last)) {
    return before->kind == PARAGRAPH && draft->kind == PARAGRAPH && before->size < sizes->target;
}

static int is_short_neighbour(const Draft *before, const Draft *draft, const Sizes *sizes, int Py_UNUSED(is_last)) {
    if (before->size >= sizes->smallest && draft->size >= sizes->smallest) return 0;
    int mixing = sizes->mixes_code && draft->size < sizes->smallest && draft->kind == CODE;
    if (is_apart(before) || (is_apart(draft) && !mixing)) return 0;
    return size_with(before, draft, sizes) < sizes->target;
}

static int is_too_short(const Draft *draft, const Sizes *sizes) {
    int may_be = is_apart(draft) || draft->kind == LIST || draft->kind == QUOTE;
    return draft->size < sizes->smallest && !may_be;
}

static int must_lengthen(const Draft *before, const Draft *draft, const Sizes *sizes, int is_last) {
    if (is_apart(before) || is_apart(draft)) return 0;
    return is_too_short(before, sizes) || (is_too_short(draft, sizes) && !is_last);
}

/* Join drafts to the ones before them where `wish` asks for it and they fit; -1 if only an exact count could decide. */
static int put_together(Packing *packing, Wish wish, int goes_on) {
    Py_ssize_t kept = 0;
    for (Py_ssize_t place = 0; place < packing->size; place++) {
        Draft *draft = packing->drafts + place, *before = kept ? packing->drafts + kept - 1 : NULL;
        int is_last = place == packing->size - 1 && !goes_on;
        int taken = before && wish(before, draft, &packing->sizes, is_last) ? grow(before, draft, &packing->sizes) : 0;
        if (taken < 0) return -1;
        if (!taken) packing->drafts[kept++] = *draft;
    }
    packing->size = kept;
    return 0;
}

static int has_short(const Packing *packing) {
    for (Py_ssize_t place = 0; place < packing->size; place++)
        if (packing->drafts[place].size < packing->sizes.smallest) return packing->size > 1;
    return 0;
}

/* Pack the drafts of a section; -1 if one is too large, or only an exact count could decide. */
static int pack(Packing *packing, int goes_on) {
    for (Py_ssize_t place = 0; place < packing->size; place++)
        if (packing->drafts[place].size + NEAR > packing->sizes.room) return -1;
    if (put_together(packing, is_next_paragraph, goes_on) < 0) return -1;
    if (!has_short(packing)) return 0;
    return put_together(packing, is_short_neighbour, goes_on) < 0 ? -1 : put_together(packing, must_lengthen, goes_on);
}

static PyObject *plan(const Draft *draft, int overlap, PyTypeObject *shape) {
    PyObject *fields[PLAN] = {Py_NewRef(draft->start),          Py_NewRef(draft->end),
                              PyLong_FromSsize_t(draft->first), PyLong_FromSsize_t(draft->last),
                              PyBool_FromLong(overlap),         Py_NewRef(Py_None)};
    return shaped(shape, fields, PLAN);
}

/* Take what the template needs from the room of a section: 1, or 0 if that isn't known, -1 for an error. */
static int make_room(Packing *packing, Py_ssize_t first) {
    if (!packing->prefixes) return 1;
    PyObject *block = PyTuple_GET_ITEM(packing->blocks, first);
    PyObject *path = PyTuple_GET_SIZE(block) > 3 ? PyTuple_GET_ITEM(block, 3) : Py_None;
    PyObject *prefix = Py_XNewRef(PyDict_GetItemWithError(packing->prefixes, path));
    if (!prefix) return PyErr_Occurred() ? -1 : 0;
    Py_ssize_t tokens = -1;
    int failed = PyTuple_Check(prefix) && PyTuple_GET_SIZE(prefix) == 2
                     ? position_of(PyTuple_GET_ITEM(prefix, 1), &tokens) < 0
                     : (PyErr_SetString(PyExc_TypeError, "a prefix is a text with its tokens"), 1);
    Py_DECREF(prefix);
    if (failed || tokens < 0 || tokens > INT32_MAX) return failed ? -1 : 0;
    packing->sizes.room = packing->room - tokens;
    return 1;
}

/* Add the plans of a section, or the section itself where it can't be planned, and begin the next. */
static int close_section(Packing *packing, int goes_on) {
    if (packing->size == 0) return 0;
    Py_ssize_t first = packing->drafts[0].first, last = packing->drafts[packing->size - 1].first;
    int failed = 0, before = 0;
    int has_room = make_room(packing, first);
    if (has_room < 0) return -1;
    if (!has_room || pack(packing, goes_on) < 0) {
        failed = append(packing->found, Py_BuildValue("(nnO)", first, last + 1, goes_on ? Py_True : Py_False));
    } else {
        for (Py_ssize_t place = 0; place < packing->size && !failed; place++) {
            const Draft *draft = packing->drafts + place;
            int prose = packing->sizes.overlaps && (draft->kind == PARAGRAPH || draft->kind == MIXED);
            failed = append(packing->found, plan(draft, prose && before, packing->shape));
            before = prose;
        }
    }
    packing->size = 0;
    return failed;
}

/* Draft the blocks, and pack those between headings and rules. */
static int pack_blocks(Packing *packing, PyObject *blocks, const Ends *ends, Py_ssize_t low, Py_ssize_t high) {
    Py_ssize_t edge[2];
    Cursor cursor = {0};
    for (Py_ssize_t place = low; place < high; place++) {
        PyObject *block = PyTuple_GET_ITEM(blocks, place);
        if (!PyTuple_Check(block) || PyTuple_GET_SIZE(block) < 3) {
            PyErr_SetString(PyExc_TypeError, "blocks are tuples that begin with a kind, a start and an end");
            return -1;
        }
        enum kind kind = kind_of(PyTuple_GET_ITEM(block, 0));
        if (kind == LEFT_OUT) continue;
        if (kind == HEADING || kind == RULE) {
            if (close_section(packing, kind == RULE) < 0) return -1;
            continue;
        }
        if (positions_of(&PyTuple_GET_ITEM(block, 1), 2, edge) < 0) return -1;
        Py_ssize_t begin = ended_next(ends, &cursor, edge[0]), finish = ended_next(ends, &cursor, edge[1]);
        PyObject *start = PyTuple_GET_ITEM(block, 1), *end = PyTuple_GET_ITEM(block, 2);
        packing->drafts[packing->size++] = (Draft){kind, 1, start, end, place, place, begin, finish, finish - begin};
    }
    return close_section(packing, 0);
}

/* Read the sizes, so that no sum of them and of tokens overflows. */
static int read_sizes(PyObject *given, Sizes *sizes) {
    Py_ssize_t read[6];
    if (positions_of(&PyTuple_GET_ITEM(given, 0), 6, read) < 0) return -1;
    for (int place = 0; place < 4; place++) { /* none is more than the tokens that any text has */
        Py_ssize_t most = place < 3 ? LARGEST : INT32_MAX;
        read[place] = read[place] > most ? most : read[place] < -most ? -most : read[place];
    }
    *sizes = (Sizes){read[0], read[1], read[2], read[3], read[4], read[5]};
    return 0;
}

/* plans_at_sight(blocks, low, high, ends, sizes, prefixes, shape) -> list */
PyObject *plans_at_sight(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count) {
    Py_ssize_t bounds[2];
    if (count != 7 || !PyTuple_Check(arguments[0]) || !PyTuple_Check(arguments[4]) ||
        PyTuple_GET_SIZE(arguments[4]) != 6 || !is_shape(arguments[6]) ||
        (arguments[5] != Py_None && !PyDict_Check(arguments[5]))) {
        PyErr_SetString(PyExc_TypeError, "plans_at_sight takes blocks, two bounds, ends, six sizes, prefixes, a shape");
        return NULL;
    }
    Packing packing = {.blocks = arguments[0], .shape = (PyTypeObject *)arguments[6]};
    packing.prefixes = arguments[5] == Py_None ? NULL : arguments[5];
    if (positions_of(arguments + 1, 2, bounds) < 0 || read_sizes(arguments[4], &packing.sizes) < 0) return NULL;
    packing.room = packing.sizes.room;
    if (bounds[0] < 0) bounds[0] = 0;
    if (bounds[1] > PyTuple_GET_SIZE(arguments[0])) bounds[1] = PyTuple_GET_SIZE(arguments[0]);
    Ends ends;
    if (open_ends(arguments[3], &ends) < 0) return NULL;
    packing.drafts = PyMem_New(Draft, bounds[1] > bounds[0] ? bounds[1] - bounds[0] : 1);
    packing.found = packing.drafts ? PyList_New(0) : PyErr_NoMemory();
    if (packing.found && pack_blocks(&packing, arguments[0], &ends, bounds[0], bounds[1]) < 0) Py_CLEAR(packing.found);
    PyMem_Free(packing.drafts);
    PyBuffer_Release(&ends.buffer);
    return packing.found;
}
