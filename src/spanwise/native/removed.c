/* The characters of Markdown that a page doesn't show, and the text without them: see removed.py. */

#include "compiled.h"

#include <stdlib.h>
#include <string.h>

#define FARTHEST (PY_SSIZE_T_MAX / 4)

/* What is removed, and what is shown instead; NULL for nothing. */
typedef struct {
    Py_ssize_t start, end;
    PyObject *instead;
} Removed;

typedef struct {
    Removed *at;
    Py_ssize_t size, room;
} List;

typedef struct {
    Text text;
    Characters characters;
    Ranges kept, code; /* in bytes, and with the complement of the end for code; in characters */
    List marks, others, all;
    Py_ssize_t shown; /* characters */
    int overlapping;
} Work;

static int add(List *list, Py_ssize_t start, Py_ssize_t end, PyObject *instead) {
    if (list->size == list->room) {
        Py_ssize_t room = list->room * 2 + 64;
        Removed *more = PyMem_Realloc(list->at, (size_t)room * sizeof(Removed));
        if (!more) {
            PyErr_NoMemory();
            return -1;
        }
        list->at = more;
        list->room = room;
    }
    list->at[list->size++] = (Removed){start, end, instead};
    return 0;
}

/* ---- arguments ---- */

static int is_inside(const Work *work, Py_ssize_t start, Py_ssize_t end) {
    Py_ssize_t length = work->characters.length;
    if (start >= 0 && start <= length && end >= 0 && end <= length) return 1;
    PyErr_SetString(PyExc_ValueError, "what is kept lies in the text");
    return 0;
}

static Py_ssize_t end_of(const Range *range) { return range->end < 0 ? ~range->end : range->end; }

static int by_place(const void *one, const void *other) {
    const Range *first = one, *second = other;
    Py_ssize_t low = end_of(first), high = end_of(second);
    if (first->start != second->start) return first->start < second->start ? -1 : 1;
    if (low != high) return low < high ? -1 : 1;
    return (first->end < 0) - (second->end < 0);
}

static int read_kept(Work *work, PyObject *kept) {
    int sorted = 1;
    for (Py_ssize_t place = 0; place < PyBytes_GET_SIZE(kept); place += 16) {
        int64_t range[2];
        memcpy(range, PyBytes_AS_STRING(kept) + place, 16);
        Py_ssize_t end = (Py_ssize_t)(range[1] < 0 ? ~range[1] : range[1]);
        if (!is_inside(work, (Py_ssize_t)range[0], end)) return -1;
        if (add_range(&work->kept, (Py_ssize_t)range[0], (Py_ssize_t)range[1]) < 0) return -1;
        const Range *last = work->kept.at + work->kept.size - 1;
        sorted = sorted && (work->kept.size == 1 || by_place(last - 1, last) <= 0);
    }
    if (!sorted) qsort(work->kept.at, (size_t)work->kept.size, sizeof(Range), by_place);
    return 0;
}

/* Read ranges in bytes with the text that is shown instead of each. */
static int read_changed(Work *work, PyObject *changed) {
    for (Py_ssize_t place = 0; place < PyTuple_GET_SIZE(changed); place++) {
        PyObject *one = PyTuple_GET_ITEM(changed, place);
        Py_ssize_t edge[2];
        if (!PyTuple_Check(one) || PyTuple_GET_SIZE(one) != 3 || !PyUnicode_CheckExact(PyTuple_GET_ITEM(one, 2))) {
            PyErr_SetString(PyExc_TypeError, "what is changed has a start, an end and a text");
            return -1;
        }
        if (positions_of(&PyTuple_GET_ITEM(one, 0), 2, edge) < 0 || !is_inside(work, edge[0], edge[1])) return -1;
        PyObject *instead = PyTuple_GET_ITEM(one, 2); /* kept alive by the tuple */
        Py_ssize_t start = character_at(&work->characters, edge[0]), end = character_at(&work->characters, edge[1]);
        if (add(&work->others, start, end, PyUnicode_GET_LENGTH(instead) ? instead : NULL) < 0) return -1;
    }
    return 0;
}

/* Whether code reaches into a range: its ends ascend with its starts. */
static int is_in_code(const Ranges *code, Py_ssize_t start, Py_ssize_t end) {
    Py_ssize_t low = 0, high = code->size;
    while (low < high) {
        Py_ssize_t middle = low + (high - low) / 2;
        if (code->at[middle].end <= start) low = middle + 1;
        else high = middle;
    }
    return low < code->size && code->at[low].start < end;
}

/* Read the marks of notes, without those in code. */
static int read_marks(Work *work, PyObject *marks) {
    for (Py_ssize_t place = 0; place < PyTuple_GET_SIZE(marks); place++) {
        PyObject *one = PyTuple_GET_ITEM(marks, place);
        Py_ssize_t edge[4];
        if (!PyTuple_Check(one) || PyTuple_GET_SIZE(one) != 4) {
            PyErr_SetString(PyExc_TypeError, "marks are tuples of four");
            return -1;
        }
        if (positions_of(&PyTuple_GET_ITEM(one, 0), 4, edge) < 0) return -1;
        if (edge[2] < 0 || edge[2] > work->text.length || edge[3] < 0 || edge[3] > work->text.length) {
            PyErr_SetString(PyExc_ValueError, "marks lie in the text");
            return -1;
        }
        if (!is_in_code(&work->code, edge[0], edge[1]) && add(&work->others, edge[2], edge[3], NULL) < 0) return -1;
    }
    return 0;
}

/* ---- marks ---- */

static Py_UCS4 sign_at(const Work *work, Py_ssize_t place) { return PyUnicode_READ(work->text.kind, work->text.data, place); }

/* Add what of a gap between shown ranges is removed: marks, and lines that hold nothing else. */
static int add_marks(Work *work, Py_ssize_t start, Py_ssize_t end) {
    while (start < end) {
        Py_ssize_t stop = start;
        while (stop < end && sign_at(work, stop) != '\n') stop++;
        int first = start == 0 || sign_at(work, start - 1) == '\n';
        int whole = first && (stop < end || stop == work->text.length);
        Py_ssize_t low = start, high = stop;
        trim(work->text.text, &low, &high);
        if (low < high) {
            Py_ssize_t after = stop < work->text.length ? stop + 1 : stop;
            if (add(&work->marks, whole ? start : low, whole ? after : first ? stop : high, NULL) < 0) return -1;
        }
        start = stop + 1;
    }
    return 0;
}

static int find_marks(Work *work) {
    Py_ssize_t position = 0;
    for (Py_ssize_t place = 0; place < work->kept.size; place++) {
        const Range *range = work->kept.at + place;
        Py_ssize_t start = character_at(&work->characters, range->start);
        Py_ssize_t end = character_at(&work->characters, end_of(range));
        if (add_marks(work, position, start) < 0) return -1;
        if (range->end < 0 && add_range(&work->code, start, end) < 0) return -1;
        if (end > position) position = end;
    }
    return add_marks(work, position, work->text.length);
}

/* ---- merging ---- */

static int by_text(const void *one, const void *other) {
    const Removed *first = one, *second = other;
    if (first->start != second->start) return first->start < second->start ? -1 : 1;
    if (first->end != second->end) return first->end < second->end ? -1 : 1;
    if (!first->instead || !second->instead) return (first->instead != NULL) - (second->instead != NULL);
    return PyUnicode_Compare(first->instead, second->instead);
}

static int take(Work *work, const Removed *one) {
    Py_ssize_t reached = work->all.size ? work->all.at[work->all.size - 1].end : 0, start = one->start;
    if (one->start >= one->end || (work->all.size && one->end <= reached)) return 0;
    if (start < reached && !one->instead) start = reached;
    if (start < reached) work->overlapping = 1;
    work->shown += (start > reached ? start - reached : 0) + (one->instead ? PyUnicode_GET_LENGTH(one->instead) : 0);
    return add(&work->all, start, one->end, one->instead);
}

/* Put everything that is removed in order, without what begins inside another. */
static int merge(Work *work) {
    Py_ssize_t mark = 0, other = 0;
    if (work->others.size) qsort(work->others.at, (size_t)work->others.size, sizeof(Removed), by_text);
    while (mark < work->marks.size || other < work->others.size) {
        int first = other == work->others.size ||
                    (mark < work->marks.size && by_text(work->marks.at + mark, work->others.at + other) <= 0);
        if (take(work, first ? work->marks.at + mark++ : work->others.at + other++) < 0) return -1;
    }
    work->shown += work->text.length - (work->all.size ? work->all.at[work->all.size - 1].end : 0);
    return 0;
}

/* ---- results ---- */

static int widest(const Work *work) {
    int kind = work->text.kind;
    for (Py_ssize_t place = 0; place < work->all.size; place++) {
        PyObject *instead = work->all.at[place].instead;
        if (instead && PyUnicode_KIND(instead) > kind) kind = PyUnicode_KIND(instead);
    }
    return kind;
}

/* Copy a range of a string to a buffer of characters of one width; return where it goes on. */
static Py_ssize_t copy(int kind, char *shown, Py_ssize_t reached, PyObject *from, Py_ssize_t start, Py_ssize_t end) {
    int own = PyUnicode_KIND(from);
    const char *data = PyUnicode_DATA(from);
    if (own == kind) {
        memcpy(shown + reached * kind, data + start * kind, (size_t)((end - start) * kind));
        return reached + end - start;
    }
    for (; start < end; start++) PyUnicode_WRITE(kind, shown, reached++, PyUnicode_READ(own, data, start));
    return reached;
}

static PyObject *shown_text(const Work *work) {
    if (work->overlapping) return Py_NewRef(Py_None);
    int kind = widest(work);
    Py_ssize_t reached = 0, position = 0;
    char *shown = PyMem_Malloc((size_t)(work->shown + 1) * (size_t)kind);
    if (!shown) return PyErr_NoMemory();
    for (Py_ssize_t place = 0; place < work->all.size; place++) {
        const Removed *one = work->all.at + place;
        reached = copy(kind, shown, reached, work->text.text, position, one->start);
        if (one->instead) reached = copy(kind, shown, reached, one->instead, 0, PyUnicode_GET_LENGTH(one->instead));
        position = one->end;
    }
    reached = copy(kind, shown, reached, work->text.text, position, work->text.length);
    PyObject *made = PyUnicode_FromKindAndData(kind, shown, reached);
    PyMem_Free(shown);
    return made;
}

/* Fill starts, ends, and the places in the shown text after each range, and what stands instead of some. */
static int write_places(const Work *work, char *starts, char *ends, char *places, PyObject *instead_of) {
    Py_ssize_t shown = 0, position = 0;
    for (Py_ssize_t place = 0; place < work->all.size; place++) {
        const Removed *one = work->all.at + place;
        shown += (one->start > position ? one->start - position : 0);
        position = one->end;
        if (one->instead) {
            shown += PyUnicode_GET_LENGTH(one->instead);
            PyObject *number = PyLong_FromSsize_t(place);
            int failed = !number || PyDict_SetItem(instead_of, number, one->instead) < 0;
            Py_XDECREF(number);
            if (failed) return -1;
        }
        int64_t values[3] = {one->start, one->end, shown};
        memcpy(starts + place * 8, values, 8);
        memcpy(ends + place * 8, values + 1, 8);
        memcpy(places + place * 8, values + 2, 8);
    }
    return 0;
}

static PyObject *results(const Work *work) {
    PyObject *made[5] = {shown_text(work), NULL, NULL, NULL, PyDict_New()};
    for (int place = 1; place < 4; place++) made[place] = PyBytes_FromStringAndSize(NULL, work->all.size * 8);
    int failed = 0;
    for (int place = 0; place < 5; place++) failed |= !made[place];
    failed = failed || write_places(work, PyBytes_AS_STRING(made[1]), PyBytes_AS_STRING(made[2]),
                                    PyBytes_AS_STRING(made[3]), made[4]) < 0;
    PyObject *found = failed ? NULL : PyTuple_Pack(5, made[0], made[1], made[2], made[3], made[4]);
    for (int place = 0; place < 5; place++) Py_XDECREF(made[place]);
    return found;
}

/* ---- places ---- */

static int open_numbers(PyObject *given, Py_buffer *buffer) {
    if (PyObject_GetBuffer(given, buffer, PyBUF_CONTIG_RO | PyBUF_FORMAT) < 0) return -1;
    if (buffer->itemsize == 8 && buffer->format && strchr("ql", buffer->format[0]) && !buffer->format[1]) return 0;
    PyBuffer_Release(buffer);
    PyErr_SetString(PyExc_TypeError, "places are 64-bit integers");
    return -1;
}

int open_places(PyObject *const *given, Places *places) {
    if (open_numbers(given[0], &places->starts) < 0) return -1;
    if (open_numbers(given[1], &places->ends) == 0) {
        if (open_numbers(given[2], &places->places) == 0) {
            places->size = places->starts.len / 8;
            if (places->ends.len / 8 == places->size && places->places.len / 8 == places->size) return 0;
            PyErr_SetString(PyExc_ValueError, "there are as many starts as ends and places");
            PyBuffer_Release(&places->places);
        }
        PyBuffer_Release(&places->ends);
    }
    PyBuffer_Release(&places->starts);
    return -1;
}

void close_places(Places *places) {
    PyBuffer_Release(&places->starts);
    PyBuffer_Release(&places->ends);
    PyBuffer_Release(&places->places);
}

static Py_ssize_t number_at(const Py_buffer *buffer, Py_ssize_t place) {
    int64_t number;
    memcpy(&number, (const char *)buffer->buf + place * 8, 8);
    return number < 0 || number > FARTHEST ? FARTHEST : (Py_ssize_t)number; /* so that no sum overflows */
}

Py_ssize_t place_of(const Places *places, Py_ssize_t position) {
    Py_ssize_t low = 0, high = places->size;
    while (low < high) {
        Py_ssize_t middle = low + (high - low) / 2;
        if (number_at(&places->ends, middle) <= position) low = middle + 1;
        else high = middle;
    }
    Py_ssize_t before = low ? number_at(&places->places, low - 1) - number_at(&places->ends, low - 1) : 0;
    if (low == places->size || number_at(&places->starts, low) >= position) return before + position;
    before += number_at(&places->starts, low);
    return before == number_at(&places->places, low) ? before : -1;
}

/* without_hidden(text, kept, changed, marks) -> (shown or None, starts, ends, places, instead_of) */
PyObject *without_hidden(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count) {
    if (count != 4 || !PyUnicode_Check(arguments[0]) || !PyBytes_Check(arguments[1]) ||
        PyBytes_GET_SIZE(arguments[1]) % 16) {
        PyErr_SetString(PyExc_TypeError, "without_hidden takes a text, pairs of 64-bit integers, changes, and marks");
        return NULL;
    }
    Work work = {.text = text_of(arguments[0])};
    PyObject *found = NULL, *changed = PySequence_Tuple(arguments[2]);
    PyObject *marks = changed ? PySequence_Tuple(arguments[3]) : NULL;
    if (marks && know_characters(&work.characters, arguments[0]) == 0 && read_kept(&work, arguments[1]) == 0 &&
        find_marks(&work) == 0 && read_changed(&work, changed) == 0 && read_marks(&work, marks) == 0 &&
        merge(&work) == 0)
        found = results(&work);
    PyMem_Free(work.characters.known);
    PyMem_Free(work.kept.at);
    PyMem_Free(work.code.at);
    PyMem_Free(work.marks.at);
    PyMem_Free(work.others.at);
    PyMem_Free(work.all.at);
    Py_XDECREF(changed);
    Py_XDECREF(marks);
    return found;
}
