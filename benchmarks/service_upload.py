"""A separate process that uploads a file of JSON lines to an index.

`python -m benchmarks.service_upload PORT INDEX FILE` prints one line of JSON: the seconds, and the response.
"""

from __future__ import annotations

import argparse
import http.client
import json
import time
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("port", type=int)
    parser.add_argument("index")
    parser.add_argument("file", type=Path)
    parser.add_argument("--key", default="", help="an API key")
    given = parser.parse_args()
    start = time.perf_counter()
    connection = http.client.HTTPConnection("127.0.0.1", given.port, timeout=3600)
    size = str(given.file.stat().st_size)
    headers = {"Content-Type": "application/x-ndjson", "Content-Length": size}
    headers |= {"Authorization": f"Bearer {given.key}"} if given.key else {}
    with given.file.open("rb") as file:
        connection.request("POST", f"/v1/indexes/{given.index}/documents", file, headers)
        answer = connection.getresponse()
        told = json.loads(answer.read())
    print(json.dumps({"status": answer.status, "seconds": time.perf_counter() - start, "answer": told}))


if __name__ == "__main__":
    main()
