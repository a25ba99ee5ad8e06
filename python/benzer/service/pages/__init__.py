"""Web pages of the service, rendered on the server; their scripts use the same routes as every other client.

| module | contents |
|---|---|
| `rendering` | `page`: renders a template and sends it under a strict content policy |
| `assets` | the style sheets and scripts, served from memory under versioned addresses |
| `failures` | the HTML page that a browser gets for an error response |
| `fragments` | the answers of routes as HTML, for requests that accept only HTML |
| `routes` | all pages as one router |
| `search`, `duplicates`, `tune`, `indexes`, `login`, `reference` | the pages, each with its router |

A new page needs one file with a `router`, one template, and one line in `routes.PAGES`. Document content reaches
a page only through autoescaped templates; scripts insert the fragments that `benzer.views` renders.
"""
