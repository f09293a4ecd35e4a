# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The style of a review sheet; votes are shown by word and border, not by color alone."""

CSS = """
:root { color-scheme: light dark; --ground: #f6f7f9; --card: #fff; --ink: #1b1f24; --soft: #57606a;
  --line: #d0d7de; --focus: #0b57d0; --accept: #12703a; --reject: #b3261e; --flag: #8a5a00; }
@media (prefers-color-scheme: dark) {
  :root { --ground: #14171a; --card: #1f2429; --ink: #e8eaed; --soft: #a9b1ba; --line: #3a424b;
    --focus: #8ab4f8; --accept: #6dd58c; --reject: #ff8a80; --flag: #ffce5c; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink);
  font: 16px/1.5 system-ui, "Segoe UI", Roboto, Helvetica, Arial, sans-serif; }
header, main, footer { max-width: 84rem; margin: 0 auto; padding: 0 1.25rem; }
h1 { margin: 1.25rem 0 0; font-size: 1.5rem; line-height: 1.25; }
p { margin: .35rem 0; color: var(--soft); }
a { color: var(--focus); }
.skip { position: absolute; left: -99rem; } .skip:focus { left: 1rem; top: .5rem; }
.bar { position: sticky; top: 0; z-index: 1; margin-top: .75rem; padding: .6rem 0;
  background: var(--ground); border-bottom: 1px solid var(--line); }
.bar > div { max-width: 84rem; margin: 0 auto; padding: 0 1.25rem; display: flex; flex-wrap: wrap;
  gap: .5rem .6rem; align-items: center; }
label { font-weight: 600; }
input { font: inherit; width: 11rem; padding: .3rem .55rem; color: inherit; background: var(--card);
  border: 1px solid var(--soft); border-radius: .4rem; }
button { font: inherit; padding: .3rem .7rem; color: inherit; background: var(--card);
  border: 1px solid var(--soft); border-radius: .4rem; cursor: pointer; }
button:hover { border-color: var(--focus); }
button:disabled { opacity: .5; cursor: default; }
button.main { color: var(--card); background: var(--focus); border-color: var(--focus); }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; }
kbd { font: .8em ui-monospace, Menlo, Consolas, monospace; padding: 0 .3em; color: var(--soft);
  border: 1px solid var(--line); border-radius: .25em; }
progress { width: 9rem; height: .8rem; accent-color: var(--focus); }
#status { flex: 1 1 12rem; color: var(--ink); }
#warning { flex-basis: 100%; color: var(--reject); font-weight: 600; }
#warning:empty { display: none; }
.grid { list-style: none; margin: 1rem 0; padding: 0; display: grid; gap: .9rem;
  grid-template-columns: repeat(auto-fill, minmax(11rem, 1fr)); }
.card { scroll-margin: 9rem 0 2rem; padding: .55rem; background: var(--card);
  border: 2px solid var(--line); border-radius: .6rem; }
.card[aria-current="true"] { box-shadow: 0 0 0 3px var(--focus); }
.card img { display: block; width: 100%; height: 10rem; object-fit: contain; border-radius: .35rem;
  background: var(--ground); }
.card .id { margin: .4rem 0 0; font-size: .8rem; overflow-wrap: anywhere; }
.card .vote { margin: 0; min-height: 1.5em; font-weight: 700; }
.card[data-vote="accept"] { border-color: var(--accept); }
.card[data-vote="reject"] { border-style: dashed; border-color: var(--reject); }
.card[data-vote="flag"] { border-style: dotted; border-color: var(--flag); }
.card[data-vote="accept"] .vote { color: var(--accept); }
.card[data-vote="reject"] .vote { color: var(--reject); }
.card[data-vote="flag"] .vote { color: var(--flag); }
.card[data-vote="reject"] img { opacity: .45; }
.index { border-collapse: collapse; margin: 1rem 0; }
.index th, .index td { padding: .3rem .8rem; text-align: left;
  border-bottom: 1px solid var(--line); }
footer { padding-bottom: 3rem; }
@media (prefers-reduced-motion: no-preference) { html { scroll-behavior: smooth; } }
"""
