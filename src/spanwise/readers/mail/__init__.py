"""The readers of messages: EML files as mail programs save them, and MSG files of Outlook."""

from __future__ import annotations

from spanwise.readers.builder import ReadResult
from spanwise.readers.mail.message import ReadPart, message_result
from spanwise.readers.mail.mime import message_of
from spanwise.readers.mail.outlook import outlook_message


def read_eml(data: bytes, name: str, read_part: ReadPart, depth: int = 0) -> ReadResult:
    """Read a message; `read_part` reads its attachments. Raise UnreadableError if it isn't one."""
    return message_result(message_of(data, name), name, read_part, depth)


def read_msg(data: bytes, name: str, read_part: ReadPart, depth: int = 0) -> ReadResult:
    """Read a message of Outlook as `read_eml` does; raise MissingExtraError without olefile."""
    return message_result(outlook_message(data, name), name, read_part, depth)
