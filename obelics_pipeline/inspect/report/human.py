"""Numbers, sizes, times and money as a person reads them. Units: bytes, seconds, US dollars."""

from __future__ import annotations

_SIZES = ("B", "kB", "MB", "GB", "TB", "PB")


def count(value: int) -> str:
    """1,234,567."""
    return f"{value:,}"


def counted(value: int, noun: str) -> str:
    """1 unit, 1,234 units."""
    return f"{value:,} {noun}" if value == 1 else f"{value:,} {noun}s"


def share(part: float, whole: float) -> str:
    """A percentage with as many digits as say something; a dash of nothing."""
    if not whole:
        return "–"
    percent = 100 * part / whole
    if percent == 0 or percent == 100:
        return f"{percent:.0f} %"
    if percent < 0.01:
        return "< 0.01 %"
    if percent > 99.99:
        return "> 99.99 %"
    return f"{percent:.2f} %" if percent < 1 or percent > 99 else f"{percent:.1f} %"


def size(value: float) -> str:
    """1.5 MB; a kB is 1,000 bytes."""
    return _scaled(float(value), _SIZES, 0)


def many(value: float) -> str:
    """1.2 million."""
    for limit, word in ((1e12, "trillion"), (1e9, "billion"), (1e6, "million")):
        if value >= limit:
            return f"{value / limit:.3g} {word}"
    return f"{value:,.0f}"


def seconds(value: float) -> str:
    """0.8 s, 45 s, 3 min 05 s, 2 h 10 min, 3 d 4 h."""
    if value < 59.5:
        return f"{value:.1f} s" if value < 9.95 else f"{value:.0f} s"
    whole = round(value)
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    if whole < 86400:
        return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
    return f"{whole // 86400} d {whole % 86400 // 3600} h"


def money(value: float) -> str:
    """$1,234.50; below a cent as what it is."""
    if value == 0:
        return "$0"
    if value < 0.0001:
        return "< $0.0001"
    return f"${value:.4f}" if value < 0.01 else f"${value:,.2f}"


def figure(value: float) -> str:
    """A score in four digits."""
    if value == int(value) and abs(value) < 1e6:
        return f"{int(value):,}"
    return f"{value:.4g}"


def _scaled(value: float, units: tuple[str, ...], i: int) -> str:
    if value < 999.5 or i == len(units) - 1:
        return f"{value:.0f} {units[i]}" if i == 0 else f"{value:.3g} {units[i]}"
    return _scaled(value / 1000, units, i + 1)
