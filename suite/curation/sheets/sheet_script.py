# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The script of a review sheet: `LOGIC` has pure functions, `PAGE` connects them to the document.

The script is the same in every sheet, so the page's policy allows it by its digest; data are read
from attributes. Votes are stored in localStorage under the sheet's key and the reviewer's name; in
a browser without storage for local files they are lost when the page closes.
"""

LOGIC = r"""
"use strict";
const VOTES = ["accept", "reject", "flag"];
const WORDS = {accept: "Accepted", reject: "Rejected", flag: "Flagged"};
const KEYS = {a: "accept", r: "reject", f: "flag", n: "next", arrowright: "next", arrowdown: "next",
              p: "previous", arrowleft: "previous", arrowup: "previous", u: "undo", d: "download"};

function blank() { return {votes: {}, past: [], current: 0}; }

function restored(text, ids) {
  try {
    const found = JSON.parse(text);
    const known = new Set(ids);
    const fits = ([id, vote]) => known.has(id) && VOTES.includes(vote);
    const votes = Object.entries(found.votes).filter(fits);
    const past = found.past.filter(([id, vote]) => fits([id, vote === null ? "flag" : vote]));
    const current = Number.isInteger(found.current) ? found.current : 0;
    return {votes: Object.fromEntries(votes), past,
            current: Math.min(Math.max(current, 0), ids.length - 1)};
  } catch (error) { return blank(); }
}

function moved(state, ids, step) {
  return {...state, current: Math.min(Math.max(state.current + step, 0), ids.length - 1)};
}

function voted(state, ids, vote) {
  const id = ids[state.current];
  const before = Object.hasOwn(state.votes, id) ? state.votes[id] : null;
  return moved({...state, votes: {...state.votes, [id]: vote}, past: [...state.past, [id, before]]},
               ids, 1);
}

function undone(state, ids) {
  if (!state.past.length) return state;
  const [id, before] = state.past[state.past.length - 1];
  const votes = {...state.votes};
  if (before === null) delete votes[id]; else votes[id] = before;
  return {votes, past: state.past.slice(0, -1), current: ids.indexOf(id)};
}

function counted(state) {
  const found = {accept: 0, reject: 0, flag: 0};
  for (const vote of Object.values(state.votes)) found[vote] += 1;
  return found;
}

function cell(text) { return /[",\r\n]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text; }

function asCsv(sheet, reviewer, state, ids) {
  const lines = ["sheet,reviewer,bucket,class,id,vote"];
  for (const id of ids) {
    if (!Object.hasOwn(state.votes, id)) continue;
    lines.push([sheet.key, reviewer, sheet.bucket, sheet.label, id, state.votes[id]].map(cell)
               .join(","));
  }
  return lines.join("\n") + "\n";
}
"""

PAGE = r"""
(function () {
  const main = document.getElementById("sheet");
  const sheet = {key: main.dataset.key, bucket: main.dataset.bucket, label: main.dataset.label};
  const cards = Array.from(document.querySelectorAll(".card"));
  const ids = cards.map(card => card.dataset.id);
  const name = document.getElementById("reviewer");
  const at = id => document.getElementById(id);
  let state = blank(), kept = true, saved = true;

  function place() { return "curation/" + sheet.key + "/" + name.value.trim(); }
  function warn(text) { at("warning").textContent = text; }

  function load() {
    let text = null;
    try { text = localStorage.getItem(place()); } catch (error) { kept = false; }
    state = text === null ? blank() : restored(text, ids);
  }

  function save() {
    saved = false;
    try {
      localStorage.setItem(place(), JSON.stringify(state));
      localStorage.setItem("curation/reviewer", name.value.trim());
    } catch (error) { kept = false; }
    if (!kept) warn("This browser keeps nothing for this page: download before you close it.");
  }

  function show(focus) {
    cards.forEach((card, place) => {
      const vote = Object.hasOwn(state.votes, ids[place]) ? state.votes[ids[place]] : "";
      card.dataset.vote = vote;
      card.querySelector(".vote").textContent = vote ? WORDS[vote] : "";
      const here = place === state.current;
      card.setAttribute("aria-current", String(here));
      card.tabIndex = here ? 0 : -1;
      if (here && focus) card.focus();
    });
    const found = counted(state), done = found.accept + found.reject + found.flag;
    at("progress").value = done;
    at("status").textContent = done + " of " + ids.length + " voted: " + found.accept +
      " accepted, " + found.reject + " rejected, " + found.flag + " flagged." +
      (done === ids.length ? " Finished: download the votes." : "");
    at("undo").disabled = !state.past.length;
  }

  function download() {
    const url = URL.createObjectURL(new Blob([asCsv(sheet, name.value.trim(), state, ids)],
                                             {type: "text/csv;charset=utf-8"}));
    const link = document.createElement("a");
    link.href = url;
    link.download = ["votes", sheet.bucket, sheet.label, name.value.trim()].join("_")
      .replace(/[^\p{L}\p{N}._-]/gu, "-") + ".csv";
    document.body.appendChild(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
    saved = true;
  }

  function act(what) {
    const needsName = VOTES.includes(what) || what === "download";
    if (needsName && !name.value.trim()) {
      warn("Write your name first: votes are counted by reviewer.");
      name.focus();
      return;
    }
    if (needsName && kept) warn("");
    if (what === "download") { download(); return; }
    if (VOTES.includes(what)) state = voted(state, ids, what);
    else if (what === "undo") state = undone(state, ids);
    else state = moved(state, ids, what === "next" ? 1 : -1);
    if (what !== "next" && what !== "previous") save();
    show(true);
  }

  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target === name) {
      if (event.key === "Enter") { event.preventDefault(); show(true); }
      return;
    }
    const what = KEYS[event.key.toLowerCase()];
    if (!what) return;
    event.preventDefault();
    act(what);
  });
  for (const button of document.querySelectorAll("button[data-act]"))
    button.addEventListener("click", () => act(button.dataset.act));
  cards.forEach((card, place) => card.addEventListener("click", () => {
    state = {...state, current: place};
    show(true);
  }));
  name.addEventListener("change", () => { warn(""); load(); show(false); });
  window.addEventListener("beforeunload", event => {
    if (!kept && !saved) event.preventDefault();
  });
  try { name.value = localStorage.getItem("curation/reviewer") || ""; }
  catch (error) { kept = false; }
  load();
  show(false);
})();
"""
