"""Text from files on its way into HTML: nothing of it becomes markup, a script or an invisible character."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradedeval.errors import InputError, visible
from gradedeval.formats import in_utf8, json_text

if TYPE_CHECKING:
    import jinja2

TEMPLATES = Path(__file__).parent / "templates"

# In a script element only these could end it, or a line of it.
_AS_ESCAPES = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}


def template_of(name: str) -> jinja2.Template:
    """A template that escapes all that it is given. Raises InputError (usage) where jinja2 is not installed."""
    try:
        import jinja2
    except ImportError:
        hint = "pip install 'gradedeval[report]'"
        raise InputError("report", "jinja2 is not installed", hint, usage=True) from None
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: on_page(value) if type(value) is str else value,
    )
    return environment.get_template(name)


def on_page(text: str) -> str:
    """Text as the page shows it."""
    return in_utf8(visible(text))


def as_json(value: Any) -> str:
    """JSON that may stand in a script element."""
    return json_text(value, separators=(",", ":"), allow_nan=False).translate(_AS_ESCAPES)


def inline(name: str) -> tuple[str, str]:
    """A style sheet or script of ours, and what a Content-Security-Policy calls it."""
    from base64 import b64encode

    text = (TEMPLATES / name).read_text(encoding="utf-8")
    return text, f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
