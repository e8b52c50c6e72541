"""A message as all mail readers give it: header, body, attachments; and what becomes of it as a document."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from spanwise.documents.document import LeftOut, SourceRef
from spanwise.errors import SpanwiseError, UnreadableError
from spanwise.readers.builder import ReadResult
from spanwise.readers.joining import JoinedResults, Refer, plain_result
from spanwise.readers.mail.bodies import Body, body_result

MOST_ATTACHMENTS: Final = 1000
LARGEST_ATTACHMENT: Final = 256 << 20
_DEEPEST: Final = 6  # messages in messages
_MOST_CHARACTERS: Final = 1 << 28
_SHOWN: Final = ("from", "date", "to", "cc", "subject")
_HINT: Final = "open it in a mail program and save what is attached on its own"

ReadPart = Callable[[str, bytes], ReadResult]
"""Reads an attachment by its name; raises a SpanwiseError if no reader takes it."""


class Attachment(NamedTuple):
    """An attachment: bytes, or a message of its own; `inline` if it is a picture in the body, or a signature."""

    name: str
    data: bytes = b""
    message: Callable[[], Message] | None = None
    inline: bool = False


class Message(NamedTuple):
    """A message: the fields that people see by their names in lower case, and what it holds."""

    fields: Mapping[str, str]
    author: str
    moment: str
    bodies: tuple[Body, ...]
    attachments: tuple[Attachment, ...]
    left_out: tuple[LeftOut, ...] = ()

    @property
    def subject(self) -> str:
        """The subject."""
        return self.fields.get("subject", "")


def message_result(message: Message, name: str, read_part: ReadPart, depth: int = 0) -> ReadResult:
    """Return a message with its attachments as one text; raise UnreadableError if it is nested too deeply."""
    if depth > _DEEPEST:
        raise UnreadableError(name, f"is a message in more than {_DEEPEST} others", hint=_HINT)
    joined = JoinedResults()
    joined.left_out += message.left_out
    if depth:
        joined.add(_shown_header(message), lambda _: {"part": "header"})
    for body in message.bodies:
        joined.add(body_result(body, message.subject, name), lambda ref: ref or {"part": "body"})
    for attachment in message.attachments[:MOST_ATTACHMENTS]:
        _add_attachment(joined, attachment, read_part, depth)
    if (more := len(message.attachments) - MOST_ATTACHMENTS) > 0:
        joined.left_out.append(LeftOut("attachment", f"{more:,} more than {MOST_ATTACHMENTS:,}"))
    return joined.result(_metadata_of(message))


def _metadata_of(message: Message) -> dict[str, Any]:
    extra = {name: text for name, text in message.fields.items() if text and name not in {"subject", "date"}}
    found = {"title": message.subject, "author": message.author, "updated_at": message.moment}
    return {name: text for name, text in found.items() if text} | ({"extra": extra} if extra else {})


def _shown_header(message: Message) -> ReadResult:
    """Return the header of a message in another one, whose metadata are those of the outer one."""
    lines = [f"{name.capitalize()}: {text}" for name in _SHOWN if (text := message.fields.get(name))]
    return plain_result("\n".join(lines))


def _add_attachment(joined: JoinedResults, attachment: Attachment, read_part: ReadPart, depth: int) -> None:
    name, place = attachment.name, {"member": attachment.name}
    if attachment.inline:
        joined.left_out.append(LeftOut("attachment", name, place, usual=True))
        return
    try:
        if attachment.message:
            message = attachment.message()
            name = name or message.subject or "message"
            result = message_result(message, name, read_part, depth + 1)
        else:
            result = _read(attachment, read_part, _MOST_CHARACTERS - joined.length)
    except SpanwiseError as error:
        why = error.rule if isinstance(error, UnreadableError) else str(error)
        joined.left_out.append(LeftOut("attachment", f"{name}: {why}", {"member": name}))
        return
    if not result.text.strip():
        joined.left_out.append(LeftOut("attachment", f"{name}: holds no text", {"member": name}, usual=True))
        return
    joined.section(name, {"member": name})
    joined.add(result, _within(name))


def _read(attachment: Attachment, read_part: ReadPart, room: int) -> ReadResult:
    if len(attachment.data) > LARGEST_ATTACHMENT:
        raise UnreadableError(attachment.name, f"has more than {LARGEST_ATTACHMENT >> 20} MiB", hint=_HINT)
    result = read_part(attachment.name, attachment.data)
    if len(result.text) > room:
        raise UnreadableError(attachment.name, "makes the message too long a document", hint=_HINT)
    return result


def _within(name: str) -> Refer:
    """Return how references of an attachment become those of the message."""

    def refer(reference: SourceRef | None) -> SourceRef:
        inner = dict(reference or {})
        member = inner.pop("member", None)
        return {"member": f"{name}!/{member}" if member else name, **inner}

    return refer
