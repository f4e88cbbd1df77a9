#!/usr/bin/env python3
"""An agent that speaks ACP and does what its prompts say, one thing a line: for tests."""

import json
import os
import queue
import subprocess
import sys
import threading
import time

FLAGS = set(sys.argv[1:])
STATE = os.environ.get("ACP_AGENT_STATE")

incoming = queue.Queue()
answers = {}
answered = threading.Condition()
cancelled = threading.Event()
deaf = threading.Event()
writing = threading.Lock()
last_id = 0


def hang():
    threading.Event().wait()


def write(message):
    with writing:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


def ask(method, params):
    """Sends a request; gives its number."""
    global last_id
    last_id += 1
    write({"id": f"q{last_id}", "method": method, "params": params})
    return f"q{last_id}"


def answer_to(number):
    with answered:
        answered.wait_for(lambda: number in answers)
        return answers.pop(number)


def read_input():
    for line in sys.stdin:
        if deaf.is_set():
            hang()
        message = json.loads(line)
        if "method" not in message:
            with answered:
                answers[message["id"]] = message
                answered.notify_all()
        elif message["method"] == "session/cancel":
            cancelled.set()
        else:
            incoming.put(message)
    incoming.put(None)


def update(**fields):
    write({"method": "session/update", "params": {"sessionId": SESSION["id"], "update": fields}})


def text(words):
    return {"type": "text", "text": words}


def say(words):
    update(sessionUpdate="agent_message_chunk", content=text(words))


def think(words):
    update(sessionUpdate="agent_thought_chunk", content=text(words))


def permission(kind, title, always_only=False, raw_input=None):
    number = len(answers) + last_id
    options = [
        {"optionId": "for-good", "name": "Always", "kind": "allow_always"},
        {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
        {"optionId": "no", "name": "No", "kind": "reject_once"},
    ]
    call = {"toolCallId": f"call{number}", "title": title, "kind": kind}
    if raw_input is not None:
        call["rawInput"] = raw_input
    if kind == "edit":
        call["content"] = [{"type": "diff", "path": os.path.abspath(title), "oldText": None, "newText": "x"}]
    return {
        "sessionId": SESSION["id"],
        "toolCall": call,
        "options": options[:1] if always_only else options,
    }


def outcome(message):
    if "error" in message:
        return f"error {message['error']['code']} {message['error']['message']}"
    outcome = message["result"]["outcome"]
    return outcome.get("optionId", outcome["outcome"])


def file(method, **params):
    message = answer_to(ask(f"fs/{method}_text_file", {"sessionId": SESSION["id"], **params}))
    if "error" in message:
        return f"error {message['error']['code']} {message['error']['message']}"
    return message["result"].get("content", "written")


def do(line):
    """Does one thing; tells why the turn is to end, if it is."""
    word, _, rest = line.partition(" ")
    if word == "say":
        say(rest)
    elif word == "think":
        think(rest)
    elif word == "tool":
        call, status, title = rest.split(" ", 2)
        update(sessionUpdate="tool_call", toolCallId=call, title=title, kind="execute", status="pending")
        update(sessionUpdate="tool_call_update", toolCallId=call, status=status,
               content=[{"type": "content", "content": text(f"{title} said this")}])
    elif word == "plan":
        entries = [{"content": "one", "status": "completed"}, {"content": "two", "status": "in_progress"}]
        update(sessionUpdate="plan", entries=entries)
    elif word == "ask":
        kind, _, title = rest.partition(" ")
        say(outcome(answer_to(ask("session/request_permission", permission(kind, title)))))
    elif word == "run":
        raw_input = {"command": rest}
        asked = permission("execute", f"Run {rest}", raw_input=raw_input)
        say(outcome(answer_to(ask("session/request_permission", asked))))
    elif word == "ask-for-good":
        say(outcome(answer_to(ask("session/request_permission", permission("execute", rest, True)))))
    elif word == "asks":
        asked = [ask("session/request_permission", permission("execute", f"call {n}")) for n in range(int(rest))]
        say("asked")
        outcomes = [outcome(answer_to(number)) for number in asked]
        counts = {kind.split(" ")[0]: 0 for kind in outcomes}
        for kind in outcomes:
            counts[kind.split(" ")[0]] += 1
        think("answered")
        say(json.dumps(counts, sort_keys=True))
    elif word == "take-back":
        number = ask("session/request_permission", permission("execute", rest))
        write({"method": "$/cancel_request", "params": {"requestId": number}})
        say(outcome(answer_to(number)))
    elif word == "read":
        path, _, line = rest.partition(" ")
        say(file("read", path=path, **({"line": int(line), "limit": 1} if line else {})))
    elif word == "write":
        path, _, content = rest.partition(" ")
        say(file("write", path=path, content=content))
    elif word == "foreign":
        say(outcome(answer_to(ask("fs/read_text_file", {"sessionId": "somebody-else", "path": rest}))))
    elif word == "unknown":
        say(outcome(answer_to(ask(rest, {}))))
    elif word == "garbage":
        with writing:
            sys.stdout.write('not json\n[]\n{"jsonrpc":"2.0"}\n{"id":999,"result":{}}\n\n{"method":"session/update"}\n')
            sys.stdout.write('{"method":"session/update","params":{"sessionId":"' + SESSION["id"] + '","update":{"sessionUpdate":"new_kind"}}}\n')
            sys.stdout.write("\x1b[2J\xff\n" * int(rest or 1))
            sys.stdout.flush()
    elif word == "flood":
        for number in range(int(rest)):
            say(f"{number:08} " + "x" * 91)
    elif word == "endless":
        with writing:
            try:
                for _ in range(20):
                    sys.stdout.write("x" * 1024 * 1024)
                sys.stdout.flush()
            except BrokenPipeError:
                pass
        hang()
    elif word == "deaf-flood":
        # Asks more than the answers that it never takes have room for.
        deaf.set()
        number = 0
        while True:
            number += 1
            with writing:
                request = {"jsonrpc": "2.0", "id": f"d{number}", "method": "x" * 50, "params": {}}
                sys.stdout.write((json.dumps(request) + "\n") * 1000)
    elif word == "usage":
        update(sessionUpdate="usage_update", used=12000, size=200000, cost={"amount": 0.05, "currency": "USD"})
    elif word == "env":
        say(os.environ.get(rest, "(unset)"))
    elif word == "servers":
        say(json.dumps(SESSION["servers"], sort_keys=True))
    elif word == "mode":
        say(SESSION["mode"])
    elif word == "directory":
        say(f"{os.getcwd()} {SESSION['cwd']}")
    elif word == "prompts":
        say(str(SESSION["prompts"]))
    elif word == "wait":
        cancelled.wait()
        return "cancelled"
    elif word == "deaf":
        while True:
            hang()
    elif word == "children":
        subprocess.Popen(["setsid", "sleep", "1000"])
        subprocess.Popen(["sleep", "1001"])
    elif word == "stderr":
        print(rest, file=sys.stderr, flush=True)
    elif word == "close":
        sys.stdout.flush()
        os.close(1)
        hang()
    elif word == "die":
        sys.stdout.flush()
        os._exit(int(rest))
    elif word == "fail":
        raise RuntimeError(rest)
    elif word == "stop":
        return rest
    return None


def prompt(params):
    SESSION["prompts"] += 1
    save()
    cancelled.clear()
    lines = "\n".join(block["text"] for block in params["prompt"]).splitlines()
    for line in lines:
        reason = do(line)
        if reason:
            return {"stopReason": reason}
    return {"stopReason": "end_turn", "usage": {"inputTokens": 100, "outputTokens": 7, "totalTokens": 107}}


SESSION = {"id": None, "cwd": None, "servers": [], "mode": "default", "prompts": 0}
MODES = {"currentModeId": "default", "availableModes": [{"id": "default", "name": "Default"}, {"id": "plan", "name": "Plan"}]}


def save():
    if STATE:
        with open(os.path.join(STATE, SESSION["id"]), "w") as kept:
            json.dump({"prompts": SESSION["prompts"]}, kept)


def handle(method, params):
    if method == "initialize":
        if "silent" in FLAGS:
            hang()
        version = 2 if "newer" in FLAGS else params["protocolVersion"]
        return {
            "protocolVersion": version,
            "agentCapabilities": {"loadSession": "no-load" not in FLAGS},
            "authMethods": [{"id": "key", "name": "API key"}] if "login" in FLAGS else [],
            "agentInfo": {"name": "test-agent", "version": "1"},
        }
    if method == "session/new":
        if "login" in FLAGS:
            raise LookupError("who are you")
        SESSION.update(id=f"s{os.getpid()}", cwd=params["cwd"], servers=params["mcpServers"])
        save()
        return {"sessionId": SESSION["id"], "modes": MODES}
    if method == "session/load":
        if not STATE or not os.path.exists(os.path.join(STATE, params["sessionId"])):
            raise RuntimeError("no such session")
        with open(os.path.join(STATE, params["sessionId"])) as kept:
            SESSION.update(json.load(kept), id=params["sessionId"], cwd=params["cwd"], servers=params["mcpServers"])
        update(sessionUpdate="user_message_chunk", content=text("what was asked before"))
        say("what was said before")
        return None
    if method == "session/set_mode":
        SESSION["mode"] = params["modeId"]
        return {}
    if method == "session/prompt":
        return prompt(params)
    raise NotImplementedError(method)


threading.Thread(target=read_input, daemon=True).start()
if "chatty" in FLAGS:
    print("Welcome! This line is no message.", flush=True)
while (message := incoming.get()) is not None:
    try:
        write({"id": message["id"], "result": handle(message["method"], message["params"])})
    except LookupError as error:
        write({"id": message["id"], "error": {"code": -32000, "message": str(error)}})
    except NotImplementedError as error:
        write({"id": message["id"], "error": {"code": -32601, "message": str(error)}})
    except RuntimeError as error:
        write({"id": message["id"], "error": {"code": -32603, "message": str(error)}})
