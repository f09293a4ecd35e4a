// Shows one sheet at a time, and takes votes by buttons, by keys and in the enlarged view.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const sheets = data.sheets, items = listed(sheets);
  const at = id => document.getElementById(id);
  const name = at("reviewer"), grid = at("images"), large = at("large"), list = at("sheet-list");
  let state = blank(items), shown = -1, kept = true, saved = true;

  const here = () => items[state.current].sheet;
  const firstOf = sheet => items.findIndex(item => item.sheet === sheet);
  const place = what => `curation/${what}/${name.value.trim()}`;

  function read(key) {
    try {
      return localStorage.getItem(key);
    } catch (error) { kept = false; return null; }
  }

  function load() {
    state = restored(items, sheets.map(sheet => read(place(sheet.key))), read(place(data.key)));
    saved = true;
  }

  function save(sheet) {
    saved = false;
    try {
      localStorage.setItem(place(sheets[sheet].key), stored(state, items, sheet));
      localStorage.setItem(place(data.key), JSON.stringify({past: state.past,
                                                            current: state.current}));
      localStorage.setItem("curation/reviewer", name.value.trim());
    } catch (error) { kept = false; }
    if (!kept) warn("This browser keeps nothing for this page: download before you close it.");
  }

  function warn(text) { at("warning").textContent = text; }

  function element(tag, attributes, ...children) {
    const made = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }

  function picture(id, alt) {
    return element("img", {src: data.pictures[id], alt, loading: "lazy", decoding: "async"});
  }

  function card(item, index, total) {
    const made = element("li", {class: "card", "data-id": item.id, tabindex: "-1"},
        picture(item.id, `Image ${index + 1} of ${total}: ${item.id}`),
        element("p", {class: "id"}, item.id), element("p", {class: "vote"}));
    const own = firstOf(item.sheet) + index;
    made.addEventListener("click", () => go(moved(state, items, own)));
    made.addEventListener("dblclick", () => act("enlarge"));
    return made;
  }

  function showSheet() {  // Only the present sheet is in the document.
    if (shown === here()) return;
    shown = here();
    const sheet = sheets[shown], title = `${sheet.label}, bucket ${sheet.bucket}`;
    document.title = `${title} - review`;
    at("title").textContent = title;
    at("here").textContent = title;
    at("background").hidden = !sheet.background;
    at("label").textContent = sheet.background ? "none of the classes" : sheet.label;
    at("prompt").textContent = sheet.prompt;
    at("span").textContent = `Bucket ${sheet.bucket}: ${sheet.span}.`;
    at("examples").hidden = !sheet.examples.length;
    at("example-list").replaceChildren(...sheet.examples.map(
        id => element("li", {}, picture(id, `Example of ${sheet.label}: ${id}`))));
    grid.replaceChildren(...sheet.ids.map(
        (id, index) => card({sheet: shown, id}, index, sheet.ids.length)));
    list.value = String(shown);
    at("previous-sheet").disabled = shown === 0;
    at("next-sheet").disabled = shown === sheets.length - 1;
    window.scrollTo(0, 0);  // To the question of the sheet.
  }

  function showVotes(focus) {
    const first = firstOf(shown);
    [...grid.children].forEach((made, index) => {
      const vote = state.votes[first + index], isHere = first + index === state.current;
      made.dataset.vote = vote;
      made.querySelector(".vote").textContent = vote ? WORDS[vote] : "";
      made.setAttribute("aria-current", String(isHere));
      made.tabIndex = isHere ? 0 : -1;
      if (isHere && focus && !large.open) made.focus();
    });
  }

  function showProgress() {
    const all = counted(state.votes), total = items.length;
    at("progress").value = all.done;
    at("status").textContent =
        `${all.done} of ${total} voted: ${all.accept} accepted, ${all.reject} rejected, ` +
        `${all.flag} flagged.` + (all.done === total ? " Finished: download the votes." : "");
    at("undo").disabled = !state.past.length;
    countSheet(shown);
  }

  function countSheet(sheet) {
    const first = firstOf(sheet), size = sheets[sheet].ids.length;
    const done = counted(state.votes.slice(first, first + size)).done;
    list.options[sheet].textContent =
        `${sheets[sheet].label}, bucket ${sheets[sheet].bucket}: ${done} of ${size}`;
  }

  function showLarge() {
    const item = items[state.current], vote = state.votes[state.current];
    const one = at("large-image");
    one.src = data.pictures[item.id];
    one.alt = `Image ${item.id}, enlarged`;
    at("large-text").textContent = `${at("here").textContent}: ${item.id}` +
        (vote ? ` (${WORDS[vote].toLowerCase()})` : "");
  }

  function show(focus) {
    showSheet();
    showVotes(focus);
    showProgress();
    if (large.open) showLarge();
  }

  function go(next) {
    state = next;
    show(true);
  }

  function download() {
    const reviewer = name.value.trim();
    const url = URL.createObjectURL(new Blob([asCsv(sheets, items, state, reviewer)],
                                             {type: "text/csv;charset=utf-8"}));
    const link = element("a", {href: url, download: fileName(reviewer)});
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
    saved = true;
  }

  function enlarge() {
    if (large.open) { large.close(); return; }
    showLarge();
    large.showModal();
  }

  const ACTIONS = {
    next: () => moved(state, items, state.current + 1),
    previous: () => moved(state, items, state.current - 1),
    open: () => nextOpen(state),
    "next-sheet": () => otherSheet(state, items, 1),
    "previous-sheet": () => otherSheet(state, items, -1)};

  function act(what) {
    const needsName = VOTES.includes(what) || what === "download" || what === "undo";
    if (needsName && !name.value.trim()) {
      if (large.open) large.close();
      warn("Write your name first: votes are counted by reviewer.");
      name.focus();
      return;
    }
    if (needsName && kept) warn("");
    if (what === "download") { download(); return; }
    if (what === "enlarge") { enlarge(); return; }
    if (ACTIONS[what]) { go(ACTIONS[what]()); return; }
    const before = here();
    state = what === "undo" ? undone(state) : voted(state, items, what);
    save(what === "undo" ? here() : before);
    show(true);
  }

  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target === list) return;
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
  large.addEventListener("close", () => showVotes(true));
  list.append(...sheets.map((sheet, index) => element("option", {value: String(index)})));
  list.addEventListener("change", () => {
    state = moved(state, items, firstOf(Number(list.value)));
    show(false);
  });
  function start() {
    load();
    shown = -1;
    sheets.forEach((sheet, index) => countSheet(index));
    show(false);
  }
  name.addEventListener("change", () => { warn(""); start(); });
  window.addEventListener("beforeunload", event => {
    if (!kept && !saved) event.preventDefault();
  });
  at("progress").max = items.length;
  name.value = read("curation/reviewer") || "";
  start();
})();
