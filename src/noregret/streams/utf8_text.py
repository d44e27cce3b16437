"""Whether bytes are UTF-8, in plain Python that is also compiled."""

from typing import Any

from noregret.streams.number_text import byte_at


def continues(byte: Any) -> Any:
    """Whether a byte is one of those that follow the first of a character in UTF-8."""
    return 0x80 <= byte <= 0xBF


def after_utf8(buffer: Any, i: Any, last: Any) -> Any:
    """`last`, or the first place before it where the bytes are not UTF-8 (RFC 3629)."""
    while i < last:
        lead = byte_at(buffer, i)
        if lead < 0x80:
            i += 1
            continue
        follow = byte_at(buffer, i + 1)  # past the last byte stands no byte that continues
        low, high = 0x80, 0xBF
        if lead == 0xE0:
            low = 0xA0
        elif lead == 0xED:
            high = 0x9F
        elif lead == 0xF0:
            low = 0x90
        elif lead == 0xF4:
            high = 0x8F
        if lead < 0xC2 or lead > 0xF4 or follow < low or follow > high:
            return i
        size = 2
        if lead >= 0xE0:
            if not continues(byte_at(buffer, i + 2)):
                return i
            size = 3
        if lead >= 0xF0:
            if not continues(byte_at(buffer, i + 3)):
                return i
            size = 4
        i += size
    return last
