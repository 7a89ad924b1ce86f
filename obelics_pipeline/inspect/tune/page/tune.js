// The page of `obelics tune`: a header, tabs, and the pane to read a document in.
import { button, element } from "./element.js";
import { header } from "./header.js";
import { compare } from "./compare.js";
import { duplicates } from "./duplicates.js";
import { map } from "./map.js";
import { marks } from "./marks.js";
import { overlap } from "./overlap.js";
import { rules } from "./rules.js";
import { ask } from "./server.js";
import { readOriginals, whenChanged } from "./settings.js";
import { bench, start, weigh, whenWeighed } from "./workbench.js";

// Each tab: its name, the level that it needs the counts of, and what makes it. A maker fills a place and returns what
// shows new settings there, and what shows new counts.
const TABS = [
  ["Documents", "document", rules],
  ["Paragraphs", "paragraph", rules],
  ["Images", "image", rules],
  ["Duplicates", "dedup", duplicates],
  ["Overlap", "overlap", overlap],
  ["Compare", "compare", compare],
  ["Map", "map", map],
  ["Marks", "marks", marks],
];
let shown = {};

function open([name, level, make], tabs) {
  for (const tab of tabs.children) tab.setAttribute("aria-selected", String(tab.textContent === name));
  const place = element("div", { class: `tab ${level}`, role: "tabpanel", "aria-label": name });
  document.getElementById("main").replaceChildren(place);
  bench.level = level;
  shown = make(place, level) ?? {};
  weigh();
}

async function begin() {
  const about = await ask("about");
  if (about === undefined) {
    const text = "The server does not answer; start obelics tune again.";
    return document.getElementById("header").append(element("p", { class: "error", role: "alert" }, text));
  }
  readOriginals(about);
  start(about);
  header(document.getElementById("header"));
  const tabs = document.getElementById("tabs");
  tabs.append(...TABS.map((tab) => button(tab[0], () => open(tab, tabs), { role: "tab" })));
  whenChanged(() => shown.changed?.());
  whenWeighed(() => shown.weighed?.());
  open(TABS[0], tabs);
}

begin();
