"""One bounded, iterative walk over a Lexbor tree; a rule set listens to it."""

from __future__ import annotations

import time
from typing import Literal, Protocol

from selectolax.lexbor import LexborNode

from obelics_pipeline.core.config.extraction import ExtractionConfig
from obelics_pipeline.stages.extract.tags import COMMENT, TEXT

RejectionReason = Literal["too_many_nodes", "too_deep", "too_slow", "parser_error"]

SKIP = 0  # do not enter the element
INLINE = 1  # enter it, and do not say when it ends
# A listener's own codes begin at 2: enter the element, and pass the code to `leave` when it ends.

CLOCK_EVERY = 2048  # nodes between two looks at the clock


class PageRejected(Exception):
    """A page that will not be extracted. `reason` is one of `RejectionReason`."""

    def __init__(self, reason: RejectionReason) -> None:
        super().__init__(reason)
        self.reason: RejectionReason = reason


class Listener(Protocol):
    """A rule set at work on one page: hears of the nodes in document order and collects what it keeps."""

    def enter(self, node: LexborNode, tag: int) -> int:
        """An element begins. Returns SKIP, INLINE or a code of its own."""

    def leave(self, code: int) -> None:
        """The element that was entered with this code ends."""

    def text(self, text: str) -> None:
        """A text node, never inside a skipped element."""


def walk(root: LexborNode, listener: Listener, config: ExtractionConfig) -> None:
    """Visit the tree under `root` in document order, without recursion, in time linear in its nodes.

    Raises `PageRejected` beyond `max_nodes`, `max_depth` or `max_seconds` of CPU time.
    """
    enter, leave, text = listener.enter, listener.leave, listener.text
    max_nodes, max_depth = config.max_nodes, config.max_depth
    deadline: float | None = None
    visited, checkpoint = 0, CLOCK_EVERY
    stack: list[tuple[LexborNode, int]] = []
    node = root
    while True:
        visited += 1
        if visited >= checkpoint:
            checkpoint += CLOCK_EVERY
            now = time.process_time()  # of this process alone: a busy machine must not decide what is kept
            if visited > max_nodes:
                raise PageRejected("too_many_nodes")
            if deadline is None:
                deadline = now + config.max_seconds  # the clock starts with the second round, so short pages need none
            elif now > deadline:
                raise PageRejected("too_slow")
        tag = node.tag_id
        if tag == TEXT:
            text(node.text_content or "")
        elif tag != COMMENT:
            code = enter(node, tag)
            if code:
                child = node.first_child
                if child is not None:
                    stack.append((node, code))
                    if len(stack) > max_depth:
                        raise PageRejected("too_deep")
                    node = child
                    continue
                if code != INLINE:
                    leave(code)
        following = node.next
        while following is None:
            if not stack:
                if visited > max_nodes:
                    raise PageRejected("too_many_nodes")
                return
            parent, code = stack.pop()
            if code != INLINE:
                leave(code)
            following = parent.next
        node = following
