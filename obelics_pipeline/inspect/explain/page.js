"use strict";
// A click in one column lights what belongs to it in the others, and brings it into view; ▾ folds a subtree.
const panes = [...document.querySelectorAll(".pane")];
const rows = [...document.querySelectorAll(".tree [data-r]")]; // by number
const byRow = new Map();
for (const element of document.querySelectorAll("[data-r]"))
  for (const row of element.dataset.r.split(" "))
    byRow.set(row, [...(byRow.get(row) || []), element]);
let lit = [];

function light(chosen) {
  for (const element of lit) element.classList.remove("on");
  lit = chosen.dataset.r.split(" ").flatMap((row) => byRow.get(row));
  for (const element of lit) {
    element.classList.add("on");
    element.classList.remove("folded");
  }
  for (const pane of panes) {
    const first = pane.contains(chosen) ? null : lit.find((element) => pane.contains(element));
    if (first) first.scrollIntoView({ block: "center" });
  }
}

function fold(button) {
  const open = button.textContent === "▾";
  button.textContent = open ? "▸" : "▾";
  const first = Number(button.parentElement.dataset.r) + 1;
  for (const row of rows.slice(first, Number(button.dataset.end))) row.classList.toggle("folded", open);
}

document.addEventListener("click", ({ target }) => {
  if (target.matches("button")) return fold(target);
  const chosen = target.closest("[data-r]");
  if (chosen && getSelection().isCollapsed && !target.closest("summary")) light(chosen);
});
document.addEventListener("keydown", ({ key, target }) => {
  if (key === "Enter" && target.matches(".final [data-r]")) light(target);
});

const beginning = document.querySelector(".final [data-r]");
if (beginning) light(beginning);
