"""One line that keeps changing on a terminal, now and then a line elsewhere."""

import shutil
import sys
import time

PLAIN_EVERY_S = 2.0


class Screen:
    def __init__(self, out=sys.stdout):
        self.out = out
        self.is_terminal = out.isatty()
        self.last = 0.0
        self.is_drawn = False

    def say(self, text=""):
        """A line that stays."""
        self._erase()
        print(text, file=self.out, flush=True)

    def show(self, text):
        """A line that the next one replaces."""
        now = time.monotonic()
        if self.is_terminal:
            if now - self.last < 0.05:
                return
            width = shutil.get_terminal_size().columns
            self.out.write("\r\x1b[K" + text[:width - 1])
            self.out.flush()
            self.is_drawn = True
        elif now - self.last >= PLAIN_EVERY_S:
            print(text, file=self.out, flush=True)
        else:
            return
        self.last = now

    def _erase(self):
        if self.is_drawn:
            self.out.write("\r\x1b[K")
        self.is_drawn = False
