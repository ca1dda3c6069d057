"""Fifty people at once: polls pages and tells trials for a minute, and says how long answers took and what memory did.

    mcbo serve --port 8080 &                                  # with a study of beer
    python3 crates/mcbo-server/benches/load.py mcbo http://127.0.0.1:8080 beer PID
    python3 crates/mcbo-server/benches/load.py optuna http://127.0.0.1:8081 1 PID

Needs Linux and nothing but Python. The kinds differ in their addresses alone: each client reads where the study stands and the newest trials, waits,
and tells a trial in every tenth turn. Clients of Optuna's dashboard only read, since telling goes by the library there.
"""

from __future__ import annotations

import http.client
import json
import random
import sys
import threading
import time
from urllib.parse import urlsplit

CLIENTS, SECONDS, PAUSE = 50, 60.0, 0.5


def memory(process: str) -> float:
    """Megabytes that a process has in memory."""
    with open(f"/proc/{process}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) / 1024


class Client(threading.Thread):
    def __init__(self, kind: str, url: str, study: str, number: int) -> None:
        super().__init__(daemon=True)
        self.kind, self.study, self.number = kind, study, number
        self.host = urlsplit(url).netloc
        self.reads: list[float] = []
        self.writes: list[float] = []
        self.faults: list[str] = []
        self.until = 0.0

    def ask(self, method: str, path: str, body: object = None) -> object:
        text = None if body is None else json.dumps(body)
        begun = time.perf_counter()
        self.connection.request(method, path, text, {"Content-Type": "application/json"} if text else {})
        answer = self.connection.getresponse()
        said = answer.read()
        (self.reads if method == "GET" else self.writes).append(time.perf_counter() - begun)
        if answer.status >= 300:
            self.faults.append(f"{method} {path}: {answer.status} {said[:200]!r}")
        return json.loads(said) if said else None

    def turn(self, count: int) -> None:
        if self.kind == "optuna":
            self.ask("GET", "/api/studies")
            self.ask("GET", f"/api/studies/{self.study}?after=0")
            return
        path = f"/api/studies/{self.study}"
        self.ask("GET", path)
        self.ask("GET", f"{path}/trials?per=25&page=1&sort=trial&order=desc")
        if count % 10 == 9:
            doing = [f"sugar={random.uniform(0, 8):.3f}", f"hops={random.uniform(0, 60):.2f}"]
            asked = self.ask("POST", f"{path}/enqueue", {"doing": doing})
            values = {name: random.uniform(5, 15) for name in ("water", "mash", "wort", "taste")}
            self.ask("POST", f"{path}/trials/{asked['trial']}/tell", {"values": values})

    def run(self) -> None:
        self.connection = http.client.HTTPConnection(self.host, timeout=60)
        time.sleep(PAUSE * self.number / CLIENTS)
        count = 0
        while time.perf_counter() < self.until:
            try:
                self.turn(count)
            except Exception as error:  # Whatever it is, it is counted.
                self.faults.append(repr(error))
                self.connection.close()
            count += 1
            time.sleep(PAUSE)


def main() -> None:
    kind, url, study, process = sys.argv[1:5]
    seconds = float(sys.argv[5]) if len(sys.argv) > 5 else SECONDS
    before = memory(process)
    clients = [Client(kind, url, study, number) for number in range(CLIENTS)]
    for client in clients:
        client.until = time.perf_counter() + seconds
        client.start()
    time.sleep(seconds / 2)
    middle = memory(process)
    for client in clients:
        client.join()
    faults = [fault for client in clients for fault in client.faults]
    for name in ("reads", "writes"):
        took = sorted(1000 * one for client in clients for one in getattr(client, name))
        if took:
            at = lambda share: took[min(len(took) - 1, int(share * len(took)))]  # noqa: E731
            print(f"{kind} {name}: {len(took)}, median {at(0.5):.1f} ms, 99 % {at(0.99):.1f} ms, slowest {took[-1]:.1f} ms")
    print(f"{kind}: {len(faults)} errors, memory {before:.0f} MB, {middle:.0f} MB halfway, {memory(process):.0f} MB after")
    for fault in faults[:5]:
        print(" ", fault)


if __name__ == "__main__":
    main()
