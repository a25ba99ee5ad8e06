"""In a real browser, a person who has logged in may ask; a page of another site has nothing of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from playwright.sync_api import Browser, Page

from tests.doors.browsing import MILLISECONDS
from tests.doors.locked import DOCS, Locked, bearer, locked

POST = """async ([url, type, mode]) => {
  const body = '{"documents": [{"id": "evil", "fields": {"text": "a"}}]}';
  const headers = { "Content-Type": type };
  try {
    return (await fetch(url, { method: "POST", mode, credentials: "include", headers, body })).status;
  } catch { return "kept from the page"; }
}"""
READ = """async (url) => {
  const read = async (options) => { try { return await (await fetch(url, options)).text(); } catch { return null; } };
  return [await read({ credentials: "include" }), await read({ mode: "no-cors", credentials: "include" })];
}"""
FORM = """([url, type]) => {
  const frame = document.createElement("iframe");
  frame.name = `answer ${document.forms.length}`;
  document.body.append(frame);
  const form = document.createElement("form");
  Object.assign(form, { action: url, method: "post", enctype: type, target: frame.name });
  const field = form.appendChild(document.createElement("input"));
  Object.assign(field, { name: '{"documents": [], "x": "', value: '"}' });
  document.body.append(form);
  form.submit();
}"""
FRAMED = """(url) => {
  const frame = document.createElement("iframe");
  frame.src = url;
  document.body.append(frame);
}"""


class Empty(BaseHTTPRequestHandler):
    """A page of another site, which the test fills."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>another site</title><body>")

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def another_site() -> Iterator[int]:
    """A server of a page; its port."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Empty) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Locked]:
    with locked(tmp_path_factory.mktemp("browser")) as service:
        yield service


@pytest.fixture
def page(browser: Browser, service: Locked) -> Iterator[Page]:
    """A page of the service after the login of one who may write."""
    home = f"http://localhost:{service.client.base_url.port}"
    context = browser.new_context(base_url=home)
    page = context.new_page()
    page.set_default_timeout(MILLISECONDS)
    page.goto("/indexes")
    assert page.url == f"{home}/login?next=/indexes"
    page.locator("#login [name=key]").fill(service.writer)
    page.locator("#login [type=submit]").click()
    page.wait_for_url(f"{home}/indexes")
    yield page
    context.close()


def documents(service: Locked) -> int:
    held: int = service.client.get(DOCS, headers=bearer(service.reader)).json()["documents"]
    return held


def test_a_page_of_the_service_may_ask_and_no_script_reads_the_cookie(page: Page, service: Locked) -> None:
    assert page.evaluate(POST, [f"{DOCS}/documents", "application/json", "same-origin"]) == 200
    assert documents(service) == 3
    assert service.client.delete(f"{DOCS}/documents/evil", headers=bearer(service.writer)).status_code == 204
    assert page.evaluate("document.cookie") == ""
    (cookie,) = page.context.cookies()
    assert (cookie["name"], cookie["httpOnly"], cookie["sameSite"]) == ("benzer_session", True, "Strict")


# Another port of the same machine is the same site: the browser sends the cookie, only the guard stands in between.
@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_a_page_of_another_site_changes_reads_and_frames_nothing(
    page: Page, service: Locked, host: str
) -> None:
    home = page.url.removesuffix("/indexes")
    with another_site() as port:
        page.goto(f"http://{host}:{port}/")
        for kind, mode in (("text/plain", "no-cors"), ("text/plain", "cors"), ("application/json", "cors")):
            kept = page.evaluate(POST, [f"{home}{DOCS}/documents", kind, mode])
            assert kept == "kept from the page"
        for kind in ("text/plain", "multipart/form-data", "application/x-www-form-urlencoded"):
            for url in (f"{home}{DOCS}/documents", f"{home}/logout"):
                with page.expect_response(url) as response:
                    page.evaluate(FORM, [url, kind])
                assert response.value.status == 403
        assert page.evaluate(READ, f"{home}{DOCS}") == [None, None]
        page.goto(page.url)
        with page.expect_console_message(lambda said: "frame-ancestors 'none'" in said.text):
            page.evaluate(FRAMED, f"{home}/indexes")
    assert documents(service) == 2
    page.goto(f"{home}/indexes")
    assert page.url == f"{home}/indexes"  # the session is still there


def test_the_policy_of_pages_lets_no_script_of_the_page_s_own_text_run(page: Page) -> None:
    for code in (
        """() => {
          const script = document.createElement("script");
          script.textContent = "document.title = 'taken'";
          document.body.append(script);
        }""",
        "() => document.body.insertAdjacentHTML('beforeend', `<img src=x onerror=\"document.title = 'taken'\">`)",
    ):
        with page.expect_console_message(lambda said: "Content Security Policy" in said.text):
            page.evaluate(code)
    assert page.title() != "taken"
