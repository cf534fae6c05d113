"""Makes a process believe, from its import on, that it runs on another machine."""

import socket

socket.gethostname = lambda: "elsewhere"
