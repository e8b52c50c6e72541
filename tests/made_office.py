"""Office files made in tests, part by part, as short as the formats allow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from made_zips import zip_of

_SCHEMAS = "http://schemas.openxmlformats.org"
_RELATIONS = f"{_SCHEMAS}/officeDocument/2006/relationships"
_NAMES = {
    "w": f"{_SCHEMAS}/wordprocessingml/2006/main",
    "a": f"{_SCHEMAS}/drawingml/2006/main",
    "p": f"{_SCHEMAS}/presentationml/2006/main",
    "r": _RELATIONS,
    "m": f"{_SCHEMAS}/officeDocument/2006/math",
    "c": f"{_SCHEMAS}/drawingml/2006/chart",
    "dgm": f"{_SCHEMAS}/drawingml/2006/diagram",
    "pic": f"{_SCHEMAS}/drawingml/2006/picture",
    "wp": f"{_SCHEMAS}/drawingml/2006/wordprocessingDrawing",
    "mc": f"{_SCHEMAS}/markup-compatibility/2006",
    "v": "urn:schemas-microsoft-com:vml",
    "o": "urn:schemas-microsoft-com:office:office",
    "a14": "http://schemas.microsoft.com/office/drawing/2010/main",
    "wps": "http://schemas.microsoft.com/office/word/2010/wordprocessingShape",
    "dc": "http://purl.org/dc/elements/1.1/",
    "cp": f"{_SCHEMAS}/package/2006/metadata/core-properties",
    "dcterms": "http://purl.org/dc/terms/",
}
_DECLARED = " ".join(f'xmlns:{name}="{address}"' for name, address in _NAMES.items())
_KINDS = {"core": f"{_SCHEMAS}/package/2006/relationships/metadata/core-properties"}

Relations = Sequence[tuple[str, str, str] | tuple[str, str, str, str]]
"""Id, kind, target, and maybe `External`."""

Place = tuple[int, int, int, int]
"""Left, top, width and height."""

STYLES = """
<w:docDefaults/><w:style w:type="paragraph" w:default="1" w:styleId="a"><w:name w:val="Normal"/></w:style>
<w:style w:type="paragraph" w:styleId="Tytu"><w:name w:val="Title"/></w:style>
<w:style w:type="paragraph" w:styleId="Nagwek1"><w:name w:val="heading 1"/><w:basedOn w:val="a"/>
<w:pPr><w:outlineLvl w:val="0"/></w:pPr><w:rPr><w:b/></w:rPr></w:style>
<w:style w:type="paragraph" w:styleId="Nagwek2"><w:name w:val="heading 2"/>
<w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style>
<w:style w:type="paragraph" w:styleId="Moj"><w:name w:val="Mine"/><w:basedOn w:val="Nagwek2"/></w:style>
<w:style w:type="paragraph" w:styleId="Body9"><w:name w:val="Contents"/><w:basedOn w:val="Nagwek1"/>
<w:pPr><w:outlineLvl w:val="9"/></w:pPr></w:style>
<w:style w:type="paragraph" w:styleId="berschrift3"><w:name w:val="Überschrift 3"/></w:style>
<w:style w:type="paragraph" w:styleId="SourceCode"><w:name w:val="Source Code"/></w:style>
<w:style w:type="paragraph" w:styleId="Mine2"><w:name w:val="My Code"/><w:basedOn w:val="SourceCode"/></w:style>
<w:style w:type="paragraph" w:styleId="HTML"><w:name w:val="HTML Preformatted"/></w:style>
<w:style w:type="paragraph" w:styleId="Zitat"><w:name w:val="Quote"/></w:style>
<w:style w:type="paragraph" w:styleId="Beschriftung"><w:name w:val="caption"/></w:style>
<w:style w:type="paragraph" w:styleId="Secret"><w:name w:val="Secret"/><w:rPr><w:vanish/></w:rPr></w:style>
<w:style w:type="character" w:styleId="Strong"><w:name w:val="Strong"/><w:rPr><w:b/></w:rPr></w:style>
<w:style w:type="character" w:styleId="VerbatimChar"><w:name w:val="Verbatim Char"/></w:style>
<w:style w:type="paragraph" w:styleId="Numbered"><w:name w:val="Numbered"/>
<w:pPr><w:numPr><w:numId w:val="3"/></w:numPr></w:pPr></w:style>
<w:style w:type="paragraph" w:styleId="Numbered2"><w:name w:val="Numbered 2"/>
<w:pPr><w:numPr><w:numId w:val="3"/></w:numPr></w:pPr></w:style>
"""


def level(index: int, form: str, pattern: str, more: str = "", left: int | None = None) -> str:
    """Return a level of a numbering."""
    indent = f'<w:pPr><w:ind w:left="{720 * (index + 1) if left is None else left}"/></w:pPr>'
    return (
        f'<w:lvl w:ilvl="{index}"><w:start w:val="1"/><w:numFmt w:val="{form}"/>{more}'
        f'<w:lvlText w:val="{pattern}"/>{indent}</w:lvl>'
    )


def numbering(definitions: Mapping[str, str], nums: Mapping[str, str]) -> str:
    """Return definitions by id, and numberings by id with the definition and maybe overrides after a space."""
    made = [f'<w:abstractNum w:abstractNumId="{key}">{levels}</w:abstractNum>' for key, levels in definitions.items()]
    for key, value in nums.items():
        abstract, _, more = value.partition(" ")
        made.append(f'<w:num w:numId="{key}"><w:abstractNumId w:val="{abstract}"/>{more}</w:num>')
    return "".join(made)


NUMBERING = numbering(
    {
        "1": "".join(level(index, "bullet", "•") for index in range(9)),
        "2": level(0, "decimal", "%1.") + level(1, "lowerLetter", "(%2)") + level(2, "upperRoman", "%3."),
        "3": level(0, "decimal", "%1.", '<w:pStyle w:val="Numbered"/>')
        + level(1, "decimal", "%1.%2", '<w:pStyle w:val="Numbered2"/>'),
        "4": level(0, "decimal", "%1)"),
    },
    {
        "1": "1", "2": "2", "3": "3", "4": "4",
        "5": '2 <w:lvlOverride w:ilvl="0"><w:startOverride w:val="7"/></w:lvlOverride>',
    },
)  # fmt: skip


def part(root: str, inner: str, attributes: str = "") -> str:
    """Return a part with all namespaces."""
    prefixed = root if ":" in root else f"w:{root}"
    return f'<?xml version="1.0" encoding="UTF-8"?><{prefixed} {_DECLARED} {attributes}>{inner}</{prefixed}>'


def relations(found: Relations) -> str:
    """Return a part with relations."""
    made = "".join(
        f'<Relationship Id="{one[0]}" Type="{_KINDS.get(one[1], f"{_RELATIONS}/{one[1]}")}" Target="{one[2]}"'
        + (' TargetMode="External"/>' if len(one) > 3 else "/>")
        for one in found
    )
    return f'<Relationships xmlns="{_SCHEMAS}/package/2006/relationships">{made}</Relationships>'


def core(title: str = "", author: str = "", modified: str = "") -> str:
    """Return the core properties."""
    inner = f"<dc:title>{title}</dc:title><dc:creator>{author}</dc:creator>"
    return part("cp:coreProperties", inner + f"<dcterms:modified>{modified}</dcterms:modified>")


def p(content: str = "", style: str = "", properties: str = "") -> str:
    """Return a paragraph; content that is no XML is a run."""
    known = (f'<w:pStyle w:val="{style}"/>' if style else "") + properties
    return f"<w:p>{f'<w:pPr>{known}</w:pPr>' if known else ''}{content if '<' in content else run(content)}</w:p>"


def run(text: str, properties: str = "") -> str:
    """Return a run."""
    known = f"<w:rPr>{properties}</w:rPr>" if properties else ""
    return f'<w:r>{known}<w:t xml:space="preserve">{text}</w:t></w:r>' if text else ""


def item(text: str, number: int, depth: int = 0) -> str:
    """Return an item of a list."""
    return p(text, properties=f'<w:numPr><w:ilvl w:val="{depth}"/><w:numId w:val="{number}"/></w:numPr>')


def table(*rows: Sequence[str], properties: str = "") -> str:
    """Return a table of rows of cells; a cell of text is one paragraph, others are XML."""
    made = "".join(f"<w:tr>{''.join(map(cell, row))}</w:tr>" for row in rows)
    return f"<w:tbl><w:tblPr>{properties}</w:tblPr>{made}</w:tbl>"


def cell(content: str, properties: str = "") -> str:
    """Return a cell."""
    if content.startswith("<w:tc>"):
        return content
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{content if '<w:' in content else p(content)}</w:tc>"


def field(instruction: str, result: str) -> str:
    """Return a complex field; the result is runs."""
    return (
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r>'
        f"<w:r><w:instrText>{instruction}</w:instrText></w:r>"
        f'<w:r><w:fldChar w:fldCharType="separate"/></w:r>{result}<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )


def picture(key: str, text: str) -> str:
    """Return a run with a picture."""
    return (
        f'<w:r><w:drawing><wp:inline><wp:docPr id="1" name="Picture 1" descr="{text}"/><a:graphic><a:graphicData>'
        f'<pic:pic><pic:blipFill><a:blip r:embed="{key}"/></pic:blipFill></pic:pic>'
        "</a:graphicData></a:graphic></wp:inline></w:drawing></w:r>"
    )


def docx(
    body: str, parts: Mapping[str, str | bytes] = {}, related: Relations = (), properties: str | None = None
) -> bytes:
    """Return a document; `parts` come beside the usual ones, and `related` beside the usual relations."""
    usual = [("rS", "styles", "styles.xml"), ("rN", "numbering", "numbering.xml")]
    files: dict[str, str | bytes] = {
        "_rels/.rels": relations([("r1", "officeDocument", "word/document.xml"), ("r2", "core", "docProps/core.xml")]),
        "word/document.xml": part("document", f"<w:body>{body}</w:body>"),
        "word/_rels/document.xml.rels": relations([*usual, *related]),
        "word/styles.xml": part("styles", STYLES),
        "word/numbering.xml": part("numbering", NUMBERING),
        "docProps/core.xml": properties or core(),
    }
    return zip_of({**files, **parts})


def strict(data: Mapping[str, str]) -> dict[str, str]:
    """Return parts with the namespaces of Strict files."""
    made = {}
    for name, text in data.items():
        for kind in ("wordprocessingml", "drawingml", "presentationml", "officeDocument"):
            text = text.replace(f"{_SCHEMAS}/{kind}/2006/", f"http://purl.oclc.org/ooxml/{kind}/")
        made[name] = text
    return made


def sp(text: str, kind: str = "", key: str = "", place: Place | None = None, known: str = "") -> str:
    """Return a shape of paragraphs; a placeholder if it has a kind or a key."""
    ph = f'<p:ph type="{kind}" idx="{key or 0}"/>' if kind else f'<p:ph idx="{key}"/>' if key else ""
    body = (
        text
        if text.startswith("<")
        else "".join(f"<a:p><a:r><a:t>{line}</a:t></a:r></a:p>" for line in text.split("\n"))
    )
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr id="2" name="x" {known}/><p:cNvSpPr/><p:nvPr>{ph}</p:nvPr></p:nvSpPr>'
        f"<p:spPr>{xfrm(place)}</p:spPr><p:txBody><a:bodyPr/>{body}</p:txBody></p:sp>"
    )


def xfrm(place: Place | None, prefix: str = "a") -> str:
    """Return the XML of a place."""
    if place is None:
        return ""
    x, y, width, height = place
    return f'<{prefix}:xfrm><a:off x="{x}" y="{y}"/><a:ext cx="{width}" cy="{height}"/></{prefix}:xfrm>'


def ap(text: str, depth: int = 0, bullet: str = "") -> str:
    """Return a paragraph of a slide."""
    return f'<a:p><a:pPr lvl="{depth}">{bullet}</a:pPr><a:r><a:t>{text}</a:t></a:r></a:p>'


def frame(content: str, place: Place | None = None, text: str = "") -> str:
    """Return a frame for a table, a chart or a diagram."""
    return (
        f'<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="5" name="f" descr="{text}"/><p:nvPr/></p:nvGraphicFramePr>'
        f"{xfrm(place, 'p')}<a:graphic><a:graphicData>{content}</a:graphicData></a:graphic></p:graphicFrame>"
    )


def slide_table(*rows: Sequence[str], first_row: bool = True) -> str:
    """Return a table of a slide; a cell is text, or attributes and text with a bar between."""
    made = ""
    for row in rows:
        made += "<a:tr>"
        for one in row:
            attributes, _, text = one.rpartition("|")
            lines = "".join(f"<a:p><a:r><a:t>{line}</a:t></a:r></a:p>" for line in text.split("\n"))
            made += f"<a:tc {attributes}><a:txBody>{lines}</a:txBody></a:tc>"
        made += "</a:tr>"
    return f'<a:tbl><a:tblPr firstRow="{int(first_row)}"/>{made}</a:tbl>'


_BULLET = '<a:lvl1pPr><a:buChar char="•"/></a:lvl1pPr><a:lvl2pPr><a:buChar char="–"/></a:lvl2pPr>'
MASTER = part(
    "p:sldMaster",
    f"<p:cSld><p:spTree><p:nvGrpSpPr/><p:grpSpPr/>{sp('Title', 'title', place=(0, 0, 900, 100))}"
    f"{sp('Body', 'body', '1', (0, 100, 900, 500))}</p:spTree></p:cSld>"
    f"<p:txStyles><p:titleStyle/><p:bodyStyle>{_BULLET}</p:bodyStyle><p:otherStyle/></p:txStyles>",
)
LAYOUT = part(
    "p:sldLayout",
    f"<p:cSld><p:spTree><p:nvGrpSpPr/><p:grpSpPr/>{sp('Title', 'title')}{sp('Click to add', '', '1')}"
    "</p:spTree></p:cSld>",
)


def pptx(
    slides: Sequence[str | tuple[str, str]],
    parts: Mapping[str, str | bytes] = {},
    related: Mapping[int, Relations] = {},
    properties: str | None = None,
) -> bytes:
    """Return a presentation of slides, each its shapes and maybe attributes; `related` is by number of the slide."""
    count = len(slides)
    ids = "".join(f'<p:sldId id="{255 + number}" r:id="s{number}"/>' for number in range(1, count + 1))
    files: dict[str, str | bytes] = {
        "_rels/.rels": relations(
            [("r1", "officeDocument", "ppt/presentation.xml"), ("r2", "core", "docProps/core.xml")]
        ),
        "ppt/presentation.xml": part("p:presentation", f"<p:sldIdLst>{ids}</p:sldIdLst>"),
        "ppt/_rels/presentation.xml.rels": relations(
            [(f"s{number}", "slide", f"slides/slide{count + 1 - number}.xml") for number in range(1, count + 1)]
        ),
        "ppt/slideLayouts/slideLayout1.xml": LAYOUT,
        "ppt/slideLayouts/_rels/slideLayout1.xml.rels": relations([("m", "slideMaster", "../slideMasters/m.xml")]),
        "ppt/slideMasters/m.xml": MASTER,
        "docProps/core.xml": properties or core(),
    }
    for number, slide in enumerate(slides, 1):
        shapes, attributes = slide if isinstance(slide, tuple) else (slide, "")
        inner = f"<p:cSld><p:spTree><p:nvGrpSpPr/><p:grpSpPr/>{shapes}</p:spTree></p:cSld>"
        name = f"slide{count + 1 - number}.xml"  # the order of the presentation is not that of the names
        files[f"ppt/slides/{name}"] = part("p:sld", inner, attributes)
        layout = ("l", "slideLayout", "../slideLayouts/slideLayout1.xml")
        files[f"ppt/slides/_rels/{name}.rels"] = relations([layout, *related.get(number, ())])
    return zip_of({**files, **parts})
