"""Types of arguments of the evaluation's commands."""

SECONDS = {"s": 1, "min": 60, "h": 3600}


def numbers(text):
    """1-3,5 is 1, 2, 3, 5."""
    for span in text.split(","):
        first, _, last = span.partition("-")
        yield from range(int(first), int(last or first) + 1)


def seconds(text):
    amount = text.rstrip("hmins")
    if text[len(amount):] not in SECONDS:
        raise ValueError(text)
    return float(amount) * SECONDS[text[len(amount):]]
