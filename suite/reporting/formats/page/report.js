// Sorts and filters tables, draws figures when they come into view, and walks them by keys.
"use strict";
(() => {
  const collator = new Intl.Collator("en", {numeric: true});

  function compare(a, b, sign) {  // Unknown values come last in both directions.
    const x = a.dataset.value, y = b.dataset.value;
    if (x === "" || y === "") return (x === "") - (y === "");
    const isNumber = a.classList.contains("number") && b.classList.contains("number");
    return sign * (isNumber ? Number(x) - Number(y) : collator.compare(x, y));
  }

  function sort(button) {
    const heading = button.parentElement, row = heading.parentElement;
    const body = row.closest("table").tBodies[0], place = heading.cellIndex;
    const order = heading.getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
    for (const other of row.cells) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", order);
    const sign = order === "ascending" ? 1 : -1;
    body.append(...[...body.rows].sort((a, b) => compare(a.cells[place], b.cells[place], sign)));
  }

  function filter(input) {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const rows = [...document.getElementById(input.dataset.table).tBodies[0].rows];
    for (const row of rows) {
      const text = [...row.cells].map(cell => cell.textContent).join(" ").toLowerCase();
      row.hidden = !words.every(word => text.includes(word));
    }
    const shown = rows.filter(row => !row.hidden).length;
    input.parentElement.querySelector("output").textContent =
        words.length ? `${shown} of ${rows.length} rows` : "";
  }

  function draw(chart) {
    if (chart.dataset.drawn || !chart.offsetParent) return;  // Not within what is folded.
    chart.dataset.drawn = "yes";
    const figure = FIGURES[chart.dataset.figure];
    if (chart.clientWidth < 600) narrow(figure);
    if (figure.layout.height) chart.style.height = `${figure.layout.height}px`;
    Plotly.newPlot(chart, figure.data, figure.layout, {
      responsive: true,
      // It would lie on the scale of colors, and on a narrow figure.
      displayModeBar: chart.clientWidth < 600 || figure.data[0].type === "heatmap" ? false : "hover", displaylogo: false, scrollZoom: false,
      modeBarButtonsToRemove: ["lasso2d", "select2d"]});
  }

  function narrow(figure) {  // A legend below the figure, whose lines need height.
    const lines = figure.data.filter(one => one.showlegend !== false && one.type !== "heatmap");
    figure.layout.legend = {orientation: "v", yref: "container", y: 0, yanchor: "bottom", x: 0};
    figure.layout.height = (figure.layout.height || 360) + 20 * lines.length;
    figure.layout.margin = {...figure.layout.margin, l: 48, r: 8, b: 60 + 20 * lines.length};
  }

  function points(chart) {  // Points with a tooltip that are not hidden in the legend.
    const found = [];
    (chart.data || []).forEach((series, curveNumber) => {
      if (series.hoverinfo === "skip" || series.visible === "legendonly" ||
          series.visible === false || series.type === "heatmap") return;
      const texts = series.hovertext || series.text || [];
      for (let pointNumber = 0; pointNumber < texts.length; pointNumber++)
        found.push({curveNumber, pointNumber});
    });
    return found;
  }

  function walk(event) {
    const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
    const chart = event.currentTarget, known = step ? points(chart) : [];
    if (!known.length || event.target !== chart) return;
    event.preventDefault();
    const last = Number(chart.dataset.point ?? (step > 0 ? -1 : 0));
    const next = (last + step + known.length) % known.length;
    chart.dataset.point = next;
    Plotly.Fx.hover(chart, [known[next]]);
  }

  for (const button of document.querySelectorAll("thead button"))
    button.addEventListener("click", () => sort(button));
  for (const input of document.querySelectorAll(".filter input"))
    input.addEventListener("input", () => filter(input));
  async function unpack(packed) {  // A program, see `_packed` of renderers.py.
    const [size, text] = packed.trim().split(":");
    const letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;,=>?@^_`{|}~";
    const digits = Object.fromEntries([...letters].map((letter, i) => [letter, i]));
    const view = new DataView(new ArrayBuffer(text.length / 5 * 4));
    for (let i = 0; i < text.length; i += 5) {
      let number = 0;
      for (let j = i; j < i + 5; j++) number = number * 85 + digits[text[j]];
      view.setUint32(i / 5 * 4, number);
    }
    const file = new Blob([view.buffer.slice(0, Number(size))]);
    return new Response(file.stream().pipeThrough(new DecompressionStream("gzip"))).text();
  }

  const charts = [...document.querySelectorAll(".chart")];
  const seen = new IntersectionObserver(entries => {
    for (const entry of entries) if (entry.isIntersecting) {
      draw(entry.target);
      seen.unobserve(entry.target);
    }
  }, {rootMargin: "400px"});
  const library = document.getElementById("library");
  if (library) unpack(library.textContent).then(program => {
    const script = document.createElement("script");
    script.textContent = program;
    document.head.append(script);
    for (const chart of charts) {
      seen.observe(chart);
      chart.addEventListener("keydown", walk);
    }
    window.addEventListener("beforeprint", () => charts.forEach(draw));
    document.body.dataset.ready = "yes";
  }).catch(() => {
    for (const chart of charts)
      chart.textContent = "This browser cannot draw figures: it is of 2022 or before. The table has their numbers.";
  });
  for (const button of document.querySelectorAll("button.copy"))
    button.addEventListener("click", () => {
      getSelection().selectAllChildren(button.nextElementSibling);
      document.execCommand("copy");
    });
  const seconds = Number(document.body.dataset.refresh);
  if (seconds) setInterval(() => {  // Not while somebody reads or copies a text.
    if (getSelection().isCollapsed && !document.querySelector("details.text[open]")) location.reload();
  }, 1000 * seconds);
})();
