"""A server of the tests' own, on a free port of loopback."""

import http.server
import threading


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False


class Loopback:
    """Serves as long as its context lasts; `server` is what handlers know."""

    def __init__(self, handler, server_class=Server):
        self.server = server_class(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, args=(0.05,),
                         daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
