// The state of a review as pure functions; review.js connects them to the page.
"use strict";
const VOTES = ["accept", "reject", "flag"];
const WORDS = {accept: "Accepted", reject: "Rejected", flag: "Flagged"};
const KEYS = {
  a: "accept", r: "reject", f: "flag", u: "undo", d: "download", e: "enlarge", o: "open",
  n: "next", arrowright: "next", arrowdown: "next", p: "previous", arrowleft: "previous",
  arrowup: "previous", ".": "next-sheet", ",": "previous-sheet"};
const MOST_PAST = 500;  // Votes that can be undone.

// Sheets as one list of images in the order of the review: {sheet: its place, id}.
function listed(sheets) {
  return sheets.flatMap((sheet, place) => sheet.ids.map(id => ({sheet: place, id})));
}

function blank(items) { return {votes: items.map(() => ""), past: [], current: 0}; }

function within(items, place) { return Math.min(Math.max(place, 0), items.length - 1); }

function voted(state, items, vote) {
  const votes = state.votes.slice(), place = state.current;
  const past = [...state.past, [place, votes[place]]].slice(-MOST_PAST);
  votes[place] = vote;
  return {votes, past, current: within(items, place + 1)};
}

function undone(state) {
  if (!state.past.length) return state;
  const [place, before] = state.past[state.past.length - 1], votes = state.votes.slice();
  votes[place] = before;
  return {votes, past: state.past.slice(0, -1), current: place};
}

function moved(state, items, place) { return {...state, current: within(items, place)}; }

// The next image without a vote: after the present one, else from the first on, else the present.
function nextOpen(state) {
  const after = state.votes.indexOf("", state.current + 1);
  const found = after < 0 ? state.votes.indexOf("") : after;
  return {...state, current: found < 0 ? state.current : found};
}

// The first image of the next (step 1) or previous (step -1) sheet.
function otherSheet(state, items, step) {
  const wanted = items[state.current].sheet + step;
  const found = items.findIndex(item => item.sheet === wanted);
  return found < 0 ? state : {...state, current: found};
}

function counted(votes) {
  const found = {accept: 0, reject: 0, flag: 0};
  for (const vote of votes) if (vote) found[vote] += 1;
  return {...found, done: found.accept + found.reject + found.flag};
}

// What the browser stores: votes by sheet, so that they outlast a change of other sheets.
function stored(state, items, sheet) {
  const votes = Object.create(null);  // An id may be "__proto__".
  items.forEach((item, place) => {
    if (item.sheet === sheet && state.votes[place]) votes[item.id] = state.votes[place];
  });
  return JSON.stringify(votes);
}

function parsed(text) {
  try {
    return JSON.parse(text) || {};
  } catch (error) { return {}; }
}

// The state of stored texts: one of each sheet, and the history; what does not fit is left out.
function restored(items, texts, history) {
  const bySheet = texts.map(parsed), state = blank(items);
  state.votes = items.map(item => {
    const of = bySheet[item.sheet];
    return Object.hasOwn(of, item.id) && VOTES.includes(of[item.id]) ? of[item.id] : "";
  });
  const found = parsed(history);
  if (Number.isInteger(found.current)) state.current = within(items, found.current);
  if (Array.isArray(found.past))
    state.past = found.past.filter(one => Array.isArray(one) && Number.isInteger(one[0]) &&
        one[0] >= 0 && one[0] < items.length && ["", ...VOTES].includes(one[1]));
  return state;
}

function cell(text) { return /[",\r\n]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text; }

// All votes as the file that `suite curate votes` reads.
function asCsv(sheets, items, state, reviewer) {
  const lines = ["sheet,reviewer,bucket,class,id,vote"];
  items.forEach((item, place) => {
    const sheet = sheets[item.sheet];
    if (state.votes[place])
      lines.push([sheet.key, reviewer, String(sheet.bucket), sheet.label, item.id,
                  state.votes[place]].map(cell).join(","));
  });
  return lines.join("\n") + "\n";
}

function fileName(reviewer) {
  return ("votes_" + reviewer).replace(/[^\p{L}\p{N}._-]/gu, "-") + ".csv";
}
