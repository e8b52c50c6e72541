/* What a page shows of Markdown, from the events of the parser: see kept.py. */

#include "compiled.h"

#include <string.h>

#define STEP 64 /* bytes between two offsets whose character position is known */

/* ---- bytes to characters ---- */

static Py_ssize_t begun(const char *bytes, Py_ssize_t length) {
    Py_ssize_t total = 0;
    for (Py_ssize_t place = 0; place < length; place++) total += (bytes[place] & 0xC0) != 0x80;
    return total;
}

int know_characters(Characters *characters, PyObject *text) {
    if (!(characters->bytes = PyUnicode_AsUTF8AndSize(text, &characters->length))) return -1;
    if (characters->length == PyUnicode_GET_LENGTH(text)) return 0;
    Py_ssize_t steps = characters->length / STEP + 1;
    characters->known = PyMem_New(Py_ssize_t, steps);
    if (!characters->known) {
        PyErr_NoMemory();
        return -1;
    }
    Py_ssize_t total = 0;
    for (Py_ssize_t step = 0; step < steps; step++) {
        characters->known[step] = total;
        Py_ssize_t left = characters->length - step * STEP;
        total += begun(characters->bytes + step * STEP, left < STEP ? left : STEP);
    }
    return 0;
}

Py_ssize_t character_at(const Characters *characters, Py_ssize_t place) {
    if (!characters->known) return place;
    Py_ssize_t step = place / STEP;
    return characters->known[step] + begun(characters->bytes + step * STEP, place - step * STEP);
}

/* ---- events ---- */

/* Read the "start" and the "end" of a range; the first letter distinguishes them. */
static int read_places(Py_ssize_t length, PyObject *where, Event *event) {
    PyObject *key, *value;
    Py_ssize_t position = 0;
    event->start = event->end = -1;
    while (PyDict_Next(where, &position, &key, &value)) {
        Py_UCS4 letter = PyUnicode_Check(key) && PyUnicode_GET_LENGTH(key) ? PyUnicode_READ_CHAR(key, 0) : 0;
        if (!PyLong_Check(value) || (letter != 's' && letter != 'e')) continue;
        Py_ssize_t place = PyLong_AsSsize_t(value); /* runs no Python code for an integer */
        if (place == -1 && PyErr_Occurred()) PyErr_Clear();
        if (letter == 's') event->start = place;
        else event->end = place;
    }
    if (event->start >= 0 && event->start <= length && event->end >= 0 && event->end <= length) return 0;
    PyErr_SetString(PyExc_ValueError, "an event of the parser has no range in the text");
    return -1;
}

/* Read the name and the value of an event, as new references; an event that is a string has no value. */
static int take_apart(PyObject *event, PyObject **name, PyObject **said) {
    Py_ssize_t position = 0;
    PyObject *key = event, *value = NULL;
    if (PyUnicode_Check(event) ||
        (PyDict_Check(event) && PyDict_Next(event, &position, &key, &value) && PyUnicode_Check(key))) {
        *name = Py_NewRef(key);
        *said = Py_XNewRef(value);
        return 0;
    }
    PyErr_SetString(PyExc_ValueError, "an event of the parser is neither a word nor a dictionary");
    return -1;
}

int open_event(Py_ssize_t length, PyObject *pair, Event *event) {
    if (!PyTuple_Check(pair) || PyTuple_GET_SIZE(pair) != 2 || !PyDict_Check(PyTuple_GET_ITEM(pair, 1))) {
        PyErr_SetString(PyExc_ValueError, "an event of the parser has no range");
        return -1;
    }
    if (read_places(length, PyTuple_GET_ITEM(pair, 1), event) < 0) return -1;
    if (take_apart(PyTuple_GET_ITEM(pair, 0), &event->name, &event->said) < 0) return -1;
    if (!IS(event->name, "Start")) return 0;
    if (event->said) return take_apart(event->said, &event->tag, &event->more);
    PyErr_SetString(PyExc_ValueError, "an event of the parser doesn't say what starts");
    return -1;
}

void release_event(Event *event) {
    Py_XDECREF(event->name);
    Py_XDECREF(event->said);
    Py_XDECREF(event->tag);
    Py_XDECREF(event->more);
}

/* ---- what is shown ---- */

static int keep(Kept *kept, Py_ssize_t start, Py_ssize_t end) { return add_range(&kept->ranges, start, end); }

/* Keep a range that is shown as another text. */
static int change(Kept *kept, Py_ssize_t start, Py_ssize_t end, PyObject *instead) {
    return append(kept->changed, Py_BuildValue("(nnO)", start, end, instead));
}

static int change_to(Kept *kept, Py_ssize_t start, Py_ssize_t end, const char *instead) {
    if (keep(kept, start, end) < 0) return -1;
    return append(kept->changed, Py_BuildValue("(nns)", start, end, instead));
}

static int keep_text(Kept *kept, const Event *event) {
    Py_ssize_t start = event->start, end = event->end, length;
    if (kept->in_code) return keep(kept, start, ~end);
    const char *shown = PyUnicode_AsUTF8AndSize(event->said, &length);
    if (!shown || keep(kept, start, end) < 0) return -1;
    if (length == end - start && memcmp(shown, kept->text->bytes + start, (size_t)length) == 0) return 0;
    return length == 0 && end <= start ? 0 : change(kept, start, end, event->said);
}

static int is_visible(const char *bytes, Py_ssize_t low, Py_ssize_t high) {
    for (; low < high; low++)
        if (bytes[low] != ' ' && (bytes[low] < '\t' || bytes[low] > '\r')) return 1;
    return 0;
}

static int holds_bar(const char *shown, Py_ssize_t length) {
    for (Py_ssize_t place = 0; place + 1 < length; place++)
        if (shown[place] == '\\' && shown[place + 1] == '|') return 1;
    return 0;
}

/* Keep the inside of a code span; a bar that is escaped for a table loses its backslash. */
static int keep_code(Kept *kept, const Event *event) {
    const char *bytes = kept->text->bytes;
    Py_ssize_t low = event->start, high = event->end, length;
    const char *shown = PyUnicode_AsUTF8AndSize(event->said, &length);
    if (!shown) return -1;
    for (; low < event->end && bytes[low] == '`'; low++) high--;
    if (low < high && bytes[low] == ' ' && bytes[high - 1] == ' ' && is_visible(bytes, low, high)) {
        if (change_to(kept, low, low + 1, "") < 0 || change_to(kept, high - 1, high, "") < 0) return -1;
        low++;
        high--;
    }
    int is_escaped = !holds_bar(shown, length);
    for (Py_ssize_t place = low; is_escaped && place + 1 < high; place++) {
        if (bytes[place] != '\\' || bytes[place + 1] != '|') continue;
        if (keep(kept, low, ~place) < 0) return -1;
        low = place + 1;
    }
    return keep(kept, low, ~high);
}

/* Keep the bars between cells. */
static int keep_bars(Kept *kept, Py_ssize_t start, Py_ssize_t end) {
    for (; start < end; start++)
        if (kept->text->bytes[start] == '|' && keep(kept, start, start + 1) < 0) return -1;
    return 0;
}

/* Keep the number of an item. */
static int keep_number(Kept *kept, Py_ssize_t start) {
    const char *bytes = kept->text->bytes;
    Py_ssize_t end = start;
    while (end < kept->text->length && end - start < 9 && Py_ISDIGIT(bytes[end])) end++;
    if (end == start || end == kept->text->length || (bytes[end] != '.' && bytes[end] != ')')) return 0;
    return keep(kept, start, end + 1);
}

/* ---- HTML ---- */

/* Whether a name is that of an element that hides its text. */
static int is_hiding(const char *name, Py_ssize_t length) {
    static const char *const known[] = {"script", "style", "template"};
    for (int number = 0; number < 3; number++) {
        Py_ssize_t place = 0;
        while (place < length && known[number][place] && Py_TOLOWER(name[place]) == known[number][place]) place++;
        if (place == length && !known[number][place]) return 1;
    }
    return 0;
}

static Py_ssize_t word_end(const char *tags, Py_ssize_t length, Py_ssize_t place) {
    while (place < length && (Py_ISALNUM(tags[place]) || tags[place] == '_')) place++;
    return place;
}

/* Whether HTML is left to the caller: it may hold odd names of elements or references, or an element that hides its text. */
static int is_odd(const char *tags, Py_ssize_t length) {
    for (Py_ssize_t place = 0; place < length; place++) {
        if (tags[place] != '<' && tags[place] != '&') continue;
        char sign = tags[place] == '<' ? '/' : '#';
        Py_ssize_t start = place + 1 < length && tags[place + 1] == sign ? place + 2 : place + 1;
        Py_ssize_t end = word_end(tags, length, start);
        if (end < length && tags[end] & 0x80) return 1;
        if (tags[place] == '<' && start == place + 1 && is_hiding(tags + start, end - start)) return 1;
        place = end - 1;
    }
    return 0;
}

/* Return the end of the reference that begins at `place`; 0 if none does. */
static Py_ssize_t reference_end(const char *tags, Py_ssize_t length, Py_ssize_t place) {
    Py_ssize_t start = place + 1 < length && tags[place + 1] == '#' ? place + 2 : place + 1;
    Py_ssize_t end = word_end(tags, length, start);
    return end > start && end - start <= 32 && end < length && tags[end] == ';' ? end + 1 : 0;
}

/* Return the end of the reference, comment or tag that begins at `place`; 0 if none does. */
static Py_ssize_t hidden_end(const char *tags, Py_ssize_t length, Py_ssize_t place) {
    Py_ssize_t end = place + 1;
    if (tags[place] == '&') return reference_end(tags, length, place);
    if (length - place >= 4 && memcmp(tags + place, "<!--", 4) == 0) {
        for (end = place + 4; end + 3 <= length; end++)
            if (memcmp(tags + end, "-->", 3) == 0) return end + 3;
        return length;
    }
    if (end < length && tags[end] == '/') end++;
    if (end >= length || !Py_ISALPHA(tags[end])) return 0;
    while (end < length && tags[end] != '<' && tags[end] != '>') end++;
    return end < length && tags[end] == '>' ? end + 1 : 0;
}

static int is_break(const char *tag) {
    return (tag[1] == 'b' || tag[1] == 'B') && (tag[2] == 'r' || tag[2] == 'R') && !Py_ISALNUM(tag[3]) && tag[3] != '_';
}

/* Keep a reference, which the caller knows the character of. */
static int keep_reference(Kept *kept, Py_ssize_t start, const char *reference, Py_ssize_t length) {
    if (keep(kept, start, start + length) < 0) return -1;
    return append(kept->tags, Py_BuildValue("(nns#)", start, start + length, reference, length));
}

/* Keep the text between tags, and a space for a line break. */
static int keep_html(Kept *kept, const Event *event) {
    Py_ssize_t length, start = event->start, at = 0, place = 0, end;
    const char *tags = PyUnicode_AsUTF8AndSize(event->said, &length);
    if (!tags) return -1;
    if (is_odd(tags, length)) return append(kept->tags, Py_BuildValue("(nnO)", start, start, event->said));
    while (place < length) {
        if ((tags[place] != '<' && tags[place] != '&') || !(end = hidden_end(tags, length, place))) {
            place++;
            continue;
        }
        if (keep(kept, start + at, start + place) < 0) return -1;
        if (tags[place] == '&' && keep_reference(kept, start + place, tags + place, end - place) < 0) return -1;
        if (tags[place] == '<' && is_break(tags + place) && change_to(kept, start + place, start + end, " ") < 0) return -1;
        at = place = end;
    }
    return keep(kept, start + at, start + length);
}

/* ---- what begins and ends ---- */

static int open_list(Kept *kept, int ordered) {
    if (kept->depth == kept->room) {
        Py_ssize_t room = kept->room ? kept->room * 2 : 16;
        char *more = PyMem_Realloc(kept->ordered, (size_t)room);
        if (!more) {
            PyErr_NoMemory();
            return -1;
        }
        kept->ordered = more;
        kept->room = room;
    }
    kept->ordered[kept->depth++] = (char)ordered;
    return 0;
}

static int is_row(PyObject *tag) { return IS(tag, "TableRow") || IS(tag, "TableHead"); }

/* The first letter of a name tells most of them apart at once. */
static Py_UCS4 first_of(PyObject *name) { return PyUnicode_GET_LENGTH(name) ? PyUnicode_READ_CHAR(name, 0) : 0; }

static int open_element(Kept *kept, const Event *event) {
    PyObject *tag = event->tag;
    Py_ssize_t reached = kept->reached;
    switch (first_of(tag)) {
    case 'C': kept->in_code |= IS(tag, "CodeBlock"); return 0;
    case 'I':
        if (!kept->depth || !kept->ordered[kept->depth - 1] || !IS(tag, "Item")) return 0;
        return keep_number(kept, event->start);
    case 'L': return IS(tag, "List") ? open_list(kept, event->more && event->more != Py_None) : 0;
    case 'T':
        if (is_row(tag)) kept->reached = event->start;
        if (!IS(tag, "TableCell")) return 0;
        kept->reached = event->end;
        return keep_bars(kept, reached, event->start);
    default: return 0;
    }
}

static int close_element(Kept *kept, const Event *event) {
    PyObject *tag = event->said, *value;
    Py_ssize_t position = 0;
    if (PyDict_Check(tag) && !PyDict_Next(tag, &position, &tag, &value)) return 0;
    if (!PyUnicode_Check(tag)) return 0;
    switch (first_of(tag)) {
    case 'C': kept->in_code &= !IS(tag, "CodeBlock"); return 0;
    case 'L': kept->depth -= kept->depth && IS(tag, "List"); return 0;
    case 'T': return is_row(tag) ? keep_bars(kept, kept->reached, event->end) : 0;
    default: return 0;
    }
}

typedef int (*Taking)(Kept *kept, const Event *event);

/* Return what takes the text of an event; NULL for one without. */
static Taking taking(PyObject *name) {
    switch (first_of(name)) {
    case 'T': return IS(name, "Text") ? keep_text : NULL;
    case 'C': return IS(name, "Code") ? keep_code : NULL;
    case 'H': return IS(name, "Html") ? keep_html : NULL;
    case 'I': return IS(name, "InlineHtml") ? keep_html : NULL;
    default: return NULL;
    }
}

int take_kept(Kept *kept, const Event *event) {
    if (event->tag) return open_element(kept, event);
    if (!event->said || event->said == Py_None) return 0;
    if (IS(event->name, "End")) return close_element(kept, event);
    Taking take = taking(event->name);
    if (!take || PyUnicode_Check(event->said)) return take ? take(kept, event) : 0;
    PyErr_SetString(PyExc_ValueError, "an event of the parser says no text");
    return -1;
}

int begin_kept(Kept *kept, const Characters *text) {
    kept->text = text;
    return (kept->changed = PyList_New(0)) && (kept->tags = PyList_New(0)) ? 0 : -1;
}

PyObject *found_kept(const Kept *kept) {
    PyObject *made = PyBytes_FromStringAndSize(NULL, kept->ranges.size * 16);
    for (Py_ssize_t place = 0; made && place < kept->ranges.size; place++) {
        int64_t range[2] = {kept->ranges.at[place].start, kept->ranges.at[place].end};
        memcpy(PyBytes_AS_STRING(made) + place * 16, range, 16);
    }
    return Py_BuildValue("(NOO)", made, kept->changed, kept->tags);
}

void release_kept(Kept *kept) {
    PyMem_Free(kept->ranges.at);
    PyMem_Free(kept->ordered);
    Py_CLEAR(kept->changed);
    Py_CLEAR(kept->tags);
}

static int take_events(Kept *kept, PyObject *events) {
    PyObject *pair, *row = PyObject_GetIter(events);
    if (!row) return -1;
    int failed = 0;
    while (!failed && (pair = PyIter_Next(row))) {
        Event event = {0};
        failed = open_event(kept->text->length, pair, &event) < 0 || take_kept(kept, &event) < 0;
        release_event(&event);
        Py_DECREF(pair);
    }
    Py_DECREF(row);
    return failed || PyErr_Occurred() ? -1 : 0;
}

/* kept_ranges(text, events) -> (kept, changed, tags) */
PyObject *kept_ranges(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count) {
    if (count != 2 || !PyUnicode_Check(arguments[0])) {
        PyErr_SetString(PyExc_TypeError, "kept_ranges takes a text and events");
        return NULL;
    }
    Characters characters = {0};
    Kept kept = {0};
    PyObject *found = NULL;
    if (know_characters(&characters, arguments[0]) == 0 && begin_kept(&kept, &characters) == 0 &&
        take_events(&kept, arguments[1]) == 0)
        found = found_kept(&kept);
    release_kept(&kept);
    PyMem_Free(characters.known);
    return found;
}
