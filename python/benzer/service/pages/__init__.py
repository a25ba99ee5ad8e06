"""How do people use the service? By web pages that are rendered here, and ask the same routes as every program.

| room | holds |
|---|---|
| `rendering` | `page`: a template, filled in and sent under a strict policy |
| `assets` | the style sheets and scripts, served from memory under an address that names their version |
| `failures` | what a browser is shown where a program is answered an error |
| `routes` | all pages as one router |
| `search`, `duplicates`, `tune`, `indexes`, `login`, `reference` | the pages, each with its router |

A new page is one file with a `router`, one template, and one line in `routes.PAGES`. What a document holds reaches
a page through autoescaped templates, or as JSON that a script puts into elements as text; nothing else.
"""
