"""How the HTML reference looks: its style sheet and its few lines of script. Text of the page itself is in `html`."""

from __future__ import annotations

from typing import Final

__all__ = ["SCRIPT", "STYLE"]

STYLE: Final = """
:root { --bg: #fff; --fg: #1f2328; --dim: #59636e; --line: #d8dee4; --soft: #f6f8fa; --link: #0b63c5; --accent: #326ce5;
  --warn: #9a4b00; --warn-bg: #fff4e5; color-scheme: light dark; }
@media (prefers-color-scheme: dark) { :root { --bg: #0f1419; --fg: #e3e8ee; --dim: #93a1b0; --line: #2b3540;
  --soft: #171e26; --link: #79b0ff; --accent: #6f9bff; --warn: #ffbd70; --warn-bg: #33240f; } }
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
@media (prefers-reduced-motion: no-preference) { html { scroll-behavior: smooth; } }
body { margin: 0; display: grid; grid-template-columns: 17rem minmax(0, 1fr); background: var(--bg); color: var(--fg);
  font: 15px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
a { color: var(--link); text-decoration: none; } a:hover { text-decoration: underline; }
code, pre { font: 0.88em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
code { overflow-wrap: anywhere; }
pre { background: var(--soft); border: 1px solid var(--line); border-radius: 8px; padding: .8rem 1rem; overflow: auto; }
nav { position: sticky; top: 0; height: 100vh; overflow: auto; padding: 1.2rem; border-right: 1px solid var(--line);
  background: var(--soft); font-size: 13.5px; }
nav h1 { font-size: 1.15rem; margin: 0 0 .8rem; }
nav input { width: 100%; padding: .4rem .6rem; border: 1px solid var(--line); border-radius: 6px; background: var(--bg);
  color: inherit; font: inherit; }
nav .kind { margin: 1.1rem 0 .2rem; font-weight: 600; } nav small { color: var(--dim); font-weight: 400; }
nav ul { list-style: none; margin: .2rem 0 .6rem; padding: 0 0 0 .9rem; } nav li { overflow-wrap: anywhere; }
nav summary { cursor: pointer; color: var(--dim); }
main { padding: 1.5rem clamp(1rem, 4vw, 3.5rem) 6rem; max-width: 78rem; }
h2 { font-size: 1.9rem; margin: 2rem 0 .4rem; } section.kind:first-child h2 { margin-top: 0; }
h3 { font-size: 1.3rem; margin: 2rem 0 .4rem; padding-top: .8rem; border-top: 2px solid var(--accent); }
h4 { font-size: 1.02rem; margin: 1.8rem 0 .5rem; } h4 code { font-size: 1em; font-weight: 600; }
dl { display: flex; flex-wrap: wrap; gap: .4rem 1.6rem; margin: .4rem 0; } dl div { display: flex; gap: .5rem; }
dt { color: var(--dim); } dd { margin: 0; font-weight: 500; }
.notes span { display: inline-block; padding: .05rem .6rem; margin: 0 .4rem .3rem 0; border-radius: 999px;
  background: var(--soft); border: 1px solid var(--line); font-size: 12.5px; }
.notes .warn { color: var(--warn); background: var(--warn-bg); border-color: currentColor; }
table { width: 100%; border-collapse: collapse; border: 1px solid var(--line); }
th, td { padding: .55rem .8rem; border-top: 1px solid var(--line); vertical-align: top; text-align: left; }
tr:hover > * { background: var(--soft); }
th { width: 22%; min-width: 9rem; font-weight: 400; } th code { font-weight: 600; }
td.type { width: 18%; color: var(--dim); }
td p { margin: 0 0 .4rem; } td p:last-child { margin: 0; }
.required { display: block; color: var(--warn); font-size: 12px; }
.facts { margin: .2rem 0 0; padding: 0; list-style: none; display: flex; flex-wrap: wrap; gap: .25rem .4rem; }
.facts li { font-size: 12.5px; color: var(--dim); background: var(--soft); border: 1px solid var(--line);
  border-radius: 6px; padding: 0 .5rem; }
.rules { color: var(--dim); } .empty { color: var(--dim); }
.here { opacity: 0; } h4:hover .here, .here:focus { opacity: 1; }
:target > h4, :target > h3, :target > h2 { color: var(--accent); }
@media (max-width: 52rem) { body { display: block; } nav { position: static; height: auto; border-right: 0;
  border-bottom: 1px solid var(--line); }
  th, td { display: block; border: 0; padding: .2rem .8rem; width: auto !important; }
  tr { display: block; border-top: 1px solid var(--line); padding: .4rem 0; } }
@media print { nav { display: none; } body { display: block; } }
""".strip()

SCRIPT: Final = """
const box = document.getElementById("filter");
box.addEventListener("input", () => {
  const wanted = box.value.trim().toLowerCase();
  for (const row of document.querySelectorAll("section.object tr"))
    row.hidden = wanted !== "" && !row.textContent.toLowerCase().includes(wanted);
  for (const part of document.querySelectorAll("section.object")) {
    const own = part.querySelector("h4").textContent.toLowerCase().includes(wanted);
    const rows = [...part.querySelectorAll("tr")];
    if (own) rows.forEach(row => { row.hidden = false; });
    part.hidden = wanted !== "" && !own && rows.every(row => row.hidden);
    const item = document.querySelector(`nav a[href="#${CSS.escape(part.id)}"]`);
    if (item) item.parentElement.hidden = part.hidden;
  }
});
""".strip()
