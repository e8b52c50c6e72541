/* HTML without its tags: see tags.py. */

#include "compiled.h"

#include <string.h>

#define EDGE 0x1E
#define LONGEST 10

static const char *const BLOCKS[] = {
    "p",  "div", "li", "ul", "ol",     "tr",         "td",  "th",         "table",   "h1",      "h2", "h3", "h4",
    "h5", "h6",  "br", "figure", "figcaption", "pre", "blockquote", "section", "article", "dt", "dd", NULL,
};

static int is_word(Py_UCS4 letter) { return letter == '_' || Py_UNICODE_ISALNUM(letter); }

/* A letter as it is when case is ignored: two have no capital but that of another. */
static Py_UCS4 folded(Py_UCS4 letter) {
    Py_UCS4 lower = Py_UNICODE_TOLOWER(letter);
    return lower == 0x131 ? 'i' : lower == 0x17F ? 's' : lower;
}

/* Find the next sign of a tag, or the end. */
static Py_ssize_t sign_from(const Py_UCS4 *text, Py_ssize_t place, Py_ssize_t size) {
    while (place < size && text[place] != '<' && text[place] != '>') place++;
    return place;
}

/* Give the place after the tag that begins here, or 0. */
static Py_ssize_t tag_end(const Py_UCS4 *text, Py_ssize_t start, Py_ssize_t size) {
    Py_ssize_t end = sign_from(text, start + 1, size);
    return end < size && text[end] == '>' ? end + 1 : 0;
}

static int begins_block(const Py_UCS4 *text, Py_ssize_t place, Py_ssize_t size) {
    char name[LONGEST + 1];
    int length = 0;
    if (place < size && text[place] == '/') place++;
    for (; place < size && is_word(text[place]); place++) {
        Py_UCS4 letter = folded(text[place]);
        if (length == LONGEST || letter > 127) return 0;
        name[length++] = (char)letter;
    }
    name[length] = 0;
    for (int known = 0; BLOCKS[known]; known++)
        if (strcmp(name, BLOCKS[known]) == 0) return 1;
    return 0;
}

/* Give the place after the comment that begins here, or 0. */
static Py_ssize_t comment_end(const Py_UCS4 *text, Py_ssize_t start, Py_ssize_t size) {
    if (size - start < 7 || text[start + 1] != '!' || text[start + 2] != '-' || text[start + 3] != '-') return 0;
    for (Py_ssize_t place = start + 6; place < size; place++)
        if (text[place] == '>' && text[place - 1] == '-' && text[place - 2] == '-') return place + 1;
    return 0;
}

static Py_ssize_t mark_blocks(Py_UCS4 *text, Py_ssize_t size) {
    Py_ssize_t kept = 0, place = 0, end;
    while (place < size) {
        if (text[place] == '<' && begins_block(text, place + 1, size) && (end = tag_end(text, place, size))) {
            text[kept++] = EDGE;
            place = end;
        } else {
            text[kept++] = text[place++];
        }
    }
    return kept;
}

static Py_ssize_t drop_tags(Py_UCS4 *text, Py_ssize_t size) {
    Py_ssize_t kept = 0, place = 0, end;
    while (place < size) {
        int tag = text[place] == '<';
        if (tag && ((end = comment_end(text, place, size)) || (end = tag_end(text, place, size)))) place = end;
        else text[kept++] = text[place++];
    }
    return kept;
}

/* without_tags(text) -> str */
PyObject *without_tags(PyObject *Py_UNUSED(module), PyObject *text) {
    if (!PyUnicode_Check(text)) {
        PyErr_SetString(PyExc_TypeError, "without_tags takes a string");
        return NULL;
    }
    Py_UCS4 *letters = PyUnicode_AsUCS4Copy(text);
    if (!letters) return NULL;
    Py_ssize_t size = drop_tags(letters, mark_blocks(letters, PyUnicode_GET_LENGTH(text)));
    PyObject *made = PyUnicode_FromKindAndData(PyUnicode_4BYTE_KIND, letters, size);
    PyMem_Free(letters);
    return made;
}
